import { randomBytes } from 'node:crypto'
import { sealedColumns } from '../../../database/sealed-columns.ts'
import { clickKeys } from '../../../database/tables/click-key.ts'
import { companies } from '../../../database/tables/company.ts'
import { datasources } from '../../../database/tables/datasource.ts'
import { type SecretBox, SecretBoxError } from '../../../platform/crypto/secret-box.ts'
import type { RandomBytes } from '../../../platform/crypto/secrets.ts'
import { and, eq, isNull } from '../../../platform/stores/postgres/drizzle.ts'
import type { Queries } from '../../../platform/stores/relational.ts'

/** What runs need to know of a company. */
export interface RunnerCompany {
  /** IANA name. */
  readonly timezone: string
  /** Whether the country of a sender is kept. */
  readonly countries: boolean
  /** Datasource of workflow events; made with the company's first workflow. */
  readonly eventsDatasourceId: string | undefined
  /** What addresses of clicks are signed with in every process; undefined where it cannot be opened. */
  readonly clickKey: Buffer | undefined
}

export type ReadCompany = (companyId: string) => Promise<RunnerCompany | undefined>

const keyBytes = 32

/** What runs need to know of companies. */
export function createRunnerStore(db: Queries, box: SecretBox, random: RandomBytes = randomBytes) {
  const contextOf = sealedColumns.clickKey.contextOf

  /** The first process that needs a company's key makes it; all others read that one. */
  async function makeClickKey(companyId: string): Promise<Buffer> {
    await db
      .insert(clickKeys)
      .values({ companyId, sealedKey: box.seal(random(keyBytes), contextOf(companyId)) })
      .onConflictDoNothing()
    const [row] = await db.select().from(clickKeys).where(eq(clickKeys.companyId, companyId))
    if (!row) throw new Error('a key that was inserted is there')
    return row.sealedKey
  }

  /** Contents are shown without it, and clicks run their workflow again. */
  function openIfPossible(sealed: Buffer, context: string): Buffer | undefined {
    try {
      return box.open(sealed, context)
    } catch (error) {
      if (error instanceof SecretBoxError) return undefined
      throw error
    }
  }

  return {
    async findCompany(companyId: string): Promise<RunnerCompany | undefined> {
      const [row] = await db
        .select({
          timezone: companies.timezone,
          countries: companies.countries,
          eventsDatasourceId: datasources.id,
          sealedKey: clickKeys.sealedKey,
        })
        .from(companies)
        .leftJoin(
          datasources,
          and(eq(datasources.companyId, companies.id), eq(datasources.kind, 'workflow_events')),
        )
        .leftJoin(clickKeys, eq(clickKeys.companyId, companies.id))
        .where(and(eq(companies.id, companyId), isNull(companies.closedAt)))
      if (!row) return undefined
      const { timezone, countries, eventsDatasourceId } = row
      const sealed = row.sealedKey ?? (await makeClickKey(companyId))
      return {
        timezone,
        countries,
        eventsDatasourceId: eventsDatasourceId ?? undefined,
        clickKey: openIfPossible(sealed, contextOf(companyId)),
      }
    },
  }
}
