import type { Clock } from '../../platform/clock.ts'
import type { Logger } from '../../platform/logger.ts'
import { putBounded } from './bounded-map.ts'
import { compileDefinition } from './compile/compile-definition.ts'
import type { Executable } from './compile/executable.ts'
import type {
  FindZone,
  ListExperiments,
  ReadCompany,
  RunnableExperiment,
  RunnableZone,
  RunnerCompany,
} from './ports.ts'

/** A zone that is ready to run. */
export interface ReadyZone {
  readonly zone: RunnableZone
  readonly company: RunnerCompany
  /** Undefined where nothing is published, or where what is published cannot be compiled. */
  readonly executable: Executable | undefined
  /** By id. */
  readonly experiments: ReadonlyMap<string, RunnableExperiment>
}

export interface ZoneCacheOptions {
  readonly findZone: FindZone
  readonly readCompany: ReadCompany
  readonly listExperiments: ListExperiments
  /** Whether changes of workflows are being notified. */
  readonly isListening: () => boolean
  readonly clock: Clock
  readonly log: Pick<Logger, 'warn' | 'error'>
  /** Zones that are remembered, and as many addresses without one; default 10,000. */
  readonly capacity?: number
  /** Look-ups of addresses that are not remembered, at once; default 64, further ones are refused. */
  readonly lookUps?: number
}

/** How long a zone is taken as it was read: while changes are notified, and while they are not. */
const notifiedMs = 30_000
const unnotifiedMs = 800
/** Experiments are read again so often, since their changes are not notified. */
const experimentsMs = 800
/** How long an address without a zone is remembered. */
const absentMs = 2_000
/** How long a request waits for the store where an older answer is there. */
const waitMs = 250
/** How often a zone is read that changes while it is read. */
const maxReads = 3

interface Entry {
  ready: ReadyZone
  checkedAt: number
  experimentsAt: number
  /** A change was notified that is not read yet. */
  isStale: boolean
  /** A change of this workflow was notified: requests wait until it is read. */
  isChanged: boolean
  renewal: Promise<Found> | undefined
  isReadingExperiments: boolean
}

type Found = ReadyZone | undefined

/**
 * Zones by their address, compiled. A zone in use is read again in the background; a notified change is read at once,
 * and requests wait for it a moment. While the store is down the last known one is served. That an address has no zone is
 * remembered for a moment, so that guessing costs the store little.
 */
