/** What keeps a text from being stored as it is, as the end of a sentence; undefined when nothing does. */
export function faultOfText(text: string): string | undefined {
  if (text.includes('\0')) return 'must not contain the character U+0000'
  if (!text.isWellFormed()) return 'must be well-formed Unicode: it holds half of a surrogate pair'
  return undefined
}
