import type { Clock } from '../../platform/clock.ts'

/** What the collector must know of a datasource. */
export interface CollectorDatasource {
  readonly id: string
  readonly companyId: string
  /** Only an active datasource takes events. */
  readonly active: boolean
  /** Whether the company wants to know from which country events come. */
  readonly countries: boolean
}

/** Finds a datasource by its identifier in lower case; rejects when the store fails. */
export type FindDatasource = (id: string) => Promise<CollectorDatasource | undefined>

type Answer = CollectorDatasource | undefined

export interface DatasourceCache {
  /**
   * The datasource, or undefined where there is none. Immediately where a fresh answer is cached, else a
   * promise, which rejects when the store fails and nothing is cached.
   */
  find(id: string): Answer | Promise<Answer>
}

export interface DatasourceCacheOptions {
  readonly find: FindDatasource
  readonly clock: Clock
  /** How long a request waits for the store where an older answer is cached; default 250. */
  readonly waitMs?: number
  /** Identifiers without a datasource that are remembered; default 10,000. */
  readonly capacity?: number
  /** Look-ups of uncached identifiers at once; default 64, further ones are refused. */
  readonly lookUps?: number
}

interface Entry {
  readonly datasource: CollectorDatasource
  /** When the store last answered, or failed. */
  checkedAt: number
  renewal: Promise<Answer> | undefined
}

/** Answers younger than this are given without asking the store. */
const freshMs = 5_000
/** The share of its fresh time after which an answer is renewed in the background. */
const renewalShare = 0.6

/**
 * Caches datasources, so that no request waits for a database. The answer for a datasource in use is renewed in the
 * background before it is stale; for one that was not asked for in a while, the request waits a moment for the
 * store; both are served from the cache for as long as the store is down. That a datasource does not exist is cached
 * for the fresh time and never longer: to a sender that answer is final.
 */
export function createDatasourceCache(options: DatasourceCacheOptions): DatasourceCache {
  const { clock, waitMs = 250, capacity = 10_000, lookUps = 64 } = options
  const known = new Map<string, Entry>()
  /** When the store answered that there is none. The oldest is evicted first: identifiers come from outside. */
  const absent = new Map<string, number>()
  const pending = new Map<string, Promise<Answer>>()

  const ageOf = (checkedAt: number) => Math.abs(clock.now() - checkedAt)

  async function ask(id: string): Promise<Answer> {
    const datasource = await options.find(id)
    if (datasource) {
      known.set(id, { datasource, checkedAt: clock.now(), renewal: undefined })
      absent.delete(id)
      return datasource
    }
    known.delete(id)
    absent.delete(id)
    const [oldest] = absent.keys()
    if (absent.size >= capacity && oldest !== undefined) absent.delete(oldest)
    absent.set(id, clock.now())
    return undefined
  }

  function lookUp(id: string): Promise<Answer> {
    const running = pending.get(id)
    if (running) return running
    if (pending.size >= lookUps)
      return Promise.reject(new Error('too many unknown datasources are asked for'))
    const started = ask(id).finally(() => pending.delete(id))
    pending.set(id, started)
    return started
  }

  /** Never rejects: while the store fails, the cached answer stands. */
  async function renew(id: string, entry: Entry): Promise<Answer> {
    try {
      return await ask(id)
    } catch {
      entry.checkedAt = clock.now()
      return entry.datasource
    } finally {
      entry.renewal = undefined
    }
  }

  function waitFor(entry: Entry, renewal: Promise<Answer>): Promise<Answer> {
    return new Promise((resolve) => {
      const timer = setTimeout(() => {
        entry.checkedAt = clock.now()
        resolve(entry.datasource)
      }, waitMs)
      void renewal.then((datasource) => {
        clearTimeout(timer)
        resolve(datasource)
      })
    })
  }

  function find(id: string): Answer | Promise<Answer> {
    const entry = known.get(id)
    if (entry) {
      const age = ageOf(entry.checkedAt)
      if (age < freshMs * renewalShare) return entry.datasource
      entry.renewal ??= renew(id, entry)
      return age < freshMs ? entry.datasource : waitFor(entry, entry.renewal)
    }
    const absentSince = absent.get(id)
    return absentSince !== undefined && ageOf(absentSince) < freshMs ? undefined : lookUp(id)
  }

  return { find }
}
