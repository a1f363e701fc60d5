import type { RecordAudit } from '../../platform/audit.ts'
import { type Clock, systemClock } from '../../platform/clock.ts'
import { hashSecret, isSecret } from '../../platform/crypto/secrets.ts'
import { parseEmailAddress } from '../../platform/email-address.ts'
import { DomainError } from '../../platform/errors.ts'
import type { Logger } from '../../platform/logger.ts'
import { networkOf } from '../../platform/network-address.ts'
import { atDesk } from '../../platform/password-desk.ts'
import type { PasswordDesk, Passwords } from '../../platform/passwords.ts'
import type { Relational } from '../../platform/stores/relational.ts'
import {
  type Bucket,
  type BucketState,
  bucketsOf,
  defaultPolicy,
  longestWait,
  type ThrottlePolicy,
} from './login-throttle.ts'
import type { SecondFactor } from './second-factor.ts'
import type { ThrottleStore } from './throttle-store.ts'
import type { Credentials, TokenStore } from './token-store.ts'

/** Where a request comes from. */
export interface Origin {
  /** Address of the peer. */
  readonly address: string
  /** The refresh token of the cookie, when it may be honoured: it proves a session. */
  readonly cookieToken: string | undefined
}

export interface PasswordCheckDependencies {
  readonly relational: Pick<Relational, 'db' | 'transaction'>
  readonly tokens: Pick<TokenStore, 'findCredentials' | 'findSessionOf' | 'findAttempted' | 'replaceHash'>
  readonly throttle: ThrottleStore
  readonly passwords: Passwords
  readonly secondFactor: SecondFactor
  readonly recordAudit: RecordAudit
  readonly log: Pick<Logger, 'info' | 'warn'>
  readonly policy?: ThrottlePolicy
  readonly clock?: Clock
}

/** What somebody typed. */
export interface PasswordAttempt {
  /** In which client; asked with a place held, so that those who have none to come in ask the store nothing. */
  readonly findClient: () => Promise<{ readonly id: string }>
  readonly username: string
  readonly password: string
  /** Whether the caller records a refusal itself, as that of an operation. */
  readonly isRecorded?: boolean
}

/** One try of a password or a code. */
interface Try {
  readonly email: string
  readonly clientId: string
  readonly buckets: readonly Bucket[]
  readonly origin: Origin
  /** Whether the caller records a refusal itself. */
  readonly isRecorded?: boolean | undefined
}

/** Somebody whose password was right, in a client. */
export interface Verified extends Credentials {
  readonly clientId: string
}

/** Between two alarms about the same budget. */
const alarmIntervalMs = 60_000

/** Accounts that are remembered as held, of which the company was told. */
const mostHeld = 1_000

export type PasswordCheck = ReturnType<typeof createPasswordCheck>

/**
 * Whether somebody is who they say, by password and one-time code. Whatever the reason of a refusal, its
 * answer and the work for it are the same (faults.md, T01); the audit log knows the reason.
 */
