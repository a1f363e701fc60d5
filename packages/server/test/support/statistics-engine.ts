import {
  countryText,
  eventHead,
  eventRow,
  lineOf,
  senderText,
} from '../../src/features/events/collector/rows/event-row.ts'
import { createBatchLoader } from '../../src/features/events/loading/batch-loader.ts'
import { createKnownKeys } from '../../src/features/events/loading/keys/known-keys.ts'
import { createLoaderStore } from '../../src/features/events/loading/loader-store.ts'
import { systemClock } from '../../src/platform/clock.ts'
import { silentLogger } from '../../src/platform/logger.ts'
import type { Statement } from '../../src/platform/stores/columnar.ts'
import { sharedColumnar, type TestEngine } from './columnar.ts'
import type { StoredEvent } from './statistics-events.ts'
import { until } from './until.ts'

/** The columnar engine of the worker, to which events are written by the loader. */
export interface StatisticsEngine {
  readonly columnar: TestEngine
  /** Every statement that was read with, for tests of what is sent. */
  readonly statements: Statement[]
  /** Loads events as one batch. */
  load(events: readonly StoredEvent[]): Promise<void>
  /** Merges what is stored, which the engine otherwise does at a time of its own: an answer is computed again after it. */
  settle(): Promise<void>
  /** Removes all events. */
  empty(): Promise<void>
  /** The engine goes on; the next file of the worker finds it empty. */
  close(): Promise<void>
}

const tablesOfEvents = [
  'events',
  'purchases',
  'workflow_events',
  'person_events',
  'order_events',
  'orders',
  'identities',
  'event_keys',
  'label_keys',
]

export async function openStatisticsEngine(): Promise<StatisticsEngine> {
  const engine = await sharedColumnar()
  const statements: Statement[] = []
  let sequence = 0

  const openLoader = () => {
    const store = createLoaderStore({ columnar: engine, threads: 2 })
    const known = createKnownKeys({ store, clock: systemClock, logger: silentLogger })
    const ledger = { listLeaving: async () => ({ purged: [], uncounted: [] }) }
    return createBatchLoader({ store, known, attempted: { sequence }, ledger })
  }
  let loader = openLoader()

  async function listFilled(): Promise<string[]> {
    const filled = await engine.query<{ name: string }>({
      sql: 'SELECT name FROM system.tables WHERE database = currentDatabase() AND total_rows > 0',
    })
    return filled.map(({ name }) => name)
  }
  async function truncate(tables: readonly string[]): Promise<void> {
    for (const name of tables) await engine.command({ sql: `TRUNCATE TABLE ${name}` })
  }
  // What the file before has left.
  await truncate(await listFilled())

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
      const lines = events.map((event) => {
        const origin = { companyId: event.company, datasourceId: event.datasource, receivedAt: now }
        const labels = Object.entries(event.labels)
        const kept = { ...event, kept: true, value: event.value ?? undefined, labels, changes: [] } as const
        return lineOf(
          ++sequence,
          eventRow(kept, eventHead(origin, senderText(event) + countryText(event.country))),
        )
      })
      const body = Buffer.from(lines.join(''))
      const { quarantined } = await loader.loadLines(body, lines.length, true)
      if (quarantined > 0) throw new Error(`${quarantined} of the events cannot be loaded`)
    },
    async settle() {
      for (const name of await listFilled()) {
        if (tablesOfEvents.includes(name)) await engine.command({ sql: `OPTIMIZE TABLE ${name} FINAL` })
      }
      // Emptying a table leaves parts without rows, which go a moment later.
      await until(async () => {
        const [row] = await engine.query<{ empty: number }>({
          sql: `SELECT count() AS empty FROM system.parts
            WHERE active AND rows = 0 AND has({tables: Array(String)}, table)`,
          params: { tables: tablesOfEvents },
        })
        return row?.empty === 0
      })
    },
    async empty() {
      await truncate((await listFilled()).filter((name) => tablesOfEvents.includes(name)))
      // It remembers what is stored.
      loader = openLoader()
    },
    close: async () => {},
  }
}
