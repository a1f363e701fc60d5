import { rolePermissions } from '../../../../database/tables/role.ts'
import {
  formerAddresses,
  ssoIdentities,
  ssoUnlinkedNames,
} from '../../../../database/tables/single-sign-on.ts'
import { users } from '../../../../database/tables/user.ts'
import {
  and,
  asc,
  columnsOf,
  desc,
  eq,
  inArray,
  isNull,
  ne,
  or,
  type Row,
  sql,
} from '../../../../platform/stores/postgres/drizzle.ts'
import type { Queries } from '../../../../platform/stores/relational.ts'
import type { Claims } from '../assertion/assertion-claims.ts'

/** A company at its identity provider. */
export interface Place {
  readonly companyId: string
  readonly idpEntityId: string
}

const userColumns = {
  ...columnsOf(users, ['id', 'companyId', 'email', 'roleId', 'status', 'serviceAccount']),
  /** The identity provider's own identifier of a user whom it provisions or has deleted (SCIM). */
  externalId: sql<string | null>`coalesce(${users.externalId}, ${users.formerExternalId})`,
}

export type KnownUser = Row<typeof userColumns>

const linkColumns = columnsOf(ssoIdentities, ['nameId', 'nameFormat', 'externalId', 'userId'])

/** Name and identifier of a user at the identity provider. */
export type Link = Row<typeof linkColumns>

