import {
  type WorkflowStatus,
  type WorkflowSummary,
  workflowTransitionOf,
} from '@millrace/contract/resources/workflow.ts'
import { workflows, workflowTeams } from '../../database/tables/workflow.ts'
import type { Range } from '../../platform/paging.ts'
import { containsText } from '../../platform/stores/postgres/contains-text.ts'
import {
  and,
  asc,
  desc,
  eq,
  exists,
  inArray,
  ne,
  type SQL,
  sql,
} from '../../platform/stores/postgres/drizzle.ts'
import type { Queries } from '../../platform/stores/relational.ts'

type Row = typeof workflows.$inferSelect

export interface StoredWorkflow extends Row {
  readonly resourceGroupIds: readonly string[]
  readonly draftVersionId: string
  /** Whether it has ever been published. */
  readonly wasPublished: boolean
}

export type WorkflowKey = Pick<Row, 'id' | 'companyId'>
export type NewWorkflow = Omit<typeof workflows.$inferInsert, 'status' | 'createdAt' | 'updatedAt'>
export type WorkflowFields = Partial<Omit<Row, 'id' | 'companyId' | 'createdAt' | 'updatedAt'>>

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

export interface WorkflowOrder {
  readonly sortBy?: 'name' | 'updatedAt' | 'createdAt' | 'status' | undefined
  readonly sortOrder?: 'asc' | 'desc' | undefined
}

const columns = {
  workflow: workflows,
  resourceGroupIds: sql<string[]>`array(
    select t.team_id from workflow_teams t where t.workflow_id = "workflows"."id" order by t.team_id)`,
  draftVersionId: sql<string>`(
    select v.id from workflow_versions v where v.workflow_id = "workflows"."id" and v.state = 'draft')`,
  wasPublished: sql<boolean>`exists (
    select 1 from workflow_publications p where p.workflow_id = "workflows"."id")`,
}

type Selected = { workflow: Row } & Omit<StoredWorkflow, keyof Row>
const toStored = ({ workflow, ...rest }: Selected): StoredWorkflow => ({ ...workflow, ...rest })

/** As the audit log names it. */
export const targetOf = ({ id, name }: StoredWorkflow) => ({ kind: 'workflow', id, name })

const textArray = (texts: readonly string[]) => sql`${sql.param([...texts])}::text[]`

/** In lists, and as the head of a whole workflow. */
export function toSummary(stored: StoredWorkflow): WorkflowSummary {
  const { id, variableProfileId, publishedVersionId, archivedAt, createdAt, updatedAt } = stored
  return {
    _id: id,
    id,
    companyId: stored.companyId,
    name: stored.name,
    description: stored.description,
    ...(variableProfileId !== null && { variableProfileId }),
    createdAt: createdAt.toISOString(),
    updatedAt: updatedAt.toISOString(),
    ...(archivedAt !== null && { archivedAt: archivedAt.toISOString() }),
    hierarchy: [...stored.hierarchy],
    status: stored.status,
    hidden: stored.hidden,
    resourceGroupIds: [...stored.resourceGroupIds],
    draftVersionId: stored.draftVersionId,
    ...(publishedVersionId !== null && { liveVersionId: publishedVersionId }),
  }
}

