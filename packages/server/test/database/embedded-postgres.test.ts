import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  chmodSync,
  chownSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { silentLogger } from '../../src/platform/logger.ts'
import { identify, isAlive } from '../../src/platform/processes/identity.ts'
import { exitCodes, type StartRefused } from '../../src/platform/start-refused.ts'
import {
  type EmbeddedPostgres,
  embeddedAddresses,
  startEmbeddedPostgres,
} from '../../src/platform/stores/embedded-postgres.ts'
import {
  openRelational,
  type Relational,
  RelationalUnavailable,
} from '../../src/platform/stores/relational.ts'
import { spread, times } from '../support/long.ts'
import { until } from '../support/until.ts'

const platform = join(import.meta.dirname, '../../src/platform')

const isRoot = process.getuid?.() === 0
/** Written through, but not waited for: these tests kill processes, never the machine. */
const quick = { settings: { fsync: 'off' }, initArguments: ['--no-sync'] }

let parent: string
/** A cluster that was stopped cleanly; each test works on a copy. */
let finished: string
let directory: string
let runPath: string
const running: EmbeddedPostgres[] = []
const pools: Relational[] = []
const processes: ChildProcess[] = []

const entriesOf = (path: string): string[] => readdirSync(path, { recursive: true, encoding: 'utf8' }).sort()

function copyCluster(to: string): void {
  cpSync(finished, to, { recursive: true })
  const { uid, gid } = statSync(finished)
  for (const name of ['', ...readdirSync(to, { recursive: true })])
    chownSync(join(to, String(name)), uid, gid)
}

async function start(): Promise<EmbeddedPostgres> {
  const postgres = await startEmbeddedPostgres({ directory, runPath, logger: silentLogger, ...quick })
  running.push(postgres)
  return postgres
}

function open(
  postgres: Pick<EmbeddedPostgres, 'application' | 'owner'>,
  as: 'application' | 'owner',
): Relational {
  const relational = openRelational({ address: postgres[as], logger: silentLogger })
  pools.push(relational)
  return relational
}

beforeAll(async () => {
  parent = mkdtempSync(join(tmpdir(), 'mr-pg-'))
  finished = join(parent, 'finished')
  runPath = join(parent, 'run')
  mkdirSync(runPath, { mode: 0o700 })
  directory = finished
  const postgres = await start()
  await open(postgres, 'owner').pool.query('create table notes (id int primary key, text text)')
  await Promise.all(pools.splice(0).map((pool) => pool.close()))
  await postgres.stop()
})

beforeEach(() => {
  directory = mkdtempSync(join(parent, 'd-'))
  runPath = join(directory, 'run')
  mkdirSync(runPath, { mode: 0o700 })
  directory = join(directory, 'postgres')
})

afterEach(async () => {
  for (const child of processes.splice(0)) child.kill('SIGKILL')
  await Promise.all(pools.splice(0).map((each) => each.pool.ended || each.close()))
  await Promise.all(running.splice(0).map((postgres) => postgres.stop()))
  rmSync(directory, { recursive: true, force: true })
})

afterAll(() => rmSync(parent, { recursive: true, force: true }))

test('makes a cluster that only its socket leads to, with a role that owns and one that works', async () => {
  const postgres = await start()
  const owner = open(postgres, 'owner')
  const application = open(postgres, 'application')
  await owner.pool.query('create table audit (id bigint generated always as identity primary key, what text)')
  await application.pool.query(`insert into audit (what) values ('signed in')`)
  await expect(application.pool.query('drop table audit')).rejects.toThrow('must be owner of table audit')
  await expect(application.pool.query('create table mine (id int)')).rejects.toThrow('permission denied')
  await owner.pool.query('revoke update, delete on audit from millrace')
  await expect(application.pool.query('delete from audit')).rejects.toThrow('permission denied')

  const { rows } = await application.pool.query(
    `select name, setting from pg_settings where name in
     ('listen_addresses', 'full_page_writes', 'shared_buffers', 'max_connections', 'data_checksums', 'TimeZone')`,
  )
  expect(Object.fromEntries(rows.map((row) => [row.name, row.setting]))).toEqual({
    listen_addresses: '',
    full_page_writes: 'on',
    shared_buffers: '8192',
    max_connections: '40',
    data_checksums: 'on',
    TimeZone: 'UTC',
  })
  expect(statSync(directory).mode & 0o777).toBe(0o700)
  expect(statSync(join(runPath, 'postgres')).mode & 0o777).toBe(0o700)
})

