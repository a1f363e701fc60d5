import type { JsonTemplate } from '@millrace/contract/resources/json-template.ts'
import { nextRevision } from '../../../database/tables/columns.ts'
import { jsonTemplates, jsonTemplateTeams } from '../../../database/tables/workflow-settings.ts'
import type { Range } from '../../../platform/paging.ts'
import { and, asc, eq, exists, inArray, type SQL, sql } from '../../../platform/stores/postgres/drizzle.ts'
import type { Queries } from '../../../platform/stores/relational.ts'
import type { Viewer } from '../workflow-store.ts'

type Row = typeof jsonTemplates.$inferSelect
export type TemplateKey = Pick<Row, 'id' | 'companyId'>
export type TemplateFields = Pick<Row, 'name' | 'definition' | 'variables' | 'redirectVariable'>
/** Who saves it. */
type Saver = { readonly lastSavedBy: string }

export interface StoredTemplate extends Row {
  readonly resourceGroupIds: readonly string[]
}

const columns = {
  template: jsonTemplates,
  resourceGroupIds: sql<string[]>`array(
    select t.team_id from json_template_teams t where t.template_id = "json_templates"."id" order by t.team_id)`,
}

export function toTemplate(stored: StoredTemplate): JsonTemplate {
  const { id, companyId, name, definition, variables, redirectVariable, createdAt, updatedAt } = stored
  const { revision, lastSavedBy } = stored
  return {
    _id: id,
    id,
    type: 'WorkflowJsonTemplates',
    createdAt: createdAt.toISOString(),
    updatedAt: updatedAt.toISOString(),
    companyId,
    resourceGroupIds: [...stored.resourceGroupIds],
    name,
    definition,
    variables,
    ...(redirectVariable !== null && { redirectVariable }),
    revision,
    ...(lastSavedBy !== null && { lastSavedBy }),
  }
}

/** JSON templates with their teams; given a transaction it works inside it. */
export function createJsonTemplateStore(db: Queries) {
  const one = ({ companyId, id }: TemplateKey) =>
    and(eq(jsonTemplates.companyId, companyId), eq(jsonTemplates.id, id))

  /** Seen by one of these teams. */
  function seenBy(teamIds: readonly string[]): SQL {
    if (teamIds.length === 0) return sql`false`
    return exists(
      db
        .select({ one: sql`1` })
        .from(jsonTemplateTeams)
        .where(
          and(
            eq(jsonTemplateTeams.templateId, jsonTemplates.id),
            inArray(jsonTemplateTeams.teamId, [...teamIds]),
          ),
        ),
    )
  }

  /** @param workflowTeamIds of a workflow that is to use them */
  const visible = ({ companyId, teamIds }: Viewer, workflowTeamIds?: readonly string[]) =>
    and(
      eq(jsonTemplates.companyId, companyId),
      seenBy(teamIds),
      workflowTeamIds === undefined ? undefined : seenBy(workflowTeamIds),
    )

  return {
    /** The oldest first. */
    async list(
      viewer: Viewer,
      workflowTeamIds: readonly string[] | undefined,
      { limit, offset }: Range,
    ): Promise<StoredTemplate[]> {
      const rows = await db
        .select(columns)
        .from(jsonTemplates)
        .where(visible(viewer, workflowTeamIds))
        .orderBy(asc(jsonTemplates.createdAt), asc(jsonTemplates.id))
        .limit(limit)
        .offset(offset)
      return rows.map(({ template, resourceGroupIds }) => ({ ...template, resourceGroupIds }))
    },

    async count(viewer: Viewer, workflowTeamIds: readonly string[] | undefined): Promise<number> {
      const [row] = await db
        .select({ count: sql<number>`count(*)::int` })
        .from(jsonTemplates)
        .where(visible(viewer, workflowTeamIds))
      return row?.count ?? 0
    },

    async countOfCompany(companyId: string): Promise<number> {
      const [row] = await db
        .select({ count: sql<number>`count(*)::int` })
        .from(jsonTemplates)
        .where(eq(jsonTemplates.companyId, companyId))
      return row?.count ?? 0
    },

    async find(viewer: Viewer, id: string): Promise<StoredTemplate | undefined> {
      const [row] = await db
        .select(columns)
        .from(jsonTemplates)
        .where(and(visible(viewer), eq(jsonTemplates.id, id)))
      return row && { ...row.template, resourceGroupIds: row.resourceGroupIds }
    },

    /** Whichever teams see it. */
    async findByKey(key: TemplateKey): Promise<StoredTemplate | undefined> {
      const [row] = await db.select(columns).from(jsonTemplates).where(one(key))
      return row && { ...row.template, resourceGroupIds: row.resourceGroupIds }
    },

    /** Locked until the transaction ends. Its teams are read once the lock is held, by a statement of their own. */
    async findForUpdate(viewer: Viewer, id: string): Promise<StoredTemplate | undefined> {
      const [held] = await db
        .select({ id: jsonTemplates.id })
        .from(jsonTemplates)
        .where(one({ companyId: viewer.companyId, id }))
        .for('update')
      return held && this.find(viewer, id)
    },

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

    /** Its time is that of the moment, and not of the beginning of the transaction, so that lists only grow at their end. */
    async insert(template: TemplateKey & TemplateFields & Saver): Promise<void> {
      const now = sql`clock_timestamp()`
      await db.insert(jsonTemplates).values({ ...template, createdAt: now, updatedAt: now } as never)
    },

    async update(key: TemplateKey, fields: TemplateFields & Saver): Promise<void> {
      await db
        .update(jsonTemplates)
        .set({ ...fields, ...nextRevision(jsonTemplates) })
        .where(one(key))
    },

    async replaceTeams(
      { companyId, id: templateId }: TemplateKey,
      teamIds: readonly string[],
    ): Promise<void> {
      await db
        .delete(jsonTemplateTeams)
        .where(and(eq(jsonTemplateTeams.companyId, companyId), eq(jsonTemplateTeams.templateId, templateId)))
      await db.insert(jsonTemplateTeams).values(teamIds.map((teamId) => ({ companyId, templateId, teamId })))
    },

    async delete(key: TemplateKey): Promise<void> {
      await db.delete(jsonTemplates).where(one(key))
    },
  }
}
