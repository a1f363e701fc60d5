import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { WorkerField } from '@millrace/contract/resources/datasource-version.ts'
import type { Experiment } from '@millrace/contract/resources/experiment.ts'
import type { ExperimentResults } from '@millrace/contract/resources/experiment-results.ts'
import type { Integration, IntegrationCreation } from '@millrace/contract/resources/workflow-integration.ts'
import type { Analyze } from '@millrace/contract/resources/workflow-version.ts'
import type { Browser, BrowserContext, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { browserAbsent, launchBrowser, look, visitorUserAgent } from '../support/chromium.ts'
import { experimentBody } from '../support/experiments.ts'
import { createWorkflow, defaultTeam, publishDefinition } from '../support/live-workflow.ts'
import { edgesOf } from '../support/runner.ts'
import { removeData, type Service, startService } from '../support/running-service.ts'

const polling = { interval: 500 }

let service: Service
let browser: Browser
let shop: Server
/** Another site than the service's: the browser keeps its cookies to itself. */
let shopOrigin = ''
/** What the shop has pasted into all of its pages. */
let snippets = ''

beforeAll(async () => {
  if (browserAbsent) return
  // Tests beside it take its time.
  service = await startService({ env: { MILLRACE_RUNNER_BUDGET_MS: '10000' } })
  shop = createServer(({ url = '' }, reply) => {
    if (url === '/ship.svg') {
      reply.setHeader('content-type', 'image/svg+xml')
      return reply.end(
        '<svg xmlns="http://www.w3.org/2000/svg" width="320" height="40"><rect width="320" height="40" fill="teal"/></svg>',
      )
    }
    reply.setHeader('content-type', 'text/html; charset=utf-8')
    reply.end(shopPage())
  })
  await new Promise<void>((resolve) => shop.listen(0, '127.0.0.1', resolve))
  shopOrigin = `http://shop.localhost:${(shop.address() as AddressInfo).port}`
  browser = await launchBrowser()
})

afterAll(async () => {
  if (browserAbsent) return
  await browser?.close()
  shop?.close()
  expect(await service.stop()).toBe(0)
  removeData(service)
})

/** Every page of the shop has the same places and a button that sends a purchase to the collector. */
const shopPage = () => `<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Shop</title>
<link rel="icon" href="data:,">
<style>body { font-family: sans-serif; margin: 2rem; max-width: 40rem } #hero { background: #eee; padding: 2rem }</style>
${snippets}
<script>
addEventListener('trk-content', ({ target, detail }) => {
  if (target.id !== 'list') return
  target.replaceChildren(...detail.products.map((title) => {
    const item = document.createElement('li')
    item.textContent = title
    return item
  }))
})
const cookie = (name) => new URLSearchParams(document.cookie.replaceAll('; ', '&')).get(name) ?? undefined
async function buy() {
  const value = Number(new URL(location.href).searchParams.get('pay') ?? 89.9)
  const reply = await fetch('${service.trackerUrl}', { method: 'POST', body: JSON.stringify({
    key: '${service.companyId}', v: 1, name: 'purchase', eventId: crypto.randomUUID(), url: location.href,
    tmpId: cookie('trk_tmpId'), clientId: cookie('trk_clientId'),
    data: { ids: ['sku'], value, transId: crypto.randomUUID() } }) })
  document.querySelector('#thanks').textContent = reply.ok ? 'Thank you' : 'It did not work'
}
</script></head>
<body><h1>Shop</h1><div id="hero">Welcome</div><ul id="list"><li>All products</li></ul><div id="footer"></div>
<button onclick="buy()">Buy</button><p id="thanks"></p>
</body></html>`

/** A worker datasource of the shop's products, live. */
async function importProducts(): Promise<string> {
  const { id } = await service.dataOf<{ id: string }>('POST', '/datasources', {
    name: 'Products',
    mode: 'worker',
    source: { type: 'file' },
  })
  const csv = [
    'sku;title;category;price;link',
    `boots-1;"Winter boots; lined";hiking;89,90;${shopOrigin}/boots-1`,
    `tent-2;Zelt für zwei;camping;149,00;${shopOrigin}/tent-2`,
    `stove-3;Camping stove;camping;34,50;${shopOrigin}/stove-3`,
    `cup-4;Cup <& saucer>;kitchen;9,00;${shopOrigin}/cup-4`,
  ].join('\r\n')
  const uploaded = await fetch(`${service.baseUrl}/datasources/${id}/content?fileName=products.csv`, {
    method: 'PUT',
    headers: { authorization: `Bearer ${service.token}`, 'content-type': 'text/csv' },
    body: csv,
  })
  expect(uploaded.status, await uploaded.text()).toBe(200)
  const { fields } = await service.dataOf<{ fields: WorkerField[] }>(
    'POST',
    `/datasources/worker/${id}/analyzer`,
  )
  expect(fields.map(({ name, type, primitive }) => [name, type, primitive])).toEqual([
    ['sku', 'reference_id', 'string'],
    ['title', 'name', 'string'],
    ['category', 'string', 'string'],
    ['price', 'price', 'number'],
    ['link', 'url', 'string'],
  ])
  await service.dataOf('PATCH', `/datasources/${id}/fields`, {
    fields: fields.map((field) => ({
      ...field,
      selected: true,
      ...(field.name === 'sku' && { isKey: true }),
    })),
  })
  await service.dataOf('POST', `/datasources/${id}/versions/live`)
  await expect
    .poll(async () => (await service.dataOf<{ status: string }>('GET', `/datasources/${id}`)).status, polling)
    .toBe('published')
  return id
}

async function startExperiment(): Promise<Experiment> {
  const { _id } = await service.dataOf<Experiment>('POST', '/statistics/experiments', experimentBody())
  return service.dataOf('POST', `/statistics/experiments/${_id}/start`)
}

/** The home page: by the interest of the visitor one of two offers, else the same for all, and a list of products. */
function homeDefinition(ids: { products: string; experiment: string; template: string }) {
  const title = { node: 'matching', field: 'title' }
  const offer = (text: string) => ({
    type: 'html',
    html: `<style>a { font-size: 1.4rem }</style><a href="{{click}}">${text}</a>`,
    bindings: { title, price: { node: 'shown-price' } },
    redirect: { node: 'matching', field: 'link' },
  })
  return {
    entrypoints: {
      hero: { type: 'web', format: 'embed-html', position: 0 },
      list: { type: 'web', format: 'json', position: 1 },
    },
    nodes: {
      interest: { type: 'parameter', parameter: 'interest', kind: 'text' },
      matching: {
        type: 'datasource',
        datasourceId: ids.products,
        filters: [{ field: 'category', operator: '$eq', value: { node: 'interest' } }],
        sort: { field: 'price', order: 'asc' },
        ordering: 'sorted',
        limit: 1,
      },
      'shown-price': {
        type: 'transform',
        expression: {
          function: 'format-currency',
          arguments: [{ node: 'matching', field: 'price' }, { value: 'EUR' }, { value: 'de_DE' }],
        },
      },
      known: {
        type: 'conditions',
        cases: [
          { id: 'matches', match: 'and', rules: [{ value: title, type: 'text', operator: 'notEmpty' }] },
        ],
      },
      test: { type: 'experiment', experimentId: ids.experiment },
      control: offer('{{title}} for {{price}}'),
      treatment: offer('Only {{price}}: {{title}}'),
      everyone: {
        type: 'html',
        html: '<a href="{{click}}">Look at all offers</a>',
        redirect: { value: `${shopOrigin}/offers` },
      },
      cheapest: {
        type: 'datasource',
        datasourceId: ids.products,
        sort: { field: 'price', order: 'asc' },
        ordering: 'sorted',
        limit: 3,
      },
      products: { type: 'json', templateId: ids.template },
    },
    edges: edgesOf(
      'hero>interest',
      'interest>matching',
      'matching>shown-price',
      'shown-price>known',
      'known.matches>test',
      'known.default>everyone',
      'test.control>control',
      'test.treatment>treatment',
      'list>cheapest',
      'cheapest>products',
    ),
  }
}

const footerDefinition = () => ({
  entrypoints: { footer: { type: 'web', format: 'embed-image' } },
  nodes: {
    shipping: { type: 'image', url: `${shopOrigin}/ship.svg`, redirect: { value: `${shopOrigin}/shipping` } },
  },
  edges: edgesOf('footer>shipping'),
})

const onPages = (
  operator: 'contains' | 'notcontains',
  ...values: string[]
): NonNullable<IntegrationCreation['filters']> => ({
  type: 'and',
  conditions: [{ operator, field: 'url', values }],
})

async function integrate(workflowId: string, creation: IntegrationCreation): Promise<Integration> {
  const path = `/workflows/${workflowId}/integrations`
  const integration = await service.dataOf<Integration>('POST', path, creation)
  const { html } = await service.dataOf<{ html: string }>('GET', `${path}/${integration.id}/snippet`)
  snippets += html
  return integration
}

/** A browser of its own with the cookies that the tracker leaves. */
async function visitor(cookies: {
  readonly tmpId: string
  readonly clientId?: string
}): Promise<BrowserContext> {
  const context = await browser.newContext({
    userAgent: visitorUserAgent,
    viewport: { width: 800, height: 600 },
  })
  await context.addCookies(
    Object.entries(cookies).map(([name, value]) => ({ name: `trk_${name}`, value, url: shopOrigin })),
  )
  return context
}

async function buyOn(page: Page): Promise<void> {
  await page.click('text=Buy')
  await page.waitForSelector('text=Thank you')
}

async function analysisOf(workflowId: string): Promise<Analyze> {
  const { versions } = await service.dataOf<{ versions: { state: string; analyze: Analyze }[] }>(
    'GET',
    `/workflows/${workflowId}`,
  )
  const live = versions.find(({ state }) => state === 'live')
  if (!live) throw new Error('a published workflow has a live version')
  return live.analyze
}

/** Measures by a dimension, or of all together. */
async function measure(measures: readonly string[], dimension?: string): Promise<Record<string, unknown>[]> {
  return service.query({
    measures,
    dimensions: dimension ? [dimension] : [],
    filters: [],
    timeDimensions: [],
    ...(dimension && { order: { [dimension]: 'asc' } }),
  })
}

test('visitors of a page see what a workflow chooses for them, click and buy, and statistics count it', async (context) => {
  if (browserAbsent) context.skip(browserAbsent)
  const products = await importProducts()
  const experiment = await startExperiment()
  const template = await service.dataOf<{ id: string }>('POST', '/workflows/json-templates', {
    name: 'Titles',
    resourceGroupIds: [await defaultTeam(service)],
    definition: { products: { type: 'dependency', variable: 'title' } },
    variables: [{ name: 'title', type: 'array' }],
  })
  const definition = homeDefinition({ products, experiment: experiment._id, template: template.id })
  const home = await createWorkflow(service, 'Home page')
  await publishDefinition(service, home, definition)
  const onHome = onPages('notcontains', '/boots-1', '/tent-2')
  const hero = await integrate(home, {
    entrypointId: 'hero',
    selector: '#hero',
    includeContext: true,
    filters: onHome,
  })
  await integrate(home, { entrypointId: 'list', selector: '#list', filters: onHome })
  const footer = await createWorkflow(service, 'Footer')
  await publishDefinition(service, footer, footerDefinition())
  await integrate(footer, {
    entrypointId: 'footer',
    selector: '#footer',
    filters: onPages('contains', '/tent-2'),
  })

  // Ada comes with an interest, sees the cheapest product of it in her variant, clicks and buys.
  const { variantId } = await service.dataOf<{ variantId: string }>(
    'GET',
    `/statistics/experiments/${experiment._id}/assignment?unit=ada`,
  )
  const ada = await visitor({ tmpId: 'laptop', clientId: 'ada' })
  const page = await ada.newPage()
  const complaints: string[] = []
  page.on('pageerror', (error) => complaints.push(error.message))
  page.on('console', (message) => {
    if (message.type() === 'error') complaints.push(message.text())
  })
  await page.goto(`${shopOrigin}/?interest=hiking&utm_source=newsletter`)
  const offers: Record<string, string> = {
    control: 'Winter boots; lined for 89,90\u00a0€',
    treatment: 'Only 89,90\u00a0€: Winter boots; lined',
  }
  await expect.poll(() => page.locator('#hero a').textContent(), polling).toBe(offers[variantId])
  const titles = ['Cup <& saucer>', 'Camping stove', 'Winter boots; lined']
  await expect.poll(() => page.locator('#list li').allTextContents(), polling).toEqual(titles)
  await look(page, 'workflow-personalised')
  await page.click('#hero a')
  await page.waitForURL(`${shopOrigin}/boots-1**`)
  const { branches, branchesInfos } = await analysisOf(home)
  const branchTo = (node: string) => branches.find((id) => branchesInfos[id]?.outputNodeId === node)
  expect(Object.fromEntries(new URL(page.url()).searchParams)).toEqual({
    interest: 'hiking',
    utm_source: 'newsletter',
    trk_id: home,
    utm_term: branchTo(variantId),
  })
  expect(await page.textContent('#hero'), 'the filter keeps it off this page').toBe('Welcome')
  await buyOn(page)

  // Bob, who is not known and says no interest, sees the default, does not click, and buys where the footer is shown.
  const bob = await visitor({ tmpId: 'phone' })
  const other = await bob.newPage()
  await other.goto(`${shopOrigin}/`)
  await expect.poll(() => other.locator('#hero a').textContent(), polling).toBe('Look at all offers')
  await expect.poll(() => other.locator('#list li').allTextContents(), polling).toEqual(titles)
  await look(other, 'workflow-default')
  await other.goto(`${shopOrigin}/tent-2?pay=20`)
  const image = `document.querySelector('#footer > div')?.shadowRoot.querySelector('img').naturalWidth`
  await expect.poll(() => other.evaluate(image), polling).toBe(320)
  await buyOn(other)

  // Cleo is shown nothing and buys.
  const cleo = await (await visitor({ tmpId: 'tablet' })).newPage()
  await cleo.goto(`${shopOrigin}/boots-1?pay=500`)
  await buyOn(cleo)
  expect(complaints).toEqual([])

  /*
   * Displays: Ada's hero and list, Bob's hero, list and footer. Openings: the home page by each of them, and Bob's
   * other page. The one click is Ada's. Her purchase of 89.90 is credited to the home page, whose click is her last
   * interaction; Bob's of 20 to the footer, which he was shown last; Cleo's of 500 to none.
   */
  const measures = [
    'workflows.displays',
    'workflows.clicks',
    'workflows.openings',
    'workflows.openers',
    'workflows.individualizedDisplays',
    'purchases.afterClick',
    'purchases.influencedRevenue',
  ]
  const rowOf = (values: readonly number[]) =>
    Object.fromEntries(measures.map((measureId, place) => [measureId, values[place]]))
  const all = rowOf([5, 1, 3, 2, 1, 1, 109.9])
  const byWorkflow = [
    { 'workflows.id': home, ...rowOf([4, 1, 2, 2, 1, 1, 89.9]) },
    { 'workflows.id': footer, ...rowOf([1, 0, 1, 1, 0, 0, 20]) },
  ].toSorted((a, b) => (a['workflows.id'] < b['workflows.id'] ? -1 : 1))
  await expect.poll(() => measure(measures), polling).toEqual([all])
  expect(await measure(measures, 'workflows.id')).toEqual(byWorkflow)
  expect(await measure(['workflows.displays', 'workflows.clicks'], 'workflows.branch')).toEqual(
    [
      [branchTo(variantId), 1, 1],
      [branchTo('everyone'), 1, 0],
      [branchTo('products'), 2, 0],
      [(await analysisOf(footer)).branches[0], 1, 0],
    ]
      .toSorted(([a], [b]) => (String(a) < String(b) ? -1 : 1))
      .map(([branch, displays, clicks]) => ({
        'workflows.branch': branch,
        'workflows.displays': displays,
        'workflows.clicks': clicks,
      })),
  )
  // Cleo's, which is credited to none, may be loaded after what was measured so far.
  await expect
    .poll(() => measure(['purchases.count', 'purchases.revenue']), polling)
    .toEqual([{ 'purchases.count': 3, 'purchases.revenue': 609.9 }])
  // The tag of her variant exposes Ada to the experiment, and nobody else.
  const { variants, metrics } = await service.dataOf<ExperimentResults>(
    'GET',
    `/statistics/experiments/${experiment._id}/results?windows=all`,
  )
  const units = experiment.variants.map(({ id }) => ({ id, units: id === variantId ? 1 : 0 }))
  expect(variants.map(({ id, units }) => ({ id, units }))).toEqual(units)
  expect(
    metrics[0]?.variants.map(({ variantId, conversions }) => ({ id: variantId, units: conversions })),
  ).toEqual(units)

  // What is published while a page is open is there a second later.
  const display = async (): Promise<{ status: number; text: string }> =>
    other.evaluate(
      `fetch(${JSON.stringify(hero.display)}).then(async (reply) => ({ status: reply.status, text: await reply.text() }))`,
    )
  expect((await display()).text).toContain('Look at all offers')
  const { everyone } = definition.nodes
  const edited = { ...everyone, html: everyone.html.replace('all offers', 'the new offers') }
  await publishDefinition(service, home, { ...definition, nodes: { ...definition.nodes, everyone: edited } })
  await expect.poll(async () => (await display()).text, polling).toContain('Look at the new offers')

  await service.dataOf('POST', `/workflows/${home}/archive`)
  await expect.poll(display, polling).toEqual({ status: 204, text: '' })
  await other.goto(`${shopOrigin}/`)
  await expect
    .poll(async () => (await measure(['workflows.displays']))[0], polling)
    .toEqual({ 'workflows.displays': 7 })
  expect(await other.textContent('#hero')).toBe('Welcome')
})
