import { isUtf8 } from 'node:buffer'
import { requestLimits } from '@millrace/contract/events/limits.ts'
import { DomainError } from '../../../platform/errors.ts'
import { parseForm } from './form-events.ts'
import { isNestedDeeperThan } from './nesting.ts'

/** The events of one request, as they were sent. */
export interface CollectedBody {
  readonly events: readonly unknown[]
  /** Lines that are no JSON; only a body of lines has them. */
  readonly unreadableLines: readonly string[]
}

type Format = 'json' | 'lines' | 'form'

interface ContentType {
  readonly format: Format
  /** A label of the Encoding Standard; undefined for UTF-8. */
  readonly charset: string | undefined
}

const lineTypes = /^application\/(?:x-)?(?:nd-?json|jsonl|json-?lines|ldjson)\b/

const contentTypes = new Map<string, ContentType>()

/**
 * How a body is parsed. What is neither a form nor lines is JSON: beacons send text/plain, others nothing, or
 * `application/csp-report`, or something that is no content type at all.
 */
export function readContentType(header: string | undefined): ContentType {
  const text = header ?? ''
  let known = contentTypes.get(text)
  if (known === undefined) {
    const lower = text.trimStart().toLowerCase()
    const isForm = lower.startsWith('application/x-www-form-urlencoded')
    const format: Format = isForm ? 'form' : lineTypes.test(lower) ? 'lines' : 'json'
    const label = /;\s*charset\s*=\s*"?([^\s";,]{1,40})/.exec(lower)?.[1]
    known = { format, charset: label === 'utf-8' || label === 'utf8' ? undefined : label }
    // Real senders use a few types; further ones are made up, and parsed each time.
    if (contentTypes.size < 200) contentTypes.set(text, known)
  }
  return known
}

/**
 * Reads the events in a body.
 * @throws {DomainError} emptyEvents, malformedEvents, eventsTooLarge
 */
export function parseBody(body: Buffer, type: ContentType): CollectedBody {
  if (body.length > requestLimits.bodyBytes) throw tooLarge(requestLimits.bodyBytes)
  const text = decode(body, type.charset)
  if (type.format === 'lines') return parseLines(text)
  // Command line tools send every body as a form unless they are given another type.
  if (type.format === 'form' && !looksLikeJson(text)) return eventsOf(parseForm(text.trim()))
  return eventsOf(parseJson(text))
}

function decode(body: Buffer, charset: string | undefined): string {
  let text = charset === undefined ? body.toString('utf8') : decodeAs(body, charset)
  if (text.charCodeAt(0) === 0xfeff) text = text.slice(1)
  // Decoding puts U+FFFD where bytes make no sense. It is rare enough in real texts to look twice.
  if (charset === undefined && text.includes('\ufffd') && !isUtf8(body))
    throw malformed('it is not valid UTF-8')
  return text
}

function decodeAs(body: Buffer, charset: string): string {
  try {
    return new TextDecoder(charset).decode(body)
  } catch {
    // No charset of that name: UTF-8 is what JSON is written in.
    return body.toString('utf8')
  }
}

function looksLikeJson(text: string): boolean {
  const start = text.trimStart().charCodeAt(0)
  return start === 0x7b || start === 0x5b
}

/** No real event nests this deep; building one that does takes longer than all else. */
const maxNesting = 1000
/** Shorter texts are parsed fast, however deep they nest. */
const shortText = 256 * 1024

function parseJson(text: string): unknown {
  if (text.length > shortText && isNestedDeeperThan(text, maxNesting))
    throw malformed(`it nests deeper than ${maxNesting} levels`)
  try {
    return JSON.parse(text) as unknown
  } catch (cause) {
    if (text.trim() === '') throw new DomainError('emptyEvents')
    const position = cause instanceof SyntaxError ? /at position (\d+)/.exec(cause.message)?.[1] : undefined
    throw malformed(`it is not valid JSON${position === undefined ? '' : ` at position ${position}`}`, cause)
  }
}

function eventsOf(parsed: unknown): CollectedBody {
  if (Array.isArray(parsed)) return checked({ events: parsed, unreadableLines: [] })
  if (typeof parsed !== 'object' || parsed === null) throw malformed('an event is an object')
  for (const _ in parsed) return { events: [parsed], unreadableLines: [] }
  throw new DomainError('emptyEvents')
}

/** One JSON document a line; each line is validated on its own. Reads no more lines than one request may have. */
function parseLines(text: string): CollectedBody {
  const events: unknown[] = []
  const unreadableLines: string[] = []
  for (let start = 0, end = 0; end !== -1; start = end + 1) {
    end = text.indexOf('\n', start)
    if (end === start) continue
    const line = text.slice(start, end === -1 ? undefined : end)
    if (line.trim() === '') continue
    if (events.length + unreadableLines.length === requestLimits.events) throw tooManyEvents()
    try {
      events.push(JSON.parse(line))
    } catch {
      unreadableLines.push(line)
    }
  }
  if (events.length === 0 && unreadableLines.length > 0) throw malformed('no line of it is valid JSON')
  return checked({ events, unreadableLines })
}

function checked(body: CollectedBody): CollectedBody {
  const count = body.events.length + body.unreadableLines.length
  if (count === 0) throw new DomainError('emptyEvents')
  if (count > requestLimits.events) throw tooManyEvents(count)
  return body
}

/** @param actual where all were counted */
function tooManyEvents(actual?: number): DomainError {
  const limit = requestLimits.events
  return new DomainError(
    'eventsTooLarge',
    { limit, unit: 'events', ...(actual === undefined ? {} : { actual }) },
    {
      message: `The body holds ${actual ?? `more than ${limit}`} events: send at most ${limit} in one request`,
    },
  )
}

/** A body of which no event can be read. */
export function malformed(reason: string, cause?: unknown): DomainError {
  return new DomainError(
    'malformedEvents',
    { reason },
    { message: `The body cannot be parsed as events: ${reason}`, cause },
  )
}

/** A body of more than `limit` bytes, inflated. */
export function tooLarge(limit: number, cause?: unknown): DomainError {
  return new DomainError(
    'eventsTooLarge',
    { limit, unit: 'bytes' },
    { message: `The body is larger than ${limit} bytes: send fewer events in one request`, cause },
  )
}
