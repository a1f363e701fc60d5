import type { Draft } from './draft.ts'
import { readText } from './draft.ts'
import { eventLimits } from './limits.ts'
import { cleanText, cutIdentifier, isCleanText } from './texts.ts'

/** One label: its key and its text. */
export type Label = readonly [key: string, text: string]

const noLabels: readonly Label[] = []

/**
 * Every key of `data` that is not reserved, as text: scalars as they print, objects and lists as JSON.
 * Null is an absent label. What cannot be kept is left out alone and noted on the draft.
 */
export function readLabels(data: Record<string, unknown>, draft: Draft): readonly Label[] {
  let labels: Label[] | undefined
  let read = 0
  for (const key in data) {
    if (key === 'ids' || key === 'value' || key === 'transId') continue
    const value = data[key]
    if (value === null || value === undefined) continue
    // Those that are left out count as well, or there would be no end to what one event may cost.
    if (read++ === eventLimits.labels) {
      draft.note('labels-too-many', 'data', key)
      break
    }
    const storedKey = readKey(key, draft)
    if (storedKey === undefined) continue
    const text = readLabel(value, storedKey, draft)
    if (text === undefined) continue
    if (labels === undefined) labels = []
    labels.push([storedKey, text])
  }
  return labels ?? noLabels
}

function readKey(key: string, draft: Draft): string | undefined {
  if (key === '' || key === '__proto__') {
    draft.note('label-key-not-allowed', 'data', key)
    return undefined
  }
  if (key.length <= eventLimits.labelKey && isCleanText(key)) return key
  const clean = cleanText(key)
  if (clean !== key) draft.note('text-not-clean', 'data', key)
  if (clean.length <= eventLimits.labelKey) return clean
  draft.note('text-too-long', 'data', key)
  return cutIdentifier(clean, eventLimits.labelKey)
}

function readLabel(value: unknown, key: string, draft: Draft): string | undefined {
  switch (typeof value) {
    case 'string':
      return readText(draft, `data.${key}`, value, eventLimits.label)
    case 'number':
    case 'boolean':
      return String(value)
    case 'object':
      return readNested(value, key, draft)
    default:
      return undefined
  }
}

function readNested(value: unknown, key: string, draft: Draft): string | undefined {
  if (isDeeperThan(value, eventLimits.labelDepth)) {
    draft.note('label-too-deep', `data.${key}`, value)
    return undefined
  }
  // Writes lone surrogates and NUL as escapes, so the text is clean.
  const text = JSON.stringify(value)
  if (text === undefined) return undefined
  if (text.length <= eventLimits.label) return text
  draft.note('label-too-long', `data.${key}`, value)
  return undefined
}

/** Looks `levels` deep and no deeper, so that no nesting exhausts the stack. */
function isDeeperThan(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return false
  if (levels === 0) return true
  for (const inner of Object.values(value)) {
    if (isDeeperThan(inner, levels - 1)) return true
  }
  return false
}
