import { isId, newId, normalizeId } from '../../../../platform/ids.ts'
import { invalid } from '../../../../platform/invalid.ts'
import type { ClientStore, ClientSummary, CreatedClient } from './client-store.ts'
import { requireOrigin, requireRedirectUri } from './redirect-uri.ts'

/** Grants that the token service has, in the words of `grant_type`. */
export const grantTypes = ['password', 'refresh_token', 'authorization_code'] as const

export interface ClientToCreate {
  readonly name: string
  /** All grants when empty. */
  readonly grants: readonly string[]
  readonly redirectUris: readonly string[]
  /** Origins whose pages may read what the interface answers. */
  readonly origins?: readonly string[]
  /** An application on a device, which may return to a private-use scheme. Default false. */
  readonly native?: boolean
  /** False for an application of others, which needs the user's consent. Default true. */
  readonly firstParty?: boolean
  /** Every refresh gives another refresh token, and the use of an old one ends the session. Default false. */
  readonly rotatesRefreshTokens?: boolean
}

export interface OriginChanges {
  readonly added: readonly string[]
  readonly removed: readonly string[]
}

/** OAuth clients: the programs that get tokens for users. */
export function createClientService(store: ClientStore) {
  async function getClient(id: string): Promise<ClientSummary> {
    const client = isId(id) ? await store.findClient(normalizeId(id)) : undefined
    if (!client) throw invalid('client', `must be the client_id of a client; there is no "${id}"`)
    return client
  }

  return {
    /** @throws DomainError `validation` */
    async createClient(wanted: ClientToCreate): Promise<CreatedClient> {
      const name = wanted.name.trim()
      if (name === '' || name.length > 200) throw invalid('name', 'must have 1 to 200 characters')
      const unknown = wanted.grants.find((grant) => !(grantTypes as readonly string[]).includes(grant))
      if (unknown !== undefined)
        throw invalid('grant', `must be one of ${grantTypes.join(', ')}; it is "${unknown}"`)
      const native = wanted.native ?? false
      const client: CreatedClient = {
        id: newId(),
        name,
        grants: wanted.grants.length > 0 ? [...new Set(wanted.grants)] : [...grantTypes],
        redirectUris: [...new Set(wanted.redirectUris.map((uri) => requireRedirectUri(uri, native)))],
        origins: [...new Set((wanted.origins ?? []).map(requireOrigin))],
        native,
        firstParty: wanted.firstParty ?? true,
        rotatesRefreshTokens: wanted.rotatesRefreshTokens ?? false,
      }
      if (client.rotatesRefreshTokens && !client.grants.includes('refresh_token'))
        throw invalid('rotate-refresh-tokens', 'needs the grant refresh_token; give it or leave this out')
      await store.insertClient(client)
      return client
    },

    /** Every client, the oldest first. */
    listClients: (): Promise<ClientSummary[]> => store.listClients(),

    /**
     * Changes which origins a client has; with no changes it only shows the client.
     * @throws DomainError `validation`
     */
    async updateOrigins(wantedId: string, { added, removed }: OriginChanges): Promise<ClientSummary> {
      const client = await getClient(wantedId)
      const missing = removed.find((origin) => !client.origins.includes(origin))
      if (missing !== undefined) {
        const known = client.origins.join(', ') || 'none'
        throw invalid('remove-origin', `must be an origin of the client (${known}); it is "${missing}"`)
      }
      const both = added.find((origin) => removed.includes(origin))
      if (both !== undefined) throw invalid('add-origin', `must not be removed at once; it is "${both}"`)
      if (added.length + removed.length === 0) return client
      await store.changeOrigins(client.id, added.map(requireOrigin), removed)
      return getClient(client.id)
    },
  }
}
