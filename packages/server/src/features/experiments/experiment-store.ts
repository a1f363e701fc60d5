import type { Experiment, ExperimentStatus, Variant } from '@millrace/contract/resources/experiment.ts'
import { experiments, experimentTeams, experimentVariants } from '../../database/tables/experiment.ts'
import type { Range } from '../../platform/paging.ts'
import { and, desc, eq, lte, ne, sql } from '../../platform/stores/postgres/drizzle.ts'
import type { Queries } from '../../platform/stores/relational.ts'

type Row = typeof experiments.$inferSelect

export interface StoredExperiment extends Row {
  /** In their order. */
  readonly variants: readonly Variant[]
  readonly resourceGroupIds: readonly string[]
}

export type NewExperiment = Omit<typeof experiments.$inferInsert, 'status' | 'createdAt' | 'updatedAt'>
export type ExperimentFields = Partial<Omit<Row, 'id' | 'companyId' | 'salt' | 'createdAt' | 'updatedAt'>>
export type ExperimentKey = Pick<Row, 'id' | 'companyId'>

export interface ExperimentFilter {
  readonly status?: ExperimentStatus | undefined
  readonly includeArchived?: boolean | undefined
}

const columns = {
  experiment: experiments,
  variants: sql<Variant[]>`(
    select json_agg(json_strip_nulls(json_build_object(
      'id', v.id, 'name', v.name, 'allocation', v.allocation, 'tagValueId', v.tag_value_id)) order by v.position)
    from experiment_variants v where v.experiment_id = "experiments"."id")`,
  resourceGroupIds: sql<string[]>`array(
    select t.team_id from experiment_teams t where t.experiment_id = "experiments"."id" order by t.team_id)`,
}

export function toExperiment(stored: StoredExperiment): Experiment {
  const { id: _id, tagKeyId, variants, resourceGroupIds, metrics, ...rest } = stored
  const { createdAt, updatedAt, scheduledAt, startedAt, readAt, endedAt, decidedAt, archivedAt, ...own } =
    rest
  const [success] = metrics
  if (!success) throw new Error('an experiment has a metric')
  return {
    _id,
    ...own,
    successMetric: success.kind,
    metrics,
    variants: [...variants],
    ...(tagKeyId !== null && { systemTagKeyId: tagKeyId }),
    resourceGroupIds: [...resourceGroupIds],
    createdAt: createdAt.toISOString(),
    updatedAt: updatedAt.toISOString(),
    scheduledAt: textOf(scheduledAt),
    startedAt: textOf(startedAt),
    readAt: textOf(readAt),
    endedAt: textOf(endedAt),
    decidedAt: textOf(decidedAt),
    archivedAt: textOf(archivedAt),
  }
}

const toStored = ({
  experiment,
  ...lists
}: {
  experiment: Row
  variants: Variant[]
  resourceGroupIds: string[]
}) => ({
  ...experiment,
  ...lists,
})

const textOf = (at: Date | null): string | null => at?.toISOString() ?? null

/** Experiments with their variants and teams; given a transaction it works inside it. */
export function createExperimentStore(db: Queries) {
  const one = ({ companyId, id }: ExperimentKey) =>
    and(eq(experiments.companyId, companyId), eq(experiments.id, id))
  const variantsOf = ({ companyId, id }: ExperimentKey) =>
    and(eq(experimentVariants.companyId, companyId), eq(experimentVariants.experimentId, id))
  const matching = (companyId: string, { status, includeArchived = false }: ExperimentFilter) =>
    and(
      eq(experiments.companyId, companyId),
      status && eq(experiments.status, status),
      includeArchived || status === 'archived' ? undefined : ne(experiments.status, 'archived'),
    )
  return {
    /** The newest first. */
    async list(companyId: string, filter: ExperimentFilter, { limit, offset }: Range) {
      const rows = await db
        .select(columns)
        .from(experiments)
        .where(matching(companyId, filter))
        .orderBy(desc(experiments.createdAt), desc(experiments.id))
        .limit(limit)
        .offset(offset)
      return rows.map(toStored)
    },

    async count(companyId: string, filter: ExperimentFilter = {}): Promise<number> {
      const [row] = await db
        .select({ count: sql<number>`count(*)::int` })
        .from(experiments)
        .where(matching(companyId, filter))
      return row?.count ?? 0
    },

    async find(key: ExperimentKey): Promise<StoredExperiment | undefined> {
      const [row] = await db.select(columns).from(experiments).where(one(key))
      return row && toStored(row)
    },

    /** Locked until the transaction ends. Its lists are read once the lock is held, by a statement of their own. */
    async findForUpdate(key: ExperimentKey): Promise<StoredExperiment | undefined> {
      const [held] = await db.select({ id: experiments.id }).from(experiments).where(one(key)).for('update')
      return held && this.find(key)
    },

    /** Those of all companies whose scheduled start is over, the earliest first. */
    async listDue(now: Date, limit: number): Promise<ExperimentKey[]> {
      return db
        .select({ id: experiments.id, companyId: experiments.companyId })
        .from(experiments)
        .where(and(eq(experiments.status, 'scheduled'), lte(experiments.scheduledAt, now)))
        .orderBy(experiments.scheduledAt, experiments.id)
        .limit(limit)
    },

    async insert(experiment: NewExperiment): Promise<void> {
      await db.insert(experiments).values(experiment)
    },

    /** `updatedAt` only grows, also where a transaction that began earlier changes it later. */
    async update(key: ExperimentKey, fields: ExperimentFields): Promise<void> {
      await db
        .update(experiments)
        .set({
          ...fields,
          updatedAt: sql`greatest(now(), ${experiments.updatedAt} + interval '1 millisecond')`,
        })
        .where(one(key))
    },

    async replaceVariants(key: ExperimentKey, variants: readonly Variant[]): Promise<void> {
      await this.deleteVariants(key)
      const { companyId, id: experimentId } = key
      await db
        .insert(experimentVariants)
        .values(variants.map((variant, position) => ({ ...variant, companyId, experimentId, position })))
    },

    async deleteVariants(key: ExperimentKey): Promise<void> {
      await db.delete(experimentVariants).where(variantsOf(key))
    },

    /** Its variants no longer have tags. */
    async clearTags(key: ExperimentKey): Promise<void> {
      await db.update(experimentVariants).set({ tagValueId: null }).where(variantsOf(key))
    },

    async replaceTeams({ companyId, id: experimentId }: ExperimentKey, teamIds: readonly string[]) {
      await db.delete(experimentTeams).where(eq(experimentTeams.experimentId, experimentId))
      if (teamIds.length === 0) return
      await db.insert(experimentTeams).values(teamIds.map((teamId) => ({ companyId, experimentId, teamId })))
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