/** Links between users and their names at the identity provider; given a transaction it works inside it. */
export function createIdentityStore(db: Queries, { companyId, idpEntityId }: Place) {
  const here = and(eq(ssoIdentities.companyId, companyId), eq(ssoIdentities.idpEntityId, idpEntityId))
  const ofCompany = and(
    eq(users.companyId, companyId),
    ne(users.status, 'deleted'),
    eq(users.serviceAccount, false),
  )
  const unlinked = (nameId: string) =>
    and(
      eq(ssoUnlinkedNames.companyId, companyId),
      eq(ssoUnlinkedNames.idpEntityId, idpEntityId),
      sql`${ssoUnlinkedNames.nameHash} = sha256(convert_to(${nameId}, 'UTF8'))`,
    )

  async function lockUser(id: string): Promise<KnownUser | undefined> {
    const [row] = await db
      .select(userColumns)
      .from(users)
      .where(and(eq(users.id, id), eq(users.companyId, companyId)))
      .for('update')
    return row
  }

  return {
    companyId,

    /** Holds the user's row until the transaction ends. */
    lockUser,

    /** Links with this name, the exact one first; an address was once stored in any case. */
    async listByName({ nameId, nameFormat }: Pick<Claims, 'nameId' | 'nameFormat'>): Promise<Link[]> {
      const isFolded = and(
        sql`lower(${ssoIdentities.nameId} collate "C") = ${nameId}`,
        or(isNull(ssoIdentities.nameFormat), eq(ssoIdentities.nameFormat, 'email')),
      )
      const isExact = eq(ssoIdentities.nameId, nameId)
      return db
        .select(linkColumns)
        .from(ssoIdentities)
        .where(and(here, nameFormat === 'email' ? or(isExact, isFolded) : isExact))
        .orderBy(sql`${ssoIdentities.nameId} <> ${nameId}`, asc(ssoIdentities.nameId))
        .limit(2)
    },

    async findByUser(userId: string): Promise<Link | undefined> {
      const [row] = await db
        .select(linkColumns)
        .from(ssoIdentities)
        .where(and(here, eq(ssoIdentities.userId, userId)))
      return row
    },

    /** Users who are known by this identifier, by a sign-in or by provisioning; two at the most. */
    async listByExternalId(externalId: string): Promise<string[]> {
      const linked = db
        .select({ id: ssoIdentities.userId })
        .from(ssoIdentities)
        .where(and(here, eq(ssoIdentities.externalId, externalId)))
      const rows = await db
        .select({ id: users.id })
        .from(users)
        .where(and(ofCompany, or(eq(users.externalId, externalId), inArray(users.id, linked))))
        .orderBy(asc(users.id))
        .limit(2)
      return rows.map(({ id }) => id)
    },

    /** Of this company, or else the one of another that the address signs in to. The row is held. */
    async findByEmail(email: string): Promise<KnownUser | undefined> {
      const [row] = await db
        .select(userColumns)
        .from(users)
        .where(
          and(
            eq(users.email, email),
            ne(users.status, 'deleted'),
            or(eq(users.companyId, companyId), users.holdsEmail),
          ),
        )
        .orderBy(desc(eq(users.companyId, companyId)))
        .limit(1)
        .for('update')
      return row
    },

    /** Users of the company who had this address before. */
    async listFormer(email: string): Promise<string[]> {
      const rows = await db
        .select({ id: formerAddresses.userId })
        .from(formerAddresses)
        .where(and(eq(formerAddresses.companyId, companyId), eq(formerAddresses.email, email)))
        .orderBy(asc(formerAddresses.userId))
        .limit(10)
      return rows.map(({ id }) => id)
    },

    /**
     * Users who may be the same user under another address: with the same full name, or with the address that is
     * given as a name; without those with another known identifier, and without one whom another response has just
     * created.
     */
    async listNamesakes(claims: Claims): Promise<string[]> {
      const { firstName, lastName, nameId, externalId } = claims
      const isNamed =
        firstName === '' || lastName === ''
          ? undefined
          : sql`(lower(${users.firstName}) = lower(${firstName}) and lower(${users.lastName}) = lower(${lastName}))`
      const isAddressed = eq(users.email, nameId)
      const called = sql`coalesce(${users.externalId}, (
        select link.external_id from ${ssoIdentities} as link
        where link.company_id = ${companyId} and link.idp_entity_id = ${idpEntityId} and link.user_id = "users"."id"))`
      const rows = await db
        .select({ id: users.id })
        .from(users)
        .where(
          and(
            ofCompany,
            ne(users.email, claims.email),
            isNamed ? or(isNamed, isAddressed) : isAddressed,
            externalId === undefined ? undefined : sql`coalesce(${called}, ${externalId}) = ${externalId}`,
          ),
        )
        .orderBy(asc(users.id))
        .limit(10)
      return rows.map(({ id }) => id)
    },

    /** False when the user, the name or the identifier has another link at this identity provider. */
    async link({ nameId, nameFormat, externalId }: Claims, userId: string): Promise<boolean> {
      const inserted = await db
        .insert(ssoIdentities)
        .values({ companyId, idpEntityId, nameId, nameFormat, externalId: externalId ?? null, userId })
        .onConflictDoNothing()
        .returning({ userId: ssoIdentities.userId })
      if (inserted.length === 0) return false
      await db.delete(ssoUnlinkedNames).where(unlinked(nameId))
      return true
    },

    /** Takes a user's link away, to give another one. */
    async unlink(userId: string): Promise<void> {
      await db.delete(ssoIdentities).where(and(here, eq(ssoIdentities.userId, userId)))
    },

    /** Updates a link; a name in another case stays as it was stored. */
    async refresh(link: Link, { nameFormat, externalId }: Claims): Promise<void> {
      await db
        .update(ssoIdentities)
        .set({ nameFormat, ...(externalId === undefined ? {} : { externalId }) })
        .where(and(here, eq(ssoIdentities.nameId, link.nameId)))
    },

    /** Whose name this was, and whether the user who unlinked it might do less than the given role allows. */
    async findUnlinked(
      nameId: string,
      roleId: string,
    ): Promise<{ userId: string; isAbove: boolean } | undefined> {
      const above = db
        .select({ one: sql`1` })
        .from(rolePermissions)
        .where(
          and(
            eq(rolePermissions.roleId, roleId),
            sql`not (${rolePermissions.resource} || ':' || ${rolePermissions.action}) = any (${ssoUnlinkedNames.permissions})`,
          ),
        )
      const [row] = await db
        .select({ userId: ssoUnlinkedNames.userId, isAbove: sql<boolean>`exists (${above})` })
        .from(ssoUnlinkedNames)
        .where(unlinked(nameId))
      return row
    },
  }
}

export type IdentityStore = ReturnType<typeof createIdentityStore>
