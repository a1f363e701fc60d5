import type { SsoConfigReplacement, SsoConfigUpdate } from '@millrace/contract/resources/sso-config.ts'
import { normalizeId } from '../../../../platform/ids.ts'
import { invalid } from '../../../../platform/invalid.ts'
import type { StoredConfig } from '../config/config-store.ts'

/** An application that users may sign in to. */
export interface DestinationClient {
  readonly id: string
  readonly name: string
  readonly redirectUris: readonly string[]
  readonly grants: readonly string[]
}

/** The client, if it is known and active, with full addresses. */
export type FindClient = (id: string) => Promise<DestinationClient | undefined>

/** Whether sign-ins may begin at the identity provider, and the one place that they lead to. */
export type Destination = Pick<StoredConfig, 'allowIdpInitiated' | 'idpInitiatedClientId' | 'idpInitiatedUrl'>

type Wanted = SsoConfigReplacement | SsoConfigUpdate

const none: Destination = { allowIdpInitiated: false, idpInitiatedClientId: null, idpInitiatedUrl: null }
const fields = Object.keys(none) as (keyof Destination)[]

/** Whether a request sets any field of the destination. */
export function namesDestination(wanted: Wanted): boolean {
  return fields.some((name) => wanted[name] !== undefined)
}

/** Whether the change newly allows sign-ins to begin at the identity provider, or sends them to another destination. */
export function isAnotherDestination(before: Destination | undefined, now: Destination): boolean {
  return now.allowIdpInitiated && fields.some((name) => now[name] !== (before ?? none)[name])
}

/** Whether an address is one of the application's: of the origin of a place that codes may be sent to. */
export function isOfClient(address: string, { redirectUris }: DestinationClient): boolean {
  const url = URL.parse(address)
  if (!url || !['https:', 'http:'].includes(url.protocol) || url.username || url.password || url.hash)
    return false
  return redirectUris.some((each) => URL.parse(each)?.origin === url.origin)
}

/**
 * @returns what is to be saved
 * @throws DomainError `validation` for a destination that is incomplete or not the application's
 */
export async function validateDestination(
  findClient: FindClient,
  given: { wanted: Wanted; isWhole: boolean; before: Destination | undefined },
): Promise<Destination> {
  const { wanted, isWhole, before } = given
  const base = isWhole ? none : (before ?? none)
  const clientId =
    wanted.idpInitiatedClientId === undefined ? base.idpInitiatedClientId : wanted.idpInitiatedClientId
  const destination: Destination = {
    allowIdpInitiated: wanted.allowIdpInitiated ?? base.allowIdpInitiated,
    idpInitiatedClientId: clientId && normalizeId(clientId),
    idpInitiatedUrl: wanted.idpInitiatedUrl === undefined ? base.idpInitiatedUrl : wanted.idpInitiatedUrl,
  }
  const { allowIdpInitiated, idpInitiatedClientId, idpInitiatedUrl } = destination
  // A client that was closed since is no reason to refuse a change of something else.
  if (!namesDestination(wanted)) return destination
  if (allowIdpInitiated && !idpInitiatedClientId)
    throw invalid('idpInitiatedClientId', 'is required with allowIdpInitiated: the application signed in to')
  if (allowIdpInitiated && !idpInitiatedUrl)
    throw invalid(
      'idpInitiatedUrl',
      'is required with allowIdpInitiated: where the application begins a sign-in',
    )
  if (idpInitiatedUrl && !idpInitiatedClientId)
    throw invalid('idpInitiatedClientId', 'is required with idpInitiatedUrl')
  const client = idpInitiatedClientId ? await findClient(idpInitiatedClientId) : undefined
  if (idpInitiatedClientId && !client?.grants.includes('authorization_code'))
    throw invalid('idpInitiatedClientId', 'must be an application that users sign in to in a browser')
  if (idpInitiatedUrl && client && !isOfClient(idpInitiatedUrl, client))
    throw invalid(
      'idpInitiatedUrl',
      'must be an http(s) address of the same origin as a redirect_uri that is registered for the application, without user name, password or fragment',
    )
  return destination
}
