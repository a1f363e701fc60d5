import { requestLimits } from '@millrace/contract/events/limits.ts'
import { DomainError } from '../../../../platform/errors.ts'
import { isObject } from '../../../../platform/plain-object.ts'

/** A form's nested value: texts, and lists and objects of them. No object has a prototype to reach. */
type FormValue = string | FormValue[] | FormObject
interface FormObject {
  [key: string]: FormValue
}

/** The fields of an envelope; others are ignored, and keeping them would cost a sender's choice of memory. */
const envelopeFields: ReadonlySet<string> = new Set([
  'key',
  'name',
  'url',
  'referrer',
  'tmpId',
  'clientId',
  'data',
  'eventId',
  'v',
  'timestamp',
])

/** Deeper keys are left out: nothing of an event nests this far. */
const maxKeyDepth = 8

/**
 * Maps a form-encoded body to an event envelope: `data` as JSON text, or `data[ids][]=A`, `data[value]=12`, with
 * repeated keys below `data` as lists; of repeated envelope fields the last one holds. Every value is a text; the
 * event rules read numbers from texts.
 *
 * Percent signs that encode nothing stand for themselves, as browsers read them (URL Standard, 1.3).
 * @param excessOf names what is too much to be parsed in a JSON text
 * @throws {DomainError} eventsTooLarge
 */
export function parseForm(
  text: string,
  excessOf: (json: string) => unknown = () => undefined,
): Record<string, unknown> {
  const envelope: Record<string, unknown> = Object.create(null)
  let data: FormObject | undefined
  let unknown: string | undefined
  let fields = 0
  for (let start = 0, end = 0; end !== -1; start = end + 1) {
    end = text.indexOf('&', start)
    if (end === start) continue
    if (++fields > requestLimits.fields) throw tooManyFields()
    const pair = text.slice(start, end === -1 ? undefined : end)
    if (pair === '') continue
    const equals = pair.indexOf('=')
    const key = decode(equals === -1 ? pair : pair.slice(0, equals))
    const read = () => (equals === -1 ? '' : decode(pair.slice(equals + 1)))
    if (envelopeFields.has(key)) envelope[key] = read()
    else if (!key.startsWith('data[')) unknown ??= key
    else {
      data ??= Object.create(null) as FormObject
      const path = readPath(key.slice('data'.length))
      if (path) put(data, path, read())
    }
  }
  // A form with nothing but unknown fields is not an empty one.
  if (unknown !== undefined) envelope[unknown] ??= ''
  const whole = envelope.data
  if (typeof whole === 'string') envelope.data = parseData(whole, excessOf)
  if (data)
    envelope.data = isObject(envelope.data) ? Object.assign(data, { ...envelope.data, ...data }) : data
  return envelope
}

/** The JSON of a `data` field; a text that is no JSON, or too much of it, stays a text, which the event rules refuse. */
function parseData(text: string, excessOf: (text: string) => unknown): unknown {
  if (excessOf(text) !== undefined) return text
  try {
    return JSON.parse(text) as unknown
  } catch {
    return text
  }
}

/** The names in `[a][b][]`; undefined where brackets do not match or nest too deep. */
function readPath(brackets: string): string[] | undefined {
  const path: string[] = []
  let at = 0
  while (at < brackets.length) {
    const end = brackets.indexOf(']', at)
    if (brackets.charAt(at) !== '[' || end === -1 || path.length === maxKeyDepth) return undefined
    path.push(brackets.slice(at + 1, end))
    at = end + 1
  }
  return path
}

function put(target: FormObject, path: readonly string[], value: string): void {
  const [name = '', ...rest] = path
  const [next] = rest
  const present = target[name]
  if (next === undefined || (rest.length === 1 && (next === '' || /^\d{1,6}$/.test(next)))) {
    // In place: a form can repeat one key a hundred thousand times.
    if (Array.isArray(present)) present.push(value)
    else if (present !== undefined) target[name] = [present, value]
    else target[name] = next === undefined ? value : [value]
    return
  }
  const inner = isObject(present) ? (present as FormObject) : (Object.create(null) as FormObject)
  target[name] = inner
  put(inner, rest, value)
}

function tooManyFields(): DomainError {
  const limit = requestLimits.fields
  return new DomainError(
    'eventsTooLarge',
    { limit, unit: 'fields' },
    { message: `The form holds more than ${limit} fields: send the event as JSON` },
  )
}

/**
 * In one walk over the bytes: `decodeURIComponent` throws for each text that it refuses, and a call or a copy for each
 * sign is a sender's choice of time too.
 */
function decode(text: string): string {
  if (!text.includes('%') && !text.includes('+')) return text
  const bytes = Buffer.from(text)
  let end = 0
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at] ?? 0
    const encoded = byte === percent ? hexAt(bytes, at + 1) * 16 + hexAt(bytes, at + 2) : Number.NaN
    if (Number.isNaN(encoded)) bytes[end++] = byte === plus ? space : byte
    else {
      bytes[end++] = encoded
      at += 2
    }
  }
  return bytes.toString('utf8', 0, end)
}

const space = 0x20
const percent = 0x25
const plus = 0x2b

/** The value of a hexadecimal digit; NaN where there is none. */
function hexAt(bytes: Buffer, at: number): number {
  const code = bytes[at] ?? 0
  if (code >= 0x30 && code <= 0x39) return code - 0x30
  const letter = code | 0x20
  return letter >= 0x61 && letter <= 0x66 ? letter - 0x57 : Number.NaN
}
