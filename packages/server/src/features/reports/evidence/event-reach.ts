import type { RunQuery } from './evidence-runner.ts'

/** Whether a company has events from before an instant, in milliseconds since 1970. */
export function createEventReach(runQuery: RunQuery) {
  return async (companyId: string, instant: number, signal: AbortSignal): Promise<boolean> => {
    const { rows, state } = await runQuery(
      {
        measures: ['events.count'],
        dimensions: [],
        filters: [],
        timeDimensions: [{ dimension: 'events.time', dateRange: [null, new Date(instant).toISOString()] }],
      },
      // A number names nothing.
      { companyId, readerId: null, signal },
    )
    return state !== 'failure' && Number(rows[0]?.['events.count']?.value ?? 0) > 0
  }
}
