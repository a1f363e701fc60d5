import { spawn } from 'node:child_process'
import { existsSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { silentLogger } from '../../src/platform/logger.ts'
import { engineSocketPath } from '../../src/platform/stores/chdb/socket.ts'
import { ColumnarError, ColumnarTimeout } from '../../src/platform/stores/columnar.ts'
import { embeddedColumnar } from '../../src/platform/stores/columnar-embedded.ts'
import { createTestColumnar, type TestEngine } from '../support/columnar.ts'
import { endless, factsTable, outcome } from '../support/columnar-homes.ts'
import { until } from '../support/until.ts'

describe('the embedded columnar store', () => {
  let engine: TestEngine
  let socketPath: string

  beforeAll(async () => {
    engine = await createTestColumnar({ migrated: false })
    socketPath = engineSocketPath(join(engine.directory, 'run'))
    await engine.command({ sql: factsTable })
  })

  afterAll(async () => engine?.close())

  function ask(
    path: string,
    body = '',
    method = 'POST',
  ): Promise<{ status: number; headers: object; text: string }> {
    return new Promise((resolve, reject) => {
      const sent = request({ socketPath, path, method, agent: false }, (response) => {
        let text = ''
        response.on('data', (part) => {
          text += part
        })
        response.on('end', () =>
          resolve({ status: response.statusCode ?? 0, headers: response.headers, text }),
        )
      })
      sent.on('error', reject).end(body)
    })
  }

  describe('over HTTP', () => {
    test('answers /ping, and 404 elsewhere', async () => {
      expect(await ask('/ping', '', 'GET')).toMatchObject({ status: 200, text: 'Ok.\n' })
      expect(await ask('/elsewhere')).toMatchObject({ status: 404 })
    })

    test('answers a statement in the address or in the body', async () => {
      expect(await ask('/?query=SELECT%201', '', 'GET')).toMatchObject({ status: 200, text: '1\n' })
      const answer = await ask('/?query_id=mine&default_format=CSV&param_x=a%5Ctb', 'SELECT {x:String}')
      expect(answer).toMatchObject({
        status: 200,
        text: '"a\tb"\n',
        headers: { 'x-clickhouse-query-id': 'mine', 'x-clickhouse-format': 'CSV' },
      })
      expect(await ask('/?query=SELECT', ' 1 FORMAT JSONEachRow')).toMatchObject({ text: '{"1":1}\n' })
    })

    test('words exceptions as a server does, with its status', async () => {
      const unknown = await ask('/', 'SELECT * FROM nowhere')
      expect(unknown.status).toBe(404)
      expect(unknown.headers).toMatchObject({ 'x-clickhouse-exception-code': '60' })
      expect(unknown.text).toMatch(
        /^Code: 60\. DB::Exception: .*nowhere.* \(UNKNOWN_TABLE\) \(version \d+\.\d+\.\d+\.\d+\)\n$/,
      )
      expect((await ask('/', 'SELEC')).status).toBe(400)
      expect((await ask('/?max_execution_time=soon', 'SELECT 1')).status).toBe(400)
      expect((await ask('/?no_such=1', 'SELECT 1')).status).toBe(404)
      expect((await ask('/?session_id=1', 'SELECT 1')).status).toBe(501)
    })

    test('ends a statement whose client has left', async () => {
      const sent = request({ socketPath, path: '/?query_id=left', method: 'POST', agent: false })
      sent.on('error', () => {})
      sent.end(endless)
      const isRunning = async (): Promise<boolean> =>
        (await engine.status()).running.some(({ queryId }) => queryId === 'left')
      await until(isRunning)
      sent.destroy()
      await until(async () => !(await isRunning()))
    })

    test('refuses settings that are not for clients', async () => {
      for (const setting of ['log_comment=x', 'allow_introspection_functions=1', 'implicit_select=1']) {
        expect((await ask(`/?${setting}`, 'SELECT 1')).text).toContain('READONLY')
      }
      expect((await ask('/?max_threads=1%00--readonly%3D0', 'SELECT 1')).status).toBe(400)
    })
  })

  describe('a reading statement reaches neither files nor other machines', () => {
    const directory = mkdtempSync(join(tmpdir(), 'millrace-secret-'))
    const secret = join(directory, 'secret.csv')
    beforeAll(() => writeFileSync(secret, 'top secret\n'))
    afterAll(() => rmSync(directory, { recursive: true }))

    test.each([
      `SELECT file('${secret}')`,
      `SELECT \`file\`('${secret}')`,
      `SELECT "f\\x69le" /* */ ('${secret}')`,
      `SELECT File('${secret}')`,
      `SELECT * FROM \`${secret}\``,
      `SELECT * FROM default.\`${secret}\``,
      `DESCRIBE file('${secret}')`,
      `DESCRIBE TABLE file('${secret}', 'CSV')`,
      `SELECT * FROM (DESCRIBE TABLE file('${secret}', 'CSV'))`,
      `EXPLAIN SELECT * FROM file('${secret}', 'CSV')`,
      `WITH (SELECT file('${secret}')) AS x SELECT x`,
      `DESCRIBE url('http://127.0.0.1:1/')`,
      `SELECT hasColumnInTable('127.0.0.1:1', 'system', 'one', 'dummy')`,
      `SELECT 1 INTO OUTFILE '${secret}.out'`,
      `SELECT 1 INTO /* */ OUTFILE '${secret}.out' FORMAT CSV`,
      `USE system`,
      `SET max_threads = 1`,
      `KILL QUERY WHERE 1`,
    ])('%s', async (sql) => {
      for (const work of [engine.query({ sql }), engine.stream({ sql, format: 'CSV' })]) {
        const error = await outcome(work)
        expect(error).toBeInstanceOf(ColumnarError)
        expect(String(error)).not.toContain('top secret')
      }
      expect(existsSync(`${secret}.out`)).toBe(false)
    })
  })

  test('no statement writes files of the client', async () => {
    const path = join(engine.directory, 'out.csv')
    const error = await outcome(engine.command({ sql: `SELECT 1 INTO OUTFILE '${path}'` }))
    expect(error).toMatchObject({ code: 48 })
    const infile = outcome(engine.command({ sql: `INSERT INTO facts FROM INFILE '${path}' FORMAT CSV` }))
    expect(await infile).toMatchObject({ code: 48 })
  })

  test('a statement that computes in one block is answered in time all the same', async () => {
    const error = await outcome(
      engine.query({
        // One block of several seconds on any machine: it is far from its end when the second is over.
        sql: `SELECT arraySum(arrayMap(x -> ${'sipHash64('.repeat(3)}x${')'.repeat(3)}, range(60000000)))`,
        settings: { max_execution_time: 1, max_memory_usage: 3e9 },
      }),
    )
    expect(error).toBeInstanceOf(ColumnarTimeout)
    // The engine is still at it: the answer did not wait for the block.
    expect((await engine.status()).running).toHaveLength(1)
    await until(async () => (await engine.status()).running.length === 0)
  })

  test('statements that wait for a lane too long are refused, and leave no trace', async () => {
    const abort = new AbortController()
    const long = Array.from({ length: 8 }, () =>
      outcome(
        engine.query({
          // Takes its place in the lane without computing: the tests beside this one go on.
          sql: 'SELECT sleepEachRow(0.1) FROM system.numbers FORMAT Null',
          settings: { max_threads: 1, max_block_size: 1 },
          signal: abort.signal,
        }),
      ),
    )
    await until(async () => (await engine.status()).running.length === 8)
    const waiting = outcome(engine.query({ sql: 'SELECT 1', settings: { max_execution_time: 6 } }))
    const leaving = new AbortController()
    const left = outcome(engine.query({ sql: 'SELECT 1', signal: leaving.signal }))
    await until(async () => (await engine.status()).waiting === 2)
    leaving.abort(new Error('left'))
    expect(await left).toMatchObject({ message: 'left' })
    expect(await waiting).toMatchObject({ code: 202, passing: true })
    abort.abort()
    await Promise.all(long)
    await until(async () => (await engine.status()).running.length === 0)
  })

  test('tells its state', async () => {
    const status = await engine.status()
    expect(status).toMatchObject({ running: [], waiting: 0, engineLimitBytes: 4 * 1024 ** 3 })
    expect(status.version).toMatch(/^\d+\.\d+/)
    expect(status.residentBytes).toBeGreaterThan(50e6)
    expect(status.engineBytes).toBeGreaterThanOrEqual(0)
    expect(status.engineBytes).toBeLessThan(status.engineLimitBytes)
  })

  test('its socket and pipes are for this account alone', async () => {
    const directory = join(socketPath, '..')
    expect(statSync(directory).mode & 0o777).toBe(0o700)
    for (const name of readdirSync(directory).filter((each) => each.startsWith('pipe-'))) {
      expect(statSync(join(directory, name)).mode & 0o777).toBe(0o600)
    }
    expect(statSync(join(engine.directory, 'columnar')).mode & 0o077).toBe(0)
  })

  test('another user of the machine cannot connect', async ({ skip }) => {
    if (process.getuid?.() !== 0) return skip('only root can become another user')
    const script = `require('node:net').connect(${JSON.stringify(socketPath)})
      .on('connect', () => process.exit(0)).on('error', (error) => { console.log(error.code); process.exit(1) })`
    const other = spawn(process.execPath, ['-e', script], {
      uid: 65534,
      gid: 65534,
      stdio: ['ignore', 'pipe', 'ignore'],
    })
    let text = ''
    other.stdout.on('data', (part) => {
      text += part
    })
    const code = await new Promise((resolve) => other.once('exit', resolve))
    expect([code, text.trim()]).toEqual([1, 'EACCES'])
  })

  test('a socket path that is too long moves below /tmp', () => {
    const long = `/${'a-long-name/'.repeat(12)}run`
    expect(engineSocketPath(long)).toMatch(/^\/tmp\/millrace-[0-9a-f]{24}\/http$/)
    expect(engineSocketPath('/data/run')).toBe('/data/run/columnar/http')
  })

  test('a second engine on the same directory is refused', async () => {
    const runPath = mkdtempSync(join(tmpdir(), 'millrace-run-'))
    const second = embeddedColumnar({ dataDirectory: engine.directory, runPath, logger: silentLogger })
    const error = (await outcome(second.child.start())) as { output?: readonly string[] }
    rmSync(runPath, { recursive: true })
    expect(error.output?.join('\n')).toContain('Another server instance in same directory is already running')
    expect(await engine.query({ sql: 'SELECT 1 AS n' })).toEqual([{ n: 1 }])
  })
})
