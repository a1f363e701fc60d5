import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { PageIntegrations } from '@millrace/contract/resources/page-integration.ts'
import type { Integration, IntegrationCreation } from '@millrace/contract/resources/workflow-integration.ts'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { browserAbsent, launchBrowser, openVisits, type Visits } from '../support/chromium.ts'
import { createWorkflow, defaultTeam, publishDefinition } from '../support/live-workflow.ts'
import { edgesOf } from '../support/runner.ts'
import { removeData, type Service, startService } from '../support/running-service.ts'

/** Pages of a shop that have the tracker's script alone, before the running service. */

const waiting = { interval: 200 }

let service: Service
let origin = ''
let browser: Browser
let visits: Visits
let page: Page
let shop: Server
/** Another site than the service's. */
let shopOrigin = ''
/** Further parameters of the tracker's address, and the content security policy of the shop. */
let trackerQuery = ''
let policy = ''
/** Paths of the service that the page has asked for. */
let asked: URL[] = []
let complaints: string[] = []

let workflow = ''
const integrations = new Map<string, Integration>()

const places = `<div id="hero">Welcome</div><ul id="list"></ul><div id="banner">All year</div>`
const pageOfShop = () => `<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Shop</title>
<link rel="icon" href="/ship.svg"><script src="/shop.js"></script>
<script async src="${origin}/t.js?company=${service.companyId}&amp;datasource=${service.datasourceId}${trackerQuery}"></script>
</head><body>${places}</body></html>`
const shopScript = `addEventListener('trk-content', ({ target, detail }) => {
  if (target.id === 'list') target.innerHTML = '<li>' + detail.title + '</li>'
})`

beforeAll(async () => {
  if (browserAbsent) return
  service = await startService({ env: { MILLRACE_RUNNER_BUDGET_MS: '10000' } })
  origin = new URL(service.baseUrl).origin
  shop = createServer(({ url = '' }, reply) => {
    if (policy) reply.setHeader('content-security-policy', policy)
    if (url === '/ship.svg') {
      reply.setHeader('content-type', 'image/svg+xml')
      return reply.end('<svg xmlns="http://www.w3.org/2000/svg" width="320" height="40"/>')
    }
    if (url === '/shop.js') return reply.setHeader('content-type', 'text/javascript').end(shopScript)
    reply.setHeader('content-type', 'text/html; charset=utf-8')
    return reply.end(url.startsWith('/offers') ? 'Offers' : pageOfShop())
  })
  await new Promise<void>((resolve) => shop.listen(0, '127.0.0.1', resolve))
  shopOrigin = `http://shop.localhost:${(shop.address() as AddressInfo).port}`
  browser = await launchBrowser()
  visits = await openVisits(browser)
  await prepare()
})

afterAll(async () => {
  if (browserAbsent) return
  await browser?.close()
  shop?.close()
  expect(await service.stop()).toBe(0)
  removeData(service)
})

beforeEach(async (running) => {
  if (browserAbsent) running.skip(browserAbsent)
  trackerQuery = ''
  policy = ''
  page = await visits.begin()
  asked = []
  complaints = []
  page.on('request', (request) => {
    const url = new URL(request.url())
    if (url.origin === origin) asked.push(url)
  })
  page.on('pageerror', ({ message }) => complaints.push(message))
})

async function prepare(): Promise<void> {
  const template = await service.dataOf<{ id: string }>('POST', '/workflows/json-templates', {
    name: 'Greeting',
    resourceGroupIds: [await defaultTeam(service)],
    definition: { title: { type: 'dependency', variable: 'title' } },
    variables: [{ name: 'title', type: 'scalar' }],
  })
  workflow = await createWorkflow(service, 'Home page')
  await publishDefinition(service, workflow, {
    entrypoints: {
      hero: { type: 'web', format: 'embed-html', position: 0 },
      list: { type: 'web', format: 'json', position: 1 },
      banner: { type: 'web', format: 'embed-image', position: 2 },
    },
    nodes: {
      offer: {
        type: 'html',
        html: `<style>a { color: rgb(1, 2, 3) }</style><a style="font-weight: 900" href="{{click}}">For you</a>`,
        redirect: { value: `${shopOrigin}/offers` },
      },
      segment: { type: 'parameter', parameter: 'segment', kind: 'text' },
      greeting: { type: 'json', templateId: template.id, bindings: { title: { node: 'segment' } } },
      ship: { type: 'image', url: `${shopOrigin}/ship.svg`, redirect: { value: `${shopOrigin}/offers` } },
    },
    edges: edgesOf('hero>offer', 'list>segment', 'segment>greeting', 'banner>ship'),
  })
  await integrate({ entrypointId: 'hero', selector: '#nowhere' }, 'nowhere')
  await integrate({
    entrypointId: 'hero',
    selector: '#hero',
    emplacement: 'before',
    code: 'document.title = "Personal shop"',
  })
  await integrate({
    entrypointId: 'list',
    selector: '#list',
    waitForEvents: ['ready'],
    includeDatalayerPath: ['user.segment'],
  })
  await integrate({
    entrypointId: 'banner',
    selector: '#banner',
    filters: { type: 'and', conditions: [{ operator: 'contains', field: 'url', values: ['/sale'] }] },
  })
}

