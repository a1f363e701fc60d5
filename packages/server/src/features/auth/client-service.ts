import { newId } from '../../platform/ids.ts'
import { invalid } from '../../platform/invalid.ts'
import type { ClientStore } from './client-store.ts'

/** Grants that the token service has, in the words of `grant_type`. */
export const grantTypes = ['password', 'refresh_token', 'authorization_code'] as const

export interface ClientToCreate {
  readonly name: string
  /** All grants when empty. */
  readonly grants: readonly string[]
  readonly redirectUris: readonly string[]
  /** False for an application of others: people are asked whether they let it in. Default true. */
  readonly firstParty?: boolean
  /** Every refresh gives another refresh token, and the use of an old one ends the session. Default false. */
  readonly rotatesRefreshTokens?: boolean
}

export interface CreatedClient {
  readonly id: string
  readonly name: string
  readonly grants: readonly string[]
  readonly redirectUris: readonly string[]
  readonly firstParty: boolean
  readonly rotatesRefreshTokens: boolean
}

/** Compared character by character later, so that it is kept as given (RFC 9700 2.1). */
function requireRedirectUri(uri: string): string {
  const parsed = URL.parse(uri)
  if (!parsed || uri.includes('#') || parsed.username !== '')
    throw invalid('redirect-uri', `must be a full address without user and fragment; it is "${uri}"`)
  const isLocal = ['localhost', '127.0.0.1', '[::1]'].includes(parsed.hostname)
  if (parsed.protocol === 'http:' ? !isLocal : parsed.protocol !== 'https:')
    throw invalid('redirect-uri', `must begin with https:// (http:// only for this machine); it is "${uri}"`)
  return uri
}

export type ClientService = ReturnType<typeof createClientService>

/** OAuth clients: the programs that get tokens for people. */
export function createClientService(store: ClientStore) {
  return {
    /** @throws DomainError `validation` */
    async createClient(wanted: ClientToCreate): Promise<CreatedClient> {
      const name = wanted.name.trim()
      if (name === '' || name.length > 200) throw invalid('name', 'must have 1 to 200 characters')
      const unknown = wanted.grants.find((grant) => !(grantTypes as readonly string[]).includes(grant))
      if (unknown !== undefined)
        throw invalid('grant', `must be one of ${grantTypes.join(', ')}; it is "${unknown}"`)
      const client: CreatedClient = {
        id: newId(),
        name,
        grants: wanted.grants.length > 0 ? [...new Set(wanted.grants)] : [...grantTypes],
        redirectUris: [...new Set(wanted.redirectUris.map(requireRedirectUri))],
        firstParty: wanted.firstParty ?? true,
        rotatesRefreshTokens: wanted.rotatesRefreshTokens ?? false,
      }
      if (client.rotatesRefreshTokens && !client.grants.includes('refresh_token'))
        throw invalid('rotate-refresh-tokens', 'needs the grant refresh_token; give it or leave this out')
      await store.insertClient(client)
      return client
    },
  }
}