describe('with a cluster', () => {
  beforeEach(() => copyCluster(directory))

  test('starts and finds what was made', async () => {
    const { pool } = open(await start(), 'application')
    expect((await pool.query('select * from notes')).rows).toEqual([])
  })

  test('comes back after kill -9, and queries meanwhile fail as unavailable', async () => {
    const postgres = await start()
    const { pool, ping, transaction } = open(postgres, 'application')
    await pool.query(`insert into notes values (1, 'kept')`)
    const cutOff = transaction(async (tx) => {
      await tx.execute(`insert into notes values (2, 'lost')`)
      process.kill(postgres.child.status().pid ?? 0, 'SIGKILL')
      await until(() => postgres.child.status().state !== 'ready')
      await tx.execute('select 1')
    })
    await expect(cutOff).rejects.toBeInstanceOf(RelationalUnavailable)
    const failures: unknown[] = []
    await until(() =>
      ping().then(
        () => true,
        (error) => {
          failures.push(error)
          return false
        },
      ),
    )
    for (const failure of failures) expect(failure).toBeInstanceOf(RelationalUnavailable)
    await until(() => postgres.child.status().state === 'ready')
    expect(postgres.child.status().restarts).toBe(1)
    expect((await pool.query('select * from notes')).rows).toEqual([{ id: 1, text: 'kept' }])
  })

  /** Another service process with this directory; `path` decides whether it finds setpriv. */
  async function service(path: string): Promise<{ process: ChildProcess; postmaster: number }> {
    const script = `
      import { startEmbeddedPostgres } from ${JSON.stringify(`${platform}/stores/embedded-postgres.ts`)}
      import { silentLogger } from ${JSON.stringify(`${platform}/logger.ts`)}
      const postgres = await startEmbeddedPostgres({ directory: ${JSON.stringify(directory)},
        runPath: ${JSON.stringify(runPath)}, logger: silentLogger, ...${JSON.stringify(quick)} })
      console.log(postgres.child.status().pid)`
    const child = spawn(process.execPath, ['--input-type=module-typescript', '-e', script], {
      stdio: ['ignore', 'pipe', 'inherit'],
      env: { PATH: path, NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE },
    })
    processes.push(child)
    const [chunk] = await once(child.stdout, 'data')
    return { process: child, postmaster: Number(String(chunk)) }
  }

  async function kill(child: ChildProcess): Promise<void> {
    child.kill('SIGKILL')
    if (child.exitCode === null && child.signalCode === null) await once(child, 'exit')
  }

  test.runIf(existsSync('/usr/bin/setpriv'))(
    'ends with a service that is killed (needs setpriv)',
    async () => {
      const earlier = await service('/usr/bin:/bin')
      expect(identify(earlier.postmaster)).toBeDefined()
      await kill(earlier.process)
      await expect.poll(() => identify(earlier.postmaster)).toBeUndefined()
    },
  )

  test('stops the one that a killed service left running, with its open transactions', async () => {
    const earlier = await service('/nowhere')
    const orphan = identify(earlier.postmaster)
    const addresses = embeddedAddresses(runPath)
    const { pool } = open(addresses, 'application')
    await pool.query(`insert into notes values (1, 'kept')`)
    const cutOff = pool.query('select pg_sleep(1e6)').catch((error: unknown) => error)
    await kill(earlier.process)
    expect(orphan && isAlive(orphan)).toBe(true)

    const postgres = await start()
    expect(orphan && isAlive(orphan)).toBe(false)
    expect(await cutOff).toBeInstanceOf(RelationalUnavailable)
    expect(postgres.child.status().pid).not.toBe(earlier.postmaster)
    expect((await pool.query('select * from notes')).rows).toHaveLength(1)
  })

  test('ends a busy backend whose server and service were both killed, before it starts', async () => {
    const earlier = await service('/nowhere')
    const { pool } = open(embeddedAddresses(runPath), 'application')
    const client = await pool.connect()
    const { rows } = await client.query('select pg_backend_pid() as pid')
    const busy = client
      .query('select count(*) from generate_series(1, 1e12)')
      .catch((error: unknown) => error)
    const running = `select pid from pg_stat_activity where pid = $1 and state = 'active'`
    // Of the same role: others are not told the state.
    await until(async () => (await pool.query(running, [rows[0].pid])).rowCount === 1)
    await kill(earlier.process)
    process.kill(earlier.postmaster, 'SIGKILL')
    const backend = identify(rows[0].pid)
    expect(backend && isAlive(backend)).toBe(true)

    await start()
    expect(backend && isAlive(backend)).toBe(false)
    expect(await busy).toBeInstanceOf(RelationalUnavailable)
    client.release(true)
  })

  test('loses nothing that was committed when service and server are killed again and again under load', async () => {
    const acknowledged = new Set<number>()
    for (let round = 0; round < times(6, 3); round++) {
      // Every other one leaves its server running behind it.
      const earlier = await service(round % 2 === 0 ? '/nowhere' : '/usr/bin:/bin')
      const { pool } = open(embeddedAddresses(runPath), 'application')
      let next = round * 100_000
      const writer = async (): Promise<void> => {
        for (;;) {
          const id = next++
          await pool.query('insert into notes values ($1)', [id])
          acknowledged.add(id)
        }
      }
      const ends = Array.from({ length: 4 }, () => writer().catch(() => {}))
      const enough = acknowledged.size + 10 + Math.floor(200 * Math.random())
      await until(() => acknowledged.size > enough)
      await kill(earlier.process)
      if (round % 3 === 0 && identify(earlier.postmaster)) process.kill(earlier.postmaster, 'SIGKILL')
      if (round % 2 === 0) await pool.end()
      await Promise.all(ends)
    }
    const { pool } = open(await start(), 'application')
    const kept = new Set((await pool.query('select id from notes')).rows.map((row) => row.id))
    expect(acknowledged.size).toBeGreaterThan(10)
    expect([...acknowledged].filter((id) => !kept.has(id))).toEqual([])
  })

  test.runIf(process.platform === 'linux')(
    'starts although another process of the account has the pid of the last run',
    async () => {
      const { uid, gid } = statSync(directory)
      const bystander = spawn('sleep', ['60'], { stdio: 'ignore', ...(isRoot ? { uid, gid } : {}) })
      processes.push(bystander)
      writeFileSync(
        join(directory, 'postmaster.pid'),
        `${bystander.pid}\n${directory}\n1\n5432\n\n\n0 0\nready\n`,
      )
      await start()
      expect(bystander.exitCode).toBeNull()
      expect(identify(bystander.pid ?? 0)).toBeDefined()
    },
  )

  test('has its socket in a short place when the data directory has a long path', async () => {
    runPath = join(parent, 'a-long-name-'.repeat(10))
    mkdirSync(runPath)
    const postgres = await start()
    expect(postgres.application.socketDirectory).toMatch(/^\/tmp\/millrace-[0-9a-f]{24}$/)
    expect(await open(postgres, 'application').ping()).toBeUndefined()
    rmSync(postgres.application.socketDirectory, { recursive: true, force: true })
  })

  test('refuses a socket directory that another user could enter', async () => {
    mkdirSync(join(runPath, 'postgres'), { mode: 0o755 })
    chmodSync(join(runPath, 'postgres'), 0o755)
    await expect(start()).rejects.toThrow('is not a directory of ours that is closed to others')
  })

  const damages: [string, (cluster: string) => void, RegExp][] = [
    ['no PG_VERSION', (cluster) => rmSync(join(cluster, 'PG_VERSION')), /no PG_VERSION/],
    [
      'another version',
      (cluster) => writeFileSync(join(cluster, 'PG_VERSION'), '17\n'),
      /made by PostgreSQL 17, and this is PostgreSQL 18/,
    ],
    [
      'no control file',
      (cluster) => rmSync(join(cluster, 'global/pg_control')),
      /global\/pg_control missing/,
    ],
    [
      'a cut control file',
      (cluster) => writeFileSync(join(cluster, 'global/pg_control'), 'x'),
      /It says:.*pg_control/s,
    ],
    [
      'no log of changes',
      (cluster) => rmSync(join(cluster, 'pg_wal'), { recursive: true }),
      /pg_wal missing/,
    ],
    [
      'an overwritten log of changes',
      (cluster) => {
        for (const name of readdirSync(join(cluster, 'pg_wal')).filter((each) => /^[0-9A-F]{24}$/.test(each)))
          writeFileSync(join(cluster, 'pg_wal', name), Buffer.alloc(16 * 1024 * 1024))
      },
      /checkpoint record/,
    ],
  ]
  test.each(damages)(
    'refuses a directory with %s, says what to do and deletes nothing',
    async (_name, harm, message) => {
      harm(directory)
      const before = entriesOf(directory)
      const error = (await start().catch((reason: unknown) => reason)) as StartRefused
      expect(error.message).toMatch(message)
      expect(error.message).toMatch(/Nothing was (deleted|changed)/)
      expect(error.exitCode).toBe(exitCodes.damaged)
      const after = entriesOf(directory)
      expect(before.filter((name) => !after.includes(name))).toEqual([])
      expect(readFileSync(join(directory, 'base/1/PG_VERSION'), 'utf8')).toBe('18\n')
    },
  )
})

