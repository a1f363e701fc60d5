import { spawn } from 'node:child_process'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { engineSocketPath } from '../../src/platform/stores/chdb/socket.ts'
import { createTestColumnar, type TestEngine } from '../support/columnar.ts'
import { factsTable, lines, outcome } from '../support/columnar-homes.ts'
import { spread } from '../support/long.ts'
import { until } from '../support/until.ts'

const stores = join(import.meta.dirname, '..', '..', 'src', 'platform', 'stores')

function rows(count: number): Buffer {
  const text = 'x'.repeat(200)
  return lines(count, (id) => ({ id, text }))
}

describe('an insert of a large buffer', () => {
  let engine: TestEngine

  beforeAll(async () => {
    engine = await createTestColumnar({ migrated: false })
  })

  afterAll(async () => engine?.close())

  async function count(): Promise<number> {
    const [row] = await engine.query<{ n: number }>({ sql: 'SELECT count() AS n FROM facts' })
    return row?.n ?? -1
  }

  async function fresh(): Promise<void> {
    await engine.command({ sql: 'DROP TABLE IF EXISTS facts SYNC' })
    await engine.command({ sql: factsTable })
  }

  const socketDirectory = (): string => join(engineSocketPath(join(engine.directory, 'run')), '..')

  test('stores every row once', async () => {
    await fresh()
    await Promise.all(
      [1, 2, 3, 4].map(() => engine.insert({ table: 'facts', format: 'JSONEachRow', body: rows(30_000) })),
    )
    expect(await engine.query({ sql: 'SELECT count() AS n, uniqExact(id) AS ids FROM facts' })).toEqual([
      { n: 120_000, ids: 30_000 },
    ])
    expect(readdirSync(socketDirectory()).filter((name) => name.startsWith('rows-'))).toEqual([])
  })

  test('stores nothing when its last row is bad', async () => {
    await fresh()
    const body = Buffer.concat([rows(60_000), Buffer.from('{"id":-1.5,"text":7}\n')])
    const error = await outcome(engine.insert({ table: 'facts', format: 'JSONEachRow', body }))
    expect(error).toMatchObject({ name: 'ColumnarError', passing: false })
    expect((error as Error).message).toContain('(at row 60001)')
    expect(await count()).toBe(0)
  })

  test('stores nothing when it is aborted, at any moment', async () => {
    await fresh()
    const body = rows(60_000)
    let stored = 0
    for (const ms of [0, 2, 5, 10, 20, 40]) {
      const abort = new AbortController()
      setTimeout(() => abort.abort(new Error('enough')), ms)
      const result = await outcome(
        engine.insert({ table: 'facts', format: 'JSONEachRow', body, signal: abort.signal }),
      )
      if (result === 'no error') stored += 60_000
      else expect(result).toMatchObject({ message: 'enough' })
      await until(async () => (await engine.status()).running.length === 0)
    }
    // What was told to be aborted may have been stored just before, but then whole.
    expect((await count()) % 60_000).toBe(0)
    expect(await count()).toBeGreaterThanOrEqual(stored)
  })

  test('stores all or nothing when its sender is killed', async () => {
    await fresh()
    const script = `import { openColumnar } from ${JSON.stringify(join(stores, 'columnar-client.ts'))}
      const text = 'x'.repeat(200)
      const body = Buffer.from(Array.from({ length: 60_000 }, (_, id) => JSON.stringify({ id, text })).join('\\n') + '\\n')
      const columnar = openColumnar({ address: { socketPath: ${JSON.stringify(join(socketDirectory(), 'http'))} } })
      await columnar.ping()
      console.log('ready')
      await columnar.insert({ table: 'facts', format: 'JSONEachRow', body })
      console.log('stored')`
    for (const ms of spread([1, 4, 8, 15, 30, 50], 3)) {
      const sender = spawn(process.execPath, ['--input-type=module', '-e', script], {
        stdio: ['ignore', 'pipe', 'inherit'],
      })
      await new Promise((resolve) => sender.stdout.once('data', resolve))
      await sleep(ms)
      sender.kill('SIGKILL')
      await until(async () => (await engine.status()).running.length === 0)
      expect((await count()) % 60_000).toBe(0)
    }
    expect(readdirSync(socketDirectory()).filter((name) => name.startsWith('rows-'))).toEqual([])
  })
})
