import { createHash } from 'node:crypto'
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { StatisticsExportManifest } from '@millrace/contract/resources/statistics-export.ts'
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import { systemClock } from '../../src/platform/clock.ts'
import { openObjectStore } from '../../src/platform/outgoing/object-store.ts'
import type { LedgerWork } from '../../src/platform/work/ledger-work.ts'
import { type AccountsApp, createAccountsApp, type Person } from '../support/accounts.ts'
import { createTestDatabase, type TestDatabase } from '../support/postgres.ts'
import { runOneOf } from '../support/run-one.ts'
import { s3Keys, startS3Server } from '../support/s3-server.ts'
import { openStatisticsEngine, type StatisticsEngine } from '../support/statistics-engine.ts'
import { storedEvent } from '../support/statistics-events.ts'

let engine: StatisticsEngine
let relational: TestDatabase
let accounts: AccountsApp
let works: readonly LedgerWork[]
let admin: Person
let server: Awaited<ReturnType<typeof startS3Server>>
const directory = mkdtempSync(join(tmpdir(), 'millrace-exports-'))

beforeAll(async () => {
  server = await startS3Server()
  engine = await openStatisticsEngine()
  relational = await createTestDatabase()
  accounts = await createAccountsApp(relational, {
    columnar: engine.columnar,
    environment: {
      MILLRACE_EXPORT_DIR: directory,
      MILLRACE_EXPORT_S3_URL: server.url,
      MILLRACE_S3_ACCESS_KEY: s3Keys.accessKey,
      MILLRACE_S3_SECRET_KEY: s3Keys.secretKey,
      MILLRACE_OUTGOING_ALLOW: '127.0.0.1/32',
    },
  })
  works = accounts.auth.services.exportWorks
  admin = await accounts.person('admin')
})

afterAll(async () => {
  await accounts.auth.app.close()
  await relational.close()
  await engine.close()
  await server.close()
  rmSync(directory, { recursive: true })
})

beforeEach(async () => {
  server.fault.status = undefined
  await engine.empty()
})

const url = '/v2/statistics/exports'
const call = async <T>(method: 'GET' | 'POST' | 'DELETE', path = '', body?: object): Promise<T> =>
  (await accounts.auth.call(admin.token, method, `${url}${path}`, body as never)).json().data

/** As another program of the operator reads the bucket. */
const bucket = (secretKey = s3Keys.secretKey) =>
  openObjectStore(
    { url: server.url, region: 'us-east-1', ...s3Keys, secretKey },
    { clock: systemClock, outgoingAllow: ['127.0.0.1/32'] },
  )

const insert = (...instants: string[]) =>
  engine.load(instants.map((at) => storedEvent({ company: accounts.auth.companyId, at })))

it('copies every day and the manifest, again where a copy is missing, and removes what leaves', async () => {
  await insert('2026-03-01T10:00:00Z', '2026-03-02T10:00:00Z')
  const { id } = await call<{ id: string }>('POST', '', {
    table: 'events',
    format: 'parquet',
    from: '2026-03-01',
    everyHours: 24,
  })
  await runOneOf(works)
  const made = await call<StatisticsExportManifest>('GET', `/${id}`)
  expect(made).toMatchObject({ state: 'done', days: 2 })
  const folder = `${accounts.auth.companyId}/${id}/`
  const store = bucket()
  const files = () => store.list(folder)
  const key = (day: string) => `${folder}dt=${day}/events.parquet`
  const sizes = made.files.map((file) => [key(`${file.day}`), file.bytes] as const)
  expect([...(await files())].filter(([name]) => !name.endsWith('manifest.json'))).toEqual(sizes)
  expect((await files()).has(`${folder}manifest.json`)).toBe(true)

  // A copy was removed from outside, and a day has gone.
  await store.remove(key('2026-03-01'))
  await relational.pool.query('update statistics_exports set due_at = now() where id = $1', [id])
  await runOneOf(works)
  expect([...(await files()).keys()]).toContain(key('2026-03-01'))
  await engine.empty()
  await insert('2026-03-02T10:00:00Z')
  await relational.pool.query('update statistics_exports set due_at = now() where id = $1', [id])
  await runOneOf(works)
  expect([...(await files()).keys()]).toEqual([key('2026-03-02'), `${folder}manifest.json`])

  server.fault.status = 503
  const refused = await accounts.auth.call(admin.token, 'DELETE', `${url}/${id}`)
  expect([refused.statusCode, refused.json().message]).toEqual([
    503,
    'The copies could not be removed: 127.0.0.1 answered with status 503',
  ])
  server.fault.status = undefined
  await call('DELETE', `/${id}`)
  expect((await files()).size).toBe(0)
})

it.each([
  [403, /could not be copied: 127.0.0.1 answered with status 403/],
  [404, /could not be copied: 127.0.0.1 answered with status 404/],
])('ends with its reason where the store answers %i', async (status, reason) => {
  await insert('2026-03-01T10:00:00Z')
  const { id } = await call<{ id: string }>('POST', '', { table: 'events', from: '2026-03-01' })
  server.fault.status = status
  await runOneOf(works)
  const ended = await call<StatisticsExportManifest>('GET', `/${id}`)
  expect(ended).toMatchObject({ state: 'failed', reason: expect.stringMatching(reason), files: [] })
})

it('signs for the place, and with the right secret alone', async () => {
  await expect(bucket('another').list('')).rejects.toThrow(/status 403/)
  const path = join(directory, 'a file')
  writeFileSync(path, 'content')
  const sha256 = createHash('sha256').update('content').digest('hex')
  const key = 'a/b=c/d_e-1.txt'
  await bucket().put(key, { path, bytes: 7, sha256 })
  expect(await bucket().list('a/')).toEqual(new Map([[key, 7]]))
  await bucket().removeAll('a/')
  await bucket().remove(key)
  expect(readdirSync(directory)).toContain('a file')
})
