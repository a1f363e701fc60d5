import type { ChangeRuleId, DropRuleId, Finding } from './rules.ts'
import { maskSample } from './samples.ts'
import { cleanText, cutIdentifier, cutText, isCleanText } from './texts.ts'

/** An event that is not stored, and why. */
export interface DroppedEvent {
  kept: false
  reason: Finding<DropRuleId>
}

const maxPathLength = 128

/** What is noted about an event while its fields are read. */
export class Draft {
  readonly changes: Finding<ChangeRuleId>[] = []

  note(rule: ChangeRuleId, path: string, value: unknown): void {
    this.changes.push({ rule, path: cutText(cleanText(path), maxPathLength), sample: maskSample(value) })
  }
}

/** A drop by one rule, with the offending value masked. */
export function drop(rule: DropRuleId, path: string, value: unknown): DroppedEvent {
  return { kept: false, reason: { rule, path, sample: maskSample(value) } }
}

/** A text as it can be stored: clean and at most `maxLength` code units. */
export function readText(draft: Draft, path: string, text: string, maxLength: number): string {
  if (text.length <= maxLength && isCleanText(text)) return text
  return tidy(draft, path, text, maxLength, cutText)
}

/** The same for an identifier, which stays distinct when it is cut. */
export function readIdentifier(draft: Draft, path: string, text: string, maxLength: number): string {
  if (text.length <= maxLength && isCleanText(text)) return text
  return tidy(draft, path, text, maxLength, cutIdentifier)
}

function tidy(draft: Draft, path: string, text: string, maxLength: number, cut: typeof cutText): string {
  const clean = cleanText(text)
  if (clean !== text) draft.note('text-not-clean', path, text)
  if (clean.length <= maxLength) return clean
  draft.note('text-too-long', path, text)
  return cut(clean, maxLength)
}
