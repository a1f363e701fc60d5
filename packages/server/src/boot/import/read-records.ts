import { createReadStream } from 'node:fs'
import { stat } from 'node:fs/promises'
import { createInterface } from 'node:readline'
import { Readable } from 'node:stream'
import { openContent } from '../../features/datasources/formats/content.ts'
import { createCsvReader } from '../../features/datasources/formats/csv-reader.ts'
import { createDecoder } from '../../features/datasources/formats/encoding.ts'
import { SourceFault } from '../../features/datasources/formats/source-fault.ts'
import { sourceLimits } from '../../features/datasources/formats/source-options.ts'
import { ImportFault } from './import-fault.ts'

/** One record of the input: a line of CSV by its header, or a document of NDJSON. */
export interface InputRecord {
  /** Number of the record in its input, from 1; what a message names. */
  readonly number: number
  readonly fields: Readonly<Record<string, unknown>>
}

export type InputFormat = 'csv' | 'ndjson'

/** CSV or NDJSON by the name of the file: `events.csv`, `events.ndjson.gz`. */
export function formatOf(name: string): InputFormat | undefined {
  if (/\.(csv|tsv|txt)(\.gz)?$/i.test(name)) return 'csv'
  if (/\.(ndjson|jsonl)(\.gz)?$/i.test(name)) return 'ndjson'
  return undefined
}

const gzipMagic = 0x1f8b
const unbounded = {
  ...sourceLimits,
  contentBytes: Number.POSITIVE_INFINITY,
  inflationRatio: Number.POSITIVE_INFINITY,
}

/** Inflates what begins as gzip, whatever its name says. */
async function* inflated(source: Readable): AsyncIterable<Buffer> {
  const chunks = source[Symbol.asyncIterator]() as AsyncIterator<Buffer>
  const first = await chunks.next()
  if (first.done) return
  const all = async function* () {
    yield first.value
    for (let next = await chunks.next(); !next.done; next = await chunks.next()) yield next.value
  }
  const isGzip = first.value.length >= 2 && first.value.readUInt16BE(0) === gzipMagic
  const stream = Readable.from(all(), { objectMode: false })
  yield* openContent({ stream }, isGzip ? { compression: 'gzip' } : {}, unbounded)
}

async function* csvRecords(source: AsyncIterable<Buffer>, delimiter: string): AsyncIterable<InputRecord> {
  const records: InputRecord[] = []
  const reader = createCsvReader({
    delimiter,
    isExact: true,
    limits: sourceLimits,
    sink: {
      row: (number, fields) => records.push({ number, fields }),
      fault({ message }) {
        throw new SourceFault('malformed', message)
      },
    },
  })
  const decoder = createDecoder('utf-8')
  let isEmpty = true
  for await (const bytes of source) {
    isEmpty = false
    reader.write(decoder.decode(bytes))
    yield* records.splice(0)
  }
  reader.write(decoder.end())
  if (!isEmpty) reader.end(false)
  yield* records
}

async function* ndjsonRecords(source: AsyncIterable<Buffer>): AsyncIterable<InputRecord> {
  const lines = createInterface({ input: Readable.from(source), crlfDelay: Number.POSITIVE_INFINITY })
  let number = 0
  for await (const line of lines) {
    number++
    if (line.trim() === '') continue
    let fields: unknown
    try {
      fields = JSON.parse(number === 1 ? line.replace(/^\ufeff/, '') : line)
    } catch (error) {
      throw new ImportFault(`line ${number} is not valid JSON: ${(error as Error).message}`)
    }
    if (fields === null || typeof fields !== 'object' || Array.isArray(fields)) {
      throw new ImportFault(`line ${number} is not a JSON object`)
    }
    yield { number, fields: fields as Record<string, unknown> }
  }
}

/**
 * Opens a file, or standard input for `-`.
 * @throws ImportFault where the file is absent or its format is unknown
 */
export async function openInput(
  path: string,
  options: { format?: InputFormat; delimiter?: string; standardInput?: Readable },
) {
  const format = options.format ?? (path === '-' ? undefined : formatOf(path))
  if (format === undefined) {
    throw new ImportFault(
      `The format of ${path === '-' ? 'standard input' : path} is not known from its name: add --format csv or --format ndjson`,
    )
  }
  let size: number | undefined
  let source: Readable
  if (path === '-') source = options.standardInput ?? process.stdin
  else {
    try {
      size = (await stat(path)).size
    } catch (error) {
      throw new ImportFault(`${path} cannot be read: ${(error as Error).message}`)
    }
    source = createReadStream(path, { highWaterMark: 256 * 1024 })
  }
  let read = 0
  const counted = async function* () {
    for await (const chunk of source as AsyncIterable<Buffer>) {
      read += chunk.length
      yield chunk
    }
  }
  return {
    /** Bytes in the file as it lies on disk; undefined for a pipe. */
    size,
    /** Bytes read so far, of the same kind as `size`. */
    bytesRead: (): number => read,
    async *records(): AsyncIterable<InputRecord> {
      const bytes = inflated(Readable.from(counted()))
      try {
        yield* format === 'csv' ? csvRecords(bytes, options.delimiter ?? ',') : ndjsonRecords(bytes)
      } catch (error) {
        if (error instanceof ImportFault) throw new ImportFault(`${path}: ${error.message}`)
        throw new ImportFault(`${path} cannot be read as ${format}: ${(error as Error).message}`)
      }
    },
  }
}
