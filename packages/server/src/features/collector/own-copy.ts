/** A text that was cut out of another may hold on to the whole of that for as long as it is remembered. */
export function ownCopy(text: string): string {
  return Buffer.from(text, 'utf16le').toString('utf16le')
}
