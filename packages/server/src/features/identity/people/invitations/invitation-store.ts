import { userLinks } from '../../../../database/tables/sign-in.ts'
import { users } from '../../../../database/tables/user.ts'
import type { Range } from '../../../../platform/paging.ts'
import { sql } from '../../../../platform/stores/postgres/drizzle.ts'
import type { Queries } from '../../../../platform/stores/relational.ts'

export interface StoredInvitation {
  readonly id: string
  readonly email: string
  readonly firstName: string
  readonly lastName: string
  readonly roleId: string
  readonly resourceGroupIds: string[]
  readonly createdAt: Date
  /** Of the link that works; null without one. */
  readonly expiresAt: Date | null
}

interface Row extends Record<string, unknown> {
  id: string
  email: string
  firstName: string
  lastName: string
  roleId: string
  resourceGroupIds: string[]
  created: number
  expiry: number | null
}

/** Users who were invited and have not signed in yet. */
export function createInvitationStore(db: Queries) {
  return {
    /** The oldest first. */
    async list(companyId: string, { limit, offset }: Range): Promise<StoredInvitation[]> {
      const { rows } = await db.execute<Row>(
        sql`select owner.id, owner.email, owner.first_name as "firstName", owner.last_name as "lastName",
            owner.role_id as "roleId",
            array(select team_id from team_members where user_id = owner.id order by 1) as "resourceGroupIds",
            extract(epoch from owner.created_at)::float8 as created,
            (select extract(epoch from max(expires_at))::float8 from ${userLinks}
              where user_id = owner.id and kind = 'invitation' and ended_at is null
                and holds_role(created_by, owner.role_id)) as expiry
          from ${users} as owner where owner.company_id = ${companyId} and owner.status = 'invited'
          order by owner.created_at, owner.id limit ${limit} offset ${offset}`,
      )
      return rows.map(({ created, expiry, ...row }) => ({
        ...row,
        createdAt: new Date(created * 1000),
        expiresAt: expiry === null ? null : new Date(expiry * 1000),
      }))
    },

    async count(companyId: string): Promise<number> {
      const { rows } = await db.execute<{ count: number }>(
        sql`select count(*)::int as count from ${users} where company_id = ${companyId} and status = 'invited'`,
      )
      return rows[0]?.count ?? 0
    },
  }
}
