import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { removeData, type Service, startService } from '../support/running-service.ts'

/** The commands of docs/operating.md, Back up and restore, in their order. */
function documentedCommands(): string[] {
  const page = readFileSync(new URL('../../../../docs/operating.md', import.meta.url), 'utf8')
  const section = page.slice(page.indexOf('## Back up and restore'))
  const blocks = section.matchAll(/^```sh no-run: [^\n]*backup\.test\.ts[^\n]*\n(.*?)^```$/gms)
  return [...blocks].map(([, commands = '']) => commands)
}

const totals = {
  measures: ['events.count', 'events.people', 'purchases.count', 'purchases.revenue'],
  dimensions: [],
  filters: [],
  timeDimensions: [],
}

function send(service: Service, first: number, count: number): Promise<Response> {
  const events = Array.from({ length: count }, (_, i) => ({
    key: service.companyId,
    name: i % 2 === 0 ? 'page_view' : 'purchase',
    v: 1,
    url: 'https://shop.example/',
    tmpId: `device-${i % 7}`,
    eventId: `event-${first + i}`,
    data: { ids: ['sku-1'], value: 10.25 + i, transId: `order-${first + i}` },
  }))
  return fetch(service.trackerUrl, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(events),
  })
}

test('a service that is restored from a backup answers the same numbers, and loads what waited in the log', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'millrace-backup-'))
  const run = (commands: string) => execFileSync('bash', ['-ec', commands], { cwd: folder })
  const [backUp = '', restore = '', ...others] = documentedCommands()
  expect([backUp, restore, others]).toEqual([
    expect.stringContaining('tar -c'),
    expect.stringContaining('tar -x'),
    [],
  ])
  const services: Service[] = []
  try {
    const first = await startService()
    services.push(first)
    expect((await send(first, 0, 50)).status).toBe(200)
    await expect
      .poll(() => first.query(totals))
      .toEqual([expect.objectContaining({ 'events.count': 50, 'purchases.count': 25 })])
    await first.dataOf('POST', '/statistics/query/save', {
      name: 'Kept',
      queries: [totals],
      schedule: {},
    })
    // Most of the time not loaded yet when the service stops.
    expect((await send(first, 1_000, 4)).status).toBe(200)
    expect(await first.stop()).toBe(0)

    const data = join(folder, 'data')
    renameSync(first.dataDirectory, data)
    run(backUp)
    // What goes on after the backup is not in it.
    rmSync(data, { recursive: true })
    run(restore)

    const second = await startService({ dataDirectory: join(folder, 'restored') })
    services.push(second)
    expect(second.companyId).toBe(first.companyId)
    await expect
      .poll(() => second.query(totals))
      .toEqual([
        {
          'events.count': 54,
          'events.people': 7,
          'purchases.count': 27,
          'purchases.revenue': 905.75,
        },
      ])
    // A token of before the backup.
    const saved = await fetch(`${second.baseUrl}/statistics/query`, {
      headers: { authorization: `Bearer ${first.token}` },
    })
    expect(await saved.json()).toMatchObject({ data: [{ name: 'Kept' }] })
    const { sent, accepted } = await second.dataOf<{ sent: number; accepted: number }>(
      'GET',
      `/datasources/${second.datasourceId}/counters`,
    )
    expect({ sent, accepted }).toEqual({ sent: 54, accepted: 54 })
    // An event of before the backup counts once.
    expect((await send(second, 0, 1)).status).toBe(200)
    await expect
      .poll(() => second.dataOf<{ duplicate: number }>('GET', `/datasources/${second.datasourceId}/counters`))
      .toMatchObject({ sent: 55, accepted: 54, duplicate: 1 })
  } finally {
    for (const service of services) {
      await service.stop()
      removeData(service)
    }
    rmSync(folder, { recursive: true, force: true })
  }
})
