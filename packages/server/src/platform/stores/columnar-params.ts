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
