import { randomBytes } from 'node:crypto'
import type {
  AuthenticatorOffer,
  AuthenticatorState,
  RecoveryCodes,
} from '@millrace/contract/resources/authenticator.ts'
import { auditEventOf } from '../../../../platform/audit.ts'
import { DomainError } from '../../../../platform/errors.ts'
import { normalizeId } from '../../../../platform/ids.ts'
import { found } from '../../../../platform/resources/resource.ts'
import { createPeopleStore } from '../../people/people-store.ts'
import { requireNotAbove } from '../../people/roles/grants.ts'
import type { IdentityContext } from '../../sessions/identity-context.ts'
import type { Caller, Principal } from '../../sessions/principal.ts'
import { createSessionStore } from '../../sessions/session-store.ts'
import type { PasswordCheck } from '../passwords/password-check.ts'
import { authenticatorContext, createAuthenticatorStore } from './authenticator-store.ts'
import { hashRecoveryCode } from './second-factor.ts'
import { authenticatorAddress, matchingStep, toBase32 } from './totp.ts'

export interface AuthenticatorServiceDependencies extends IdentityContext {
  readonly passwordCheck: PasswordCheck
}

/** RFC 4226 4 recommends 160 bits. */
const secretBytes = 20
const recoveryCodeCount = 10
const recoveryAlphabet = 'abcdefghijkmnpqrstuvwxyz23456789'

export type AuthenticatorService = ReturnType<typeof createAuthenticatorService>

