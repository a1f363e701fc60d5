import { DomainError } from '../../../platform/errors.ts'
import { faults, pageFault } from '../../../platform/http/form-faults.ts'
import { type Language, type LocalizedText, negotiateLanguage } from '../../../platform/i18n/language.ts'
import { languageTagOf } from '../../../platform/i18n/request-language.ts'
import { isId, normalizeId } from '../../../platform/ids.ts'
import { isRegisteredRedirect } from '../sessions/clients/redirect-uri.ts'
import type { Client, TokenStore } from '../sessions/tokens/token-store.ts'

/** A valid request for an authorization code (RFC 6749 4.1.1 with RFC 7636), of a client that may ask so. */
export interface AuthorizationRequest {
  readonly clientId: string
  /** One that is registered for the client, as it was given. */
  readonly redirectUri: string
  /** Given back untouched. */
  readonly state: string | undefined
  /** base64url of the SHA-256 of the verifier: 43 characters. */
  readonly codeChallenge: string
  readonly language: Language
}

/** The parameters, by the names of RFC 6749 and `lang`. */
export const authorizationParameters = [
  'client_id',
  'redirect_uri',
  'response_type',
  'state',
  'lang',
  'code_challenge',
  'code_challenge_method',
] as const

const maxLengths: Readonly<Record<(typeof authorizationParameters)[number], number>> = {
  client_id: 128,
  redirect_uri: 2_048,
  response_type: 40,
  state: 2_048,
  lang: 35,
  code_challenge: 128,
  code_challenge_method: 40,
}

/** The request as the parameters of an address. */
export function toParameters(request: AuthorizationRequest): URLSearchParams {
  const { clientId, redirectUri, state, codeChallenge, language } = request
  const parameters = new URLSearchParams({
    client_id: clientId,
    redirect_uri: redirectUri,
    response_type: 'code',
    code_challenge: codeChallenge,
    code_challenge_method: 'S256',
    lang: language,
  })
  if (state !== undefined) parameters.set('state', state)
  return parameters
}

export interface ValidatedRequest {
  readonly client: Client
  readonly request: AuthorizationRequest
}

/** Where the answer to a request goes, once its client and its redirect_uri are known to be right. */
export type ReturnAddress = Pick<AuthorizationRequest, 'redirectUri' | 'state'>

/** Back to the application, with what it asked for or why not (RFC 6749 4.1.2, RFC 9207). */
export function buildRedirect(
  { redirectUri, state }: ReturnAddress,
  result: Readonly<Record<string, string>>,
  issuer: string,
): string {
  const address = new URL(redirectUri)
  for (const [name, value] of Object.entries(result)) address.searchParams.append(name, value)
  if (state !== undefined) address.searchParams.append('state', state)
  address.searchParams.append('iss', issuer)
  return address.href
}

/** The codes of RFC 6749 4.1.2.1 that a request itself can be refused with. */
type AuthorizationErrorCode =
  | 'invalid_request'
  | 'invalid_scope'
  | 'unauthorized_client'
  | 'unsupported_response_type'

/** A fault of a request that is sent to its client, at an address registered for it. */
export class AuthorizationRefused extends DomainError {
  readonly code: AuthorizationErrorCode
  readonly returnAddress: ReturnAddress

  constructor(fault: DomainError, code: AuthorizationErrorCode, returnAddress: ReturnAddress) {
    super(fault.errorName, fault.data, { message: fault.localizedMessage ?? fault.message, cause: fault })
    this.code = code
    this.returnAddress = returnAddress
  }
}

/** RFC 6749 3.3. There are no scopes, and what clients send by habit is ignored; what is none is refused. */
const scopeSyntax = /^[\x21\x23-\x5b\x5d-\x7e]+(?: [\x21\x23-\x5b\x5d-\x7e]+)*$/

const protocolFaults = {
  noChallenge: {
    en: 'is required: base64url of the SHA-256 of the verifier',
    fr: 'est obligatoire : le SHA-256 du vérificateur en base64url',
  },
  badChallenge: {
    en: 'must be the 43 characters of base64url of a SHA-256',
    fr: 'doit être un SHA-256 en base64url, de 43 caractères',
  },
  badScope: {
    en: 'must be words of visible ASCII with one space between them; leave it out, there are no scopes',
    fr: 'doit être des mots en ASCII visible séparés d’un espace ; omettez-le, il n’y a pas de scopes',
  },
} as const satisfies Record<string, LocalizedText>

