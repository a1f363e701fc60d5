import { ColumnarError } from '../../../platform/stores/columnar.ts'
import type { CounterChange } from './checkpoint-store.ts'
import type { KnownKeys } from './keys/known-keys.ts'
import { duplicateWindowMs, type LoaderStore } from './loader-store.ts'
import { controlLine, linesOf, readRefusedRow } from './log/log-lines.ts'
import {
  datasourceKey,
  nothing,
  type Outcome,
  outcomeOf,
  type Received,
  together,
  totalsOf,
} from './outcome.ts'
import type { LeavingDatasources, PurgeLedger } from './removals/purge-ledger-store.ts'
import type { DuplicateGroup, Selection, StagedGroup, Staging } from './staged-rows.ts'

/**
 * The rows are the reason why a batch cannot be loaded: a part of it may be loaded. Everything else that fails is
 * the state of a store, and the same batch is tried again later.
 */
export class BatchRefused extends Error {
  override readonly name = 'BatchRefused'
  /** Whether the rows were refused before anything of them was stored. */
  readonly atStaging: boolean

  constructor(message: string, atStaging: boolean, cause?: unknown) {
    super(message, { cause })
    this.atStaging = atStaging
  }
}

/** Staging is not what it was a moment ago: the engine was restarted in the middle of a batch. */
export class StagingLost extends Error {
  override readonly name = 'StagingLost'
}

/** Rows from which a batch in memory is worth all threads. */
const largeRows = 60_000

/** An insert may touch 100 partitions (max_partitions_per_insert_block); events have one a month. */
const monthsPerInsert = 90

export interface BatchLoaderDependencies {
  readonly store: LoaderStore
  readonly known: Pick<KnownKeys, 'takeBatch' | 'stored'>
  /** The greatest sequence number that any load has begun to store. */
  readonly attempted: { sequence: number }
  readonly ledger: Pick<PurgeLedger, 'listLeaving'>
}

/**
 * Brings rows of the log into the columnar store. Keys are stored before events: when a load is interrupted, those
 * keys decide at its repetition, and for a process that loads another log meanwhile, so that the same events are stored.
 */