/** Turning one-time codes on and off. */
export function createAuthenticatorService(dependencies: AuthenticatorServiceDependencies) {
  const { relational, passwordCheck, box, recordAudit, clock, random = randomBytes } = dependencies
  const { db } = relational
  const store = createAuthenticatorStore(db)

  /** Fifteen letters of 32 each, 75 bits: too many to guess from the hashes in a copy of the database. */
  function newRecoveryCodes(): string[] {
    return Array.from({ length: recoveryCodeCount }, () => {
      const letters = Array.from(random(15), (byte) => recoveryAlphabet[byte % recoveryAlphabet.length])
      return [0, 5, 10].map((from) => letters.slice(from, from + 5).join('')).join('-')
    })
  }

  async function requirePassword({ principal, address }: Caller, password: string): Promise<void> {
    const findClient = async () => ({ id: principal.clientId })
    const attempt = { findClient, username: principal.email, password, isRecorded: true }
    try {
      const signedIn = await passwordCheck.verify(attempt, {
        address,
        cookieToken: undefined,
        device: undefined,
      })
      // The address may sign in to an account of another company.
      if (signedIn.userId !== principal.userId) throw new DomainError('wrongPassword')
    } catch (error) {
      if (error instanceof DomainError && error.errorName === 'invalidCredentials')
        throw new DomainError('wrongPassword', {}, { cause: error })
      throw error
    }
  }

  return {
    /**
     * A one-time or recovery code of the caller, which is taken once.
     * @throws DomainError `authenticatorNotOffered`, `wrongCode`, `tooManyAttempts` or `signInUnavailable`
     */
    async requireCode({ principal, address }: Caller, code: string): Promise<void> {
      if (!(await store.find(principal.userId))?.isConfirmed) throw new DomainError('authenticatorNotOffered')
      const source = { address, cookieToken: undefined, device: undefined }
      try {
        await passwordCheck.verifyCode(principal, code, principal.clientId, source, { isRecorded: true })
      } catch (error) {
        if (error instanceof DomainError && error.errorName === 'invalidCredentials')
          throw new DomainError('wrongCode', {}, { cause: error })
        throw error
      }
    },

    async readState({ userId }: Principal): Promise<AuthenticatorState> {
      const enabled = (await store.find(userId))?.isConfirmed === true
      return { enabled, recoveryCodes: enabled ? await store.countRecoveryCodes(userId) : 0 }
    },

    /** @throws DomainError `wrongPassword`, `tooManyAttempts`, `signInUnavailable` or `authenticatorInUse` */
    async offer(caller: Caller, password: string): Promise<AuthenticatorOffer> {
      const { userId, email } = caller.principal
      await requirePassword(caller, password)
      const secret = random(secretBytes)
      const sealed = box.seal(secret, authenticatorContext(userId))
      if (!(await store.offer(userId, sealed))) throw new DomainError('authenticatorInUse')
      return { secret: toBase32(secret), address: authenticatorAddress(secret, email) }
    },

    /** @throws DomainError `wrongCode`, `authenticatorNotOffered` or `authenticatorInUse` */
    async confirm(caller: Caller, code: string): Promise<RecoveryCodes> {
      const { userId } = caller.principal
      const stored = await store.find(userId)
      if (!stored) throw new DomainError('authenticatorNotOffered')
      if (stored.isConfirmed) throw new DomainError('authenticatorInUse')
      const secret = box.open(stored.sealedSecret, authenticatorContext(userId))
      const step = matchingStep(secret, code.replaceAll(' ', ''), clock.now())
      if (step === undefined) throw new DomainError('wrongCode')
      const recoveryCodes = newRecoveryCodes()
      await relational.transaction(async (tx) => {
        const inside = createAuthenticatorStore(tx)
        if (!(await inside.confirm(userId, step))) throw new DomainError('authenticatorInUse')
        await inside.replaceRecoveryCodes(userId, recoveryCodes.map(hashRecoveryCode))
        await recordAudit(tx, auditEventOf(caller, 'authenticator-enable'))
      })
      return { recoveryCodes }
    },

    /** @throws DomainError `wrongPassword`, `tooManyAttempts`, `signInUnavailable` or `authenticatorNotOffered` */
    async renewRecoveryCodes(caller: Caller, password: string): Promise<RecoveryCodes> {
      const { userId } = caller.principal
      await requirePassword(caller, password)
      if (!(await store.find(userId))?.isConfirmed) throw new DomainError('authenticatorNotOffered')
      const recoveryCodes = newRecoveryCodes()
      await relational.transaction(async (tx) => {
        await createAuthenticatorStore(tx).replaceRecoveryCodes(userId, recoveryCodes.map(hashRecoveryCode))
        const details = { recoveryCodes: 'renewed' }
        await recordAudit(tx, auditEventOf(caller, 'authenticator-enable', undefined, details))
      })
      return { recoveryCodes }
    },

    /** @throws DomainError `wrongPassword`, `tooManyAttempts`, `signInUnavailable` or `authenticatorNotOffered` */
    async disable(caller: Caller, password: string): Promise<void> {
      const { userId } = caller.principal
      await requirePassword(caller, password)
      await relational.transaction(async (tx) => {
        if (!(await createAuthenticatorStore(tx).delete(userId)))
          throw new DomainError('authenticatorNotOffered')
        await recordAudit(tx, auditEventOf(caller, 'authenticator-disable'))
      })
    },

    /**
     * For another user of the company who lost their device; it ends that user's sessions.
     * @throws DomainError `userIdNotFound`, `userAboveOwn` or `authenticatorNotOffered`
     */
    async deleteOf(caller: Caller, wantedId: string): Promise<void> {
      const { principal } = caller
      const id = normalizeId(wantedId)
      await relational.transaction(async (tx) => {
        const inside = createAuthenticatorStore(tx)
        const owner = found(
          await createPeopleStore(tx).findUser(principal.companyId, id),
          'userIdNotFound',
          id,
        )
        await requireNotAbove(tx, principal, owner)
        if (!(await inside.delete(id))) throw new DomainError('authenticatorNotOffered')
        await createSessionStore(tx).endOfUser(id)
        const target = { kind: 'user', id, name: owner.email }
        await recordAudit(tx, auditEventOf(caller, 'authenticator-disable', target))
      })
    },
  }
}
