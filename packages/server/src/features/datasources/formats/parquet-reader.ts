import { type FileHandle, open } from 'node:fs/promises'
import { brotliDecompressSync, gunzipSync, zstdDecompressSync } from 'node:zlib'
import {
  type AsyncBuffer,
  type Compressors,
  type FileMetaData,
  parquetMetadataAsync,
  parquetReadObjects,
  snappyUncompress,
} from 'hyparquet'
import { isObject } from '../../../platform/plain-object.ts'
import { limitProblem } from './json-values.ts'
import { setOwn } from './own-properties.ts'
import { malformed, SourceFault, tooLarge, unsupported } from './source-fault.ts'
import type { RawRow, SourceLimits } from './source-options.ts'
import { type RowSink, sizeText } from './text-reader.ts'

const maxFooterBytes = 16 * 1024 * 1024
const maxPageBytes = 64 * 1024 * 1024
/** A row group is read from the disk as a whole for each slice of its rows. */
const maxGroupBytes = 512 * 1024 * 1024
const maxGroupRows = 16 * 1024 * 1024
const sliceBytes = 16 * 1024 * 1024
const maxSliceRows = 50_000

/** Of a file with more than `wholeRows`: its first rows, and pieces that begin at these parts of the rest. */
export interface ParquetSample {
  readonly wholeRows: number
  readonly headRows: number
  readonly pieceRows: number
  readonly positions: readonly number[]
}

/**
 * The rows of a Parquet file, slice by slice. Timestamps become ISO 8601 texts, integers beyond 2^53 texts, bytes
 * that are no text hexadecimal digits. A broken file can keep it busy for ever: `openParquet` runs it in a thread.
 */
export async function* readParquet(
  path: string,
  sink: RowSink,
  limits: SourceLimits,
  sample: ParquetSample | undefined,
): AsyncGenerator<void> {
  const handle = await open(path)
  try {
    const buffer = await bufferOf(handle)
    const metadata = await readMetadata(buffer, limits)
    for (const [from, to] of rangesOf(Number(metadata.num_rows), sample)) {
      yield* readRange(buffer, metadata, sink, limits, from, to)
    }
  } finally {
    await handle.close()
  }
}

/** Rows to read, from 0, the end excluded. */
function rangesOf(rows: number, sample: ParquetSample | undefined): (readonly [from: number, to: number])[] {
  if (sample === undefined || rows <= sample.wholeRows) return [[0, rows]]
  const { headRows, pieceRows, positions } = sample
  const pieces = positions.map((position) => {
    const from = headRows + Math.floor((rows - headRows - pieceRows) * position)
    return [from, from + pieceRows] as const
  })
  return [[0, headRows], ...pieces]
}

async function* readRange(
  file: AsyncBuffer,
  metadata: FileMetaData,
  sink: RowSink,
  limits: SourceLimits,
  from: number,
  to: number,
): AsyncGenerator<void> {
  let groupStart = 0
  for (const group of metadata.row_groups) {
    const groupRows = Number(group.num_rows)
    const perSlice = Math.min(
      maxSliceRows,
      Math.max(100, Math.floor((groupRows * sliceBytes) / Math.max(1, Number(group.total_byte_size)))),
    )
    const end = Math.min(to, groupStart + groupRows)
    for (let rowStart = Math.max(from, groupStart); rowStart < end; rowStart += perSlice) {
      const rowEnd = Math.min(rowStart + perSlice, end)
      const rows = await parquetReadObjects({ file, metadata, compressors, rowStart, rowEnd }).catch(refuse)
      for (const [index, values] of rows.entries()) giveRow(sink, limits, rowStart + index + 1, values)
      yield
    }
    groupStart += groupRows
  }
}

function giveRow(sink: RowSink, limits: SourceLimits, entry: number, values: object): void {
  const row = plainValue(values) as RawRow
  const problem = limitProblem(row, limits)
  if (problem === undefined) sink.row(entry, row)
  else sink.fault({ rule: 'invalid_line', entry, message: `Row ${entry} ${problem}` })
}

