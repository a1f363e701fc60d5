import type { Clock } from '../../platform/clock.ts'
import type { Logger } from '../../platform/logger.ts'
import { KeyFilter } from './key-filter.ts'
import { readKeys } from './key-stream.ts'
import type { LoaderStore } from './loader-store.ts'

export interface KnownKeysDependencies {
  readonly store: Pick<LoaderStore, 'countKeys' | 'streamKeys'>
  readonly clock: Clock
  readonly logger: Logger
}

export interface KnownKeys {
  /**
   * Forgets everything and begins to read what is stored: somebody else may have stored keys meanwhile. Like `renew`
   * it must not be called while a batch that was taken is being stored.
   */
  begin(): Promise<void>
  /** Begins to read what is stored now, to take the place of what it knows: keys were removed from the store. */
  renew(): Promise<void>
  /**
   * Takes the keys of a batch, which is stored next.
   * @returns those that may be stored already, all others are not; undefined while it knows too little to say
   */
  takeBatch(bytes: AsyncIterable<Buffer>): Promise<bigint[] | undefined>
  /** Resolves when nothing is read any more. */
  stop(): Promise<void>
  /** Bytes of memory. */
  bytes(): number
}

/** Room for growth, so that what is stored need not be read again soon. */
const spare = 1.25
const leastCapacity = 1_000_000
/** More candidates than this are not worth being told apart: a batch that is repeated consists of them. */
const mostCandidates = 10_000
const retryMs = 10_000

/**
 * What is known of the keys in the store, in memory: a look-up among all of them costs time that grows with their
 * number for every batch, and nearly every event is new. It has every key that is stored, and never denies one.
 */
export function createKnownKeys({ store, clock, logger }: KnownKeysDependencies): KnownKeys {
  let current: KeyFilter | undefined
  /** What is being read; takes the keys of batches too, which are stored behind what the reading sees. */
  let next: { readonly filter: KeyFilter; readonly ending: AbortController } | undefined
  let reading: Promise<unknown> = Promise.resolve()
  let expected = 0
  let retryAt = 0

  function read(): void {
    next?.ending.abort()
    const capacity = Math.max(leastCapacity, Math.ceil(spare * expected))
    next = { filter: new KeyFilter(capacity), ending: new AbortController() }
    reading = Promise.all([reading, fill(next)])
  }

  async function fill(own: NonNullable<typeof next>): Promise<void> {
    const { filter, ending } = own
    const began = performance.now()
    try {
      await readKeys(store.streamKeys(ending.signal), (halves) => filter.add(halves, () => {}))
      if (next !== own) return
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
  function readIfNeeded(): void {
    if (next !== undefined || clock.now() < retryAt) return
    if (current === undefined) read()
    else if (current.count > current.capacity) {
      expected = current.count
      read()
    }
  }

  return {
    begin() {
      current = undefined
      return renew()
    },
    renew,
    async takeBatch(bytes) {
      readIfNeeded()
      // The one that is being read may be complete, and in use, before the last key of the batch.
      const [known, growing] = [current, next?.filter]
      const candidates: bigint[] = []
      let tooMany = false
      await readKeys(bytes, (halves) => {
        growing?.add(halves, () => {})
        known?.add(halves, (key) => {
          if (candidates.length < mostCandidates) candidates.push(keyAt(halves, key))
          else tooMany = true
        })
      })
      return known === undefined || tooMany ? undefined : candidates
    },
    async stop() {
      next?.ending.abort()
      next = undefined
      await reading
    },
    bytes: () => (current?.bytes ?? 0) + (next?.filter.bytes ?? 0),
  }
}

function keyAt(halves: Uint32Array, key: number): bigint {
  return (BigInt(halves[2 * key + 1] as number) << 32n) | BigInt(halves[2 * key] as number)
}
