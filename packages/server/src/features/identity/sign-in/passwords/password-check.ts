import { LRUCache } from 'lru-cache'
import { auditEventOf } from '../../../../platform/audit.ts'
import type { PasswordHasher } from '../../../../platform/crypto/passwords.ts'
import { hashSecret, isSecret } from '../../../../platform/crypto/secrets.ts'
import { DomainError } from '../../../../platform/errors.ts'
import { createSemaphore, SemaphoreFull } from '../../../../platform/limits/semaphore.ts'
import type { SqlBucketState, SqlLeakyBuckets } from '../../../../platform/limits/sql-leaky-bucket.ts'
import { createSlidingWindow } from '../../../../platform/limits/window.ts'
import { parseEmailAddress } from '../../../../platform/mail/email-address.ts'
import { holdersOf, networkOf, siteOf } from '../../../../platform/network-address.ts'
import { withHasher } from '../../people/passwords/password-hasher.ts'
import { type FamiliarStore, hashDevice } from '../../sessions/familiar-store.ts'
import type { IdentityContext } from '../../sessions/identity-context.ts'
import type { Credentials, TokenStore } from '../../sessions/tokens/token-store.ts'
import type { SecondFactor } from '../second-factor/second-factor.ts'
import { type Buckets, bucketsOf, maxWait, type ThrottlePolicy } from './sign-in-throttle.ts'

/** Where a request comes from. */
export interface RequestSource {
  /** Address of the peer. */
  readonly address: string
  /** The refresh token of the cookie, when it may be honoured: it proves a session. */
  readonly cookieToken: string | undefined
  /** The secret of a browser that a user signed in with before, when it sent one. */
  readonly device: string | undefined
}

export interface PasswordCheckDependencies extends IdentityContext {
  readonly tokens: Pick<TokenStore, 'findCredentials' | 'findSessionOf' | 'replaceHash'>
  readonly familiar: Pick<FamiliarStore, 'find'>
  readonly throttle: SqlLeakyBuckets
  readonly secondFactor: SecondFactor
  readonly policy: ThrottlePolicy
}

/** User name and password as they were typed. */
export interface PasswordAttempt {
  /** In which client; asked with a place held, so that a crowd from one network does not ask the store at once. */
  readonly findClient: () => Promise<{ readonly id: string }>
  readonly username: string
  readonly password: string
  /** Whether the caller records a refusal itself, as that of an operation. */
  readonly isRecorded?: boolean | undefined
}

/** One try of a password or a code. */
interface Try {
  readonly email: string
  readonly clientId: string
  readonly buckets: Buckets
  /** Whether the user of this account has signed in from here, or proves a session. */
  readonly isFamiliar: boolean
  /** Whether some user has signed in from here. */
  readonly isKnown: boolean
  readonly source: RequestSource
  /** Whether the caller records a refusal itself. */
  readonly isRecorded?: boolean | undefined
}

/** That an attempt may be made now. */
interface Turn {
  readonly states: readonly SqlBucketState[]
  /** Seconds for which attempts from unfamiliar places are held; 0 when they are not. */
  readonly heldSeconds: number
}

/** A user whose password was verified, and the client that asked. */
export interface Verified extends Credentials {
  readonly clientId: string
}

/** Between two alarms about the same bucket. */
const alarmIntervalMs = 60_000

/** How many held accounts are remembered, so that each is recorded once a minute. */
const maxHeld = 1_000

/** Attempts that query the throttle at once, and those that wait to: two or three short queries each. */
const asking = { places: 4, waitingPlaces: 256 }

export type PasswordCheck = ReturnType<typeof createPasswordCheck>

/**
 * Verifies passwords and one-time codes. Every refusal has the same answer and costs the same work
 * (docs/faults.md, T01); the reason is in the audit log.
 */
