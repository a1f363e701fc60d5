import { createHash } from 'node:crypto'
import { createWriteStream } from 'node:fs'
import { mkdir, open, readdir, rename, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { createGzip } from 'node:zlib'
import { asyncBufferFromFile, parquetMetadataAsync } from 'hyparquet'
import type { DiskRoom } from '../../platform/files/disk-reserve.ts'
import type { StoredExport } from './export-store.ts'

type Format = StoredExport['format']
type Place = Pick<StoredExport, 'id' | 'companyId' | 'table' | 'format'>

const endings = { parquet: 'parquet', ndjson: 'ndjson.gz', csv: 'csv.gz' } as const

/** How a download of a day is called. */
export const fileNameOf = (format: Format, day: string): string => `${day}.${endings[format]}`

export interface WrittenFile {
  readonly rows: number
  readonly bytes: number
  readonly sha256: string
}

const lineFeed = 10
const quote = 34

/** Counts lines of NDJSON, or records of CSV behind its header: a line feed inside quotes ends none. */
function createRowCounter(format: 'ndjson' | 'csv') {
  let rows = format === 'csv' ? -1 : 0
  let isQuoted = false
  return {
    add(chunk: Buffer): void {
      if (format === 'ndjson') {
        for (let at = chunk.indexOf(lineFeed); at >= 0; at = chunk.indexOf(lineFeed, at + 1)) rows++
        return
      }
      for (const byte of chunk) {
        if (byte === quote) isQuoted = !isQuoted
        else if (byte === lineFeed && !isQuoted) rows++
      }
    },
    rows: () => rows,
  }
}

async function countParquetRows(path: string): Promise<number> {
  const { num_rows: rows } = await parquetMetadataAsync(await asyncBufferFromFile(path))
  return Number(rows)
}

/** Files of exports: `COMPANY/EXPORT/dt=DAY/events.parquet`, each there whole or not at all. */
export function createExportFiles({
  directory,
  room,
}: {
  readonly directory: string
  readonly room: DiskRoom
}) {
  const folderOf = ({ companyId, id }: Pick<StoredExport, 'companyId' | 'id'>) =>
    join(directory, companyId, id)
  const dayFolderOf = (asked: Place, day: string) => join(folderOf(asked), `dt=${day}`)
  const pathOf = (asked: Place, day: string) =>
    join(dayFolderOf(asked, day), `${asked.table}.${endings[asked.format]}`)

  /** Writes what a process ended during leaves a file with another ending, which the next one removes. */
  async function place(folder: string, path: string, write: (draft: string) => Promise<void>): Promise<void> {
    await mkdir(folder, { recursive: true, mode: 0o700 })
    for (const name of await readdir(folder)) {
      if (name.endsWith('.part')) await rm(join(folder, name), { force: true })
    }
    const draft = `${path}.${process.pid}.part`
    try {
      await write(draft)
      const handle = await open(draft, 'r')
      await handle.sync().finally(() => handle.close())
      await rename(draft, path)
    } catch (error) {
      await rm(draft, { force: true })
      throw error
    }
  }

  return {
    /**
     * Writes the file of a day in the place of the former one.
     * @param rows in the format of the export, not packed
     * @param onBytes called before so many further bytes are written
     */
    async write(
      asked: Place,
      day: string,
      rows: Readable,
      onBytes: (added: number) => Promise<void>,
      signal: AbortSignal,
    ): Promise<WrittenFile> {
      const { format } = asked
      const counter = format === 'parquet' ? undefined : createRowCounter(format)
      const hash = createHash('sha256')
      let bytes = 0
      let count = 0
      async function* counted(chunks: AsyncIterable<Buffer>) {
        for await (const chunk of chunks) {
          counter?.add(chunk)
          yield chunk
        }
      }
      async function* measured(chunks: AsyncIterable<Buffer>) {
        for await (const chunk of chunks) {
          hash.update(chunk)
          bytes += chunk.length
          await onBytes(chunk.length)
          await room.take(chunk.length)
          yield chunk
        }
      }
      await place(dayFolderOf(asked, day), pathOf(asked, day), async (draft) => {
        const file = createWriteStream(draft, { mode: 0o600 })
        if (counter) await pipeline(rows, counted, createGzip({ level: 5 }), measured, file, { signal })
        else await pipeline(rows, measured, file, { signal })
        count = counter ? counter.rows() : await countParquetRows(draft)
      })
      return { rows: count, bytes, sha256: hash.digest('hex') }
    },

    async writeManifest(asked: Place, manifest: object): Promise<void> {
      const folder = folderOf(asked)
      await place(folder, join(folder, 'manifest.json'), async (draft) => {
        const text = Buffer.from(`${JSON.stringify(manifest, undefined, 2)}\n`)
        await room.take(text.length)
        const handle = await open(draft, 'w', 0o600)
        await handle.writeFile(text).finally(() => handle.close())
      })
    },

    /** The file of a day and its size; undefined where this machine has none. */
    async find(asked: Place, day: string): Promise<{ path: string; bytes: number } | undefined> {
      const path = pathOf(asked, day)
      const found = await stat(path).catch(() => undefined)
      return found && { path, bytes: found.size }
    },

    removeDay: (asked: Place, day: string): Promise<void> =>
      rm(dayFolderOf(asked, day), { recursive: true, force: true }),

    remove: (asked: Pick<StoredExport, 'companyId' | 'id'>): Promise<void> =>
      rm(folderOf(asked), { recursive: true, force: true }),
  }
}

export type ExportFiles = ReturnType<typeof createExportFiles>
