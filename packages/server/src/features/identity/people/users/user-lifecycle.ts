import type { AuditAction } from '@millrace/contract/resources/audit-entry.ts'
import type { AuditActor, AuditEvent } from '../../../../platform/audit.ts'
import { DomainError } from '../../../../platform/errors.ts'
import { newId } from '../../../../platform/ids.ts'
import { refusing } from '../../../../platform/resources/resource.ts'
import type { Queries } from '../../../../platform/stores/relational.ts'
import type { IdentityContext } from '../../sessions/identity-context.ts'
import { createPasswordLinkStore } from '../passwords/password-link-store.ts'
import { createPeopleStore, type User } from '../people-store.ts'
import { createAddressListStore } from './address-list-store.ts'
import { createLifecycleStore } from './lifecycle-store.ts'
import { createUserStore, type NewUser } from './user-store.ts'

/** Who makes a change, and from which network address, for the audit log. */
export interface AuditSource {
  readonly actor: AuditActor
  readonly address?: string | undefined
}

/** The user whom a change is about; `email` is for the audit log. */
export interface UserReference {
  readonly id: string
  readonly companyId: string
  readonly email: string
}

/** `taken` by another account of the company, or `notOwned`: not the company's to give to this user. */
export type RenameResult = 'renamed' | 'taken' | 'notOwned'

/** A new user, whose role and teams the caller has found in the same company. */
export interface NewAccount extends Omit<NewUser, 'id' | 'holdsEmail'> {
  /** Whether an address that another company's account has is no obstacle: that account stays what it signs in to. */
  readonly sharesEmail?: boolean
}

/** For the `catch` of a change after which no administrator could sign in: the message says what to do first. */
export const explainLastAdministrator =
  (message: string) =>
  (error: unknown): never => {
    if (!(error instanceof DomainError) || error.errorName !== 'lastAdministrator') throw error
    throw new DomainError('lastAdministrator', {}, { message, cause: error })
  }

export type UserLifecycle = ReturnType<typeof createUserLifecycle>

/**
 * The states of an account and the consequences of each change, for operations, provisioning, single sign-on and the
 * operator alike. What opens an account (sessions, codes, links in mails, linked accounts) ends in the transaction
 * that changes its state; other processes know within a second.
 */
