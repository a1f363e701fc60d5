import type { Clock } from '../../../../platform/clock.ts'
import type { Logger } from '../../../../platform/logger.ts'
import type { StagedBatch } from '../staged-rows.ts'
import type { FilterFile } from './filter-file.ts'
import { KeyFilter } from './key-filter.ts'
import type { KeyStore } from './key-store.ts'
import { readKeys } from './key-stream.ts'

export interface KnownKeysDependencies {
  readonly store: Pick<KeyStore, 'countKeys' | 'identifyKeys' | 'streamKeys'>
  /** Keeps the filter from one process to the next; without it each reads what is stored. */
  readonly file?: FilterFile
  readonly clock: Clock
  readonly logger: Logger
}

export interface TakenBatch {
  readonly keys: number
  /** The only keys that may be stored already; undefined while that is not known. */
  readonly candidates: readonly bigint[] | undefined
}

export type KnownKeys = ReturnType<typeof createKnownKeys>

/** Fewer are read again in less than a tenth of a second. */
const savedFromKeys = 1_000_000

/** Room for growth, so that what is stored need not be read again soon. */
const capacityFor = (keys: number): number => Math.ceil(1.5 * keys) + 1_000_000
/**
 * All keys of a repeated batch are candidates, and beyond this number looking through all stored keys is cheaper.
 * They also have to fit into one parameter of a statement, of which a server takes 128 KiB.
 */
const maxCandidates = 4_000
const retryMs = 10_000

/**
 * The stored keys as a filter in memory: looking them up in the store costs time that grows with their number for every
 * batch, and nearly every event is new. The filter has every stored key, without false negatives.
 */
export function createKnownKeys({ store, file, clock, logger }: KnownKeysDependencies) {
  let current: KeyFilter | undefined
  /** What is being read; takes the keys of batches too, which are stored behind what the reading sees. */
  let next: { readonly filter: KeyFilter; readonly ending: AbortController } | undefined
  let reading: Promise<unknown> = Promise.resolve()
  /** Upper bound of the keys in the store, unless another process stores some. */
  let expected = 0
  let retryAt = 0

  function abandon(): void {
    next?.ending.abort()
    next = undefined
  }

  function read(): void {
    abandon()
    next = { filter: new KeyFilter(capacityFor(expected)), ending: new AbortController() }
    reading = Promise.all([reading, fill(next)])
  }

  async function fill(own: NonNullable<typeof next>): Promise<void> {
    const { filter, ending } = own
    const [began, atLeast] = [performance.now(), expected]
    let keys = 0
    try {
      await readKeys(store.streamKeys(ending.signal), (halves) => {
        keys += halves.length / 2
        filter.add(halves, () => {})
      })
      if (next !== own) return
      if (keys < atLeast) throw new Error(`${keys} keys are read of ${atLeast}`)
      current = filter
      next = undefined
      const seconds = (performance.now() - began) / 1_000
      logger.debug({ keys: filter.count, bytes: filter.bytes, seconds }, 'the known keys are in memory')
    } catch (error) {
      if (next !== own) return
      next = undefined
      retryAt = clock.now() + retryMs
      logger.warn(
        { err: error },
        'the known keys cannot be read: each batch is compared with all that are stored',
      )
    }
  }

  async function renew(): Promise<void> {
    expected = await store.countKeys()
    read()
  }

  /** Before the keys of a batch are looked at: the new filter needs them as well. */
  function readIfNeeded(keys: number): void {
    const isForeign = keys > expected
    expected = keys
    if (isForeign) {
      current = undefined
      read()
    } else if (next === undefined && clock.now() >= retryAt) {
      if (current === undefined || current.count > current.capacity) read()
    }
  }

  return {
    /**
     * Forgets everything and starts to read the stored keys: another process may have stored some. Like `renew` it must
     * not be called while a batch that was taken is being stored.
     */
    async begin(): Promise<void> {
      current = undefined
      abandon()
      expected = await store.countKeys()
      current = await file?.take(store.identifyKeys)
      if (current === undefined) read()
    },
    /** Starts to read the stored keys, to replace those in memory: some were removed from the store. */
    renew,
    /**
     * Takes the keys of a batch, which is stored next; it is read to its end.
     * @param keys how many the store has now: more than were stored here means that another process has stored some
     */
    async takeBatch(bytes: StagedBatch['keys'], stored: number): Promise<TakenBatch> {
      readIfNeeded(stored)
      // The one that is being read may be complete, and in use, before the last key of the batch.
      const [known, growing] = [current, next?.filter]
      const candidates: bigint[] = []
      let tooMany = false
      let keys = 0
      await readKeys(bytes, (halves) => {
        keys += halves.length / 2
        growing?.add(halves, () => {})
        known?.add(halves, (key) => {
          if (candidates.length < maxCandidates) candidates.push(keyAt(halves, key))
          else tooMany = true
        })
      })
      return { keys, candidates: known === undefined || tooMany ? undefined : candidates }
    },
    /** Notes that keys of the last batch were stored. */
    stored(keys: number): void {
      expected += keys
    },
    /** Resolves when the reads under way have ended. */
    async stop(): Promise<void> {
      abandon()
      await reading
    },
    /** Leaves what is known to the next process, once nothing is stored any more. */
    async save(): Promise<void> {
      if (file === undefined || current === undefined || current.count < savedFromKeys) return
      try {
        await file.save(current, await store.identifyKeys())
      } catch (error) {
        logger.info({ err: error }, 'the known keys are not saved: the next start reads them from the store')
      }
    },
    /** Bytes of memory. */
    bytes: (): number => (current?.bytes ?? 0) + (next?.filter.bytes ?? 0),
  }
}

function keyAt(halves: Uint32Array, key: number): bigint {
  return (BigInt(halves[2 * key + 1] as number) << 32n) | BigInt(halves[2 * key] as number)
}
