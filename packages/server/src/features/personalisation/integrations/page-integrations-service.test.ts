import { gunzipSync } from 'node:zlib'
import type { PageIntegrations } from '@millrace/contract/resources/page-integration.ts'
import type { Integration } from '@millrace/contract/resources/workflow-integration.ts'
import { expect, test } from 'vitest'
import { silentLogger } from '../../../platform/logger.ts'
import { createPageIntegrationsService, pageLimits } from './page-integrations-service.ts'

const [shop, other] = ['c'.repeat(24), 'd'.repeat(24)]
const workflow = 'a'.repeat(24)

const integration = (shortId: string, fields: Partial<Integration> = {}): Integration => ({
  id: 'e'.repeat(24),
  workflowId: workflow,
  shortId,
  name: 'Secret campaign',
  entrypointId: 'zone',
  entrypointState: 'live',
  type: 'web',
  format: 'embed-html',
  outputTypes: ['html'],
  parameters: {},
  display: `https://millrace.example/r/${shortId}`,
  click: `https://millrace.example/r/${shortId}?mode=click`,
  enabled: true,
  selector: '#hero',
  createdAt: '2026-01-01T00:00:00.000Z',
  updatedAt: '2026-01-01T00:00:00.000Z',
  ...fields,
})

/** The service over a store whose contents, failures and clock the test moves. */
function serviceOver(options: { readonly capacity?: number } = {}) {
  const store = {
    now: 1_000_000,
    asked: [] as string[],
    fails: false,
    of: new Map<string, Integration[]>([[shop, [integration('one')]]]),
    companies: new Map([[workflow, shop]]),
  }
  const service = createPageIntegrationsService({
    async listAttachable(companyId) {
      store.asked.push(companyId)
      if (store.fails) throw new Error('down')
      return store.of.get(companyId) ?? []
    },
    async findCompanyOfWorkflow(id) {
      if (store.fails) throw new Error('down')
      return store.companies.get(id)
    },
    clock: { now: () => store.now },
    log: silentLogger,
    ...options,
  })
  service.setListening(true)
  const read = async (companyId = shop): Promise<PageIntegrations> =>
    JSON.parse((await service.find(companyId)).body.toString())
  const shortIds = async (companyId = shop) =>
    (await read(companyId)).integrations.map(({ shortId }) => shortId)
  return { store, service, read, shortIds }
}
/** Until what a notice looks up is there. */
const settled = () => new Promise((resolve) => setImmediate(resolve))

test('reads a company once, however many pages ask, and keeps companies apart', async () => {
  const { store, shortIds } = serviceOver()
  store.of.set(other, [integration('theirs')])
  expect(await Promise.all([shortIds(), shortIds(), shortIds(other)])).toEqual([['one'], ['one'], ['theirs']])
  await shortIds()
  expect(store.asked).toEqual([shop, other])
})

test('holds nothing that is not public, and code under a path that its text decides', async () => {
  const { store, service, read } = serviceOver()
  store.of.set(shop, [integration('one', { code: 'alert(1)', domain: 'shop.example' })])
  const { integrations } = await read()
  const [path = ''] = (await service.find(shop)).codes.keys()
  expect(integrations).toEqual([
    {
      shortId: 'one',
      kind: 'html',
      display: 'https://millrace.example/r/one',
      click: 'https://millrace.example/r/one?mode=click',
      selector: '#hero',
      domain: 'shop.example',
      codePath: path,
    },
  ])
  expect((await service.find(shop)).codes.get(path)).toBe('alert(1)')
  store.of.set(shop, [integration('one', { code: 'alert(2)' })])
  service.drop(workflow)
  const [next] = (await service.find(shop)).codes.keys()
  expect(next).toMatch(new RegExp(`^t-code/${shop}/one-[\\w-]{16}\\.js$`))
  expect(next).not.toBe(path)
})

test('reads again at once what has changed: also a first integration, and a workflow that is deleted', async () => {
  const { store, service, shortIds } = serviceOver()
  store.of.set(other, [])
  await Promise.all([shortIds(), shortIds(other)])
  store.asked = []
  service.drop('f'.repeat(24))
  await settled()
  await Promise.all([shortIds(), shortIds(other)])
  expect(store.asked, 'a workflow of neither').toEqual([])

  const first = 'b'.repeat(24)
  store.companies.set(first, other)
  store.of.set(other, [integration('new', { workflowId: first })])
  service.drop(first)
  await settled()
  expect([await shortIds(), await shortIds(other)]).toEqual([['one'], ['new']])
  expect(store.asked).toEqual([other])

  store.companies.delete(workflow)
  store.of.set(shop, [])
  service.drop(workflow)
  expect(await shortIds()).toEqual([])

  store.of.set(shop, [integration('back')])
  service.drop(undefined)
  expect(await shortIds()).toEqual(['back'])
})

test('a change that is notified while a company is read is read too', async () => {
  const { store, service, shortIds } = serviceOver()
  const before = shortIds()
  store.of.set(shop, [integration('two')])
  service.drop(workflow)
  await before
  expect(await shortIds()).toEqual(['two'])
})

test('reads more often while changes are not notified', async () => {
  const { store, service, shortIds } = serviceOver()
  await shortIds()
  store.now += 2_000
  await shortIds()
  expect(store.asked).toHaveLength(1)
  service.setListening(false)
  await shortIds()
  expect(store.asked).toHaveLength(2)
})

test('serves what it knows while the store is down, and refuses where it knows nothing', async () => {
  const { store, service, shortIds } = serviceOver()
  await shortIds()
  store.fails = true
  service.drop(workflow)
  await settled()
  expect(await shortIds()).toEqual(['one'])
  await expect(shortIds(other)).rejects.toThrow('down')
  store.fails = false
  store.of.set(shop, [integration('two')])
  store.now += 5_000
  expect(await shortIds()).toEqual(['two'])
})

test('a page gets the oldest 200 within the bound of bytes, and how many there are beyond', async () => {
  const { store, service, read } = serviceOver()
  const all = Array.from({ length: 203 }, (_, place) => integration(`n${place}`))
  store.of.set(shop, all)
  const { integrations, leftOut } = await read()
  expect([integrations.length, integrations.at(-1)?.shortId, leftOut]).toEqual([200, 'n199', 3])
  const values = Array.from({ length: 20 }, () => 'x'.repeat(2_000))
  const conditions = Array.from({ length: 20 }, () => ({ operator: 'eq' as const, field: 'a', values }))
  store.of.set(
    shop,
    all.map((each, place) => (place === 1 ? { ...each, filters: { type: 'or', conditions } } : each)),
  )
  service.drop(workflow)
  expect(await read()).toMatchObject({ integrations: [{ shortId: 'n0' }], leftOut: 202 })
  const { body, zipped } = await service.find(shop)
  expect(body.length).toBeLessThan(pageLimits.bytes)
  expect(gunzipSync(zipped).equals(body)).toBe(true)
})

test('remembers as many companies as fit, those that were read last', async () => {
  const { store, shortIds } = serviceOver({ capacity: 5_000 })
  const companies = Array.from({ length: 10 }, (_, place) => String(place).padStart(24, '0'))
  for (const companyId of companies) await shortIds(companyId)
  store.asked = []
  await shortIds(companies.at(-1))
  expect(store.asked).toEqual([])
  await shortIds(companies[0])
  expect(store.asked).toEqual([companies[0]])
})
