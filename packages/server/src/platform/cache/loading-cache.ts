import { LRUCache } from 'lru-cache'
import type { Clock } from '../clock.ts'

type Known<Value> = NonNullable<Value>

export interface LoadingCacheOptions<Subject, Value> {
  /** Asks the store; undefined where it has nothing. @param former what was last known, if anything */
  readonly load: (subject: Subject, former: Known<Value> | undefined) => Promise<Value>
  /** Different for subjects that are loaded apart. */
  readonly keyOf: (subject: Subject) => string
  /** Monotonic: ages survive a change of the system's clock. */
  readonly clock: Clock
  /** How long a value is given without asking the store, counted from before the store was asked. */
  readonly freshMs: number | ((value: Known<Value>) => number)
  /** The share of the fresh time after which a value in use is loaded again behind the answer; default 1, never. */
  readonly renewShare?: number
  /** How long it is remembered that the store has nothing; default 0. */
  readonly absentMs?: number
  /** What is known stands while the store fails, however old. */
  readonly staleOnError?: boolean
  /** How long a request waits for the store where something older stands; default until the store has answered. */
  readonly waitMs?: number
  /**
   * Values that are kept, the least recently used go first; default 10,000. As many keys without a value are remembered,
   * but no more than 10,000.
   */
  readonly maxEntries?: number
  /** Instead of `maxEntries`: bytes of all values; no single one of more than `maxEntryBytes` is kept. */
  readonly size?: {
    readonly maxBytes: number
    readonly maxEntryBytes?: number
    readonly bytesOf: (value: Known<Value>, key: string) => number
  }
  /** Loads at once of what is not known; further ones are refused. Default without a bound. */
  readonly maxLoads?: number
  /** Told of a failure of the store, where something older is given instead. */
  readonly onStale?: (error: unknown, key: string) => void
}

export interface LoadingCache<Subject, Value> {
  /** At once where it is fresh. @throws (rejects) when the store fails and nothing stands in */
  find(subject: Subject): Value | Promise<Value>
  /**
   * Something has changed, which a notice says: whoever asks from now on waits for what is loaded from now on, of which
   * not even a load that has begun before is kept.
   * @param isMeant whether the change is of this value; default all
   */
  invalidate(isMeant?: (value: Known<Value>, key: string) => boolean): void
  /** Bytes of all values where there is a bound of them, else how many there are. */
  size(): number
}

interface Entry<Value> {
  readonly value: Known<Value>
  /** When the store was asked for it. */
  checkedAt: number
  /** Until when the store is not asked again, because it did not answer. */
  standsUntil: number
  /** How many changes had been noticed when it was read; -1 once it is known to be older. */
  changes: number
}

/** How often something is loaded that changes while it is loaded. */
const maxTries = 3
const maxAbsent = 10_000
/** For how long at most a store that did not answer is not asked again for what is known. */
const retryMs = 5_000

/**
 * Keeps what a store answers, for all requests of a process: askers of the same moment share one load. Keys that the
 * store does not know are remembered apart, so that made-up ones displace no value.
 */
export function createLoadingCache<Subject, Value>(
  options: LoadingCacheOptions<Subject, Value>,
): LoadingCache<Subject, Value> {
  const { load, keyOf, clock, freshMs, renewShare = 1, absentMs = 0, staleOnError = false } = options
  const { waitMs, maxEntries = 10_000, maxLoads = Number.POSITIVE_INFINITY, size, onStale } = options
  const known = new LRUCache<string, Entry<Value>>(
    size
      ? {
          maxSize: size.maxBytes,
          maxEntrySize: size.maxEntryBytes ?? size.maxBytes,
          sizeCalculation: ({ value }, key) => size.bytesOf(value, key),
        }
      : // Given `max`, it takes the memory for all of them at once.
        { maxSize: maxEntries, sizeCalculation: () => 1 },
  )
  /** When the store was asked. */
  const absent = new LRUCache<string, number>({
    maxSize: Math.min(maxEntries, maxAbsent),
    sizeCalculation: () => 1,
  })
  const loading = new Map<string, Promise<Value>>()
  let unknownLoads = 0
  /** Counts changes, so that what was asked for before one is known to be older. */
  let changes = 0
  /** The last change of everything. */
  let changeOfAll = 0

  const freshTimeOf = (value: Known<Value>): number =>
    typeof freshMs === 'number' ? freshMs : freshMs(value)

  async function loadUnchanged(subject: Subject, key: string): Promise<Value> {
    for (let attempt = 1; ; attempt++) {
      const checkedAt = clock.now()
      const changesBefore = changes
      const value = await load(subject, known.peek(key)?.value)
      const isChanged = changes !== changesBefore
      if (isChanged && attempt < maxTries) continue
      if (value === undefined || value === null) {
        known.delete(key)
        if (!isChanged && absentMs > 0) absent.set(key, checkedAt)
      } else {
        absent.delete(key)
        known.set(key, { value, checkedAt, standsUntil: 0, changes: isChanged ? -1 : changes })
      }
      return value
    }
  }

  /** What is known stands for a moment, so that not every request asks a store that does not answer. */
  function postpone(entry: Entry<Value>): Value {
    entry.checkedAt = Number.NEGATIVE_INFINITY
    entry.changes = changes
    entry.standsUntil = clock.now() + Math.min(retryMs, freshTimeOf(entry.value))
    return entry.value
  }

  async function loadOr(subject: Subject, key: string, entry: Entry<Value> | undefined): Promise<Value> {
    if (entry === undefined) unknownLoads++
    try {
      return await loadUnchanged(subject, key)
    } catch (error) {
      if (!staleOnError || entry === undefined) throw error
      onStale?.(error, key)
      return postpone(entry)
    } finally {
      if (entry === undefined) unknownLoads--
      loading.delete(key)
    }
  }

  function loadOnce(subject: Subject, key: string, entry?: Entry<Value>): Promise<Value> {
    const running = loading.get(key)
    if (running) return running
    if (entry === undefined && unknownLoads >= maxLoads)
      return Promise.reject(new Error('too many unknown keys are looked up at once'))
    const started = loadOr(subject, key, entry)
    loading.set(key, started)
    return started
  }

  function within(ms: number, entry: Entry<Value>, renewal: Promise<Value>): Promise<Value> {
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => resolve(postpone(entry)), ms)
      renewal.then(resolve, reject).finally(() => clearTimeout(timer))
    })
  }

  return {
    find(subject) {
      const key = keyOf(subject)
      const entry = known.get(key)
      if (entry === undefined) {
        const absentSince = absent.get(key)
        const isAbsent = absentSince !== undefined && clock.now() - absentSince < absentMs
        return isAbsent ? (undefined as Value) : loadOnce(subject, key)
      }
      const now = clock.now()
      const age = now - entry.checkedAt
      const freshTime = freshTimeOf(entry.value)
      const isChanged = entry.changes < changeOfAll
      const stands = age < freshTime * renewShare || now < entry.standsUntil
      if (!isChanged && stands) return entry.value
      const renewal = loadOnce(subject, key, entry)
      if (isChanged || age >= freshTime)
        return waitMs === undefined ? renewal : within(waitMs, entry, renewal)
      // Whoever asks once the value is no longer fresh learns of the failure.
      renewal.catch(() => {})
      return entry.value
    },

    invalidate(isMeant) {
      changes++
      absent.clear()
      if (isMeant === undefined) changeOfAll = changes
      else for (const [key, entry] of known.entries()) if (isMeant(entry.value, key)) entry.changes = -1
    },

    size: () => (size ? known.calculatedSize : known.size),
  }
}