export function createUserLifecycle({
  relational,
  recordAudit,
}: Pick<IdentityContext, 'relational' | 'recordAudit'>) {
  const record = (
    tx: Queries,
    action: AuditAction,
    { id, companyId, email: name }: UserReference,
    source: AuditSource,
    details: AuditEvent['details'] = {},
  ): Promise<void> =>
    recordAudit(tx, { companyId, action, target: { kind: 'user', id, name }, details, ...source })

  return {
    /**
     * A transaction that changes users or roles.
     * @throws DomainError `lastAdministrator` when the company would be left without an administrator
     */
    transact: <T>(work: (tx: Queries) => Promise<T>): Promise<T> =>
      refusing({ companies_keep_administrator: ['lastAdministrator', {}] }, () =>
        relational.transaction(work),
      ),

    /**
     * Inside `transact`. Undefined when a user of the company has the address already, and where it is not shared
     * also when the address or its domain is another company's; the operator alone may create such users.
     * @param action how the entry of the audit log is called
     */
    async create(
      tx: Queries,
      wanted: NewAccount,
      source: AuditSource,
      action: 'user-create' | 'user-invite' | 'sso-user-create' = 'user-create',
    ): Promise<User | undefined> {
      const { sharesEmail = false, ...fields } = wanted
      const { companyId, email, status, roleId } = wanted
      const user: User = { id: newId(), companyId, email, status, roleId }
      const isElsewhere =
        source.actor.kind !== 'operator' && (await createPeopleStore(tx).isHeldElsewhere(companyId, email))
      if (isElsewhere && !sharesEmail) return undefined
      const insert = (holdsEmail: boolean) =>
        createUserStore(tx).insert({ ...fields, id: user.id, holdsEmail })
      const mayHold = !isElsewhere && status !== 'invited'
      // Another company's account may have taken the address at this moment.
      const isMade = (await insert(mayHold)) || (mayHold && sharesEmail && (await insert(false)))
      if (!isMade) return undefined
      await record(tx, action, user, source, { roleId, teamIds: wanted.teamIds })
      return user
    },

    /**
     * Inside `transact`. Gives a user another address, with which everything that the former one identified goes:
     * the name at the identity provider where that is the address, and links that were mailed to it are revoked.
     * An address opens an account: it must be of a domain that the company has verified, or of the same domain as
     * the former one for a user who has no more permissions than a new user would get at any address.
     * @param newUserRoleId the role that a new user gets
     */
    async rename(
      tx: Queries,
      user: UserReference,
      email: string,
      newUserRoleId: string,
      source: AuditSource,
    ): Promise<RenameResult> {
      const { id, companyId, email: previousEmail } = user
      const store = createLifecycleStore(tx)
      if (!(await store.mayHaveAddress(user, email, newUserRoleId))) return 'notOwned'
      const isElsewhere = await createPeopleStore(tx).isHeldElsewhere(companyId, email)
      if (!(await store.changeAddress(user, email, !isElsewhere))) return 'taken'
      await createPasswordLinkStore(tx).endAll(id)
      await store.renameIdentities(user, email)
      await record(tx, 'user-update', { id, companyId, email }, source, { email, previousEmail })
      return 'renamed'
    },

    /** Inside a transaction: an invited user has signed in without the invitation, whose links end. */
    async activateInvited(tx: Queries, user: UserReference): Promise<void> {
      const store = createLifecycleStore(tx)
      if (!(await store.changeStatus(user, ['invited'], 'active'))) return
      await store.holdAddress(user)
      await createPasswordLinkStore(tx).endAll(user.id)
    },

    /**
     * Inside `transact`: an identity provider has said who these users are. Where a password was chosen behind a link
     * that others have seen, and no mail has shown since that the user has the mailbox, it may be another's: it ends,
     * with the second factor, the sessions and the linked accounts.
     */
    async endUnproven(
      tx: Queries,
      companyId: string,
      ids: readonly string[],
      source: AuditSource,
    ): Promise<void> {
      const store = createLifecycleStore(tx)
      for (const user of await store.lockUnproven(companyId, ids)) {
        const details = { password: true, ...(await store.endUnproven(user)) }
        await store.requireAdministrator(user)
        await record(tx, 'user-update', user, source, details)
      }
    },

    /** Inside `transact`. False when the user is neither active nor invited. */
    async deactivate(tx: Queries, user: UserReference, source: AuditSource): Promise<boolean> {
      const store = createLifecycleStore(tx)
      if (!(await store.changeStatus(user, ['active', 'invited'], 'disabled'))) return false
      const ended = await store.endAccess(user.id)
      await record(tx, 'user-deactivate', user, source, { ...ended })
      return true
    },

    /**
     * Inside `transact`. Role, teams and password are as they were, or the default team where there is none; linked
     * accounts do not come back. A user who has never signed in is invited again, and needs a new link.
     */
    async reactivate(tx: Queries, user: UserReference, source: AuditSource): Promise<boolean> {
      const store = createLifecycleStore(tx)
      if (!(await store.reactivate(user))) return false
      await store.holdAddress(user)
      await record(tx, 'user-reactivate', user, source)
      return true
    },

    /**
     * Inside `transact`. The account of a user whom the identity provider has deleted: deactivated, without teams,
     * password, second factor, link to the identity provider and whatever else opened it, in no list of receivers, and
     * with the role of a new user. Its id, profile and history stay, so that the same user can come back to them and to nothing else.
     */
    async reset(tx: Queries, user: UserReference, roleId: string, source: AuditSource): Promise<void> {
      const store = createLifecycleStore(tx)
      const lists = await createAddressListStore(tx).leaveAll(user)
      const wasOpen = await store.changeStatus(user, ['active', 'invited'], 'disabled')
      const ended = await store.reset(user, roleId)
      if (!ended) return
      const { previousRoleId, ...left } = ended
      const things = { ...left, ...(lists && { lists }) }
      const isOtherRole = roleId !== previousRoleId
      if (!wasOpen && !isOtherRole && !Object.values(things).some(Boolean)) return
      const details = { ...things, ...(isOtherRole && { roleId, previousRoleId }) }
      await record(tx, wasOpen ? 'user-deactivate' : 'user-update', user, source, details)
    },

    /**
     * Inside `transact`. For good: the row stays without anything personal, because others point at its id, and no
     * list of the company has the address any more.
     * @param action how the entry of the audit log is called
     */
    async erase(
      tx: Queries,
      user: UserReference,
      source: AuditSource,
      action: 'user-delete' | 'invitation-delete' = 'user-delete',
    ): Promise<boolean> {
      const store = createLifecycleStore(tx)
      const lists = await createAddressListStore(tx).leaveAll(user)
      if (!(await store.erase(user))) return false
      const details = { ...(await store.endAccess(user.id)), ...(lists && { lists }) }
      await record(tx, action, user, source, details)
      return true
    },

    /**
     * Inside `transact`: a user is no longer known at an identity provider, and is linked again by the next sign-in
     * with a verified address. False when there was nothing to unlink.
     * @param permissions of the user who does it: the name never leads to a user who may do more
     */
    async unlink(
      tx: Queries,
      user: UserReference,
      source: AuditSource,
      permissions: Iterable<string>,
    ): Promise<boolean> {
      const store = createLifecycleStore(tx)
      const details = await store.unlink(user, [...permissions])
      if (!details) return false
      await store.requireAdministrator(user)
      await record(tx, 'sso-unlink', user, source, details)
      return true
    },
  }
}
