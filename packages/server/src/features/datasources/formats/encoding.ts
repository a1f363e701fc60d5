import { isAscii, isUtf8 } from 'node:buffer'
import { SourceFault } from './source-fault.ts'
import { type SourceEncoding, sourceEncodings } from './source-options.ts'

/** What windows-1252 has in place of the control characters of ISO-8859-1. */
const windows1252 =
  '\u20ac\u0081\u201a\u0192\u201e\u2026\u2020\u2021\u02c6\u2030\u0160\u2039\u0152\u008d\u017d\u008f' +
  '\u0090\u2018\u2019\u201c\u201d\u2022\u2013\u2014\u02dc\u2122\u0161\u203a\u0153\u009d\u017e\u0178'

/** Node's decoder takes windows-1252 for ISO-8859-1. */
function decodeWindows1252(bytes: Buffer): string {
  const text = bytes.toString('latin1')
  return isAscii(bytes)
    ? text
    : text.replace(/[\u0080-\u009f]/g, (c) => windows1252[c.charCodeAt(0) - 0x80] as string)
}

const byteOrderMarks: readonly (readonly [Buffer, SourceEncoding])[] = [
  [Buffer.from([0xef, 0xbb, 0xbf]), 'utf-8'],
  [Buffer.from([0xff, 0xfe]), 'utf-16le'],
  [Buffer.from([0xfe, 0xff]), 'utf-16be'],
]

function byteOrderMark(head: Buffer): readonly [Buffer, SourceEncoding] | undefined {
  return byteOrderMarks.find(([mark]) => head.subarray(0, mark.length).equals(mark))
}

/** Bytes at the end that begin a character of UTF-8 without ending it. */
function unfinishedBytes(bytes: Buffer): number {
  for (let back = 1; back <= Math.min(3, bytes.length); back++) {
    const byte = bytes[bytes.length - back] as number
    if (byte >= 0xc0) return back < (byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : 2) ? back : 0
    if (byte < 0x80) return 0
  }
  return 0
}

/**
 * The encoding of a text by its first bytes: a byte order mark, the zeros of UTF-16, an XML declaration, and bytes
 * that are no UTF-8. `undefined` where all of them are ASCII, which says nothing about the rest.
 */
export function detectEncoding(head: Buffer): SourceEncoding | undefined {
  const marked = byteOrderMark(head)
  if (marked) return marked[1]
  const wide = detectUtf16(head)
  if (wide) return wide
  const declared = /^\s*<\?xml[^>]{0,100}?encoding\s*=\s*["']([\w.-]{1,30})["']/.exec(
    head.subarray(0, 200).toString('latin1'),
  )?.[1]
  if (declared !== undefined) return encodingOf(declared)
  if (isAscii(head)) return undefined
  return isUtf8(head.subarray(0, head.length - unfinishedBytes(head))) ? 'utf-8' : 'windows-1252'
}

/** Whether the first character that is not ASCII is one of UTF-8. */
function beginsAsUtf8(bytes: Buffer): boolean {
  const first = bytes.findIndex((byte) => byte >= 0x80)
  const lead = bytes[first] as number
  return isUtf8(bytes.subarray(first, first + (lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2)))
}

/** Texts of most languages have a zero in every other byte: those of spaces, digits and line ends. */
function detectUtf16(head: Buffer): 'utf-16le' | 'utf-16be' | undefined {
  const pairs = Math.min(head.length, 4096) >> 1
  let even = 0
  let odd = 0
  for (let i = 0; i < pairs * 2; i += 2) {
    if (head[i] === 0) even++
    if (head[i + 1] === 0) odd++
  }
  if (pairs < 2) return undefined
  if (odd > pairs * 0.1 && even < pairs * 0.01) return 'utf-16le'
  if (even > pairs * 0.1 && odd < pairs * 0.01) return 'utf-16be'
  return undefined
}

/**
 * An encoding by one of its names.
 * @throws SourceFault where it is not read
 */
