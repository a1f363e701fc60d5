import { mkdir, readdir, rm, stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { createGzip } from 'node:zlib'
import { asyncBufferFromFile, parquetMetadataAsync } from 'hyparquet'
import type { DiskRoom } from '../../platform/files/disk-reserve.ts'
import { type FileWriter, type WrittenFile, writeWhole } from '../../platform/files/file-writer.ts'
import { newId } from '../../platform/ids.ts'
import type { ObjectStore } from '../../platform/outgoing/object-store.ts'
import type { StoredExport } from './export-store.ts'

type Format = StoredExport['format']
type Place = Pick<StoredExport, 'id' | 'companyId' | 'table' | 'format'>

const endings = { parquet: 'parquet', ndjson: 'ndjson.gz', csv: 'csv.gz' } as const

/** What an export of a query has in the place of days. */
export const wholePart = 'query'

/** How a download of a part is called. */
export const fileNameOf = (format: Format, part: string): string => `${part}.${endings[format]}`

export interface ExportedFile extends Pick<WrittenFile, 'bytes' | 'sha256'> {
  readonly rows: number
}

const partEnding = '.part'

const lineFeed = 10
const quote = 34

/** Counts lines of NDJSON, or records of CSV behind its header: a line feed inside quotes ends none. */
function createRowCounter(format: 'ndjson' | 'csv') {
  let rows = format === 'csv' ? -1 : 0
  let isQuoted = false
  function add(chunk: Buffer): void {
    if (format === 'ndjson') {
      for (let at = chunk.indexOf(lineFeed); at >= 0; at = chunk.indexOf(lineFeed, at + 1)) rows++
      return
    }
    for (const byte of chunk) {
      if (byte === quote) isQuoted = !isQuoted
      else if (byte === lineFeed && !isQuoted) rows++
    }
  }
  return {
    /** Hands the chunks on. */
    async *count(chunks: AsyncIterable<Buffer>) {
      for await (const chunk of chunks) {
        add(chunk)
        yield chunk
      }
    },
    rows: () => rows,
  }
}

async function countParquetRows(path: string): Promise<number> {
  const { num_rows: rows } = await parquetMetadataAsync(await asyncBufferFromFile(path))
  return Number(rows)
}

export interface ExportFilesOptions {
  readonly directory: string
  readonly room: DiskRoom
  /** Where each file lies once more. */
  readonly copies?: ObjectStore | undefined
}

/**
 * Files of exports: `COMPANY/EXPORT/dt=DAY/events.parquet`, and `query.parquet` without a day; each is there whole or
 * not at all.
 */
export function createExportFiles({ directory, room, copies }: ExportFilesOptions) {
  const folderOf = ({ companyId, id }: Pick<StoredExport, 'companyId' | 'id'>) =>
    join(directory, companyId, id)
  const keyOf = ({ companyId, id }: Pick<StoredExport, 'companyId' | 'id'>, name = '') =>
    `${companyId}/${id}/${name}`
  /** Below the folder of the export. */
  function pathOf({ table, format }: Place, part: string): string {
    const name = fileNameOf(format, table)
    return part === wholePart ? name : `dt=${part}/${name}`
  }

  /** What a process has left that ended while it wrote has another ending, and is removed by the next one. */
  async function place(path: string, fill: (writer: FileWriter) => Promise<void>) {
    const folder = dirname(path)
    await mkdir(folder, { recursive: true, mode: 0o700 })
    for (const left of await readdir(folder)) {
      if (left.endsWith(partEnding)) await rm(join(folder, left), { force: true })
    }
    return writeWhole({ path, draft: `${path}.${newId()}${partEnding}`, room }, fill)
  }

  return {
    /**
     * Writes the file of a part in the place of the former one.
     * @param rows in the format of the export, not packed
     * @param onBytes called before so many further bytes are written
     */
    async write(
      asked: Place,
      part: string,
      rows: Readable,
      onBytes: (added: number) => Promise<void>,
      signal: AbortSignal,
    ): Promise<ExportedFile> {
      const { format } = asked
      const counter = format === 'parquet' ? undefined : createRowCounter(format)
      const below = pathOf(asked, part)
      const { path, bytes, sha256 } = await place(join(folderOf(asked), below), async (writer) => {
        async function store(chunks: AsyncIterable<Buffer>): Promise<void> {
          for await (const chunk of chunks) {
            await onBytes(chunk.length)
            await writer.write(chunk)
          }
        }
        if (counter) await pipeline(rows, counter.count, createGzip({ level: 5 }), store, { signal })
        else await pipeline(rows, store, { signal })
      })
      await copies?.put(keyOf(asked, below), { path, bytes, sha256 }, signal)
      return { rows: counter ? counter.rows() : await countParquetRows(path), bytes, sha256 }
    },

    async writeManifest(asked: Place, manifest: object): Promise<void> {
      const written = await place(join(folderOf(asked), 'manifest.json'), (writer) =>
        writer.write(Buffer.from(`${JSON.stringify(manifest, undefined, 2)}\n`)),
      )
      await copies?.put(keyOf(asked, 'manifest.json'), written)
    },

    /** Finds whether a part has its copy, of so many bytes; true where none are made. */
    async readCopies(asked: Place): Promise<(part: string, bytes: number) => boolean> {
      const found = await copies?.list(keyOf(asked))
      return (part, bytes) => found === undefined || found.get(keyOf(asked, pathOf(asked, part))) === bytes
    },

    /** The file of a part and its size; undefined where this machine has none. */
    async find(asked: Place, part: string): Promise<{ path: string; bytes: number } | undefined> {
      const path = join(folderOf(asked), pathOf(asked, part))
      const found = await stat(path).catch(() => undefined)
      return found && { path, bytes: found.size }
    },

    async removePart(asked: Place, part: string): Promise<void> {
      const path = pathOf(asked, part)
      await rm(join(folderOf(asked), dirname(path)), { recursive: true, force: true })
      await copies?.remove(keyOf(asked, path))
    },

    async remove(asked: Pick<StoredExport, 'companyId' | 'id'>): Promise<void> {
      await rm(folderOf(asked), { recursive: true, force: true })
      await copies?.removeAll(keyOf(asked))
    },

    async removeOfCompany(companyId: string): Promise<void> {
      await rm(join(directory, companyId), { recursive: true, force: true })
      await copies?.removeAll(`${companyId}/`)
    },
  }
}

export type ExportFiles = ReturnType<typeof createExportFiles>
