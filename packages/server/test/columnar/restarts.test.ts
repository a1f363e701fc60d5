import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text as textOf } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import { silentLogger } from '../../src/platform/logger.ts'
import { ColumnarError, ColumnarUnavailable } from '../../src/platform/stores/columnar.ts'
import { embeddedColumnar } from '../../src/platform/stores/columnar-embedded.ts'
import { createTestColumnar } from '../support/columnar.ts'
import { factsTable, lines, outcome } from '../support/columnar-homes.ts'
import { until } from '../support/until.ts'

const stores = join(import.meta.dirname, '..', '..', 'src', 'platform', 'stores')
const table = factsTable.replace('CREATE TABLE', 'CREATE TABLE IF NOT EXISTS')

/** A pid that is in use, zombies aside. */
function lives(pid: number): boolean {
  try {
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'))
  } catch {
    return false
  }
}

function rows(count: number): Buffer {
  const text = 'x'.repeat(200)
  return lines(count, (id) => ({ id, text }))
}

describe('an engine that dies', () => {
  test('takes an insert with it whole, and comes back by itself', async () => {
    const engine = await createTestColumnar({ migrated: false })
    try {
      await engine.command({ sql: table })
      const body = rows(20_000)
      await engine.insert({ table: 'facts', format: 'JSONEachRow', body })
      const pid = engine.child.status().pid ?? 0
      const insert = outcome(engine.insert({ table: 'facts', format: 'JSONEachRow', body }))
      const endless = 'SELECT sum(sipHash64(number)) FROM numbers(1000000000000)'
      const stream = outcome(engine.stream({ sql: endless, format: 'CSV' }).then(textOf))
      const unread = outcome(engine.query({ sql: endless, readonly: false }))
      const left = new AbortController()
      const abandoned = outcome(engine.query({ sql: endless, signal: left.signal }))
      await until(async () => (await engine.status()).running.length >= 3)
      const queries = Promise.all([1, 2].map((n) => engine.query({ sql: `SELECT ${n} AS n, sleep(1)` })))
      await sleep(30)
      process.kill(pid, 'SIGKILL')
      expect(await stream).toBeInstanceOf(ColumnarUnavailable)
      expect(await unread).toBeInstanceOf(ColumnarUnavailable)
      left.abort(new Error('has left'))
      expect(await abandoned).toBeInstanceOf(Error)
      // What only reads is asked again once the engine is back.
      expect((await queries).flat()).toMatchObject([{ n: 1 }, { n: 2 }])
      const answer = await insert
      expect(answer === 'no error' || answer instanceof ColumnarUnavailable).toBe(true)
      await until(() =>
        engine.ping().then(
          () => true,
          () => false,
        ),
      )
      await until(() => engine.child.status().state === 'ready')
      expect(engine.child.status().restarts).toBe(1)
      const [row] = await engine.query<{ n: number }>({ sql: 'SELECT count() AS n FROM facts' })
      expect(row?.n === 40_000 || (row?.n === 20_000 && answer !== 'no error')).toBe(true)
      expect(
        readdirSync(join(engine.directory, 'run', 'columnar')).filter((name) => name === 'http'),
      ).toEqual(['http'])
    } finally {
      await engine.close()
    }
  })

  test('is unavailable before its start and after its stop', async () => {
    const engine = await createTestColumnar({ migrated: false })
    const { columnar } = embeddedColumnar({ dataDirectory: '/nonexistent', logger: silentLogger })
    expect(await outcome(columnar.query({ sql: 'SELECT 1' }))).toBeInstanceOf(ColumnarUnavailable)
    expect(await outcome(columnar.ping())).toBeInstanceOf(ColumnarUnavailable)
    await engine.close()
    expect(await outcome(engine.query({ sql: 'SELECT 1' }))).toBeInstanceOf(ColumnarUnavailable)
    expect(await outcome(engine.status())).toBeInstanceOf(ColumnarUnavailable)
  })

  test('lets running statements finish when it is stopped', async () => {
    const engine = await createTestColumnar({ migrated: false })
    await engine.command({ sql: table })
    const running = engine.query({ sql: 'SELECT sleep(1) AS s' })
    const insert = engine.insert({ table: 'facts', format: 'JSONEachRow', body: rows(1000) })
    await until(async () => (await engine.status()).running.length > 0)
    await engine.close()
    expect(await running).toEqual([{ s: 0 }])
    await insert
  })

  test('loses nothing of what was stored when it is stopped and started', async () => {
    const directory = mkdtempSync(join(tmpdir(), 'millrace-columnar-'))
    try {
      for (const expected of [1000, 2000]) {
        const { columnar, child } = embeddedColumnar({ dataDirectory: directory, logger: silentLogger })
        await child.start()
        await columnar.command({ sql: table })
        await columnar.insert({ table: 'facts', format: 'JSONEachRow', body: rows(1000) })
        expect(await columnar.query({ sql: 'SELECT count() AS n FROM facts' })).toEqual([{ n: expected }])
        await columnar.close()
        await child.stop()
      }
    } finally {
      rmSync(directory, { recursive: true, force: true })
    }
  })

  test('ends with the process that started it, also when that was killed', async () => {
    const directory = mkdtempSync(join(tmpdir(), 'millrace-columnar-'))
    const home = join(stores, 'columnar-embedded.ts')
    const logger = join(stores, '..', 'logger.ts')
    const script = `import { embeddedColumnar } from ${JSON.stringify(home)}
      import { silentLogger } from ${JSON.stringify(logger)}
      const { columnar, child } = embeddedColumnar({ dataDirectory: ${JSON.stringify(directory)}, logger: silentLogger })
      await child.start()
      console.log(child.status().pid)
      await columnar.query({ sql: 'SELECT sum(sipHash64(number)) FROM numbers(1000000000000)' })`
    const parent: ChildProcess = spawn(process.execPath, ['--input-type=module', '-e', script], {
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    try {
      const pid = await new Promise<number>((resolve) =>
        parent.stdout?.once('data', (text) => resolve(Number(text))),
      )
      expect(lives(pid)).toBe(true)
      parent.kill('SIGKILL')
      await until(() => !lives(pid))
    } finally {
      parent.kill('SIGKILL')
      rmSync(directory, { recursive: true, force: true, maxRetries: 5 })
    }
  })

  test('keeps to its memory as a whole', async () => {
    const engine = await createTestColumnar({ migrated: false, memoryBytes: 1024 ** 3 })
    try {
      const greedy = (n: number): Promise<unknown> =>
        outcome(
          engine.query({
            sql: `SELECT count() FROM (SELECT sipHash64(number, ${n}) AS k FROM numbers(40000000) GROUP BY k)
                  SETTINGS max_bytes_before_external_group_by = 0, max_bytes_ratio_before_external_group_by = 0`,
            readonly: false,
            settings: { max_memory_usage: 0, max_threads: 1 },
          }),
        )
      const results = await Promise.all([greedy(1), greedy(2)])
      expect(results.some((each) => each instanceof ColumnarError && each.code === 241)).toBe(true)
      // What a statement has let go is given back to the system a moment later, on a busy machine after seconds.
      const resident = async () => (await engine.status()).residentBytes
      await expect.poll(resident, { timeout: 30_000 }).toBeLessThan(1.6e9)
      expect(await engine.query({ sql: 'SELECT 1 AS n' })).toEqual([{ n: 1 }])
    } finally {
      await engine.close()
    }
  })
})
