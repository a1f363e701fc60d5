import type { Columnar, Statement } from '../../../../platform/stores/columnar.ts'
import { eventKey, isEvent, type Staging } from '../staged-rows.ts'
import type { StoredKeys } from './filter-file.ts'

/** Keys of one result: more than a batch has events, and less than the engine gives at most. */
const maxKeys = 10_000_000
const keyResult = {
  max_threads: 1,
  max_result_rows: maxKeys,
  max_result_bytes: 16 * maxKeys,
  max_execution_time: 120,
}

/** Keys that are asked for at a time, about. */
const keysPerRead = 4_000_000

export interface KeyStoreDependencies {
  readonly columnar: Pick<Columnar, 'stream' | 'command'>
  readonly ask: <R>(statement: Statement) => Promise<R[]>
  /** Aborts when loading is being abandoned. */
  readonly signal: AbortSignal
}

/** Reads the keys of staged and of stored events, and forgets old ones. */
export function createKeyStore({ columnar, ask, signal }: KeyStoreDependencies) {
  async function countKeys(): Promise<number> {
    const [row] = await ask<{ keys: number }>({ sql: 'SELECT count() AS keys FROM event_keys' })
    return row?.keys ?? 0
  }

  return {
    countKeys,

    async identifyKeys(): Promise<StoredKeys> {
      const [row] = await ask<StoredKeys>({
        sql: 'SELECT count() AS keys, max(seq) AS last FROM event_keys',
      })
      return row ?? { keys: 0, last: 0 }
    },

    /** The keys of the staged events, 8 bytes each in the order of little-endian processors; asked for as they are read. */
    async *streamStagedKeys(table: Staging['table']): AsyncGenerator<Buffer> {
      yield* await columnar.stream({
        sql: `SELECT ${eventKey} FROM ${table} WHERE ${isEvent}`,
        format: 'RowBinary',
        settings: keyResult,
        signal,
      })
    },

    /** All keys that are stored, as `streamStagedKeys` gives them; those that are stored meanwhile may be missing. */
    async *streamKeys(ending: AbortSignal): AsyncGenerator<Buffer> {
      const reads = BigInt(Math.ceil((await countKeys()) / keysPerRead))
      const bound = (number: bigint): bigint => (number * 2n ** 64n) / reads
      for (let read = 0n; read < reads; read++) {
        yield* await columnar.stream({
          sql: 'SELECT key FROM event_keys WHERE key BETWEEN {first: UInt64} AND {last: UInt64}',
          params: { first: bound(read), last: bound(read + 1n) - 1n },
          format: 'RowBinary',
          settings: keyResult,
          signal: AbortSignal.any([signal, ending]),
        })
      }
    },

    /** Weeks for which there are keys, by their Mondays as YYYY-MM-DD. */
    async listKeyWeeks(): Promise<string[]> {
      const rows = await ask<{ partition: string }>({
        sql: `SELECT DISTINCT partition FROM system.parts
              WHERE database = currentDatabase() AND table = 'event_keys' AND active ORDER BY partition`,
      })
      return rows.map(({ partition }) => partition).filter((monday) => /^\d{4}-\d\d-\d\d$/.test(monday))
    },

    /** Forgets the keys of a week of `listKeyWeeks`. */
    async dropKeyWeek(monday: string): Promise<void> {
      if (!/^\d{4}-\d\d-\d\d$/.test(monday)) throw new RangeError(`${monday} is no week of keys`)
      await columnar.command({ sql: `ALTER TABLE event_keys DROP PARTITION '${monday}'` })
    },
  }
}

export type KeyStore = ReturnType<typeof createKeyStore>
