export type { Warning } from '@millrace/contract/envelope.ts'

import type { ErrorDataByName } from '@millrace/contract/errors.ts'

export type { Fault } from '@millrace/contract/failure-data.ts'
export type { OperationTypes } from '@millrace/contract/operation-types.ts'
export type { Query } from '@millrace/contract/resources/query.ts'

/** Name of a failure in the error table. */
export type ErrorName = keyof ErrorDataByName

/** `data` of one row of the error table. */
export type ErrorData<Name extends ErrorName> = ErrorDataByName[Name]
