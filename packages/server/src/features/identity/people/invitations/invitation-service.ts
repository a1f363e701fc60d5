import type { Invitation, InvitationCreation, Invited } from '@millrace/contract/resources/invitation.ts'
import { actorOf } from '../../../../platform/audit.ts'
import { DomainError } from '../../../../platform/errors.ts'
import { normalizeId } from '../../../../platform/ids.ts'
import { bucketKey, createSqlLeakyBuckets } from '../../../../platform/limits/sql-leaky-bucket.ts'
import { type Listed, mapListed, type Page } from '../../../../platform/paging.ts'
import { found, recorderOf, withIsoDates } from '../../../../platform/resources/resource.ts'
import type { Queries } from '../../../../platform/stores/relational.ts'
import type { IdentityContext } from '../../sessions/identity-context.ts'
import type { Caller, Principal } from '../../sessions/principal.ts'
import { invitationEmail } from '../account-emails.ts'
import { requireEmail } from '../installation/operator-account-service.ts'
import type { PasswordLinkService } from '../passwords/password-link-service.ts'
import { createPasswordLinkStore, type LinkTarget } from '../passwords/password-link-store.ts'
import { createPeopleStore } from '../people-store.ts'
import {
  requireGrantableRole,
  requireGrantableTeams,
  requireNotAbove,
  requireUnprovisioned,
} from '../roles/grants.ts'
import type { UserLifecycle } from '../users/user-lifecycle.ts'
import { toUser } from '../users/user-service.ts'
import { createUserStore } from '../users/user-store.ts'
import { createInvitationStore } from './invitation-store.ts'

export interface InvitationServiceDependencies extends IdentityContext {
  readonly lifecycle: Pick<UserLifecycle, 'transact' | 'create' | 'erase'>
  readonly makeInvitationLink: PasswordLinkService['makeInvitationLink']
}

/** Mails of one caller: 100 at once, one more every 36 seconds. */
const mailsOfCaller = { free: 100, drainSeconds: 36 } as const
/** Mails to one address from all callers: 5 at once, one more every 12 minutes. */
const mailsToAddress = { free: 5, drainSeconds: 720 } as const

export type InvitationService = ReturnType<typeof createInvitationService>

