import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createCheckpointStore } from '../../src/features/events/loading/checkpoint-store.ts'
import type {
  LoaderDependencies,
  LoaderLimits,
  LoaderService,
} from '../../src/features/events/loading/loader-service.ts'
import { createLoaderStore } from '../../src/features/events/loading/loader-store.ts'
import type { ErasureRecord } from '../../src/features/events/loading/removals/erasure.ts'
import {
  type HiddenDatasources,
  watchHiddenDatasources,
} from '../../src/features/events/loading/removals/hidden-datasource-store.ts'
import {
  createPurgeLedger,
  type PurgeLedger,
} from '../../src/features/events/loading/removals/purge-ledger-store.ts'
import { type ErasedPersons, watchErasedPersons } from '../../src/features/events/persons/erased-persons.ts'
import { createErasureStore } from '../../src/features/events/persons/erasure-store.ts'
import { systemClock } from '../../src/platform/clock.ts'
import { createSecretBox, encryptionKeyBytes, type SecretBox } from '../../src/platform/crypto/secret-box.ts'
import { silentLogger } from '../../src/platform/logger.ts'
import type { Columnar } from '../../src/platform/stores/columnar.ts'
import { embeddedColumnar } from '../../src/platform/stores/columnar-embedded.ts'
import { comparePositions, type EventLog } from '../../src/platform/stores/event-log.ts'
import { openSegmentLog, type SegmentLogOptions } from '../../src/platform/stores/segment-log.ts'
import { wireLoader } from '../../src/wiring/events.ts'
import { createTestColumnar, type TestEngine } from './columnar.ts'
import { createTestDatabase, type TestDatabase } from './postgres.ts'
import { until } from './until.ts'

export const company = '65f0c0ffee5ca1ab1e0ddba1'
export const datasource = '65f0c0ffee5ca1ab1e0ddba2'

/** A row of the event log without its sequence number. */
export type LogRow = Record<string, unknown>

let serial = 0

/** An event's row; every field that is not given is filled. */
export const eventRow = (fields: LogRow = {}): LogRow => ({
  z: 'e',
  k: company,
  d: datasource,
  r: Date.UTC(2026, 8, 1, 12),
  t: Date.UTC(2026, 8, 1, 11),
  e: `event-${serial++}`,
  n: 'page_view',
  u: 'https://www.shop.example/',
  p: 'device-1',
  ...fields,
})

export interface Counters {
  readonly accepted: number
  readonly changed: number
  readonly dropped: number
  readonly bot: number
  readonly duplicate: number
}

/** The stores that loading connects, and a loader between them. */
export interface LoadingGround {
  readonly database: TestDatabase
  /** Of the log. */
  readonly directory: string
  readonly engine: TestEngine
  readonly store: ReturnType<typeof createLoaderStore>
  readonly checkpoints: ReturnType<typeof createCheckpointStore>
  readonly hidden: HiddenDatasources
  readonly purges: PurgeLedger
  readonly erased: ErasedPersons
  readonly box: SecretBox
  /** Of erasures that were done. */
  readonly erasureRecords: ErasureRecord[]
  log: EventLog
  /** Closes and opens the log, as a restart does. */
  reopenLog(options?: Partial<SegmentLogOptions>): Promise<void>
  /** Appends rows as one request; returns their sequence numbers. */
  append(rows: readonly LogRow[]): Promise<number[]>
  appendText(lines: string, count: number, first?: number): Promise<void>
  /** A loader that was started; the test stops it. */
  startLoader(
    overrides?: Partial<
      Pick<LoaderDependencies, 'store' | 'checkpoints' | 'isInUse'> & { columnar: Columnar }
    >,
    limits?: Partial<LoaderLimits>,
  ): LoaderService
  /** Stops what a failed test has not: it would hold the lock of loading for ever. */
  stopLoaders(): Promise<void>
  /** Resolves when everything in the log is loaded. */
  loaded(): Promise<void>
  /** Loads everything with a loader of its own. */
  load(limits?: Partial<LoaderLimits>): Promise<void>
  /** Kills the engine's process with SIGKILL; and starts it again, unless told not to. */
  killEngine(back?: boolean): Promise<void>
  startEngine(): Promise<void>
  enginePid(): number
  query<R>(sql: string): Promise<R[]>
  counters(of?: string): Promise<Counters>
  /** All that is stored of a company and rests on its events, but for what tells in which batch they came. */
  stored(company: string): Promise<Readonly<Record<string, readonly unknown[]>>>
  close(): Promise<void>
}

/** Small enough for a test's events to be a backlog: batches in pieces, the next one staged ahead. */
export const smallPieces: Partial<LoaderLimits> = { pieceBytes: 300_000, batchBytes: 1_000_000 }

