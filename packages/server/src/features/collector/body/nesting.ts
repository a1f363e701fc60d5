/**
 * Whether a JSON text nests deeper than so many levels; for a text that is not JSON either answer is harmless.
 * Allocates nothing, and skips strings.
 */
export function isNestedDeeperThan(text: string, levels: number): boolean {
  let depth = 0
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code === quote) at = endOfString(text, at)
    else if (code === openBrace || code === openBracket) {
      if (++depth > levels) return true
    } else if (code === closeBrace || code === closeBracket) depth--
  }
  return false
}

/** Where the string that begins at `start` ends; the end of the text when it does not. */
function endOfString(text: string, start: number): number {
  for (let at = start + 1; ; at++) {
    at = text.indexOf('"', at)
    if (at === -1) return text.length
    let escapes = at
    while (text.charCodeAt(escapes - 1) === backslash) escapes--
    if ((at - escapes) % 2 === 0) return at
  }
}

const quote = 0x22
const openBracket = 0x5b
const backslash = 0x5c
const closeBracket = 0x5d
const openBrace = 0x7b
const closeBrace = 0x7d
