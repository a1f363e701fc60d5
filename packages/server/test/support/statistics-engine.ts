import { createBatchLoader } from '../../src/features/loading/batch-loader.ts'
import { createKnownKeys } from '../../src/features/loading/known-keys.ts'
import { createLoaderStore } from '../../src/features/loading/loader-store.ts'
import { systemClock } from '../../src/platform/clock.ts'
import { silentLogger } from '../../src/platform/logger.ts'
import type { Statement } from '../../src/platform/stores/columnar.ts'
import { createTestColumnar, type TestEngine } from './columnar.ts'
import type { StoredEvent } from './statistics-events.ts'

/** A columnar engine of the test's own, to which events are written by the loader. */
export interface StatisticsEngine {
  readonly columnar: TestEngine
  /** Every statement that was read with, for tests of what is sent. */
  readonly statements: Statement[]
  /** Loads events as one batch. */
  load(events: readonly StoredEvent[]): Promise<void>
  /** Removes all events. */
  empty(): Promise<void>
  close(): Promise<void>
}

const tables = ['events', 'purchases', 'order_events', 'orders', 'identities', 'event_keys', 'label_keys']

export async function openStatisticsEngine(): Promise<StatisticsEngine> {
  const engine = await createTestColumnar()
  const statements: Statement[] = []
  let sequence = 0

  const openLoader = () => {
    const store = createLoaderStore({ columnar: engine, threads: 2 })
    const known = createKnownKeys({ store, clock: systemClock, logger: silentLogger })
    return createBatchLoader({ store, known, attempted: { sequence } })
  }
  let loader = openLoader()

  return {
    columnar: {
      ...engine,
      stream(statement) {
        statements.push(statement)
        return engine.stream(statement)
      },
    },
    statements,
    async load(events) {
      if (events.length === 0) return
      const now = Date.now()
      const rows = events.map((event) => ({
        q: ++sequence,
        z: 'e',
        k: event.company,
        d: event.datasource,
        t: event.time,
        r: now,
        e: event.eventId,
        n: event.name,
        u: event.url,
        p: event.tmpId,
        c: event.clientId,
        i: event.ids,
        v: event.value ?? '',
        x: event.transId,
        l: event.labels,
        dt: event.deviceType,
        os: event.os,
        br: event.browser,
      }))
      const body = Buffer.from(rows.map((row) => `${JSON.stringify(row)}\n`).join(''))
      const { quarantined } = await loader.loadLines(body, rows.length, true)
      if (quarantined > 0) throw new Error(`${quarantined} of the events cannot be loaded`)
    },
    async empty() {
      for (const table of tables) await engine.command({ sql: `TRUNCATE TABLE ${table}` })
      // It remembers what is stored.
      loader = openLoader()
    },
    close: () => engine.close(),
  }
}
