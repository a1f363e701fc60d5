import { openContent } from './content.ts'
import { detectDelimiter } from './csv-delimiter.ts'
import { createCsvReader } from './csv-reader.ts'
import { createDecoder, type Decoder, detectEncoding } from './encoding.ts'
import { createJsonReader } from './json-reader.ts'
import { createNdjsonReader } from './ndjson-reader.ts'
import { openParquet } from './open-parquet.ts'
import { malformed, noEntries } from './source-fault.ts'
import {
  type EntryFault,
  type ReadOptions,
  type RowBatch,
  type SourceEncoding,
  type SourceFile,
  type SourceLimits,
  type SourceOptions,
  sourceLimits,
} from './source-options.ts'
import type { ReaderOptions, RowSink, TextReader } from './text-reader.ts'
import { openWorkbook } from './workbook-reader.ts'
import { createXmlReader, detectXmlRoot } from './xml-reader.ts'

const batchRows = 1000

/** Characters that are gathered before they are read: an entry that is cut is read from its beginning again. */
const pieceLength = 64 * 1024

/** Characters from which a delimiter, an encoding or a root path is detected. */
const headLength = 256 * 1024

/** Bytes from which an encoding is detected. */
const encodingBytes = 4096

/** Entries that are left out before the first row, after which the format is taken to be wrong. */
const maxFaultsBeforeRows = 1000

/**
 * The entries of a source in order, in batches of at most 1,000, while the consumer asks for more: memory does not
 * grow with the source.
 * @throws SourceFault where the content cannot be read (further); rows given before it are right
 */
export async function* openRows(
  file: SourceFile,
  options: SourceOptions,
  { onFault, signal, limits: given, maxBytes = Number.POSITIVE_INFINITY, onCut }: ReadOptions = {},
): AsyncGenerator<RowBatch> {
  const limits = { ...sourceLimits, ...given }
  const collector = createRowCollector(onFault)
  let isCut = false
  const cut = () => {
    isCut = true
    onCut?.()
  }
  const text = () => cutContent(openContent(file, options, limits), maxBytes, cut)
  const pieces =
    options.format === 'parquet'
      ? openParquet(file, collector, limits)
      : options.format === 'xlsx'
        ? openWorkbook(file, options, collector, limits)
        : readText(text(), options, collector, limits, () => isCut)
  for await (const _ of pieces) {
    signal?.throwIfAborted()
    yield* collector.take()
  }
  yield* collector.take()
  collector.end()
}

/** The first bytes of content; `onCut` is called where there are more. */
async function* cutContent(
  content: AsyncIterable<Buffer>,
  maxBytes: number,
  onCut: () => void,
): AsyncGenerator<Buffer> {
  let rest = maxBytes
  for await (const chunk of content) {
    if (chunk.length > rest) {
      onCut()
      yield chunk.subarray(0, rest)
      return
    }
    rest -= chunk.length
    yield chunk
  }
}

/**
 * Reads texts into the collector; it gives control back after each piece.
 * @param isCut whether, at its end, the content goes on behind the bytes: an unfinished last entry is no fault then
 */
async function* readText(
  content: AsyncIterable<Buffer>,
  options: SourceOptions,
  collector: RowCollector,
  limits: SourceLimits,
  isCut: () => boolean,
): AsyncGenerator<void> {
  let reader: TextReader | undefined
  let decoder: Decoder | undefined
  let held: Buffer = Buffer.alloc(0)
  let pending = ''

  function decode(bytes: Buffer, isEnd: boolean): string {
    if (decoder === undefined) {
      held = Buffer.concat([held, bytes])
      if (held.length < encodingBytes && !isEnd) return ''
      decoder = createDecoder(options.encoding ?? wideEncoding(held.subarray(0, encodingBytes)))
      const text = decoder.decode(held)
      held = Buffer.alloc(0)
      return isEnd ? text + decoder.end() : text
    }
    return isEnd ? decoder.end() : decoder.decode(bytes)
  }

  function write(isEnd: boolean): void {
    collector.isReplaced = decoder?.hasReplaced ?? false
    if (reader === undefined) {
      const isWhole = isEnd && !isCut() && pending.length <= headLength
      reader = createReader(options, pending.slice(0, headLength), isWhole, { sink: collector, limits })
    }
    if (pending !== '') reader.write(pending)
    pending = ''
    if (isEnd) reader.end(isCut())
  }

  for await (const bytes of content) {
    pending += decode(bytes, false)
    if (pending.length < (reader === undefined ? headLength : pieceLength)) continue
    write(false)
    yield
  }
  pending += decode(Buffer.alloc(0), true)
  write(true)
  yield
}

/** UTF-16 without a mark, and what an XML file declares; between UTF-8 and windows-1252 the decoder decides. */
function wideEncoding(head: Buffer): SourceEncoding | undefined {
  const found = detectEncoding(head)
  return found === 'utf-8' || found === 'windows-1252' ? undefined : found
}

function createReader(
  options: SourceOptions,
  head: string,
  isWhole: boolean,
  common: ReaderOptions,
): TextReader {
  switch (options.format) {
    case 'csv': {
      const delimiter = options.csvDelimiter ?? detectDelimiter(head, isWhole)
      return createCsvReader({
        ...common,
        delimiter,
        ...(options.csvColumns && { columns: options.csvColumns }),
      })
    }
    case 'ndjson':
      return createNdjsonReader(common)
    case 'json':
      return createJsonReader({
        ...common,
        ...(options.rootPath !== undefined && { rootPath: options.rootPath }),
      })
    case 'xml': {
      const rootPath = options.rootPath ?? detectXmlRoot(head)
      if (rootPath === undefined) {
        throw noEntries('No element repeats: give the root path of the elements that are entries')
      }
      return createXmlReader({ ...common, rootPath })
    }
    case 'xlsx':
    case 'parquet':
      throw new Error(`${options.format} is no text`)
  }
}

export interface RowCollector extends RowSink {
  /** Whether bytes were met that are no text in the encoding: entries that hold them are left out. */
  isReplaced: boolean
  /** Rows since the last call. */
  take(): RowBatch[]
  /** @throws SourceFault where entries were left out and none was read */
  end(): void
}

/** Gathers rows into batches of consecutive entries. */
export function createRowCollector(onFault: ((fault: EntryFault) => void) | undefined): RowCollector {
  let batches: RowBatch[] = []
  let lastEntry = 0
  let rows = 0
  let faults = 0
  let firstFault: EntryFault | undefined

  function fault(found: EntryFault): void {
    faults++
    firstFault ??= found
    onFault?.(found)
    if (rows === 0 && faults >= maxFaultsBeforeRows) end()
  }

  function end(): void {
    if (rows > 0 || firstFault === undefined) return
    throw malformed(`No entry can be read. ${firstFault.message}`, firstFault)
  }

  return {
    isReplaced: false,
    row(entry, row) {
      if (this.isReplaced && JSON.stringify(row).includes('\ufffd')) {
        fault({
          rule: 'invalid_line',
          entry,
          message: `Entry ${entry} has bytes that are no text in the encoding: is it another one, such as windows-1252?`,
        })
        return
      }
      rows++
      const batch = batches.at(-1)
      if (batch !== undefined && entry === lastEntry + 1 && batch.length < batchRows) batch.push(row)
      else batches.push(Object.assign([row], { firstEntry: entry }))
      lastEntry = entry
    },
    fault,
    take() {
      const taken = batches
      batches = []
      return taken
    },
    end,
  }
}
