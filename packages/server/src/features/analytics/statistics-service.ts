import type { Readable } from 'node:stream'
import { setImmediate as yieldToOthers } from 'node:timers/promises'
import type { Warning } from '@millrace/contract/envelope.ts'
import type { Query } from '@millrace/contract/resources/query.ts'
import type { QueryExplanation } from '@millrace/contract/resources/query-explanation.ts'
import type { StatisticsMeta } from '@millrace/contract/resources/statistics-meta.ts'
import type { Clock } from '../../platform/clock.ts'
import { DomainError } from '../../platform/errors.ts'
import type { Columnar } from '../../platform/stores/columnar.ts'
import {
  answerKeyOf,
  bytesOf,
  createAnswerCache,
  isKept,
  isOfQuery,
  type KeptAnswer,
  maxKeptBytes,
} from './answer-cache.ts'
import { type BulkFormat, openBulkRows } from './bulk-rows.ts'
import type { ReadCohorts } from './cohorts/cohort-reader.ts'
import { createCompanyLabels } from './company-labels.ts'
import type { DefinitionReader } from './definitions/definition-reader.ts'
import type { Reader, ReadVisibleWorkflows } from './definitions/visible-workflows-store.ts'
import { type ValuesAsked, valuesQuery } from './dimension-values.ts'
import { explainPlan, freshnessOf, newestEvents, statementOf } from './explain-query.ts'
import { createGatheredAnswers } from './gathered-answers.ts'
import type { CompiledQuery } from './query/compile/compile.ts'
import type { QueryLimiter } from './query/query-limiter.ts'
import { createResultWriter, type ResultFormat } from './query/result-writer.ts'
import { createRowLimit } from './query/row-limit.ts'
import { type RunLimits, rowsOfCompiled, runCompiled } from './query/run.ts'
import { openZone } from './query/time/zone.ts'
import { questionOf } from './query-question.ts'
import type { AskedSettings, Prepared, Question, StatisticsSettings } from './question.ts'
import { createRunTogether, createSharedAnswers } from './shared-answers.ts'
import type { StatisticsStore } from './statistics-store.ts'

export interface StatisticsDependencies {
  readonly columnar: Columnar
  readonly store: StatisticsStore
  readonly readSettings: (companyId: string) => Promise<StatisticsSettings>
  readonly readVisibleWorkflows: ReadVisibleWorkflows
  readonly readCohorts: ReadCohorts
  readonly definitions: DefinitionReader
  readonly clock: Clock
  /** For ages; default the clock. */
  readonly steadyClock?: Clock
  readonly limiter: QueryLimiter
  readonly limits: RunLimits
  /** Called at the end of every query, with the seconds from its start to its last piece. */
  readonly onAnswered: (outcome: QueryOutcome, seconds: number) => void
}

/** `refused` is any failure that the client can correct; `cancelled` a client that disconnected. */
export type QueryOutcome = 'ok' | 'refused' | 'timeout' | 'cancelled' | 'failed'

export interface AnswerRequest {
  readonly companyId: string
  /** Who asks: the users of a company take turns. */
  readonly userId?: string
  /** Whose teams decide which workflows the answer names: null where that user is no more. */
  readonly readerId: string | null
  readonly format: ResultFormat
  /** Sent row by row, so that the number of rows has no bound unless the query gives one. */
  readonly streamed?: boolean
  /** The instant that relative ranges are read as of, in milliseconds since 1970; the present when absent. */
  readonly at?: number
  /** Ends the query, in the engine too. */
  readonly signal?: AbortSignal
}

export interface QueryRequest extends AnswerRequest {
  readonly query: Query
}

export interface ExplorationRequest extends AnswerRequest {
  readonly question: Question
}

/** An answer as text, piece by piece. */
export interface Answer {
  readonly pieces: AsyncGenerator<string>
  /** Complete once `pieces` has ended; the warnings about labels are present from the first piece on. */
  readonly warnings: readonly Warning[]
  /** The number of rows without limit and offset, where it was asked for, once `pieces` has ended. */
  total(): number | undefined
}

export interface DimensionValue {
  readonly value: string
  readonly count: number
}

type BulkRequest = Omit<QueryRequest, 'format' | 'streamed' | 'signal'> & {
  readonly format: BulkFormat
  readonly signal: AbortSignal
}
type ValuesRequest = Omit<AnswerRequest, 'format'> & ValuesAsked
type ExplainRequest = Omit<QueryRequest, 'format'> & { readonly showsStatement: boolean }

export type StatisticsService = ReturnType<typeof createStatisticsService>

/** Milliseconds of work on rows after which other requests are served. */
const turnMs = 4

/** What an answer says beside its rows. */
interface AnswerNotes {
  readonly warnings: Warning[]
  total?: number
}

