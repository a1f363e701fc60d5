import { eventLimits } from './limits.ts'
import { isPlaceholder } from './placeholders.ts'

/** Events whose `ids` are names and may hold separators: they are never split (docs/interface.md, Events). */
const unsplitEvents: ReadonlySet<string> = new Set(['category_view', 'brand_view'])

const separators = /[;,|]/

/** Identifiers as they are stored, and what had to be left out to get there. */
export interface Ids {
  ids: readonly string[]
  /** An empty or placeholder entry that was removed, for the log; undefined when there was none. */
  removed: string | undefined
  tooMany: boolean
}

/**
 * Reads `data.ids`: one text, split at semicolon, comma and pipe unless its entries are names, or a list of
 * texts, whose entries are taken as they are. Null entries count as placeholders. Undefined where the value
 * is anything else (a number is: leading zeros and long digits would already be lost).
 */
export function readIds(value: unknown, eventName: string): Ids | undefined {
  if (typeof value === 'string') {
    const splits = !unsplitEvents.has(eventName) && separators.test(value)
    return keepIds(splits ? splitIds(value) : [value])
  }
  if (!Array.isArray(value)) return undefined
  for (const entry of value) {
    if (typeof entry !== 'string' && entry !== null) return undefined
  }
  return keepIds(value)
}

/** Parts of a joined text; outer spaces and empty parts belong to the joining, not to the identifiers. */
function splitIds(text: string): string[] {
  const parts: string[] = []
  for (const part of text.split(separators)) {
    const trimmed = part.trim()
    if (trimmed !== '') parts.push(trimmed)
  }
  return parts
}

function keepIds(entries: readonly (string | null)[]): Ids {
  const ids: string[] = []
  let removed: string | undefined
  for (const entry of entries) {
    if (entry === null || entry === '' || isPlaceholder(entry)) removed = entry ?? 'null'
    else if (ids.length < eventLimits.ids) ids.push(entry)
    else return { ids, removed, tooMany: true }
  }
  return { ids, removed, tooMany: false }
}
