import { DomainError } from '../../platform/errors.ts'
import { faults, pageFault } from '../../platform/http/page-fault.ts'
import { languageOf } from '../../platform/http/page-language.ts'
import { isId, normalizeId } from '../../platform/ids.ts'
import type { Language } from '../../platform/mail/letter.ts'
import type { Client, TokenStore } from './token-store.ts'

/** A valid request for an authorization code (RFC 6749 4.1.1 with RFC 7636), of a client that may ask so. */
export interface AuthorizationRequest {
  readonly clientId: string
  /** Registered for the client, as it was given. */
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

const longest: Readonly<Record<(typeof authorizationParameters)[number], number>> = {
  client_id: 128,
  redirect_uri: 2_048,
  response_type: 40,
  state: 2_048,
  lang: 35,
  code_challenge: 128,
  code_challenge_method: 40,
}

/** The request as the parameters of an address, to go on with. */
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

export interface JudgedRequest {
  readonly client: Client
  readonly request: AuthorizationRequest
}

/** Reads and judges authorization requests; nothing is redirected before both are known to be right. */
export function createAuthorizationReader(tokens: Pick<TokenStore, 'findClient'>) {
  /**
   * @param values as text by name; others than the parameters are not looked at
   * @throws DomainError `invalidClient`, `unauthorizedClient`, `invalidRedirectUri` or `validation`
   */
  return async (values: ReadonlyMap<string, string>, acceptLanguage?: string): Promise<JudgedRequest> => {
    for (const name of authorizationParameters) {
      if ((values.get(name)?.length ?? 0) > longest[name])
        throw pageFault(name, faults.tooLong(longest[name]))
    }
    const clientId = values.get('client_id')
    if (!clientId) throw pageFault('client_id', faults.required)
    const client = isId(clientId) ? await tokens.findClient(normalizeId(clientId)) : undefined
    if (!client) throw new DomainError('invalidClient')
    const redirectUri = values.get('redirect_uri')
    if (!redirectUri) throw pageFault('redirect_uri', faults.required)
    // Character by character: whatever a parser would make of it, it is one that the operator wrote (RFC 9700 2.1).
    if (!client.redirectUris.includes(redirectUri)) throw new DomainError('invalidRedirectUri')
    if (!client.grants.includes('authorization_code')) throw new DomainError('unauthorizedClient')
    const responseType = values.get('response_type') || 'code'
    if (responseType !== 'code') throw pageFault('response_type', faults.mustBe('code'))
    const method = values.get('code_challenge_method') || 'S256'
    if (method !== 'S256') throw pageFault('code_challenge_method', faults.mustBe('S256'))
    const codeChallenge = values.get('code_challenge')
    if (!codeChallenge) throw pageFault('code_challenge', faults.noChallenge)
    if (!/^[A-Za-z0-9_-]{43}$/.test(codeChallenge)) throw pageFault('code_challenge', faults.badChallenge)
    const state = values.get('state')
    const language = languageOf(values.get('lang'), acceptLanguage)
    return { client, request: { clientId: client.id, redirectUri, state, codeChallenge, language } }
  }
}

export type AuthorizationReader = ReturnType<typeof createAuthorizationReader>
