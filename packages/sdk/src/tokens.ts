import type { OperationTypes } from './contract-types.ts'
import { AuthenticationError, MillraceError } from './errors.ts'

/** The tokens of a client, as `onTokens` gets them to keep. */
export interface Tokens {
  readonly accessToken: string
  /** Absent where the service gave none. */
  readonly refreshToken?: string
  /** Epoch milliseconds at which the access token ends. */
  readonly expiresAt: number
}

interface Granted {
  /** Identifies the application; the operator of the service gives it. */
  readonly clientId: string
  /**
   * Gets the tokens whenever there are new ones, to keep them for the next start. The calls that wait for them go on
   * when it has finished, and fail with what it throws.
   */
  readonly onTokens?: (tokens: Tokens) => void | Promise<void>
}

/** A user who signs in with a password. */
export interface PasswordCredentials extends Granted {
  /** The user's e-mail address. */
  readonly username: string
  readonly password: string
  /** Gives a one-time code, for users who turned them on. */
  readonly oneTimeCode?: () => string | Promise<string>
}

/** A session that exists already. */
export interface RefreshTokenCredentials extends Granted {
  readonly refreshToken: string
}

/** A token that the caller keeps valid. */
export interface AccessTokenCredentials {
  readonly accessToken: string
}

export interface AccessTokenSource {
  /** Gives an access token; `refused` is the last one, when the service has refused it. */
  readonly getAccessToken: (refused?: string) => string | Promise<string>
}

export type Credentials =
  | PasswordCredentials
  | RefreshTokenCredentials
  | AccessTokenCredentials
  | AccessTokenSource

/** None at all: only operations that need no token can be called. */
export interface NoCredentials {
  readonly clientId?: undefined
}

type TokenRequest = OperationTypes['createToken']['request']['body']
type TokenResponse = OperationTypes['createToken']['data']

export interface TokenOptions {
  /** Sends a token request, again where that is safe. */
  readonly grant: (body: TokenRequest) => Promise<TokenResponse>
  readonly now: () => number
}

export interface TokenSource {
  /**
   * A valid access token; another than the `refused` one.
   * @throws {AuthenticationError} where there is no way to get one
   */
  get(refused?: string): Promise<string>
  /** The refresh token that the session has now, and the client that it belongs to. */
  session(): { readonly clientId: string; readonly refreshToken: string } | undefined
  /** Forgets the tokens. */
  clear(): void
}

/** How long before its end a token is renewed: requests are on the way for a while. */
const maxMarginMs = 60_000

export function createTokenSource(
  credentials: Credentials | NoCredentials,
  options: TokenOptions,
): TokenSource {
  if ('getAccessToken' in credentials) return givenTokens(credentials.getAccessToken)
  if ('accessToken' in credentials) return fixedToken(credentials.accessToken)
  if ('password' in credentials || 'refreshToken' in credentials) return grantedTokens(credentials, options)
  return {
    get: () =>
      Promise.reject(
        noToken(
          'This operation needs a token: create the client with credentials (createClient, docs/sdk.md)',
        ),
      ),
    session: () => undefined,
    clear: () => {},
  }
}

function noToken(message: string, cause?: unknown): AuthenticationError {
  return new AuthenticationError(message, { operation: 'createToken', attempts: 0, cause })
}

function givenTokens(getAccessToken: AccessTokenSource['getAccessToken']): TokenSource {
  return {
    get: async (refused) => {
      const token = await getAccessToken(refused)
      if (typeof token === 'string' && token !== '') return token
      throw noToken('getAccessToken gave no token: it must give a text that is not empty')
    },
    session: () => undefined,
    clear: () => {},
  }
}

function fixedToken(accessToken: string): TokenSource {
  return {
    get: async (refused) => {
      if (typeof accessToken !== 'string' || accessToken === '')
        throw noToken('accessToken must be a text that is not empty')
      if (refused !== accessToken) return accessToken
      throw noToken(
        'The service refuses the access token: it is no longer valid, or of another service. The client has no refresh token to get another',
      )
    },
    session: () => undefined,
    clear: () => {},
  }
}

function grantedTokens(
  credentials: PasswordCredentials | RefreshTokenCredentials,
  { grant, now }: TokenOptions,
): TokenSource {
  const { clientId, onTokens } = credentials
  const password = 'password' in credentials ? credentials : undefined
  let refreshToken = 'refreshToken' in credentials ? credentials.refreshToken : undefined
  let current: (Tokens & { readonly renewAt: number }) | undefined
  let pending: Promise<string> | undefined
  /** Counts what `clear` has ended: a request that was under way then brings nothing back. */
  let generation = 0

  async function signIn({ username, password: secret, oneTimeCode }: PasswordCredentials) {
    const code = oneTimeCode && (await oneTimeCode())
    return grant({
      grant_type: 'password',
      client_id: clientId,
      username,
      password: secret,
      ...(code === undefined ? {} : { 'x-otp-code': code }),
    })
  }

  async function obtain(): Promise<TokenResponse> {
    if (refreshToken === undefined) {
      if (password) return signIn(password)
      throw noToken('The client has signed out: create another one')
    }
    try {
      return await grant({ grant_type: 'refresh_token', client_id: clientId, refresh_token: refreshToken })
    } catch (error) {
      if (!(error instanceof MillraceError && error.is('invalidGrant'))) throw error
      refreshToken = undefined
      if (password) return signIn(password)
      throw noToken('The refresh token is not valid or has expired: the user has to sign in again', error)
    }
  }

  async function renew(): Promise<string> {
    const started = generation
    const asked = now()
    const answer = await obtain()
    if (generation !== started) throw noToken('The client has signed out: create another one')
    const lifeMs = answer.expires_in * 1000
    refreshToken = answer.refresh_token ?? refreshToken
    const tokens: Tokens = {
      accessToken: answer.access_token,
      ...(refreshToken === undefined ? {} : { refreshToken }),
      expiresAt: asked + lifeMs,
    }
    current = { ...tokens, renewAt: asked + lifeMs - Math.min(maxMarginMs, lifeMs / 10) }
    await onTokens?.(tokens)
    return tokens.accessToken
  }

  return {
    get(refused) {
      // Also those whose token is still valid wait: the others are being kept.
      if (pending) return pending
      if (current && current.accessToken !== refused && now() < current.renewAt)
        return Promise.resolve(current.accessToken)
      pending = renew().finally(() => {
        pending = undefined
      })
      return pending
    },
    session: () => (refreshToken === undefined ? undefined : { clientId, refreshToken }),
    clear() {
      generation++
      refreshToken = undefined
      current = undefined
    },
  }
}
