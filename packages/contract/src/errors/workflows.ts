import type { ErrorRow } from '../error-row.ts'
import { ById } from '../failure-data.ts'

/** Workflows: codes 3000 to 3999. */
export const workflowErrors = {
  workflowNotFound: { errorCode: 3000, status: 404, message: 'There is no such workflow', data: ById },
} as const satisfies Record<string, ErrorRow>
