import { LRUCache } from 'lru-cache'
import { createLoadingCache } from '../../../platform/cache/loading-cache.ts'
import { createSemaphore } from '../../../platform/limits/semaphore.ts'
import { holdersOf } from '../../../platform/network-address.ts'
import type { ServiceContext } from '../../../platform/service-context.ts'
import { compileDefinition } from '../compile/compile-definition.ts'
import type { Executable, ListExperiments, RunnableExperiment } from '../compile/executable.ts'
import type { FindZone, RunnableZone } from '../runnable-zone.ts'
import type { ReadCompany, RunnerCompany } from './runner-store.ts'

/** A zone that is ready to run. */
export interface ReadyZone {
  readonly zone: RunnableZone
  readonly company: RunnerCompany
  /** Undefined where nothing is published, or where what is published cannot be compiled. */
  readonly executable: Executable | undefined
  /** By id. */
  readonly experiments: ReadonlyMap<string, RunnableExperiment>
}

export interface ZoneCacheOptions extends Pick<ServiceContext, 'clock' | 'log'> {
  readonly findZone: FindZone
  readonly readCompany: ReadCompany
  readonly listExperiments: ListExperiments
  /** Whether changes of workflows are being notified. */
  readonly isListening: () => boolean
  /** Zones that are remembered, and as many addresses without one; default 10,000. */
  readonly capacity?: number
  /** Look-ups of addresses that are not remembered, at once; default 64, and 1,000 wait. */
  readonly lookUps?: number
}

/** How long a zone is taken as it was read: while changes are notified, and while they are not. */
const notifiedMs = 30_000
const unnotifiedMs = 800
/** Experiments are read again so often, since their changes are not notified. */
const experimentsMs = 800
const lookUpsWaiting = 1_000
/** How long an address without a zone is remembered. */
const absentMs = 2_000
/** How long a request waits for the store where an older answer is there. */
const waitMs = 250

type Found = ReadyZone | undefined

interface Asked {
  readonly shortId: string
  /** Of the request that asks. */
  readonly address: string
}

/** Experiments of a definition, by id. */
type Experiments = ReadyZone['experiments']

/**
 * Zones by their address, compiled. A zone in use is read again behind the answer; requests that follow a notified change
 * wait a moment for what it made. While the store is down the last known one is served. That an address has no zone is
 * remembered for a moment, and look-ups take turns by network and address, so that guessing costs the store little and keeps
 * no zone from others.
 */
export function createZoneCache(options: ZoneCacheOptions) {
  const { clock, log, isListening, capacity = 10_000, lookUps = 64 } = options
  /** Zones of a workflow share what is compiled; the newest of each workflow and domain. */
  const compiled = new LRUCache<
    string,
    { readonly revision: string; readonly executable: Executable | undefined }
  >({ max: capacity })

  const experiments = createLoadingCache({
    load: async ([companyId, ids]: readonly [string, readonly string[]]): Promise<Experiments> => {
      const found = await options.listExperiments(companyId, ids)
      return new Map(found.map((experiment) => [experiment.id, experiment]))
    },
    keyOf: ([companyId, ids]) => `${companyId} ${ids.join(' ')}`,
    ...{ clock, waitMs },
    freshMs: experimentsMs,
    renewShare: 0.5,
    staleOnError: true,
    maxEntries: capacity,
  })

  const unknown = createSemaphore(lookUps, lookUpsWaiting)
  const zones = createLoadingCache<Asked, Omit<ReadyZone, 'experiments'> | undefined>({
    async load({ shortId, address }, former) {
      const find = () => options.findZone(shortId)
      const zone = await (former ? find() : unknown.run(find, holdersOf(address)))
      const company = zone && (await options.readCompany(zone.companyId))
      return zone && company && { zone, company, executable: compile(zone) }
    },
    keyOf: ({ shortId }) => shortId,
    ...{ clock, absentMs, waitMs },
    freshMs: () => (isListening() ? notifiedMs : unnotifiedMs),
    renewShare: 0.5,
    staleOnError: true,
    onStale: (err, shortId) => log.warn({ err, shortId }, 'a workflow is served as it was last known'),
    maxEntries: capacity,
  })

  function compile({ workflowId, published, integration }: RunnableZone): Executable | undefined {
    if (published === undefined) return undefined
    const key = `${workflowId} ${integration.domain ?? ''}`
    const former = compiled.get(key)
    const revision = `${published.versionId} ${published.revision}`
    if (former?.revision === revision) return former.executable
    let executable: Executable | undefined
    try {
      executable = compileDefinition({ workflowId, ...published, domain: integration.domain })
    } catch (error) {
      log.error({ err: error, workflowId, versionId: published.versionId }, 'a published version cannot run')
    }
    compiled.set(key, { revision, executable })
    return executable
  }

  function withExperiments(found: Omit<ReadyZone, 'experiments'> | undefined): Found | Promise<Found> {
    if (found === undefined) return undefined
    const ids = found.executable?.experimentIds ?? []
    const read = ids.length === 0 ? noExperiments : experiments.find([found.zone.companyId, ids])
    const ready = (of: Experiments): ReadyZone => ({ ...found, experiments: of })
    return read instanceof Promise ? read.then(ready) : ready(read)
  }

  return {
    /** Immediately where it is cached. @throws (rejects) when the store fails and nothing is cached */
    find(shortId: string, address: string): Found | Promise<Found> {
      const found = zones.find({ shortId, address })
      return found instanceof Promise ? found.then(withExperiments) : withExperiments(found)
    },

    /** Something of this workflow has changed, or of any where none is named. */
    drop(workflowId: string | undefined): void {
      zones.invalidate(workflowId === undefined ? undefined : ({ zone }) => zone.workflowId === workflowId)
    },
  }
}

const noExperiments: Experiments = new Map()
