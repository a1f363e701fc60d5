import { companies } from '../../../../database/tables/company.ts'
import { oauthClients } from '../../../../database/tables/oauth-client.ts'
import { rolePermissions } from '../../../../database/tables/role.ts'
import { accessTokens, refreshTokens } from '../../../../database/tables/token.ts'
import { users } from '../../../../database/tables/user.ts'
import { sql } from '../../../../platform/stores/postgres/drizzle.ts'
import { type Relational, sqlOn } from '../../../../platform/stores/relational.ts'
import { createPrincipal, type Principal } from '../principal.ts'

/** What a living access token gives. */
export interface Access {
  readonly principal: Principal
  /** How long the token still lives, by the clock of the database at the time of the question. */
  readonly remainingMs: number
}

type AccessRow = Omit<Principal, 'can' | 'permissions'> & {
  readonly token_hash: Buffer
  readonly remaining_ms: number
  readonly permissions: string[]
} & Record<string, unknown>

export function createAccessStore(relational: Pick<Relational, 'db'>) {
  return {
    /** In their order; undefined for a token that is unknown or has ended, or whose user, client or company is not active. */
    async findAccess(tokenHashes: readonly Buffer[]): Promise<(Access | undefined)[]> {
      const rows = await sqlOn(relational.db)<AccessRow>`
        select token.token_hash, token.id as "tokenId", owner.id as "userId", owner.email, owner.role_id as "roleId",
          owner.company_id as "companyId", session.client_id as "clientId",
          (extract(epoch from token.expires_at - now()) * 1000)::float8 as remaining_ms,
          array(select resource || ':' || action from ${rolePermissions} where role_id = owner.role_id)
            as permissions,
          array(select reachable_teams(owner.id) order by 1) as "teamIds"
        from ${accessTokens} as token
          join ${refreshTokens} as session on session.id = token.refresh_token_id
          join ${users} as owner on owner.id = session.user_id
          join ${oauthClients} as client on client.id = session.client_id
          join ${companies} as company on company.id = owner.company_id and company.closed_at is null
        where token.token_hash = any(${sql.param(tokenHashes)}::bytea[]) and token.expires_at > now()
          and owner.status = 'active' and client.active`
      const rowOf = new Map(rows.map((row) => [row.token_hash.toString('latin1'), row]))
      return tokenHashes.map((hash) => {
        const row = rowOf.get(hash.toString('latin1'))
        if (!row) return undefined
        const { token_hash: _hash, remaining_ms: remainingMs, ...known } = row
        return { principal: createPrincipal(known), remainingMs }
      })
    },
  }
}
