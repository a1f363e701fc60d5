import type { ErrorName } from '@millrace/contract/errors.ts'
import { errorTable } from '@millrace/contract/errors.ts'
import type { Operation } from '@millrace/contract/operation.ts'
import { permissionRows } from './permission-rows.ts'
import type { MakeRefused, RefusalRows } from './refusal-row.ts'
import { accountRefusals } from './refusal-rows-accounts.ts'
import { analyticsSettingsRefusals } from './refusal-rows-analytics-settings.ts'
import { cohortRefusals } from './refusal-rows-cohorts.ts'
import { dashboardRefusals } from './refusal-rows-dashboards.ts'
import { datasourceRefusals } from './refusal-rows-datasources.ts'
import { experimentRefusals } from './refusal-rows-experiments.ts'
import { exportRefusals } from './refusal-rows-exports.ts'
import { ownAccountRefusals } from './refusal-rows-own-account.ts'
import { reportRefusals } from './refusal-rows-reports.ts'
import { signOnRefusals } from './refusal-rows-sign-on.ts'
import { workflowSettingRefusals } from './refusal-rows-workflow-settings.ts'
import { workflowRefusals } from './refusal-rows-workflows.ts'

export const refusalRows: RefusalRows = {
  ...accountRefusals,
  ...analyticsSettingsRefusals,
  ...cohortRefusals,
  ...dashboardRefusals,
  ...datasourceRefusals,
  ...experimentRefusals,
  ...exportRefusals,
  ...ownAccountRefusals,
  ...reportRefusals,
  ...signOnRefusals,
  ...workflowRefusals,
  ...workflowSettingRefusals,
}

const isAbsence = (error: ErrorName) => errorTable[error].status === 404

/**
 * How an operation comes to refuse for a reason: by its row, or by what the rows of permissions say of people who
 * may not and of those of another company.
 */
export function findRefusal(
  { id, permission }: Operation,
  error: ErrorName,
): MakeRefused | string | undefined {
  const own = refusalRows[id]?.[error]
  if (own) return own
  const row = permissionRows[id]
  if (!row) return undefined
  const further = row.further?.find(({ refusal }) => refusal === error)
  if (further)
    return async (world) => {
      const caller = await world.person(further.rights)
      return { caller, call: await further.call(world, caller) }
    }
  if (error === 'forbidden' && permission)
    return async (world) => {
      const caller = await world.person({ without: permission })
      return { caller, call: await row.call(world, caller) }
    }
  if (isAbsence(error) && row.stranger === 404)
    return async (world) => ({ caller: world.stranger, call: await row.call(world, world.stranger) })
  return undefined
}
