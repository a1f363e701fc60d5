/** A copy of its own: a substring may keep the whole string that it was cut from in memory. */
export function detachString(text: string): string {
  return Buffer.from(text, 'utf16le').toString('utf16le')
}
