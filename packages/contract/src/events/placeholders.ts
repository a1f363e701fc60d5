/** Texts that stand for an absent value (docs/interface.md, Events). Compared exactly. */
export const placeholderValues: readonly string[] = [
  'undefined',
  'null',
  'unknown',
  'inconnu',
  '0',
  '-1',
  'NaN',
  'ko',
  'true',
  'false',
  'Infinity',
  '-Infinity',
  '{}',
  '[]',
]

const placeholders: ReadonlySet<string> = new Set(placeholderValues)
const maxLength = Math.max(...placeholderValues.map((text) => text.length))

/** Whether a text is one of the documented placeholders. */
export function isPlaceholder(text: string): boolean {
  return text.length <= maxLength && placeholders.has(text)
}
