import { DomainError } from '../../../platform/errors.ts'
import {
  type Columnar,
  ColumnarError,
  ColumnarTimeout,
  type Statement,
} from '../../../platform/stores/columnar.ts'
import { unboundedResult } from '../../../platform/stores/columnar-settings.ts'
import type { CompiledQuery } from './compile/compile.ts'

/** A cell as the engine's JSON gives it; 64-bit integers and decimals are texts, so that no digit is lost. */
export type EngineCell = string | number | boolean | null

export interface RunLimits {
  readonly seconds: number
  readonly memoryBytes: number
  /** Whether the result may have any number of rows and bytes, beyond what the store gives at once otherwise. */
  readonly isUnbounded?: boolean
  /** Threads of one query, asked for at its start; the engine's own choice where undefined. */
  readonly threads?: () => number | undefined
}

export const defaultRunLimits: RunLimits = { seconds: 30, memoryBytes: 2 * 1024 ** 3 }

/** Beyond the engine's own limit; then a statement that it did not end is abandoned. */
const graceSeconds = 2

const format = 'JSONCompactEachRow'

/**
 * Runs a statement and yields its rows as they arrive.
 * @throws {DomainError} `timeout`, `tooComplex` or `unavailable`; the signal's reason when it is aborted
 */
export async function* runCompiled(
  columnar: Columnar,
  compiled: Pick<CompiledQuery, 'sql' | 'params'>,
  limits: RunLimits,
  signal?: AbortSignal,
): AsyncGenerator<readonly EngineCell[][]> {
  const late = AbortSignal.timeout((limits.seconds + graceSeconds) * 1000)
  try {
    const stream = await columnar.stream({
      ...statementOf(compiled, limits),
      format,
      signal: signal ? AbortSignal.any([signal, late]) : late,
    })
    stream.setEncoding('utf8')
    let rest = ''
    for await (const chunk of stream as AsyncIterable<string>) {
      const end = chunk.lastIndexOf('\n')
      if (end < 0) rest += chunk
      else {
        yield readRows(rest + chunk.slice(0, end))
        rest = chunk.slice(end + 1)
      }
    }
    if (rest.trim() !== '') yield readRows(rest)
  } catch (error) {
    if (late.aborted && !signal?.aborted) throw timeoutError(limits, error)
    throw toQueryError(error, limits)
  }
}

/** A statement of a query with what it may use. */
export function statementOf(
  { sql, params }: Pick<CompiledQuery, 'sql' | 'params'>,
  { seconds, memoryBytes, isUnbounded = false, threads }: RunLimits,
): Statement {
  const maxThreads = threads?.()
  return {
    sql,
    params,
    readonly: true,
    settings: {
      max_execution_time: seconds,
      max_memory_usage: memoryBytes,
      ...(maxThreads === undefined ? {} : { max_threads: maxThreads }),
      ...(isUnbounded && unboundedResult),
      // What does not fit into memory is grouped and sorted on disk.
      max_bytes_before_external_group_by: Math.floor(memoryBytes / 4),
      max_bytes_before_external_sort: Math.floor(memoryBytes / 4),
      // Weeks and months that begin before 1970 are not clamped.
      enable_extended_results_for_datetime_functions: 1,
      output_format_json_quote_64bit_integers: 1,
      output_format_json_quote_decimals: 1,
    },
  }
}

/** All rows of a statement that has few. */
export async function rowsOfCompiled(
  ...statement: Parameters<typeof runCompiled>
): Promise<readonly EngineCell[][]> {
  const all: EngineCell[][] = []
  for await (const rows of runCompiled(...statement)) all.push(...rows)
  return all
}

/** Rows of lines of JSON arrays; a line feed inside a text is escaped there, so that each one ends a row. */
function readRows(lines: string): EngineCell[][] {
  return JSON.parse(`[${lines.replaceAll('\n', ',')}]`)
}

/** ClickHouse's error codes for a query that needs too much. */
const tooMuch = new Map([
  [158, 'rows'],
  [168, 'conditions'],
  [191, 'values'],
  [241, 'memory'],
  [307, 'bytes'],
  // Thrown by a statement that fills buckets.
  [395, 'rows'],
  [396, 'rows or bytes'],
])

/** 160: the engine estimates that the statement cannot end in time. */
const tooSlow = 160

function timeoutError({ seconds }: RunLimits, cause: unknown): DomainError {
  return new DomainError(
    'timeout',
    { limitSeconds: seconds },
    {
      message: `The query took longer than ${seconds} seconds and was stopped: shorten its dateRange or group it by less`,
      cause,
    },
  )
}

function toQueryError(error: unknown, limits: RunLimits): unknown {
  if (error instanceof ColumnarTimeout) return timeoutError(limits, error)
  if (!(error instanceof ColumnarError)) return error
  if (error.code === tooSlow) return timeoutError(limits, error)
  const limit = tooMuch.get(error.code)
  if (limit === undefined) return error
  return new DomainError(
    'tooComplex',
    { limit },
    {
      message: `The query needs more ${limit} than it may use: shorten its dateRange, filter, or group it by less`,
      cause: error,
    },
  )
}