async function integrate(creation: IntegrationCreation, name = creation.entrypointId): Promise<void> {
  const path = `/workflows/${workflow}/integrations`
  integrations.set(name, await service.dataOf<Integration>('POST', path, creation))
}
const change = (name: string, body: object) =>
  service.dataOf('PATCH', `/workflows/${workflow}/integrations/${integrations.get(name)?.id}`, body)

const settingsUrl = (company = service.companyId, datasource = service.datasourceId) =>
  `${origin}/t-workflows.json?company=${company}&datasource=${datasource}`
async function settings(): Promise<PageIntegrations['integrations']> {
  const reply = await fetch(settingsUrl())
  expect(reply.status).toBe(200)
  return ((await reply.json()) as PageIntegrations).integrations
}

const read = <T>(script: string): Promise<T> => page.evaluate(script) as Promise<T>
const heroText = () =>
  read<string | undefined>(`document.querySelector('#hero').previousElementSibling?.shadowRoot?.textContent`)
const bannerWidth = () =>
  read<number | undefined>(
    `document.querySelector('#banner > div')?.shadowRoot.querySelector('a[href*=click] > img').naturalWidth`,
  )
const displaysAsked = () => asked.filter(({ pathname }) => pathname.startsWith('/r/'))

async function counts(): Promise<unknown> {
  const measures = ['workflows.displays', 'workflows.clicks', 'workflows.openers']
  const [row] = await service.query({ measures, dimensions: [], filters: [], timeDimensions: [] })
  return measures.map((measure) => row?.[measure])
}

test('a page with the script alone shows its integrations, follows its routes, and is counted', async () => {
  await page.goto(`${shopOrigin}/sale?trk-u=ada`)
  await expect.poll(heroText, waiting).toContain('For you')
  await expect.poll(bannerWidth, waiting).toBe(320)
  expect(await read(`document.querySelector('#hero').textContent`)).toBe('Welcome')
  await expect.poll(() => page.title(), waiting).toBe('Personal shop')
  expect(await read(`document.querySelector('#list').textContent`), 'its event is still to come').toBe('')
  await read(`void (window.dataLayer ??= []).push({ event: 'ready', user: { segment: 'gold' } })`)
  await expect.poll(() => page.textContent('#list'), waiting).toBe('gold')

  const cookies = Object.fromEntries((await visits.context.cookies()).map(({ name, value }) => [name, value]))
  expect(cookies).toMatchObject({ trk_clientId: 'ada', trk_tmpId: expect.stringMatching(/./) })
  for (const { searchParams } of displaysAsked()) {
    expect(searchParams.get('trk-u')).toBe('ada')
    expect(searchParams.get('trk-t')).toBe(cookies.trk_tmpId)
    expect(searchParams.get('trk-referer')).toBe(`${shopOrigin}/sale?trk-u=ada`)
  }
  expect(displaysAsked()).toHaveLength(3)

  // A route without the banner: what it had replaced is back, the others are asked for again.
  await read(`history.pushState({}, '', '/boots')`)
  await expect.poll(() => page.textContent('#banner'), waiting).toBe('All year')
  await expect.poll(() => displaysAsked().length, waiting).toBe(5)
  await expect.poll(heroText, waiting).toContain('For you')

  // The link is inside a shadow root and leads through the service.
  await page.click('text=For you')
  await page.waitForURL(`${shopOrigin}/offers**`)
  await expect.poll(counts, waiting).toEqual([5, 1, 1])
  expect(complaints).toEqual([])
})

