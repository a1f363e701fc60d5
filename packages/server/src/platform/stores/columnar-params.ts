import type { ColumnarParam } from './columnar.ts'
import { ColumnarError } from './columnar-errors.ts'

/**
 * Parameters stand in the address of the request, where a server takes 1 MiB (`http_max_uri_size`); each byte may
 * take three characters there.
 */
const maxBytes = Math.floor((1024 * 1024 - 16 * 1024) / 3)

/** @throws {ColumnarError} when the parameters together are longer than a server takes */
export function checkLength(params: Readonly<Record<string, ColumnarParam>> | undefined): void {
  if (params === undefined) return
  const size = sizeOf(params)
  if (size <= maxBytes) return
  throw new ColumnarError(
    307,
    'QUERY_IS_TOO_LARGE',
    `The parameters have ${size} bytes; a statement takes ${maxBytes}`,
  )
}

/** Bytes of a value as text, quotes and separators included. */
function sizeOf(value: ColumnarParam): number {
  if (typeof value === 'string') return Buffer.byteLength(value) + 3
  if (Array.isArray(value)) return value.reduce((sum, each) => sum + sizeOf(each), 2)
  if (value instanceof Map) {
    let sum = 2
    for (const [key, each] of value) sum += sizeOf(key) + sizeOf(each)
    return sum
  }
  if (typeof value === 'object' && value !== null && !(value instanceof Date)) {
    return Object.entries(value).reduce((sum, [key, each]) => sum + sizeOf(key) + sizeOf(each), 2)
  }
  return 24
}

const escapes: Readonly<Record<string, string>> = {
  '\t': '\\t',
  '\n': '\\n',
  '\r': '\\r',
  "'": "\\'",
  '\\': '\\\\',
}
const escaped = (text: string): string => text.replace(/[\t\n\r'\\]/g, (sign) => escapes[sign] ?? sign)

/** A value as a parameter of the HTTP interface: the escaped form of TSV. */
export function paramText(value: ColumnarParam): string {
  if (value === null) return '\\N'
  if (typeof value === 'string') return escaped(value)
  if (typeof value === 'boolean') return value ? '1' : '0'
  return literal(value)
}

/** The same inside of an array or a map. */
function literal(value: ColumnarParam): string {
  if (value === null) return 'NULL'
  if (typeof value === 'string') return `'${escaped(value)}'`
  if (typeof value === 'boolean') return String(value)
  if (typeof value === 'number') return numberText(value)
  if (typeof value === 'bigint') return String(value)
  if (value instanceof Date) return secondsText(value)
  if (isList(value)) return `[${value.map(literal).join(',')}]`
  const entries = value instanceof Map ? [...value] : Object.entries(value)
  return `{${entries.map(([key, each]) => `${literal(key)}:${literal(each)}`).join(',')}}`
}

const isList = (value: ColumnarParam): value is readonly ColumnarParam[] => Array.isArray(value)

function numberText(value: number): string {
  if (Number.isNaN(value)) return 'nan'
  return Number.isFinite(value) ? String(value) : value > 0 ? '+inf' : '-inf'
}

/** Seconds since 1970, which have no time zone. Ten digits: fewer would be read as a year. */
function secondsText(value: Date): string {
  const milliseconds = value.getUTCMilliseconds()
  const seconds = String(Math.floor(value.getTime() / 1_000)).padStart(10, '0')
  return milliseconds === 0 ? seconds : `${seconds}.${String(milliseconds).padStart(3, '0')}`
}