export function createPasswordCheck(dependencies: PasswordCheckDependencies) {
  const { relational, tokens, familiar, throttle, passwords, secondFactor, recordAudit, log } = dependencies
  const { policy, clock } = dependencies
  const { db } = relational
  const alarms = createSlidingWindow(clock, alarmIntervalMs, 1)
  const held = new LRUCache<string, number>({ max: maxHeld })
  const askingGate = createSemaphore(asking.places, asking.waitingPlaces)

  /** Warns the operator of a full bucket that only an attack on many accounts or from many addresses fills. */
  function raiseAlarm(bucket: keyof ThrottlePolicy): void {
    if (alarms.take(bucket) > 0) return
    log.warn({ budget: bucket }, 'failed sign-ins have filled a bucket: further attempts are slowed down')
  }

  function recordFailure(
    user: Pick<Credentials, 'userId' | 'companyId' | 'email'> | undefined,
    error: 'invalidCredentials' | 'tooManyAttempts',
    details: { readonly reason: string; readonly clientId: string; readonly heldSeconds?: number },
    { address }: RequestSource,
  ): Promise<void> {
    return recordAudit(db, {
      companyId: user?.companyId,
      action: details.reason === 'sso-required' ? 'sso-required' : 'sign-in',
      actor: { kind: 'anonymous' },
      ...(user ? { target: { kind: 'user', id: user.userId, name: user.email } } : {}),
      error,
      details,
      address,
    })
  }

  /** Records for the company that an account is held, at most once a minute. */
  async function recordHeld({ email, clientId, source }: Try, seconds: number): Promise<void> {
    const last = held.get(email)
    if (last !== undefined && clock.now() - last < alarmIntervalMs) return
    held.set(email, clock.now())
    const user = await tokens.findCredentials(email)
    await recordFailure(user, 'tooManyAttempts', { reason: 'held', clientId, heldSeconds: seconds }, source)
  }

  function tooManyAttempts(seconds: number): DomainError {
    const retryAfter = Math.ceil(seconds)
    return new DomainError('tooManyAttempts', { retryAfter }, { retryAfterSeconds: retryAfter })
  }

  /**
   * Whether the attempt may be made. Where far buckets are full it may from known places alone, whether the account
   * is one of those that are familiar there or not: what differs comes after the hash, and is not to be seen.
   */
  async function requireTurn(made: Try): Promise<Turn> {
    const { near, far } = made.buckets
    const all = [...near, ...far]
    const states = await throttle.listStates(all)
    const { seconds, scope } = maxWait(all, states)
    if (scope === undefined) return { states, heldSeconds: 0 }
    if (scope !== 'accountFromAddress') raiseAlarm(scope)
    if (made.isKnown && maxWait(near, states).scope === undefined) return { states, heldSeconds: seconds }
    const isOfAccount = scope === 'accountFromAddress' || scope === 'account'
    if (isOfAccount && made.email !== '' && !made.isRecorded) await recordHeld(made, Math.ceil(seconds))
    throw tooManyAttempts(seconds)
  }

  /** Empties the bucket of the place after a success; usually there is none. */
  async function forgetFailures({ near: [own] }: Buckets, { states }: Turn): Promise<void> {
    if (own && states.some(({ key }) => key.equals(own.key))) await throttle.forget(own.key)
  }

  /**
   * The questions to the store are the same whether there is such an account or not. Buckets of an account are its
   * own: another address does not empty them.
   */
  async function placeOf(
    typed: string,
    email: string,
    { address, cookieToken, device }: RequestSource,
  ): Promise<Pick<Try, 'buckets' | 'isFamiliar' | 'isKnown'>> {
    const sessionId =
      cookieToken !== undefined && isSecret(cookieToken)
        ? await tokens.findSessionOf(email, hashSecret(cookieToken))
        : undefined
    const deviceHash = hashDevice(device)
    const { userId, hasNetwork, hasDevice, isKnown } = await familiar.find(email, address, deviceHash)
    // No address has a space, and what is typed instead of one cannot be written as the account of a user.
    const account = userId === undefined ? email || `typed ${typed}` : `user ${userId}`
    const byDevice = hasDevice ? ({ kind: 'device', id: deviceHash.toString('hex') } as const) : undefined
    const proof = sessionId === undefined ? byDevice : ({ kind: 'session', id: sessionId } as const)
    const attempt = { account, network: networkOf(address), site: siteOf(address), proof }
    const isFamiliar = proof !== undefined || hasNetwork
    return { buckets: bucketsOf(attempt, policy), isFamiliar, isKnown }
  }

  /**
   * Throttles an attempt before it takes a place at the hasher: one that is refused takes no place from others.
   */
  async function begin(
    typed: string,
    email: string,
    {
      findClient,
      source,
      isRecorded,
    }: Pick<PasswordAttempt, 'findClient' | 'isRecorded'> & { source: RequestSource },
  ): Promise<Try> {
    try {
      return await askingGate.run(async () => {
        const { id: clientId } = await findClient()
        const made = { email, clientId, source, isRecorded, ...(await placeOf(typed, email, source)) }
        await requireTurn(made)
        return made
      }, holdersOf(source.address))
    } catch (error) {
      throw error instanceof SemaphoreFull ? busy(error) : error
    }
  }

  function busy(cause?: unknown): DomainError {
    const message = 'Too many sign-ins in progress, try again shortly'
    return new DomainError('signInUnavailable', { retryAfter: 1 }, { cause, message, retryAfterSeconds: 1 })
  }

  const hasherOptions = ({ address }: RequestSource) => ({ holders: holdersOf(address), refusal: busy })

  async function upToDate(user: Credentials, password: string, hasher: PasswordHasher): Promise<Credentials> {
    if (user.passwordHash === null || !passwords.isOutdated(user.passwordHash)) return user
    const passwordHash = await hasher.hash(password)
    return (await tokens.replaceHash(user, passwordHash)) ? { ...user, passwordHash } : user
  }

  /** Counts a failure and keeps it; an unknown account costs the same. */
  async function keepFailure(
    user: Pick<Credentials, 'userId' | 'companyId' | 'email'> | undefined,
    { reason, error }: { readonly reason: string; readonly error: 'invalidCredentials' | 'tooManyAttempts' },
    { clientId, buckets, source, isRecorded }: Try,
    { heldSeconds }: Turn,
  ): Promise<void> {
    // While far buckets are full, what is tried from elsewhere is not counted in them either.
    const counted = heldSeconds > 0 ? buckets.near : [...buckets.near, ...buckets.far]
    await throttle.fill(counted)
    const { seconds } = maxWait(counted, await throttle.listStates(counted))
    const details = { reason, clientId, ...(seconds > 0 ? { heldSeconds: Math.ceil(seconds) } : {}) }
    if (!isRecorded) await recordFailure(user, error, details, source)
    log.info({ clientId, userId: user?.userId, address: source.address }, 'sign-in refused')
  }

  return {
    /**
     * @throws DomainError `invalidCredentials`, `tooManyAttempts`, `signInUnavailable`, or what `findClient` throws
     */
    async verify(attempt: PasswordAttempt, source: RequestSource): Promise<Verified> {
      const { findClient, username, password, isRecorded } = attempt
      // A text that is no address is handled like an unknown address.
      const email = parseEmailAddress(username) ?? ''
      const made = await begin(username, email, { findClient, source, isRecorded })
      return withHasher(passwords, hasherOptions(source), async (hasher) => {
        // Places bound how many guesses are under way before their failures count; others may have counted while this
        // one waited for a place.
        const turn = await requireTurn(made)
        const found = await tokens.findCredentials(email)
        const isHeld = turn.heldSeconds > 0
        const isTaken = !isHeld || made.isFamiliar
        const matches = await hasher.matches(password, isTaken ? (found?.passwordHash ?? null) : null)
        if (!matches || !found) {
          const reason = found?.refusal ?? (found ? 'wrong-password' : 'unknown-user')
          // From a place where some users are familiar it does not show which.
          const error = isHeld ? 'tooManyAttempts' : 'invalidCredentials'
          await keepFailure(found, { reason: isTaken ? reason : 'held', error }, made, turn)
          throw isHeld ? tooManyAttempts(turn.heldSeconds) : new DomainError(error)
        }
        const user = await upToDate(found, password, hasher)
        if (!user.needsCode) await forgetFailures(made.buckets, turn)
        return { ...user, clientId: made.clientId }
      })
    },

    /**
     * The second step, after a password that was right.
     * @throws DomainError `invalidCredentials`, `tooManyAttempts` or `signInUnavailable`
     */
    async verifyCode(
      user: Pick<Credentials, 'userId' | 'companyId' | 'email'>,
      code: string,
      clientId: string,
      source: RequestSource,
      { isRecorded }: Pick<PasswordAttempt, 'isRecorded'> = {},
    ): Promise<void> {
      const findClient = async () => ({ id: clientId })
      const made = await begin(user.email, user.email, { findClient, source, isRecorded })
      await withHasher(passwords, hasherOptions(source), async () => {
        const turn = await requireTurn(made)
        if (turn.heldSeconds > 0 && !made.isFamiliar) throw tooManyAttempts(turn.heldSeconds)
        const isCodeCorrect = await relational.transaction(async (tx) => {
          const kind = await secondFactor.take(tx, user.userId, code)
          if (kind === 'recovery') {
            const caller = { principal: user, address: source.address }
            await recordAudit(tx, auditEventOf(caller, 'recovery-code-use'))
          }
          return kind !== undefined
        })
        if (!isCodeCorrect) {
          const error = 'invalidCredentials'
          await keepFailure(user, { reason: 'wrong-code', error }, made, turn)
          throw new DomainError(error)
        }
        await forgetFailures(made.buckets, turn)
      })
    },
  }
}
