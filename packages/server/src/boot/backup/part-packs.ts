import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { readdir, readFile, stat } from 'node:fs/promises'
import { join, relative, sep } from 'node:path'
import { Readable } from 'node:stream'
import { BackupRefused, extract } from './backup-files.ts'

/**
 * Files of a part of a table, one behind the other: a part has dozens of small ones, each of which would be created,
 * checked and synced by itself. A line of JSON, `[["NAME", BYTES], ...]`, says which follow.
 */
export type PackedFiles = readonly (readonly [name: string, bytes: number])[]

export interface PackedPart {
  /** Parts of a table with the same one have the same files, whatever their names. */
  readonly fingerprint: string
  readonly rows: number
  readonly packs: readonly PackedFiles[]
}

/** Of the line that lists them; a part has some hundred at most. */
const maxListBytes = 1_000_000

/** Of one pack that has several files, so that it fits into an object of a bucket. */
const maxPackBytes = 1_000_000_000

/** Names of all files below a directory, with `/`. */
export async function filesBelow(directory: string): Promise<string[]> {
  const entries = await readdir(directory, { recursive: true, withFileTypes: true })
  return entries
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => relative(directory, join(parentPath, name)).split(sep).join('/'))
    .sort()
}

/** What the directory of a part has. */
export async function readPart(directory: string): Promise<PackedPart> {
  const hash = createHash('sha256')
  const packs: [string, number][][] = []
  let room = 0
  for (const name of await filesBelow(directory)) {
    const { size } = await stat(join(directory, name))
    hash.update(JSON.stringify([name, size]))
    // Those with data have their digests in checksums.txt.
    if (name.endsWith('.txt') || name.endsWith('.json')) hash.update(await readFile(join(directory, name)))
    if (packs.length === 0 || size > room) {
      packs.push([])
      room = maxPackBytes
    }
    packs.at(-1)?.push([name, size])
    room -= size
  }
  const rows = Number(await readFile(join(directory, 'count.txt'), 'utf8'))
  return { fingerprint: hash.digest('hex').slice(0, 32), rows, packs }
}

export function packFiles(directory: string, files: PackedFiles): Readable {
  async function* bytes(): AsyncGenerator<Buffer> {
    yield Buffer.from(`${JSON.stringify(files)}\n`)
    for (const [name, size] of files) if (size > 0) yield* createReadStream(join(directory, name))
  }
  return Readable.from(bytes(), { objectMode: false })
}

/** Writes the files of a pack into a directory. @throws {BackupRefused} it names one outside, or is cut */
export async function unpackFiles(pack: Readable, directory: string): Promise<void> {
  const chunks: AsyncIterator<Buffer> = pack[Symbol.asyncIterator]()
  let held: Buffer = Buffer.alloc(0)
  async function more(): Promise<Buffer> {
    const { value, done } = await chunks.next()
    if (done === true) throw new BackupRefused('A pack of a part is cut')
    return value
  }
  while (!held.includes('\n') && held.length <= maxListBytes) held = Buffer.concat([held, await more()])
  const end = held.indexOf('\n')
  if (end < 0) throw new BackupRefused('A pack of a part does not say which files it has')
  const files = JSON.parse(held.toString('utf8', 0, end)) as PackedFiles
  held = held.subarray(end + 1)
  async function* next(bytes: number): AsyncGenerator<Buffer> {
    for (let left = bytes; left > 0; ) {
      if (held.length === 0) held = await more()
      const chunk = held.subarray(0, left)
      held = held.subarray(chunk.length)
      left -= chunk.length
      yield chunk
    }
  }
  for (const [name, bytes] of files) {
    if (name.startsWith('/') || name.split('/').includes('..'))
      throw new BackupRefused(`A pack of a part names ${name}, outside of it`)
    await extract(next(bytes), join(directory, name))
  }
  // Only its end shows whether it was sealed with this key.
  while ((await chunks.next()).done !== true);
}
