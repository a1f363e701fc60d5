import { linkedAccounts } from '../../../../database/tables/linked-account.ts'
import { scimUserAttributes } from '../../../../database/tables/provisioning.ts'
import { rolePermissions } from '../../../../database/tables/role.ts'
import {
  clientConsents,
  recoveryCodes,
  userAuthenticators,
  userLinks,
} from '../../../../database/tables/sign-in.ts'
import { ssoDomains, ssoIdentities, ssoUnlinkedNames } from '../../../../database/tables/single-sign-on.ts'
import { teamMembers } from '../../../../database/tables/team.ts'
import { users } from '../../../../database/tables/user.ts'
import { parseEmailAddress } from '../../../../platform/mail/email-address.ts'
import {
  type AnyPgColumn,
  and,
  eq,
  inArray,
  ne,
  type PgTable,
  type SQL,
  sql,
} from '../../../../platform/stores/postgres/drizzle.ts'
import { type Queries, sqlOn, violatedConstraint } from '../../../../platform/stores/relational.ts'
import { createSessionStore } from '../../sessions/session-store.ts'
import { createPasswordLinkStore } from '../passwords/password-link-store.ts'
import { createPeopleStore, type UserStatus } from '../people-store.ts'

interface Reference {
  readonly id: string
  readonly companyId: string
}

/** How much of a user's access has ended. */
export interface EndedAccess {
  readonly sessions: number
  readonly linkedAccounts: number
}

/** The same for an account that is reset. */
export interface EndedAccount extends EndedAccess {
  readonly teams: number
  readonly password: boolean
  readonly authenticator: boolean
  readonly singleSignOn: boolean
  readonly previousRoleId: string
}

