import type { TokenResponse } from '@millrace/contract/resources/token.ts'
import { type Clock, systemClock } from '../../platform/clock.ts'
import { GateFull } from '../../platform/crypto/gate.ts'
import { hashSecret, isSecret, newSecret, type RandomBytes } from '../../platform/crypto/secrets.ts'
import { parseEmailAddress } from '../../platform/email-address.ts'
import { DomainError } from '../../platform/errors.ts'
import { isId, newId, normalizeId } from '../../platform/ids.ts'
import type { Logger } from '../../platform/logger.ts'
import { networkOf } from '../../platform/network-address.ts'
import {
  isPasswordTooLong,
  maximumPasswordBytes,
  type PasswordDesk,
  type Passwords,
} from '../../platform/passwords.ts'
import { type Bucket, bucketsOf, defaultPolicy, longestWait, type ThrottlePolicy } from './login-throttle.ts'
import type { ThrottleStore } from './throttle-store.ts'
import type { PasswordRequest, RefreshRequest, RevocationRequest, TokenRequest } from './token-request.ts'
import type { Client, TokenStore, UserCredentials } from './token-store.ts'

/** Where a token request comes from. */
export interface Origin {
  /** Address of the peer. */
  readonly address: string
  /** The refresh token of the cookie, when it may be honoured: it proves a session. */
  readonly cookieToken: string | undefined
}

export interface TokenServiceDependencies {
  readonly tokens: TokenStore
  readonly throttle: ThrottleStore
  readonly passwords: Passwords
  readonly log: Pick<Logger, 'info' | 'warn'>
  readonly policy?: ThrottlePolicy
  readonly clock?: Clock
  readonly random?: RandomBytes
}

/** Between two alarms about the same budget. */
const alarmIntervalMs = 60_000

const body = (accessToken: string, refreshToken: string): TokenResponse => ({
  access_token: accessToken,
  refresh_token: refreshToken,
  token_type: 'Bearer',
  expires_in: 3600,
})

export type TokenService = ReturnType<typeof createTokenService>

