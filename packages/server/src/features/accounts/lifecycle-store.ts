import { and, eq, inArray, isNull, ne, notInArray, type SQL, sql } from 'drizzle-orm'
import { linkedAccounts } from '../../database/tables/linked-account.ts'
import { scimUserAttributes } from '../../database/tables/provisioning.ts'
import { rolePermissions } from '../../database/tables/role.ts'
import {
  authorizationCodes,
  clientConsents,
  pendingSignIns,
  recoveryCodes,
  userAuthenticators,
  userLinks,
} from '../../database/tables/sign-in.ts'
import { ssoDomains, ssoIdentities } from '../../database/tables/single-sign-on.ts'
import { teamMembers } from '../../database/tables/team.ts'
import { accessTokens, refreshTokens } from '../../database/tables/token.ts'
import { users } from '../../database/tables/user.ts'
import { parseEmailAddress } from '../../platform/email-address.ts'
import { type Queries, violatedConstraint } from '../../platform/stores/relational.ts'
import type { UserStatus } from './account-store.ts'

interface Reference {
  readonly id: string
  readonly companyId: string
}

/** Changes of a person's state; works inside the transaction it is given. */
export function createLifecycleStore(db: Queries) {
  const here = ({ id, companyId }: Reference) => and(eq(users.id, id), eq(users.companyId, companyId))

  /** @param keptTokenId an access token whose session goes on */
  async function endSessions(userId: string, keptTokenId?: string): Promise<number> {
    // A sign-in under way holds the person's row shared until its session stands; this waits for it.
    await db.execute(sql`select 1 from ${users} where id = ${userId} for update`)
    await db.delete(authorizationCodes).where(eq(authorizationCodes.userId, userId))
    await db.delete(pendingSignIns).where(eq(pendingSignIns.userId, userId))
    const kept = db
      .select({ id: accessTokens.refreshTokenId })
      .from(accessTokens)
      .where(eq(accessTokens.id, keptTokenId ?? ''))
    const { rowCount } = await db
      .delete(refreshTokens)
      .where(and(eq(refreshTokens.userId, userId), notInArray(refreshTokens.id, kept)))
    return rowCount ?? 0
  }

  async function endLinks(userId: string): Promise<void> {
    await db
      .update(userLinks)
      .set({ endedAt: sql`now()` })
      .where(and(eq(userLinks.userId, userId), isNull(userLinks.endedAt)))
  }

  return {
    endSessions,
    endLinks,

    /** False when the person is in none of the states `from`. */
    async changeStatus(user: Reference, from: UserStatus[], to: UserStatus): Promise<boolean> {
      const changed = await db
        .update(users)
        .set({ status: to, updatedAt: sql`now()` })
        .where(and(here(user), inArray(users.status, from)))
        .returning({ id: users.id })
      return changed.length > 0
    },

    /**
     * Whether an address is of a domain that the company has verified; or of the domain of the person's present one,
     * with a role that allows nothing beyond that of a newcomer.
     */
    async mayHaveAddress(user: Reference, email: string, newcomerRoleId: string): Promise<boolean> {
      const domain = sql`split_part(${email}, '@', 2)`
      const permissionsOf = (role: SQL) =>
        sql`select resource, action from ${rolePermissions} where role_id = ${role}`
      const { rows } = await db.execute(
        sql`select 1 from ${users} where ${here(user)} and (
          exists (select 1 from ${ssoDomains} as owned where owned.company_id = ${user.companyId}
            and owned.domain = ${domain} and owned.verified_at is not null)
          or (split_part(${users.email}, '@', 2) = ${domain} and not exists (
            ${permissionsOf(sql`${users.roleId}`)} except ${permissionsOf(sql`${newcomerRoleId}`)})))`,
      )
      return rows.length > 0
    },

    /** False when another person of the service has the address; the transaction goes on then. */
    async changeAddress(user: Reference, email: string): Promise<boolean> {
      await db.execute(sql`savepoint before_address`)
      try {
        await db.update(users).set({ email, updatedAt: sql`now()` }).where(here(user))
      } catch (error) {
        if (violatedConstraint(error) !== 'users_email') throw error
        await db.execute(sql`rollback to savepoint before_address`)
        return false
      }
      await db.execute(sql`release savepoint before_address`)
      return true
    },

    /** Where the identity provider calls the person by the former address, it will by the new one. */
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
     * Somebody deactivated is as before: active, or invited for whoever has never been in by any way.
     * False when the person is not deactivated.
     */
    async reactivate(user: Reference): Promise<boolean> {
      const isLinked = sql`exists (select 1 from ${ssoIdentities} where ${ssoIdentities.userId} = ${user.id})`
      const wasIn = sql`${users.passwordHash} is not null or ${users.lastSignInAt} is not null
        or ${users.provisioned} or ${isLinked}`
      const changed = await db
        .update(users)
        .set({ status: sql`case when ${wasIn} then 'active' else 'invited' end`, updatedAt: sql`now()` })
        .where(and(here(user), eq(users.status, 'disabled')))
        .returning({ id: users.id })
      return changed.length > 0
    },

    /** Ends sessions, voids links in mails and takes linked accounts away; says how many there were. */
    async endAccess(userId: string): Promise<{ sessions: number; linkedAccounts: number }> {
      const sessions = await endSessions(userId)
      await endLinks(userId)
      const { rowCount } = await db.delete(linkedAccounts).where(eq(linkedAccounts.userId, userId))
      return { sessions, linkedAccounts: rowCount ?? 0 }
    },

    /** False when there is no such person, or none any more. */
    async erase(user: Reference): Promise<boolean> {
      const erased = await db
        .update(users)
        .set({
          status: 'deleted',
          email: sql`${users.id} || '@deleted.invalid'`,
          passwordHash: null,
          firstName: '',
          lastName: '',
          jobTitle: '',
          phone: '',
          externalId: null,
          updatedAt: sql`now()`,
        })
        .where(and(here(user), ne(users.status, 'deleted')))
        .returning({ id: users.id })
      if (erased.length === 0) return false
      await db.delete(teamMembers).where(eq(teamMembers.userId, user.id))
      for (const table of [userAuthenticators, recoveryCodes, userLinks, clientConsents, scimUserAttributes])
        await db.delete(table).where(eq(table.userId, user.id))
      return true
    },
  }
}
