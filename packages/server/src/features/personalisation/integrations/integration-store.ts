import type { VariableProfile } from '@millrace/contract/resources/variable-profile.ts'
import { workflows, workflowVersions } from '../../../database/tables/workflow.ts'
import { workflowIntegrations } from '../../../database/tables/workflow-integration.ts'
import { variableProfiles } from '../../../database/tables/workflow-settings.ts'
import { companyRows, type Key } from '../../../platform/resources/company-rows.ts'
import { and, asc, eq, inArray, isNotNull, sql } from '../../../platform/stores/postgres/drizzle.ts'
import type { Queries } from '../../../platform/stores/relational.ts'

export type StoredIntegration = typeof workflowIntegrations.$inferSelect

/** What a version says of its entrypoints; of a draft it may be anything. */
export interface VersionEntrypoints {
  readonly workflowId: string
  readonly state: 'draft' | 'live'
  readonly entrypoints: unknown
  /** Outputs that each of them can end in. */
  readonly outputs: unknown
}

const bothStates = ['live', 'draft'] as const

export function createIntegrationStore(db: Queries) {
  const ofWorkflows = (companyId: string, workflowIds: readonly string[]) =>
    and(
      eq(workflowIntegrations.companyId, companyId),
      inArray(workflowIntegrations.workflowId, [...workflowIds]),
    )
  const rows = companyRows(db, workflowIntegrations)
  const oldestFirst = [asc(workflowIntegrations.createdAt), asc(workflowIntegrations.id)]

  return {
    ...rows,

    /** The oldest first. */
    async list(companyId: string, workflowIds: readonly string[]): Promise<StoredIntegration[]> {
      if (workflowIds.length === 0) return []
      return rows.select(ofWorkflows(companyId, workflowIds), ...oldestFirst)
    },

    count: ({ companyId, id }: Key): Promise<number> => rows.count(ofWorkflows(companyId, [id])),

    find: (workflow: Key, id: string): Promise<StoredIntegration | undefined> =>
      rows.find({ ...workflow, id }, eq(workflowIntegrations.workflowId, workflow.id)),

    /** Of whichever company: the short id is all that an address has. */
    async findByShortId(shortId: string): Promise<StoredIntegration | undefined> {
      const [row] = await rows.select(eq(workflowIntegrations.shortId, shortId))
      return row
    },

    /** Of published workflows, those that have a selector and are enabled; the oldest first. */
    async listSelecting(companyId: string, limit: number): Promise<StoredIntegration[]> {
      const rows = await db
        .select({ integration: workflowIntegrations })
        .from(workflowIntegrations)
        .innerJoin(
          workflows,
          and(
            eq(workflows.id, workflowIntegrations.workflowId),
            eq(workflows.companyId, workflowIntegrations.companyId),
          ),
        )
        .where(
          and(
            eq(workflows.companyId, companyId),
            eq(workflows.status, 'published'),
            eq(workflowIntegrations.enabled, true),
            isNotNull(workflowIntegrations.selector),
          ),
        )
        .orderBy(...oldestFirst)
        .limit(limit)
      return rows.map(({ integration }) => integration)
    },

    /** The company of a workflow of any company: a change names the workflow alone. */
    async findCompanyOfWorkflow(id: string): Promise<string | undefined> {
      const [row] = await db
        .select({ companyId: workflows.companyId })
        .from(workflows)
        .where(eq(workflows.id, id))
      return row?.companyId
    },

    /** Of the live version and of the draft, unless one of them alone is asked for. */
    async listEntrypoints(
      companyId: string,
      workflowIds: readonly string[],
      states: readonly VersionEntrypoints['state'][] = bothStates,
    ): Promise<VersionEntrypoints[]> {
      if (workflowIds.length === 0) return []
      const rows = await db
        .select({
          workflowId: workflowVersions.workflowId,
          state: workflowVersions.state,
          entrypoints: sql<unknown>`${workflowVersions.definition} -> 'entrypoints'`,
          outputs: sql<unknown>`${workflowVersions.analyze} -> 'outputsForEntrypoint'`,
        })
        .from(workflowVersions)
        .where(
          and(
            eq(workflowVersions.companyId, companyId),
            inArray(workflowVersions.workflowId, [...workflowIds]),
            inArray(workflowVersions.state, [...states]),
          ),
        )
      return rows.map((row) => ({ ...row, state: row.state === 'live' ? 'live' : 'draft' }))
    },

    /** Parameters of the variable profiles by workflow; a workflow without one is absent. */
    async listProfiles(
      companyId: string,
      workflowIds: readonly string[],
    ): Promise<Map<string, VariableProfile['parameters']>> {
      if (workflowIds.length === 0) return new Map()
      const rows = await db
        .select({ workflowId: workflows.id, parameters: variableProfiles.parameters })
        .from(workflows)
        .innerJoin(
          variableProfiles,
          and(
            eq(variableProfiles.id, workflows.variableProfileId),
            eq(variableProfiles.companyId, workflows.companyId),
          ),
        )
        .where(and(eq(workflows.companyId, companyId), inArray(workflows.id, [...workflowIds])))
      return new Map(rows.map(({ workflowId, parameters }) => [workflowId, parameters]))
    },
  }
}
