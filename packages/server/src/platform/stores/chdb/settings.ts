import { EngineException } from './exceptions.ts'

/** What a statement may use at most; also what it gets when it asks for nothing (0 asks for the most). */
export interface Limits {
  readonly max_execution_time: Bound
  readonly max_memory_usage: Bound
  readonly max_result_rows: Bound
  readonly max_result_bytes: Bound
}

interface Bound {
  readonly usual: number
  /** Infinity where nothing bounds it. */
  readonly most: number
}

/** What reads all of its result before it answers, what sends it as it comes, and what writes. */
export type Kind = 'reading' | 'streaming' | 'writing'

const mebibyte = 1024 * 1024

/**
 * What reads is bounded tightly, what loads and migrates has time. A result that is sent as it comes takes no memory
 * however long it is, and as much time as its reader takes. Seconds, bytes, rows.
 */
export function limitsOf(kind: Kind, memoryBytes: number): Limits {
  const memory = Math.floor(memoryBytes * 0.8)
  if (kind === 'writing')
    return {
      max_execution_time: { usual: 600, most: 7200 },
      max_memory_usage: { usual: memory, most: memory },
      max_result_rows: { usual: 1_000_000, most: 10_000_000 },
      max_result_bytes: { usual: 256 * mebibyte, most: 1024 * mebibyte },
    }
  const isWhole = kind === 'reading'
  return {
    max_execution_time: { usual: 30, most: isWhole ? 600 : 7200 },
    max_memory_usage: { usual: Math.min(1024 * mebibyte, memory), most: memory },
    max_result_rows: { usual: 1_000_000, most: isWhole ? 10_000_000 : Number.POSITIVE_INFINITY },
    max_result_bytes: { usual: 512 * mebibyte, most: isWhole ? 4096 * mebibyte : Number.POSITIVE_INFINITY },
  }
}

/** Every connection begins with these: what a server would not have switched on, and room for long statements. */
const always: Readonly<Record<string, string>> = {
  implicit_select: '0',
  allow_introspection_functions: '0',
  max_query_size: String(16 * mebibyte),
  result_overflow_mode: 'throw',
  timeout_overflow_mode: 'throw',
  /** Otherwise the engine estimates a query from its first seconds, and kills it long before its time. */
  timeout_before_checking_execution_speed: '0',
}

/** Of the HTTP interface itself: without a meaning inside the engine, as on a server after the request is read. */
const ofTransport = new Set([
  'wait_end_of_query',
  'buffer_size',
  'default_format',
  'cancel_http_readonly_queries_on_client_close',
  'enable_http_compression',
  'send_progress_in_http_headers',
  'http_headers_progress_interval_ms',
  'http_response_buffer_size',
  'http_zlib_compression_level',
  'http_write_exception_in_output_format',
  'add_http_cors_header',
])

/** Kept for this process: they tell statements apart, or would take back what the lanes promise. */
const reserved = new Set(['log_comment', 'readonly', ...Object.keys(always)])

export interface StatementSettings {
  /** Arguments of the connection that runs the statement. */
  readonly arguments: readonly string[]
  /** Seconds after which the engine must have stopped it. */
  readonly seconds: number
}

/**
 * @param asked settings of the request, without those of the transport
 * @param known names of all settings of the engine
 * @throws {EngineException} a setting that does not exist or is not for clients, or a limit that is no number
 */
export function settingsFor(
  asked: ReadonlyMap<string, string>,
  kind: Kind,
  key: string,
  environment: { readonly known: ReadonlySet<string>; readonly memoryBytes: number },
): StatementSettings {
  const settings = new Map(Object.entries(always))
  for (const [name, value] of asked) {
    if (ofTransport.has(name)) continue
    if (reserved.has(name)) {
      if (name === 'readonly' || settings.get(name) === value) continue
      throw new EngineException('READONLY', `Cannot modify '${name}' setting: it is kept by the server.`)
    }
    if (!environment.known.has(name)) {
      throw new EngineException('UNKNOWN_SETTING', `Setting ${name} is neither a builtin setting nor known.`)
    }
    settings.set(name, value)
  }
  const limits = limitsOf(kind, environment.memoryBytes)
  for (const [name, bound] of Object.entries(limits) as [keyof Limits, Bound][]) {
    const value = bounded(name, settings.get(name), bound)
    settings.set(name, Number.isFinite(value) ? String(value) : '0')
  }
  settings.set('log_comment', key)
  if (kind !== 'writing') settings.set('readonly', '1')
  return {
    arguments: [...settings].map(([name, value]) => argument(name, value)),
    seconds: Number(settings.get('max_execution_time')),
  }
}

function bounded(name: string, text: string | undefined, bound: Bound): number {
  if (text === undefined) return bound.usual
  const value = Number(text)
  if (text.trim() === '' || !Number.isFinite(value) || value < 0) {
    throw new EngineException('BAD_ARGUMENTS', `${name} must be a number of 0 or more, not '${text}'.`)
  }
  return value === 0 ? bound.most : Math.min(value, bound.most)
}

/** An argument ends at a NUL for the engine, and what follows could be another one. */
function argument(name: string, value: string): string {
  if (value.includes('\0')) throw new EngineException('BAD_ARGUMENTS', `${name} holds a NUL character.`)
  return `--${name}=${value}`
}
