import { Type } from 'typebox'
import type { ErrorRow } from '../error-row.ts'
import { anId, ById, SavedMeanwhile } from '../failure-data.ts'
import { oneOf, strict } from '../resources/formats.ts'
import { workflowActions, workflowStatuses } from '../resources/workflow.ts'
import { DefinitionFault } from '../resources/workflow-definition.ts'
import { versionStates } from '../resources/workflow-version.ts'

/** Workflows: codes 3000 to 3999. */
export const workflowErrors = {
  workflowNotFound: { errorCode: 3000, status: 404, message: 'There is no such workflow', data: ById },
  workflowVersionNotFound: {
    errorCode: 3001,
    status: 404,
    message: 'This workflow has no such version',
    data: ById,
  },
  unknownWorkflow: {
    errorCode: 3002,
    status: 400,
    message: 'There is no such workflow in your company',
    data: Type.Object({ workflowIds: Type.Array(anId, { minItems: 1 }) }, strict),
  },
  workflowTransition: {
    errorCode: 3003,
    status: 409,
    message: 'The status of the workflow does not allow that',
    data: Type.Object(
      {
        id: anId,
        action: oneOf([...workflowActions]),
        from: oneOf([...workflowStatuses]),
        allowed: Type.Array(oneOf([...workflowActions])),
      },
      strict,
    ),
  },
  workflowInvalid: {
    errorCode: 3004,
    status: 409,
    message: 'The version cannot be published as it is',
    data: Type.Object({ id: anId, faults: Type.Array(DefinitionFault, { minItems: 1 }) }, strict),
  },
  versionNotDraft: {
    errorCode: 3005,
    status: 409,
    message: 'Only a draft is changed and published: restore the version, which makes it the draft',
    data: Type.Object({ id: anId, state: oneOf([...versionStates]), draftVersionId: anId }, strict),
  },
  versionChanged: {
    errorCode: 3006,
    status: 412,
    message: 'The version was saved meanwhile: read it again',
    data: SavedMeanwhile,
  },
  versionConditionRequired: {
    errorCode: 3007,
    status: 428,
    message: 'Send the `ETag` of the version that you have read as the header `If-Match`',
    data: ById,
  },
  tooManyWorkflows: {
    errorCode: 3008,
    status: 409,
    message: 'Your company has the most workflows that are possible: archive one first',
    data: Type.Object({ limit: Type.Integer({ examples: [5_000] }) }, strict),
  },
  usedByWorkflows: {
    errorCode: 3009,
    status: 409,
    message: 'A workflow uses this; change it there and publish first',
    data: Type.Object(
      {
        id: anId,
        workflows: Type.Array(
          Type.Object({ id: anId, name: Type.String({ examples: ['Welcome banner'] }) }, strict),
          { description: 'Those that you see: others of other teams may use it too' },
        ),
      },
      strict,
    ),
  },
  datasourcesNotShared: {
    errorCode: 3010,
    status: 409,
    message: 'The live version reads datasources that none of the teams has',
    data: Type.Object(
      {
        id: anId,
        datasources: Type.Array(
          Type.Object({ id: anId, name: Type.String({ examples: ['Products'] }) }, strict),
          { minItems: 1 },
        ),
      },
      strict,
    ),
  },
} as const satisfies Record<string, ErrorRow>
