import type { Evidence } from '@millrace/contract/resources/evidence.ts'
import type { Query } from '@millrace/contract/resources/query.ts'
import type { ReportUsage } from '@millrace/contract/resources/report.ts'
import { GenerationFailure, type GenerationRequest } from '../generation.ts'

export type RunQuery = (
  query: Query,
  options: { readonly companyId: string; readonly signal: AbortSignal },
) => Promise<Evidence>

/** Queries of one generation that run at the same time. */
const maxAtOnce = 2

/** The evidence of one generation: each query is run once, and stored as soon as it is answered. */
export interface EvidenceSource {
  /**
   * The evidence of a query; undefined where it failed, which `failed` then lists.
   * @throws where the generation is cancelled or evidence cannot be stored
   */
  ask(query: Query): Promise<Evidence | undefined>
  /** In the order in which they were asked. */
  readonly evidence: readonly Evidence[]
  readonly failed: readonly Evidence[]
  readonly usage: Omit<ReportUsage, 'durationMs'>
  find(id: string): Evidence | undefined
  /** @throws {GenerationFailure} where queries were asked and none was answered */
  requireAny(): void
}

export function createEvidenceSource(
  runQuery: RunQuery,
  request: Pick<GenerationRequest, 'companyId' | 'signal' | 'onProgress' | 'kept' | 'keep'>,
  expectedQueries: number,
): EvidenceSource {
  const { companyId, signal, onProgress, kept, keep } = request
  const known = new Map(
    kept.filter(({ state }) => state !== 'failure').map((each) => [keyOf(each.query), each]),
  )
  const asked = new Map<string, Promise<Evidence>>()
  const evidence: (Evidence | undefined)[] = []
  const failed: Evidence[] = []
  const usage = { queryCount: 0, rowCount: 0, payloadBytes: 0, agentTurns: 0 }
  const waiting: (() => void)[] = []
  let running = 0
  let ended = 0
  let told = 0

  async function enter(): Promise<void> {
    if (running >= maxAtOnce) await new Promise<void>((resolve) => waiting.push(resolve))
    else running++
  }

  /** The place goes to who waits, or is free. */
  function leave(): void {
    const next = waiting.shift()
    if (next) next()
    else running--
  }

  async function answer(query: Query, key: string): Promise<Evidence> {
    const earlier = known.get(key)
    if (earlier) return earlier
    await enter()
    try {
      signal.throwIfAborted()
      const found = await runQuery(query, { companyId, signal })
      signal.throwIfAborted()
      usage.queryCount++
      usage.rowCount += found.rowCount
      usage.payloadBytes += found.payloadBytes
      await keep(found)
      return found
    } finally {
      leave()
    }
  }

  function tellProgress(): void {
    ended++
    // More may be asked than was expected: progress never goes back and never ends early.
    const fraction = Math.min(0.95, ended / Math.max(expectedQueries, asked.size))
    told = Math.max(told, fraction)
    onProgress(told)
  }

  async function askOnce(query: Query, key: string, place: number): Promise<Evidence> {
    const found = await answer(query, key)
    evidence[place] = found
    if (found.state === 'failure') failed.push(found)
    tellProgress()
    return found
  }

  const present = () => evidence.filter((each) => each !== undefined)

  return {
    async ask(query) {
      const key = keyOf(query)
      let found = asked.get(key)
      if (!found) {
        found = askOnce(query, key, evidence.length)
        evidence.push(undefined)
        asked.set(key, found)
      }
      const { state } = await found
      return state === 'failure' ? undefined : found
    },
    get evidence() {
      return present()
    },
    failed,
    usage,
    find: (id) => evidence.find((each) => each?.id === id),
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