/** The first fault of a request whose client and redirect_uri are right. */
function faultOf(
  values: ReadonlyMap<string, string>,
  client: Client,
): readonly [DomainError, AuthorizationErrorCode] | undefined {
  for (const name of authorizationParameters) {
    if ((values.get(name)?.length ?? 0) > maxLengths[name])
      return [pageFault(name, faults.tooLong(maxLengths[name])), 'invalid_request']
  }
  if (!client.grants.includes('authorization_code'))
    return [new DomainError('unauthorizedClient'), 'unauthorized_client']
  if ((values.get('response_type') || 'code') !== 'code')
    return [pageFault('response_type', faults.mustBe('code')), 'unsupported_response_type']
  if ((values.get('response_mode') || 'query') !== 'query')
    return [pageFault('response_mode', faults.mustBe('query')), 'invalid_request']
  if ((values.get('code_challenge_method') || 'S256') !== 'S256')
    return [pageFault('code_challenge_method', faults.mustBe('S256')), 'invalid_request']
  const codeChallenge = values.get('code_challenge')
  if (!codeChallenge) return [pageFault('code_challenge', protocolFaults.noChallenge), 'invalid_request']
  if (!/^[A-Za-z0-9_-]{43}$/.test(codeChallenge))
    return [pageFault('code_challenge', protocolFaults.badChallenge), 'invalid_request']
  const scope = values.get('scope')
  if (scope && !scopeSyntax.test(scope)) return [pageFault('scope', protocolFaults.badScope), 'invalid_scope']
  return undefined
}

/** Reads and validates authorization requests; nothing is redirected before client and address are known to be right. */
export function createAuthorizationReader(tokens: Pick<TokenStore, 'findClient'>) {
  /** @throws DomainError as below, but `AuthorizationRefused` */
  async function readClient(
    values: ReadonlyMap<string, string>,
    misread: DomainError | undefined,
  ): Promise<{ client: Client; redirectUri: string }> {
    for (const name of ['client_id', 'redirect_uri'] as const) {
      if ((values.get(name)?.length ?? 0) > maxLengths[name])
        throw pageFault(name, faults.tooLong(maxLengths[name]))
    }
    const clientId = values.get('client_id')
    if (!clientId) throw misread ?? pageFault('client_id', faults.required)
    const client = isId(clientId) ? await tokens.findClient(normalizeId(clientId)) : undefined
    if (!client) throw new DomainError('invalidClient')
    const redirectUri = values.get('redirect_uri')
    if (!redirectUri) throw misread ?? pageFault('redirect_uri', faults.required)
    if (!isRegisteredRedirect(client.redirectUris, redirectUri)) throw new DomainError('invalidRedirectUri')
    return { client, redirectUri }
  }

  /**
   * @param values as text by name; others than the parameters are not looked at
   * @param misread what is wrong with a parameter that is not among the values for it
   * @throws DomainError `invalidClient`, `invalidRedirectUri` or `validation`, which are not sent to the client;
   *   `AuthorizationRefused` for everything else
   */
  return async (
    values: ReadonlyMap<string, string>,
    acceptLanguage?: string,
    misread?: DomainError,
  ): Promise<ValidatedRequest> => {
    const { client, redirectUri } = await readClient(values, misread)
    const state = values.get('state')
    const [fault, code] = misread ? ([misread, 'invalid_request'] as const) : (faultOf(values, client) ?? [])
    if (fault && code) throw new AuthorizationRefused(fault, code, { redirectUri, state })
    const codeChallenge = values.get('code_challenge') ?? ''
    const language = negotiateLanguage(
      languageTagOf(values.get('lang'), values.get('ui_locales')),
      acceptLanguage,
    )
    return { client, request: { clientId: client.id, redirectUri, state, codeChallenge, language } }
  }
}

export type AuthorizationReader = ReturnType<typeof createAuthorizationReader>