export function createPasswordCheck(dependencies: PasswordCheckDependencies) {
  const { relational, tokens, throttle, passwords, secondFactor, recordAudit, log } = dependencies
  const { db } = relational
  const { policy = defaultPolicy, clock = systemClock } = dependencies
  const alarms = new Map<string, number>()
  const held = new Map<string, number>()

  /** Budgets that only an attack on many accounts or from many addresses exhausts are worth an operator's eye. */
  function raiseAlarm(budget: keyof ThrottlePolicy): void {
    const last = alarms.get(budget)
    if (last !== undefined && clock.now() - last < alarmIntervalMs) return
    alarms.set(budget, clock.now())
    log.warn({ budget }, 'failed sign-ins have exhausted a budget: further attempts are slowed down')
  }

  function recordFailure(
    user: Pick<Credentials, 'userId' | 'companyId' | 'email'> | undefined,
    error: 'invalidCredentials' | 'tooManyAttempts',
    details: { readonly reason: string; readonly clientId: string; readonly heldSeconds?: number },
    { address }: Origin,
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

  /** The company sees that an account is held, once a minute however often it is tried. */
  async function recordHeld({ email, clientId, origin }: Try, seconds: number): Promise<void> {
    const last = held.get(email)
    if (last !== undefined && clock.now() - last < alarmIntervalMs) return
    if (held.size >= mostHeld) held.clear()
    held.set(email, clock.now())
    const user = await tokens.findCredentials(email)
    await recordFailure(user, 'tooManyAttempts', { reason: 'held', clientId, heldSeconds: seconds }, origin)
  }

  async function requireTurn(made: Try): Promise<readonly BucketState[]> {
    const { buckets, email, isRecorded } = made
    const states = await throttle.listStates(buckets)
    const { seconds, scope } = longestWait(buckets, states)
    if (scope === undefined) return states
    if (scope !== 'accountFromAddress') raiseAlarm(scope)
    const isOfAccount = scope === 'accountFromAddress' || scope === 'account'
    if (isOfAccount && email !== '' && !isRecorded) await recordHeld(made, Math.ceil(seconds))
    const retryAfter = Math.ceil(seconds)
    throw new DomainError('tooManyAttempts', { retryAfter }, { retryAfterSeconds: retryAfter })
  }

  /** Whoever is right starts anew from where they are; most had not failed before. */
  async function forgetFailures([own]: readonly Bucket[], states: readonly BucketState[]): Promise<void> {
    if (own && states.some(({ key }) => key.equals(own.key))) await throttle.forget(own)
  }

  /**
   * The same kinds of buckets whether there is such an account or not, and the same questions to the store. Those of
   * an account are its own, whatever its address: another one does not empty them.
   */
  async function bucketsFor(typed: string, email: string, origin: Origin): Promise<readonly Bucket[]> {
    const { address, cookieToken } = origin
    const network = networkOf(address)
    const sessionId =
      cookieToken !== undefined && isSecret(cookieToken)
        ? await tokens.findSessionOf(email, hashSecret(cookieToken))
        : undefined
    const { userId, isFamiliar } = await tokens.findAttempted(email, network)
    // No address has a space, and what is typed instead of one cannot be written as the account of a person.
    const account = userId === undefined ? email || `typed ${typed}` : `user ${userId}`
    return bucketsOf({ account, address: network, sessionId, isFamiliar }, policy)
  }

  function busy(cause?: unknown): DomainError {
    const message = 'Too many people sign in at this moment, try again shortly'
    return new DomainError('signInUnavailable', { retryAfter: 1 }, { cause, message, retryAfterSeconds: 1 })
  }

  async function upToDate(user: Credentials, password: string, desk: PasswordDesk): Promise<Credentials> {
    if (user.passwordHash === null || !passwords.isOutdated(user.passwordHash)) return user
    const passwordHash = await desk.hash(password)
    return (await tokens.replaceHash(user, passwordHash)) ? { ...user, passwordHash } : user
  }

  /** Counts a failure and keeps it; an unknown account costs the same. */
  async function refuse(
    user: Pick<Credentials, 'userId' | 'companyId' | 'email'> | undefined,
    reason: string,
    { clientId, buckets, origin, isRecorded }: Try,
  ): Promise<never> {
    await throttle.countFailure(buckets)
    const { seconds } = longestWait(buckets, await throttle.listStates(buckets))
    const details = { reason, clientId, ...(seconds > 0 ? { heldSeconds: Math.ceil(seconds) } : {}) }
    if (!isRecorded) await recordFailure(user, 'invalidCredentials', details, origin)
    log.info({ clientId, userId: user?.userId, address: origin.address }, 'sign-in refused')
    throw new DomainError('invalidCredentials')
  }

  return {
    /**
     * @throws DomainError `invalidCredentials`, `tooManyAttempts`, `signInUnavailable`, or what `findClient` throws
     */
    async verify(attempt: PasswordAttempt, origin: Origin): Promise<Verified> {
      const { findClient, username, password, isRecorded } = attempt
      // What is no address is nobody's: it takes the same way as an address that nobody has.
      const email = parseEmailAddress(username) ?? ''
      // A place at the desk bounds how many guesses can be under way before their failures count.
      const judge = async (desk: PasswordDesk): Promise<Verified> => {
        const { id: clientId } = await findClient()
        const buckets = await bucketsFor(username, email, origin)
        const made = { email, clientId, buckets, origin, isRecorded }
        const states = await requireTurn(made)
        const found = await tokens.findCredentials(email)
        const matches = await desk.matches(password, found?.passwordHash ?? null)
        if (!matches || !found) {
          const reason = found?.refusal ?? (found ? 'wrong-password' : 'unknown-user')
          return refuse(found, reason, made)
        }
        const user = await upToDate(found, password, desk)
        if (!user.needsCode) await forgetFailures(buckets, states)
        return { ...user, clientId }
      }
      return atDesk(passwords, judge, busy)
    },

    /**
     * The second step, for somebody whose password was right.
     * @throws DomainError `invalidCredentials`, `tooManyAttempts` or `signInUnavailable`
     */
    async verifyCode(
      user: Pick<Credentials, 'userId' | 'companyId' | 'email'>,
      code: string,
      clientId: string,
      origin: Origin,
    ): Promise<void> {
      const judge = async (): Promise<void> => {
        const buckets = await bucketsFor(user.email, user.email, origin)
        const made = { email: user.email, clientId, buckets, origin }
        const states = await requireTurn(made)
        const isRight = await relational.transaction(async (tx) => {
          const kind = await secondFactor.take(tx, user.userId, code)
          if (kind === 'recovery') {
            await recordAudit(tx, {
              companyId: user.companyId,
              action: 'recovery-code-use',
              actor: { kind: 'user', id: user.userId, name: user.email },
              address: origin.address,
            })
          }
          return kind !== undefined
        })
        if (!isRight) return refuse(user, 'wrong-code', made)
        await forgetFailures(buckets, states)
      }
      await atDesk(passwords, judge, busy)
    },
  }
}
