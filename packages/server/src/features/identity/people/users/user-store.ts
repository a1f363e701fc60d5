import type { Colleague } from '@millrace/contract/resources/user.ts'
import { teamMembers } from '../../../../database/tables/team.ts'
import { users } from '../../../../database/tables/user.ts'
import { type Listed, type Page, pageOf } from '../../../../platform/paging.ts'
import { type ListOrder, listOrder } from '../../../../platform/resources/list-order.ts'
import { containsText } from '../../../../platform/stores/postgres/contains-text.ts'
import {
  and,
  asc,
  eq,
  inArray,
  ne,
  notInArray,
  type Row,
  type SQL,
  sql,
} from '../../../../platform/stores/postgres/drizzle.ts'
import type { Queries } from '../../../../platform/stores/relational.ts'
import type { User } from '../people-store.ts'

const columns = {
  id: users.id,
  companyId: users.companyId,
  email: users.email,
  firstName: users.firstName,
  lastName: users.lastName,
  jobTitle: users.jobTitle,
  phone: users.phone,
  language: users.language,
  theme: users.theme,
  timezone: users.timezone,
  favourites: users.favourites,
  status: sql<'invited' | 'active' | 'disabled'>`${users.status}`,
  roleId: users.roleId,
  resourceGroupIds: sql<string[]>`array(
    select m.team_id from team_members m where m.user_id = "users"."id" order by m.team_id)`,
  serviceAccount: users.serviceAccount,
  provisioned: users.provisioned,
  hasPassword: sql<boolean>`${users.passwordHash} is not null`,
  lastSignInAt: users.lastSignInAt,
  createdAt: users.createdAt,
  updatedAt: users.updatedAt,
}

/** A user with everything that is shown, and whether there is a password. */
export type StoredUser = Row<typeof columns>

/** What is not known of a new user is empty; without a language the user follows the company. */
export interface NewUser
  extends User,
    Partial<Pick<StoredUser, 'firstName' | 'lastName' | 'jobTitle' | 'phone' | 'language'>> {
  readonly passwordHash: string | null
  readonly teamIds: readonly string[]
  /** Whether the identity provider manages this user (SCIM), under which identifier of its own. */
  readonly provisioned?: boolean
  readonly externalId?: string | null
  /** A program that signs in with a password. */
  readonly serviceAccount?: boolean
  /** Whether the address signs in to this account; otherwise another one may have it too. */
  readonly holdsEmail?: boolean
}

/** Fields that the audit log does not keep. */
export const personalFields: ReadonlySet<string> = new Set(['firstName', 'lastName', 'jobTitle', 'phone'])

/** Columns of a user that a request may change. */
export type UserFields = Pick<
  StoredUser,
  | 'firstName'
  | 'lastName'
  | 'jobTitle'
  | 'phone'
  | 'language'
  | 'theme'
  | 'timezone'
  | 'favourites'
  | 'roleId'
>

export interface UserFilter extends ListOrder<'name' | 'email' | 'lastSignInAt' | 'createdAt'> {
  /** In the name or the address, whatever the case. */
  readonly search?: string | undefined
  readonly roleId?: string | undefined
  readonly teamId?: string | undefined
  readonly status?: StoredUser['status'] | undefined
}

const fullName = sql`btrim(${users.firstName} || ' ' || ${users.lastName})`