async function bufferOf(handle: FileHandle): Promise<AsyncBuffer> {
  const { size } = await handle.stat()
  return {
    byteLength: size,
    async slice(start, end = size) {
      const bytes = new Uint8Array(Math.max(0, Math.min(end, size) - start))
      let read = 0
      while (read < bytes.length) {
        const { bytesRead } = await handle.read(bytes, read, bytes.length - read, start + read)
        if (bytesRead === 0) break
        read += bytesRead
      }
      return bytes.buffer
    },
  }
}

async function readMetadata(file: AsyncBuffer, limits: SourceLimits): Promise<FileMetaData> {
  const end = Buffer.from(await file.slice(Math.max(0, file.byteLength - 8), file.byteLength))
  const magic = end.subarray(4).toString('latin1')
  if (magic === 'PARE') throw unsupported('The Parquet file is encrypted: send it unencrypted')
  if (magic !== 'PAR1') throw malformed('Not a whole Parquet file: it does not end with PAR1')
  if (end.readUInt32LE(0) > maxFooterBytes) {
    throw tooLarge(`The description of the columns exceeds ${sizeText(maxFooterBytes)}`)
  }
  const metadata = await parquetMetadataAsync(file).catch(refuse)
  const columns = (metadata.schema[0]?.num_children ?? 0) | 0
  if (columns > limits.entryFields) {
    throw tooLarge(`${columns} columns: at most ${limits.entryFields} are read`)
  }
  for (const group of metadata.row_groups) {
    const sizes = group.columns.map(({ meta_data }) => Number(meta_data?.total_uncompressed_size ?? 0))
    const values = group.columns.map(({ meta_data }) => Number(meta_data?.num_values ?? 0))
    if (
      sum(sizes) > maxGroupBytes ||
      Number(group.num_rows) > maxGroupRows ||
      Math.max(0, ...values) > maxGroupRows
    ) {
      throw tooLarge(
        `A row group has ${group.num_rows} rows and ${sizeText(sum(sizes))}: at most ${maxGroupRows} rows and ${sizeText(maxGroupBytes)} are read, write smaller ones`,
      )
    }
  }
  return metadata
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0)
}

function refuse(error: Error): never {
  if (error instanceof SourceFault) throw error
  throw malformed(`Not a Parquet file that can be read: ${error.message}`, {}, error)
}

/** What a page claims to become is allocated before anything is known about it. */
function bounded(inflate: (input: Uint8Array, maxOutputLength: number) => Uint8Array) {
  return (input: Uint8Array, outputLength: number): Uint8Array => {
    if (outputLength > maxPageBytes) {
      throw new SourceFault(
        'inflation',
        `A page of ${sizeText(outputLength)}: at most ${sizeText(maxPageBytes)} are read`,
      )
    }
    return inflate(input, Math.max(1, outputLength))
  }
}

const compressors: Compressors = {
  SNAPPY: bounded((input, outputLength) => {
    const output = new Uint8Array(outputLength)
    snappyUncompress(input, output)
    return output
  }),
  GZIP: bounded((input, maxOutputLength) => gunzipSync(input, { maxOutputLength })),
  BROTLI: bounded((input, maxOutputLength) => brotliDecompressSync(input, { maxOutputLength })),
  ZSTD: bounded((input, maxOutputLength) => zstdDecompressSync(input, { maxOutputLength })),
}

/** A value as JSON has it. */
function plainValue(value: unknown): unknown {
  if (typeof value === 'bigint') return Number.isSafeInteger(Number(value)) ? Number(value) : String(value)
  if (typeof value === 'number') return Number.isFinite(value) ? value : null
  if (value instanceof Date) return Number.isNaN(value.getTime()) ? null : value.toISOString()
  if (value instanceof Uint8Array) return Buffer.from(value).toString('hex')
  if (Array.isArray(value)) return value.map(plainValue)
  if (!isObject(value)) return value ?? null
  const row: RawRow = {}
  for (const [key, each] of Object.entries(value)) setOwn(row, key, plainValue(each))
  return row
}
