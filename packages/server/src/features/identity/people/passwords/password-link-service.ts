import { actorOf, type RecordAudit } from '../../../../platform/audit.ts'
import type { Passwords } from '../../../../platform/crypto/passwords.ts'
import { hashSecret, isSecret, newSecret, type RandomBytes } from '../../../../platform/crypto/secrets.ts'
import { DomainError } from '../../../../platform/errors.ts'
import type { Language } from '../../../../platform/i18n/language.ts'
import { newId } from '../../../../platform/ids.ts'
import { bucketKey, type SqlLeakyBuckets } from '../../../../platform/limits/sql-leaky-bucket.ts'
import { parseEmailAddress } from '../../../../platform/mail/email-address.ts'
import type { EnqueueMail } from '../../../../platform/mail/mail-queue.ts'
import { holdersOf, networkOf } from '../../../../platform/network-address.ts'
import { type Queries, type Relational, wordingViolations } from '../../../../platform/stores/relational.ts'
import type { Caller } from '../../sessions/principal.ts'
import { passwordChangedEmail, resetEmail } from '../account-emails.ts'
import { requireEmail } from '../installation/operator-account-service.ts'
import { createAccountStore } from '../installation/operator-account-store.ts'
import type { UserLifecycle } from '../users/user-lifecycle.ts'
import { atDesk } from './password-desk.ts'
import type { LinkKind, LinkTarget, PasswordLinkStore } from './password-link-store.ts'
import { hashOther, requireGoodPassword } from './password-setting.ts'

export interface PasswordLinkDependencies {
  readonly relational: Pick<Relational, 'db' | 'transaction'>
  readonly linksIn: (queries: Queries) => PasswordLinkStore
  readonly bucketsIn: (queries: Queries) => SqlLeakyBuckets
  readonly passwords: Passwords
  readonly lifecycle: Pick<UserLifecycle, 'endSessions' | 'endLinks'>
  readonly recordAudit: RecordAudit
  readonly enqueueMail: EnqueueMail
  /** From here the user signs in also while others are held. */
  readonly rememberNetwork: (tx: Queries, userId: string, address: string) => Promise<void>
  /** Address under which people reach the service, without a path; never what a request says it is. */
  readonly origin: () => string
  readonly random?: RandomBytes
}

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
const mostResetsOfOneUser = 5
const mostUsersOfOneCaller = 50
/** Of one address at the public page: 20 at once, one more every three minutes. */
const pageBudget = { free: 20, drainSeconds: 180 } as const

/** Entries of the audit log about one link that works no more: 5 at once, one more every ten minutes. */
const endedBudget = { free: 5, drainSeconds: 600 } as const

/** How setting a password behind a link is called in the audit log. */
const actionOf = (kind: LinkKind) => (kind === 'invitation' ? 'invitation-accept' : 'password-reset')

const of = (user: { id: string; email: string }) => ({ kind: 'user', id: user.id, name: user.email })

function tooMany(message: string): DomainError {
  const retryAfter = 3600
  return new DomainError('tooManyPasswordResets', { retryAfter }, { message, retryAfterSeconds: retryAfter })
}

/** Whether a password is this person's way in, or the only one there can be. */
const usesPassword = (user: LinkTarget): boolean =>
  !user.requiresSingleSignOn && (user.hasPassword || !user.offersSingleSignOn)

export type PasswordLinkService = ReturnType<typeof createPasswordLinkService>