export function createZoneCache(options: ZoneCacheOptions) {
  const { clock, log, isListening, capacity = 10_000, lookUps = 64 } = options
  const known = new Map<string, Entry>()
  const absent = new Map<string, number>()
  const pending = new Map<string, Promise<Found>>()
  /** Zones of a workflow share what is compiled; the newest of each workflow and domain. */
  const compiled = new Map<
    string,
    { readonly revision: string; readonly executable: Executable | undefined }
  >()

  /** Counts notices, so that what was read before one is known to be older. */
  let notices = 0

  const ageOf = (at: number): number => Math.abs(clock.now() - at)

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
    putBounded(compiled, key, { revision, executable }, capacity)
    return executable
  }

  async function readExperiments(companyId: string, executable: Executable | undefined) {
    if (executable === undefined || executable.experimentIds.length === 0) return new Map()
    const experiments = await options.listExperiments(companyId, executable.experimentIds)
    return new Map(experiments.map((experiment) => [experiment.id, experiment]))
  }

  async function ask(shortId: string): Promise<Found> {
    const askedAt = clock.now()
    const noticesBefore = notices
    const zone = await options.findZone(shortId)
    if (zone === undefined) {
      known.delete(shortId)
      if (notices === noticesBefore) putBounded(absent, shortId, askedAt, capacity)
      return undefined
    }
    const executable = compile(zone)
    const [company, experiments] = await Promise.all([
      options.readCompany(zone.companyId),
      readExperiments(zone.companyId, executable),
    ])
    if (company === undefined) return undefined
    const ready: ReadyZone = { zone, company, executable, experiments }
    absent.delete(shortId)
    const entry = known.get(shortId)
    // A change that was notified after this was asked for is still to be read.
    if (entry) Object.assign(entry, { ready, checkedAt: askedAt, experimentsAt: askedAt })
    else {
      const added = {
        ready,
        checkedAt: askedAt,
        experimentsAt: askedAt,
        isStale: notices !== noticesBefore,
        isChanged: false,
        renewal: undefined,
        isReadingExperiments: false,
      }
      putBounded(known, shortId, added, capacity)
    }
    return ready
  }

  function lookUp(shortId: string): Promise<Found> {
    const running = pending.get(shortId)
    if (running) return running
    if (pending.size >= lookUps) return Promise.reject(new Error('too many unknown addresses are asked for'))
    const started = askUnchanged(shortId).finally(() => pending.delete(shortId))
    pending.set(shortId, started)
    return started
  }

  /** Asks again where something changed meanwhile: what was read may be older than a change that is acknowledged. */
  async function askUnchanged(shortId: string): Promise<Found> {
    let found: Found
    for (let again = 0; again < maxReads; again++) {
      const noticesBefore = notices
      found = await ask(shortId)
      if (notices !== noticesBefore) continue
      const entry = known.get(shortId)
      if (entry) entry.isStale = false
      break
    }
    return found
  }

  /** Never rejects: while the store fails, the cached answer stands. */
  async function renew(shortId: string, entry: Entry): Promise<Found> {
    try {
      for (let again = 0; again < maxReads; again++) {
        entry.isStale = false
        const found = await ask(shortId)
        if (found === undefined || !entry.isStale) return found
      }
      return entry.ready
    } catch (error) {
      entry.checkedAt = clock.now()
      log.warn({ err: error, shortId }, 'a workflow is served as it was last known')
      return entry.ready
    } finally {
      entry.renewal = undefined
      entry.isChanged = false
    }
  }

  function renewExperiments(entry: Entry): void {
    const { executable, zone } = entry.ready
    if (entry.isReadingExperiments || executable === undefined || executable.experimentIds.length === 0)
      return
    if (ageOf(entry.experimentsAt) < experimentsMs) return
    entry.isReadingExperiments = true
    const readyBefore = entry.ready
    readExperiments(zone.companyId, executable)
      .then((experiments) => {
        if (entry.ready === readyBefore) entry.ready = { ...readyBefore, experiments }
      })
      .catch(() => {
        // As they were last known.
      })
      .finally(() => {
        entry.experimentsAt = clock.now()
        entry.isReadingExperiments = false
      })
  }

  function waitFor(entry: Entry, renewal: Promise<Found>): Promise<Found> {
    return new Promise((resolve) => {
      const timer = setTimeout(() => {
        entry.checkedAt = clock.now()
        entry.isChanged = false
        resolve(entry.ready)
      }, waitMs)
      void renewal.then((found) => {
        clearTimeout(timer)
        resolve(found)
      })
    })
  }

  return {
    /** Immediately where it is cached. @throws (rejects) when the store fails and nothing is cached */
    find(shortId: string): Found | Promise<Found> {
      const entry = known.get(shortId)
      if (entry === undefined) {
        const absentSince = absent.get(shortId)
        return absentSince !== undefined && ageOf(absentSince) < absentMs ? undefined : lookUp(shortId)
      }
      renewExperiments(entry)
      const maxAge = isListening() ? notifiedMs : unnotifiedMs
      const age = ageOf(entry.checkedAt)
      if (!entry.isStale && !entry.isChanged && age < maxAge / 2) return entry.ready
      entry.renewal ??= renew(shortId, entry)
      return age < maxAge && !entry.isChanged ? entry.ready : waitFor(entry, entry.renewal)
    },

    /** Something of this workflow has changed, or of any where none is named. */
    drop(workflowId: string | undefined): void {
      notices++
      absent.clear()
      for (const [shortId, entry] of known) {
        if (workflowId !== undefined && entry.ready.zone.workflowId !== workflowId) continue
        entry.isStale = true
        // After a lost connection all may have changed: each is read when it is asked for.
        if (workflowId === undefined) continue
        entry.isChanged = true
        entry.renewal ??= renew(shortId, entry)
      }
    },
  }
}
