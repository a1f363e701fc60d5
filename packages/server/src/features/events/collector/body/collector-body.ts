import { isUtf8 } from 'node:buffer'
import { drop } from '@millrace/contract/events/draft.ts'
import { requestLimits } from '@millrace/contract/events/limits.ts'
import type { DropRuleId, Finding } from '@millrace/contract/events/rules.ts'
import { DomainError } from '../../../../platform/errors.ts'
import { createJsonCounter } from '../../../../platform/http/json-bounds.ts'
import { parseForm } from './form-events.ts'

/** The events of one request, as they were sent. */
export interface CollectedBody {
  readonly events: readonly unknown[]
  /** What is in the place of an event and is none, each by its rule. */
  readonly dropped: readonly Finding<DropRuleId>[]
}

type Format = 'json' | 'lines' | 'form'

export interface ContentType {
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
  const text = decode(body, type.charset)
  if (type.format === 'lines') return parseLines(text)
  // Command line tools send every body as a form unless they are given another type.
  if (type.format === 'form' && !looksLikeJson(text))
    return eventsOf(parseForm(text.trim(), createCounter(text)))
  return eventsOf(parseJson(text))
}

/**
 * Reads a body that is JSON whatever its type says, and never one that nests too deep to be written as JSON again.
 * @throws {DomainError} emptyEvents, malformedEvents, eventsTooLarge
 */
export function parseJsonBody(body: Buffer, { charset }: ContentType): unknown {
  return parseJson(decode(body, charset), 0)
}

function decode(body: Buffer, charset: string | undefined): string {
  if (body.length > requestLimits.bodyBytes) throw tooLarge(requestLimits.bodyBytes)
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
/** Shorter texts are parsed fast, whatever they hold. */
const shortText = 256 * 1024

/** Names what is too much to be parsed in JSON of a body. */
type Counter = ReturnType<typeof createJsonCounter>

const uncounted: Counter = () => undefined

/** @param uncountedLength of bodies that may hold what they like */
function createCounter(body: string, uncountedLength = shortText): Counter {
  if (body.length <= uncountedLength) return uncounted
  return createJsonCounter({
    levels: maxNesting,
    keys: Number.POSITIVE_INFINITY,
    values: requestLimits.values,
  })
}

function parseJson(text: string, uncountedLength = shortText): unknown {
  const excess = createCounter(text, uncountedLength)(text)
  if (excess === 'levels') throw malformed(`it nests deeper than ${maxNesting} levels`)
  if (excess !== undefined) throw tooManyValues()
  try {
    return JSON.parse(text) as unknown
  } catch (cause) {
    if (text.trim() === '') throw new DomainError('emptyEvents')
    const position = cause instanceof SyntaxError ? /at position (\d+)/.exec(cause.message)?.[1] : undefined
    throw malformed(`it is not valid JSON${position === undefined ? '' : ` at position ${position}`}`, cause)
  }
}

function eventsOf(parsed: unknown): CollectedBody {
  if (Array.isArray(parsed)) {
    checkCount(parsed.length)
    return { events: parsed, dropped: [] }
  }
  if (typeof parsed !== 'object' || parsed === null) throw malformed('an event is an object')
  for (const _ in parsed) return { events: [parsed], dropped: [] }
  throw new DomainError('emptyEvents')
}

/** One JSON document a line; each line is validated on its own. Reads no more lines than one request may have. */
function parseLines(text: string): CollectedBody {
  const events: unknown[] = []
  const dropped: Finding<DropRuleId>[] = []
  const excessOf = createCounter(text)
  for (let start = 0, end = 0; end !== -1; start = end + 1) {
    end = text.indexOf('\n', start)
    if (end === start) continue
    const line = text.slice(start, end === -1 ? undefined : end)
    if (line.trim() === '') continue
    if (events.length + dropped.length === requestLimits.events) throw tooManyEvents()
    const event = parseLine(line, excessOf)
    if (event === undefined) dropped.push(drop('line-unparseable', '', line).reason)
    else events.push(event)
  }
  if (events.length === 0 && dropped.length > 0) throw malformed('no line of it is valid JSON')
  checkCount(events.length + dropped.length)
  return { events, dropped }
}

/** Undefined for what is no JSON, or nests too deep. @throws {DomainError} eventsTooLarge */
function parseLine(line: string, excessOf: Counter): unknown {
  const excess = excessOf(line)
  if (excess === 'values') throw tooManyValues()
  if (excess !== undefined) return undefined
  try {
    return JSON.parse(line) as unknown
  } catch {
    return undefined
  }
}

/** @throws {DomainError} emptyEvents, eventsTooLarge */
export function checkCount(events: number): void {
  if (events === 0) throw new DomainError('emptyEvents')
  if (events > requestLimits.events) throw tooManyEvents(events)
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

function tooManyValues(): DomainError {
  const limit = requestLimits.values
  return new DomainError(
    'eventsTooLarge',
    { limit, unit: 'values' },
    { message: `The body holds more than ${limit} values: send fewer events in one request` },
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
