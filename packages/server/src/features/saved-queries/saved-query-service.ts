import type { Fault } from '@millrace/contract/failure-data.ts'
import type { Query } from '@millrace/contract/resources/query.ts'
import type {
  SavedQuery,
  SavedQueryCreation,
  SavedQueryUpdate,
  Schedule,
} from '@millrace/contract/resources/saved-query.ts'
import type { SavedQueryRun } from '@millrace/contract/resources/saved-query-run.ts'
import { definedOf } from '../../platform/changes.ts'
import { DomainError } from '../../platform/errors.ts'
import { newId, normalizeId } from '../../platform/ids.ts'
import { invalid, placed, refuseFaults } from '../../platform/invalid.ts'
import { createSlidingWindow } from '../../platform/limits/window.ts'
import { faultsOfRecipients, parseEmailAddress } from '../../platform/mail/email-address.ts'
import { type Listed, mapListed, type Page, rangeOf } from '../../platform/paging.ts'
import { found, requireRoom, withIsoDates, withoutNulls } from '../../platform/resources/resource.ts'
import type { ServiceContext } from '../../platform/service-context.ts'
import { assertMayChange, assertMayExport } from '../../platform/statistics-rights.ts'
import { assertExpected, type Expected } from '../../platform/stores/revision.ts'
import type { Zone } from '../analytics/query/time/zone.ts'
import type { ClaimKey } from '../idempotency/idempotency-store.ts'
import type { Principal } from '../identity/sessions/principal.ts'
import { createRunStore, type StoredMessage, type StoredRun } from './runs/run-store.ts'
import { createSavedQueryStore, type SavedQueryList, type StoredSavedQuery } from './saved-query-store.ts'
import { nextTimes } from './schedule/planned-times.ts'
import { isOn, type Plan, readSchedule } from './schedule/read-schedule.ts'

export interface SavedQueryServiceDependencies extends Pick<ServiceContext, 'relational' | 'clock'> {
  /** Throws what running the query would, without running it. */
  readonly validateQuery: (
    query: Query,
    reader: { readonly companyId: string; readonly readerId: string },
  ) => Promise<void>
  readonly readSettings: (companyId: string) => Promise<{ readonly timezone: string }>
  /** Throws a RangeError for a name that is no zone. */
  readonly openZone: (name: string) => Zone
  /** Whether this is exactly a name of a zone. Others that Node would take in any case would be kept one by one. */
  readonly knowsTimezone: (name: string) => Promise<boolean>
  /** Ids of a user's own linked accounts. */
  readonly listLinkedAccounts: (user: { companyId: string; userId: string }) => Promise<string[]>
  readonly claimKey: ClaimKey
}

/** Of one company. */
const maxSavedQueries = 5_000
/** Characters of JSON, which keep a page of saved queries small. */
const maxQueriesLength = 100_000
const previewedRuns = 10
/** Of one user and hour: each may mail its results to all recipients. */
const maxRunsByHand = 30

interface PlannedRun {
  readonly at: string
  /** The same in the time zone of the schedule. */
  readonly local: string
}

export type SavedQueryService = ReturnType<typeof createSavedQueryService>

