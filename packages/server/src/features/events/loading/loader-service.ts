import { totalmem } from 'node:os'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Clock } from '../../../platform/clock.ts'
import type { Logger } from '../../../platform/logger.ts'
import type { Metrics } from '../../../platform/metrics.ts'
import { ColumnarError } from '../../../platform/stores/columnar.ts'
import { comparePositions, type EventLog, type Position } from '../../../platform/stores/event-log.ts'
import { BatchRefused, createBatchLoader } from './batch-loader.ts'
import type { CheckpointStore, LoaderLock } from './checkpoint-store.ts'
import type { FilterFile } from './keys/filter-file.ts'
import { createKeyUpkeep } from './keys/key-upkeep.ts'
import { createKnownKeys } from './keys/known-keys.ts'
import type { LoaderStore } from './loader-store.ts'
import { PieceMemory, planBatch } from './log/log-batch.ts'
import { changesOf, nothing, type Outcome, totalsOf } from './outcome.ts'
import type { PurgeLedger } from './removals/purge-ledger-store.ts'
import type { Remover } from './removals/remover.ts'
import type { Staging } from './staged-rows.ts'

export interface LoaderDependencies {
  readonly log: Pick<EventLog, 'read' | 'release' | 'start' | 'end' | 'changed' | 'state'>
  readonly store: LoaderStore
  readonly checkpoints: CheckpointStore
  readonly ledger: Pick<PurgeLedger, 'listLeaving'>
  readonly remover: Remover
  readonly clock: Clock
  readonly logger: Logger
  readonly metrics?: Pick<Metrics, 'loadedEvents' | 'loadSeconds' | 'gauge'>
  /** Whether the interface is in use, so that what is loaded may be asked for; default always. */
  readonly isInUse?: () => boolean
  readonly limits?: Partial<LoaderLimits>
  /** Of the keys that are known, while no process loads. */
  readonly filterFile?: FilterFile
}

export interface LoaderLimits {
  /** Approximate maximum bytes of one batch. */
  readonly batchBytes: number
  /** Bytes of a batch in memory at once: larger ones come in pieces, of which the next is read while one is staged. */
  readonly pieceBytes: number
  /** Between the beginnings of two batches while there is no backlog; events gather meanwhile. */
  readonly intervalMs: number
  /** The same while the interface is not in use: a batch costs as much as a thousand rows, however few it has. */
  readonly unusedIntervalMs: number
  /** Between two attempts while a store fails: the first pause, doubled up to the maximum. */
  readonly firstPauseMs: number
  readonly maxPauseMs: number
  /** A stop waits so long for the batch at hand; then it is abandoned, and the next process loads it again. */
  readonly stopWithinMs: number
  /** Between two looks whether what a removal waits for is loaded. */
  readonly lookMs: number
  /** Between two attempts to take the lock that another process holds. */
  readonly lockPollMs: number
}

const mebibyte = 1024 * 1024

const defaults: LoaderLimits = {
  // The engine takes about 7 times as much memory for a backlog of such batches; larger ones load hardly faster.
  batchBytes: Math.min(192 * mebibyte, Math.floor(totalmem() / 32)),
  // A little more than a segment of the log, so that no small remainder is a piece of its own.
  pieceBytes: 36 * mebibyte,
  intervalMs: 1_000,
  unusedIntervalMs: 5_000,
  firstPauseMs: 250,
  maxPauseMs: 15_000,
  lookMs: 100,
  lockPollMs: 2_000,
  stopWithinMs: 8_000,
}

export interface LoaderState {
  /** `waiting`: another process loads; `failing`: a store fails, events wait in the log. */
  readonly condition: 'stopped' | 'waiting' | 'loading' | 'failing'
  /** What the last try failed with; undefined when it did not. */
  readonly error: string | undefined
  /** Seconds since the oldest event that waits was written to the log; 0 when none waits. */
  readonly lagSeconds: number
  /** Epoch milliseconds of the last batch; undefined before the first. */
  readonly loadedAt: number | undefined
}

/** A batch that is ready to be stored: its rows in memory, or staged. */
interface Prepared {
  /** Undefined when the rows are in `payload`. */
  readonly staging: Staging | undefined
  readonly payload: Buffer
  readonly rows: number
  readonly next: Position
  /** The end of the log when the batch was planned. */
  readonly end: Position
  /** Why staging refuses the rows; they are tried in smaller pieces. */
  readonly refused: BatchRefused | undefined
}

export type LoaderService = ReturnType<typeof createLoaderService>

/** Until a batch that was given up has let go of everything. */
const abandonMs = 4_000
const memoryLimitExceeded = 241
/** So many failures in a row before a refusal by a table is taken for the rows' fault. */
const persistentAfter = 3

/**
 * Moves events from the event log into the columnar store: each batch once, each `eventId` of a datasource once
 * within 7 days, counted exactly (docs/interface.md, Collector; ARCHITECTURE.md, The way of an event).
 */
