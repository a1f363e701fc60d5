import type { VariableProfile, VariableProfileInput } from '@millrace/contract/resources/variable-profile.ts'
import { workflows } from '../../../database/tables/workflow.ts'
import { workflowIntegrations } from '../../../database/tables/workflow-integration.ts'
import { variableProfiles } from '../../../database/tables/workflow-settings.ts'
import { type Listed, mapListed, type Page } from '../../../platform/paging.ts'
import { companyRows, type Key, touched } from '../../../platform/resources/company-rows.ts'
import { withIsoDates } from '../../../platform/resources/resource.ts'
import { and, asc, eq, sql } from '../../../platform/stores/postgres/drizzle.ts'
import type { Queries } from '../../../platform/stores/relational.ts'

type Row = typeof variableProfiles.$inferSelect
export type ProfileFields = Pick<VariableProfileInput, 'name' | 'parameters'>

export const toProfile = (row: Row): VariableProfile => ({
  _id: row.id,
  type: 'WorkflowVariableProfiles',
  ...withIsoDates(row),
})

export function createVariableProfileStore(db: Queries) {
  const rows = companyRows(db, variableProfiles)

  return {
    ...rows,

    /** The oldest first. */
    async list(companyId: string, page: Page): Promise<Listed<VariableProfile>> {
      const order = [asc(variableProfiles.createdAt), asc(variableProfiles.id)]
      return mapListed(await rows.page(eq(variableProfiles.companyId, companyId), order, page), toProfile)
    },

    count: (companyId: string): Promise<number> => rows.count(eq(variableProfiles.companyId, companyId)),

    /** Whether the company has it; then it is not deleted until the transaction ends. */
    async hold(key: Key): Promise<boolean> {
      const held = await db
        .select({ id: variableProfiles.id })
        .from(variableProfiles)
        .where(rows.one(key))
        .for('key share')
      return held.length > 0
    },

    /**
     * Takes the profile from the workflows that name it. Their integrations get its parameters as their own, in the same
     * order, where they have none of that name.
     * @returns how many workflows there were
     */
    async takeFromWorkflows({ companyId, id, parameters }: Row): Promise<number> {
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
        .set({ variableProfileId: null, ...touched(workflows) })
        .where(naming)
        .returning({ id: workflows.id })
      return changed.length
    },
  }
}
