import { auditEventOf } from '../../../../platform/audit.ts'
import { hashSecret, isSecret, newSecret } from '../../../../platform/crypto/secrets.ts'
import { DomainError } from '../../../../platform/errors.ts'
import type { Language } from '../../../../platform/i18n/language.ts'
import { newId } from '../../../../platform/ids.ts'
import { bucketKey, createSqlLeakyBuckets } from '../../../../platform/limits/sql-leaky-bucket.ts'
import { parseEmailAddress } from '../../../../platform/mail/email-address.ts'
import { holdersOf, networkOf } from '../../../../platform/network-address.ts'
import { refusing } from '../../../../platform/resources/resource.ts'
import type { Queries } from '../../../../platform/stores/relational.ts'
import { createFamiliarStore } from '../../sessions/familiar-store.ts'
import type { IdentityContext } from '../../sessions/identity-context.ts'
import type { Caller } from '../../sessions/principal.ts'
import { createSessionStore } from '../../sessions/session-store.ts'
import { passwordChangedEmail, resetEmail } from '../account-emails.ts'
import { requireEmail } from '../installation/operator-account-service.ts'
import { createUserStore } from '../users/user-store.ts'
import { withHasher } from './password-hasher.ts'
import {
  createPasswordLinkStore,
  type LinkKind,
  type LinkTarget,
  type PasswordLinkStore,
} from './password-link-store.ts'
import { hashOther, requireGoodPassword } from './password-setting.ts'

/** What the page behind a link shows. */
export interface LinkView {
  readonly kind: LinkKind
  readonly email: string
  readonly language: Language
  readonly expiresAt: Date
}

/** A link that was just made; `url` holds the secret, which is kept nowhere. */
export interface MadeLink {
  readonly url: string
  readonly expiresAt: Date
}

const lifetimeSeconds: Readonly<Record<LinkKind, number>> = {
  'password-reset': 30 * 60,
  invitation: 7 * 24 * 3600,
}
const maxResetsOfUser = 5
const maxUsersOfCaller = 50
/** Of one address at the public page: 20 at once, one more every three minutes. */
const pageLimit = { free: 20, drainSeconds: 180 } as const

/** Entries of the audit log about one link that has ended: 5 at once, one more every ten minutes. */
const endedLinkLimit = { free: 5, drainSeconds: 600 } as const

/** How setting a password behind a link is called in the audit log. */
const actionOf = (kind: LinkKind) => (kind === 'invitation' ? 'invitation-accept' : 'password-reset')

const of = (user: { id: string; email: string }) => ({ kind: 'user', id: user.id, name: user.email })

function tooMany(message: string): DomainError {
  const retryAfter = 3600
  return new DomainError('tooManyPasswordResets', { retryAfter }, { message, retryAfterSeconds: retryAfter })
}

/** Whether this user signs in with a password, or could do nothing else. */
const usesPassword = (user: LinkTarget): boolean =>
  !user.requiresSingleSignOn && (user.hasPassword || !user.offersSingleSignOn)

export type PasswordLinkService = ReturnType<typeof createPasswordLinkService>

