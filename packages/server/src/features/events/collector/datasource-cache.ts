import { createLoadingCache } from '../../../platform/cache/loading-cache.ts'
import type { Clock } from '../../../platform/clock.ts'
import { createSemaphore } from '../../../platform/limits/semaphore.ts'
import { holdersOf } from '../../../platform/network-address.ts'

/** What the collector must know of a datasource. */
export interface CollectorDatasource {
  readonly id: string
  readonly companyId: string
  /** Only an active datasource takes events. */
  readonly active: boolean
  /** Whether the company wants to know from which country events come. */
  readonly countries: boolean
  /** Whether an event is dropped that does not say that its person has consented. */
  readonly requiresConsent?: boolean
}

/** Finds a datasource by its identifier in lower case; rejects when the store fails. */
export type FindDatasource = (id: string) => Promise<CollectorDatasource | undefined>

interface Asked {
  readonly id: string
  /** Of the request that asks. */
  readonly address: string
}

/** Look-ups of what is not known: at once, and those that wait. */
const unknownAtOnce = 64
const unknownWaiting = 1_000

/**
 * Datasources that the collector knows, so that no request waits for a database. One in use is read again behind its
 * answer; for one that was not asked for in a while the request waits a moment. Both stand while the store is down. That
 * there is none is known for five seconds and never longer: to a sender that answer is final. Look-ups of what is
 * not known take turns by network and address, so that made-up identifiers keep no sender from its datasource.
 */
export function createDatasourceCache(findDatasource: FindDatasource, clock: Clock) {
  const unknown = createSemaphore(unknownAtOnce, unknownWaiting)
  return createLoadingCache<Asked, CollectorDatasource | undefined>({
    load: ({ id, address }, former) =>
      former ? findDatasource(id) : unknown.run(() => findDatasource(id), holdersOf(address)),
    keyOf: ({ id }) => id,
    clock,
    freshMs: 5_000,
    renewShare: 0.6,
    absentMs: 5_000,
    staleOnError: true,
    waitMs: 250,
    maxEntries: 100_000,
  })
}
