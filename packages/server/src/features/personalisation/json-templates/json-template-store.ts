import type { JsonTemplate } from '@millrace/contract/resources/json-template.ts'
import { jsonTemplates, jsonTemplateTeams } from '../../../database/tables/workflow-settings.ts'
import { type Listed, mapListed, type Page } from '../../../platform/paging.ts'
import { companyRows, type RowOf } from '../../../platform/resources/company-rows.ts'
import { objectTeams } from '../../../platform/resources/object-teams.ts'
import { withIsoDates } from '../../../platform/resources/resource.ts'
import { and, asc, eq, inArray, sql } from '../../../platform/stores/postgres/drizzle.ts'
import type { Queries } from '../../../platform/stores/relational.ts'
import type { Viewer } from '../workflow-store.ts'

type Row = typeof jsonTemplates.$inferSelect
export type TemplateFields = Pick<Row, 'name' | 'definition' | 'variables' | 'redirectVariable'>

const extras = {
  resourceGroupIds: sql<string[]>`array(
    select t.team_id from json_template_teams t where t.template_id = "json_templates"."id" order by t.team_id)`,
}

export type StoredTemplate = RowOf<typeof jsonTemplates, typeof extras>

export function toTemplate({ redirectVariable, lastSavedBy, ...stored }: StoredTemplate): JsonTemplate {
  return {
    _id: stored.id,
    type: 'WorkflowJsonTemplates',
    ...withIsoDates(stored),
    ...(redirectVariable !== null && { redirectVariable }),
    ...(lastSavedBy !== null && { lastSavedBy }),
  }
}

/** JSON templates with their teams; given a transaction it works inside it. */
export function createJsonTemplateStore(db: Queries) {
  const rows = companyRows(db, jsonTemplates, extras)
  const teams = objectTeams(db, jsonTemplateTeams, 'templateId')
  const seenBy = (teamIds: readonly string[]) => teams.seenBy(jsonTemplates.id, teamIds)
  const visible = ({ companyId, teamIds }: Viewer) =>
    and(eq(jsonTemplates.companyId, companyId), seenBy(teamIds))

  return {
    ...rows,
    replaceTeams: teams.replace,

    /**
     * The oldest first.
     * @param workflowTeamIds of a workflow that is to use them
     */
    async list(
      viewer: Viewer,
      workflowTeamIds: readonly string[] | undefined,
      page: Page,
    ): Promise<Listed<JsonTemplate>> {
      const where = and(visible(viewer), workflowTeamIds && seenBy(workflowTeamIds))
      const order = [asc(jsonTemplates.createdAt), asc(jsonTemplates.id)]
      return mapListed(await rows.page(where, order, page), toTemplate)
    },

    countOfCompany: (companyId: string): Promise<number> =>
      rows.count(eq(jsonTemplates.companyId, companyId)),

    find: (viewer: Viewer, id: string): Promise<StoredTemplate | undefined> =>
      rows.find({ companyId: viewer.companyId, id }, seenBy(viewer.teamIds)),

    /** Whichever teams see it. */
    findByKey: rows.find,

    /** Locked until the transaction ends. */
    findForUpdate: (viewer: Viewer, id: string): Promise<StoredTemplate | undefined> =>
      rows.findForUpdate({ companyId: viewer.companyId, id }, seenBy(viewer.teamIds)),

    /** Of the ids those that one of the teams sees. `lock`: none of them is deleted until the transaction ends. */
    async listByIds(viewer: Viewer, ids: readonly string[], lock: boolean): Promise<Row[]> {
      const query = db
        .select()
        .from(jsonTemplates)
        .where(and(visible(viewer), inArray(jsonTemplates.id, [...ids])))
        .orderBy(asc(jsonTemplates.id))
        .$dynamic()
      return lock ? query.for('key share') : query
    },
  }
}