const quick: Partial<LoaderLimits> = { intervalMs: 5, firstPauseMs: 20, maxPauseMs: 200, lockPollMs: 50 }

export async function createLoadingGround(): Promise<LoadingGround> {
  const directory = mkdtempSync(join(tmpdir(), 'millrace-loading-'))
  const [database, engine] = await Promise.all([createTestDatabase(), createTestColumnar()])
  const openLog = (options: Partial<SegmentLogOptions> = {}): Promise<EventLog> =>
    openSegmentLog({ directory: join(directory, 'log'), ...options })
  const store = createLoaderStore({ columnar: engine, threads: 2 })
  const loaders: LoaderService[] = []
  let log = await openLog()
  const checkpoints = createCheckpointStore({ relational: database, log: log.id })
  const ledger = createPurgeLedger(database.db)
  const erased = await watchErasedPersons({
    store: createErasureStore(database.db),
    pool: database.pool,
    log: silentLogger,
  })
  const box = createSecretBox([randomBytes(encryptionKeyBytes)])
  const hidden = await watchHiddenDatasources({ ledger, pool: database.pool, log: silentLogger })
  let child = engine.child

  const isLoaded = async (): Promise<boolean> => {
    const checkpoint = await checkpoints.find()
    return comparePositions(checkpoint ?? log.start(), log.end()) >= 0
  }

  const erasureRecords: ErasureRecord[] = []

  const ground: LoadingGround = {
    erasureRecords,
    database,
    directory,
    engine,
    store,
    checkpoints,
    hidden,
    purges: ledger,
    erased,
    box,
    get log() {
      return log
    },
    async reopenLog(options) {
      await log.close()
      log = await openLog(options)
    },
    async append(rows) {
      const first = log.reserve(rows.length)
      const sequences = rows.map((_, index) => first + index)
      const lines = rows.map((row, index) => `${JSON.stringify({ q: sequences[index], ...row })}\n`)
      await log.append(lines.join(''), rows.length, first)
      return sequences
    },
    appendText: (lines, count, first = log.reserve(count)) => log.append(lines, count, first),
    startLoader(overrides = {}, limits = {}) {
      const loader = wireLoader({
        ...{ relational: database, columnar: engine, log, hidden, erased, box },
        clock: systemClock,
        logger: silentLogger,
        recordErasure: async (record) => void erasureRecords.push(record),
        limits: { ...quick, ...limits },
        ...overrides,
      })
      loader.start()
      loaders.push(loader)
      return loader
    },
    async stopLoaders() {
      await Promise.all(loaders.splice(0).map((loader) => loader.stop()))
    },
    loaded: async () => void (await until(isLoaded)),
    async load(limits) {
      const loader = ground.startLoader({}, limits)
      try {
        await ground.loaded()
      } catch (error) {
        throw new Error(`${error}: ${JSON.stringify(loader.state())}`)
      } finally {
        await loader.stop()
      }
    },
    async killEngine(back = true) {
      const { pid } = child.status()
      if (pid !== undefined) process.kill(pid, 'SIGKILL')
      // A supervisor of its own: one whose child dies again and again waits longer each time.
      await child.stop()
      if (back) await ground.startEngine()
    },
    enginePid() {
      const { pid } = child.status()
      if (pid === undefined) throw new Error('The engine does not run')
      return pid
    },
    async startEngine() {
      const home = { dataDirectory: engine.directory, logger: silentLogger, yields: false }
      child = embeddedColumnar(home).child
      await child.start()
    },
    query: (sql) => engine.query({ sql }),
    async counters(of = datasource) {
      const { rows } = await database.pool.query(
        `select accepted::int, changed::int, dropped::int, bot::int, duplicate::int
         from datasource_counters where datasource_id = $1`,
        [of],
      )
      return rows[0] ?? { accepted: 0, changed: 0, dropped: 0, bot: 0, duplicate: 0 }
    },
    async stored(company) {
      const of = (columns: string, table: string) =>
        engine.query({ sql: `SELECT ${columns} FROM ${table} WHERE company = '${company}' ORDER BY ALL` })
      return {
        events: await of('datasource, event_id, time, name, tmp_id, client_id, trans_id, value', 'events'),
        purchases: await of('datasource, event_id, time, trans_id, value', 'purchases'),
        orders: await of(
          'trans_id, datasource, time, value, version, client_id, device, tmp_id, ids, labels',
          'orders FINAL',
        ),
        workflowEvents: await of('datasource, time, workflow_id', 'workflow_events'),
        persons: await of('datasource, owner, time, name', 'person_events'),
        bindings: await of('datasource, tmp_id, client_id', 'identities FINAL'),
      }
    },
    async close() {
      await log.close()
      await child.stop()
      await hidden.close()
      await erased.close()
      await Promise.all([engine.close(), database.close()])
      rmSync(directory, { recursive: true })
    },
  }
  return ground
}
