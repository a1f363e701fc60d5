import { Type } from 'typebox'
import type { ErrorRow } from '../error-row.ts'
import { anId, ById } from '../failure-data.ts'
import { strict } from '../resources/formats.ts'

const ByLimit = Type.Object({ limit: Type.Integer({ examples: [1_000] }) }, strict)

/** Integrations of workflows, and what workflows share: codes 3050 to 3099. */
export const workflowSettingErrors = {
  integrationNotFound: {
    errorCode: 3050,
    status: 404,
    message: 'The workflow has no such integration',
    data: ById,
  },
  tooManyIntegrations: {
    errorCode: 3051,
    status: 409,
    message: 'The workflow has the most integrations that are possible: delete one first',
    data: ByLimit,
  },
  variableProfileNotFound: {
    errorCode: 3052,
    status: 404,
    message: 'There is no such variable profile',
    data: ById,
  },
  tooManyVariableProfiles: {
    errorCode: 3053,
    status: 409,
    message: 'Your company has the most variable profiles that are possible: delete one first',
    data: ByLimit,
  },
  branchCategoryNotFound: {
    errorCode: 3054,
    status: 404,
    message: 'There is no such branch category',
    data: ById,
  },
  tooManyBranchCategories: {
    errorCode: 3055,
    status: 409,
    message: 'Your company has the most branch categories that are possible: delete one first',
    data: ByLimit,
  },
  branchCategoryTooDeep: {
    errorCode: 3056,
    status: 409,
    message: 'The category, or one below it, would be on a level that there is not: choose a higher parent',
    data: ByLimit,
  },
  branchCategoryCycle: {
    errorCode: 3057,
    status: 409,
    message: 'A category cannot be below itself: choose a parent that is neither it nor below it',
    data: Type.Object({ id: anId, parentId: anId }, strict),
  },
  branchCategoryHasChildren: {
    errorCode: 3058,
    status: 409,
    message: 'The category has others below it: move them, or delete all of them with `recursive=true`',
    data: Type.Object(
      {
        id: anId,
        children: Type.Array(Type.Object({ id: anId, name: Type.String({ examples: ['Gold'] }) }, strict), {
          minItems: 1,
        }),
      },
      strict,
    ),
  },
  jsonTemplateNotFound: {
    errorCode: 3059,
    status: 404,
    message: 'There is no such JSON template',
    data: ById,
  },
  tooManyJsonTemplates: {
    errorCode: 3060,
    status: 409,
    message: 'Your company has the most JSON templates that are possible: delete one first',
    data: ByLimit,
  },
} as const satisfies Record<string, ErrorRow>