export function encodingOf(label: string): SourceEncoding {
  const name = label.toLowerCase()
  if (/^(iso-?8859-?1|latin-?1|us-ascii|ascii|cp1252|windows-1252)$/.test(name)) return 'windows-1252'
  let known: string | undefined
  try {
    known = new TextDecoder(name).encoding
  } catch {
    // Named below.
  }
  const found = sourceEncodings.find((each) => each === (known === 'gbk' ? 'gb18030' : known))
  if (found) return found
  throw new SourceFault(
    'encoding',
    `The encoding ${label} is not read: save the file as UTF-8, or as one of ${sourceEncodings.join(', ')}`,
  )
}

export type Decoder = ReturnType<typeof createDecoder>

/**
 * Decodes bytes cut anywhere, without a byte order mark at their beginning. Without `encoding` the text is UTF-8; a
 * file that is ASCII up to its first other byte may still turn out to be windows-1252.
 */
export function createDecoder(encoding: SourceEncoding | undefined) {
  let held: Buffer = Buffer.alloc(0)
  let isStart = true
  let current = encoding
  let wasAscii = encoding === undefined
  let hasReplaced = false
  let library: TextDecoder | undefined

  function decodeUtf8(bytes: Buffer, isEnd: boolean): string {
    const all = held.length === 0 ? bytes : Buffer.concat([held, bytes])
    const cut = isEnd ? 0 : unfinishedBytes(all)
    const whole = all.subarray(0, all.length - cut)
    if (wasAscii && !isAscii(whole)) {
      wasAscii = false
      if (!beginsAsUtf8(whole)) {
        current = 'windows-1252'
        held = Buffer.alloc(0)
        return decodeWindows1252(all)
      }
    }
    held = Buffer.from(all.subarray(all.length - cut))
    if (!hasReplaced && !isUtf8(whole)) hasReplaced = true
    return whole.toString('utf8')
  }

  /** Here and not by the library, which does not say whether it replaced anything. */
  function decodeUtf16(bytes: Buffer, isEnd: boolean): string {
    const all = held.length === 0 ? bytes : Buffer.concat([held, bytes])
    let whole = all.length - (all.length % 2)
    const lastHigh = all[whole - (current === 'utf-16le' ? 1 : 2)] ?? 0
    // The first half of a pair waits for the second one.
    if (!isEnd && whole > 0 && (lastHigh & 0xfc) === 0xd8) whole -= 2
    held = Buffer.from(all.subarray(isEnd ? all.length : whole))
    const units = all.subarray(0, whole)
    const text = (current === 'utf-16le' ? units : Buffer.from(units).swap16()).toString('utf16le')
    const isOdd = isEnd && all.length % 2 === 1
    if (text.isWellFormed() && !isOdd) return text
    hasReplaced = true
    return text.toWellFormed() + (isOdd ? '\ufffd' : '')
  }

  function decodeNext(bytes: Buffer, isEnd: boolean): string {
    if (current === 'windows-1252') return decodeWindows1252(bytes)
    if (current === undefined || current === 'utf-8') return decodeUtf8(bytes, isEnd)
    if (current === 'utf-16le' || current === 'utf-16be') return decodeUtf16(bytes, isEnd)
    library ??= new TextDecoder(current, { ignoreBOM: true })
    const text = library.decode(bytes, { stream: !isEnd })
    if (!hasReplaced && text.includes('\ufffd')) hasReplaced = true
    return text
  }

  /** Finds the byte order mark, once there are enough bytes for the longest. */
  function withoutMark(bytes: Buffer, isEnd: boolean): Buffer | undefined {
    if (!isStart) return bytes
    const all = Buffer.concat([held, bytes])
    if (all.length < 3 && !isEnd) {
      held = all
      return undefined
    }
    isStart = false
    held = Buffer.alloc(0)
    const marked = byteOrderMark(all)
    if (!marked) return all
    const [mark, name] = marked
    if (current === undefined) {
      current = name
      wasAscii = false
    }
    return current === name ? all.subarray(mark.length) : all
  }

  return {
    /** The text of the next bytes; a character that is cut waits for its end. */
    decode(bytes: Buffer): string {
      const next = withoutMark(bytes, false)
      return next === undefined ? '' : decodeNext(next, false)
    },
    end(): string {
      return decodeNext(withoutMark(Buffer.alloc(0), true) ?? Buffer.alloc(0), true)
    },
    /** Whether bytes were met that are no text; they were replaced by U+FFFD. */
    get hasReplaced() {
      return hasReplaced
    },
  }
}