test('nothing is asked for before consent, and after its withdrawal', async () => {
  trackerQuery = '&consent=required'
  await page.goto(`${shopOrigin}/sale`, { waitUntil: 'networkidle' })
  expect(asked.map(({ pathname }) => pathname)).toEqual(['/t.js'])
  await read('track.consent(true)')
  await expect.poll(heroText, waiting).toContain('For you')
  await expect.poll(bannerWidth, waiting).toBe(320)
  await read('track.consent(false)')
  const before = displaysAsked().length
  await read(`history.pushState({}, '', '/sale/boots')`)
  await expect.poll(heroText, waiting).toBeUndefined()
  expect(displaysAsked()).toHaveLength(before)
})

test('a policy without unsafe-inline lets contents, their styles and their code through', async () => {
  policy = `default-src 'none'; script-src 'self' ${origin}; connect-src ${origin}; img-src 'self' ${origin}`
  await page.goto(`${shopOrigin}/sale`)
  await expect.poll(heroText, waiting).toContain('For you')
  await expect.poll(bannerWidth, waiting).toBe(320)
  const style = `getComputedStyle(document.querySelector('#hero').previousElementSibling.shadowRoot.querySelector('a'))`
  expect(await read(`[${style}.color, ${style}.fontWeight]`)).toEqual(['rgb(1, 2, 3)', '900'])
  await expect.poll(() => page.title(), waiting).toBe('Personal shop')
  expect(complaints).toEqual([])
})

test('what is public is what pages need, for a company and a datasource of its own', async () => {
  const all = await settings()
  expect(all.map(({ selector }) => selector)).toEqual(['#nowhere', '#hero', '#list', '#banner'])
  const text = JSON.stringify(all)
  for (const secret of [
    workflow,
    'Home page',
    ...[...integrations.values()].map(({ id }) => id),
    'Personal shop',
  ])
    expect(text).not.toContain(secret)
  const other = 'f'.repeat(24)
  for (const url of [settingsUrl(other), settingsUrl(service.companyId, other)]) {
    const reply = await fetch(url)
    expect(reply.status).toBe(404)
    expect(reply.headers.get('access-control-allow-origin')).toBe('*')
  }
  for (const url of [settingsUrl('x'), `${origin}/t-workflows.json`, `${settingsUrl()}&company=${other}`])
    expect((await fetch(url)).status).toBe(400)
  const reply = await fetch(settingsUrl())
  expect(reply.headers.get('cache-control')).toBe('public, max-age=60')
  const etag = reply.headers.get('etag') ?? ''
  expect((await fetch(settingsUrl(), { headers: { 'if-none-match': etag } })).status).toBe(304)

  const code = all.find(({ codePath }) => codePath)?.codePath ?? ''
  const query = `?datasource=${service.datasourceId}`
  const script = await fetch(`${origin}/${code}${query}`)
  expect([script.status, await script.text()]).toEqual([200, 'document.title = "Personal shop"'])
  expect(script.headers.get('content-type')).toContain('text/javascript')
  for (const path of [code, `${code}?datasource=${other}`]) {
    expect((await fetch(`${origin}/${path}`)).status).toBeGreaterThanOrEqual(400)
  }
  for (const path of [code.replace(service.companyId, other), code.replace('.js', 'x.js')]) {
    expect((await fetch(`${origin}/${path}${query}`)).status).toBe(404)
  }
})

test('a change is there within a second: switched off, no longer published, without the second file', async () => {
  const soon = { interval: 50 }
  const selectors = async () => (await settings()).map(({ selector }) => selector)
  const code = (await settings()).find(({ codePath }) => codePath)?.codePath ?? ''
  await change('hero', { enabled: false })
  await expect.poll(selectors, soon).toEqual(['#nowhere', '#list', '#banner'])
  expect((await fetch(`${origin}/${code}?datasource=${service.datasourceId}`)).status).toBe(404)
  await page.goto(`${shopOrigin}/sale`)
  await expect.poll(bannerWidth, waiting).toBe(320)
  expect(await heroText()).toBeUndefined()

  await change('hero', { enabled: true })
  await expect.poll(selectors, soon).toHaveLength(4)
  await service.dataOf('POST', `/workflows/${workflow}/archive`)
  await expect.poll(selectors, soon).toEqual([])
  const tracker = `${origin}/t.js?company=${service.companyId}&datasource=${service.datasourceId}`
  expect(await (await fetch(tracker)).text()).not.toContain('t-workflows')
  await service.dataOf('POST', `/workflows/${workflow}/restore`)
  await expect.poll(async () => (await fetch(tracker)).text(), soon).toContain('t-workflows-')
})
