import { stat } from 'node:fs/promises'
import { type ByteRange, openContent } from '../formats/content.ts'
import { createCsvReader } from '../formats/csv-reader.ts'
import { createDecoder } from '../formats/encoding.ts'
import { createJsonReader } from '../formats/json-reader.ts'
import { createNdjsonReader } from '../formats/ndjson-reader.ts'
import { openParquet } from '../formats/open-parquet.ts'
import { createRowCollector, openRows, type RowCollector } from '../formats/open-rows.ts'
import { isEvery, parsePath } from '../formats/path.ts'
import { SourceFault } from '../formats/source-fault.ts'
import {
  type EntryFault,
  type RawRow,
  type SourceFile,
  type SourceLimits,
  type SourceOptions,
  sourceLimits,
} from '../formats/source-options.ts'
import type { TextReader } from '../formats/text-reader.ts'
import { createXmlReader } from '../formats/xml-reader.ts'

export interface Sample {
  readonly rows: readonly RawRow[]
  /** Entries that could not be read, at most 100 of them. */
  readonly faults: readonly EntryFault[]
  /** Whether these are all entries of the source. */
  readonly isWhole: boolean
}

const mebibyte = 1024 * 1024

/** What an analysis looks at, however large the source: rows, and bytes after decompression. */
const whole = { rows: 10_000, bytes: 32 * mebibyte } as const
/** Of a file that can be read from any position: its beginning, then pieces within it. */
const head = { rows: 6000, bytes: 8 * mebibyte } as const
const piece = { rows: 1000, bytes: 2 * mebibyte } as const
/** Where pieces begin, in parts of the file behind its head. */
const positions = [0.25, 0.5, 0.75, 1]
const maxFaults = 100
/** For one slice of the rows of a Parquet file. */
const parquetMilliseconds = 10_000
/** Characters that are read at a time. */
const pieceLength = 64 * 1024
/** Characters in which an entry that is looked for has to end. */
const maxTryLength = 128 * 1024

/**
 * Some rows of a source: all of a small one, the first 10,000 or 32 MB of a stream, of compressed content and of
 * workbooks, else the first 6,000 and pieces of 1,000 from the rest, the end among them. The same for the same content.
 * @throws SourceFault where the beginning cannot be read
 */
export async function sampleRows(
  file: SourceFile,
  options: SourceOptions,
  signal?: AbortSignal,
): Promise<Sample> {
  const { format, compression } = options
  if (format === 'parquet') return sampleParquet(file, signal)
  const canSeek = 'path' in file && compression === undefined && format !== 'xlsx'
  const size = canSeek ? (await stat(file.path)).size : Number.POSITIVE_INFINITY
  if (!canSeek || size <= head.bytes) return sampleStart(file, options, whole, signal)
  const start = await sampleStart(file, options, head, signal)
  const rows = [...start.rows]
  const faults = [...start.faults]
  let end = head.bytes
  for (const position of positions) {
    signal?.throwIfAborted()
    const from = Math.floor(head.bytes + (size - head.bytes - piece.bytes) * position)
    // No entry is seen twice: identifiers would not be unique.
    if (from < end) continue
    end = from + piece.bytes
    rows.push(...(await samplePiece(file, options, start.rows, from)))
  }
  return { rows, faults, isWhole: false }
}

async function sampleStart(
  file: SourceFile,
  options: SourceOptions,
  max: { readonly rows: number; readonly bytes: number },
  signal: AbortSignal | undefined,
): Promise<Sample> {
  const faults: EntryFault[] = []
  const onFault = (fault: EntryFault) => {
    if (faults.length < maxFaults) faults.push(fault)
  }
  const rows: RawRow[] = []
  let isWhole = true
  const onCut = () => {
    isWhole = false
  }
  const batches = openRows(file, options, { onFault, maxBytes: max.bytes, onCut })
  for await (const batch of batches) {
    signal?.throwIfAborted()
    rows.push(...batch.slice(0, max.rows - rows.length))
    if (rows.length >= max.rows) return { rows, faults, isWhole: false }
  }
  return { rows, faults, isWhole }
}

/** Rows from a position within a file; none where no entry is found that looks like those of the beginning. */
async function samplePiece(
  file: SourceFile,
  options: SourceOptions,
  known: readonly RawRow[],
  from: number,
): Promise<RawRow[]> {
  const isWide = options.encoding === 'utf-16le' || options.encoding === 'utf-16be'
  const start = isWide ? from - (from % 2) : from
  const text = await readPiece(file, options, { start, end: start + piece.bytes - 1 })
  const limits = sourceLimits
  switch (options.format) {
    case 'csv':
      return csvPiece(text, options, known, limits)
    case 'ndjson':
      return readPieces(text.slice(text.indexOf('\n') + 1), (sink) => createNdjsonReader({ sink, limits }))
    case 'json': {
      const { rootPath } = options
      if (rootPath === undefined || !isEvery(parsePath(rootPath).at(-1))) return []
      const name = JSON.stringify(Object.keys(known[0] ?? {})[0] ?? '')
      return siblingsOf(text, new RegExp(`\\{\\s*${escapeForPattern(name)}\\s*:`, 'g'), known, (rest) =>
        readPieces(rest, (sink) => createJsonReader({ sink, limits, rootPath, isWithin: true })),
      )
    }
    case 'xml': {
      const { rootPath = '' } = options
      const names = parsePath(rootPath).map((step) => ('every' in step ? undefined : step.name))
      const name = names.at(-1)
      if (name === undefined || names.includes(undefined)) return []
      const around = names.slice(0, -1).map((each) => `<${each}>`)
      return siblingsOf(text, new RegExp(`<${escapeForPattern(name)}[\\s>]`, 'g'), known, (rest) =>
        readPieces(around.join('') + rest, (sink) => createXmlReader({ sink, limits, rootPath })),
      )
    }
    default:
      return []
  }
}

