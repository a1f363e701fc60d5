/**
 * Whether a text can be stored as it is: whole surrogate pairs and no NUL, which stores and CSV readers
 * cut at or refuse.
 */
export function isCleanText(text: string): boolean {
  return text.isWellFormed() && text.indexOf('\0') === -1
}

/** Replaces lone surrogates and NUL by U+FFFD. */
export function cleanText(text: string): string {
  return text.toWellFormed().replaceAll('\0', '\ufffd')
}

/** The first `length` code units, or one fewer where that would split a surrogate pair. */
export function cutText(text: string, length: number): string {
  const last = text.charCodeAt(length - 1)
  const splitsPair = last >= 0xd800 && last <= 0xdbff
  return text.slice(0, splitsPair ? length - 1 : length)
}

const fingerprintLength = 15

/**
 * Cuts an identifier to `length` code units of which the last are `~` and a fingerprint of the whole, so that
 * two long identifiers with one beginning stay two: cut plainly, distinct events would count as repeated
 * and distinct people as one.
 */
export function cutIdentifier(text: string, length: number): string {
  return `${cutText(text, length - fingerprintLength)}~${fingerprint(text)}`
}

/** 14 hexadecimal digits (53 bits) by the mixing of cyrb53: spread, not secrecy, is what is needed. */
function fingerprint(text: string): string {
  let a = 0xdeadbeef
  let b = 0x41c6ce57
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i)
    a = Math.imul(a ^ code, 2654435761)
    b = Math.imul(b ^ code, 1597334677)
  }
  a = Math.imul(a ^ (a >>> 16), 2246822507) ^ Math.imul(b ^ (b >>> 13), 3266489909)
  b = Math.imul(b ^ (b >>> 16), 2246822507) ^ Math.imul(a ^ (a >>> 13), 3266489909)
  return (4294967296 * (2097151 & b) + (a >>> 0)).toString(16).padStart(14, '0')
}