/** Users as others of their company see them; given a transaction it works inside it. */
export function createUserStore(db: Queries) {
  const here = (companyId: string) => and(eq(users.companyId, companyId), ne(users.status, 'deleted'))

  function matching(companyId: string, filter: UserFilter): SQL | undefined {
    const { search, roleId, teamId, status } = filter
    const text = sql`lower(${users.firstName} || ' ' || ${users.lastName} || ' ' || ${users.email})`
    return and(
      here(companyId),
      search ? sql`position(lower(${search}) in ${text}) > 0` : undefined,
      roleId === undefined ? undefined : eq(users.roleId, roleId),
      status === undefined ? undefined : eq(users.status, status),
      teamId === undefined
        ? undefined
        : sql`exists (select 1 from team_members m where m.user_id = "users"."id" and m.team_id = ${teamId})`,
    )
  }

  return {
    list(companyId: string, filter: UserFilter, page: Page): Promise<Listed<StoredUser>> {
      const where = matching(companyId, filter)
      const { id, email, createdAt } = users
      // Who has never signed in did so before everybody.
      const lastSignInAt = sql`coalesce(${users.lastSignInAt}, '-infinity')`
      const keys = { name: sql`lower(${fullName})`, email, lastSignInAt, createdAt }
      const order = listOrder(filter, keys, id, { sortBy: 'createdAt', sortOrder: 'asc' })
      const query = db
        .select(columns)
        .from(users)
        .where(where)
        .orderBy(...order)
      return pageOf(query, db.$count(users, where), page)
    },

    /** By name; those without one come last. */
    listColleagues(
      companyId: string,
      { q, ids }: { readonly q?: string | undefined; readonly ids?: readonly string[] | undefined },
      page: Page,
    ): Promise<Listed<Colleague>> {
      const where = and(
        here(companyId),
        q ? containsText(fullName, q) : undefined,
        ids && inArray(users.id, [...ids]),
      )
      const query = db
        .select({ id: users.id, name: sql<string | null>`nullif(${fullName}, '')` })
        .from(users)
        .where(where)
        .orderBy(sql`${fullName} = ''`, sql`lower(${fullName})`, asc(users.id))
      return pageOf(query, db.$count(users, where), page)
    },

    async find(companyId: string, id: string): Promise<StoredUser | undefined> {
      const [row] = await db
        .select(columns)
        .from(users)
        .where(and(here(companyId), eq(users.id, id)))
      return row
    },

    /** False when another user of the company has the address already, or of the service when it is to be held. */
    async insert({ teamIds, ...user }: NewUser): Promise<boolean> {
      const inserted = await db.insert(users).values(user).onConflictDoNothing().returning({ id: users.id })
      if (inserted.length === 0) return false
      const memberships = teamIds.map((teamId) => ({ companyId: user.companyId, teamId, userId: user.id }))
      if (memberships.length > 0) await db.insert(teamMembers).values(memberships)
      return true
    },

    /** Locks the user's row until the transaction ends, so that what is read stays true. */
    async lock(companyId: string, id: string): Promise<void> {
      await db
        .select({ id: users.id })
        .from(users)
        .where(and(here(companyId), eq(users.id, id)))
        .for('no key update')
    },

    async update(id: string, fields: Partial<UserFields>): Promise<void> {
      await db
        .update(users)
        .set({ ...fields, updatedAt: sql`now()` })
        .where(eq(users.id, id))
    },

    /** The user is in exactly these teams of the company; of those that stay, who gave them stays known. */
    async replaceTeams(user: { id: string; companyId: string }, teamIds: readonly string[]): Promise<void> {
      await db
        .delete(teamMembers)
        .where(and(eq(teamMembers.userId, user.id), notInArray(teamMembers.teamId, [...teamIds])))
      await db
        .insert(teamMembers)
        .values(teamIds.map((teamId) => ({ companyId: user.companyId, teamId, userId: user.id })))
        .onConflictDoNothing()
    },

    async findPasswordHash(id: string): Promise<string | null> {
      const [row] = await db.select({ hash: users.passwordHash }).from(users).where(eq(users.id, id))
      return row?.hash ?? null
    },

    /**
     * A user who was invited becomes active with a password of their own, to which the address signs in.
     * @param isHandedOver whether others than the owner of the mailbox have seen the link behind which it was chosen
     */
    async setPassword(id: string, passwordHash: string, isHandedOver = false): Promise<void> {
      await db
        .update(users)
        .set({
          passwordHash,
          passwordHandedOver: isHandedOver,
          holdsEmail: true,
          status: sql`case when ${users.status} = 'invited' then 'active' else ${users.status} end`,
          updatedAt: sql`now()`,
        })
        .where(eq(users.id, id))
    },

    /** False when the password is another one already. */
    async changePassword(id: string, from: string, to: string): Promise<boolean> {
      const changed = await db
        .update(users)
        .set({ passwordHash: to, updatedAt: sql`now()` })
        .where(and(eq(users.id, id), eq(users.passwordHash, from), eq(users.status, 'active')))
        .returning({ id: users.id })
      return changed.length > 0
    },
  }
}
