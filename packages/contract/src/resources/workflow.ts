import { type Static, Type } from 'typebox'
import { dateTime, id, longText, nameText, oneOf, responseOnly, strict } from './formats.ts'
import { Integration } from './workflow-integration.ts'
import { WorkflowVersion } from './workflow-version.ts'

export const workflowStatuses = ['draft', 'publishing', 'published', 'inactive', 'error'] as const

/** docs/interface.md, Workflow. `_id` and `id` are the same identifier. */
export const Workflow = Type.Object(
  {
    _id: id('Identifier of the workflow'),
    id: id('The same identifier'),
    companyId: id('Company that owns it'),
    name: Type.String(),
    description: Type.Optional(Type.String()),
    variableProfileId: Type.Optional(Type.String()),
    createdAt: dateTime('When it was made'),
    updatedAt: dateTime('When it was changed last'),
    archivedAt: Type.Optional(dateTime('When it was archived')),
    hierarchy: Type.Array(Type.String(), { description: 'Folders from the root; `[]` is the root' }),
    status: oneOf(workflowStatuses),
    hidden: Type.Boolean(),
    resourceGroupIds: Type.Array(Type.String(), { description: 'Teams that see it' }),
    integrations: Type.Array(Integration),
    versions: Type.Array(WorkflowVersion),
  },
  { ...strict, title: 'Workflow' },
)
export type Workflow = Static<typeof Workflow>

const creation = {
  name: nameText('Name of the workflow', 200, { examples: ['Welcome banner'] }),
  resourceGroupIds: Type.Array(id('A team that you are a member of'), {
    minItems: 1,
    maxItems: 100,
    uniqueItems: true,
    description: 'Teams that see the workflow',
  }),
  description: Type.Optional(longText('What it is for')),
  hierarchy: Type.Optional(
    Type.Array(nameText('Name of a folder', 100), {
      maxItems: 20,
      description: 'Folders from the root; the root when absent',
    }),
  ),
  hidden: Type.Optional(Type.Boolean({ description: 'Whether lists leave it out; false when absent' })),
}

export const WorkflowCreation = Type.Object(
  { ...creation, ...responseOnly(Workflow, creation) },
  { ...strict, title: 'WorkflowCreation' },
)
export type WorkflowCreation = Static<typeof WorkflowCreation>
