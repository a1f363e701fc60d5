import type { Evidence } from '@millrace/contract/resources/evidence.ts'
import type { Query } from '@millrace/contract/resources/query.ts'
import { createSemaphore } from '../../../../platform/limits/semaphore.ts'
import type { RunContext, RunQuery } from '../../evidence/evidence-runner.ts'
import { GenerationFailure, type GenerationRequest } from '../generation.ts'

/** Queries of one generation that run at the same time. */
const maxAtOnce = 2

export type EvidenceSource = ReturnType<typeof createEvidenceSource>

/** The evidence of one generation: each query is run once, and stored as soon as it is answered. */
export function createEvidenceSource(
  runQuery: RunQuery<Required<RunContext>>,
  request: Pick<GenerationRequest, 'companyId' | 'readerId' | 'signal' | 'onProgress' | 'kept' | 'keep'>,
  expectedQueries: number,
) {
  const { companyId, readerId, signal, onProgress, kept, keep } = request
  const known = new Map(
    kept.filter(({ state }) => state !== 'failure').map((each) => [keyOf(each.query), each]),
  )
  const asked = new Map<string, Promise<Evidence>>()
  /** By query, what one statement for several may give. */
  const shared = new Map<string, Promise<Evidence | undefined>>()
  const evidence: (Evidence | undefined)[] = []
  const failed: Evidence[] = []
  const usage = { queryCount: 0, rowCount: 0, payloadBytes: 0, agentTurns: 0 }
  // The queries of one analysis bound how many wait.
  const places = createSemaphore(maxAtOnce, Number.POSITIVE_INFINITY)
  let ended = 0
  let reported = 0

  async function answer(query: Query, key: string): Promise<Evidence> {
    const earlier = known.get(key)
    if (earlier) return earlier
    const ofOthers = await shared.get(key)
    const found = ofOthers ?? (await inPlace(() => runQuery(query, { companyId, readerId, signal })))
    usage.queryCount++
    usage.rowCount += found.rowCount
    usage.payloadBytes += found.payloadBytes
    await keep(found)
    return found
  }

  async function inPlace<T>(run: () => Promise<T>): Promise<T> {
    const leave = await places.acquire({ signal })
    try {
      signal.throwIfAborted()
      const found = await run()
      signal.throwIfAborted()
      return found
    } finally {
      leave()
    }
  }

  function share(queries: readonly Query[]): void {
    const { together } = runQuery
    const fresh = queries.filter((query) => !known.has(keyOf(query)) && !asked.has(keyOf(query)))
    if (!together || fresh.length < 2) return
    const found = inPlace(() => together(fresh, { companyId, readerId, signal }))
    for (const [i, query] of fresh.entries()) {
      shared.set(
        keyOf(query),
        found.then((all) => all[i]),
      )
    }
  }

  function tellProgress(): void {
    ended++
    // More may be asked than was expected: progress never goes back and never ends early.
    const fraction = Math.min(0.95, ended / Math.max(expectedQueries, asked.size))
    reported = Math.max(reported, fraction)
    onProgress(reported)
  }

  async function askOnce(query: Query, key: string, place: number): Promise<Evidence> {
    const found = await answer(query, key)
    evidence[place] = found
    if (found.state === 'failure') failed.push(found)
    tellProgress()
    return found
  }

  const present = () => evidence.filter((each) => each !== undefined)

  /**
   * The evidence of a query; undefined where it failed, which `failed` then lists.
   * @throws where the generation is cancelled or evidence cannot be stored
   */
  async function ask(query: Query): Promise<Evidence | undefined> {
    const key = keyOf(query)
    let found = asked.get(key)
    if (!found) {
      found = askOnce(query, key, evidence.length)
      evidence.push(undefined)
      asked.set(key, found)
    }
    const { state } = await found
    return state === 'failure' ? undefined : found
  }

  return {
    ask,
    /** The same of each of them; those that one statement answers are run as one. */
    askTogether(queries: readonly Query[]) {
      share(queries)
      return Promise.all(queries.map(ask))
    },
    /** In the order in which they were asked. */
    get evidence() {
      return present()
    },
    failed,
    usage,
    find: (id: string) => evidence.find((each) => each?.id === id),
    /** @throws {GenerationFailure} where queries were asked and none was answered */
    requireAny() {
      const [first] = failed
      if (!first || failed.length < present().length) return
      throw new GenerationFailure(
        first.failureCode ?? 'unavailable',
        first.failureMessage ?? 'every query failed',
      )
    },
  }
}

/** A query as text, whatever the order of its keys. */
function keyOf(value: unknown): string {
  return JSON.stringify(value, (_, inner: unknown) => {
    if (typeof inner !== 'object' || inner === null || Array.isArray(inner)) return inner
    return Object.fromEntries(Object.entries(inner).sort(([a], [b]) => (a < b ? -1 : 1)))
  })
}
