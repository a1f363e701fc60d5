import { companies } from '../../../../database/tables/company.ts'
import { userLinks } from '../../../../database/tables/sign-in.ts'
import { users } from '../../../../database/tables/user.ts'
import type { Language } from '../../../../platform/i18n/language.ts'
import { eq, sql } from '../../../../platform/stores/postgres/drizzle.ts'
import { type Queries, sqlOn } from '../../../../platform/stores/relational.ts'
import { addressOrder } from '../../sessions/tokens/token-store.ts'
import type { UserStatus } from '../people-store.ts'

export type LinkKind = (typeof userLinks.$inferSelect)['kind']

/** A user for whom a link may be made. */
export interface LinkTarget {
  readonly id: string
  readonly companyId: string
  readonly companyName: string
  readonly email: string
  readonly status: UserStatus
  readonly roleId: string
  /** Of the user, or else of the company. */
  readonly language: Language
  readonly hasPassword: boolean
  /** Whether no password signs this user in. */
  readonly requiresSingleSignOn: boolean
  /** Whether the user can sign in through the company's identity provider. */
  readonly offersSingleSignOn: boolean
  /** Whether the address is that of another company's account or domain: no password can be chosen with it here. */
  readonly isHeldElsewhere: boolean
}

export interface NewLink {
  readonly id: string
  readonly kind: LinkKind
  readonly secretHash: Buffer
  readonly userId: string
  /** Undefined for a request without sign-in. */
  readonly createdBy: string | undefined
  readonly lifetimeSeconds: number
}

/** A link that still works. */
export interface LivingLink {
  readonly kind: LinkKind
  readonly userId: string
  readonly companyId: string
  readonly email: string
  readonly language: Language
  readonly passwordHash: string | null
  readonly expiresAt: Date
}

/** A link that has ended. */
export interface EndedLink extends Pick<LivingLink, 'kind' | 'userId' | 'companyId' | 'email'> {
  /** `ended` is used or replaced by a newer one; `not-given` is what its maker could not give now. */
  readonly reason: 'ended' | 'expired' | 'not-given' | 'single-sign-on'
}

const sweepSize = 50

/** Columns of a target, found by address or identifier. */
const targetColumns = sql`owner.id, owner.company_id as "companyId", company.name as "companyName", owner.email,
  owner.status, owner.role_id as "roleId", coalesce(owner.language, company.language) as language,
  owner.password_hash is not null as "hasPassword",
  not owner.service_account and requires_single_sign_on(owner.company_id, owner.email) as "requiresSingleSignOn",
  not owner.service_account and offers_single_sign_on(owner.company_id, owner.email) as "offersSingleSignOn",
  not owner.holds_email and is_email_held_elsewhere(owner.company_id, owner.email) as "isHeldElsewhere"`

/**
 * Of a link and its user. The maker of an invitation has seen its link: it opens nothing that the maker could not give
 * now, whatever has happened to the roles of both since.
 */
const stillFits = sql`owner.status = case link.kind when 'invitation' then 'invited' else 'active' end
  and (link.kind <> 'invitation' or holds_role(link.created_by, owner.role_id))`

