import { type Static, Type } from 'typebox'
import {
  bodyOf,
  dateTime,
  extension,
  flag,
  id,
  listOf,
  longText,
  named,
  nameText,
  nullable,
  oneOf,
  times,
} from './formats.ts'
import { Integration } from './workflow-integration.ts'
import { WorkflowVersion } from './workflow-version.ts'

/** Bounds of workflows (docs/workflows.md, Life). */
export const workflowLimits = {
  /** Of a company, without the archived ones. */
  perCompany: 5_000,
  teams: 100,
  folders: 20,
  /** Names of folders that one answer lists. */
  listedFolders: 1_000,
} as const

export const workflowStatuses = ['draft', 'publishing', 'published', 'inactive', 'error'] as const
export type WorkflowStatus = (typeof workflowStatuses)[number]

/** A change of status: from which statuses it leads, and to which one. */
interface WorkflowTransition {
  readonly from: readonly WorkflowStatus[]
  /** Absent where the status stays, or the workflow ends. */
  readonly to?: WorkflowStatus
}

/** All that changes the status of a workflow; whatever is not here is refused (docs/workflows.md, Life). */
const workflowTransitions = {
  /** Both steps are one transaction: `publishing` is seen inside it alone. */
  publish: { from: ['draft', 'published', 'error'], to: 'publishing' },
  published: { from: ['publishing'], to: 'published' },
  /** Publishing failed for a reason that is not the definition. */
  fail: { from: ['draft', 'error'], to: 'error' },
  archive: { from: ['draft', 'published', 'error'], to: 'inactive' },
  /** To `published` where a version is live and still validates. */
  restore: { from: ['inactive'], to: 'draft' },
  restorePublished: { from: ['inactive'], to: 'published' },
  /** Of one that was published before: archived first. */
  delete: { from: ['draft', 'error', 'inactive'] },
} as const satisfies Record<string, WorkflowTransition>
export type WorkflowAction = keyof typeof workflowTransitions
/** What users can ask for; the others follow. */
export const workflowActions = ['publish', 'archive', 'restore', 'delete'] as const
export type AskedWorkflowAction = (typeof workflowActions)[number]

export function workflowTransitionOf(action: WorkflowAction): WorkflowTransition {
  return workflowTransitions[action]
}

/** What can be asked for while a workflow has a status. */
export function workflowActionsFrom(status: WorkflowStatus): AskedWorkflowAction[] {
  return workflowActions.filter((action) => workflowTransitionOf(action).from.includes(status))
}

/** docs/interface.md, Workflow. `_id` and `id` are the same identifier. */
export const Workflow = named('Workflow', {
  _id: id('Identifier of the workflow'),
  id: id('The same identifier'),
  companyId: id('Company that owns it'),
  name: Type.String(),
  description: Type.Optional(Type.String()),
  variableProfileId: Type.Optional(Type.String()),
  ...times,
  archivedAt: Type.Optional(dateTime('When it was archived')),
  hierarchy: listOf(Type.String(), 'Folders from the root; `[]` is the root'),
  status: oneOf(workflowStatuses, 'See docs/workflows.md, Life'),
  hidden: flag('Whether lists leave it out'),
  resourceGroupIds: listOf(Type.String(), 'Teams that see it'),
  integrations: Type.Array(Integration),
  versions: listOf(
    WorkflowVersion,
    'The draft, the live one and those before it, the newest first; older ones are read one by one (docs/workflows.md, Versions)',
  ),
})
export type Workflow = Static<typeof Workflow>

const { integrations: _integrations, versions: _versions, ...head } = Workflow.properties

/** A workflow as lists have it. */
export const WorkflowSummary = named('WorkflowSummary', {
  ...head,
  draftVersionId: id('Version that is edited'),
  liveVersionId: Type.Optional(id('Version that is shown while the workflow is published')),
})
export type WorkflowSummary = Static<typeof WorkflowSummary>

const hierarchy = Type.Array(nameText('Name of a folder', 100), {
  maxItems: workflowLimits.folders,
  description: 'Folders from the root; the root when absent',
})
const creation = {
  name: nameText('Name of the workflow', 200, { examples: ['Welcome banner'] }),
  resourceGroupIds: Type.Array(id('A team that you are a member of'), {
    minItems: 1,
    maxItems: workflowLimits.teams,
    uniqueItems: true,
    description: 'Teams that see the workflow',
  }),
  description: Type.Optional(longText('What it is for')),
  hierarchy: Type.Optional(hierarchy),
  hidden: Type.Optional(flag('Whether lists leave it out; false when absent')),
  variableProfileId: Type.Optional(
    extension(nullable(id('Variable profile'), 'Parameters of its addresses; null: none')),
  ),
}

export const WorkflowCreation = bodyOf('WorkflowCreation', Workflow, creation)
export type WorkflowCreation = Static<typeof WorkflowCreation>

const update = {
  ...creation,
  name: Type.Optional(creation.name),
  resourceGroupIds: Type.Optional(creation.resourceGroupIds),
}

/** Partial: a field that is absent stays as it is; lists are replaced as a whole. */
export const WorkflowUpdate = bodyOf('WorkflowUpdate', Workflow, update)
export type WorkflowUpdate = Static<typeof WorkflowUpdate>
