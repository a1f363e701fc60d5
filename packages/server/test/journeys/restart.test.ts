import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { columnarDirectory } from '../../src/database/migrate.ts'
import { findRunningService, openDataDirectory } from '../../src/platform/files/data-directory.ts'
import { silentLogger } from '../../src/platform/logger.ts'
import { readMigrations } from '../../src/platform/migrations/migrations.ts'
import { splitStatements } from '../../src/platform/migrations/sql-statements.ts'
import { isAlive } from '../../src/platform/processes/identity.ts'
import { signalProcess } from '../../src/platform/processes/termination.ts'
import { engineSocketPath } from '../../src/platform/stores/chdb/socket.ts'
import { openColumnar } from '../../src/platform/stores/columnar-client.ts'
import { embeddedColumnar } from '../../src/platform/stores/columnar-embedded.ts'
import { openSegmentLog } from '../../src/platform/stores/segment-log.ts'
import { isFull, times } from '../support/long.ts'
import { startService } from '../support/running-service.ts'

const long = isFull(import.meta.filename)

const holderScript = join(import.meta.dirname, '../support/lock-holder.ts')

function temporaryDirectory(): string {
  const path = mkdtempSync(join(tmpdir(), 'millrace-restart-'))
  onTestFinished(() => rmSync(path, { recursive: true, force: true }))
  return path
}

/** What to launch for a process to have such a parent. */
const parents = {
  'a parent that collects it': (command: readonly string[]) => command,
  // `sleep` takes the place of the shell and never waits for a child.
  'a parent that never collects it': (command: readonly string[]) => [
    'sh',
    '-c',
    '"$@" & exec sleep 600',
    'sh',
    ...command,
  ],
} as const
const everyParent = Object.keys(parents) as (keyof typeof parents)[]
/** With whole services each takes a quarter of a minute: the one that ordinary machines have is enough for every day. */
const parentsOfServices = long ? everyParent : everyParent.slice(0, 1)

function launch([command = '', ...args]: readonly string[]): ChildProcess {
  const child = spawn(command, args, { stdio: ['ignore', 'pipe', 'inherit'] })
  onTestFinished(() => void child.kill('SIGKILL'))
  return child
}

test.each(everyParent)(
  'a data directory and its event log are taken in the moment of a kill -9, below %s',
  async (parent) => {
    const path = temporaryDirectory()
    for (let round = 0; round < times(15, 2); round++) {
      const holder = launch(parents[parent]([process.execPath, holderScript, path]))
      const [chunk] = (await once(holder.stdout ?? holder, 'data')) as [Buffer]
      expect(findRunningService(path)).toBeDefined()
      process.kill(Number(chunk), 'SIGKILL')
      expect(findRunningService(path)).toBeUndefined()
      // The lock of the one alone every other time: the killed process has given up neither yet.
      const directory = round % 2 === 0 ? undefined : await openDataDirectory(path, 0)
      const log = await openSegmentLog({ directory: join(path, 'log') })
      await log.release(log.end())
      await log.close()
      directory?.release()
      holder.kill('SIGKILL')
    }
  },
)

test.each(parentsOfServices)(
  'a service starts in the moment in which another one was killed with -9, below %s',
  async (parent) => {
    const dataDirectory = temporaryDirectory()
    const rounds = times(3, 1)
    let service = await startService({ dataDirectory, through: parents[parent] })
    onTestFinished(async () => void (await service.stop('SIGKILL')))
    for (let round = 0; round < rounds; round++) {
      const { pid, trackerUrl, companyId, stop } = service
      const event = { key: companyId, name: 'seen', url: '', tmpId: 'd', eventId: `${round}`, v: 1, data: {} }
      expect((await fetch(trackerUrl, { method: 'POST', body: JSON.stringify(event) })).status).toBe(200)
      // Now and then its children go with it, as when a whole container is killed; otherwise they may still serve.
      const killed = service.processes().filter((each) => each.pid === pid || round % 2 === 1)
      for (const each of killed) signalProcess(each, 'SIGKILL')
      service = await startService({ dataDirectory, through: parents[parent] })
      await stop('SIGKILL')
    }
    const counters = async () =>
      (await service.dataOf<{ accepted: number }>('GET', `/datasources/${service.datasourceId}/counters`))
        .accepted
    await expect.poll(counters).toBe(rounds)
    const processes = service.processes()
    process.kill(service.pid, 'SIGTERM')
    await expect.poll(() => processes.filter(isAlive)).toEqual([])
  },
)

test('U11: a service whose columnar store cannot be migrated takes events, says why it answers no query, and does once it is mended', async () => {
  const dataDirectory = temporaryDirectory()
  const engine = embeddedColumnar({ dataDirectory, logger: silentLogger, yields: false })
  await engine.child.start()
  // In the way of a migration, which puts rows into columns that this one does not have.
  await engine.columnar.command({
    sql: 'create table person_events (other UInt8) engine = MergeTree order by other',
  })
  await engine.columnar.close()
  await engine.child.stop()

  const service = await startService({ dataDirectory, untilReady: false })
  onTestFinished(async () => void (await service.stop('SIGKILL')))
  const { trackerUrl, companyId } = service
  const readiness = async () => {
    const reply = await fetch(new URL('/health/ready', trackerUrl))
    return { ...((await reply.json()) as { parts: Record<string, string> }), status: reply.status }
  }
  const why = /Migration 0006-person-events\.sql, line \d+ failed/
  expect(await readiness()).toMatchObject({
    status: 503,
    parts: { 'columnar store': expect.stringMatching(why), 'event log': 'ok', 'relational store': 'ok' },
  })
  const event = { key: companyId, name: 'seen', url: '', tmpId: 'd', eventId: '1', v: 1, data: {} }
  expect((await fetch(trackerUrl, { method: 'POST', body: JSON.stringify(event) })).status).toBe(200)
  const query = { measures: ['events.count'], dimensions: [], filters: [], timeDimensions: [] }
  const refused = await service.call('POST', '/v2/statistics/query', query)
  expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '2'])
  expect(await refused.json()).toMatchObject({
    error_code: 17,
    message: expect.stringContaining('not up to date'),
  })
  // Queries that wait in the store and further tries add no line.
  const lines = service
    .output()
    .split('\n')
    .filter((line) => why.test(line))
  expect(lines).toHaveLength(1)
  expect(lines[0]).toContain('Mend what the error names, or start the former version')
  expect(service.output()).toContain('accepts events, and answers no queries')

  const store = openColumnar({ address: { socketPath: engineSocketPath(join(dataDirectory, 'run')) } })
  onTestFinished(() => store.close())
  const { sql = '' } = readMigrations(columnarDirectory).find(({ number }) => number === 6) ?? {}
  await store.command({ sql: 'drop table person_events sync' })
  await store.command({ sql: splitStatements(sql)[0]?.text ?? '' })
  await expect.poll(readiness).toMatchObject({ status: 200 })
  await expect.poll(() => service.query(query)).toEqual([{ 'events.count': 1 }])
  expect(await service.stop()).toBe(0)
})
