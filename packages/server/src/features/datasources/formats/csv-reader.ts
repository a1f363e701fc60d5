import { setOwn } from './own-properties.ts'
import { malformed, noEntries, tooLarge } from './source-fault.ts'
import type { RawRow } from './source-options.ts'
import { type ReaderOptions, sizeText, type TextReader } from './text-reader.ts'

export interface CsvOptions {
  readonly delimiter: string
  /** Names of the columns of a file without header. */
  readonly columns?: readonly string[]
  /** Whether a record needs a value for each column; without it values may be missing at the end. */
  readonly isExact?: boolean
  readonly onHeader?: (names: readonly string[]) => void
}

const quote = 34
const lineFeed = 10
const carriageReturn = 13
const space = 32

/** Records whose quotes are wrong are read again from their second line on; this many entries' worth of text in all. */
const rereadEntries = 100

/** What `readRecord` gives instead of the position behind a record. */
const incomplete = -1
const invalid = -2

/**
 * CSV by RFC 4180, with lines that end in CR LF, LF or CR, mixed. Quotes within an unquoted value stand for
 * themselves. A record whose quotes are wrong is left out, and reading goes on with its second line.
 *
 * Written for this place: csv-parse takes two to three times as long for the same file, and it stops at a wrong quote
 * or takes all that follows for the value.
 */
