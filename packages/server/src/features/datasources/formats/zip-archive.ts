import { promisify } from 'node:util'
import { type Entry, open as openWithCallback, type ZipFile } from 'yauzl'
import { boundInflation } from './inflation.ts'
import { malformed, noEntries, SourceFault, tooLarge, unsupported } from './source-fault.ts'
import type { SourceLimits } from './source-options.ts'

export interface ZipEntry {
  readonly name: string
  /** Bytes after decompression, as the archive claims. */
  readonly size: number
}

export interface ZipArchive {
  readonly entries: readonly ZipEntry[]
  /** @throws SourceFault where there is no such entry, it is encrypted, or it inflates beyond the limits */
  read(name: string): AsyncIterable<Buffer>
  close(): void
}

const maxEntries = 10_000
const open = promisify<string, { lazyEntries: true; autoClose: false }, ZipFile>(openWithCallback)

/**
 * The directory of a zip archive.
 * @throws SourceFault where the file is none
 */
export async function openZip(path: string, limits: SourceLimits): Promise<ZipArchive> {
  const file = await open(path, { lazyEntries: true, autoClose: false }).catch((error: Error) => {
    throw faultOfZip(error)
  })
  try {
    const entries = await readDirectory(file)
    return {
      entries: [...entries.values()].map(({ fileName, uncompressedSize }) => ({
        name: fileName,
        size: uncompressedSize,
      })),
      read: (name) => readEntry(file, entries.get(name), name, limits),
      close: () => file.close(),
    }
  } catch (error) {
    file.close()
    throw error
  }
}

/** A failure of the file system is none of the content, and its message names a path of the server. */
function faultOfZip(error: Error): Error {
  if ('syscall' in error) return error
  return malformed(`Not a zip archive: ${error.message}`, {}, error)
}

function readDirectory(file: ZipFile): Promise<ReadonlyMap<string, Entry>> {
  const entries = new Map<string, Entry>()
  return new Promise((resolve, reject) => {
    file.on('entry', (entry: Entry) => {
      if (entries.size >= maxEntries) {
        reject(tooLarge(`The archive has more than ${maxEntries} files: send the one to read`))
        return
      }
      if (!entry.fileName.endsWith('/')) entries.set(entry.fileName, entry)
      file.readEntry()
    })
    file.on('end', () => resolve(entries))
    file.on('error', (error: Error) => reject(faultOfZip(error)))
    file.readEntry()
  })
}

async function* readEntry(
  file: ZipFile,
  entry: Entry | undefined,
  name: string,
  limits: SourceLimits,
): AsyncGenerator<Buffer> {
  if (entry === undefined) throw noEntries(`The archive has no file ${name}`)
  if (entry.isEncrypted()) {
    throw unsupported(`The file ${name} of the archive is encrypted: send it without a password`)
  }
  const stream = await promisify(file.openReadStream.bind(file) as typeof openStream)(entry).catch(
    (error: Error) => {
      throw faultOfZip(error)
    },
  )
  const bound = boundInflation(limits)
  try {
    for await (const chunk of stream as AsyncIterable<Buffer>) {
      bound(chunk.length, entry.compressedSize)
      yield chunk
    }
  } catch (error) {
    throw error instanceof SourceFault ? error : faultOfZip(error as Error)
  } finally {
    stream.destroy()
  }
}

declare function openStream(
  entry: Entry,
  callback: (error: Error | null, stream: NodeJS.ReadableStream & { destroy(): void }) => void,
): void
