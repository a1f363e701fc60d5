import { execFileSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import type { ContentProcesses } from '../../src/features/datasources/imports/content-processes.ts'
import { createContentProcesses } from '../../src/features/datasources/imports/content-processes.ts'
import { createTestDatabase, urlOf } from '../support/postgres.ts'
import { removeData, type Service, startService } from '../support/running-service.ts'
import { until } from '../support/until.ts'
import { fieldOf, openWorkerDatasources, type WorkerDatasources } from '../support/worker-datasources.ts'

/** Imports that end in the midst of their work (docs/faults.md, D08). */

let world: WorkerDatasources
/** What happens before lines are stored. */
let onLines: (() => Promise<void>) | undefined

const processes: ContentProcesses = {
  ...createContentProcesses(),
  read: (content, fields, options) =>
    createContentProcesses().read(content, fields, {
      ...options,
      async onLines(lines, counts) {
        await onLines?.()
        await options.onLines(lines, counts)
      },
    }),
}

beforeAll(async () => {
  world = await openWorkerDatasources({ contentProcesses: processes })
})

afterAll(() => world.close())

const fields = [fieldOf({ name: 'sku', isKey: true }), fieldOf({ name: 'name' })]

const tables = async (): Promise<number> => {
  const { rows } = await world.database.pool.query<{ count: number }>(
    `select count(*)::int as count from pg_class where relnamespace = 'datasource_rows'::regnamespace and relkind = 'r'`,
  )
  return rows[0]?.count ?? 0
}

test('D08: an import that a stop interrupts is given back, and leaves no rows', async () => {
  const { id } = await world.live('sku,name\nA,former\n', fields)
  const before = await tables()
  await world.upload(id, 'sku,name\nA,later\n')
  const stopping = new AbortController()
  onLines = async () => stopping.abort(new Error('the service stops'))
  const { worker } = world.context.services.datasourceImports
  await worker.runOne(stopping.signal)
  onLines = undefined
  expect(await tables()).toBe(before)
  expect((await world.imports(id))[0]).toMatchObject({ state: 'queued', fault: null })
  expect(await world.rows(id)).toEqual([{ sku: 'A', name: 'former' }])
  expect(await world.work()).toBe(1)
  expect(await world.rows(id)).toEqual([{ sku: 'A', name: 'later' }])
})

test('D08: content that is read for too long is given up, and its process ends', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'slow-content-'))
  onTestFinished(() => rmSync(directory, { recursive: true }))
  // Nobody writes to it: whoever reads it waits for ever.
  const path = join(directory, 'rows.json')
  execFileSync('mkfifo', [path])
  const reading = createContentProcesses({ timeoutMs: 500 }).read(
    { path, bytes: 1, options: { format: 'json' } },
    fields,
    { onLines: async () => {}, signal: new AbortController().signal },
  )
  await expect(reading).rejects.toMatchObject({
    reason: 'content-too-large',
    message: expect.stringContaining('reading the content takes longer'),
  })
})

