import { datasources, datasourceTeams } from '../../database/tables/datasource.ts'
import { newId } from '../../platform/ids.ts'
import { and, eq, sql } from '../../platform/stores/postgres/drizzle.ts'
import type { Queries } from '../../platform/stores/relational.ts'

const kind = 'workflow_events'

/**
 * Makes the datasource of a company's displays and clicks inside the caller's transaction, unless it is there: the
 * team sees it, and the collector takes no events for it.
 */
export async function ensureWorkflowEvents(
  tx: Queries,
  companyId: string,
  findTeam: (companyId: string) => Promise<string>,
): Promise<void> {
  if (await findWorkflowEvents(tx, companyId)) return
  const id = newId()
  const made = await tx
    .insert(datasources)
    .values({ id, companyId, name: 'Workflow events', kind })
    .onConflictDoNothing({
      target: datasources.companyId,
      where: sql`${datasources.kind} = ${sql.raw(`'${kind}'`)}`,
    })
    .returning({ id: datasources.id })
  if (made.length === 0) return
  await tx.insert(datasourceTeams).values({ companyId, datasourceId: id, teamId: await findTeam(companyId) })
}

/** Undefined until the company has its first workflow. */
export async function findWorkflowEvents(queries: Queries, companyId: string): Promise<string | undefined> {
  const [row] = await queries
    .select({ id: datasources.id })
    .from(datasources)
    .where(and(eq(datasources.companyId, companyId), eq(datasources.kind, kind)))
  return row?.id
}
