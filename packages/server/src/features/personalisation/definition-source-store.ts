import { cohorts } from '../../database/tables/cohort.ts'
import { datasources, datasourceTeams } from '../../database/tables/datasource.ts'
import { experiments } from '../../database/tables/experiment.ts'
import { tagKeys } from '../../database/tables/tag-key.ts'
import { datasourceVersions } from '../../database/tables/worker-datasource.ts'
import { companyRows } from '../../platform/resources/company-rows.ts'
import { and, eq, exists, inArray, ne, type SQL, sql } from '../../platform/stores/postgres/drizzle.ts'
import type { Queries } from '../../platform/stores/relational.ts'
import type { KnownDatasource, KnownExperiment } from './definition/definition-resources.ts'
import type { DefinitionSources, SourceQuery } from './read-resources.ts'

type OwnSources = Omit<DefinitionSources, 'templates' | 'categories'>

/** A row that cannot be deleted until the transaction ends; its other changes go on. */
const held = 'key share'

const variants = sql<KnownExperiment['variants']>`(
  select coalesce(
    json_agg(json_strip_nulls(json_build_object('id', v.id, 'name', v.name, 'tagValueId', v.tag_value_id)) order by v.position), '[]')
  from experiment_variants v where v.experiment_id = "experiments"."id")`

const valueIds = sql<string[]>`array(select v.id from tag_values v where v.tag_key_id = "tag_keys"."id")`

/** Datasources of the kind that one of the teams sees. */
function seen(queries: Queries, kind: 'tracking' | 'worker', { companyId, teamIds, ids }: SourceQuery) {
  const byTeam = queries
    .select({ one: sql`1` })
    .from(datasourceTeams)
    .where(
      and(eq(datasourceTeams.datasourceId, datasources.id), inArray(datasourceTeams.teamId, [...teamIds])),
    )
  return and(
    eq(datasources.companyId, companyId),
    eq(datasources.kind, kind),
    ne(datasources.status, 'deleted'),
    inArray(datasources.id, [...ids]),
    teamIds.length > 0 ? exists(byTeam) : sql`false`,
  )
}

/** What the version reads of datasources that none of the teams has. They stay as they are until the transaction ends. */
export async function listUnsharedDatasources(
  tx: Queries,
  { companyId, versionId }: { readonly companyId: string; readonly versionId: string },
  teamIds: readonly string[],
): Promise<{ id: string; name: string }[]> {
  const named = await tx
    .select({ id: datasources.id, name: datasources.name })
    .from(datasources)
    .where(
      and(
        eq(datasources.companyId, companyId),
        sql`exists (
          select 1 from workflow_references r
          where r.version_id = ${versionId} and r.kind = 'datasource' and r.resource_id = "datasources"."id")`,
      ),
    )
    .orderBy(datasources.id)
    .for(held)
  if (named.length === 0) return []
  const shared = await tx
    .select({ id: datasourceTeams.datasourceId })
    .from(datasourceTeams)
    .where(
      and(
        inArray(
          datasourceTeams.datasourceId,
          named.map(({ id }) => id),
        ),
        inArray(datasourceTeams.teamId, [...teamIds]),
      ),
    )
  const ids = new Set(shared.map(({ id }) => id))
  return named.filter(({ id }) => !ids.has(id))
}

async function listDatasourceIds(
  queries: Queries,
  asked: SourceQuery,
  where: SQL | undefined,
): Promise<string[]> {
  if (asked.lock) await companyRows(queries, datasources).known(asked.companyId, asked.ids, asked)
  // By a statement of its own: one that waits for a lock sees the teams as they were before it waited.
  const rows = await queries.select({ id: datasources.id }).from(datasources).where(where)
  return rows.map(({ id }) => id)
}

/** What definitions can name of datasources, cohorts, experiments and tag keys. */
export const definitionSources: OwnSources = {
  async datasources(queries, asked) {
    const ids = await listDatasourceIds(queries, asked, seen(queries, 'worker', asked))
    if (ids.length === 0) return new Map()
    const live = await queries
      .select({ id: datasourceVersions.datasourceId, fields: datasourceVersions.fields })
      .from(datasourceVersions)
      .where(
        and(
          eq(datasourceVersions.companyId, asked.companyId),
          inArray(datasourceVersions.datasourceId, ids),
          eq(datasourceVersions.state, 'live'),
        ),
      )
    const found = new Map<string, KnownDatasource>(ids.map((id) => [id, {}]))
    for (const { id, fields } of live)
      found.set(id, {
        fields: new Map(
          fields
            .filter(({ selected }) => selected)
            .map(({ name, type, primitive, sortable }) => [
              name,
              { type, primitive, ...(sortable !== undefined && { sortable }) },
            ]),
        ),
      })
    return found
  },

  async trackingDatasources(queries, asked) {
    return new Set(await listDatasourceIds(queries, asked, seen(queries, 'tracking', asked)))
  },

  async cohorts(queries, { companyId, ids, lock }) {
    return new Set(await companyRows(queries, cohorts).known(companyId, ids, { lock }))
  },

  async experiments(queries, { companyId, ids, lock }) {
    const query = queries
      .select({
        id: experiments.id,
        status: experiments.status,
        systemTagKeyId: experiments.tagKeyId,
        variants,
      })
      .from(experiments)
      .where(and(eq(experiments.companyId, companyId), inArray(experiments.id, [...ids])))
      .$dynamic()
    const rows = await (lock ? query.for(held) : query)
    return new Map(
      rows.map(({ id, systemTagKeyId, ...rest }) => [
        id,
        { ...rest, ...(systemTagKeyId !== null && { systemTagKeyId }) },
      ]),
    )
  },

  async tagKeys(queries, { companyId, ids, lock }) {
    const query = queries
      .select({
        id: tagKeys.id,
        cardinality: tagKeys.cardinality,
        assignmentMode: tagKeys.assignmentMode,
        valueIds,
      })
      .from(tagKeys)
      .where(and(eq(tagKeys.companyId, companyId), inArray(tagKeys.id, [...ids])))
      .orderBy(tagKeys.id)
      .$dynamic()
    const rows = await (lock ? query.for(held) : query)
    return new Map(
      rows.map(({ id, valueIds: values, ...rest }) => [id, { ...rest, valueIds: new Set(values) }]),
    )
  },
}