/** Links to set a password; given a transaction it works inside it. */
export function createPasswordLinkStore(db: Queries) {
  const execute = sqlOn(db)

  const from = sql`${users} as owner join ${companies} as company on company.id = owner.company_id`

  async function findTarget(condition: ReturnType<typeof sql>): Promise<LinkTarget | undefined> {
    const rows = await execute<LinkTarget>`
      select ${targetColumns} from ${from}
      where ${condition} and owner.status <> 'deleted'
      order by ${addressOrder} limit 1 for no key update of owner`
    return rows[0]
  }

  /** Revokes every link that was mailed or passed on for this user. */
  async function endAll(userId: string): Promise<void> {
    await execute`update ${userLinks} set ended_at = now() where user_id = ${userId} and ended_at is null`
  }

  return {
    endAll,

    /** Of several users the one whom the address signs in. Locks the user's row until the transaction ends. */
    async findByEmail(email: string, companyId?: string): Promise<LinkTarget | undefined> {
      const here = companyId === undefined ? sql`true` : sql`owner.company_id = ${companyId}`
      return findTarget(sql`owner.email = ${email} and ${here}`)
    },

    /** Locks the user's row until the transaction ends. */
    async findById(userId: string): Promise<LinkTarget | undefined> {
      return findTarget(sql`owner.id = ${userId}`)
    },

    /**
     * One forgotten password of this address at a time, until the transaction ends. Whether a user has the address
     * makes no difference: requests for it wait for each other alike.
     */
    async lockAddress(email: string): Promise<void> {
      await execute`select pg_advisory_xact_lock(hashtextextended(${`forgotten-password:${email}`}, 0))`
    },

    /** One request of this user at a time, until the transaction ends. */
    async lockCaller(userId: string): Promise<void> {
      await execute`select pg_advisory_xact_lock(hashtextextended(${`password-reset:${userId}`}, 0))`
    },

    /** Resets of the last hour for one user: those that signed-in users asked for, or those of the public page. */
    async countRecentFor(userId: string, from: 'operation' | 'page'): Promise<number> {
      const asked = from === 'operation' ? sql`created_by is not null` : sql`created_by is null`
      const rows = await execute<{
        count: number
      }>`
        select count(*)::int as count from ${userLinks} where user_id = ${userId}
        and kind = 'password-reset' and created_at > now() - interval '1 hour' and ${asked}`
      return rows[0]?.count ?? 0
    },

    /** For how many other users the caller has asked for a reset within the last hour. */
    async countRecentBy(callerId: string, exceptUserId: string): Promise<number> {
      const rows = await execute<{
        count: number
      }>`
        select count(distinct user_id)::int as count from ${userLinks} where created_by = ${callerId}
        and kind = 'password-reset' and created_at > now() - interval '1 hour' and user_id <> ${exceptUserId}`
      return rows[0]?.count ?? 0
    },

    /**
     * Adds a link and voids all earlier ones of the user. Undefined when there is no such user: the same
     * statements then.
     * @returns when the link ends
     */
    async insert(link: NewLink): Promise<Date | undefined> {
      await endAll(link.userId)
      const rows = await execute<{
        expiry: number
      }>`
        insert into ${userLinks} (id, kind, secret_hash, user_id, created_by, created_at, expires_at)
        select ${link.id}, ${link.kind}, ${link.secretHash}::bytea, id, ${link.createdBy ?? null}, now(),
          now() + make_interval(secs => ${link.lifetimeSeconds})
        from ${users} where id = ${link.userId}
        returning extract(epoch from expires_at)::float8 as expiry`
      await execute`
        delete from ${userLinks} where id in (
        select id from ${userLinks} where expires_at < now() - interval '1 day'
          and not (kind = 'invitation' and ended_at is null)
        limit ${sweepSize} for update skip locked)`
      return rows[0] && new Date(rows[0].expiry * 1000)
    },

    /** Reading a link does not use it. */
    async findLiving(secretHash: Buffer): Promise<LivingLink | undefined> {
      const rows = await execute<Omit<LivingLink, 'expiresAt'> & { expiry: number }>`
        select link.kind, owner.id as "userId", owner.company_id as "companyId", owner.email,
          coalesce(owner.language, company.language) as language, owner.password_hash as "passwordHash",
          extract(epoch from link.expires_at)::float8 as expiry
        from ${userLinks} as link join ${from} on owner.id = link.user_id
        where link.secret_hash = ${secretHash} and link.ended_at is null and link.expires_at > now()
          and ${stillFits}
          and (owner.service_account or not requires_single_sign_on(owner.company_id, owner.email))`
      const [row] = rows
      if (!row) return undefined
      const { expiry, ...link } = row
      return { ...link, expiresAt: new Date(expiry * 1000) }
    },

    /** Whose link it was; only of use where `findLiving` finds none. */
    async findEnded(secretHash: Buffer): Promise<EndedLink | undefined> {
      const rows = await execute<EndedLink>`
        select link.kind, owner.id as "userId", owner.company_id as "companyId", owner.email,
          case when link.ended_at is not null then 'ended' when link.expires_at <= now() then 'expired'
            when not (${stillFits}) then 'not-given' else 'single-sign-on' end as reason
        from ${userLinks} as link join ${users} as owner on owner.id = link.user_id
        where link.secret_hash = ${secretHash}`
      return rows[0]
    },

    /** Locks the user's row, then uses the link up. False when it was used before or has ended. */
    async consume(secretHash: Buffer, userId: string): Promise<boolean> {
      await db.select({ id: users.id }).from(users).where(eq(users.id, userId)).for('update')
      const { rowCount } = await db.execute(
        sql`update ${userLinks} as link set ended_at = now() from ${users} as owner
          where link.secret_hash = ${secretHash} and link.user_id = ${userId} and owner.id = link.user_id
            and link.ended_at is null and link.expires_at > now() and ${stillFits}`,
      )
      return (rowCount ?? 0) > 0
    },

    async savepoint(): Promise<void> {
      await execute`savepoint before_mail`
    },

    /** Keeps what was done since the savepoint, or takes it back. */
    async endSavepoint(keep: boolean): Promise<void> {
      await db.execute(keep ? sql`release savepoint before_mail` : sql`rollback to savepoint before_mail`)
    },
  }
}

export type PasswordLinkStore = ReturnType<typeof createPasswordLinkStore>