/** Gives out tokens, operation 1, and takes them back. */
export function createTokenService(dependencies: TokenServiceDependencies) {
  const {
    tokens,
    throttle,
    passwords,
    log,
    policy = defaultPolicy,
    clock = systemClock,
    random,
  } = dependencies
  const alarms = new Map<string, number>()

  async function requireClient(clientId: string): Promise<Client> {
    const client = isId(clientId) ? await tokens.findClient(normalizeId(clientId)) : undefined
    if (!client) throw new DomainError('invalidClient')
    return client
  }

  async function requireClientFor(grantType: string, clientId: string): Promise<Client> {
    const client = await requireClient(clientId)
    if (!client.grants.includes(grantType)) throw new DomainError('unauthorizedClient')
    return client
  }

  /** Budgets that only an attack on many accounts or from many addresses exhausts are worth an operator's eye. */
  function raiseAlarm(budget: keyof ThrottlePolicy): void {
    const last = alarms.get(budget)
    if (last !== undefined && clock.now() - last < alarmIntervalMs) return
    alarms.set(budget, clock.now())
    log.warn({ budget }, 'failed sign-ins have exhausted a budget: further attempts are slowed down')
  }

  async function requireTurn(buckets: readonly Bucket[]): Promise<void> {
    const { seconds, scope } = longestWait(buckets, await throttle.listStates(buckets))
    if (scope === undefined) return
    if (scope !== 'accountFromAddress') raiseAlarm(scope)
    const retryAfter = Math.ceil(seconds)
    throw new DomainError('tooManyAttempts', { retryAfter }, { retryAfterSeconds: retryAfter })
  }

  /** The buckets are the same whether there is such an account or not, and so are the questions to the store. */
  async function bucketsFor(
    username: string,
    email: string,
    { address, cookieToken }: Origin,
  ): Promise<readonly Bucket[]> {
    const network = networkOf(address)
    const sessionId =
      cookieToken !== undefined && isSecret(cookieToken)
        ? await tokens.findSessionOf(email, hashSecret(cookieToken))
        : undefined
    const isFamiliar = await tokens.hasSessionFrom(email, network)
    return bucketsOf({ account: email || username, address: network, sessionId, isFamiliar }, policy)
  }

  function busy(cause?: unknown): DomainError {
    const message = 'Too many people sign in at this moment, try again shortly'
    return new DomainError('signInUnavailable', { retryAfter: 1 }, { cause, message, retryAfterSeconds: 1 })
  }

  /** A place at the desk bounds how many guesses can be under way before their failures count. */
  async function atDesk<T>(work: (desk: PasswordDesk) => Promise<T>): Promise<T> {
    try {
      return await passwords.atDesk(work)
    } catch (cause) {
      throw cause instanceof GateFull ? busy(cause) : cause
    }
  }

  async function upToDate(
    user: UserCredentials,
    password: string,
    desk: PasswordDesk,
  ): Promise<UserCredentials> {
    if (user.passwordHash === null || !passwords.isOutdated(user.passwordHash)) return user
    const passwordHash = await desk.hash(password)
    return (await tokens.replaceHash(user, passwordHash)) ? { ...user, passwordHash } : user
  }

  async function openSession(
    user: UserCredentials,
    clientId: string,
    origin: Origin,
  ): Promise<TokenResponse> {
    const accessToken = newSecret(random)
    const refreshToken = newSecret(random)
    const opened = await tokens.openSession({
      user,
      clientId,
      address: networkOf(origin.address),
      refreshTokenId: newId(),
      refreshTokenHash: hashSecret(refreshToken),
      accessTokenId: newId(),
      accessTokenHash: hashSecret(accessToken),
    })
    // Disabled, or given another password, between the check and now.
    if (!opened) throw new DomainError('invalidCredentials')
    return body(accessToken, refreshToken)
  }

  async function grantPassword(request: PasswordRequest, origin: Origin): Promise<TokenResponse> {
    const { username, password } = request
    // Whoever would be sent away in the end is sent away before the store is asked anything.
    if (passwords.isFull()) throw busy()
    const client = await requireClientFor(request.grantType, request.clientId)
    // What is no address is nobody's: it takes the same way as an address that nobody has.
    const email = parseEmailAddress(username) ?? ''
    const buckets = await bucketsFor(username, email, origin)
    await requireTurn(buckets)
    return atDesk(async (desk) => {
      // Those who stood before this one may have failed meanwhile.
      await requireTurn(buckets)
      const user = await tokens.findCredentials(email)
      if (!(await desk.matches(password, user?.passwordHash ?? null)) || !user) {
        await throttle.countFailure(buckets)
        log.info({ clientId: client.id, userId: user?.userId, address: origin.address }, 'sign-in refused')
        throw new DomainError('invalidCredentials')
      }
      const pair = await openSession(await upToDate(user, password, desk), client.id, origin)
      const [own] = buckets
      if (own) await throttle.forget(own)
      return pair
    })
  }

  async function grantRefresh(request: RefreshRequest, origin: Origin): Promise<TokenResponse> {
    const client = await requireClientFor(request.grantType, request.clientId)
    await tokens.sweepEnded()
    const accessToken = newSecret(random)
    const refreshed =
      isSecret(request.refreshToken) &&
      (await tokens.refreshSession({
        clientId: client.id,
        address: networkOf(origin.address),
        refreshTokenHash: hashSecret(request.refreshToken),
        accessTokenId: newId(),
        accessTokenHash: hashSecret(accessToken),
      }))
    if (!refreshed) throw new DomainError('invalidGrant')
    return body(accessToken, request.refreshToken)
  }

  return {
    /**
     * Grants a token request or says why not.
     * @throws DomainError `invalidClient`, `unauthorizedClient`, `invalidGrant`, `invalidCredentials`,
     *   `tooManyAttempts`, `signInUnavailable`, or `invalidTokenRequest` for a password over the limit
     */
    async grant(request: TokenRequest, origin: Origin): Promise<TokenResponse> {
      if (request.grantType === 'password' && isPasswordTooLong(request.password)) {
        const message = `must have at most ${maximumPasswordBytes} bytes`
        throw new DomainError(
          'invalidTokenRequest',
          { errors: [{ path: 'password', message }] },
          { message: `password ${message}` },
        )
      }
      return request.grantType === 'password' ? grantPassword(request, origin) : grantRefresh(request, origin)
    },

    /**
     * Ends a token; one that is unknown or has ended needs no more.
     * @throws DomainError `invalidClient`, or `invalidGrant` for a token of another client
     */
    async revoke({ clientId, token }: RevocationRequest): Promise<void> {
      const client = await requireClient(clientId)
      if (!isSecret(token) || (await tokens.revoke(hashSecret(token), client.id)) !== 'foreign') return
      throw new DomainError('invalidGrant', {}, { message: 'The token was given to another client' })
    },
  }
}