/** Operations 6 and 7, and what belongs to them. */
export function createSavedQueryService(dependencies: SavedQueryServiceDependencies) {
  const { relational, validateQuery, readSettings, openZone, knowsTimezone, listLinkedAccounts } =
    dependencies
  const { claimKey, clock } = dependencies
  const store = createSavedQueryStore(relational.db)
  const runs = createRunStore(relational.db)
  const runsByHand = createSlidingWindow(clock, 3_600_000, maxRunsByHand)

  async function requireQueries(
    queries: readonly Query[],
    { companyId, userId: readerId }: Principal,
  ): Promise<void> {
    const { length } = JSON.stringify(queries)
    if (length > maxQueriesLength) {
      throw invalid(
        'queries',
        `must have at most ${maxQueriesLength} characters of JSON together, they have ${length}`,
      )
    }
    for (const [i, query] of queries.entries()) {
      await validateQuery(query, { companyId, readerId }).catch((error: unknown) => {
        throw placed(error, `queries.${i}`)
      })
    }
  }

  async function planOf(schedule: Schedule, companyId: string): Promise<Plan | undefined> {
    const { timezone } = await readSettings(companyId)
    return readSchedule(schedule, timezone, openZone).plan
  }

  async function faultsOfReceivers(schedule: Schedule, { companyId, userId }: Principal): Promise<Fault[]> {
    const { recipients = [], linkedAccounts = [] } = schedule
    const readers = await store.listReaders(companyId, recipients)
    const own = linkedAccounts.length > 0 ? await listLinkedAccounts({ companyId, userId }) : []
    const faults = [
      ...faultsOfRecipients('schedule.recipients', recipients, readers),
      ...linkedAccounts.flatMap((each, i) =>
        own.includes(each)
          ? []
          : [{ path: `schedule.linkedAccounts.${i}`, message: 'must be a linked account of your own' }],
      ),
    ]
    if (isOn(schedule) && recipients.length + linkedAccounts.length === 0) {
      faults.push({ path: 'schedule.recipients', message: 'must name who gets the results' })
    }
    return faults
  }

  /** The schedule in the form that is kept, and when it runs. */
  async function requireSchedule(
    given: Schedule | null | undefined,
    principal: Principal,
  ): Promise<Pick<StoredSavedQuery, 'schedule' | 'nextRunAt' | 'plannedTo'>> {
    const schedule = normalized(given ?? {})
    const { plan, faults } = await readTimes(schedule, principal.companyId)
    refuseFaults([...faults, ...(await faultsOfReceivers(schedule, principal))], 'invalidSchedule')
    if (isOn(schedule)) assertMayExport(principal)
    const now = clock.now()
    const [next] = plan && isOn(schedule) ? nextTimes(plan.recurrence, plan.zone, now, 1) : []
    return { schedule, nextRunAt: next === undefined ? null : new Date(next), plannedTo: new Date(now) }
  }

  /** When a schedule runs; faults where it cannot. */
  async function readTimes(schedule: Schedule, companyId: string): Promise<ReturnType<typeof readSchedule>> {
    const { timezone } = await readSettings(companyId)
    const isKnown = schedule.timezone === undefined || (await knowsTimezone(schedule.timezone))
    return readSchedule(schedule, timezone, isKnown ? openZone : openNone)
  }

  const previewOf = (plan: Plan | undefined): PlannedRun[] =>
    plan
      ? nextTimes(plan.recurrence, plan.zone, clock.now(), previewedRuns).map((at) => ({
          at: new Date(at).toISOString(),
          local: plan.zone.format(at),
        }))
      : []

  const find = async ({ companyId }: Principal, id: string): Promise<StoredSavedQuery> =>
    found(await store.find(companyId, normalizeId(id)), 'savedQueryNotFound', id)

  async function findToChange(principal: Principal, id: string): Promise<StoredSavedQuery> {
    const stored = await find(principal, id)
    assertMayChange(principal, [stored.createdBy, stored.ownerId])
    return stored
  }

  return {
    /**
     * With the same key and body it gives the saved query that was made before.
     * @throws DomainError `unknownMember`, `incompatibleMembers`, `virtualMeasureFilter`, `invalidQuery`, `tooComplex`,
     *   `invalidSchedule`, `forbidden`, `tooManySavedQueries` or `conflict`
     */
    async save(
      principal: Principal,
      wanted: SavedQueryCreation,
      key: string | undefined,
    ): Promise<SavedQuery> {
      const { companyId, userId } = principal
      const { name, queries } = wanted
      await requireQueries(queries, principal)
      const planned = await requireSchedule(wanted.schedule, principal)
      return relational.transaction(async (tx) => {
        const within = createSavedQueryStore(tx)
        const fresh = { id: newId(), isNew: true }
        const asked = { companyId, userId, operation: 'saveQuery', key: key ?? '', body: wanted }
        const { id, isNew } = key === undefined ? fresh : await claimKey(tx, asked, fresh.id)
        if (!isNew) {
          const made = await within.find(companyId, id)
          if (made) return toSavedQuery(made)
          const message =
            'The saved query that this Idempotency-Key made is gone: use a new key to make another'
          throw new DomainError('conflict', { id }, { message })
        }
        requireRoom('tooManySavedQueries', maxSavedQueries, await within.count(companyId))
        const saver = { ownerId: userId, createdBy: userId, lastSavedBy: userId }
        await within.insert({ id, companyId, name, queries, ...saver, ...planned })
        return toSavedQuery(found(await within.find(companyId, id), 'savedQueryNotFound', id))
      })
    },

    /**
     * Changes all of what is given or nothing; changes of one saved query come one after the other.
     * @throws DomainError `savedQueryNotFound`, `savedMeanwhile`, and those of `save`
     */
    async update(
      principal: Principal,
      id: string,
      wanted: SavedQueryUpdate,
      expected: Expected,
    ): Promise<SavedQuery> {
      const { companyId, userId } = principal
      const { name, queries, schedule } = wanted
      const present = await findToChange(principal, id)
      if (queries) await requireQueries(queries, principal)
      const planned = schedule === undefined ? undefined : await requireSchedule(schedule, principal)
      return relational.transaction(async (tx) => {
        const within = createSavedQueryStore(tx)
        const locked = found(await within.lock(companyId, present.id), 'savedQueryNotFound', id)
        await assertExpected(tx, locked, expected)
        if (name === undefined && !queries && !planned) return toSavedQuery(locked)
        // What runs from now on is the caller's, whose rights it has.
        const isTaken = queries !== undefined || planned !== undefined
        if (isTaken && !planned && isOn(locked.schedule)) assertMayExport(principal)
        const isHandedOver =
          isTaken && !planned && locked.ownerId !== userId && locked.schedule.linkedAccounts
        const updated = await within.update(companyId, locked.id, {
          lastSavedBy: userId,
          ...definedOf({ name, queries: queries && [...queries] }),
          ...(planned && { ...planned, pausedReason: null, failures: 0 }),
          ...(isTaken && { ownerId: userId }),
          ...(isHandedOver && { schedule: { ...locked.schedule, linkedAccounts: [] } }),
        })
        return toSavedQuery(updated)
      })
    },

    async list({ companyId }: Principal, wanted: SavedQueryList): Promise<Listed<SavedQuery>> {
      return mapListed(await store.list(companyId, wanted), toSavedQuery)
    },

    /** @throws DomainError `savedQueryNotFound` */
    async read(principal: Principal, id: string): Promise<SavedQuery> {
      return toSavedQuery(await find(principal, id))
    },

    /** @throws DomainError `savedQueryNotFound`, `forbidden` or `savedMeanwhile` */
    async delete(principal: Principal, id: string, expected: Expected): Promise<void> {
      const { companyId, id: savedQueryId } = await findToChange(principal, id)
      await relational.transaction(async (tx) => {
        const within = createSavedQueryStore(tx)
        const locked = found(await within.lock(companyId, savedQueryId), 'savedQueryNotFound', id)
        await assertExpected(tx, locked, expected)
        await within.delete(locked)
      })
    },

    /** @throws DomainError `savedQueryNotFound` */
    async listNextRuns(principal: Principal, id: string): Promise<PlannedRun[]> {
      const { schedule, nextRunAt, companyId } = await find(principal, id)
      return previewOf(nextRunAt === null ? undefined : await planOf(schedule, companyId))
    },

    /** @throws DomainError `invalidSchedule` */
    async previewSchedule({ companyId }: Principal, given: Schedule): Promise<PlannedRun[]> {
      const schedule = normalized(given)
      const { plan, faults } = await readTimes(schedule, companyId)
      refuseFaults(faults, 'invalidSchedule')
      return previewOf(isOn(schedule) ? plan : undefined)
    },

    /**
     * Queues a run with the rights of the caller.
     * @throws DomainError `savedQueryNotFound`, `forbidden`, `savedQueryRuns` or `tooManyRequests`
     */
    async run(principal: Principal, id: string): Promise<SavedQueryRun> {
      const { companyId, userId } = principal
      assertMayExport(principal)
      return relational.transaction(async (tx) => {
        const stored = await createSavedQueryStore(tx).lock(companyId, normalizeId(id))
        const locked = found(stored, 'savedQueryNotFound', id)
        const [run] = await createRunStore(tx).insert([
          {
            id: newId(),
            companyId,
            savedQueryId: locked.id,
            trigger: 'manual',
            askedBy: userId,
            plannedFor: new Date(clock.now()),
            state: 'queued',
          },
        ])
        if (!run) throw new DomainError('savedQueryRuns', { id: locked.id })
        const retryAfter = runsByHand.take(userId)
        if (retryAfter > 0) {
          const message = `A user starts ${maxRunsByHand} runs an hour at most: each may mail its results`
          throw new DomainError('tooManyRequests', { retryAfter }, { message, retryAfterSeconds: retryAfter })
        }
        return toRun(run, [])
      })
    },

    /** @throws DomainError `savedQueryNotFound` */
    async listRuns(principal: Principal, id: string, page: Page): Promise<Listed<SavedQueryRun>> {
      const { id: savedQueryId } = await find(principal, id)
      const [rows, count] = await Promise.all([
        runs.list(savedQueryId, rangeOf(page)),
        runs.count(savedQueryId),
      ])
      const messages = await runs.listMessages(rows.map((run) => run.id))
      return {
        rows: rows.map((run) =>
          toRun(
            run,
            messages.filter(({ runId }) => runId === run.id),
          ),
        ),
        count,
      }
    },

    /**
     * The CSV of one query of a run, piece by piece.
     * @throws DomainError `savedQueryNotFound`, `savedQueryRunNotFound` or `savedQueryResultNotFound`
     */
    async readResult(
      principal: Principal,
      { id, runId, index }: { id: string; runId: string; index: number },
    ): Promise<{ fileName: string; bytes: number; pieces: AsyncGenerator<Buffer> }> {
      const { id: savedQueryId } = await find(principal, id)
      const run = await runs.find(savedQueryId, normalizeId(runId))
      if (!run) throw new DomainError('savedQueryRunNotFound', { id: runId })
      const result = run.results[index]
      const isKept = run.resultsUntil !== null && run.resultsUntil.getTime() > clock.now()
      if (!result || !isKept) throw new DomainError('savedQueryResultNotFound', { id: runId })
      return { ...result, pieces: runs.readPieces(run, index) }
    },
  }
}

