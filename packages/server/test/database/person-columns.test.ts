import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { columnarDirectory } from '../../src/database/migrate.ts'
import { personColumns, personDays } from '../../src/database/person-columns.ts'
import { readMigrations } from '../../src/platform/migrations/migrations.ts'
import { splitStatements } from '../../src/platform/migrations/sql-statements.ts'
import { openStatisticsEngine, type StatisticsEngine } from '../support/statistics-engine.ts'
import { storedEvent } from '../support/statistics-events.ts'

let engine: StatisticsEngine

beforeAll(async () => {
  engine = await openStatisticsEngine()
})
afterAll(() => engine.close())
beforeEach(() => engine.empty())

const day = 86_400_000
const stored = () =>
  engine.columnar.query<{ seq: number }>({ sql: 'SELECT * FROM person_events ORDER BY seq' })
const eventsAt = (now: number) => [
  storedEvent({ time: now, clientId: 'ada', labels: { store: 'Paris' }, ids: ['a', 'b'], value: '12.50' }),
  storedEvent({ time: now - (personDays - 1) * day, url: '' }),
  storedEvent({ time: now - (personDays + 1) * day, name: 'too_old' }),
  storedEvent({ time: now + day / 2, tmpId: 'device-2' }),
]

test('the table has the columns that the loader fills, and no others', async () => {
  const columns = await engine.columnar.query<{ name: string }>({
    sql: "SELECT name FROM system.columns WHERE database = currentDatabase() AND table = 'person_events'",
  })
  expect(columns.map(({ name }) => name).sort()).toEqual(Object.keys(personColumns).sort())
})

test('keeps what a workflow may look back upon, under the client, else under the device', async () => {
  await engine.load(eventsAt(Date.now()))
  const rows = await engine.columnar.query<object>({
    sql: `SELECT name, named, owner = sipHash64(if(named, 'ada', if(url = '', 'device-1', 'device-2'))) AS own, labels, ids, value
          FROM person_events ORDER BY seq`,
  })
  const plain = { name: 'page_view', labels: {}, ids: [], value: null }
  expect(rows).toEqual([
    { ...plain, named: 1, own: 1, labels: { store: 'Paris' }, ids: ['a', 'b'], value: 12.5 },
    { ...plain, named: 0, own: 1 },
    { ...plain, named: 0, own: 1 },
  ])
})

test('a migration brings the events that were stored before, however often it is repeated', async () => {
  await engine.load(eventsAt(Date.now()))
  const loaded = await stored()
  expect(loaded).toHaveLength(3)
  await engine.columnar.command({ sql: 'TRUNCATE TABLE person_events' })
  const migration = readMigrations(columnarDirectory).find(({ sql }) =>
    sql.includes('table if not exists person_events'),
  )
  for (let time = 0; time < 2; time++) {
    for (const { text } of splitStatements(migration?.sql ?? '')) await engine.columnar.command({ sql: text })
  }
  expect(await stored()).toEqual(loaded)
})