export function createBatchLoader(dependencies: BatchLoaderDependencies) {
  const { store, known, attempted, ledger } = dependencies

  async function stage(staging: Staging, pieces: AsyncIterable<Buffer> | Iterable<Buffer>): Promise<void> {
    await store.clear(staging)
    try {
      for await (const piece of pieces) await store.stage(staging, piece)
    } catch (error) {
      throw refused(error, true)
    }
  }

  async function storeStaged(staging: Staging, rows: number): Promise<Outcome> {
    const { groups, keys: bytes, stored } = await store.readGroups(staging)
    const staged = sumOf(groups, 'rows')
    if (staged === 0 && rows > 0) throw new StagingLost('The engine was restarted after a batch was staged')
    if (staged !== rows) {
      throw new BatchRefused(`${rows} lines of the event log are ${staged} rows to the engine`, true)
    }
    if (rows === 0) return nothing
    const reason = groups.find((group) => group.reason !== '')?.reason
    if (reason !== undefined) throw new BatchRefused(reason, true)
    const earliest = Math.min(...groups.map((group) => group.earliestReceived))
    const latest = Math.max(...groups.map((group) => group.latestReceived))
    if (latest - earliest > duplicateWindowMs) {
      throw new BatchRefused('the batch was received in more than 7 days', true)
    }
    const { keys, candidates } = await known.takeBatch(bytes, stored)
    if (keys !== sumOf(groups, 'events'))
      throw new StagingLost('The keys of a batch were not read to their end')
    const isKnown = await store.findKnown(staging, rows, { earliest, latest }, candidates)
    const leaving = await ledger.listLeaving(groups.map(({ datasource }) => datasource))
    const { purged } = leaving
    try {
      const duplicates = await findDuplicates(groups, staging, isKnown)
      await insert(groups, duplicates.length > 0, staging, leaving)
      const result = outcome(groups, duplicates, purged, { earliest, latest })
      known.stored(totalsOf(result).accepted)
      if (duplicates.length > 0) await noteReusedIds(staging, purged)
      if ((await store.countStaged(staging)) !== rows) {
        throw new StagingLost('The engine was restarted while a batch was being loaded')
      }
      return result
    } catch (error) {
      throw refused(error, false)
    }
  }

  async function findDuplicates(groups: readonly StagedGroup[], staging: Staging, isKnown: boolean) {
    return isKnown || sumOf(groups, 'distinct') < sumOf(groups, 'events')
      ? await store.markDuplicates(staging)
      : []
  }

  /** A note is not worth a batch: what the engine cannot compare in a moment is not noted. */
  async function noteReusedIds(staging: Staging, purged: readonly string[]): Promise<void> {
    try {
      const found = await store.findReusedIds(staging)
      const reused = found.filter(({ datasource }) => !purged.includes(datasource))
      if (reused.length > 0) await store.noteReusedIds(reused)
    } catch (error) {
      if (!(error instanceof ColumnarError)) throw error
    }
  }

  async function insert(
    groups: readonly StagedGroup[],
    withoutDuplicates: boolean,
    staging: Staging,
    { purged, uncounted }: LeavingDatasources,
  ): Promise<void> {
    const firstSequence = Math.min(...groups.map((group) => group.firstSequence))
    const lastSequence = Math.max(...groups.map((group) => group.lastSequence))
    const unlessStored = firstSequence <= attempted.sequence ? { firstSequence, lastSequence } : undefined
    attempted.sequence = Math.max(attempted.sequence, lastSequence)
    const selection: Selection = { staging, withoutDuplicates, unlessStored, purged, uncounted }
    if (sumOf(groups, 'events') > 0) await store.insertKeys(selection)
    const hasPurchases = sumOf(groups, 'purchases') > 0
    const hasInteractions = sumOf(groups, 'interactions') > 0
    await allDone([
      insertEvents(groups, selection),
      sumOf(groups, 'events') > 0 ? store.insertPersonEvents(selection) : undefined,
      hasPurchases ? store.insertPurchases(selection) : undefined,
      hasPurchases ? store.findOrderEvents(staging) : undefined,
      hasInteractions ? store.insertWorkflowEvents(selection) : undefined,
      sumOf(groups, 'identifies') > 0 ? store.insertIdentities(selection) : undefined,
      sumOf(groups, 'logRows') > 0 ? store.insertLog(selection) : undefined,
      sumOf(groups, 'events') > 0 ? store.insertLabelKeys(selection, hasInteractions) : undefined,
    ])
    if (hasPurchases) await store.insertOrders(selection)
  }

  async function insertEvents(groups: readonly StagedGroup[], selection: Selection): Promise<void> {
    const withEvents = groups.filter((group) => group.events > 0)
    if (withEvents.length === 0) return
    const first = monthNumber(Math.min(...withEvents.map((group) => group.firstMonth)))
    const last = monthNumber(Math.max(...withEvents.map((group) => group.lastMonth)))
    for (let from = first; from <= last; from += monthsPerInsert) {
      const to = Math.min(from + monthsPerInsert - 1, last)
      await store.insertEvents({ first: asMonth(from), last: asMonth(to) }, selection)
    }
  }

  function outcome(
    groups: readonly StagedGroup[],
    duplicates: readonly DuplicateGroup[],
    purged: readonly string[],
    received: Received,
  ): Outcome {
    const repeated = new Map(duplicates.map((group) => [datasourceKey(group), group]))
    const changes = new Map<string, CounterChange>()
    for (const { company, datasource, events, changed, dropped, bot } of groups) {
      const key = datasourceKey({ company, datasource })
      const without = repeated.get(key)
      const fresh = events - (without?.duplicate ?? 0)
      const isPurged = purged.includes(datasource)
      changes.set(key, {
        company,
        datasource,
        accepted: isPurged ? 0 : fresh,
        changed: isPurged ? 0 : changed - (without?.changed ?? 0),
        dropped: dropped + (isPurged ? fresh : 0),
        bot,
        duplicate: without?.duplicate ?? 0,
      })
    }
    return { changes, quarantined: 0, received }
  }

  async function storePayload(payload: Buffer, rows: number, seen: { loaded: boolean }): Promise<Outcome> {
    const staging: Staging = { table: 'staging', size: rows > largeRows ? 'large' : 'small' }
    await stage(staging, [payload])
    const result = await storeStaged(staging, rows)
    seen.loaded = true
    return result
  }

  /**
   * Halves what is refused until the row is alone that is the reason.
   * @param split the lines of the payload; called for a refused one alone, since a buffer for each line is work
   */
  async function bisect(
    payload: Buffer,
    rows: number,
    split: () => readonly Buffer[],
    terms: { readonly seen: { loaded: boolean }; readonly persistent: boolean },
  ): Promise<Outcome> {
    const { seen, persistent } = terms
    try {
      return await storePayload(payload, rows, seen)
    } catch (error) {
      if (!(error instanceof BatchRefused)) throw error
      const lines = split()
      const [line] = lines
      if (line === undefined) throw error
      if (!error.atStaging && !persistent) throw error.cause
      if (error.atStaging && error.cause && !(await takesControlLine())) throw error.cause
      if (lines.length > 1) {
        const half = lines.length >> 1
        const load = (part: readonly Buffer[]): Promise<Outcome> =>
          bisect(Buffer.concat(part), part.length, () => part, terms)
        const first = await load(lines.slice(0, half))
        return together(first, await load(lines.slice(half)))
      }
      // One row alone proves nothing against itself: the tables must have taken others at the same time.
      if (!error.atStaging && !seen.loaded) throw error.cause
      return await quarantine(line, error.message)
    }
  }

  /** Whether staging takes a row that is sound for certain. */
  async function takesControlLine(): Promise<boolean> {
    const staging: Staging = { table: 'staging', size: 'small' }
    try {
      await store.clear(staging)
      await store.stage(staging, controlLine)
      return (await store.countStaged(staging)) === 1
    } catch {
      return false
    }
  }

  async function quarantine(line: Buffer, error: string): Promise<Outcome> {
    const row = readRefusedRow(line, error)
    await store.quarantine([row])
    const counts =
      row.kind === 'e'
        ? { dropped: 1 }
        : row.kind === 'bot' || row.kind === 'dropped'
          ? { [row.kind]: row.events }
          : {}
    return outcomeOf(row, counts, 1)
  }

  return {
    /**
     * Stages rows that come in pieces of whole lines; may run while another batch is stored from the other table.
     * @throws {BatchRefused} its rows are the reason
     */
    stage,
    /**
     * Stores what was staged.
     * @param rows that were staged
     * @throws {BatchRefused} its rows are the reason
     */
    store: storeStaged,
    /**
     * Loads rows in memory; those that the engine refuses go to quarantine.
     * @param rows lines of the payload
     * @param persistent whether a refusal by a table other than staging has come several times already: only then is
     *   it taken for the rows' fault
     */
    loadLines: (payload: Buffer, rows: number, persistent: boolean): Promise<Outcome> =>
      bisect(payload, rows, () => linesOf(payload), { seen: { loaded: false }, persistent }),
  }
}

/** A refusal because of the rows where the error says so; errors about the engine's state are returned unchanged. */
function refused(error: unknown, atStaging: boolean): unknown {
  return error instanceof ColumnarError && !error.passing
    ? new BatchRefused(`${error.type}: ${error.message}`, atStaging, error)
    : error
}

type NumericKey = { [K in keyof StagedGroup]: StagedGroup[K] extends number ? K : never }[keyof StagedGroup]

function sumOf(groups: readonly StagedGroup[], key: NumericKey): number {
  return groups.reduce((sum, group) => sum + group[key], 0)
}

/** Waits for all, so that none is still at work when the next attempt begins. @throws the first failure */
async function allDone(work: readonly (Promise<void> | undefined)[]): Promise<void> {
  for (const result of await Promise.allSettled(work)) {
    if (result.status === 'rejected') throw result.reason
  }
}

const monthNumber = (month: number): number => Math.floor(month / 100) * 12 + (month % 100) - 1
const asMonth = (number: number): number => Math.floor(number / 12) * 100 + (number % 12) + 1