/** Links with which users set a password: after a reset, or for the first sign-in. */
export function createPasswordLinkService(dependencies: IdentityContext) {
  const { relational, passwords, recordAudit, enqueueMail, publicUrl, random } = dependencies

  /** Undefined when there is no such user; the same statements then. */
  async function addLink(
    tx: Queries,
    userId: string,
    kind: LinkKind,
    createdBy: string | undefined,
  ): Promise<{ url: string; expiresAt: Date | undefined }> {
    const secret = newSecret(random)
    const expiresAt = await createPasswordLinkStore(tx).insert({
      id: newId(),
      kind,
      secretHash: hashSecret(secret),
      userId,
      createdBy,
      lifetimeSeconds: lifetimeSeconds[kind],
    })
    return { url: `${publicUrl()}/v2/oauth/set-password?token=${secret}`, expiresAt }
  }

  async function mailResetLink(tx: Queries, user: LinkTarget, createdBy: string | undefined): Promise<void> {
    const { url } = await addLink(tx, user.id, 'password-reset', createdBy)
    await enqueueMail(tx, user.companyId, {
      to: user.email,
      isAwaited: true,
      ...resetEmail(user.language, url),
    })
  }

  function requireResettable(user: LinkTarget): void {
    const { email, status } = user
    if (status !== 'active') {
      const message =
        status === 'invited'
          ? 'This user has not signed in yet: renew the invitation instead'
          : 'This user is deactivated: reactivate the user first'
      throw new DomainError('userNotActive', { email }, { message })
    }
    if (!usesPassword(user)) throw new DomainError('passwordNotUsed', { email })
  }

  /** The user who gets a mail from the public page, if there is one; the reason why not goes to the audit log alone. */
  async function targetOfPage(
    links: PasswordLinkStore,
    email: string,
  ): Promise<{ user: LinkTarget | undefined; target: LinkTarget | undefined; error?: DomainError }> {
    const user = await links.findByEmail(email)
    const recent = await links.countRecentFor(user?.id ?? '', 'page')
    try {
      if (!user) throw new DomainError('userNotFound', { email })
      requireResettable(user)
      if (recent >= maxResetsOfUser) throw tooMany('A reset of this user was asked for too often')
      return { user, target: user }
    } catch (error) {
      if (!(error instanceof DomainError)) throw error
      return { user, target: undefined, error }
    }
  }

  /** Records the use of a link that has ended for its company; an unknown link belongs to none. */
  async function recordEnded(secret: string, address: string): Promise<void> {
    if (!isSecret(secret)) return
    const secretHash = hashSecret(secret)
    const link = await createPasswordLinkStore(relational.db).findEnded(secretHash)
    if (!link) return
    const bucket = { key: bucketKey('ended-link', secretHash.toString('hex')), ...endedLinkLimit }
    if ((await createSqlLeakyBuckets(relational.db).take(bucket)) > 0) return
    const { companyId, userId, email, kind, reason } = link
    await recordAudit(relational.db, {
      companyId,
      action: actionOf(kind),
      actor: { kind: 'anonymous' },
      target: of({ id: userId, email }),
      error: 'invalidLink',
      details: { reason },
      address,
    })
  }

  /** Of accounts in several companies that take an address at once, one gets it. */
  const holdingEmail = <T>(work: (tx: Queries) => Promise<T>): Promise<T> =>
    refusing({ users_email: ['invalidLink', {}] }, () => relational.transaction(work))

  async function setPassword(secret: string, newPassword: string, address: string): Promise<LinkView> {
    const secretHash = isSecret(secret) ? hashSecret(secret) : undefined
    const link = secretHash && (await createPasswordLinkStore(relational.db).findLiving(secretHash))
    if (!link) throw new DomainError('invalidLink')
    requireGoodPassword(newPassword, 'password')
    const passwordHash = await withHasher(passwords, { holders: holdersOf(address) }, (hasher) =>
      hashOther(hasher, newPassword, link.passwordHash, 'password'),
    )
    const { userId, companyId, kind, email, language, expiresAt } = link
    const isHeld = await holdingEmail(async (tx) => {
      if (!(await createPasswordLinkStore(tx).consume(secretHash, userId)))
        throw new DomainError('invalidLink')
      // The address signs in to another company's account: the holder of the link only learns that it has ended.
      if ((await createPasswordLinkStore(tx).findById(userId))?.isHeldElsewhere) return true
      // The link of an invitation is also in the answer to who invites; that of a reset is in the mail alone.
      await createUserStore(tx).setPassword(userId, passwordHash, kind === 'invitation')
      const endedSessions = await createSessionStore(tx).endOfUser(userId)
      await createPasswordLinkStore(tx).endAll(userId)
      await createFamiliarStore(tx).rememberNetwork(userId, address)
      if (kind === 'password-reset')
        await enqueueMail(tx, companyId, { to: email, ...passwordChangedEmail(language) })
      const caller = { principal: link, address }
      await recordAudit(
        tx,
        auditEventOf(caller, actionOf(kind), of({ id: userId, email }), { endedSessions }),
      )
      return false
    })
    if (isHeld) throw new DomainError('invalidLink')
    return { kind, email, language, expiresAt }
  }

  return {
    /**
     * The public page for a forgotten password. It discloses nothing: for every text the same statements run,
     * one transaction is committed, and nothing is answered. A mail goes to the stored address of an active user
     * with a password, at most five times an hour; one network address has 20 requests, then one in three minutes.
     */
    async requestReset({ email: text, address }: { email: string; address: string }): Promise<void> {
      const email = parseEmailAddress(text) ?? ''
      const bucket = { key: bucketKey('forgotten-password', networkOf(address)), ...pageLimit }
      if ((await createSqlLeakyBuckets(relational.db).take(bucket)) > 0) return
      await relational.transaction(async (tx) => {
        const links = createPasswordLinkStore(tx)
        await links.lockAddress(email || text)
        const { user, target, error } = await targetOfPage(links, email)
        const { url } = await addLink(tx, target?.id ?? '', 'password-reset', undefined)
        // The mail is made and queued for an unknown user too, and rolled back.
        await links.savepoint()
        await enqueueMail(tx, target?.companyId, {
          to: target?.email ?? 'nobody@invalid',
          isAwaited: true,
          ...resetEmail(target?.language ?? 'en', url),
        })
        await links.endSavepoint(target !== undefined)
        await recordAudit(tx, {
          companyId: user?.companyId,
          action: 'password-reset-request',
          actor: { kind: 'anonymous' },
          ...(user ? { target: of(user) } : {}),
          ...(error ? { error: error.errorName } : {}),
          address,
        })
      })
    },

    /**
     * Operation 15: mails a link to a user of the caller's company, or to the caller.
     * @throws DomainError `validation`, `forbidden`, `userNotFound`, `userNotActive`, `passwordNotUsed` or
     *   `tooManyPasswordResets`
     */
    async mailReset({ principal, address }: Caller, emailText: string): Promise<void> {
      const email = requireEmail(emailText)
      const isOwn = email === principal.email
      if (!isOwn && !principal.can('user', 'update'))
        throw new DomainError('forbidden', { resource: 'user', action: 'update' })
      await relational.transaction(async (tx) => {
        const links = createPasswordLinkStore(tx)
        await links.lockCaller(principal.userId)
        const user = await links.findByEmail(email, principal.companyId)
        if (!user) throw new DomainError('userNotFound', { email })
        requireResettable(user)
        if ((await links.countRecentFor(user.id, 'operation')) >= maxResetsOfUser)
          throw tooMany('A reset of this user was asked for 5 times within an hour; the last mail is valid')
        if (!isOwn && (await links.countRecentBy(principal.userId, user.id)) >= maxUsersOfCaller)
          throw tooMany(`You have asked for resets of ${maxUsersOfCaller} users within an hour`)
        await mailResetLink(tx, user, principal.userId)
        await recordAudit(tx, auditEventOf({ principal, address }, 'password-reset-request', of(user)))
      })
    },

    /**
     * Inside the caller's transaction, for changes after which a user needs a password: mails a reset link to an
     * active user, whether there is a password or not.
     */
    async mailResetTo(tx: Queries, userId: string): Promise<void> {
      const user = await createPasswordLinkStore(tx).findById(userId)
      if (user?.status === 'active') await mailResetLink(tx, user, undefined)
    },

    /** Inside the caller's transaction: a link for an invited user, which voids the former one. */
    async makeInvitationLink(tx: Queries, userId: string, createdBy: string): Promise<MadeLink> {
      const { url, expiresAt } = await addLink(tx, userId, 'invitation', createdBy)
      if (!expiresAt) throw new Error(`there is no user ${userId} to invite`)
      return { url, expiresAt }
    },

    /** What a link is for; undefined when it does not work. Looking does not use it. */
    async inspect(secret: string): Promise<LinkView | undefined> {
      const link = isSecret(secret)
        ? await createPasswordLinkStore(relational.db).findLiving(hashSecret(secret))
        : undefined
      if (!link) return undefined
      const { kind, email, language, expiresAt } = link
      return { kind, email, language, expiresAt }
    },

    /** Records the use of a link that `inspect` does not find. */
    recordEnded: (secret: string, from: { address: string }): Promise<void> =>
      recordEnded(secret, from.address),

    /**
     * Sets the password chosen behind a link, which is used up by it. All sessions end, other links are void, and the
     * user is not signed in by it. A password that is refused leaves the link as it is.
     * @throws DomainError `invalidLink`, `validation` (at `password`) or `unavailable`
     */
    async redeem(secret: string, newPassword: string, { address }: { address: string }): Promise<LinkView> {
      try {
        return await setPassword(secret, newPassword, address)
      } catch (error) {
        if (error instanceof DomainError && error.errorName === 'invalidLink')
          await recordEnded(secret, address)
        throw error
      }
    },
  }
}
