import { companies } from '../../../../database/tables/company.ts'
import { scimConfigs, scimTokens } from '../../../../database/tables/provisioning.ts'
import {
  and,
  asc,
  columnsOf,
  eq,
  isNull,
  type Row,
  sql,
} from '../../../../platform/stores/postgres/drizzle.ts'
import type { Queries } from '../../../../platform/stores/relational.ts'

/** The holder of a token. */
export interface TokenHolder {
  readonly id: string
  readonly companyId: string
  readonly label: string
  /** Whether provisioning is enabled. */
  readonly enabled: boolean
}

const columns = columnsOf(scimTokens, ['id', 'label', 'createdAt', 'lastUsedAt'])

/** Tokens of identity providers, by their hashes; given a transaction it works inside it. */
export function createScimTokenStore(db: Queries) {
  const own = (companyId: string, id: string) =>
    and(eq(scimTokens.id, id), eq(scimTokens.companyId, companyId))

  return {
    /** The oldest first. */
    async list(companyId: string): Promise<Row<typeof columns>[]> {
      return db
        .select(columns)
        .from(scimTokens)
        .where(eq(scimTokens.companyId, companyId))
        .orderBy(asc(scimTokens.createdAt), asc(scimTokens.id))
    },

    async insert(token: { id: string; companyId: string; label: string; tokenHash: Buffer }): Promise<Date> {
      const [row] = await db.insert(scimTokens).values(token).returning({ createdAt: scimTokens.createdAt })
      if (!row) throw new Error('a token was not inserted')
      return row.createdAt
    },

    /** The label of what was deleted; undefined when there is no such token. */
    async delete(companyId: string, id: string): Promise<string | undefined> {
      const [row] = await db
        .delete(scimTokens)
        .where(own(companyId, id))
        .returning({ label: scimTokens.label })
      return row?.label
    },

    /** Notes the use as well, once in ten seconds. */
    async findHolder(tokenHash: Buffer): Promise<TokenHolder | undefined> {
      const [row] = await db
        .select({
          ...columnsOf(scimTokens, ['id', 'companyId', 'label']),
          enabled: scimConfigs.enabled,
          isNoted: sql<boolean>`coalesce(${scimTokens.lastUsedAt} > now() - interval '10 seconds', false)`,
        })
        .from(scimTokens)
        .innerJoin(scimConfigs, eq(scimConfigs.companyId, scimTokens.companyId))
        .innerJoin(companies, eq(companies.id, scimTokens.companyId))
        .where(and(eq(scimTokens.tokenHash, tokenHash), isNull(companies.closedAt)))
      if (!row) return undefined
      const { isNoted, ...holder } = row
      if (!isNoted && holder.enabled)
        await db.update(scimTokens).set({ lastUsedAt: sql`now()` }).where(own(holder.companyId, holder.id))
      return holder
    },
  }
}
