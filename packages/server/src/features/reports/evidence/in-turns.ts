import { createSemaphore } from '../../../platform/limits/semaphore.ts'
import type { RunQuery } from './evidence-runner.ts'

/**
 * The same queries, one at a time while many events arrive: each then has one thread of the engine, and so have the
 * generations of this process together. Companies take turns.
 */
export function inTurns(runQuery: RunQuery, isIngesting: () => boolean): RunQuery {
  // Generations bound how many wait.
  const turns = createSemaphore(1, Number.POSITIVE_INFINITY)
  return async (query, context) => {
    if (!isIngesting()) return runQuery(query, context)
    const leave = await turns.acquire({ holders: [context.companyId], signal: context.signal })
    try {
      return await runQuery(query, context)
    } finally {
      leave()
    }
  }
}
