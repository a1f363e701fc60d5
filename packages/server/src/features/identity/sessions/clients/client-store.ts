import { oauthClients } from '../../../../database/tables/oauth-client.ts'
import { asc, eq, sql } from '../../../../platform/stores/postgres/drizzle.ts'
import type { Queries } from '../../../../platform/stores/relational.ts'

export interface CreatedClient {
  readonly id: string
  readonly name: string
  readonly grants: readonly string[]
  readonly redirectUris: readonly string[]
  readonly origins: readonly string[]
  readonly native: boolean
  readonly firstParty: boolean
  readonly rotatesRefreshTokens: boolean
}

/** A client as the operator sees it. */
export interface ClientSummary extends CreatedClient {
  readonly active: boolean
}

export type ClientStore = ReturnType<typeof createClientStore>

const summary = {
  id: oauthClients.id,
  name: oauthClients.name,
  grants: oauthClients.grants,
  redirectUris: oauthClients.redirectUris,
  origins: oauthClients.origins,
  native: oauthClients.native,
  firstParty: oauthClients.firstParty,
  rotatesRefreshTokens: oauthClients.rotatesRefreshTokens,
  active: oauthClients.active,
}

/** Given a transaction it works inside it. */
export function createClientStore(db: Queries) {
  return {
    async insertClient({ grants, redirectUris, origins, ...client }: CreatedClient): Promise<void> {
      await db
        .insert(oauthClients)
        .values({ ...client, grants: [...grants], redirectUris: [...redirectUris], origins: [...origins] })
    },

    /** The oldest first. */
    async listClients(): Promise<ClientSummary[]> {
      return db.select(summary).from(oauthClients).orderBy(asc(oauthClients.createdAt), asc(oauthClients.id))
    },

    async findClient(id: string): Promise<ClientSummary | undefined> {
      const [row] = await db.select(summary).from(oauthClients).where(eq(oauthClients.id, id))
      return row
    },

    /** One statement, so that of two changes at once both are kept. */
    async changeOrigins(id: string, added: readonly string[], removed: readonly string[]): Promise<void> {
      const list = (origins: readonly string[]) => sql`${sql.param([...origins])}::text[]`
      await db
        .update(oauthClients)
        .set({
          origins: sql`array(
            select distinct each from unnest(${oauthClients.origins} || ${list(added)}) as each
            where each <> all (${list(removed)}) order by each)`,
          updatedAt: sql`now()`,
        })
        .where(eq(oauthClients.id, id))
    },

    /** Of every active client. */
    async listOrigins(): Promise<string[]> {
      const { rows } = await db.execute<{ origin: string }>(
        sql`select distinct unnest(origins) as origin from ${oauthClients} where active`,
      )
      return rows.map(({ origin }) => origin)
    },
  }
}