/** Workflows with their teams; given a transaction it works inside it. */
export function createWorkflowStore(db: Queries) {
  const one = ({ companyId, id }: WorkflowKey) =>
    and(eq(workflows.companyId, companyId), eq(workflows.id, id))

  /** Seen by one of the teams; by no user without a team. */
  function visibleTo({ companyId, teamIds }: Viewer) {
    const seen = db
      .select({ one: sql`1` })
      .from(workflowTeams)
      .where(
        and(
          eq(workflowTeams.companyId, companyId),
          eq(workflowTeams.workflowId, workflows.id),
          inArray(workflowTeams.teamId, [...teamIds]),
        ),
      )
    return and(eq(workflows.companyId, companyId), teamIds.length > 0 ? exists(seen) : sql`false`)
  }

  const ofTeam = (teamId: string) =>
    exists(
      db
        .select({ one: sql`1` })
        .from(workflowTeams)
        .where(and(eq(workflowTeams.workflowId, workflows.id), eq(workflowTeams.teamId, teamId))),
    )

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
      resourceGroupId === undefined ? undefined : ofTeam(resourceGroupId),
      inFolder(filter),
    )
  }

  function ordered({ sortBy = 'updatedAt', sortOrder }: WorkflowOrder): SQL[] {
    const keys = {
      name: sql`lower(${workflows.name})`,
      status: workflows.status,
      createdAt: workflows.createdAt,
      updatedAt: workflows.updatedAt,
    }
    const order = sortOrder ?? (sortBy === 'name' || sortBy === 'status' ? 'asc' : 'desc')
    return [order === 'asc' ? asc(keys[sortBy]) : desc(keys[sortBy]), asc(workflows.id)]
  }

  async function select(where: SQL | undefined): Promise<StoredWorkflow | undefined> {
    const [row] = await db.select(columns).from(workflows).where(where)
    return row && toStored(row)
  }

  return {
    async list(
      viewer: Viewer,
      filter: WorkflowFilter,
      order: WorkflowOrder,
      { limit, offset }: Range,
    ): Promise<StoredWorkflow[]> {
      const rows = await db
        .select(columns)
        .from(workflows)
        .where(matching(viewer, filter))
        .orderBy(...ordered(order))
        .limit(limit)
        .offset(offset)
      return rows.map(toStored)
    },

    async count(viewer: Viewer, filter: WorkflowFilter): Promise<number> {
      const [row] = await db
        .select({ count: sql<number>`count(*)::int` })
        .from(workflows)
        .where(matching(viewer, filter))
      return row?.count ?? 0
    },

    /** Of the whole company, without the archived ones. */
    async countOfCompany(companyId: string): Promise<number> {
      const [row] = await db
        .select({ count: sql<number>`count(*)::int` })
        .from(workflows)
        .where(and(eq(workflows.companyId, companyId), ne(workflows.status, 'inactive')))
      return row?.count ?? 0
    },

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

    find(viewer: Viewer, id: string): Promise<StoredWorkflow | undefined> {
      return select(and(visibleTo(viewer), eq(workflows.id, id)))
    },

    /** Whichever teams see it: for what the service does by itself. */
    findByKey(key: WorkflowKey): Promise<StoredWorkflow | undefined> {
      return select(one(key))
    },

    /** Locked until the transaction ends. Its lists are read once the lock is held, by a statement of their own. */
    async findForUpdate(viewer: Viewer, id: string): Promise<StoredWorkflow | undefined> {
      const [held] = await db
        .select({ id: workflows.id })
        .from(workflows)
        .where(and(eq(workflows.companyId, viewer.companyId), eq(workflows.id, id)))
        .for('update')
      return held && this.find(viewer, id)
    },

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
    async listKnown(companyId: string, ids: readonly string[]): Promise<string[]> {
      if (ids.length === 0) return []
      const rows = await db
        .select({ id: workflows.id })
        .from(workflows)
        .where(and(eq(workflows.companyId, companyId), inArray(workflows.id, [...ids])))
      return rows.map(({ id }) => id)
    },

    async insert(workflow: NewWorkflow): Promise<void> {
      await db.insert(workflows).values(workflow)
    },

    /** `updatedAt` only grows, also where a transaction that began earlier changes it later. */
    async update(key: WorkflowKey, fields: WorkflowFields): Promise<void> {
      await db
        .update(workflows)
        .set({
          ...fields,
          updatedAt: sql`greatest(now(), ${workflows.updatedAt} + interval '1 millisecond')`,
        })
        .where(one(key))
    },

    /** Publishing failed; what is published stays so. */
    async markFailed({ companyId }: Viewer, id: string): Promise<void> {
      await db
        .update(workflows)
        .set({ status: 'error' })
        .where(and(one({ companyId, id }), inArray(workflows.status, [...workflowTransitionOf('fail').from])))
    },

    async replaceTeams(
      { companyId, id: workflowId }: WorkflowKey,
      teamIds: readonly string[],
    ): Promise<void> {
      await db
        .delete(workflowTeams)
        .where(and(eq(workflowTeams.companyId, companyId), eq(workflowTeams.workflowId, workflowId)))
      await db.insert(workflowTeams).values(teamIds.map((teamId) => ({ companyId, workflowId, teamId })))
    },

    /** With its versions, publications and teams. */
    async delete(key: WorkflowKey): Promise<void> {
      await db.delete(workflows).where(one(key))
    },
  }
}
