import type { Query } from '@millrace/contract/resources/query.ts'
import type { StatisticsMeta } from '@millrace/contract/resources/statistics-meta.ts'
import { type Clock, systemClock } from '../../platform/clock.ts'
import { DomainError } from '../../platform/errors.ts'
import type { Columnar } from '../../platform/stores/columnar.ts'
import { type CompiledQuery, compileQuery } from './query/compile.ts'
import { createQueryGate, type QueryGate } from './query/gate.ts'
import { parseQuery } from './query/parse.ts'
import { planQuery } from './query/plan.ts'
import { defaultRunLimits, type RunLimits, runCompiled } from './query/run.ts'
import { createResultWriter, type ResultFormat } from './query/shape.ts'
import { openZone, type Zone } from './query/zone.ts'
import { describeStatistics } from './statistics-meta.ts'
import type { StatisticsStore } from './statistics-store.ts'

/** What statistics need to know of a company. */
export interface StatisticsSettings {
  /** IANA name of the time zone in which dates are read and buckets begin. */
  readonly timezone: string
}

export interface StatisticsDependencies {
  readonly columnar: Columnar
  readonly store: StatisticsStore
  readonly readSettings: (companyId: string) => Promise<StatisticsSettings>
  readonly clock?: Clock
  readonly gate?: QueryGate
  readonly limits?: RunLimits
  /** Told of every query that came to its end, with the seconds from its question to its last piece. */
  readonly onAnswered?: (outcome: QueryOutcome, seconds: number) => void
}

/** `refused` is any failure that the caller can mend; `cancelled` a caller who left. */
export type QueryOutcome = 'ok' | 'refused' | 'timeout' | 'cancelled' | 'failed'

export interface QueryRequest {
  readonly query: Query
  readonly companyId: string
  readonly format: ResultFormat
  /** Ends the query, in the engine too. */
  readonly signal?: AbortSignal
}

export interface StatisticsService {
  /**
   * Answers a query as text, piece by piece. The query has its place among those of the company from the first
   * piece until the last, or until the generator is ended.
   * @throws {DomainError} `unknownMember`, `incompatibleMembers`, `virtualMeasureFilter`, `invalidQuery`,
   *   `tooComplex`, `tooManyRequests`, `timeout`, `unavailable`
   */
  answer(request: QueryRequest): AsyncGenerator<string>
  /** Measures and dimensions, labels included (interface.md, Statistics metadata). */
  describe(companyId: string): Promise<StatisticsMeta>
}

/** Milliseconds for which the labels of a company are not looked for again. */
const labelsFreshFor = 10_000
/** Companies whose labels are remembered. */
const rememberedCompanies = 1_000

export function createStatisticsService(dependencies: StatisticsDependencies): StatisticsService {
  const { columnar, store, readSettings } = dependencies
  const {
    clock = systemClock,
    gate = createQueryGate(),
    limits = defaultRunLimits,
    onAnswered,
  } = dependencies
  const described = new Map<string, { readonly at: number; readonly meta: Promise<StatisticsMeta> }>()

  async function prepare({
    query,
    companyId,
  }: QueryRequest): Promise<{ compiled: CompiledQuery; zone: Zone }> {
    const { timezone } = await readSettings(companyId)
    const zone = openZone(timezone)
    const parsed = parseQuery(query, { instant: clock.now(), zone })
    return { compiled: compileQuery(planQuery(parsed), companyId), zone }
  }

  async function* run(request: QueryRequest): AsyncGenerator<string> {
    const { compiled, zone } = await prepare(request)
    const writer = createResultWriter(request.format, compiled, zone)
    const leave = await gate.enter(request.companyId, request.signal)
    try {
      let begun = false
      for await (const rows of runCompiled(columnar, compiled, limits, request.signal)) {
        yield begun ? writer.rows(rows) : writer.begin() + writer.rows(rows)
        begun = true
      }
      yield begun ? writer.end() : writer.begin() + writer.end()
    } finally {
      leave()
    }
  }

  return {
    async *answer(request) {
      const asked = performance.now()
      // A consumer who stops reading ends the generator without an error.
      let outcome: QueryOutcome = 'cancelled'
      try {
        yield* run(request)
        outcome = 'ok'
      } catch (error) {
        outcome = outcomeOf(error, request.signal)
        throw error
      } finally {
        onAnswered?.(outcome, (performance.now() - asked) / 1000)
      }
    },

    describe(companyId) {
      const known = described.get(companyId)
      if (known && clock.now() - known.at < labelsFreshFor) return known.meta
      const meta = store.listLabels(companyId).then(describeStatistics)
      described.delete(companyId)
      const [oldest] = described.keys()
      if (described.size >= rememberedCompanies && oldest !== undefined) described.delete(oldest)
      described.set(companyId, { at: clock.now(), meta })
      meta.catch(() => {
        if (described.get(companyId)?.meta === meta) described.delete(companyId)
      })
      return meta
    },
  }
}

function outcomeOf(error: unknown, signal: AbortSignal | undefined): QueryOutcome {
  if (signal?.aborted) return 'cancelled'
  if (!(error instanceof DomainError)) return 'failed'
  if (error.errorName === 'timeout') return 'timeout'
  return error.status < 500 ? 'refused' : 'failed'
}
