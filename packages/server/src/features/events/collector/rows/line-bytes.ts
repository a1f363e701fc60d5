import { lineOf } from './event-row.ts'

/** Lines of rows as bytes, before they have sequence numbers. */
export interface LineBytes {
  readonly bytes: Buffer<ArrayBuffer>
  /** Where each line begins. */
  readonly starts: Uint32Array<ArrayBuffer>
}

/** As many digits as the largest safe integer has. JSON has nothing against the spaces before a number. */
const room = ' '.repeat(16)
const roomEnds = lineOf(room, '').indexOf(room) + room.length

/** Texts of this size are encoded at once: the system gives larger ones new pages each time, which takes longer than all else. */
const pieceCharacters = 32 * 1024

let scratch = Buffer.allocUnsafeSlow(4 * pieceCharacters)

export function lineBytesOf(rows: readonly string[]): LineBytes {
  const starts = new Uint32Array(rows.length)
  let at = 0
  for (let index = 0; index < rows.length; ) {
    const first = index
    let text = ''
    do {
      starts[index] = at + text.length
      text += lineOf(room, rows[index++] ?? '')
    } while (index < rows.length && text.length < pieceCharacters)
    const length = Buffer.byteLength(text)
    if (at + length > scratch.length) scratch = Buffer.concat([scratch], 2 * (at + length))
    scratch.write(text, at)
    if (length !== text.length) findStarts(starts, first, index, at)
    at += length
  }
  const bytes = Buffer.allocUnsafeSlow(at)
  scratch.copy(bytes, 0, 0, at)
  return { bytes, starts }
}

/** Of lines with characters of more than one byte. */
function findStarts(starts: Uint32Array, from: number, to: number, first: number): void {
  for (let index = from, at = first; index < to; index++) {
    starts[index] = at
    at = scratch.indexOf('\n', at) + 1
  }
}

/** Writes consecutive sequence numbers into the lines, from `first` on. */
export function numberLines({ bytes, starts }: LineBytes, first: number): void {
  let sequence = first
  for (const start of starts) {
    let at = start + roomEnds
    for (let rest = sequence++; rest > 0; rest = Math.floor(rest / 10)) bytes[--at] = 48 + (rest % 10)
  }
}
