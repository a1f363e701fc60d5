import {
  type WorkflowStatus,
  type WorkflowSummary,
  workflowTransitionOf,
} from '@millrace/contract/resources/workflow.ts'
import { workflows, workflowTeams } from '../../database/tables/workflow.ts'
import { type Listed, mapListed, type Page } from '../../platform/paging.ts'
import { companyRows, type Key, type RowOf } from '../../platform/resources/company-rows.ts'
import { type ListOrder, listOrder } from '../../platform/resources/list-order.ts'
import { objectTeams } from '../../platform/resources/object-teams.ts'
import { withIsoDates, withoutNulls } from '../../platform/resources/resource.ts'
import { containsText } from '../../platform/stores/postgres/contains-text.ts'
import { and, asc, desc, eq, inArray, ne, type SQL, sql } from '../../platform/stores/postgres/drizzle.ts'
import type { Queries } from '../../platform/stores/relational.ts'

/** The user who asks: what is of another company, or that none of the user's teams sees, does not exist. */
export interface Viewer {
  readonly companyId: string
  readonly teamIds: readonly string[]
}

export interface WorkflowFilter {
  readonly name?: string | undefined
  readonly status?: WorkflowStatus | undefined
  readonly resourceGroupId?: string | undefined
  readonly hierarchy?: readonly string[] | undefined
  readonly subfolders?: boolean | undefined
  readonly includeArchived?: boolean | undefined
  readonly includeHidden?: boolean | undefined
}

export type WorkflowOrder = ListOrder<'name' | 'updatedAt' | 'createdAt' | 'status'>

const extras = {
  resourceGroupIds: sql<string[]>`array(
    select t.team_id from workflow_teams t where t.workflow_id = "workflows"."id" order by t.team_id)`,
  draftVersionId: sql<string>`(
    select v.id from workflow_versions v where v.workflow_id = "workflows"."id" and v.state = 'draft')`,
  /** Whether it has ever been published. */
  wasPublished: sql<boolean>`exists (
    select 1 from workflow_publications p where p.workflow_id = "workflows"."id")`,
}

export type StoredWorkflow = RowOf<typeof workflows, typeof extras>
export type NewWorkflow = Omit<typeof workflows.$inferInsert, 'status' | 'createdAt' | 'updatedAt'>

const textArray = (texts: readonly string[]) => sql`${sql.param([...texts])}::text[]`

/** In lists, and as the head of a whole workflow. */
export function toSummary(stored: StoredWorkflow): WorkflowSummary {
  const { id, companyId, name, description, hierarchy, status, hidden, resourceGroupIds } = stored
  const { createdAt, updatedAt, archivedAt, draftVersionId, variableProfileId } = stored
  const own = {
    id,
    companyId,
    name,
    description,
    hierarchy,
    status,
    hidden,
    resourceGroupIds,
    draftVersionId,
  }
  const set = withoutNulls({ variableProfileId, archivedAt, liveVersionId: stored.publishedVersionId })
  return { _id: id, ...withIsoDates({ ...own, createdAt, updatedAt, ...set }) }
}

/** Workflows with their teams; given a transaction it works inside it. */
export function createWorkflowStore(db: Queries) {
  const rows = companyRows(db, workflows, extras)
  const teams = objectTeams(db, workflowTeams, 'workflowId')
  const seenBy = (teamIds: readonly string[]) => teams.seenBy(workflows.id, teamIds)
  const visibleTo = ({ companyId, teamIds }: Viewer) =>
    and(eq(workflows.companyId, companyId), seenBy(teamIds))

  function inFolder({ hierarchy = [], subfolders = true }: WorkflowFilter): SQL | undefined {
    if (!subfolders) return sql`${workflows.hierarchy} = ${textArray(hierarchy)}`
    if (hierarchy.length === 0) return undefined
    return sql`${workflows.hierarchy}[1:${hierarchy.length}::int] = ${textArray(hierarchy)}`
  }

  function matching(viewer: Viewer, filter: WorkflowFilter): SQL | undefined {
    const { name, status, resourceGroupId, includeArchived, includeHidden } = filter
    return and(
      visibleTo(viewer),
      name === undefined ? undefined : containsText(workflows.name, name),
      status && eq(workflows.status, status),
      includeArchived || status === 'inactive' ? undefined : ne(workflows.status, 'inactive'),
      includeHidden ? undefined : eq(workflows.hidden, false),
      resourceGroupId === undefined ? undefined : seenBy([resourceGroupId]),
      inFolder(filter),
    )
  }

  function ordered(order: WorkflowOrder): SQL[] {
    const { id, name, status, createdAt, updatedAt } = workflows
    const keys = { name: sql`lower(${name})`, status, createdAt, updatedAt }
    return listOrder(order, keys, id, { sortBy: 'updatedAt', sortOrder: 'desc' })
  }

  return {
    ...rows,
    replaceTeams: teams.replace,

    async list(
      viewer: Viewer,
      filter: WorkflowFilter,
      order: WorkflowOrder,
      page: Page,
    ): Promise<Listed<WorkflowSummary>> {
      return mapListed(await rows.page(matching(viewer, filter), ordered(order), page), toSummary)
    },

    /** Of the whole company, without the archived ones. */
    countOfCompany: (companyId: string): Promise<number> =>
      rows.count(and(eq(workflows.companyId, companyId), ne(workflows.status, 'inactive'))),

    /** Names of the folders right below one, sorted. */
    async listFolders(viewer: Viewer, hierarchy: readonly string[], limit: number): Promise<string[]> {
      const name = sql<string>`${workflows.hierarchy}[${hierarchy.length + 1}::int]`
      const rows = await db
        .select({ name })
        .from(workflows)
        .where(
          and(
            visibleTo(viewer),
            ne(workflows.status, 'inactive'),
            inFolder({ hierarchy }),
            sql`cardinality(${workflows.hierarchy}) > ${hierarchy.length}::int`,
          ),
        )
        .groupBy(sql`1`)
        .orderBy(sql`1`)
        .limit(limit)
      return rows.map((row) => row.name)
    },

    find: (viewer: Viewer, id: string): Promise<StoredWorkflow | undefined> =>
      rows.find({ companyId: viewer.companyId, id }, seenBy(viewer.teamIds)),

    /** Whichever teams see it: for what the service does by itself. */
    findByKey: (key: Key): Promise<StoredWorkflow | undefined> => rows.find(key),

    /** Locked until the transaction ends. */
    findForUpdate: (viewer: Viewer, id: string): Promise<StoredWorkflow | undefined> =>
      rows.findForUpdate({ companyId: viewer.companyId, id }, seenBy(viewer.teamIds)),

    /** Of all that the teams see, archived ones too: those that were changed last. */
    async listIds(viewer: Viewer, limit: number): Promise<string[]> {
      const rows = await db
        .select({ id: workflows.id })
        .from(workflows)
        .where(visibleTo(viewer))
        .orderBy(desc(workflows.updatedAt), asc(workflows.id))
        .limit(limit)
      return rows.map(({ id }) => id)
    },

    /** Those of the ids that are workflows of the company. */
    listKnown: rows.known,

    /** Publishing failed; what is published stays so. */
    async markFailed({ companyId }: Viewer, id: string): Promise<void> {
      await db
        .update(workflows)
        .set({ status: 'error' })
        .where(
          and(rows.one({ companyId, id }), inArray(workflows.status, [...workflowTransitionOf('fail').from])),
        )
    },
  }
}
