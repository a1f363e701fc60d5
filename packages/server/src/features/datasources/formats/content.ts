import { createReadStream } from 'node:fs'
import type { Readable } from 'node:stream'
import { createGunzip } from 'node:zlib'
import { boundInflation } from './inflation.ts'
import { malformed, noEntries, unsupported } from './source-fault.ts'
import type { SourceFile, SourceLimits, SourceOptions } from './source-options.ts'
import { openZip, type ZipArchive, type ZipEntry } from './zip-archive.ts'

/** Large enough that few entries are cut. */
const readBytes = 256 * 1024

/** Bytes of a part of a file, both ends included as in `createReadStream`. */
export interface ByteRange {
  readonly start: number
  readonly end?: number
}

/**
 * The bytes of a source after decompression, in order, cut anywhere.
 * @throws SourceFault for a bomb, for what is not compressed as `compression` says, and for a zip archive as a stream
 */
export function openContent(
  file: SourceFile,
  options: Pick<SourceOptions, 'compression' | 'entry'>,
  limits: SourceLimits,
  range?: ByteRange,
): AsyncIterable<Buffer> {
  if (options.compression === 'zip') return zipContent(pathOf(file), options.entry, limits)
  const stream =
    'path' in file ? createReadStream(file.path, { highWaterMark: readBytes, ...range }) : file.stream
  return options.compression === 'gzip' ? gzipContent(stream, limits) : plainContent(stream, limits)
}

/** The path of a source that is read by position. */
export function pathOf(file: SourceFile): string {
  if ('path' in file) return file.path
  throw unsupported('Zip, XLSX and Parquet are read from files, not from streams')
}

async function* plainContent(stream: Readable, limits: SourceLimits): AsyncGenerator<Buffer> {
  const bound = boundInflation({ ...limits, inflationRatio: Number.POSITIVE_INFINITY })
  try {
    for await (const chunk of stream as AsyncIterable<Buffer>) {
      bound(chunk.length, 1)
      yield chunk
    }
  } finally {
    stream.destroy()
  }
}

async function* gzipContent(stream: Readable, limits: SourceLimits): AsyncGenerator<Buffer> {
  const gunzip = createGunzip({ chunkSize: readBytes })
  stream.on('error', (error) => gunzip.destroy(error))
  stream.pipe(gunzip)
  const bound = boundInflation(limits)
  try {
    for await (const chunk of gunzip as AsyncIterable<Buffer>) {
      bound(chunk.length, gunzip.bytesWritten)
      yield chunk
    }
  } catch (error) {
    if (!String((error as NodeJS.ErrnoException).code).startsWith('Z_')) throw error
    throw malformed(`Not whole gzip content: ${(error as Error).message}`, {}, error)
  } finally {
    stream.destroy()
    gunzip.destroy()
  }
}

async function* zipContent(
  path: string,
  entry: string | undefined,
  limits: SourceLimits,
): AsyncGenerator<Buffer> {
  const archive = await openZip(path, limits)
  try {
    yield* archive.read(entry ?? entryToRead(archive).name)
  } finally {
    archive.close()
  }
}

const knownName = /\.(csv|tsv|txt|json|ndjson|jsonl|xml)$/i

/** The largest file of an archive whose format is known by its name, else the largest one. */
export function entryToRead({ entries }: Pick<ZipArchive, 'entries'>): ZipEntry {
  // Archives of macOS have a shadow of each file.
  const files = entries.filter(({ name }) => !/(^|\/)(__MACOSX\/|\.)/.test(name))
  const known = files.filter(({ name }) => knownName.test(name))
  const largest = (known.length > 0 ? known : files).toSorted(
    (a, b) => b.size - a.size || (a.name < b.name ? -1 : 1),
  )[0]
  if (largest) return largest
  throw noEntries('The archive has no file')
}