export function createLoaderService(dependencies: LoaderDependencies) {
  const {
    log,
    store,
    checkpoints,
    ledger,
    remover,
    clock,
    logger,
    metrics,
    isInUse = () => true,
    filterFile,
  } = dependencies
  const limits = { ...defaults, ...dependencies.limits }
  const attempted = { sequence: 0 }
  const known = createKnownKeys({ store, clock, logger, ...(filterFile && { file: filterFile }) })
  const batches = createBatchLoader({ store, known, attempted, ledger })
  const memory = new PieceMemory(limits.pieceBytes)
  const upkeep = createKeyUpkeep({ store, clock, logger })
  const stopping = new AbortController()
  let running: Promise<void> | undefined
  /** The batch that is being stored, or what is done between two. */
  let turn: Promise<unknown> = Promise.resolve()
  let condition: LoaderState['condition'] = 'stopped'
  let lastError: string | undefined
  let loadedAt: number | undefined
  let failures = 0
  let batchBytes = limits.batchBytes
  /** Up to here batches are small enough to be bisected: one of them was refused. */
  let cautiousUntil: Position = { segment: 0, offset: 0 }

  metrics?.gauge(
    'millrace_load_lag_seconds',
    'Age of the oldest event that waits in the log to be loaded',
    () => lagSeconds(),
  )

  metrics?.gauge(
    'millrace_known_keys_bytes',
    'Memory in which the loader keeps what it knows of the keys of stored events',
    () => known.bytes(),
  )

  function lagSeconds(): number {
    const { oldestAt } = log.state()
    return oldestAt === undefined ? 0 : Math.max(0, (clock.now() - oldestAt) / 1_000)
  }

  async function run(): Promise<void> {
    while (!stopping.signal.aborted) {
      let lock: LoaderLock | undefined
      try {
        lock = await checkpoints.tryLock()
        if (lock) await loadWhileLocked(lock)
        else {
          condition = 'waiting'
          await pause(limits.lockPollMs)
        }
      } catch (error) {
        await fail(error)
      } finally {
        lock?.release()
      }
    }
  }

  async function loadWhileLocked(lock: LoaderLock): Promise<void> {
    // Whatever an earlier load did is known from the stores alone: this process may have just begun.
    await store.endLeftovers()
    attempted.sequence = Math.max(attempted.sequence, await store.greatestSequence())
    let checkpoint = await checkpoints.find()
    let position = checkpoint ?? log.start()
    let ahead: Promise<Prepared | undefined> | undefined
    // Removing files takes time of the disk's, and the next batch does not wait for it.
    let releasing = release(position)
    condition = 'loading'
    const endRemovals = remover.begin({
      betweenBatches: inTurn,
      async loaded(upTo, signal) {
        while (comparePositions(position, upTo) < 0) await sleep(limits.lookMs, undefined, { signal })
      },
      onRemoved: (companyIds) => companyIds.forEach(store.forgetLabelKeys),
    })
    try {
      await known.begin()
      while (!stopping.signal.aborted) {
        const began = performance.now()
        const prepared = await (ahead ?? prepare(position, 'staging'))
        ahead = undefined
        if (!prepared) {
          succeeded()
          await log.changed(position, stopping.signal)
        } else if (prepared.refused) {
          logger.warn({ err: prepared.refused }, 'a batch is refused: it is loaded in smaller pieces')
          cautiousUntil = prepared.end
          continue
        } else {
          if (prepared.staging && isFarBehind(prepared.next)) {
            ahead = prepare(prepared.next, prepared.staging.table === 'staging' ? 'staging_ahead' : 'staging')
            // Reported when its turn comes, if it ever does.
            ahead.catch(() => undefined)
          }
          await lock.enter(stopping.signal)
          const outcome = await inTurn(() => load(prepared))
          if (outcome === 'refused') {
            await lock.leave()
            await ahead?.catch(() => undefined)
            ahead = undefined
            continue
          }
          await lock.check()
          const receivedAt = outcome.received && new Date(outcome.received.latest)
          await checkpoints.commit(checkpoint, prepared.next, changesOf(outcome), receivedAt)
          await lock.leave()
          checkpoint = prepared.next
          position = prepared.next
          succeeded()
          report(outcome, (performance.now() - began) / 1_000)
          releasing = releasing.then(() => release(prepared.next))
          if (await upkeep.run(outcome.received)) await known.renew()
        }
        const isBehind = prepared && comparePositions(position, prepared.end) < 0
        if (!isBehind) await gather(began, position)
      }
    } finally {
      // Nothing of this turn is at work when the next one begins.
      await ahead?.catch(() => undefined)
      await known.stop()
      await endRemovals()
      await releasing
    }
  }

  /** One after the other: batches, and what may not be done while one is stored. */
  function inTurn<T>(work: () => Promise<T>): Promise<T> {
    const next = turn.then(work, work)
    turn = next.catch(() => {})
    return next
  }

  /** Segments that cannot be removed now are removed with the next ones. */
  async function release(position: Position): Promise<void> {
    try {
      await log.release(position)
    } catch (error) {
      logger.warn({ err: error }, 'loaded segments of the event log are not removed')
    }
  }

  /**
   * Plans the batch behind a position, and stages it if it is large.
   * @returns undefined when nothing waits
   */
  async function prepare(position: Position, table: Staging['table']): Promise<Prepared | undefined> {
    const isCautious = comparePositions(position, cautiousUntil) < 0
    const end = log.end()
    const plan = await planBatch(log, position, isCautious ? limits.pieceBytes : batchBytes, memory)
    if (!plan || plan.kind === 'lines')
      return plan && { ...plan, end, staging: undefined, refused: undefined }
    const staging: Staging = { table, size: 'large' }
    let refused: BatchRefused | undefined
    try {
      await batches.stage(staging, plan.pieces)
    } catch (error) {
      if (!(error instanceof BatchRefused)) throw error
      refused = error
    }
    return { payload: Buffer.alloc(0), rows: plan.rows(), next: plan.next(), end, staging, refused }
  }

  /** @returns `refused` when the batch is to be loaded in smaller pieces */
  async function load({ staging, payload, rows, end }: Prepared): Promise<Outcome | 'refused'> {
    if (rows === 0) return nothing
    if (!staging) return await batches.loadLines(payload, rows, failures >= persistentAfter)
    try {
      return await batches.store(staging, rows)
    } catch (error) {
      if (!(error instanceof BatchRefused)) throw error
      logger.warn({ err: error }, 'a batch is refused: it is loaded in smaller pieces')
      cautiousUntil = end
      return 'refused'
    }
  }

  /** Whether so much waits that the next batch is worth being staged while this one is stored. */
  function isFarBehind(position: Position): boolean {
    const end = log.end()
    return position.segment < end.segment || end.offset - position.offset > limits.pieceBytes
  }

  function succeeded(): void {
    failures = 0
    lastError = undefined
  }

  function report(outcome: Outcome, seconds: number): void {
    loadedAt = clock.now()
    if (batchBytes < limits.batchBytes) batchBytes = Math.min(2 * batchBytes, limits.batchBytes)
    const { accepted, dropped, bot, duplicate } = totalsOf(outcome)
    metrics?.loadSeconds.observe(seconds)
    metrics?.loadedEvents.inc({ outcome: 'stored' }, accepted)
    metrics?.loadedEvents.inc({ outcome: 'duplicate' }, duplicate)
    metrics?.loadedEvents.inc({ outcome: 'dropped' }, dropped)
    metrics?.loadedEvents.inc({ outcome: 'bot' }, bot)
    metrics?.loadedEvents.inc({ outcome: 'quarantined' }, outcome.quarantined)
    if (outcome.quarantined > 0) {
      logger.error({ rows: outcome.quarantined }, 'the columnar store refuses rows: they are in quarantine')
    }
    logger.debug({ accepted, duplicate, dropped, bot, seconds }, 'batch loaded')
  }

  async function fail(error: unknown): Promise<void> {
    if (stopping.signal.aborted) return
    condition = 'failing'
    lastError = messageOf(error)
    failures += 1
    const pauseMs = Math.min(limits.firstPauseMs * 2 ** (failures - 1), limits.maxPauseMs)
    // The same batch would need the same memory again.
    if (error instanceof ColumnarError && error.code === memoryLimitExceeded) {
      batchBytes = Math.max(limits.pieceBytes, batchBytes / 4)
    }
    const level = failures === 1 ? 'warn' : failures % 20 === 0 ? 'error' : 'debug'
    logger[level]({ err: error, failures }, 'loading fails: events wait in the log')
    await pause(pauseMs * (0.75 + Math.random() / 2))
  }

  /** Lets events come for the next batch. @param began when this one did */
  async function gather(began: number, position: Position): Promise<void> {
    const since = (): number => performance.now() - began
    await pause(limits.intervalMs - since())
    while (
      !stopping.signal.aborted &&
      !isInUse() &&
      since() < limits.unusedIntervalMs &&
      !isFarBehind(position)
    )
      await pause(limits.lookMs)
  }

  async function pause(milliseconds: number): Promise<void> {
    if (milliseconds <= 0) return
    await sleep(milliseconds, undefined, { signal: stopping.signal }).catch(() => undefined)
  }

  return {
    /** Begins to load; returns at once. Whatever fails is tried again until `stop`. */
    start(): void {
      running ??= run()
    },
    /** Lets the batch at hand finish and gives the lock back. Events that wait stay in the log. */
    async stop(): Promise<void> {
      stopping.abort()
      const abandonTimer = setTimeout(() => store.abandon(), limits.stopWithinMs)
      // The relational store may be what hangs; its own limits end that, but later than a stop can wait.
      const waiting = new AbortController()
      const wait = sleep(limits.stopWithinMs + abandonMs, undefined, { signal: waiting.signal })
      const hasEnded = await Promise.race([running?.then(() => true), wait.then(() => false)])
      clearTimeout(abandonTimer)
      waiting.abort()
      await wait.catch(() => undefined)
      if (hasEnded) await known.save()
      condition = 'stopped'
    },
    state: (): LoaderState => ({ condition, error: lastError, lagSeconds: lagSeconds(), loadedAt }),
  }
}

/** With the messages of its causes: the message of an unavailable store alone is for clients. */
function messageOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  return error.cause === undefined ? error.message : `${error.message}: ${messageOf(error.cause)}`
}
