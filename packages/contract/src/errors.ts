import type { Static } from 'typebox'
import { accountErrors } from './errors/accounts.ts'
import { datasourceErrors } from './errors/datasources.ts'
import { generalErrors } from './errors/general.ts'
import { signInErrors } from './errors/sign-in.ts'
import { statisticErrors } from './errors/statistics.ts'
import { workflowSettingErrors } from './errors/workflow-settings.ts'
import { workflowErrors } from './errors/workflows.ts'

export type { ErrorRow } from './error-row.ts'

/**
 * Every failure that an operation can answer. Blocks: 1–99 general, 1000 datasources and collector,
 * 2000 accounts, sign-on and provisioning, 3000 workflows, 9000 statistics; the pair (errorCode, status)
 * is unique (docs/interface.md, Errors).
 */
export const errorTable = {
  ...generalErrors,
  ...datasourceErrors,
  ...signInErrors,
  ...accountErrors,
  ...workflowErrors,
  ...workflowSettingErrors,
  ...statisticErrors,
} as const

export type ErrorName = keyof typeof errorTable

/** Shape of `data` of one row. */
export type ErrorData<N extends ErrorName> = Static<(typeof errorTable)[N]['data']>

/** The same by name, for clients. */
export type ErrorDataByName = { readonly [N in ErrorName]: ErrorData<N> }
