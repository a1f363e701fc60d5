import { requestLimits } from '@millrace/contract/events/limits.ts'
import { readAddress } from '../address.ts'
import type { DeliveryError, DroppedEvents, EventWarning } from './reports.ts'

/** What happens to an event for which there is no room: it is dropped, or `send` waits for room. */
export type WhenFull = 'drop' | 'wait'

export interface EventSenderOptions {
  /** Where the service collects, without a path of the collector: `https://events.example.com`. */
  readonly collectorUrl: string
  /** Identifier of the company, which is sent as `key`. */
  readonly companyId: string
  /** Identifier of the datasource that gets the events. */
  readonly datasourceId: string
  /**
   * Milliseconds after which an event is sent at the latest where no full batch came before; default 1,000. With 0
   * there is no timer: only `flush()` and `close()` send, for runtimes that stop between requests.
   */
  readonly flushInterval?: number
  /** Events in one request; default 500, at most 2,000. */
  readonly maxBatchEvents?: number
  /** Bytes of one request before compression; default 512 KiB, at most 5 MiB. A larger event goes alone. */
  readonly maxBatchBytes?: number
  /** Events that are held in memory, those under way included; default 100,000. */
  readonly maxPendingEvents?: number
  /** Bytes of JSON that are held in memory; default 64 MiB. */
  readonly maxPendingBytes?: number
  /** An event beyond these bounds is dropped; see `WaitingSenderOptions`. */
  readonly whenFull?: 'drop'
  /** Requests under way at once; default 4. Events of one `tmpId` are never in two of them. */
  readonly maxRequests?: number
  /** Milliseconds after which a request without an answer is given up and sent again; default 30,000. */
  readonly requestTimeout?: number
  /** Whether bodies are compressed where the runtime can; default true. */
  readonly compress?: boolean
  /** Headers that are added to each request, for a proxy in front of the collector. */
  readonly headers?: Readonly<Record<string, string>>
  /** Called after each attempt that failed and is repeated. */
  readonly onError?: (error: DeliveryError) => void
  /** Called with events that are given up, and why. Without it a few lines go to `console.warn`. */
  readonly onDrop?: (dropped: DroppedEvents) => void
  /** Called with a rule that changes an event. Without it a few lines go to `console.warn`. */
  readonly onWarning?: (warning: EventWarning) => void
  /** Replaces the runtime's `fetch`. */
  readonly fetch?: typeof fetch
}

/** Of a sender whose `send` waits for room beyond the bounds of its memory. */
export interface WaitingSenderOptions extends Omit<EventSenderOptions, 'whenFull'> {
  readonly whenFull: 'wait'
}

export interface SenderSettings {
  readonly endpoint: string
  readonly companyId: string
  readonly flushInterval: number
  readonly maxBatchEvents: number
  readonly maxBatchBytes: number
  readonly maxPendingEvents: number
  readonly maxPendingBytes: number
  readonly whenFull: WhenFull
  readonly maxRequests: number
  readonly requestTimeout: number
  readonly compress: boolean
  readonly headers: Headers
  readonly fetch: typeof fetch
}

/** @throws {TypeError} for an option that cannot be meant, with what would be right */
export function readOptions(options: EventSenderOptions | WaitingSenderOptions): SenderSettings {
  const datasourceId = readId('datasourceId', options.datasourceId)
  return {
    endpoint: `${readAddress('collectorUrl', options.collectorUrl, 'the collector asks for none, a proxy takes them in headers')}/collect/${datasourceId}/tracker`,
    companyId: readId('companyId', options.companyId),
    flushInterval: readNumber('flushInterval', options.flushInterval ?? 1000, 0, 2 ** 31 - 1),
    maxBatchEvents: readNumber('maxBatchEvents', options.maxBatchEvents ?? 500, 1, requestLimits.events),
    // Under a mebibyte proxies take a body as it is, and the collector inflates it whatever its ratio.
    maxBatchBytes: readNumber('maxBatchBytes', options.maxBatchBytes ?? 2 ** 19, 1, requestLimits.bodyBytes),
    maxPendingEvents: readNumber('maxPendingEvents', options.maxPendingEvents ?? 100_000, 1),
    maxPendingBytes: readNumber('maxPendingBytes', options.maxPendingBytes ?? 2 ** 26, 1),
    whenFull: readWhenFull(options.whenFull ?? 'drop'),
    maxRequests: readNumber('maxRequests', options.maxRequests ?? 4, 1, 64),
    requestTimeout: readNumber('requestTimeout', options.requestTimeout ?? 30_000, 1, 2 ** 31 - 1),
    compress: options.compress ?? true,
    headers: readHeaders(options.headers ?? {}),
    fetch: options.fetch ?? globalThis.fetch,
  }
}

function readId(name: string, value: unknown): string {
  if (typeof value === 'string' && /^[0-9a-f]{24}$/i.test(value)) return value.toLowerCase()
  throw new TypeError(`${name} is 24 hexadecimal characters, not ${JSON.stringify(value)}`)
}

function readHeaders(given: Readonly<Record<string, string>>): Headers {
  try {
    return new Headers({
      'user-agent': 'millrace-sdk',
      ...lowerCased(given),
      'content-type': 'application/json',
    })
  } catch (cause) {
    throw new TypeError('headers are names and values that HTTP allows', { cause })
  }
}

/** Two spellings of one name would be joined. */
function lowerCased(given: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(given).map(([name, value]) => [name.toLowerCase(), value]))
}

function readNumber(name: string, value: unknown, min: number, max = Number.MAX_SAFE_INTEGER): number {
  if (typeof value === 'number' && Number.isInteger(value) && value >= min && value <= max) return value
  const bounds = max === Number.MAX_SAFE_INTEGER ? `of at least ${min}` : `between ${min} and ${max}`
  throw new TypeError(`${name} is a whole number ${bounds}, not ${String(value)}`)
}

function readWhenFull(value: unknown): WhenFull {
  if (value === 'drop' || value === 'wait') return value
  throw new TypeError(`whenFull is "drop" or "wait", not ${JSON.stringify(value)}`)
}
