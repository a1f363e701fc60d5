import { randomBytes } from 'node:crypto'
import { createServer } from 'node:net'
import { Analytics } from '@segment/analytics-node'
import { expect, onTestFinished, test } from 'vitest'
import { removeData, type Service, startService } from '../support/running-service.ts'

const run = randomBytes(3).toString('hex')

/** A port that a service can have again after a restart. */
async function findPort(): Promise<string> {
  const server = createServer().listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  const address = server.address()
  await new Promise((resolve) => server.close(resolve))
  return typeof address === 'object' && address !== null ? String(address.port) : ''
}

/** How often each event of a name is stored, by a label. */
async function countsOf(service: Service, name: string, label: string): Promise<Map<string, number>> {
  const rows = await service.query({
    measures: ['events.count'],
    dimensions: [`events.label.${label}`],
    filters: [{ member: 'events.name', operator: 'equals', values: [name] }],
    timeDimensions: [],
    limit: 5_000,
  })
  return new Map(rows.map((row) => [String(row[`events.label.${label}`]), Number(row['events.count'])]))
}

/** Waits until so many events are loaded, and then for nothing more. */
async function untilStored(service: Service, name: string, label: string, count: number) {
  await expect.poll(async () => (await countsOf(service, name, label)).size, { interval: 200 }).toBe(count)
  return await countsOf(service, name, label)
}

test('the ordinary Segment client delivers each call once, through a kill -9 of the service', async () => {
  const port = await findPort()
  let service = await startService({ env: { MILLRACE_PORT: port } })
  const { dataDirectory } = service
  onTestFinished(async () => {
    await service.stop('SIGKILL')
    removeData({ dataDirectory })
  })
  const failures: unknown[] = []
  const delivered = (client: Analytics) => client.on('error', (error) => failures.push(error))
  const settings = {
    host: `http://127.0.0.1:${port}`,
    writeKey: service.datasourceId,
    flushInterval: 100,
    maxRetries: 100,
  }
  const client = new Analytics(settings)
  delivered(client)

  const identities = { anonymousId: `device-${run}`, userId: `ada-${run}` }
  client.page({
    anonymousId: identities.anonymousId,
    name: 'Home',
    properties: { url: 'https://shop.example/' },
  })
  client.identify({ ...identities, traits: { plan: `plan-${run}` } })
  client.track({
    ...identities,
    event: 'Order Completed',
    timestamp: new Date(Date.now() - 86_400_000),
    properties: { order_id: `order-${run}`, total: 59.9, products: [{ product_id: 'p1' }, { sku: 's2' }] },
  })
  await client.flush()
  const pages = await untilStored(service, 'page_view', 'name', 1)
  expect([...pages]).toEqual([['Home', 1]])
  expect([...(await untilStored(service, 'identify', 'plan', 1))]).toEqual([[`plan-${run}`, 1]])
  // A purchase is stored after its event, and the page came before the identity of its device was known.
  const measures = ['purchases.count', 'purchases.revenue', 'events.people']
  await expect
    .poll(() => service.query({ measures, dimensions: [], filters: [], timeDimensions: [] }), {
      interval: 200,
    })
    .toEqual([{ 'purchases.count': 1, 'purchases.revenue': 59.9, 'events.people': 1 }])

  const large = new Analytics({ ...settings, flushAt: 1_000 })
  delivered(large)
  for (let i = 0; i < 1_000; i++) large.track({ userId: `u${i}`, event: 'Large', properties: { serial: i } })
  await large.flush()
  expect([...(await untilStored(service, 'Large', 'serial', 1_000)).values()].every((n) => n === 1)).toBe(
    true,
  )

  // Calls before, while and after the service is gone; what was under way is sent again.
  const total = 300
  let restarted: Promise<Service> | undefined
  for (let i = 0; i < total; i++) {
    client.track({ ...identities, event: 'Through', properties: { serial: i } })
    if (i === 100) await service.stop('SIGKILL')
    if (i === 200) restarted = startService({ dataDirectory, env: { MILLRACE_PORT: port } })
  }
  if (restarted) service = await restarted
  await client.flush()
  const through = await untilStored(service, 'Through', 'serial', total)
  expect([...through.values()].every((count) => count === 1)).toBe(true)
  expect(failures).toEqual([])
  await Promise.all([client.closeAndFlush(), large.closeAndFlush()])
  expect(await service.stop()).toBe(0)
})
