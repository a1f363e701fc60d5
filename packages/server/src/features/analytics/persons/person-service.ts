import { LRUCache } from 'lru-cache'
import type { Clock } from '../../../platform/clock.ts'
import { DomainError } from '../../../platform/errors.ts'
import { createSemaphore } from '../../../platform/limits/semaphore.ts'
import { conditionOf } from '../cohorts/cohort-reader.ts'
import type { StoredCohort } from '../cohorts/cohort-store.ts'
import { openZone } from '../query/time/zone.ts'
import type { StatisticsSettings } from '../question.ts'
import { type BatcherLimits, type BatchGroup, createBatcher } from './batcher.ts'
import type { ReadMembership } from './cohort-membership-store.ts'
import { keyOfName, nameOf, type PersonEvent, type PersonKey } from './person.ts'
import { personSeconds } from './person-bindings-store.ts'
import type { AskedHistory, PersonEventsStore } from './person-events-store.ts'

export interface PersonServiceDependencies {
  readonly events: PersonEventsStore
  readonly readMembership: ReadMembership
  readonly findCohort: (companyId: string, cohortId: string) => Promise<StoredCohort | undefined>
  readonly readSettings: (companyId: string) => Promise<Pick<StatisticsSettings, 'timezone' | 'eventAliases'>>
  readonly clock: Clock
  /** For how long an answer is fresh; `clock` by default. */
  readonly steadyClock?: Clock
  readonly limits?: Partial<PersonLimits>
}

export interface PersonLimits extends BatcherLimits {
  /** Statements about persons at once, of all companies. */
  readonly statements: number
  /** For how long an answer is given again. */
  readonly freshMs: number
  /** Bytes of the histories that are kept. */
  readonly maxBytes: number
}

const defaults: PersonLimits = {
  windowMs: 10,
  // More are not answered within the time that a run has.
  perStatement: 100,
  waitingOfCompany: 2_000,
  waiting: 10_000,
  statementMs: personSeconds * 1_000,
  statements: 2,
  freshMs: 2_000,
  maxBytes: 32 * 1024 * 1024,
}

const hourMs = 3_600_000
/** Bytes of the memberships that are kept. */
const maxMembershipBytes = 8 * 1024 * 1024
/** What an answer takes beside its key and value. */
const overheadBytes = 200

interface CohortGroup extends BatchGroup {
  readonly cohortId: string
}

export type PersonService = ReturnType<typeof createPersonService>

interface Asked extends PersonKey {
  readonly companyId: string
  readonly signal: AbortSignal
}

/** What persons have done, for the nodes of workflows (docs/workflows.md, What the person has done). */
export function createPersonService(dependencies: PersonServiceDependencies) {
  const { events, readMembership, findCohort, readSettings, clock } = dependencies
  const { steadyClock = clock } = dependencies
  const limits = { ...defaults, ...dependencies.limits }
  const { freshMs } = limits
  const statements = createSemaphore(limits.statements, limits.waiting)

  /** Answers by batches; what was asked in the last moments is answered again. */
  function answering<Group extends BatchGroup, Item, Value extends NonNullable<unknown>>(
    memory: { readonly maxBytes: number; readonly sizeOf: (value: Value) => number },
    keyOf: (item: Item) => string,
    answer: (group: Group, items: readonly Item[], signal: AbortSignal) => Promise<readonly Value[]>,
  ): (group: Group, item: Item, signal: AbortSignal) => Promise<Value> {
    const { maxBytes, sizeOf } = memory
    const recent = new LRUCache<string, Value>({
      maxSize: maxBytes,
      maxEntrySize: maxBytes / 8,
      sizeCalculation: (value, key) => overheadBytes + 2 * key.length + sizeOf(value),
      // The last millisecond at which an answer is given.
      ttl: freshMs - 1,
      perf: steadyClock,
      ttlResolution: 0,
    })
    const batcher = createBatcher<Group, Item, Value>({
      statements,
      limits,
      async answer(group, items, signal) {
        const at = steadyClock.now()
        const found = await answer(group, items, signal)
        recent.purgeStale()
        for (const [place, item] of items.entries()) {
          recent.set(`${group.key} ${keyOf(item)}`, found[place], { start: at })
        }
        return found
      },
    })
    return async (group, item, signal) =>
      recent.get(`${group.key} ${keyOf(item)}`) ?? (await batcher.ask(group, keyOf(item), item, signal))
  }

  const readHistory = answering(
    { maxBytes: limits.maxBytes, sizeOf: bytesOf },
    ({ name, since }: AskedHistory) => `${since} ${keyOfName(name)}`,
    async ({ companyId }: BatchGroup, asked, signal) => {
      const { eventAliases } = await readSettings(companyId)
      return events.readEvents(companyId, asked, eventAliases, signal)
    },
  )

  const readIsMember = answering(
    { maxBytes: maxMembershipBytes, sizeOf: () => 0 },
    keyOfName,
    async ({ companyId, cohortId }: CohortGroup, names, signal): Promise<readonly boolean[]> => {
      const [cohort, settings] = await Promise.all([findCohort(companyId, cohortId), readSettings(companyId)])
      if (!cohort) throw new DomainError('cohortNotFound', { id: cohortId })
      const { timezone, eventAliases } = settings
      const condition = conditionOf(cohort, { instant: clock.now(), zone: openZone(timezone) })
      return readMembership({ companyId, condition, eventAliases }, names, signal)
    },
  )

  return {
    /**
     * What a person has done since an instant, the newest first: at most a thousand events, of the last 90 days.
     * @throws where the store does not answer in time; the signal's reason when it is aborted
     */
    async readPerson({
      companyId,
      since,
      signal,
      ...key
    }: Asked & { readonly since: Date }): Promise<{ readonly events: readonly PersonEvent[] }> {
      const name = nameOf(key)
      if (name === undefined) return { events: [] }
      // Runs of one moment look back to different milliseconds, and share what is read.
      const asked = { name, since: Math.floor(since.getTime() / hourMs) * hourMs }
      const found = await readHistory({ companyId, key: companyId }, asked, signal)
      return { events: found.filter(({ time }) => time >= since) }
    },

    /**
     * Whether a person belongs to a cohort. A person of whom nothing is known belongs to one whose rule holds for them,
     * as that of all who never bought.
     * @throws {DomainError} `cohortNotFound`, also for a cohort of another company; otherwise as `readPerson`
     */
    async isMember({
      companyId,
      cohortId,
      signal,
      ...key
    }: Asked & { readonly cohortId: string }): Promise<boolean> {
      const name = nameOf(key)
      if (name === undefined) return false
      const group = { companyId, cohortId, key: `${companyId} ${cohortId}` }
      return readIsMember(group, name, signal)
    },
  }
}

/** What an event takes in memory beside its texts. */
const eventOverhead = 300

function bytesOf(events: readonly PersonEvent[]): number {
  let characters = 0
  for (const { name, url, ids, labels } of events) {
    characters += name.length + url.length
    for (const id of ids) characters += id.length + 8
    for (const key in labels) characters += key.length + (labels[key]?.length ?? 0) + 16
  }
  return 2 * characters + eventOverhead * events.length
}