/** Changes of a user's state; works inside the transaction it is given. */
export function createLifecycleStore(db: Queries) {
  const execute = sqlOn(db)

  const here = ({ id, companyId }: Reference) => and(eq(users.id, id), eq(users.companyId, companyId))

  /** Ends sessions, voids links in mails and takes linked accounts away; says how many there were. */
  async function endAccess(userId: string): Promise<EndedAccess> {
    const sessions = await createSessionStore(db).endOfUser(userId)
    await createPasswordLinkStore(db).endAll(userId)
    const { rowCount } = await db.delete(linkedAccounts).where(eq(linkedAccounts.userId, userId))
    return { sessions, linkedAccounts: rowCount ?? 0 }
  }

  const removeFrom = async (table: PgTable & { userId: AnyPgColumn }, userId: string): Promise<number> =>
    (await db.delete(table).where(eq(table.userId, userId))).rowCount ?? 0

  /** The second factor and the consents. @returns whether there was a second factor */
  async function removeOwnSettings(userId: string): Promise<boolean> {
    await removeFrom(recoveryCodes, userId)
    await removeFrom(clientConsents, userId)
    return (await removeFrom(userAuthenticators, userId)) > 0
  }

  /** Teams, a second factor, a name at the identity provider, consents: what an account has beside its row. */
  async function removeBelongings(userId: string) {
    await removeFrom(scimUserAttributes, userId)
    return {
      teams: await removeFrom(teamMembers, userId),
      authenticator: await removeOwnSettings(userId),
      singleSignOn: (await removeFrom(ssoIdentities, userId)) > 0,
    }
  }

  /** @returns where the address is taken already, if it is; the transaction stays usable */
  async function settingAddress(update: () => Promise<unknown>): Promise<'ours' | 'elsewhere' | undefined> {
    await execute`savepoint before_address`
    try {
      await update()
    } catch (error) {
      const constraint = violatedConstraint(error)
      if (constraint !== 'users_email' && constraint !== 'users_company_email') throw error
      await execute`rollback to savepoint before_address`
      return constraint === 'users_email' ? 'elsewhere' : 'ours'
    }
    await execute`release savepoint before_address`
    return undefined
  }

  return {
    endAccess,

    /** False when the user is in none of the states `from`. */
    async changeStatus(user: Reference, from: UserStatus[], to: UserStatus): Promise<boolean> {
      const changed = await db
        .update(users)
        .set({ status: to, updatedAt: sql`now()` })
        .where(and(here(user), inArray(users.status, from)))
        .returning({ id: users.id })
      return changed.length > 0
    },

    /**
     * Whether an address is of a domain that the company has verified; or of the domain of the user's present one,
     * with a role that allows nothing beyond the role of a new user.
     */
    async mayHaveAddress(user: Reference, email: string, newUserRoleId: string): Promise<boolean> {
      const domain = sql`split_part(${email}, '@', 2)`
      const permissionsOf = (role: SQL) =>
        sql`select resource, action from ${rolePermissions} where role_id = ${role}`
      const rows = await execute`
        select 1 from ${users} where ${here(user)} and (
        exists (select 1 from ${ssoDomains} as owned where owned.company_id = ${user.companyId}
          and owned.domain = ${domain} and owned.verified_at is not null)
        or (split_part(${users.email}, '@', 2) = ${domain} and not exists (
          ${permissionsOf(sql`${users.roleId}`)} except ${permissionsOf(sql`${newUserRoleId}`)})))`
      return rows.length > 0
    },

    /**
     * False when another user of the company has the address; the transaction stays usable then.
     * @param mayHold whether the address may sign in to this account: not where it does to another company's, also
     *   when that has come about at this moment
     */
    async changeAddress(user: Reference, email: string, mayHold: boolean): Promise<boolean> {
      const change = (holdsEmail: SQL | boolean) =>
        settingAddress(() =>
          db.update(users).set({ email, holdsEmail, updatedAt: sql`now()` }).where(here(user)),
        )
      const taken = await change(mayHold ? sql`${users.status} <> 'invited'` : false)
      return (taken === 'elsewhere' ? await change(false) : taken) === undefined
    },

    /** The address signs in to this active account from now on, unless it does to another company's. */
    async holdAddress(user: Reference): Promise<void> {
      const isFree = sql`not is_email_held_elsewhere(${users.companyId}, ${users.email})`
      await settingAddress(() =>
        db
          .update(users)
          .set({ holdsEmail: true })
          .where(and(here(user), eq(users.status, 'active'), eq(users.holdsEmail, false), isFree)),
      )
    },

    /** Renames links whose name is the former address. */
    async renameIdentities(user: Reference & { readonly email: string }, email: string): Promise<void> {
      const ofUser = and(eq(ssoIdentities.userId, user.id), eq(ssoIdentities.companyId, user.companyId))
      const identities = await db.select().from(ssoIdentities).where(ofUser)
      for (const identity of identities) {
        if (parseEmailAddress(identity.nameId) !== user.email) continue
        await db.delete(ssoIdentities).where(and(ofUser, eq(ssoIdentities.nameId, identity.nameId)))
        await db
          .insert(ssoIdentities)
          .values({ ...identity, nameId: email })
          .onConflictDoNothing()
      }
    },

    /**
     * A deactivated user is as before: active, or invited when the user has never signed in. One who is in no team any
     * more joins the default one. False when the user is not deactivated.
     */
    async reactivate(user: Reference): Promise<boolean> {
      const isLinked = sql`exists (select 1 from ${ssoIdentities} where ${ssoIdentities.userId} = ${user.id})`
      const wasIn = sql`${users.passwordHash} is not null or ${users.lastSignInAt} is not null
        or ${users.provisioned} or ${isLinked}`
      const changed = await db
        .update(users)
        .set({
          status: sql`case when ${wasIn} then 'active' else 'invited' end`,
          holdsEmail: sql`${users.holdsEmail} and (${wasIn})`,
          updatedAt: sql`now()`,
        })
        .where(and(here(user), eq(users.status, 'disabled')))
        .returning({ id: users.id })
      if (changed.length === 0) return false
      await createPeopleStore(db).addToDefaultTeam(user.companyId, [user.id])
      return true
    },

    /**
     * Takes a user's names at identity providers away, and ends the sessions that came of them. Each name
     * is kept, as a hash, with what the user may do who takes it: a later one who may do more replaces that.
     * @returns undefined when there is nothing to take away
     */
    async unlink(
      user: Reference,
      permissions: readonly string[],
    ): Promise<{ names: number; sessions: number } | undefined> {
      const allowed = sql`${sql.param([...permissions].sort())}::text[]`
      const rows = await execute<{ names: number; kept: number }>`
        with taken as (
          delete from ${ssoIdentities}
          where company_id = ${user.companyId} and user_id = ${user.id}
          returning company_id, idp_entity_id, name_id, name_format, user_id
        ), names as (
          select company_id, idp_entity_id, name_id, user_id from taken
          union
          select company_id, idp_entity_id, lower(name_id collate "C"), user_id from taken
            where name_format is distinct from 'other'
        ), added as (
          insert into ${ssoUnlinkedNames} (company_id, idp_entity_id, name_hash, user_id, permissions)
            select company_id, idp_entity_id, sha256(convert_to(name_id, 'UTF8')), user_id, ${allowed} from names
            on conflict (company_id, idp_entity_id, name_hash)
              do update set user_id = excluded.user_id, permissions = excluded.permissions, unlinked_at = now()
        ), raised as (
          update ${ssoUnlinkedNames} set permissions = ${allowed}, unlinked_at = now()
          where company_id = ${user.companyId} and user_id = ${user.id}
            and permissions <@ ${allowed} and permissions <> ${allowed}
          returning 1
        )
        select (select count(*)::int from taken) as names, (select count(*)::int from raised) as kept`
      const { names = 0, kept = 0 } = rows[0] ?? {}
      return names + kept === 0
        ? undefined
        : { names, sessions: await createSessionStore(db).endOfUser(user.id, { method: 'sso' }) }
    },

    /**
     * The account has nothing that was given to it or that opens it, but keeps its row with the profile; the role is
     * this one from now on.
     */
    async reset(user: Reference, roleId: string): Promise<EndedAccount | undefined> {
      const [before] = await db
        .select({ previousRoleId: users.roleId, passwordHash: users.passwordHash })
        .from(users)
        .where(here(user))
        .for('update')
      if (!before) return undefined
      const ended = { ...(await endAccess(user.id)), ...(await removeBelongings(user.id)) }
      await db
        .update(users)
        .set({
          passwordHash: null,
          passwordHandedOver: false,
          lastSignInAt: null,
          roleId,
          updatedAt: sql`now()`,
        })
        .where(here(user))
      return { ...ended, password: before.passwordHash !== null, previousRoleId: before.previousRoleId }
    },

    /** Those of these users whose password others may know; their rows are locked. */
    async lockUnproven(
      companyId: string,
      ids: readonly string[],
    ): Promise<(Reference & { readonly email: string })[]> {
      return db
        .select({ id: users.id, companyId: users.companyId, email: users.email })
        .from(users)
        .where(
          and(
            eq(users.companyId, companyId),
            sql`${users.id} = any(${sql.param([...ids])}::text[])`,
            users.passwordHandedOver,
          ),
        )
        .orderBy(users.id)
        .for('update')
    },

    /** Deletes what a holder of the password may have set up; profile, role and teams stay. */
    async endUnproven(user: Reference): Promise<EndedAccess & { readonly authenticator: boolean }> {
      const ended = { ...(await endAccess(user.id)), authenticator: await removeOwnSettings(user.id) }
      await db
        .update(users)
        .set({ passwordHash: null, passwordHandedOver: false, updatedAt: sql`now()` })
        .where(here(user))
      return ended
    },

    /** For an administrator: violates `companies_keep_administrator` unless one of the company can sign in. */
    async requireAdministrator({ id, companyId }: Reference): Promise<void> {
      await execute`
        select require_administrator(${companyId}) from ${users}
        where id = ${id} and status = 'active' and is_administrator_role(role_id)`
    },

    /** False when there is no such user, or no longer. */
    async erase(user: Reference): Promise<boolean> {
      const erased = await db
        .update(users)
        .set({
          status: 'deleted',
          email: sql`${users.id} || '@deleted.invalid'`,
          passwordHash: null,
          passwordHandedOver: false,
          firstName: '',
          lastName: '',
          jobTitle: '',
          phone: '',
          timezone: null,
          favourites: [],
          externalId: null,
          formerExternalId: null,
          updatedAt: sql`now()`,
        })
        .where(and(here(user), ne(users.status, 'deleted')))
        .returning({ id: users.id })
      if (erased.length === 0) return false
      await removeBelongings(user.id)
      await removeFrom(userLinks, user.id)
      return true
    },
  }
}
