import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { companyId, datasourceId, event, type Row, startCollector } from '../support/collector.ts'

type World = Awaited<ReturnType<typeof startCollector>>
let world: World
let behindNoProxy: World

const phone = {
  'user-agent':
    'Mozilla/5.0 (iPhone; CPU iPhone OS 17_5 like Mac OS X) AppleWebKit/605.1.15 Version/17.5 Safari/604.1',
}
const from = (address: string) => ({ ...phone, 'x-forwarded-for': address })

beforeAll(async () => {
  world = await startCollector({ trustedProxies: ['127.0.0.1'] })
  behindNoProxy = await startCollector()
  for (const { collector } of [world, behindNoProxy]) await collector.loadCountries()
})
afterAll(async () => {
  await world.stop()
  await behindNoProxy.stop()
})
afterEach(() => {
  setCountries(true)
})

function setCountries(countries: boolean): void {
  world.datasources.set(datasourceId, { id: datasourceId, companyId, active: true, countries })
  world.world.now += 10_000
}

async function collected(headers: Record<string, string>, fields = {}, at = world): Promise<Row> {
  expect(await at.post(event(fields), headers)).toBe(200)
  const [row] = (await at.rows()).filter(({ z }) => z === 'e')
  if (!row) throw new Error('no event was collected')
  return row
}

test('keeps the host of the referrer, and nothing else of it', async () => {
  const row = await collected({}, { referrer: 'https://News.example/secret?reader=ada' })
  expect(row.rh).toBe('news.example')
  expect(JSON.stringify(row)).not.toContain('secret')
})

test('keeps no referrer of the page itself, and none that is no address', async () => {
  for (const referrer of ['https://shop.example/', '', null, '(direct)', undefined]) {
    expect(await collected({}, { referrer })).not.toHaveProperty('rh')
  }
})

test('drops a referrer of the wrong type alone and notes it', async () => {
  expect(await world.post(event({ referrer: 5 }))).toBe(200)
  expect(await world.rows()).toMatchObject([
    { z: 'e', g: 1 },
    { z: 'changed', rule: 'referrer-wrong-type', path: 'referrer', sample: '#', m: 1 },
  ])
})

test('reads the referrer of a form', async () => {
  const body = new URLSearchParams({
    ...(event({ data: '{}' }) as Record<string, string>),
    referrer: 'https://news.example/',
  })
  const headers = { 'content-type': 'application/x-www-form-urlencoded' }
  expect((await world.send({ headers, body: body.toString() })).status).toBe(200)
  expect(await world.rows()).toMatchObject([{ z: 'e', rh: 'news.example' }])
})

test('keeps the country of the address that a trusted proxy names, and never the address', async () => {
  const row = await collected(from('90.0.0.1'))
  expect(row.co).toBe('FR')
  expect(JSON.stringify(row)).not.toContain('90.0.0.1')
  expect((await collected(from('198.18.0.1, 133.11.0.1'))).co).toBe('JP')
})

test('believes no proxy that is not trusted', async () => {
  expect(await collected(from('90.0.0.1'), {}, behindNoProxy)).not.toHaveProperty('co')
})

test.each(['127.0.0.1', '10.0.0.7', '192.168.1.1', '2a01:e0a::1', 'unknown', '<script>', ''])(
  'knows no country of %j',
  async (address) => {
    expect(await collected(from(address))).not.toHaveProperty('co')
  },
)

test('keeps no country of a server, and one of an app', async () => {
  for (const sender of ['curl/8.5.0', 'node', 'python-requests/2.32.3']) {
    expect(await collected({ ...from('90.0.0.1'), 'user-agent': sender })).not.toHaveProperty('co')
  }
  expect((await collected({ ...from('90.0.0.1'), 'user-agent': 'okhttp/4.12.0' })).co).toBe('FR')
})

test('keeps no country while the company does not want it', async () => {
  setCountries(false)
  expect(await collected(from('90.0.0.1'))).not.toHaveProperty('co')
  setCountries(true)
  expect((await collected(from('90.0.0.1'))).co).toBe('FR')
})

test('ignores a country that a sender names itself', async () => {
  const row = await collected(from('90.0.0.1'), { country: 'DE', co: 'DE' })
  expect(row.co).toBe('FR')
})
