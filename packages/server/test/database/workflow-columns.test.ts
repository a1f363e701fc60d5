import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { columnarDirectory } from '../../src/database/migrate.ts'
import { storedInteractions, workflowColumns } from '../../src/database/workflow-columns.ts'
import { readMigrations } from '../../src/platform/migrations/migrations.ts'
import { splitStatements } from '../../src/platform/migrations/sql-statements.ts'
import { openStatisticsEngine, type StatisticsEngine } from '../support/statistics-engine.ts'
import { storedEvent, testCompany } from '../support/statistics-events.ts'

let engine: StatisticsEngine

beforeAll(async () => {
  engine = await openStatisticsEngine()
})
afterAll(() => engine.close())
beforeEach(() => engine.empty())

const stored = () => engine.columnar.query({ sql: 'SELECT * FROM workflow_events ORDER BY seq' })

const labels = {
  workflowId: '65f0c0ffee5ca1ab1e0ddba1',
  versionId: 'v'.repeat(150),
  branchId: 'b1',
  entrypointId: 'e1',
  integrationId: 'i1',
  zone: '0',
  zoneType: 'email',
  format: 'embed-image',
  outputType: 'image',
  message: 'm\u00e9'.repeat(400),
  language: 'fr',
  individualized: 'true',
  generationMs: '3.2178',
  returnCode: '3501',
  categoryId: 'c1',
  tagValueIds: '["65f0c0ffee5ca1ab1e0dda01","65f0c0ffee5ca1ab1e0dda02","65f0c0ffee5ca1ab1e0dda01"]',
  mailClient: 'Gmail',
  'parameter.utm_source': 'news',
  'parameter.': 'nameless',
  'parameter.x': 'y'.repeat(600),
  other: 'kept in events alone',
}

const events = [
  storedEvent({ name: 'workflow_display', labels, clientId: 'ada' }),
  storedEvent({ name: 'workflow_click', labels: { workflowId: 'w1', generationMs: 'nan' }, url: '' }),
  storedEvent({ name: 'workflow_display', labels: { workflowId: 'w1', generationMs: '-1' } }),
  storedEvent({ name: 'workflow_display', labels: { workflowId: 'w1', generationMs: '1e999' } }),
  storedEvent({ name: 'workflow_display', labels: { workflowId: '' } }),
  storedEvent({ name: 'workflow_display', labels: {} }),
  storedEvent({ name: 'workflow_display', labels: { workflowId: 'w1', preview: 'true' } }),
  storedEvent({ name: 'page_view', labels: { workflowId: 'w1' } }),
]

test('the table has the columns that the loader fills, and no others', async () => {
  const columns = await engine.columnar.query<{ name: string }>({
    sql: "SELECT name FROM system.columns WHERE database = currentDatabase() AND table = 'workflow_events'",
  })
  expect(columns.map(({ name }) => name).sort()).toEqual(Object.keys(workflowColumns).sort())
})

test('a display or click is stored with what its labels say, within bounds', async () => {
  await engine.load(events)
  const rows = await stored()
  expect(rows).toHaveLength(4)
  expect(rows[0]).toMatchObject({
    company: testCompany,
    client_id: 'ada',
    click: 0,
    workflow_id: labels.workflowId,
    version_id: 'v'.repeat(100),
    zone: '0',
    zone_type: 'email',
    message: 'm\u00e9'.repeat(250),
    individualized: 1,
    generation_us: 3218,
    tag_value_ids: ['65f0c0ffee5ca1ab1e0dda02', '65f0c0ffee5ca1ab1e0dda01'],
    parameters: { utm_source: 'news', x: 'y'.repeat(500) },
  })
  expect(rows.slice(1)).toMatchObject([
    { click: 1, generation_us: null, individualized: 0, tag_value_ids: [], parameters: {} },
    { click: 0, generation_us: null },
    { click: 0, generation_us: null },
  ])
})

test('one with more parameters than are kept has the first of them by name', async () => {
  const many = Object.fromEntries(
    Array.from({ length: 80 }, (_, i) => [`parameter.p${String(i).padStart(2, '0')}`, 'x']),
  )
  await engine.load([storedEvent({ name: 'workflow_display', labels: { workflowId: 'w1', ...many } })])
  const [row] = (await stored()) as { parameters: Record<string, string> }[]
  expect(Object.keys(row?.parameters ?? {})).toHaveLength(50)
  expect(Object.keys(row?.parameters ?? {}).at(-1)).toBe('p49')
})

test('those that were stored before the table are in it after the migration, each once however often it runs', async () => {
  await engine.load(events)
  const loaded = await stored()
  const migration = readMigrations(columnarDirectory).find(({ file }) => file.includes('workflow-events'))
  const statements = splitStatements(migration?.sql ?? '')
  expect(statements).toHaveLength(2)
  await engine.columnar.command({ sql: 'TRUNCATE TABLE workflow_events' })
  for (const { text } of [...statements, ...statements]) await engine.columnar.command({ sql: text })
  expect(await stored()).toEqual(loaded)
})

test('those of stored events are the same as those of staged ones', async () => {
  await engine.load(events)
  const { condition, columns } = storedInteractions("name = 'workflow_click'")
  const selected = Object.entries(columns).map(([name, sql]) => `${sql} AS \`${name}\``)
  const rows = await engine.columnar.query({
    sql: `SELECT ${selected.join(', ')} FROM events WHERE startsWith(name, 'workflow_') AND ${condition} ORDER BY seq`,
  })
  const names = Object.keys(columns).join(', ')
  expect(rows).toEqual(
    await engine.columnar.query({ sql: `SELECT ${names} FROM workflow_events ORDER BY seq` }),
  )
})
