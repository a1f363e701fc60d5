import { isPlaceholder } from './placeholders.ts'

const shownCharacters = 40

/**
 * A sample that lets a sender recognise a value without the log holding it: letters become `x`, digits `#`,
 * ASCII punctuation stays (it is what most rules are about), long texts keep their first characters.
 * Placeholders are public and are shown as they are.
 */
export function maskSample(value: unknown): string {
  switch (typeof value) {
    case 'string':
      return isPlaceholder(value) ? JSON.stringify(value) : maskText(value)
    case 'number':
    case 'bigint':
      return maskNumber(String(value))
    case 'object':
      if (value === null) return 'null'
      return Array.isArray(value) ? `list of ${value.length}` : 'object'
    default:
      return String(typeof value === 'boolean' ? value : typeof value)
  }
}

function maskText(text: string): string {
  const kept = text.length >= 12 ? 2 : text.length >= 6 ? 1 : 0
  const shown = Math.min(text.length, shownCharacters)
  let masked = '"'
  for (let i = 0; i < shown; i++) masked += maskCharacter(text.charCodeAt(i), i < kept)
  return text.length > shown ? `${masked}…" (${text.length} characters)` : `${masked}"`
}

function maskCharacter(code: number, kept: boolean): string {
  if (code < 0x20 || code === 0x7f) return '?'
  if (code > 0x7e) return 'x'
  const isDigit = code >= 0x30 && code <= 0x39
  const isLetter = (code | 0x20) >= 0x61 && (code | 0x20) <= 0x7a
  if (kept || !(isDigit || isLetter)) return String.fromCharCode(code)
  return isDigit ? '#' : 'x'
}

/** Keeps the length, which tells seconds from milliseconds, and the leading digit of long numbers. */
function maskNumber(text: string): string {
  if (isPlaceholder(text)) return text
  let masked = ''
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i)
    const isDigit = code >= 0x30 && code <= 0x39
    masked += isDigit && (i > 0 || text.length < 6) ? '#' : text.charAt(i)
  }
  return masked
}
