import { Type } from 'typebox'
import { conflict, full, invalid, limitOf, notFound } from '../error-row.ts'
import { anId, Fault } from '../failure-data.ts'
import { like, object } from '../resources/formats.ts'

const BranchCategoryCycle = object({ id: anId, parentId: anId })
const BranchCategoryHasChildren = object({
  id: anId,
  children: Type.Array(object({ id: anId, name: like('Gold') }), { minItems: 1 }),
})
const UnknownEntrypoint = object({ id: anId, entrypointId: like('hero') })
const VersionNotRunnable = object({ id: anId, versionId: anId, errors: Type.Array(Fault, { minItems: 1 }) })

/**
 * Integrations of workflows, and what workflows share: codes 3050 to 3099; previews of workflows from 3500 on. The runner
 * itself answers no failure.
 */
export const workflowSettingErrors = {
  integrationNotFound: notFound(3050, 'The workflow has no such integration'),
  tooManyIntegrations: conflict(
    3051,
    'The workflow has the most integrations that are possible: delete one first',
    limitOf(1_000),
  ),
  variableProfileNotFound: notFound(3052, 'There is no such variable profile'),
  tooManyVariableProfiles: full(3053, 1_000, 'variable profiles'),
  branchCategoryNotFound: notFound(3054, 'There is no such branch category'),
  tooManyBranchCategories: full(3055, 1_000, 'branch categories'),
  branchCategoryTooDeep: conflict(
    3056,
    'The category, or one below it, would be on a level that there is not: choose a higher parent',
    limitOf(1_000),
  ),
  branchCategoryCycle: conflict(
    3057,
    'A category cannot be below itself: choose a parent that is neither it nor below it',
    BranchCategoryCycle,
  ),
  branchCategoryHasChildren: conflict(
    3058,
    'The category has others below it: move them, or delete all of them with `recursive=true`',
    BranchCategoryHasChildren,
  ),
  jsonTemplateNotFound: notFound(3059, 'There is no such JSON template'),
  tooManyJsonTemplates: full(3060, 1_000, 'JSON templates'),
  unknownEntrypoint: invalid(3500, 'The version has no such entrypoint', UnknownEntrypoint),
  versionNotRunnable: conflict(
    3501,
    'The version cannot run yet; its definition has faults',
    VersionNotRunnable,
  ),
}
