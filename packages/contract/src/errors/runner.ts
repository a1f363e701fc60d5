import { Type } from 'typebox'
import type { ErrorRow } from '../error-row.ts'
import { anId, Fault } from '../failure-data.ts'
import { strict } from '../resources/formats.ts'

/** Previews of workflows: codes 3500 to 3519. The runner itself answers no failure. */
export const runnerErrors = {
  unknownEntrypoint: {
    errorCode: 3500,
    status: 400,
    message: 'The version has no such entrypoint',
    data: Type.Object({ id: anId, entrypointId: Type.String({ examples: ['hero'] }) }, strict),
  },
  versionNotRunnable: {
    errorCode: 3501,
    status: 409,
    message: 'The version cannot run yet; its definition has faults',
    data: Type.Object({ id: anId, versionId: anId, errors: Type.Array(Fault, { minItems: 1 }) }, strict),
  },
} as const satisfies Record<string, ErrorRow>