function escapeForPattern(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&')
}

async function readPiece(file: SourceFile, options: SourceOptions, range: ByteRange): Promise<string> {
  // A file that was ASCII at its beginning may be UTF-8 or windows-1252: what begins within a character says nothing.
  const decoder = createDecoder(options.encoding)
  let text = ''
  let skipped = false
  for await (const chunk of openContent(file, {}, sourceLimits, range)) {
    let bytes = chunk
    if (!skipped && options.encoding !== 'utf-16le' && options.encoding !== 'utf-16be') {
      while (bytes.length > 0 && ((bytes[0] as number) & 0xc0) === 0x80) bytes = bytes.subarray(1)
    }
    skipped = true
    text += decoder.decode(bytes)
  }
  return text
}

/** Reads what it can; what is at the end of a piece is cut, and what is wrong there says nothing. */
function readPieces(text: string, create: (sink: RowCollector) => TextReader): RawRow[] {
  const collector = createRowCollector(undefined)
  const rows: RawRow[] = []
  try {
    const reader = create(collector)
    for (let from = 0; from < text.length && rows.length < piece.rows; from += pieceLength) {
      reader.write(text.slice(from, from + pieceLength))
      rows.push(...collector.take().flat())
    }
  } catch (error) {
    if (!(error instanceof SourceFault)) throw error
    rows.push(...collector.take().flat())
  }
  return rows.slice(0, piece.rows)
}

/** The first line that begins an entry: from it on, ten records have as many values as the header has names. */
function csvPiece(
  text: string,
  options: SourceOptions,
  known: readonly RawRow[],
  limits: SourceLimits,
): RawRow[] {
  const columns = options.csvColumns ?? Object.keys(known[0] ?? {})
  const delimiter = options.csvDelimiter ?? ','
  let from = 0
  for (let tries = 0; tries < 50; tries++) {
    const end = text.indexOf('\n', from)
    if (end === -1) return []
    from = end + 1
    const good = readPieces(text.slice(from, from + 64 * 1024), (sink) =>
      createCsvReader({ sink, limits, delimiter, columns }),
    )
    const lines = text.slice(from, from + 64 * 1024).split('\n', 11).length - 1
    if (good.length > 0 && good.length >= Math.min(10, lines)) {
      return readPieces(text.slice(from), (sink) => createCsvReader({ sink, limits, delimiter, columns }))
    }
  }
  return []
}

const maxTries = 50

/** Rows from the first place that begins like an entry and is one: what entries hold may begin alike. */
function siblingsOf(
  text: string,
  start: RegExp,
  known: readonly RawRow[],
  read: (rest: string) => RawRow[],
): RawRow[] {
  const tries = text.matchAll(start)
  for (let count = 0; count < maxTries; count++) {
    const { value, done } = tries.next()
    if (done) return []
    const [first] = read(text.slice(value.index, value.index + maxTryLength))
    if (first !== undefined && isLike(first, known)) return read(text.slice(value.index))
  }
  return []
}

/** Whether a row has most of the keys that others have. */
function isLike(row: RawRow, known: readonly RawRow[]): boolean {
  const counts = new Map<string, number>()
  const few = known.slice(0, 100)
  for (const each of few) for (const key of Object.keys(each)) counts.set(key, (counts.get(key) ?? 0) + 1)
  const usual = [...counts].filter(([, count]) => count * 2 >= few.length).map(([key]) => key)
  return usual.filter((key) => Object.hasOwn(row, key)).length * 2 > usual.length
}

async function sampleParquet(file: SourceFile, signal: AbortSignal | undefined): Promise<Sample> {
  const collector = createRowCollector(undefined)
  const sample = { wholeRows: whole.rows, headRows: head.rows, pieceRows: piece.rows, positions }
  const options = { sample, milliseconds: parquetMilliseconds }
  let last = 0
  const rows: RawRow[] = []
  for await (const _ of openParquet(file, collector, sourceLimits, options)) {
    signal?.throwIfAborted()
    for (const batch of collector.take()) {
      last = batch.firstEntry + batch.length - 1
      rows.push(...batch)
    }
  }
  collector.end()
  return { rows, faults: [], isWhole: last <= whole.rows && last === rows.length }
}
