import { hash } from 'node:crypto'
import { readdirSync } from 'node:fs'
import { type Service, unlessBusy } from './running-service.ts'
import { until } from './until.ts'
import { fieldOf } from './worker-datasources.ts'

/** Small backups that versions have made, each with what the service answered then: `NAME.tar.gz` and `NAME.json`. */
export const versionsDirectory = new URL('../fixtures/versions/', import.meta.url).pathname

export const recordedVersions = (): string[] =>
  readdirSync(versionsDirectory)
    .filter((name) => name.endsWith('.json'))
    .map((name) => name.slice(0, -'.json'.length))

/** Of the secrets in the fixtures, which are of tests alone. */
export const fixtureKey = hash('sha256', 'of fixtures', 'base64')

/** What a service answers: each measure of all time, and what lists have. */
export interface Answers {
  readonly measures: Readonly<Record<string, unknown>>
  readonly lists: Readonly<Record<string, unknown>>
}

const lists = [
  '/statistics/query',
  '/statistics/dashboards',
  '/statistics/cohorts',
  '/datasources',
  '/entities/users',
]

/** @param asked measures; all that the service has by default */
export async function answersOf(service: Service, asked?: readonly string[]): Promise<Answers> {
  const { measures } = await service.dataOf<{ measures: object }>('GET', '/statistics/meta')
  const measured: Record<string, unknown> = {}
  for (const measure of asked ?? Object.keys(measures)) {
    const query = { measures: [measure], dimensions: [], filters: [], timeDimensions: [] }
    measured[measure] = (await service.query(query))[0]?.[measure]
  }
  const named: Record<string, unknown> = {}
  for (const path of lists) {
    const rows = await service.dataOf<{ name?: string; email?: string }[]>('GET', path)
    named[path] = rows.map(({ name, email }) => name ?? email).sort()
  }
  const datasources = await service.dataOf<{ id: string; name: string }[]>('GET', '/datasources')
  const products = datasources.find(({ name }) => name === 'Products')
  named.rows = await service.dataOf('POST', '/datasources/query?perPage=100', {
    datasourceId: products?.id,
    query: {},
  })
  return { measures: measured, lists: named }
}

/** Gives a service a little of what a company has. */
export async function fillForFixture(service: Service): Promise<void> {
  const { companyId: key, trackerUrl } = service
  const events = Array.from({ length: 300 }, (_, n) => ({
    ...{ key, v: 1, name: ['page_view', 'purchase', 'identify', 'sign_up'][n % 4] },
    url: `https://shop.example/${n % 5}?utm_source=${['news', 'social'][n % 2]}`,
    ...{
      tmpId: `device-${n % 23}`,
      eventId: `event-${n}`,
      timestamp: Date.UTC(2026, 0, 1) + (n % 83) * 660_000 + (n % 5) * 864_000_000,
    },
    ...(n % 3 === 0 && { clientId: `client-${n % 11}` }),
    data:
      n % 4 === 1
        ? { ids: [`sku-${n % 7}`], value: n / 4, transId: `order-${n % 40}` }
        : { plan: `p${n % 3}` },
  }))
  const sent = await unlessBusy(() =>
    fetch(trackerUrl, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(events),
    }),
  )
  if (!sent.ok) throw new Error(await sent.text())
  const asked = { measures: ['events.count'], dimensions: ['events.name'], filters: [], timeDimensions: [] }
  await service.dataOf('POST', '/statistics/query/save', { name: 'By name', queries: [asked], schedule: {} })
  await service.dataOf('POST', '/statistics/dashboards', {
    name: 'Shop',
    tiles: [
      { ...{ id: 'a', title: 'Names', x: 0, y: 0, w: 6, h: 4 }, kind: 'query', view: 'table', query: asked },
    ],
  })
  await service.dataOf('POST', '/statistics/cohorts', {
    name: 'Buyers',
    rule: { event: { events: ['purchase'] } },
  })
  const { id } = await service.dataOf<{ id: string }>('POST', '/datasources', {
    ...{ name: 'Products', mode: 'worker', source: { type: 'file', format: 'ndjson' } },
  })
  await fetch(`${service.baseUrl}/datasources/${id}/content`, {
    method: 'PUT',
    headers: { authorization: `Bearer ${service.token}`, 'content-type': 'application/octet-stream' },
    body: Array.from({ length: 7 }, (_, n) => JSON.stringify({ sku: `sku-${n}`, name: `Thing ${n}` })).join(
      '\n',
    ),
  })
  await service.dataOf('PATCH', `/datasources/${id}/fields`, {
    fields: [fieldOf({ name: 'sku', isKey: true }), fieldOf({ name: 'name' })],
  })
  await service.dataOf('POST', `/datasources/${id}/versions/live`)
  await until(async () => {
    const [last] = await service.dataOf<{ state: string }[]>('GET', `/datasources/${id}/imports`)
    return last?.state === 'done'
  }, 50)
  await service.loaded()
}
