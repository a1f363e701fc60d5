import { oauthClients } from '../../../../database/tables/oauth-client.ts'
import { rolePermissions } from '../../../../database/tables/role.ts'
import { accessTokens, refreshTokens } from '../../../../database/tables/token.ts'
import { users } from '../../../../database/tables/user.ts'
import { sql } from '../../../../platform/stores/postgres/drizzle.ts'
import type { Relational } from '../../../../platform/stores/relational.ts'
import { createPrincipal, type Principal } from '../principal.ts'

/** What a living access token gives. */
export interface Access {
  readonly principal: Principal
  /** How long the token still lives, by the clock of the database at the time of the question. */
  readonly remainingMs: number
}

interface AccessRow extends Record<string, unknown> {
  token_hash: Buffer
  token_id: string
  user_id: string
  email: string
  role_id: string
  company_id: string
  client_id: string
  remaining_ms: number
  permissions: string[]
  team_ids: string[]
}

export function createAccessStore(relational: Pick<Relational, 'db'>) {
  return {
    /** In their order; undefined for a token that is unknown or has ended, or whose user or client is not active. */
    async findAccess(tokenHashes: readonly Buffer[]): Promise<(Access | undefined)[]> {
      const { rows } = await relational.db.execute<AccessRow>(
        sql`select token.token_hash, token.id as token_id, owner.id as user_id, owner.email, owner.role_id, owner.company_id,
            session.client_id,
            (extract(epoch from token.expires_at - now()) * 1000)::float8 as remaining_ms,
            array(select resource || ':' || action from ${rolePermissions} where role_id = owner.role_id)
              as permissions,
            array(select reachable_teams(owner.id) order by 1) as team_ids
          from ${accessTokens} as token
            join ${refreshTokens} as session on session.id = token.refresh_token_id
            join ${users} as owner on owner.id = session.user_id
            join ${oauthClients} as client on client.id = session.client_id
          where token.token_hash = any(${sql.param(tokenHashes)}::bytea[]) and token.expires_at > now()
            and owner.status = 'active' and client.active`,
      )
      const rowOf = new Map(rows.map((row) => [row.token_hash.toString('latin1'), row]))
      return tokenHashes.map((hash) => {
        const row = rowOf.get(hash.toString('latin1'))
        return row && { principal: principalOf(row), remainingMs: row.remaining_ms }
      })
    },
  }
}

const principalOf = (row: AccessRow): Principal =>
  createPrincipal({
    userId: row.user_id,
    email: row.email,
    roleId: row.role_id,
    companyId: row.company_id,
    clientId: row.client_id,
    tokenId: row.token_id,
    teamIds: row.team_ids,
    permissions: row.permissions,
  })
