/** What a JSON text may have; more is refused before it is parsed. */
export interface JsonBounds {
  /** Of nesting. */
  readonly levels: number
  /** Of one object. */
  readonly keys: number
  /** Values after the first one, in all objects and lists together. */
  readonly values: number
}

/**
 * Counts what JSON texts have before anything of them is built, and stops at the first excess; for a text that is not
 * JSON any answer is harmless. Skips strings.
 * @returns a function that names the bound which a text exceeds; values of all texts it was given count together
 */
export function createJsonCounter({
  levels,
  keys,
  values,
}: JsonBounds): (text: string) => keyof JsonBounds | undefined {
  const keysAt = new Uint32Array(levels + 1)
  let seen = 0
  return (text) => {
    let depth = 0
    for (let at = 0; at < text.length; at++) {
      const code = text.charCodeAt(at)
      if (code === quote) at = endOfString(text, at)
      else if (code === openBrace || code === openBracket) {
        if (++depth > levels) return 'levels'
        keysAt[depth] = 0
      } else if (code === closeBrace || code === closeBracket) depth--
      else if (code === colon) {
        const count = (keysAt[depth] ?? 0) + 1
        keysAt[depth] = count
        if (count > keys) return 'keys'
      } else if (code === comma && ++seen > values) return 'values'
    }
    return undefined
  }
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
const comma = 0x2c
const colon = 0x3a
const openBracket = 0x5b
const backslash = 0x5c
const closeBracket = 0x5d
const openBrace = 0x7b
const closeBrace = 0x7d
