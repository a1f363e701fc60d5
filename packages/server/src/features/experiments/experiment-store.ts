import type { Experiment, ExperimentStatus, Variant } from '@millrace/contract/resources/experiment.ts'
import { experiments, experimentTeams, experimentVariants } from '../../database/tables/experiment.ts'
import type { Listed, Page } from '../../platform/paging.ts'
import { companyRows, type Key, type RowOf } from '../../platform/resources/company-rows.ts'
import { type ListSearch, listOrder } from '../../platform/resources/list-order.ts'
import { objectTeams } from '../../platform/resources/object-teams.ts'
import { withIsoDates } from '../../platform/resources/resource.ts'
import { containsText } from '../../platform/stores/postgres/contains-text.ts'
import { and, eq, lte, ne, sql } from '../../platform/stores/postgres/drizzle.ts'
import type { Queries } from '../../platform/stores/relational.ts'

type Row = typeof experiments.$inferSelect
export type StoredExperiment = RowOf<typeof experiments, typeof extras>
export type ExperimentFields = Partial<Omit<Row, 'id' | 'companyId' | 'salt' | 'createdAt' | 'updatedAt'>>

export interface ExperimentFilter extends ListSearch<'name' | 'status' | 'createdAt' | 'updatedAt'> {
  readonly status?: ExperimentStatus | undefined
  readonly includeArchived?: boolean | undefined
}

const extras = {
  /** In their order. */
  variants: sql<Variant[]>`(
    select json_agg(json_strip_nulls(json_build_object(
      'id', v.id, 'name', v.name, 'allocation', v.allocation, 'tagValueId', v.tag_value_id)) order by v.position)
    from experiment_variants v where v.experiment_id = "experiments"."id")`,
  resourceGroupIds: sql<string[]>`array(
    select t.team_id from experiment_teams t where t.experiment_id = "experiments"."id" order by t.team_id)`,
}

export function toExperiment(stored: StoredExperiment): Experiment {
  const { id: _id, tagKeyId, ...own } = stored
  const [success] = stored.metrics
  if (!success) throw new Error('an experiment has a metric')
  return {
    _id,
    ...withIsoDates(own),
    successMetric: success.kind,
    ...(tagKeyId !== null && { systemTagKeyId: tagKeyId }),
  }
}

/** Experiments with their variants and teams; given a transaction it works inside it. */
export function createExperimentStore(db: Queries) {
  const rows = companyRows(db, experiments, extras)
  const variantsOf = ({ companyId, id }: Key) =>
    and(eq(experimentVariants.companyId, companyId), eq(experimentVariants.experimentId, id))
  const matching = (companyId: string, { q, status, includeArchived = false }: ExperimentFilter) =>
    and(
      eq(experiments.companyId, companyId),
      q === undefined ? undefined : containsText(experiments.name, q),
      status && eq(experiments.status, status),
      includeArchived || status === 'archived' ? undefined : ne(experiments.status, 'archived'),
    )
  return {
    ...rows,
    replaceTeams: objectTeams(db, experimentTeams, 'experimentId').replace,

    list(companyId: string, filter: ExperimentFilter, page: Page): Promise<Listed<StoredExperiment>> {
      const { id, name, status, createdAt, updatedAt } = experiments
      const keys = { name: sql`lower(${name})`, status, createdAt, updatedAt }
      const order = listOrder(filter, keys, id, { sortBy: 'createdAt', sortOrder: 'desc' })
      return rows.page(matching(companyId, filter), order, page)
    },

    /** Of those that are not archived. */
    count: (companyId: string): Promise<number> => rows.count(matching(companyId, {})),

    /** Those of all companies whose scheduled start is over, the earliest first. */
    async listDue(now: Date, limit: number): Promise<Key[]> {
      return db
        .select({ id: experiments.id, companyId: experiments.companyId })
        .from(experiments)
        .where(and(eq(experiments.status, 'scheduled'), lte(experiments.scheduledAt, now)))
        .orderBy(experiments.scheduledAt, experiments.id)
        .limit(limit)
    },

    async replaceVariants(key: Key, variants: readonly Variant[]): Promise<void> {
      await this.deleteVariants(key)
      const { companyId, id: experimentId } = key
      await db
        .insert(experimentVariants)
        .values(variants.map((variant, position) => ({ ...variant, companyId, experimentId, position })))
    },

    async deleteVariants(key: Key): Promise<void> {
      await db.delete(experimentVariants).where(variantsOf(key))
    },

    /** Its variants no longer have tags. */
    async clearTags(key: Key): Promise<void> {
      await db.update(experimentVariants).set({ tagValueId: null }).where(variantsOf(key))
    },

    /** Experiments that are not archived and whose variants a tag key, or one value of it, stands for; running ones first. */
    async listUsesOfTag(tag: {
      readonly companyId: string
      readonly tagKeyId: string
      readonly valueId?: string
    }): Promise<{ id: string; name: string }[]> {
      const ofValue = sql`exists (select 1 from experiment_variants v
        where v.experiment_id = "experiments"."id" and v.tag_value_id = ${tag.valueId ?? null})`
      return db
        .select({ id: experiments.id, name: experiments.name })
        .from(experiments)
        .where(
          and(
            eq(experiments.companyId, tag.companyId),
            eq(experiments.tagKeyId, tag.tagKeyId),
            ne(experiments.status, 'archived'),
            tag.valueId === undefined ? undefined : ofValue,
          ),
        )
        .orderBy(sql`${experiments.status} <> 'running'`, experiments.id)
        .limit(100)
    },
  }
}