/** Invitations, until their users sign in for the first time. */
export function createInvitationService(dependencies: InvitationServiceDependencies) {
  const { relational, lifecycle, makeInvitationLink, enqueueMail, publicUrl } = dependencies
  const record = recorderOf('user', dependencies.recordAudit)

  /** @throws DomainError `tooManyInvitations` */
  async function requireMail(tx: Queries, { userId }: Principal, email: string): Promise<void> {
    const buckets = createSqlLeakyBuckets(tx)
    const ofCaller = await buckets.take({ key: bucketKey('invitations-of', userId), ...mailsOfCaller })
    const toAddress = await buckets.take({ key: bucketKey('invitations-to', email), ...mailsToAddress })
    const retryAfter = Math.max(ofCaller, toAddress)
    if (retryAfter === 0) return
    const message =
      toAddress > 0
        ? `Too many invitations were mailed to ${email}; pass on the link yourself (sendMail: false) or try again later`
        : 'You have had too many invitations mailed; pass on the links yourself (sendMail: false) or try again later'
    throw new DomainError('tooManyInvitations', { retryAfter }, { message, retryAfterSeconds: retryAfter })
  }

  /** A link to choose a password, or the address to sign in at for users who must use single sign-on. */
  async function openDoor(
    tx: Queries,
    { principal }: Caller,
    user: LinkTarget,
    sendMail: boolean,
  ): Promise<Omit<Invited, 'user'>> {
    if (sendMail) await requireMail(tx, principal, user.email)
    const choosesPassword = !user.requiresSingleSignOn
    if (!choosesPassword) await createPasswordLinkStore(tx).endAll(user.id)
    const { url, expiresAt } = choosesPassword
      ? await makeInvitationLink(tx, user.id, principal.userId)
      : { url: `${publicUrl()}/`, expiresAt: null }
    if (sendMail) {
      const way = choosesPassword ? (user.isHeldElsewhere ? 'none' : 'password') : 'single-sign-on'
      const text = { company: user.companyName, inviter: principal.email, url, way } as const
      await enqueueMail(tx, user.companyId, {
        to: user.email,
        isAwaited: true,
        ...invitationEmail(user.language, text),
      })
    }
    return { url, expiresAt: expiresAt?.toISOString() ?? null }
  }

  async function getTarget(tx: Queries, { companyId }: Principal, id: string): Promise<LinkTarget> {
    const user = await createPasswordLinkStore(tx).findById(id)
    if (user?.companyId === companyId && user.status === 'invited') return user
    throw new DomainError('invitationNotFound', { id })
  }

  async function answer(tx: Queries, user: LinkTarget, door: Omit<Invited, 'user'>): Promise<Invited> {
    const stored = await createUserStore(tx).find(user.companyId, user.id)
    return { user: toUser(found(stored, 'invitationNotFound', user.id)), ...door }
  }

  return {
    async list({ companyId }: Pick<Principal, 'companyId'>, page: Page): Promise<Listed<Invitation>> {
      return mapListed(await createInvitationStore(relational.db).list(companyId, page), (row) =>
        withIsoDates(row),
      )
    },

    /**
     * @throws DomainError `validation` (address), `unknownRole`, `roleAboveOwn`, `unknownTeam`, `notInTeam` or
     *   `emailTaken` when a user of the company has the address; users of other companies stay hidden
     */
    async invite(caller: Caller, wanted: InvitationCreation): Promise<Invited> {
      const { principal, address } = caller
      const email = requireEmail(wanted.email)
      return lifecycle.transact(async (tx) => {
        await createPeopleStore(tx).lockCompany(principal.companyId)
        const newUser = {
          companyId: principal.companyId,
          email,
          status: 'invited' as const,
          roleId: await requireGrantableRole(tx, principal, wanted.roleId),
          teamIds: await requireGrantableTeams(tx, principal, wanted.resourceGroupIds),
          sharesEmail: true,
          passwordHash: null,
          firstName: wanted.firstName ?? '',
          lastName: wanted.lastName ?? '',
        }
        await requireUnprovisioned(tx, principal.companyId, newUser.teamIds)
        const source = { actor: actorOf(principal), address }
        const created = await lifecycle.create(tx, newUser, source, 'user-invite')
        if (!created) throw new DomainError('emailTaken', { email })
        const user = await getTarget(tx, principal, created.id)
        return answer(tx, user, await openDoor(tx, caller, user, wanted.sendMail ?? true))
      })
    },

    /**
     * A new link; the former one ends. The caller sees the link, and must hold every permission that the
     * invited user will have.
     * @throws DomainError `invitationNotFound`, `userAboveOwn` or `tooManyInvitations`
     */
    async renew(caller: Caller, idText: string, sendMail: boolean): Promise<Invited> {
      const id = normalizeId(idText)
      const { principal } = caller
      return lifecycle.transact(async (tx) => {
        const user = await getTarget(tx, principal, id)
        await requireNotAbove(tx, principal, user)
        const door = await openDoor(tx, caller, user, sendMail)
        await record(tx, caller, 'invitation-renew', { id, name: user.email })
        return answer(tx, user, door)
      })
    },

    /** @throws DomainError `invitationNotFound` or `userAboveOwn` */
    async delete(caller: Caller, idText: string): Promise<void> {
      const id = normalizeId(idText)
      const { principal, address } = caller
      await lifecycle.transact(async (tx) => {
        const user = await getTarget(tx, principal, id)
        await requireNotAbove(tx, principal, user)
        await lifecycle.erase(tx, user, { actor: actorOf(principal), address }, 'invitation-delete')
      })
    },
  }
}