export function createCsvReader({ sink, limits, ...csv }: ReaderOptions & CsvOptions): TextReader {
  const delimiter = csv.delimiter.charCodeAt(0)
  const isExact = csv.isExact ?? csv.columns !== undefined
  let names = csv.columns
  let hasProtoName = names?.includes('__proto__') ?? false
  let text = ''
  let at = 0
  /** Of the record that is read next. */
  let line = 1
  let entry = 0
  let reread = 0
  let isFirstLine = true
  // Of the record that `readRecord` has read.
  let values: string[] = []
  let lines = 0
  let problem = ''
  let problemAt = 0

  function readRecord(from: number, isEnd: boolean): number {
    // Locals, because this is where the time goes.
    const source = text
    const length = source.length
    const read: string[] = []
    values = read
    lines = 0
    let position = from
    for (;;) {
      let code = source.charCodeAt(position)
      let start = position
      while (code === space) code = source.charCodeAt(++start)
      if (code === quote) {
        position = readQuoted(start, isEnd)
        if (position < 0) return position
      } else {
        let end = start
        while (code !== delimiter && code !== lineFeed && code !== carriageReturn && end < length) {
          code = source.charCodeAt(++end)
        }
        read.push(source.slice(position, end))
        position = end
      }
      if (position >= length) return isEnd ? position : incomplete
      const after = source.charCodeAt(position)
      if (after === delimiter) {
        position++
        continue
      }
      lines++
      if (after === lineFeed) return position + 1
      if (position + 1 >= length && !isEnd) return incomplete
      return source.charCodeAt(position + 1) === lineFeed ? position + 2 : position + 1
    }
  }

  function readQuoted(start: number, isEnd: boolean): number {
    let value = ''
    let from = start + 1
    for (;;) {
      const close = text.indexOf('"', from)
      if (close === -1) {
        if (!isEnd) return incomplete
        problem = 'the quote that opens a value is not closed before the end of the file'
        problemAt = text.length
        return invalid
      }
      if (close + 1 >= text.length && !isEnd) return incomplete
      if (text.charCodeAt(close + 1) === quote) {
        value += text.slice(from, close + 1)
        from = close + 2
        continue
      }
      value += text.slice(from, close)
      let end = close + 1
      while (text.charCodeAt(end) === space) end++
      const after = text.charCodeAt(end)
      if (end >= text.length && !isEnd) return incomplete
      if (end < text.length && after !== delimiter && after !== lineFeed && after !== carriageReturn) {
        problem = 'a quote closes a value and text follows it: write a quote within a value twice ("")'
        problemAt = end
        return invalid
      }
      values.push(value)
      lines += lineEndsIn(value)
      return end
    }
  }

  /** The position behind the line that begins at `from`, or behind all text. */
  function nextLine(from: number): number {
    for (let position = from; position < text.length; position++) {
      const code = text.charCodeAt(position)
      if (code === lineFeed) return position + 1
      if (code === carriageReturn)
        return text.charCodeAt(position + 1) === lineFeed ? position + 2 : position + 1
    }
    return text.length
  }

  function leaveOut(message: string): void {
    sink.fault({ rule: 'invalid_line', entry, line, message: `Line ${line}: ${message}` })
  }

  function giveRecord(): void {
    if (isFirstLine) {
      isFirstLine = false
      // Spreadsheets write the delimiter into a line of its own; the detection has read it.
      if (values.length <= 2 && /^sep=.?$/i.test(values[0] as string)) return
    }
    if (values.every(isEmpty)) return
    if (values.length > limits.entryFields) {
      throw tooLarge(
        `Line ${line} has ${values.length} values: at most ${limits.entryFields} are read. Is the delimiter right?`,
        { line },
      )
    }
    if (names === undefined) {
      names = columnNames(values)
      hasProtoName = names.includes('__proto__')
      csv.onHeader?.(names)
      return
    }
    entry++
    const isLong = values.length > names.length && values.slice(names.length).some((value) => value !== '')
    if (isLong || (isExact && values.length !== names.length)) {
      leaveOut(
        `${values.length} values for ${names.length} columns: quote values that contain the delimiter or a line end`,
      )
      return
    }
    const row: RawRow = {}
    const count = Math.min(values.length, names.length)
    if (hasProtoName) for (let i = 0; i < count; i++) setOwn(row, names[i] as string, values[i])
    else for (let i = 0; i < count; i++) row[names[i] as string] = values[i]
    sink.row(entry, row)
  }

  function leaveOutLine(message: string, readTo: number): void {
    if (names === undefined) {
      throw malformed(`Line ${line}, the header: ${message}`, { line })
    }
    entry++
    leaveOut(message)
    const next = nextLine(at)
    reread += Math.max(0, readTo - next)
    if (reread > rereadEntries * limits.entryBytes) {
      throw malformed(`Too many quotes that are not closed, the last one in line ${line}`, {
        line,
        entry,
      })
    }
    line++
    at = next
  }

  function refuseLength(): void {
    const isQuoted = text.slice(at, at + limits.entryBytes).includes('"')
    if (isQuoted && names !== undefined && nextLine(at) - at <= limits.entryBytes) {
      leaveOutLine(`a quote is not closed within ${sizeText(limits.entryBytes)}`, at + limits.entryBytes)
      return
    }
    throw tooLarge(
      `Line ${line} is longer than ${sizeText(limits.entryBytes)}: is this CSV, with a line end after each entry?`,
      { line },
    )
  }

  function drain(isEnd: boolean): void {
    while (at < text.length) {
      const end = readRecord(at, isEnd)
      if (end === incomplete) {
        if (text.length - at <= limits.entryBytes) break
        refuseLength()
      } else if (end === invalid) leaveOutLine(problem, problemAt)
      else if (end - at > limits.entryBytes + 2) refuseLength()
      else {
        giveRecord()
        line += lines
        at = end
      }
    }
    text = text.slice(at)
    at = 0
  }

  return {
    write(piece) {
      text = text === '' ? piece : text + piece
      drain(false)
    },
    end(isCut) {
      if (isCut) return
      drain(true)
      if (names === undefined) {
        throw noEntries('The file is empty: CSV begins with a line of column names')
      }
    },
  }
}

function isEmpty(value: string): boolean {
  return value === ''
}

function lineEndsIn(value: string): number {
  let count = 0
  for (let i = 0; i < value.length; i++) {
    const code = value.charCodeAt(i)
    if (code === lineFeed || (code === carriageReturn && value.charCodeAt(i + 1) !== lineFeed)) count++
  }
  return count
}

/** Names of a header, each once: an empty one becomes `column_3`, a second `name` becomes `name_2`. */
export function columnNames(header: readonly string[]): string[] {
  const unique = createNameRegister()
  return header.map((name, index) => unique(name.trim() || `column_${index + 1}`))
}

/** Makes names unique in their order: the second `price` becomes `price_2`. */
export function createNameRegister(): (name: string) => string {
  const taken = new Set<string>()
  return (name) => {
    let unique = name
    for (let number = 2; taken.has(unique); number++) unique = `${name}_${number}`
    taken.add(unique)
    return unique
  }
}
