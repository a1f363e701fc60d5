import { isObject } from '../../../platform/plain-object.ts'
import type { RawRow, SourceLimits } from './source-options.ts'

/** A whole number that a double may not hold. */
const longInteger = /(?:^|[[:,\s])-?\d{16,}(?=[\s,\]}]|$)/

/** JSON as values; integers beyond 2^53 stay texts, because identifiers must not be rounded. */
function parseJson(text: string): unknown {
  if (!longInteger.test(text)) return JSON.parse(text)
  return JSON.parse(text, ((_key: string, value: unknown, context: { source?: string }) =>
    typeof value === 'number' &&
    !Number.isSafeInteger(value) &&
    context.source !== undefined &&
    /^-?\d+$/.test(context.source)
      ? context.source
      : value) as (key: string, value: unknown) => unknown)
}

export type JsonEntry = { readonly row: RawRow } | { readonly problem: string }

/** An entry of JSON as a row, or why it is none. */
export function readJsonEntry(text: string, limits: SourceLimits): JsonEntry {
  let value: unknown
  try {
    value = parseJson(text)
  } catch (error) {
    return { problem: `is not JSON: ${(error as Error).message.slice(0, 200)}` }
  }
  if (!isObject(value)) {
    return {
      problem: `is ${Array.isArray(value) ? 'a list' : `the value ${text.slice(0, 40)}`}, not an object`,
    }
  }
  const problem = limitProblem(value, limits)
  return problem === undefined ? { row: value } : { problem }
}

/** What of an entry exceeds its limits. */
export function limitProblem(row: RawRow, limits: SourceLimits): string | undefined {
  const fields = Object.keys(row).length
  if (fields > limits.entryFields) return `has ${fields} fields: at most ${limits.entryFields} are read`
  if (isDeeper(row, limits.depth)) return `has more than ${limits.depth} levels`
  return undefined
}

function isDeeper(value: unknown, levels: number): boolean {
  if (value === null || typeof value !== 'object') return false
  if (levels === 0) return true
  for (const key in value) {
    if (Object.hasOwn(value, key) && isDeeper((value as RawRow)[key], levels - 1)) return true
  }
  return false
}