test('rows that are taken late are stored, whatever the process says meanwhile', async () => {
  const { id } = await world.live('sku,name\nA,former\n', fields)
  await world.upload(id, 'sku,name\nA,later\n')
  onLines = async () => {
    onLines = undefined
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
  expect(await world.work()).toBe(1)
  expect(await world.rows(id)).toEqual([{ sku: 'A', name: 'later' }])
})

test('D08: the connection is cut while rows are copied: the next attempt stores them', async () => {
  const { id } = await world.live('sku,name\nA,former\n', fields)
  const before = await tables()
  await world.upload(id, 'sku,name\nA,later\n')
  onLines = async () => {
    onLines = undefined
    for (let cut = 0; cut === 0; ) {
      const { rowCount } = await world.database.pool.query(
        `select pg_terminate_backend(pid) from pg_stat_activity
         where datname = current_database() and state = 'active' and query like 'copy datasource_rows.%'`,
      )
      cut = rowCount ?? 0
    }
  }
  expect(await world.work()).toBe(1)
  expect(await world.rows(id)).toEqual([{ sku: 'A', name: 'former' }])
  world.database.time.advance(31_000)
  expect(await world.work()).toBe(1)
  expect(await world.rows(id)).toEqual([{ sku: 'A', name: 'later' }])
  expect(await tables()).toBe(before + 1)
})

test('D08: of a datasource that is deleted meanwhile nothing is left', async () => {
  const { id } = await world.live('sku,name\nA,former\n', fields)
  await world.upload(id, 'sku,name\nA,later\n')
  onLines = async () => {
    onLines = undefined
    expect((await world.call('DELETE', `/${id}`)).status).toBe(200)
  }
  await world.work()
  expect((await world.call('GET', `/${id}`)).status).toBe(404)
  const { rows } = await world.database.pool.query(
    'select id from datasource_imports where datasource_id = $1 union all select id from datasource_versions where datasource_id = $1',
    [id],
  )
  expect(rows).toEqual([])
  while (await world.context.services.datasourceImports.dropRows());
  const { rows: left } = await world.database.pool.query<{ count: number }>(
    'select count(*)::int as count from datasource_versions',
  )
  expect(await tables()).toBe(left[0]?.count)
})

test('D08: rows of a former version are dropped once no reader has them', async () => {
  const { id } = await world.live('sku,name\nA,former\n', fields)
  await world.upload(id, 'sku,name\nA,later\n')
  await world.work()
  const { dropRows } = world.context.services.datasourceImports
  const before = await tables()
  await dropRows()
  expect(await tables()).toBe(before)
  world.database.time.advance(3_600_000)
  await dropRows()
  expect(await tables()).toBeLessThan(before)
  expect(await world.rows(id)).toEqual([{ sku: 'A', name: 'later' }])
})

const line = (i: number, name: string) => `K${i},${name} ${'x'.repeat(200)}\n`
const large = (rows: number, name: string) =>
  `sku,name\n${Array.from({ length: rows }, (_, i) => line(i, name)).join('')}`

test('D08: a process that is killed during an import is followed by another one', async () => {
  const database = await createTestDatabase({ migrated: false })
  const contents = mkdtempSync(join(tmpdir(), 'millrace-contents-'))
  const env = {
    DATABASE_URL: urlOf(database.owner),
    MILLRACE_ENCRYPTION_KEY: randomBytes(32).toString('base64'),
    MILLRACE_CONTENT_DIR: contents,
  }
  const services: Service[] = []
  try {
    const first = await startService({ env })
    services.push(first)
    const { id } = await first.dataOf<{ id: string }>('POST', '/datasources', {
      name: 'Rows',
      mode: 'worker',
      source: { type: 'file' },
    })
    const upload = async (service: Service, content: string) => {
      const reply = await fetch(`${service.baseUrl}/datasources/${id}/content`, {
        method: 'PUT',
        headers: { authorization: `Bearer ${service.token}`, 'content-type': 'text/csv' },
        body: content,
      })
      expect(reply.status).toBe(200)
    }
    const rows = 60_000
    await upload(first, large(rows, 'former'))
    await first.dataOf('PATCH', `/datasources/${id}/fields`, { fields })
    await first.dataOf('POST', `/datasources/${id}/versions/live`)
    await until(async () => {
      const [last] = await first.dataOf<{ rowsRead: number }[]>('GET', `/datasources/${id}/imports`)
      return (last?.rowsRead ?? 0) > 0 ? last : undefined
    })
    await first.stop('SIGKILL')
    const { rows: tablesLeft } = await database.pool.query(
      `select relname from pg_class where relnamespace = 'datasource_rows'::regnamespace and relkind = 'r'`,
    )
    // Either the import was whole, or nothing of it is there.
    const { rows: live } = await database.pool.query('select id from datasource_versions')
    expect(tablesLeft).toHaveLength(live.length)
    // What the killed process had said of its being alive has passed.
    await database.pool.query('update datasource_imports set lease_until = now()')
    const second = await startService({ env })
    services.push(second)
    const done = await until(async () => {
      const { status, versions } = await second.dataOf<{ status: string; versions: { rows?: number }[] }>(
        'GET',
        `/datasources/${id}`,
      )
      return status === 'updating' ? undefined : { status, rows: versions[1]?.rows }
    })
    expect(done).toEqual({ status: 'published', rows })
    expect(readdirSync(contents)).toHaveLength(1)
    expect(readdirSync(join(second.dataDirectory, 'run', 'downloads'))).toEqual([])
  } finally {
    for (const service of services) {
      await service.stop()
      removeData(service)
    }
    rmSync(contents, { recursive: true, force: true })
    await database.close()
  }
})
