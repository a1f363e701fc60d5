import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { browserAbsent, launchBrowser } from '../support/chromium.ts'
import { publishWorkflow } from '../support/live-workflow.ts'
import { edgesOf } from '../support/runner.ts'
import { removeData, type Service, startService } from '../support/running-service.ts'

let service: Service
let browser: Browser
let shop: Server
let origin = ''
/** What is in the page for the integration. */
let snippet = ''

/** Where each begins, and for how much they buy. */
const visitors = {
  ada: { address: '/?city=Paris', buys: 40.1 },
  bob: { address: '/?city=Rome', buys: 19.99 },
  eve: { address: '/about', buys: 5 },
}
type Visitor = keyof typeof visitors

beforeAll(async () => {
  if (browserAbsent) return
  // Tests beside it take its time.
  service = await startService({ env: { MILLRACE_RUNNER_BUDGET_MS: '10000' } })
  browser = await launchBrowser()
  shop = createServer(({ url = '/' }, reply) => {
    const { pathname } = new URL(url, 'http://shop')
    const place = pathname === '/' ? `<div id="hero">As ever</div>${snippet}` : ''
    reply.setHeader('content-type', 'text/html; charset=utf-8')
    reply.end(`<!doctype html><title>Shop</title><h1>${pathname}</h1>${place}`)
  })
  await new Promise<void>((resolve) => shop.listen(0, '127.0.0.1', resolve))
  origin = `http://127.0.0.1:${(shop.address() as AddressInfo).port}`
})

afterAll(async () => {
  if (browserAbsent) return
  await browser.close()
  shop.close()
  expect(await service.stop()).toBe(0)
  removeData(service)
})

beforeEach((context) => {
  if (browserAbsent) context.skip(browserAbsent)
})

async function embed(): Promise<void> {
  const offer = (html: string) => ({
    type: 'html',
    html,
    bindings: { city: { node: 'city' } },
    redirect: { value: `${origin}/offer` },
  })
  const rule = {
    value: { node: 'city' },
    type: 'text' as const,
    operator: 'equals' as const,
    to: [{ value: 'Paris' }],
  }
  const { id } = await publishWorkflow(service, {
    entrypoints: { hero: { type: 'web', format: 'embed-html' } },
    nodes: {
      city: { type: 'parameter', parameter: 'city', kind: 'text' },
      where: { type: 'conditions', cases: [{ id: 'paris', match: 'and', rules: [rule] }] },
      local: offer('<a href="{{click}}">Offers in {{city}}</a>'),
      usual: offer('<a href="{{click}}">Our offers</a>'),
    },
    edges: edgesOf('hero>city', 'city>where', 'where.paris>local', 'where.default>usual'),
  })
  const path = `/workflows/${id}/integrations`
  const [integration] = await service.dataOf<{ id: string }[]>('GET', path)
  await service.dataOf('PATCH', `${path}/${integration?.id}`, { selector: '#hero', includeContext: true })
  const { html } = await service.dataOf<{ html: string }>('GET', `${path}/${integration?.id}/snippet`)
  snippet = html
}

/** The page of a visitor whom the shop knows, as its tracker's cookies say. */
async function open(name: Visitor): Promise<Page> {
  const context = await browser.newContext({
    userAgent:
      'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/130.0.0.0 Safari/537.36',
  })
  await context.addCookies([
    { name: 'trk_tmpId', value: `browser-of-${name}`, url: origin },
    { name: 'trk_clientId', value: name, url: origin },
  ])
  const page = await context.newPage()
  await page.goto(`${origin}${visitors[name].address}`)
  return page
}

/** Buys as the tracker of the page says it. */
async function buy(page: Page, name: Visitor): Promise<void> {
  const event = {
    key: service.companyId,
    eventId: `order-of-${name}`,
    name: 'purchase',
    v: 1,
    url: page.url(),
    tmpId: `browser-of-${name}`,
    clientId: name,
    data: { ids: ['SKU-1'], value: visitors[name].buys, transId: `order-of-${name}` },
  }
  const send = `fetch(${JSON.stringify(service.trackerUrl)}, {
    method: 'POST', body: ${JSON.stringify(JSON.stringify(event))} }).then((reply) => reply.status)`
  expect(await page.evaluate(send)).toBe(200)
}

const ask = (measures: string[], dimensions: string[] = []) =>
  service.query({ measures, dimensions, filters: [], timeDimensions: [] })

test('a page shows personalised content; displays, clicks and what was bought after them are counted as they were', async () => {
  await embed()

  const ada = await open('ada')
  await expect.poll(() => ada.getByText('Offers in Paris').count(), { timeout: 30_000 }).toBe(1)
  await ada.reload()
  await ada.getByText('Offers in Paris').click()
  await ada.waitForURL(`${origin}/offer**`)
  const landed = new URL(ada.url()).searchParams
  expect([...landed.keys()].sort()).toEqual(['city', 'trk_id', 'utm_term'])
  await buy(ada, 'ada')

  const bob = await open('bob')
  await expect.poll(() => bob.getByText('Our offers').count(), { timeout: 30_000 }).toBe(1)
  await buy(bob, 'bob')

  const eve = await open('eve')
  expect(await eve.getByText('offers').count()).toBe(0)
  await buy(eve, 'eve')

  // Ada saw the local offer twice and clicked; Bob saw the usual one; Eve saw nothing.
  await expect
    .poll(
      () =>
        ask(['workflows.displays', 'workflows.clicks'], ['workflows.person', 'workflows.isIndividualized']),
      {
        timeout: 60_000,
      },
    )
    .toEqual([
      {
        'workflows.person': 'ada',
        'workflows.isIndividualized': true,
        'workflows.displays': 2,
        'workflows.clicks': 1,
      },
      {
        'workflows.person': 'bob',
        'workflows.isIndividualized': false,
        'workflows.displays': 1,
        'workflows.clicks': 0,
      },
    ])
  await expect
    .poll(() => ask(['purchases.count', 'purchases.revenue']), { timeout: 60_000 })
    .toEqual([{ 'purchases.count': 3, 'purchases.revenue': 65.09 }])
  // A click counts for 30 days and a display for 7: Ada's click and Bob's display precede what they bought.
  expect(
    await ask([
      'purchases.afterClick',
      'purchases.influencedCount',
      'purchases.influencedRevenue',
      'purchases.directRevenue',
    ]),
  ).toEqual([
    {
      'purchases.afterClick': 1,
      'purchases.influencedCount': 2,
      'purchases.influencedRevenue': 60.09,
      'purchases.directRevenue': 60.09,
    },
  ])
  expect(
    await ask(['workflows.clickers', 'workflows.conversionRate', 'workflows.uniqueConversionRate']),
  ).toEqual([{ 'workflows.clickers': 1, 'workflows.conversionRate': 1, 'workflows.uniqueConversionRate': 1 }])
}, 300_000)
