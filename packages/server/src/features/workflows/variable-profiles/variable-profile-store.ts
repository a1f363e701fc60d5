import type { VariableProfile, VariableProfileInput } from '@millrace/contract/resources/variable-profile.ts'
import { workflows } from '../../../database/tables/workflow.ts'
import { workflowIntegrations } from '../../../database/tables/workflow-integration.ts'
import { variableProfiles } from '../../../database/tables/workflow-settings.ts'
import type { Range } from '../../../platform/paging.ts'
import { and, asc, eq, sql } from '../../../platform/stores/postgres/drizzle.ts'
import type { Queries } from '../../../platform/stores/relational.ts'

type Row = typeof variableProfiles.$inferSelect
export type ProfileKey = Pick<Row, 'id' | 'companyId'>
export type ProfileFields = Pick<VariableProfileInput, 'name' | 'parameters'>

const toProfile = ({ id, companyId, name, parameters, createdAt, updatedAt }: Row): VariableProfile => ({
  _id: id,
  id,
  type: 'WorkflowVariableProfiles',
  companyId,
  createdAt: createdAt.toISOString(),
  updatedAt: updatedAt.toISOString(),
  name,
  parameters,
})

export function createVariableProfileStore(db: Queries) {
  const one = ({ companyId, id }: ProfileKey) =>
    and(eq(variableProfiles.companyId, companyId), eq(variableProfiles.id, id))

  return {
    /** The oldest first. */
    async list(companyId: string, { limit, offset }: Range): Promise<VariableProfile[]> {
      const rows = await db
        .select()
        .from(variableProfiles)
        .where(eq(variableProfiles.companyId, companyId))
        .orderBy(asc(variableProfiles.createdAt), asc(variableProfiles.id))
        .limit(limit)
        .offset(offset)
      return rows.map(toProfile)
    },

    async count(companyId: string): Promise<number> {
      const [row] = await db
        .select({ count: sql<number>`count(*)::int` })
        .from(variableProfiles)
        .where(eq(variableProfiles.companyId, companyId))
      return row?.count ?? 0
    },

    async find(key: ProfileKey): Promise<VariableProfile | undefined> {
      const [row] = await db.select().from(variableProfiles).where(one(key))
      return row && toProfile(row)
    },

    /** Locked until the transaction ends. */
    async findForUpdate(key: ProfileKey): Promise<VariableProfile | undefined> {
      const [row] = await db.select().from(variableProfiles).where(one(key)).for('update')
      return row && toProfile(row)
    },

    /** Whether the company has it; then it is not deleted until the transaction ends. */
    async hold(key: ProfileKey): Promise<boolean> {
      const rows = await db
        .select({ id: variableProfiles.id })
        .from(variableProfiles)
        .where(one(key))
        .for('key share')
      return rows.length > 0
    },

    /** Its time is that of the moment, and not of the beginning of the transaction, so that lists only grow at their end. */
    async insert(profile: ProfileKey & ProfileFields): Promise<void> {
      const now = sql`clock_timestamp()`
      await db.insert(variableProfiles).values({ ...profile, createdAt: now, updatedAt: now } as never)
    },

    async update(key: ProfileKey, { name, parameters }: ProfileFields): Promise<void> {
      await db
        .update(variableProfiles)
        .set({
          name,
          parameters,
          updatedAt: sql`greatest(now(), ${variableProfiles.updatedAt} + interval '1 millisecond')`,
        })
        .where(one(key))
    },

    /**
     * Takes the profile from the workflows that name it. Their integrations get its parameters as their own, in the same
     * order, where they have none of that name.
     * @returns how many workflows there were
     */
    async takeFromWorkflows({ companyId, id, parameters }: VariableProfile): Promise<number> {
      const defaults = Object.fromEntries(
        parameters.flatMap(({ name, default: value }) => (value ? [[name, value]] : [])),
      )
      const merged = sql`(
        select coalesce(json_object_agg(each.name, each.value order by each.source, each.place), '{}')
        from (
          select d.name, d.value, 0 as source, d.place
          from json_each_text(${JSON.stringify(defaults)}::json) with ordinality as d (name, value, place)
          where not exists (
            select 1 from json_object_keys(${workflowIntegrations.parameters}) as own (name) where own.name = d.name)
          union all
          select o.name, o.value, 1, o.place
          from json_each_text(${workflowIntegrations.parameters}) with ordinality as o (name, value, place)
        ) as each)`
      const naming = and(eq(workflows.companyId, companyId), eq(workflows.variableProfileId, id))
      await db
        .update(workflowIntegrations)
        .set({ parameters: merged as never })
        .where(
          and(
            eq(workflowIntegrations.companyId, companyId),
            sql`${workflowIntegrations.workflowId} in (select w.id from workflows w
              where w.company_id = ${companyId} and w.variable_profile_id = ${id})`,
          ),
        )
      const changed = await db
        .update(workflows)
        .set({
          variableProfileId: null,
          updatedAt: sql`greatest(now(), ${workflows.updatedAt} + interval '1 millisecond')`,
        })
        .where(naming)
        .returning({ id: workflows.id })
      return changed.length
    },

    async delete(key: ProfileKey): Promise<void> {
      await db.delete(variableProfiles).where(one(key))
    },
  }
}
