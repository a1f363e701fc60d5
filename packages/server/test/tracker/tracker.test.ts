// One file past 400 lines: every test needs the same service, browser and hosts, which take seconds to start.

import { createServer, request, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { eventVectors } from '@millrace/contract/events/event-vectors.ts'
import type { Browser, Page, Request } from 'playwright-core'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { browserAbsent, launchBrowser, openVisits, type Visits } from '../support/chromium.ts'
import { removeData, type Service, startService } from '../support/running-service.ts'

/** Pages of a shop with the tracker, before the running service: each event that they send is stored once. */

const waiting = { interval: 300 }

/** As docs/tracker.md has it. */
const stub = `if (!window.track?.q?.push) window.track = { q: [] }
for (const name of ['event', 'identify', 'consent']) {
  window.track[name] ??= (...args) => window.track.q.push([name, args])
}`

let service: Service
let browser: Browser
let visits: Visits
let page: Page
let shop: Server
/** Stands between the browser and the service, and can be down. */
let proxy: Server
let isDown: boolean | 'unavailable' = false
let shopPort = 0
let collector = ''
let shopOrigin = ''
/** What the next pages of the shop hold, by path. */
let pages: Record<string, string> = {}
let policy = ''
let sentBodies: Record<string, unknown>[] = []
let consoleTexts: string[] = []
let errors: string[] = []
let label = ''
let tests = 0

const portOf = (server: Server) => (server.address() as AddressInfo).port
const tag = (query = '') =>
  `<script async src="${collector}/t.js?company=${service.companyId}&amp;datasource=${service.datasourceId}${query}"></script>`
const html = (body: string) =>
  `<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Shop</title><link rel="icon" href="data:,"></head><body>${body}</body></html>`
const shopPage = (script = '', query = '') => html(`<script>${stub}\n${script}</script>${tag(query)}`)
/** A call of `track.event` with the label of this test and a number. */
const event = (n: number, name = 'shown') => `track.event('${name}', { run: '${label}', n: ${n} });`

beforeAll(async () => {
  if (browserAbsent) return
  service = await startService()
  const target = new URL(service.baseUrl)
  proxy = createServer((sent, reply) => {
    if (isDown === true) return sent.socket.destroy()
    if (isDown === 'unavailable') {
      return reply.writeHead(503, { 'access-control-allow-origin': '*' }).end()
    }
    const passed = request(
      {
        host: target.hostname,
        port: target.port,
        path: sent.url,
        method: sent.method,
        headers: sent.headers,
      },
      (answer) => {
        reply.writeHead(answer.statusCode ?? 502, answer.headers)
        answer.pipe(reply)
      },
    )
    passed.on('error', () => reply.destroy())
    sent.pipe(passed)
  })
  shop = createServer(({ url = '/' }, reply) => {
    if (policy) reply.setHeader('content-security-policy', policy)
    const path = url.split(/[?#]/)[0] ?? '/'
    reply.setHeader('content-type', path.endsWith('.js') ? 'text/javascript' : 'text/html; charset=utf-8')
    reply.end(pages[path] ?? html('Nothing'))
  })
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve))
  await new Promise<void>((resolve) => shop.listen(0, '127.0.0.1', resolve))
  shopPort = portOf(shop)
  collector = `http://127.0.0.1:${portOf(proxy)}`
  shopOrigin = `http://www.shop.test:${shopPort}`
  browser = await launchBrowser(['--host-resolver-rules=MAP *.shop.test 127.0.0.1'])
  visits = await openVisits(browser)
})

afterAll(async () => {
  if (browserAbsent) return
  await browser?.close()
  shop?.close()
  proxy?.close()
  expect(await service.stop()).toBe(0)
  removeData(service)
})

beforeEach(async (running) => {
  if (browserAbsent) running.skip(browserAbsent)
  pages = {}
  policy = ''
  isDown = false
  label = `run${++tests}`
  sentBodies = []
  consoleTexts = []
  errors = []
  page = watch(await visits.begin())
})

/** A page that is closed for the next test has something to say about that, which is of its own test. */
function watch(opened: Page): Page {
  const ofTest = { errors, consoleTexts, sentBodies }
  opened.on('pageerror', ({ message }) => ofTest.errors.push(message))
  opened.on('console', (message) => ofTest.consoleTexts.push(message.text()))
  opened.on('request', (sent) => {
    if (sent.url().includes('/collect/')) ofTest.sentBodies.push(JSON.parse(sent.postData() ?? 'null'))
  })
  return opened
}

const started = (of = page) => of.waitForFunction('window.track?.getTmpId')

/** Events of this test in the statistics: name, number, how many. */
async function stored(): Promise<unknown[]> {
  const rows = await service.query({
    measures: ['events.count'],
    dimensions: ['events.name', 'events.label.n'],
    filters: [{ member: 'events.label.run', operator: 'equals', values: [label] }],
    timeDimensions: [],
    limit: 1000,
  })
  return rows
    .map((row) => [row['events.name'], Number(row['events.label.n']), row['events.count']])
    .toSorted((a, b) => Number(a[1]) - Number(b[1]))
}

const once = (numbers: readonly number[], name = 'shown') => numbers.map((n) => [name, n, 1])

/** These events and no others, each once, now and after everything that is on its way. */
async function expectStored(numbers: readonly number[]): Promise<void> {
  await expect.poll(stored, waiting).toEqual(once(numbers))
}

/** Makes the tracker look at what waits, as leaving or finding the tab again does. */
const revisit = (of = page) =>
  of.evaluate(`document.dispatchEvent(new Event('visibilitychange', { bubbles: true }))`)

test('fifty calls before the script is there, which the page has twice', async () => {
  const numbers = Array.from({ length: 50 }, (_, i) => i)
  pages['/'] = html(
    `<script>${stub}\nconst kept = track.event\n${numbers.map((n) => event(n)).join('\n')}</script>${tag()}${tag()}`,
  )
  await page.goto(shopOrigin, { referer: 'https://search.example/?q=shoes' })
  await started()
  await page.evaluate(`kept('shown', { run: '${label}', n: 50 })`)
  await expectStored([...numbers, 50])
  const [first] = sentBodies
  expect(Object.keys(first ?? {}).toSorted()).toEqual(
    ['data', 'eventId', 'key', 'name', 'referrer', 'timestamp', 'tmpId', 'url', 'v'].toSorted(),
  )
  expect(first).toMatchObject({ key: service.companyId, name: 'shown', url: `${shopOrigin}/`, v: 1 })
  expect(String(first?.referrer)).toMatch(/^https:\/\/search\.example\//)
  expect(sentBodies).toHaveLength(51)
  const globals = await page.evaluate(`(() => {
    const frame = document.createElement('iframe')
    document.body.append(frame)
    return Object.keys(window).filter((name) => !(name in frame.contentWindow) && isNaN(name))
  })()`)
  expect(globals).toEqual(['track'])
  expect(errors).toEqual([])
})

test('what is sent while the page goes away arrives, also where the tab is closed', async () => {
  pages['/'] = shopPage()
  pages['/next'] = shopPage()
  await page.goto(shopOrigin)
  await started()
  await page.evaluate(`${event(1)} location.href = '/next'`)
  await page.waitForURL('**/next')
  await started()
  await page.evaluate(`addEventListener('pagehide', () => { ${event(2)} })
    addEventListener('visibilitychange', () => { if (document.hidden) ${event(10)} })`)
  await page.goto(`${shopOrigin}/`)
  await started()
  // More than a browser lets outlive its page: the next page delivers the rest, as much at once.
  await page.evaluate(`addEventListener('pagehide', () => {
    for (let n = 3; n < 9; n++) track.event('shown', { run: '${label}', n, text: 'x'.repeat(15000) })
  })`)
  await page.goto(`${shopOrigin}/next`)
  await started()
  await expect
    .poll(() => revisit().then(() => page.evaluate('Object.keys(localStorage).length')), waiting)
    .toBe(0)
  await expectStored([1, 2, 3, 4, 5, 6, 7, 8, 10])
  await page.evaluate(event(9))
  await page.close()
  await expectStored([1, 2, 3, 4, 5, 6, 7, 8, 9, 10])
})

test('events of a page that is offline arrive as soon as it is back, in whichever tab', async () => {
  pages['/'] = shopPage()
  await page.goto(shopOrigin)
  await started()
  const other = await visits.context.newPage()
  await other.goto(shopOrigin)
  await started(other)
  expect(await other.evaluate('track.getTmpId()')).toBe(await page.evaluate('track.getTmpId()'))
  await visits.context.setOffline(true)
  await page.evaluate(event(1) + event(2))
  await other.evaluate(event(3))
  await expect.poll(() => page.evaluate('Object.keys(localStorage).length'), waiting).toBe(3)
  await visits.context.setOffline(false)
  await expectStored([1, 2, 3])
  await expect.poll(() => page.evaluate('Object.keys(localStorage).length'), waiting).toBe(0)
  expect(errors).toEqual([])
})

test('a service that is down gets its events a minute after, and for half an hour', async () => {
  pages['/'] = shopPage()
  await page.clock.install()
  await page.goto(shopOrigin)
  await started()
  let ended = 0
  const count = (sent: Request) => {
    if (sent.url().includes('/collect/')) ended++
  }
  page.on('requestfinished', count).on('requestfailed', count)
  isDown = true
  await page.evaluate(event(1))
  isDown = 'unavailable'
  await page.evaluate(event(2))
  // What is still under way is not sent again.
  await expect.poll(() => ended, waiting).toBe(2)
  expect(await page.evaluate('Object.keys(localStorage).length')).toBe(2)
  const ids = sentBodies.map(({ eventId }) => eventId)
  await page.clock.fastForward(61_000)
  await expect.poll(() => sentBodies.length, waiting).toBe(4)
  expect(
    sentBodies
      .slice(2)
      .map(({ eventId }) => eventId)
      .toSorted(),
  ).toEqual(ids.toSorted())
  expect(await page.evaluate('Object.keys(localStorage).length')).toBe(2)
  isDown = false
  await page.clock.fastForward(61_000)
  await expectStored([1, 2])

  isDown = 'unavailable'
  await page.evaluate(event(3))
  await expect.poll(() => sentBodies.length, waiting).toBe(7)
  await page.clock.fastForward(31 * 60_000)
  await expect.poll(() => page.evaluate('Object.keys(localStorage).length'), waiting).toBe(0)
  isDown = false
  await page.clock.fastForward(61_000)
  await page.evaluate(event(4))
  await expectStored([1, 2, 4])
})

test('a visitor is one on all subdomains, known by an address or a call', async () => {
  pages['/'] = shopPage()
  await page.goto(`${shopOrigin}/#trk-u=ada%2B1`)
  await started()
  const tmpId = await page.evaluate('track.getTmpId()')
  expect(await page.evaluate('track.getClientId()')).toBe('ada+1')
  expect(await page.evaluate('sessionStorage.trk_clientId')).toBe('ada+1')
  await page.goto(`http://deep.account.shop.test:${shopPort}/`)
  await started()
  expect(await page.evaluate('[track.getTmpId(), track.getClientId()]')).toEqual([tmpId, 'ada+1'])
  await page.evaluate(`track.identify('0'); track.identify({}); track.identify('bob'); ${event(1)}`)
  await expectStored([1])
  expect(sentBodies.at(-1)).toMatchObject({ tmpId, clientId: 'bob' })
  expect(
    sentBodies.filter(({ name }) => name === 'identify').map(({ clientId, data }) => [clientId, data]),
  ).toEqual([
    ['ada+1', {}],
    ['bob', {}],
  ])
  expect(consoleTexts.filter((text) => text.includes('client-id-placeholder'))).toHaveLength(2)
  const cookies = (await visits.context.cookies()).map(({ name, domain }) => [name, domain])
  expect(cookies.toSorted()).toEqual([
    ['trk_clientId', '.shop.test'],
    ['trk_tmpId', '.shop.test'],
  ])
})

test('a frame without cookies and storage sends its events from memory', async () => {
  pages['/'] = html('<iframe sandbox="allow-scripts" src="/frame"></iframe>')
  pages['/frame'] = shopPage(event(1))
  await page.goto(shopOrigin)
  const frame = page.frames()[1]
  await frame?.waitForFunction('window.track?.getTmpId')
  isDown = true
  await frame?.evaluate(event(2))
  await expect.poll(() => sentBodies.length, waiting).toBe(2)
  isDown = false
  await frame?.evaluate(
    `track.identify('cleo'); document.dispatchEvent(new Event('visibilitychange', { bubbles: true }))`,
  )
  await expectStored([1, 2])
  expect(await frame?.evaluate('track.getClientId()')).toBe('cleo')
  expect(new Set(sentBodies.map(({ tmpId }) => tmpId)).size).toBe(1)
  expect(errors).toEqual([])
})

test.each([
  ['cookies', `Object.defineProperty(Document.prototype, 'cookie', { get: () => '', set() {} })`],
  [
    'storage',
    `for (const name of ['localStorage', 'sessionStorage'])
      Object.defineProperty(window, name, { get() { throw new DOMException('blocked', 'SecurityError') } })`,
  ],
])('a browser that blocks %s alone sends its events', async (_, block) => {
  await page.addInitScript(block)
  pages['/'] = shopPage(event(1))
  await page.goto(shopOrigin)
  await started()
  await page.evaluate(`track.identify('dora'); ${event(2)}`)
  await expectStored([1, 2])
  expect(await page.evaluate('track.getClientId()')).toBe('dora')
  expect(new Set(sentBodies.map(({ tmpId }) => tmpId)).size).toBe(1)
  expect(errors).toEqual([])
})

test('a policy without unsafe-inline is kept', async () => {
  policy = `default-src 'none'; script-src 'self' ${collector}; connect-src ${collector}; img-src data:`
  pages['/shop.js'] = `${stub}\n${event(1)}`
  pages['/'] = html(`<script src="/shop.js"></script>${tag()}`)
  await page.goto(shopOrigin)
  await expectStored([1])
  expect(consoleTexts).toEqual([])
})

test('nothing is stored or sent before consent, and nothing is left after it is withdrawn', async () => {
  pages['/'] = shopPage(event(1), '&amp;consent=required')
  const asked: string[] = []
  page.on('request', (sent) => {
    if (sent.url().startsWith(collector)) asked.push(new URL(sent.url()).pathname)
  })
  await page.goto(`${shopOrigin}/?trk-u=ada`)
  await started()
  await page.evaluate(event(2))
  const kept = () =>
    page.evaluate(
      '[document.cookie, localStorage.length, sessionStorage.length, track.getTmpId(), track.getClientId()]',
    )
  expect(await kept()).toEqual(['', 0, 0, undefined, undefined])
  expect(asked).toEqual(['/t.js'])
  await page.evaluate('track.consent(true)')
  await expectStored([1, 2])
  expect(await page.evaluate('track.getClientId()')).toBe('ada')
  await page.evaluate(`track.consent(false); ${event(3)}`)
  expect(await kept()).toEqual(['', 0, 0, undefined, undefined])
  const count = sentBodies.length
  await page.evaluate(`track.consent(true); ${event(4)}`)
  await expectStored([1, 2, 4])
  expect(sentBodies.length).toBe(count + 1)
})

test('consent that is withdrawn in one tab ends the others', async () => {
  pages['/'] = shopPage('', '&amp;consent=required')
  const tabs = [page]
  while (tabs.length < 4) tabs.push(watch(await visits.context.newPage()))
  for (const tab of tabs) {
    await tab.goto(shopOrigin)
    await started(tab)
  }
  const [first, second, third, undecided] = tabs as [Page, Page, Page, Page]
  for (const tab of [first, second, third]) await tab.evaluate('track.consent(true)')
  await second.evaluate(event(1))
  await undecided.evaluate(event(2))
  await expectStored([1])
  await first.evaluate('track.consent(false)')
  const tmpIdOf = (tab: Page) => tab.evaluate('track.getTmpId()')
  for (const tab of [second, third]) {
    await expect.poll(() => tmpIdOf(tab), waiting).toBe(undefined)
    await tab.evaluate(event(3))
    await revisit(tab)
  }
  expect(await first.evaluate('[document.cookie, localStorage.length]')).toEqual(['', 0])
  // Given again in one tab, it is for that one, and for pages that have not asked before.
  await second.evaluate(`track.consent(true); ${event(4)}`)
  await undecided.evaluate('track.consent(true)')
  await expectStored([1, 2, 4])
  expect(await tmpIdOf(third)).toBe(undefined)
  expect(errors).toEqual([])
})

test.each([
  ['a form', '<form id="track"><input name="q"></form>'],
  ['two elements', '<p id="track"></p><p id="track"></p>'],
])('%s of the page with the id track keeps no event back', async (_, elements) => {
  pages['/'] = shopPage(event(1)).replace('<body>', `<body>${elements}`)
  await page.goto(shopOrigin)
  await started()
  await page.evaluate(event(2))
  await expectStored([1, 2])
  expect(errors).toEqual([])
})

test.each([
  ['doNotTrack', `'1'`],
  ['globalPrivacyControl', 'true'],
])('%s counts where the page respects it', async (signal, value) => {
  await page.addInitScript(`Object.defineProperty(navigator, '${signal}', { value: ${value} })`)
  pages['/'] = shopPage(event(1))
  pages['/respect'] = shopPage(event(2), '&amp;signals=respect')
  await page.goto(`${shopOrigin}/respect`)
  await started()
  expect(await page.evaluate('document.cookie')).toBe('')
  expect(sentBodies).toEqual([])
  await page.goto(shopOrigin)
  await expectStored([1])
})

test('an event is sent once a page, and again after a change of the route', async () => {
  pages['/'] = shopPage()
  await page.goto(shopOrigin, { referer: 'https://search.example/' })
  await started()
  await page.evaluate(`${event(1)} ${event(1)} location.hash = 'reviews'; ${event(1)}
    history.replaceState({ scroll: 5 }, '', location.href); ${event(1)}
    history.pushState({}, '', '/other'); ${event(1)}
    history.pushState({}, '', '/third'); history.pushState({}, '', '/other'); ${event(1)}
    location.hash = '#/route'; ${event(1)}`)
  await expect.poll(stored, waiting).toEqual([['shown', 1, 4]])
  expect(sentBodies.map(({ referrer }) => referrer)).toEqual([
    'https://search.example/',
    undefined,
    undefined,
    undefined,
  ])
})

test('what the rules refuse is named on the console, and nothing is thrown into the page', async () => {
  pages['/'] = shopPage()
  await page.goto(shopOrigin)
  await started()
  const refused = await page.evaluate(`(() => {
    const loop = {}
    loop.loop = loop
    track.event()
    track.event({ name: 'shown' })
    track.event('page_view')
    track.event('a', null)
    track.event('b', [])
    track.event('c', { ids: 5 })
    track.event('d', { ids: ['0', null] })
    track.event('purchase', { value: '1,5' })
    track.event('purchase', { value: 'ten' })
    track.event('e', loop)
    track.event('f', { big: 5n })
    track.event('shown', { run: '${label}', n: 1, ids: ['0', 'A'] })
    track.event('purchase', { run: '${label}', n: 2, ids: 'A;B', value: 12.349, transId: 'T1' })
    return true
  })()`)
  expect(refused).toBe(true)
  await expect.poll(stored, waiting).toEqual([
    ['shown', 1, 1],
    ['purchase', 2, 1],
  ])
  expect(sentBodies.map(({ data }) => data)).toMatchObject([
    { ids: ['A'] },
    { ids: ['A', 'B'], value: '12.34' },
  ])
  expect(consoleTexts.slice(0, 2)).toEqual([
    'Millrace undefined required-field-missing',
    'Millrace {name: shown} required-field-missing',
  ])
  expect(consoleTexts.slice(2, 9)).toEqual([
    'Millrace page_view page_view',
    'Millrace a data-not-object',
    'Millrace b data-not-object',
    'Millrace c ids-wrong-type',
    'Millrace d ids-none-left',
    'Millrace purchase purchase-value-joined',
    'Millrace purchase purchase-value-not-number',
  ])
  expect(consoleTexts.slice(9)).toEqual([
    expect.stringMatching(/^Millrace e TypeError/),
    expect.stringMatching(/^Millrace f TypeError/),
    'Millrace shown ids-placeholder',
  ])
  expect(errors).toEqual([])
})

test('the rules decide as in the collector, for each line of their table', async () => {
  pages['/'] = shopPage()
  await page.goto(shopOrigin)
  await started()
  await page.evaluate(`for (const [n, { name, data }] of ${JSON.stringify(eventVectors)}.entries())
    track.event(name, data?.constructor === Object ? { ...data, run: '${label}', n } : data)`)
  const lines = eventVectors.map((vector, n) => ({ ...vector, n }))
  const kept = lines.filter(({ outcome }) => typeof outcome === 'object')
  await expect.poll(stored, waiting).toEqual(kept.map(({ name, n }) => [name, n, 1]))
  expect(sentBodies.map(({ data }) => data)).toMatchObject(kept.map(({ outcome }) => outcome))
  expect(consoleTexts.filter((text) => !text.endsWith('ids-placeholder'))).toEqual(
    lines.flatMap(({ name, outcome }) =>
      typeof outcome === 'string' ? [`Millrace ${name} ${outcome}`] : [],
    ),
  )
  expect(errors).toEqual([])
})

test('nothing that a page or its stub holds is thrown into the page or keeps other events from being sent', async () => {
  const stubbed = `${event(1)}
    track.q.push(undefined, ['page', []], ['event', 5], [])
    const unsteady = { toJSON: () => { if (window.wasRead) throw new Error('read twice'); window.wasRead = 1; return '' } }
    track.event('unsteady', { unsteady })
    ${event(2)}`
  pages['/'] = shopPage(stubbed, '&amp;consent=required')
  await page.goto(shopOrigin)
  await started()
  await page.evaluate(
    `track.ready(() => { throw new Error('of the page') }); ${event(3)} track.consent(true)`,
  )
  await expectStored([1, 2, 3])
  await page.evaluate(`window.fetch = () => { throw new Error('blocked') }; ${event(4)}`)
  await revisit()
  await page.evaluate('setTimeout(() => { window.wasLeft = true })')
  await page.waitForFunction('window.wasLeft')
  expect(errors).toEqual([])
})

test('a wrong address of the script names its fault once on the console', async () => {
  const hostile = encodeURIComponent('");alert(1)//</script>')
  pages['/'] = html(
    `<script async src="${collector}/t.js?company=${hostile}&amp;datasource=${hostile}"></script>`,
  )
  await page.goto(shopOrigin)
  await expect
    .poll(() => consoleTexts, waiting)
    .toEqual([
      'Millrace: t.js was not started: company must be the 24 hexadecimal characters of a company id',
    ])
  expect(errors).toEqual([])
})
