import { readFile, rename, rm, writeFile } from 'node:fs/promises'
import { crc32 } from 'node:zlib'
import { KeyFilter } from './key-filter.ts'

/** What is stored: another store, or the same later, has another one. */
export interface StoredKeys {
  readonly keys: number
  /** The greatest sequence number of a key. */
  readonly last: number
}

/** Where the filter of the known keys is while no process loads. */
export interface FilterFile {
  /** The filter of these keys. The file is gone afterwards: what is stored from now on is not in it. */
  take(of: () => Promise<StoredKeys>): Promise<KeyFilter | undefined>
  save(filter: KeyFilter, of: StoredKeys): Promise<void>
}

const version = 1
/** Version, capacity, count, keys, last sequence number and the checksum of all that follows, as doubles. */
const headBytes = 48

export function createFilterFile(path: string): FilterFile {
  return {
    async take(of) {
      const file = await readFile(path).catch(() => undefined)
      if (file === undefined) return undefined
      await rm(path, { force: true })
      const stored = await of()
      const [kind, capacity = 0, count = 0, keys, last, checksum] = Array.from({ length: 6 }, (_, field) =>
        file.length < headBytes ? undefined : file.readDoubleLE(8 * field),
      )
      if (kind !== version || keys !== stored.keys || last !== stored.last) return undefined
      const bits = file.subarray(headBytes)
      if (crc32(bits) !== checksum) return undefined
      return KeyFilter.of(capacity, count, bits)
    },

    async save(filter, { keys, last }) {
      const head = Buffer.alloc(headBytes)
      const { bits } = filter
      const fields = [version, filter.capacity, filter.count, keys, last, crc32(bits)]
      for (const [field, value] of fields.entries()) head.writeDoubleLE(value, 8 * field)
      const draft = `${path}.draft`
      try {
        await writeFile(draft, [head, bits], { mode: 0o600 })
        await rename(draft, path)
      } catch (error) {
        await rm(draft, { force: true })
        throw error
      }
    },
  }
}