/** Links with which people set a password: after a reset, or when they come in for the first time. */
export function createPasswordLinkService(dependencies: PasswordLinkDependencies) {
  const { relational, linksIn, bucketsIn, passwords, lifecycle, recordAudit, enqueueMail, origin, random } =
    dependencies
  const { rememberNetwork } = dependencies

  /** Undefined when there is no such person; the same statements then. */
  async function addLink(
    tx: Queries,
    userId: string,
    kind: LinkKind,
    createdBy: string | undefined,
  ): Promise<{ url: string; expiresAt: Date | undefined }> {
    const secret = newSecret(random)
    const expiresAt = await linksIn(tx).insert({
      id: newId(),
      kind,
      secretHash: hashSecret(secret),
      userId,
      createdBy,
      lifetimeSeconds: lifetimeSeconds[kind],
    })
    return { url: `${origin()}/v2/oauth/set-password?token=${secret}`, expiresAt }
  }

  async function mailResetLink(tx: Queries, user: LinkTarget, createdBy: string | undefined): Promise<void> {
    const { url } = await addLink(tx, user.id, 'password-reset', createdBy)
    await enqueueMail(tx, { to: user.email, ...resetEmail(user.language, url) })
  }

  function requireResettable(user: LinkTarget): void {
    const { email, status } = user
    if (status !== 'active') {
      const message =
        status === 'invited'
          ? 'This user has not come in yet: renew the invitation instead'
          : 'This user is deactivated: reactivate the user first'
      throw new DomainError('userNotActive', { email }, { message })
    }
    if (!usesPassword(user)) throw new DomainError('passwordNotUsed', { email })
  }

  /** Who gets a mail from the public page, if anybody; why not goes to the audit log alone. */
  async function targetOfPage(
    links: PasswordLinkStore,
    email: string,
  ): Promise<{ user: LinkTarget | undefined; target: LinkTarget | undefined; error?: DomainError }> {
    const user = await links.findByEmail(email)
    const recent = await links.countRecentFor(user?.id ?? '', 'page')
    try {
      if (!user) throw new DomainError('userNotFound', { email })
      requireResettable(user)
      if (recent >= mostResetsOfOneUser) throw tooMany('A reset of this user was asked for too often')
      return { user, target: user }
    } catch (error) {
      if (!(error instanceof DomainError)) throw error
      return { user, target: undefined, error }
    }
  }

  /** A link that somebody had is recorded for its company; what nobody ever had is nobody's. */
  async function recordEnded(secret: string, address: string): Promise<void> {
    if (!isSecret(secret)) return
    const secretHash = hashSecret(secret)
    const link = await linksIn(relational.db).findEnded(secretHash)
    if (!link) return
    const budget = { key: bucketKey('ended-link', secretHash.toString('hex')), ...endedBudget }
    if ((await bucketsIn(relational.db).take(budget)) > 0) return
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
    wordingViolations(
      () => relational.transaction(work),
      (constraint, cause) =>
        constraint === 'users_email' ? new DomainError('invalidLink', {}, { cause }) : undefined,
    )

  async function setPassword(secret: string, newPassword: string, address: string): Promise<LinkView> {
    const secretHash = isSecret(secret) ? hashSecret(secret) : undefined
    const link = secretHash && (await linksIn(relational.db).findLiving(secretHash))
    if (!link) throw new DomainError('invalidLink')
    requireGoodPassword(newPassword, 'password')
    const passwordHash = await atDesk(passwords, { holders: holdersOf(address) }, (desk) =>
      hashOther(desk, newPassword, link.passwordHash, 'password'),
    )
    const { userId, companyId, kind, email, language, expiresAt } = link
    const isHeld = await holdingEmail(async (tx) => {
      if (!(await linksIn(tx).consume(secretHash, userId))) throw new DomainError('invalidLink')
      // The address signs in to another company's account: who has the link learns no more than that it has ended.
      if ((await linksIn(tx).findById(userId))?.isHeldElsewhere) return true
      // The link of an invitation is also in the answer to who invites; that of a reset is in the mail alone.
      await createAccountStore(tx).updatePassword(userId, passwordHash, kind === 'invitation')
      const endedSessions = await lifecycle.endSessions(tx, userId)
      await lifecycle.endLinks(tx, userId)
      await rememberNetwork(tx, userId, address)
      if (kind === 'password-reset') await enqueueMail(tx, { to: email, ...passwordChangedEmail(language) })
      await recordAudit(tx, {
        companyId,
        action: actionOf(kind),
        actor: { kind: 'user', id: userId, name: email },
        target: of({ id: userId, email }),
        details: { endedSessions },
        address,
      })
      return false
    })
    if (isHeld) throw new DomainError('invalidLink')
    return { kind, email, language, expiresAt }
  }

  return {
    /**
     * The public page for a forgotten password. It never tells anything: for every text the same statements run,
     * one transaction is committed, and nothing is answered. A mail goes to the stored address of an active user
     * with a password, at most five times an hour; one network address has 20 requests, then one in three minutes.
     */
    async requestReset({ email: text, address }: { email: string; address: string }): Promise<void> {
      const email = parseEmailAddress(text) ?? ''
      const budget = { key: bucketKey('forgotten-password', networkOf(address)), ...pageBudget }
      if ((await bucketsIn(relational.db).take(budget)) > 0) return
      await relational.transaction(async (tx) => {
        const links = linksIn(tx)
        await links.lockAddress(email || text)
        const { user, target, error } = await targetOfPage(links, email)
        const { url } = await addLink(tx, target?.id ?? '', 'password-reset', undefined)
        // The mail is made and queued for nobody too, and taken back.
        await links.savepoint()
        await enqueueMail(tx, {
          to: target?.email ?? 'nobody@invalid',
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
     * Operation 15: mails a link to somebody of the caller's company, or to the caller.
     * @throws DomainError `validation`, `forbidden`, `userNotFound`, `userNotActive`, `passwordNotUsed` or
     *   `tooManyPasswordResets`
     */
    async mailReset({ principal, address }: Caller, emailText: string): Promise<void> {
      const email = requireEmail(emailText)
      const isOwn = email === principal.email
      if (!isOwn && !principal.can('user', 'update'))
        throw new DomainError('forbidden', { resource: 'user', action: 'update' })
      await relational.transaction(async (tx) => {
        const links = linksIn(tx)
        await links.lockCaller(principal.userId)
        const user = await links.findByEmail(email, principal.companyId)
        if (!user) throw new DomainError('userNotFound', { email })
        requireResettable(user)
        if ((await links.countRecentFor(user.id, 'operation')) >= mostResetsOfOneUser)
          throw tooMany('A reset of this user was asked for 5 times within an hour; the last mail is valid')
        if (!isOwn && (await links.countRecentBy(principal.userId, user.id)) >= mostUsersOfOneCaller)
          throw tooMany(`You have asked for resets of ${mostUsersOfOneCaller} users within an hour`)
        await mailResetLink(tx, user, principal.userId)
        await recordAudit(tx, {
          companyId: principal.companyId,
          action: 'password-reset-request',
          actor: actorOf(principal),
          target: of(user),
          address,
        })
      })
    },

    /**
     * Inside the caller's transaction, for changes after which somebody needs a password: mails a reset link to an
     * active user, whether there is a password or not.
     */
    async mailResetTo(tx: Queries, userId: string): Promise<void> {
      const user = await linksIn(tx).findById(userId)
      if (user?.status === 'active') await mailResetLink(tx, user, undefined)
    },

    /** Inside the caller's transaction: a link for somebody invited, which voids the former one. */
    async makeInvitationLink(tx: Queries, userId: string, createdBy: string): Promise<MadeLink> {
      const { url, expiresAt } = await addLink(tx, userId, 'invitation', createdBy)
      if (!expiresAt) throw new Error(`there is no user ${userId} to invite`)
      return { url, expiresAt }
    },

    /** What a link is for; undefined when it does not work. Looking does not use it. */
    async inspect(secret: string): Promise<LinkView | undefined> {
      const link = isSecret(secret) ? await linksIn(relational.db).findLiving(hashSecret(secret)) : undefined
      if (!link) return undefined
      const { kind, email, language, expiresAt } = link
      return { kind, email, language, expiresAt }
    },

    /** Records that somebody tried to use a link that `inspect` does not find. */
    recordEnded: (secret: string, from: { address: string }): Promise<void> =>
      recordEnded(secret, from.address),

    /**
     * Sets the password that somebody chose behind a link, which is used up by it. All sessions end, other links are
     * void, and nobody is signed in by it. A password that is refused leaves the link as it is.
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
