import { createSemaphore } from '../../../platform/limits/semaphore.ts'
import type { RunContext, RunQuery } from './evidence-runner.ts'

/**
 * The same queries, one at a time while many events arrive: each then has one thread of the engine, and so have the
 * generations of this process together. Companies take turns.
 */
export function serialWhileIngesting(runQuery: RunQuery, isIngesting: () => boolean): RunQuery {
  // Generations bound how many wait.
  const turns = createSemaphore(1, Number.POSITIVE_INFINITY)
  async function inOrder<T>({ companyId, signal }: RunContext, run: () => Promise<T>): Promise<T> {
    if (!isIngesting()) return run()
    const leave = await turns.acquire({ holders: [companyId], signal })
    try {
      return await run()
    } finally {
      leave()
    }
  }

  const { together } = runQuery
  const run: RunQuery = (query, context) => inOrder(context, () => runQuery(query, context))
  if (!together) return run
  return Object.assign(run, {
    together: (...asked: Parameters<typeof together>) => inOrder(asked[1], () => together(...asked)),
  })
}