test('a first start that is killed at any instant is followed by one that works', async () => {
  for (const delay of spread([30, 300, 700, 1000], 2)) {
    const script = `
      import { startEmbeddedPostgres } from ${JSON.stringify(`${platform}/stores/embedded-postgres.ts`)}
      import { silentLogger } from ${JSON.stringify(`${platform}/logger.ts`)}
      console.log('up')
      await startEmbeddedPostgres({ directory: ${JSON.stringify(directory)},
        runPath: ${JSON.stringify(runPath)}, logger: silentLogger, ...${JSON.stringify(quick)} })`
    const child = spawn(process.execPath, ['--input-type=module-typescript', '-e', script], {
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    await once(child.stdout, 'data')
    await sleep(delay)
    child.kill('SIGKILL')
    await once(child, 'exit')
  }
  const postgres = await start()
  await open(postgres, 'application').ping()
  expect(readdirSync(join(directory, '..')).filter((name) => name.includes('.new-'))).toEqual([])
})

test('never takes an empty directory for a damaged one', async () => {
  mkdirSync(directory)
  expect(await open(await start(), 'application').ping()).toBeUndefined()
})

test('answers no connection after a stop', async () => {
  copyCluster(directory)
  const postgres = await start()
  await postgres.stop()
  const client = new pg.Client({ host: postgres.application.socketDirectory, user: 'millrace' })
  await expect(client.connect()).rejects.toThrow(/ENOENT|ECONNREFUSED/)
})
