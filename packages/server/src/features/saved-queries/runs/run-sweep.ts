import { Type } from 'typebox'
import { defineJob } from '../../../platform/jobs/job.ts'
import type { createRunStore } from './run-store.ts'

/** Every hour. */
export const savedQuerySweep = defineJob({
  name: 'saved-query-sweep',
  schema: Type.Object({}),
  retry: { limit: 2, delaySeconds: 60, maxDelaySeconds: 600 },
  isExclusive: true,
  cron: '41 * * * *',
})

const ledgerDays = 365

/** Deletes results whose 7 days have passed, and entries of the ledger after a year. */
export async function sweepRuns(
  store: Pick<ReturnType<typeof createRunStore>, 'sweepResults' | 'sweepRuns'>,
  signal?: AbortSignal,
): Promise<void> {
  while (!signal?.aborted && (await store.sweepResults()) > 0);
  while (!signal?.aborted && (await store.sweepRuns(ledgerDays)) > 0);
}
