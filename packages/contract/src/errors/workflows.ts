import { Type } from 'typebox'
import { conflict, full, invalid, notFound, row } from '../error-row.ts'
import { anId, ById, SavedMeanwhile } from '../failure-data.ts'
import { like, object, oneOf } from '../resources/formats.ts'
import { workflowActions, workflowStatuses } from '../resources/workflow.ts'
import { DefinitionFault } from '../resources/workflow-definition.ts'
import { versionStates } from '../resources/workflow-version.ts'

const UnknownWorkflow = object({ workflowIds: Type.Array(anId, { minItems: 1 }) })
const WorkflowTransition = object({
  id: anId,
  action: oneOf(workflowActions),
  from: oneOf(workflowStatuses),
  allowed: Type.Array(oneOf(workflowActions)),
})
const WorkflowInvalid = object({ id: anId, faults: Type.Array(DefinitionFault, { minItems: 1 }) })
const VersionNotDraft = object({ id: anId, state: oneOf(versionStates), draftVersionId: anId })
const UsedByWorkflows = object({
  id: anId,
  workflows: Type.Array(object({ id: anId, name: like('Welcome banner') }), { minItems: 1 }),
})
const DatasourcesNotShared = object({
  id: anId,
  datasources: Type.Array(object({ id: anId, name: like('Products') }), { minItems: 1 }),
})

/** Workflows: codes 3000 to 3049. */
export const workflowErrors = {
  workflowNotFound: notFound(3000, 'There is no such workflow'),
  workflowVersionNotFound: notFound(3001, 'This workflow has no such version'),
  unknownWorkflow: invalid(3002, 'There is no such workflow in your company', UnknownWorkflow),
  workflowTransition: conflict(3003, 'The status of the workflow does not allow that', WorkflowTransition),
  workflowInvalid: conflict(3004, 'The version cannot be published as it is', WorkflowInvalid),
  versionNotDraft: conflict(
    3005,
    'Only a draft is changed and published: restore the version, which makes it the draft',
    VersionNotDraft,
  ),
  versionChanged: row(412)(3006, 'The version was saved meanwhile: read it again', SavedMeanwhile),
  versionConditionRequired: row(428)(
    3007,
    'Send the `ETag` of the version that you have read as the header `If-Match`',
    ById,
  ),
  tooManyWorkflows: full(3008, 5_000, 'workflows', 'archive'),
  usedByWorkflows: conflict(3009, 'A workflow uses this; change it there and publish first', UsedByWorkflows),
  datasourcesNotShared: conflict(
    3010,
    'The live version reads datasources that none of the teams has',
    DatasourcesNotShared,
  ),
}