export function createStatisticsService(dependencies: StatisticsDependencies) {
  const { columnar, store, readSettings, readVisibleWorkflows, readCohorts, definitions } = dependencies
  const { clock, steadyClock = clock, limiter, limits, onAnswered } = dependencies
  const labels = createCompanyLabels({ store, definitions, clock: steadyClock })
  const cache = createAnswerCache({ clock: steadyClock })
  const runTogether = createRunTogether({
    columnar,
    limits,
    warnOfLabels: (query, companyId) => labels.warnInTime(companyId, questionOf(query).labels),
  })
  const gathered = createGatheredAnswers({ limiter, runTogether })

  async function settingsOf(reader: Reader): Promise<AskedSettings> {
    const [settings, visibleWorkflows] = await Promise.all([
      readSettings(reader.companyId),
      readVisibleWorkflows(reader),
    ])
    return { ...settings, visibleWorkflows }
  }

  async function prepare<P extends Prepared>({
    question,
    companyId,
    readerId,
    at = clock.now(),
    streamed = false,
  }: Pick<AnswerRequest, 'companyId' | 'readerId' | 'at' | 'streamed'> & {
    readonly question: Question<P>
  }): Promise<P> {
    const settings = await settingsOf({ companyId, readerId })
    const now = { instant: at, zone: openZone(settings.timezone) }
    const cohorts = await readCohorts(companyId, question.body, now)
    const found = await definitions.read(companyId, question.lookups ?? [], settings.visibleWorkflows)
    return question.prepare({
      companyId,
      instant: now.instant,
      streamed,
      settings,
      cohorts,
      definitions: found,
    })
  }

  async function count(compiled: CompiledQuery, sql: string, signal?: AbortSignal): Promise<number> {
    for await (const [row] of runCompiled(columnar, { ...compiled, sql }, limits, signal))
      return Number(row?.[0])
    return 0
  }

  /** An answer of the cache, or one that is computed and kept for those who ask the same. */
  async function* run(request: ExplorationRequest, notes: AnswerNotes): AsyncGenerator<string> {
    // A streamed answer has any length, and one that is not known to be of the present is not kept. Those of another
    // instant are for runs: an attempt must not wait for the one that it stands in for.
    const isShared = !request.streamed && request.at === undefined
    const [prepared, version] = await Promise.all([
      prepare(request),
      isShared ? store.readVersion().catch(() => undefined) : undefined,
    ])
    if (version === undefined) {
      yield* compute(request, prepared, notes)
      return
    }
    const found = await cache.find(answerKeyOf(request, prepared, version), request.signal)
    if (isKept(found)) {
      copyNotes(notes, found)
      yield found.text
      return
    }
    const kept: string[] = []
    let bytes = 0
    let answer: KeptAnswer | undefined
    let failure: unknown
    try {
      for await (const piece of computeWithOthers(request, prepared, notes)) {
        bytes += bytesOf(piece)
        if (bytes <= maxKeptBytes) kept.push(piece)
        else found.end()
        yield piece
      }
      if (bytes <= maxKeptBytes) {
        const { warnings, total } = notes
        answer = { text: kept.join(''), warnings: [...warnings], ...(total === undefined ? {} : { total }) }
      }
    } catch (error) {
      if (isOfQuery(error) && !request.signal?.aborted) failure = error
      throw error
    } finally {
      found.end(answer, failure)
    }
  }

  /** What others who ask at this moment can share is computed once for all of them. */
  async function* computeWithOthers(
    request: ExplorationRequest,
    prepared: Prepared,
    notes: AnswerNotes,
  ): AsyncGenerator<string> {
    const { together } = prepared
    const outcome =
      together && request.format === 'json' ? await gathered.ask(together, request) : { leave: undefined }
    if ('leave' in outcome) {
      yield* compute(request, prepared, notes, outcome.leave)
      return
    }
    notes.warnings.push(...outcome.answer.warnings)
    yield outcome.answer.text
  }

  /** @param place that the query has already, and gives back */
  async function* compute(
    request: ExplorationRequest,
    { compiled, zone }: Prepared,
    notes: AnswerNotes,
    place?: () => void,
  ): AsyncGenerator<string> {
    const writer = createResultWriter(request.format, compiled, zone)
    const rowLimit = createRowLimit(compiled)
    const leave = place ?? (await limiter.enter(request.companyId, request.signal, request.userId))
    try {
      const ofLabels = labels.warnInTime(request.companyId, request.question.labels)
      let begun = false
      const begin = async () => {
        if (begun) return ''
        begun = true
        notes.warnings.push(...(await ofLabels))
        return writer.begin()
      }
      let turn = performance.now()
      for await (const rows of runCompiled(columnar, compiled, limits, request.signal)) {
        yield (await begin()) + writer.rows(rowLimit.keep(rows))
        if (performance.now() - turn < turnMs) continue
        await yieldToOthers()
        turn = performance.now()
      }
      const opening = await begin()
      notes.warnings.push(...rowLimit.warnings(), ...writer.warnings())
      if (compiled.countSql !== undefined) {
        notes.total = rowLimit.total() ?? (await count(compiled, compiled.countSql, request.signal))
      }
      yield opening + writer.end()
    } finally {
      leave()
    }
  }

  async function* observed(request: ExplorationRequest, notes: AnswerNotes): AsyncGenerator<string> {
    const asked = performance.now()
    // A consumer who stops reading ends the generator without an error.
    let outcome: QueryOutcome = 'cancelled'
    try {
      yield* run(request, notes)
      outcome = 'ok'
    } catch (error) {
      outcome = outcomeOf(error, request.signal)
      throw error
    } finally {
      onAnswered(outcome, (performance.now() - asked) / 1000)
    }
  }

  async function observe<T>(work: () => Promise<T>, signal?: AbortSignal): Promise<T> {
    const asked = performance.now()
    let outcome: QueryOutcome = 'ok'
    try {
      return await work()
    } catch (error) {
      outcome = outcomeOf(error, signal)
      throw error
    } finally {
      onAnswered(outcome, (performance.now() - asked) / 1000)
    }
  }

  /**
   * Answers an exploration as a query is answered, at the same places and within the same limits.
   * @throws {DomainError} as `answer`
   */
  function explore(request: ExplorationRequest): Answer {
    const notes: AnswerNotes = { warnings: [] }
    return { pieces: observed(request, notes), warnings: notes.warnings, total: () => notes.total }
  }

  /**
   * Answers a query. It holds one of the company's places from the first piece to the last, or until the generator is
   * ended.
   * @throws {DomainError} `unknownMember`, `incompatibleMembers`, `virtualMeasureFilter`, `invalidQuery`,
   *   `tooComplex`, `tooManyRequests`, `timeout`, `unavailable`
   */
  function answer({ query, ...request }: QueryRequest): Answer {
    return explore({ ...request, question: questionOf(query) })
  }

  return {
    answer,
    explore,

    /** Answers queries of one form in one statement, the others not at all (shared-answers.ts). */
    answerTogether: createSharedAnswers({
      ...dependencies,
      readSettings: settingsOf,
      observe,
      runTogether,
    }),

    /**
     * The most frequent values of a text dimension, of equal ones in the order of their bytes.
     * @throws {DomainError} as `answer`
     */
    async listValues({ member, contains, limit, ...request }: ValuesRequest): Promise<DimensionValue[]> {
      const { query, count } = valuesQuery({ member, contains, limit })
      const { pieces } = answer({ ...request, query, format: 'json' })
      let text = ''
      for await (const piece of pieces) text += piece
      const rows = JSON.parse(text) as Record<string, unknown>[]
      return rows.map((row) => ({ value: String(row[member]), count: Number(row[count]) }))
    },

    /**
     * The rows of a query for a file: without a bound of rows, within a quarter of an hour, at none of the company's places.
     * @throws {DomainError} as `answer`, but for `tooManyRequests`; the stream too
     */
    async openRows({ query, format, signal, ...request }: BulkRequest): Promise<Readable> {
      const prepared = await prepare({ ...request, streamed: true, question: questionOf(query) })
      return openBulkRows(columnar, prepared, format, limits, signal)
    },

    /**
     * Checks a query as if it were run, without running it.
     * @param streamed whether its rows would be streamed
     * @throws {DomainError} `unknownMember`, `incompatibleMembers`, `virtualMeasureFilter`, `invalidQuery`,
     *   `tooComplex`
     */
    async validate(query: Query, reader: Reader, streamed = false): Promise<void> {
      await prepare({ question: questionOf(query), streamed, ...reader })
    },

    /** The same for an exploration. */
    async validateQuestion(question: Question, reader: Reader): Promise<void> {
      await prepare({ question, ...reader })
    },

    /**
     * Says what a query asks, without running it.
     * @param showsStatement whether the statement is a part of it
     * @throws {DomainError} as `answer`
     */
    async explain({ query, showsStatement, ...request }: ExplainRequest): Promise<QueryExplanation> {
      const { companyId, userId, signal } = request
      return observe(async () => {
        const question = questionOf(query)
        const prepared = await prepare({ ...request, question })
        const leave = await limiter.enter(companyId, signal, userId)
        try {
          const [warnings, newest] = await Promise.all([
            labels.warnInTime(companyId, question.labels),
            rowsOfCompiled(columnar, newestEvents(companyId), limits, signal),
          ])
          return {
            ...explainPlan(prepared),
            freshness: freshnessOf(prepared.instant, newest),
            warnings,
            ...(showsStatement && { statement: statementOf(prepared.compiled) }),
          }
        } finally {
          leave()
        }
      }, signal)
    },

    /** Measures and dimensions, labels included (docs/interface.md, Statistics metadata). */
    async describe(companyId: string): Promise<StatisticsMeta> {
      const { exactCounts } = await readSettings(companyId)
      return labels.describe(companyId, exactCounts)
    },
  }
}

function copyNotes(notes: AnswerNotes, { warnings, total }: KeptAnswer): void {
  notes.warnings.push(...warnings)
  if (total !== undefined) notes.total = total
}

function outcomeOf(error: unknown, signal: AbortSignal | undefined): QueryOutcome {
  if (signal?.aborted) return 'cancelled'
  if (!(error instanceof DomainError)) return 'failed'
  if (error.errorName === 'timeout') return 'timeout'
  return error.status < 500 ? 'refused' : 'failed'
}