const openNone = (name: string): never => {
  throw new RangeError(`${name} is no time zone`)
}

function normalized(schedule: Schedule): Schedule {
  const { recipients, linkedAccounts } = schedule
  return {
    ...schedule,
    // What is no address stays as it is, and is refused as an address of no user.
    ...(recipients && { recipients: recipients.map((each) => parseEmailAddress(each) ?? each) }),
    ...(linkedAccounts && { linkedAccounts: linkedAccounts.map(normalizeId) }),
  }
}

function toSavedQuery(row: StoredSavedQuery): SavedQuery {
  const { id, companyId, name, queries, schedule, revision, lastSavedBy, createdBy, ownerId } = row
  const { createdAt, updatedAt, nextRunAt, pausedReason } = row
  const absentIfNull = { lastSavedBy, createdBy, ownerId, nextRunAt, pausedReason }
  const own = { id, companyId, name, queries, schedule, createdAt, updatedAt, revision }
  return withIsoDates({ ...own, ...withoutNulls(absentIfNull) })
}

function toRun(run: StoredRun, messages: readonly StoredMessage[]): SavedQueryRun {
  const { id, savedQueryId, trigger, state, attempts, recipients, results } = run
  const { startedAt, endedAt, resultsUntil, reason } = run
  return {
    id,
    savedQueryId,
    trigger,
    ...withIsoDates({
      plannedFor: run.plannedFor,
      ...withoutNulls({ startedAt, endedAt, resultsUntil, reason }),
    }),
    state,
    attempts,
    rows: results.reduce((sum, { rows }) => sum + rows, 0),
    bytes: results.reduce((sum, { bytes }) => sum + bytes, 0),
    recipients,
    messages: messages.map((each) => ({
      linkedAccountId: each.linkedAccountId,
      state: each.state,
      attempts: each.attempts,
      ...(each.reason === null ? {} : { reason: each.reason }),
    })),
    results,
  }
}
