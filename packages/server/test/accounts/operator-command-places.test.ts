import { spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { createBootstrapStore } from '../../src/features/identity/people/installation/bootstrap-store.ts'
import { newId } from '../../src/platform/ids.ts'
import { exitCodes } from '../../src/platform/start-refused.ts'
import { createTestDatabase, urlOf } from '../support/postgres.ts'

let parent: string
let path: string

beforeEach(() => {
  parent = mkdtempSync(join(tmpdir(), 'millrace-places-'))
  path = join(parent, 'data')
})

afterEach(() => rmSync(parent, { recursive: true, force: true }))

/** Runs the command line in an environment of its own. */
async function millrace(
  argv: readonly string[],
  env: Record<string, string> = {},
): Promise<{ code: number | null; out: string; err: string }> {
  const main = new URL('../../src/main.ts', import.meta.url).pathname
  const { PATH, NODE_COMPILE_CACHE } = process.env
  const child = spawn(process.execPath, [main, ...argv], {
    cwd: parent,
    env: { PATH, NODE_COMPILE_CACHE, MILLRACE_DATA_DIR: path, ...env },
  })
  let [out, err] = ['', '']
  child.stdout.on('data', (chunk) => {
    out += chunk
  })
  child.stderr.on('data', (chunk) => {
    err += chunk
  })
  const code = await new Promise<number | null>((resolve) => child.once('close', resolve))
  return { code, out, err }
}

const commands = [
  ['client', 'create', '--name', 'console'],
  ['key', 'rotate'],
]

test.each(commands)(
  '%s %s makes no installation; it says where it looked and what to set',
  async (...argv) => {
    const { code, out, err } = await millrace(argv)
    expect({ code, out }).toEqual({ code: exitCodes.unsuitable, out: '' })
    expect(err).toContain(`There is no Millrace installation in ${path}.`)
    expect(err).toMatch(/Set MILLRACE_DATA_DIR .* or run npm start first/)
    expect(readdirSync(parent)).toEqual([])
  },
)

test('an operator command leaves a directory of other things as it is', async () => {
  mkdirSync(path, { mode: 0o755 })
  const { code } = await millrace(['client', 'create', '--name', 'console'])
  expect(code).toBe(exitCodes.unsuitable)
  expect(readdirSync(path)).toEqual([])
})

test('import asks for an installation, or for everything that it would read there', async () => {
  const { code, err } = await millrace(['import', 'orders.csv'])
  expect(code).toBe(1)
  expect(err).toContain(`There is no Millrace installation in ${path}.`)
  expect(err).toContain('MILLRACE_DATA_DIR')
  expect(err).toContain('--url, --datasource and --key')
  expect(readdirSync(parent)).toEqual([])
})

test('with DATABASE_URL the database is asked, and nothing is migrated or made where it holds no installation', async () => {
  const empty = await createTestDatabase({ migrated: false })
  const migrated = await createTestDatabase()
  try {
    const run = (database: typeof empty) =>
      millrace(['client', 'create', '--name', 'console'], {
        DATABASE_URL: urlOf(database.application),
        DATABASE_OWNER_URL: urlOf(database.owner),
        MILLRACE_ENCRYPTION_KEY: randomBytes(32).toString('base64'),
      })
    const tables = `select relname from pg_class where relnamespace = 'public'::regnamespace`
    const { code, err } = await run(empty)
    expect(code).toBe(exitCodes.unsuitable)
    expect(err).toMatch(/no Millrace installation in the database test_[0-9a-f]+ at \S+ \(DATABASE_URL\)/)
    expect((await empty.pool.query(tables)).rows).toEqual([])

    expect((await run(migrated)).code).toBe(exitCodes.unsuitable)
    expect((await migrated.pool.query('select from oauth_clients')).rowCount).toBe(0)

    const ids = { companyId: newId(), clientId: newId(), datasourceId: newId() }
    await createBootstrapStore(migrated.db).insertInstallation({ ...ids, adminEmail: 'ada@example.com' })
    const done = await run(migrated)
    expect(done).toMatchObject({ code: 0, err: '' })
    expect((await migrated.pool.query('select id from oauth_clients')).rows).toEqual([
      { id: done.out.trim() },
    ])
    expect(existsSync(path)).toBe(false)
  } finally {
    await empty.close()
    await migrated.close()
  }
})
