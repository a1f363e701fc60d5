import { companies } from '../../database/tables/company.ts'
import { datasources } from '../../database/tables/datasource.ts'
import { and, eq } from '../../platform/stores/postgres/drizzle.ts'
import type { Queries } from '../../platform/stores/relational.ts'
import type { RunnerCompany } from './ports.ts'

/** What runs need to know of companies. */
export function createRunnerStore(db: Queries) {
  return {
    async findCompany(companyId: string): Promise<RunnerCompany | undefined> {
      const [row] = await db
        .select({
          timezone: companies.timezone,
          countries: companies.countries,
          eventsDatasourceId: datasources.id,
        })
        .from(companies)
        .leftJoin(
          datasources,
          and(eq(datasources.companyId, companies.id), eq(datasources.kind, 'workflow_events')),
        )
        .where(eq(companies.id, companyId))
      return row && { ...row, eventsDatasourceId: row.eventsDatasourceId ?? undefined }
    },
  }
}
