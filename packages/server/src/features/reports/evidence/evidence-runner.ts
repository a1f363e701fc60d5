import { setTimeout as sleep } from 'node:timers/promises'
import type { Cell, Evidence } from '@millrace/contract/resources/evidence.ts'
import { idPattern } from '@millrace/contract/resources/formats.ts'
import type { BinaryFilter, Filter, Query } from '@millrace/contract/resources/query.ts'
import type { Clock } from '../../../platform/clock.ts'
import { DomainError } from '../../../platform/errors.ts'
import { newId } from '../../../platform/ids.ts'
import type { AnswerTogether } from '../../analytics/shared-answers.ts'
import type { Answer, QueryRequest } from '../../analytics/statistics-service.ts'
import type { TimeRules } from '../../questions/time-rules.ts'
import { pinQuery } from './pin-query.ts'
import { type Row, resultHash } from './result-hash.ts'

export interface EvidenceRunnerDependencies {
  readonly answer: (request: QueryRequest) => Pick<Answer, 'pieces' | 'warnings'>
  readonly answerTogether: AnswerTogether
  readonly readSettings: (companyId: string) => Promise<{ readonly timezone: string }>
  readonly time: TimeRules
  readonly clock: Clock
}

/**
 * Runs a query for a report. A query that fails is evidence too, of state `failure`.
 * @throws only what the signal aborts with
 */
export interface RunQuery<Context = RunContext> {
  (query: Query, context: Context): Promise<Evidence>
  /**
   * Runs those of the queries that one statement answers; in the place of every other, and of all where it fails, is
   * nothing. Each gives the evidence that it would give by itself.
   */
  readonly together?: (
    queries: readonly Query[],
    context: Context,
  ) => Promise<readonly (Evidence | undefined)[]>
}

export interface RunContext {
  readonly companyId: string
  /** Whose teams decide which workflows the answer names. */
  readonly readerId: string | null
  readonly signal?: AbortSignal
}

/** Rows of a result that evidence holds, and their bytes of JSON. */
const embeddedRows = 500
const embeddedBytes = 256 * 1024
/** Of a whole result, which is in memory while it is hashed. */
const maxResultBytes = 32 * 1024 * 1024
/** While the company asks more than it may, a query waits so often and so many seconds at most. */
const busyTries = 5
const busySeconds = 5

/** Runs queries as evidence: with absolute dates, bounded rows and the hash of the whole result. */
export function createEvidenceRunner({
  answer,
  answerTogether,
  readSettings,
  time,
  clock,
}: EvidenceRunnerDependencies): RunQuery {
  async function read(request: QueryRequest): Promise<{ text: string; warnings: string[] }> {
    const answered = answer(request)
    const pieces: string[] = []
    let length = 0
    for await (const piece of answered.pieces) {
      length += piece.length
      if (length > maxResultBytes)
        throw new DomainError('resultTooLarge', { limit: maxResultBytes, unit: 'bytes' })
      pieces.push(piece)
    }
    return { text: pieces.join(''), warnings: answered.warnings.map(({ message }) => message) }
  }

  /** The places of the company are shared with its users, so a query may have to wait for one. */
  async function readPatiently(request: QueryRequest): ReturnType<typeof read> {
    for (let tries = 1; ; tries++) {
      try {
        return await read(request)
      } catch (error) {
        const isBusy = error instanceof DomainError && error.errorName === 'tooManyRequests'
        if (!isBusy || tries === busyTries) throw error
        const seconds = Math.min(busySeconds, error.retryAfterSeconds ?? busySeconds)
        await sleep(seconds * 1000, undefined, request.signal && { signal: request.signal })
      }
    }
  }

  const baseOf = (query: Query, at: number) => ({
    id: newId(),
    query,
    sources: [{ service: 'statistics' as const, queryLayer: 'cube' as const, members: membersOf(query) }],
    executedAt: new Date(at).toISOString(),
    operationId: 'runQuery',
  })
  const endOf = (begun: number) => ({
    freshness: { capturedAt: new Date(clock.now()).toISOString() },
    durationMs: Math.round(performance.now() - begun),
  })

  /** The queries with absolute dates as of now, and when they began. */
  async function begin(asked: readonly Query[], { companyId, signal }: RunContext) {
    signal?.throwIfAborted()
    const at = clock.now()
    const zone = time.openZone((await readSettings(companyId)).timezone)
    const queries = asked.map((each) => pinQuery(each, at, zone, time))
    return { at, queries, begun: performance.now() }
  }

  async function run(asked: Query, context: RunContext): Promise<Evidence> {
    const { at, queries, begun } = await begin([asked], context)
    const [query = asked] = queries
    const base = baseOf(query, at)
    try {
      const { text, warnings } = await readPatiently({ ...context, query, format: 'json', at })
      return { ...base, ...endOf(begun), ...resultOf(text, warnings) }
    } catch (error) {
      if (context.signal?.aborted) throw error
      const none = { rowCount: 0, embeddedRowCount: 0, payloadBytes: 0, resultHash: '' }
      return { ...base, ...endOf(begun), ...none, rows: [], state: 'failure', ...failureOf(error) }
    }
  }

  async function together(asked: readonly Query[], context: RunContext) {
    const { at, queries, begun } = await begin(asked, context)
    try {
      const answers = await answerTogether({ ...context, queries, at })
      return queries.map((query, i) => {
        const { text, warnings } = answers[i] ?? {}
        if (text === undefined || text.length > maxResultBytes) return undefined
        const messages = warnings?.map(({ message }) => message) ?? []
        return { ...baseOf(query, at), ...endOf(begun), ...resultOf(text, messages) }
      })
    } catch (error) {
      if (context.signal?.aborted) throw error
      // Each by itself may need less, and shows which one fails.
      return queries.map(() => undefined)
    }
  }

  return Object.assign(run, { together })
}

