import { createLoadingCache } from '../../platform/cache/loading-cache.ts'
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

/**
 * Datasources that the collector knows, so that no request waits for a database. One in use is read again behind its
 * answer; for one that was not asked for in a while the request waits a moment. Both stand while the store is down. That
 * there is none is known for five seconds and never longer: to a sender that answer is final.
 */
export const createDatasourceCache = (load: FindDatasource, clock: Clock) =>
  createLoadingCache({
    load,
    keyOf: (id: string) => id,
    clock,
    freshMs: 5_000,
    renewShare: 0.6,
    absentMs: 5_000,
    staleOnError: true,
    waitMs: 250,
    maxEntries: 100_000,
    maxLoads: 64,
  })
