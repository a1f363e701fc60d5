import { randomInt } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Datasource } from '@millrace/contract/resources/datasource.ts'
import type { PersonErasure, PersonMatch } from '@millrace/contract/resources/person-data.ts'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { tablesOfEvents } from '../../src/database/event-tables.ts'
import { silentLogger } from '../../src/platform/logger.ts'
import { engineSocketPath } from '../../src/platform/stores/chdb/socket.ts'
import { openColumnar } from '../../src/platform/stores/columnar-client.ts'
import { embeddedAddresses } from '../../src/platform/stores/embedded-postgres.ts'
import { openRelational } from '../../src/platform/stores/relational.ts'
import { times } from '../support/long.ts'
import { type Service, startService } from '../support/running-service.ts'
import { until } from '../support/until.ts'

/** What is removed is removed, exactly, however often the service is killed meanwhile. */

const kills = times(50, 1)
/** Of one kill, with the start after it. */
const limitMs = 60_000
const dataDirectory = mkdtempSync(join(tmpdir(), 'millrace-removal-kill-'))
const runPath = join(dataDirectory, 'run')
let service: Service

beforeAll(async () => {
  service = await startService({ dataDirectory })
  await service.dataOf('POST', '/entities/company/sample-data')
  await service.loaded()
}, 120_000)

afterAll(async () => {
  await service.stop()
  rmSync(dataDirectory, { recursive: true, force: true })
})

/** Kills it at a random instant of the next moments, and starts it again. */
async function killAndStart(): Promise<void> {
  await sleep(randomInt(0, 1_000))
  await service.stop('SIGKILL')
  service = await startService({ dataDirectory })
}

/** Rows of the store itself, of which queries may hide some. */
async function countRows(table: string, where: string): Promise<number> {
  const columnar = openColumnar({ address: { socketPath: engineSocketPath(runPath) } })
  try {
    const [row] = await columnar.query<{ rows: number }>({
      sql: `SELECT count() AS rows FROM ${table} WHERE ${where}`,
    })
    return row?.rows ?? 0
  } finally {
    await columnar.close()
  }
}

const figures = (filters: readonly object[] = []) =>
  service.query({
    measures: ['events.count', 'events.people', 'sessions.count', 'purchases.count', 'purchases.revenue'],
    ...{ dimensions: [], filters, timeDimensions: [] },
  })

test(`a person is erased once and wholly after ${kills} kills`, {
  timeout: 60_000 + limitMs * kills,
}, async () => {
  const buyers = await service.query({
    ...{ measures: ['purchases.count'], dimensions: ['purchases.person'], filters: [], timeDimensions: [] },
    ...{ order: { 'purchases.count': 'desc', 'purchases.person': 'asc' }, limit: 10 * kills },
  })
  let erased = 0
  for (const { 'purchases.person': person } of buyers) {
    const clientIds = [String(person)]
    const { events } = await service.dataOf<PersonMatch>('POST', '/entities/persons/search', { clientIds })
    if (events === 0) continue
    const others = { dimension: 'events.person', operator: 'notEquals', values: clientIds }
    const expected = await figures([others])
    const { id } = await service.dataOf<PersonErasure>('POST', '/entities/persons/erase', { clientIds })
    await killAndStart()
    const receipt = await until(async () => {
      const read = await service.dataOf<PersonErasure>('GET', `/entities/persons/erasures/${id}`)
      return read.state === 'done' && read
    }, 50)
    expect(receipt.removed?.events).toBe(events)
    expect(await figures()).toEqual(expected)
    expect(await countRows('events', `client_id = '${person}'`)).toBe(0)
    if (++erased === kills) break
  }
  expect(erased).toBe(kills)
})

test(`a deleted datasource leaves nothing after ${kills} kills`, {
  timeout: 60_000 + limitMs * kills,
}, async () => {
  const expected = await figures()
  for (let kill = 0; kill < kills; kill++) {
    const { id } = await service.dataOf<Datasource>('POST', '/datasources', {
      name: `App ${kill}`,
    })
    const reply = await fetch(service.trackerUrl.replace(service.datasourceId, id), {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(
        Array.from({ length: 200 }, (_, n) => ({
          ...{ key: service.companyId, v: 1, name: n % 9 ? 'page_view' : 'purchase' },
          ...{ url: 'https://app.example/', tmpId: `device-${n % 20}`, eventId: `${id}-${n}` },
          data: n % 9 ? {} : { value: 5, transId: `${id}-${n}` },
        })),
      ),
    })
    expect(reply.status).toBe(200)
    await service.loaded()
    expect(await countRows('events', `datasource = '${id}'`)).toBe(200)
    await service.dataOf(
      'DELETE',
      `/datasources/${id}?purge=now&confirm=${encodeURIComponent(`App ${kill}`)}`,
    )
    await killAndStart()
    for (const table of tablesOfEvents) {
      await until(async () => (await countRows(table, `datasource = '${id}'`)) === 0, 50)
    }
    expect(await figures()).toEqual(expected)
  }
})

test(`events that expire are gone after ${kills} kills`, {
  timeout: 60_000 + 2 * limitMs * kills,
}, async () => {
  for (let kill = 0; kill < kills; kill++) {
    const days = 58 - kill
    const relational = openRelational({
      ...{ address: embeddedAddresses(runPath).application, logger: silentLogger, connections: 1 },
    })
    // As it was said two days ago.
    await relational.pool.query(`update companies set event_retention_days = ${days}`)
    for (const table of ['companies', 'datasources']) {
      await relational.pool.query(`update ${table} set event_retention_since = now() - interval '2 days'`)
    }
    await relational.close()
    const before = new Date(Date.now() - days * 86_400_000).toISOString().slice(0, 10)
    const stays = await countRows('events', `time >= toDateTime64('${before} 00:00:00', 3, 'UTC')`)
    expect(stays).toBeGreaterThan(0)
    // What is due is looked for at a start.
    await service.stop()
    service = await startService({ dataDirectory })
    await killAndStart()
    for (const table of ['events', 'purchases', 'orders', 'person_events', 'workflow_events']) {
      await until(
        async () => (await countRows(table, `time < toDateTime64('${before} 00:00:00', 3, 'UTC')`)) === 0,
        50,
      )
    }
    expect(await countRows('events', '1')).toBe(stays)
  }
})