/** What evidence holds of an answer. */
function resultOf(text: string, messages: readonly string[]) {
  const rows = JSON.parse(text) as Row[]
  const embedded = embeddedOf(rows)
  const cut =
    embedded.length < rows.length ? [`the first ${embedded.length} of ${rows.length} rows are kept`] : []
  const warnings = [...messages, ...cut]
  return {
    rows: embedded.map((row) =>
      Object.fromEntries(Object.entries(row).map(([column, value]) => [column, cellOf(column, value)])),
    ),
    state: warnings.length > 0 ? ('warning' as const) : ('success' as const),
    rowCount: rows.length,
    embeddedRowCount: embedded.length,
    payloadBytes: Buffer.byteLength(text),
    resultHash: resultHash(rows),
    ...(warnings.length > 0 && { warning: warnings.join('; ') }),
  }
}

const idForm = new RegExp(idPattern)

/** A cell, with the address of the object that it names: events name workflows by any text. */
function cellOf(column: string, value: Cell['value']): Cell {
  const isObject = column === 'workflows.id' && typeof value === 'string' && idForm.test(value)
  return isObject ? { value, metadata: { link: `/v2/workflows/${value.toLowerCase()}` } } : { value }
}

/** What users may know: failures inside the service are in its log. */
function failureOf(error: unknown): Pick<Evidence, 'failureCode' | 'failureMessage'> {
  if (error instanceof DomainError) return { failureCode: error.errorName, failureMessage: error.message }
  return { failureCode: 'internal', failureMessage: 'the service had a failure of its own' }
}

function embeddedOf(rows: readonly Row[]): readonly Row[] {
  const first = rows.slice(0, embeddedRows)
  let bytes = 0
  const end = first.findIndex((row) => {
    bytes += JSON.stringify(row).length
    return bytes > embeddedBytes
  })
  return end === -1 ? first : first.slice(0, end)
}

const isOne = (filter: Filter): filter is BinaryFilter => 'operator' in filter

function membersOf({ measures, dimensions, filters, timeDimensions }: Query): string[] {
  const ofFilter = (filter: Filter): string[] =>
    isOne(filter)
      ? [filter.member ?? filter.dimension ?? '']
      : [...(filter.and ?? []), ...(filter.or ?? [])].flatMap(ofFilter)
  const all = [
    ...measures,
    ...dimensions,
    ...timeDimensions.map(({ dimension }) => dimension),
    ...filters.flatMap(ofFilter),
  ]
  return [...new Set(all)].filter((member) => member !== '').sort()
}
