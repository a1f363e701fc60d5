import { DomainError } from '../../../../platform/errors.ts'

/** A token request that is complete and makes sense; whether it is granted is another matter. */
export type TokenRequest = PasswordRequest | RefreshRequest | CodeRequest

export interface PasswordRequest {
  readonly grantType: 'password'
  readonly clientId: string
  readonly username: string
  readonly password: string
  /** A one-time or recovery code, for users who turned them on. */
  readonly otpCode: string | undefined
}

/** RFC 6749 4.1.3 with RFC 7636. */
export interface CodeRequest {
  readonly grantType: 'authorization_code'
  readonly clientId: string
  readonly code: string
  readonly redirectUri: string
  readonly codeVerifier: string
  /** Whether the refresh token goes into the cookie, and not into the body. */
  readonly inCookie: boolean
}

export interface RefreshRequest {
  readonly grantType: 'refresh_token'
  readonly clientId: string
  readonly refreshToken: string
  /** Whether the token came in the cookie. */
  readonly inCookie: boolean
}

/** A request to revoke a token, which may be of either kind. */
export interface RevocationRequest {
  readonly clientId: string
  readonly token: string
  /** Whether it came in the cookie. */
  readonly inCookie: boolean
}

/** What a request has beside its body. */
export interface RequestSurroundings {
  /** The client of an `Authorization: Basic` header, which ordinary OAuth clients may send (RFC 6749 2.3.1). */
  readonly basicClientId: string | undefined
  /** Whether it comes from a page of this service. */
  readonly isOwnPage: boolean
  /** The refresh token of the cookie of such a page. */
  readonly cookieToken: string | undefined
}

const parametersOfGrant = {
  password: ['username', 'password', 'x-otp-code'],
  refresh_token: ['refresh_token'],
  authorization_code: ['code', 'redirect_uri', 'code_verifier', 'refresh_token_in'],
} as const

type GrantType = keyof typeof parametersOfGrant

const knownOfGrants = ['grant_type', 'client_id', ...Object.values(parametersOfGrant).flat()]
const knownOfRevocation = ['client_id', 'token']

function invalid(path: string, message: string): DomainError {
  return new DomainError(
    'invalidTokenRequest',
    { errors: [{ path, message }] },
    { message: `${path} ${message}` },
  )
}

/** Each parameter as text; one without a value counts as absent, others are ignored (RFC 6749 3.2). */
function readParameters(body: unknown, known: readonly string[], fields: string): Map<string, string> {
  if (body === null || typeof body !== 'object' || Array.isArray(body))
    throw invalid('the body', `must be an object with ${fields}`)
  const parameters = new Map<string, string>()
  for (const [name, value] of Object.entries(body)) {
    if (!known.includes(name)) continue
    if (typeof value !== 'string') throw invalid(name, 'must be one string')
    if (value !== '') parameters.set(name, value)
  }
  return parameters
}

function readClientId(parameters: Map<string, string>, basicClientId: string | undefined): string {
  const clientId = parameters.get('client_id')
  if (clientId !== undefined && basicClientId !== undefined && clientId !== basicClientId)
    throw invalid('client_id', 'differs from the one in the header Authorization; send one of them')
  const found = clientId ?? basicClientId
  if (found === undefined) throw new DomainError('invalidClient', {}, { message: 'client_id is required' })
  return found
}

function requireParameter(parameters: Map<string, string>, name: string): string {
  const value = parameters.get(name)
  if (value === undefined) throw invalid(name, 'is required')
  return value
}

/** RFC 7636 4.1. */
function requireVerifier(parameters: Map<string, string>): string {
  const verifier = requireParameter(parameters, 'code_verifier')
  if (!/^[A-Za-z0-9._~-]{43,128}$/.test(verifier))
    throw invalid('code_verifier', 'must be 43 to 128 letters, digits, hyphens, dots, underscores or tildes')
  return verifier
}

function readCookieWish(parameters: Map<string, string>, { isOwnPage }: RequestSurroundings): boolean {
  const place = parameters.get('refresh_token_in')
  if (place === undefined) return false
  if (place !== 'cookie') throw invalid('refresh_token_in', 'must be cookie, or absent')
  if (!isOwnPage) throw invalid('refresh_token_in', 'is for pages of this service alone')
  return true
}

/** What the body has comes first; the cookie counts where the body has nothing. */
function requireToken(
  parameters: Map<string, string>,
  name: string,
  { cookieToken }: RequestSurroundings,
): string {
  return parameters.get(name) ?? cookieToken ?? requireParameter(parameters, name)
}

function isGrantType(text: string): text is GrantType {
  return Object.hasOwn(parametersOfGrant, text)
}

/**
 * Reads the body of a token request by the words of RFC 6749 (docs/interface.md, Authentication 2 and 3).
 * @throws DomainError `invalidTokenRequest`, `unsupportedGrantType` or, without a client, `invalidClient`
 */
export function readTokenRequest(body: unknown, around: RequestSurroundings): TokenRequest {
  const parameters = readParameters(body, knownOfGrants, 'grant_type, client_id and the fields of the grant')
  const grantType = parameters.get('grant_type')
  if (grantType === undefined)
    throw invalid('grant_type', 'is required: password, refresh_token or authorization_code')
  if (!isGrantType(grantType)) {
    throw new DomainError(
      'unsupportedGrantType',
      { grantType: grantType.slice(0, 100) },
      { message: 'grant_type must be password, refresh_token or authorization_code' },
    )
  }
  const clientId = readClientId(parameters, around.basicClientId)
  for (const name of Object.values(parametersOfGrant).flat()) {
    const belongs = (parametersOfGrant[grantType] as readonly string[]).includes(name)
    if (!belongs && parameters.has(name))
      throw invalid(name, `does not belong to the grant ${grantType}; send the fields of one grant`)
  }
  const required = (name: string): string => requireParameter(parameters, name)
  if (grantType === 'password') {
    const [username, password] = [required('username'), required('password')]
    return { grantType, clientId, username, password, otpCode: parameters.get('x-otp-code') }
  }
  if (grantType === 'authorization_code') {
    const [code, redirectUri] = [required('code'), required('redirect_uri')]
    const inCookie = readCookieWish(parameters, around)
    return { grantType, clientId, code, redirectUri, codeVerifier: requireVerifier(parameters), inCookie }
  }
  const refreshToken = requireToken(parameters, 'refresh_token', around)
  return { grantType, clientId, refreshToken, inCookie: !parameters.has('refresh_token') }
}

/**
 * Reads the body of a revocation request (RFC 7009 2.1). The hint which kind of token it is is not needed.
 * @throws DomainError `invalidTokenRequest` or, without a client, `invalidClient`
 */
export function readRevocationRequest(body: unknown, around: RequestSurroundings): RevocationRequest {
  const parameters = readParameters(body, knownOfRevocation, 'client_id and token')
  const clientId = readClientId(parameters, around.basicClientId)
  const token = requireToken(parameters, 'token', around)
  return { clientId, token, inCookie: !parameters.has('token') }
}
