import { permissionNames } from '@millrace/contract/permissions.ts'
import type { AuditAction } from '@millrace/contract/resources/audit-entry.ts'
import type { Profile, ProfileUpdate } from '@millrace/contract/resources/user.ts'
import { type AuditEvent, auditEventOf } from '../../../../platform/audit.ts'
import { changesOf, definedOf } from '../../../../platform/changes.ts'
import { isPasswordTooLong } from '../../../../platform/crypto/passwords.ts'
import { DomainError } from '../../../../platform/errors.ts'
import { bucketKey, createSqlLeakyBuckets } from '../../../../platform/limits/sql-leaky-bucket.ts'
import { found } from '../../../../platform/resources/resource.ts'
import type { Queries } from '../../../../platform/stores/relational.ts'
import { createFamiliarStore } from '../../sessions/familiar-store.ts'
import type { IdentityContext } from '../../sessions/identity-context.ts'
import type { Caller, Principal } from '../../sessions/principal.ts'
import { createSessionStore } from '../../sessions/session-store.ts'
import { passwordChangedEmail } from '../account-emails.ts'
import { createCompanyStore } from '../company/company-store.ts'
import { requireTimezone, type TimezoneDependencies } from '../company/known-timezone.ts'
import { withHasher } from '../passwords/password-hasher.ts'
import { createPasswordLinkStore } from '../passwords/password-link-store.ts'
import { hashOther, requireGoodPassword } from '../passwords/password-setting.ts'
import { toUser } from './user-service.ts'
import { createUserStore, personalFields, type StoredUser } from './user-store.ts'

/** Guesses of one's present password: 10 at once, one more every quarter of an hour; a right one forgets them. */
const guesses = { free: 10, drainSeconds: 900 } as const

const guessesKey = (userId: string): Buffer => bucketKey('password-change', userId)

export type ProfileService = ReturnType<typeof createProfileService>

/** What every user may do with their own account. */
export function createProfileService(dependencies: IdentityContext & TimezoneDependencies) {
  const { relational, passwords, recordAudit, enqueueMail } = dependencies

  async function getSelf(queries: Queries, principal: Principal): Promise<StoredUser> {
    const user = await createUserStore(queries).find(principal.companyId, principal.userId)
    if (!user) throw new DomainError('unauthenticated')
    return user
  }

  async function readCompany({ companyId }: Principal): Promise<Profile['company']> {
    const company = found(await createCompanyStore(relational.db).find(companyId), 'notFound', companyId)
    const { id, name, timezone, language, currency } = company
    return { id, name, timezone, language, currency }
  }

  async function read(principal: Principal): Promise<Profile> {
    const stored = await getSelf(relational.db, principal)
    const { theme, timezone, favourites, hasPassword } = stored
    const permissions = permissionNames.filter((name) => principal.permissions.has(name))
    return {
      ...toUser(stored),
      ...{ theme, hasPassword, permissions },
      company: await readCompany(principal),
      preferences: { timezone, favourites },
    }
  }

  const record = (tx: Queries, caller: Caller, action: AuditAction, details: AuditEvent['details']) => {
    const { userId: id, email: name } = caller.principal
    return recordAudit(tx, auditEventOf(caller, action, { kind: 'user', id, name }, details))
  }

  /** Every try counts before the password is looked at, so that many at once are bounded too. */
  async function requireTurn(userId: string): Promise<void> {
    const seconds = await createSqlLeakyBuckets(relational.db).take({
      key: guessesKey(userId),
      ...guesses,
    })
    if (seconds === 0) return
    throw new DomainError('tooManyAttempts', { retryAfter: seconds }, { retryAfterSeconds: seconds })
  }

  /** Checks the present password; the hash of the new one. */
  async function replace(principal: Principal, current: string, next: string) {
    const present = await createUserStore(relational.db).findPasswordHash(principal.userId)
    if (present === null) {
      const message = 'You have no password yet: have a link mailed to you to choose one'
      throw new DomainError('passwordNotUsed', { email: principal.email }, { message })
    }
    await requireTurn(principal.userId)
    const hash = await withHasher(
      passwords,
      { holders: [principal.companyId, principal.userId] },
      async (hasher) => {
        const isPasswordCorrect = !isPasswordTooLong(current) && (await hasher.matches(current, present))
        if (!isPasswordCorrect) throw new DomainError('wrongPassword')
        return hashOther(hasher, next, present, 'newPassword')
      },
    )
    return { present, hash }
  }

  return {
    read,

    /** @throws DomainError `validation` (time zone) */
    async update(caller: Caller, wanted: ProfileUpdate): Promise<Profile> {
      const { principal } = caller
      const { firstName, lastName, jobTitle, phone, language, theme, preferences = {} } = wanted
      const { timezone, favourites } = preferences
      if (timezone) await requireTimezone(dependencies, timezone, 'preferences.timezone')
      const recorded = { firstName, lastName, jobTitle, phone, language, theme, timezone }
      await relational.transaction(async (tx) => {
        const store = createUserStore(tx)
        await store.lock(principal.companyId, principal.userId)
        const present = await getSelf(tx, principal)
        const fields = { ...recorded, favourites }
        if (changesOf(present, fields).changed.length === 0) return
        await store.update(principal.userId, definedOf(fields))
        // What a user wants to find again is no matter of the audit log.
        const changes = changesOf(present, recorded, personalFields)
        if (changes.changed.length > 0) await record(tx, caller, 'user-update', { ...changes })
      })
      return read(principal)
    },

    /**
     * Ends all other sessions and voids links in mails; the owner gets a notice.
     * @returns how many other sessions there were
     * @throws DomainError `validation` (at `newPassword`), `wrongPassword`, `passwordNotUsed`, `tooManyAttempts` or
     *   `unavailable`
     */
    async changePassword(caller: Caller, current: string, next: string): Promise<number> {
      const { principal } = caller
      requireGoodPassword(next, 'newPassword')
      const { present, hash } = await replace(principal, current, next)
      return relational.transaction(async (tx) => {
        const user = await createPasswordLinkStore(tx).findById(principal.userId)
        const changed = await createUserStore(tx).changePassword(principal.userId, present, hash)
        // It has been changed since it was verified.
        if (!changed || !user) throw new DomainError('wrongPassword')
        if (user.requiresSingleSignOn) throw new DomainError('passwordNotUsed', { email: principal.email })
        const sessions = createSessionStore(tx)
        const endedSessions = await sessions.endOfUser(principal.userId, { keptTokenId: principal.tokenId })
        await createPasswordLinkStore(tx).endAll(principal.userId)
        await createFamiliarStore(tx).rememberNetwork(principal.userId, caller.address)
        await createSqlLeakyBuckets(tx).forget(guessesKey(principal.userId))
        await enqueueMail(tx, principal.companyId, { to: user.email, ...passwordChangedEmail(user.language) })
        await record(tx, caller, 'password-change', { endedSessions })
        return endedSessions
      })
    },

    /** Ends every session of the caller, the present one too. */
    async endSessions(caller: Caller): Promise<void> {
      await relational.transaction(async (tx) => {
        const endedSessions = await createSessionStore(tx).endOfUser(caller.principal.userId)
        await record(tx, caller, 'sign-out', { endedSessions })
      })
    },
  }
}
