import { readFileSync } from 'node:fs'
import { createServer, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { PageIntegration } from '@millrace/contract/resources/page-integration.ts'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import { transparentImage } from '../../src/features/personalisation/display/reply/transparent-image.ts'
import { browserAbsent, launchBrowser, openVisits, type Visits } from '../support/chromium.ts'

/** What the tracker's second file does with hostile, changing and unready pages, before a server of our own. */

const script = readFileSync(new URL('../../../tracker/dist/t-workflows.js', import.meta.url))
const svg = '<svg xmlns="http://www.w3.org/2000/svg" width="20" height="10"/>'
const waiting = { interval: 50 }

let browser: Browser
let visits: Visits
let page: Page
let site: Server
let siteOrigin = ''
let body = ''
let policy = ''
let settings: PageIntegration[] = []
/** Paths of contents in the order in which they were asked for. */
let asked: string[] = []
/** How a content is answered, by its path. */
let answers: Record<string, (reply: ServerResponse) => unknown> = {}
let complaints: string[] = []

const htmlOf = (text: string) => (reply: ServerResponse) =>
  reply.setHeader('content-type', 'text/html').end(`<b>${text}</b>`)

beforeAll(async () => {
  if (browserAbsent) return
  site = createServer(({ url = '' }, reply) => {
    const { pathname } = new URL(url, siteOrigin)
    if (pathname === '/t-workflows.js') return reply.setHeader('content-type', 'text/javascript').end(script)
    if (pathname === '/t-workflows.json') return reply.end(JSON.stringify({ integrations: settings }))
    if (pathname.startsWith('/r/')) {
      asked.push(pathname)
      return (answers[pathname] ?? htmlOf(pathname))(reply)
    }
    if (pathname.startsWith('/t-code/')) {
      return reply.setHeader('content-type', 'text/javascript').end('document.title += " from code"')
    }
    if (policy) reply.setHeader('content-security-policy', policy)
    reply.setHeader('content-type', 'text/html; charset=utf-8')
    return reply.end(`<!doctype html><head><link rel="icon" href="data:,">
<script nonce="n0nce">track = { getTmpId: () => 'device', getClientId: () => undefined }</script>
<script nonce="n0nce" src="/t-workflows.js?company=a&datasource=b"></script></head><body>${body}</body>`)
  })
  await new Promise<void>((resolve) => site.listen(0, '127.0.0.1', resolve))
  siteOrigin = `http://127.0.0.1:${(site.address() as AddressInfo).port}`
  browser = await launchBrowser()
  visits = await openVisits(browser)
})
afterAll(async () => {
  await browser?.close()
  site?.close()
})
beforeEach(async (context) => {
  if (browserAbsent) context.skip(browserAbsent)
  page = await visits.begin()
  body = '<div id="hero">before</div>'
  asked = []
  answers = {}
  policy = ''
  complaints = []
  page.on('pageerror', ({ message }) => complaints.push(message))
})

const integration = (shortId: string, fields: Partial<PageIntegration> = {}): PageIntegration => ({
  shortId,
  kind: 'html',
  display: `${siteOrigin}/r/${shortId}`,
  click: `${siteOrigin}/r/${shortId}?mode=click`,
  selector: '#hero',
  emplacement: 'replace',
  ...fields,
})

const onlyWhere = (
  operator: 'contains' | 'eq',
  field: string,
  ...values: string[]
): NonNullable<PageIntegration['filters']> => ({ type: 'and', conditions: [{ operator, field, values }] })

async function open(all: PageIntegration[], path = '/'): Promise<void> {
  settings = all
  await page.goto(`${siteOrigin}${path}`, { waitUntil: 'networkidle' })
}
const run = (text: string): Promise<unknown> => page.evaluate(text)
/** Text of the page from top to bottom, with that of contents, without what is hidden. */
const shown = () =>
  page.evaluate(() => {
    const texts: string[] = []
    const walk = (node: Node): void => {
      if (node instanceof HTMLElement && (node.hidden || /^(SCRIPT|STYLE)$/.test(node.tagName))) return
      if (node instanceof Text && node.data.trim()) texts.push(node.data.trim())
      if (node instanceof Element && node.shadowRoot)
        for (const each of node.shadowRoot.childNodes) walk(each)
      for (const each of node.childNodes) walk(each)
    }
    walk(document.body)
    return texts
  })
const becomes = (...texts: string[]) => expect.poll(shown, waiting).toEqual(texts)
/** Longer than the script waits before it looks again. */
const aWhile = () => new Promise((resolve) => setTimeout(resolve, 400))

it('puts contents beside a place in the order of their integrations, in whichever order they come', async () => {
  let held: ServerResponse | undefined
  answers['/r/a1'] = (reply) => {
    held = reply
  }
  settings = [
    integration('a1', { emplacement: 'before' }),
    integration('a2', { emplacement: 'before' }),
    integration('z1', { emplacement: 'after' }),
    integration('z2', { emplacement: 'after' }),
    integration('fill'),
  ]
  await page.goto(siteOrigin)
  await becomes('/r/a2', '/r/fill', '/r/z1', '/r/z2')
  if (held) htmlOf('/r/a1')(held)
  await becomes('/r/a1', '/r/a2', '/r/fill', '/r/z1', '/r/z2')
})

it('gives a place to the first integration that has content for it', async () => {
  answers['/r/none'] = (reply) => reply.writeHead(204).end()
  answers['/r/down'] = (reply) => reply.writeHead(500).end()
  await open([integration('none'), integration('down'), integration('first'), integration('second')])
  await becomes('/r/first')
  await aWhile()
  expect(asked).toEqual(['/r/none', '/r/down', '/r/first'])
  expect(complaints).toEqual([])
})

it('leaves a place alone that the server or a snippet has filled, and does not put the same in twice', async () => {
  body = '<div id="hero" data-trk-shown>from the server</div><div data-trk-content="beside">pasted</div>'
  await open([integration('fill'), integration('beside', { emplacement: 'before' })])
  await aWhile()
  expect([await shown(), asked]).toEqual([['from the server', 'pasted'], []])
  await run(
    `void document.head.append(Object.assign(document.createElement('script'), { src: '/t-workflows.js?company=a&datasource=b' }))`,
  )
  await aWhile()
  expect(asked).toEqual([])
})

it('waits for places that come later, and goes where a framework draws its place again', async () => {
  body = '<main></main>'
  await open([integration('fill'), integration('beside', { emplacement: 'after' })])
  const draw = () => run(`void (document.querySelector('main').innerHTML = '<p id="hero">drawn</p>')`)
  await draw()
  await becomes('/r/fill', '/r/beside')
  await draw()
  await becomes('/r/fill', '/r/beside')
  expect(asked, 'the same page asks once').toEqual(['/r/fill', '/r/beside'])
})

it('gives up on a page that always takes the content away', async () => {
  await open([integration('fill')])
  await run(`void new MutationObserver(() => {
    if (document.querySelector('#hero > div')) {
      window.undone = (window.undone ?? 0) + 1
      document.querySelector('#hero').textContent = 'mine'
    }
  }).observe(document, { childList: true, subtree: true })`)
  await run(`void (document.querySelector('#hero').textContent = 'mine')`)
  await expect.poll(() => run('undone'), waiting).toBe(9)
  await aWhile()
  await aWhile()
  expect([await run('undone'), asked]).toEqual([9, ['/r/fill']])
})

it('ends where content makes another element that the selector finds', async () => {
  body = `<script>addEventListener('trk-content', ({ target }) => {
    target.insertAdjacentHTML('beforebegin', '<div class="card">made</div>')
  })</script><div class="card">card</div>`
  await open([integration('beside', { selector: '.card', emplacement: 'before' })])
  await becomes('/r/beside', 'made', 'card')
  await aWhile()
  expect([await shown(), asked]).toEqual([['/r/beside', 'made', 'card'], ['/r/beside']])
})

it('is harmless where a selector is none, and where an image is blank or broken', async () => {
  answers['/r/blank'] = (reply) => reply.setHeader('content-type', 'image/png').end(transparentImage)
  answers['/r/broken'] = (reply) => reply.setHeader('content-type', 'image/png').end('no image')
  answers['/r/image'] = (reply) => reply.setHeader('content-type', 'image/svg+xml').end(svg)
  const warnings: string[] = []
  page.on('console', (message) => warnings.push(message.text()))
  await open([
    integration('bad', { selector: '##' }),
    integration('blank', { kind: 'image' }),
    integration('broken', { kind: 'image' }),
  ])
  await expect.poll(() => asked, waiting).toEqual(['/r/blank', '/r/broken'])
  await becomes('before')
  await run(`void document.body.append('more')`)
  await aWhile()
  expect(warnings.filter((text) => text.includes('##'))).toHaveLength(1)
  expect(complaints).toEqual([])
  settings = [integration('image', { kind: 'image' })]
  await page.reload()
  await expect
    .poll(
      () => run(`document.querySelector('#hero > div')?.shadowRoot.querySelector('a > img').src`),
      waiting,
    )
    .toContain('/r/image?trk-t=device')
})

it('follows routes: filters again, contents anew, what was there before where nothing is', async () => {
  const filters = onlyWhere('contains', 'url', '/a', '#/a')
  await open([integration('fill', { filters })], '/a')
  await becomes('/r/fill')
  await run(`history.pushState({}, '', '/b')`)
  await becomes('before')
  await run(`history.back()`)
  await becomes('/r/fill')
  expect(asked).toHaveLength(2)
  await run(`void history.replaceState({}, '', '/a?page=2#part')`)
  await aWhile()
  expect(asked, 'parameters and parts are no other page').toHaveLength(2)
  await run(`location.hash = '#/b'`)
  await expect.poll(() => asked.length, waiting).toBe(3)
  await becomes('/r/fill')
})

it('shows what the page shows last, however long the former content takes', async () => {
  const held: ServerResponse[] = []
  answers['/r/fill'] = (reply) => held.push(reply)
  settings = [integration('fill')]
  await page.goto(`${siteOrigin}/a`)
  await expect.poll(() => held.length, waiting).toBe(1)
  await run(`history.pushState({}, '', '/b')`)
  await expect.poll(() => held.length, waiting).toBe(2)
  const [first, second] = held
  if (second) htmlOf('second')(second)
  await becomes('second')
  if (first && !first.destroyed) htmlOf('first')(first)
  await aWhile()
  expect(await shown()).toEqual(['second'])
})

it('says on a place whether its content is on the way, there, or will not come', async () => {
  const held: ServerResponse[] = []
  answers['/r/slow'] = (reply) => held.push(reply)
  answers['/r/none'] = (reply) => reply.writeHead(204).end()
  const states = () =>
    run(`[...document.querySelectorAll('p')].map((place) => place.dataset.trkShown ?? 'open')`)
  body = '<p id="slow">1</p><p id="none">2</p><p id="other">3</p><p id="waiting">4</p>'
  const elsewhere = onlyWhere('eq', 'a', '1')
  settings = [
    integration('slow', { selector: '#slow' }),
    integration('none', { selector: '#none' }),
    integration('other', { selector: '#other', filters: elsewhere }),
    integration('waiting', { selector: '#waiting', waitForEvents: ['never'] }),
  ]
  await page.goto(siteOrigin)
  await expect.poll(states, waiting).toEqual(['pending', 'no', 'no', 'open'])
  const [slow] = held
  if (slow) htmlOf('there')(slow)
  await expect.poll(states, waiting).toEqual(['yes', 'no', 'no', 'open'])
})

it('has scripts of contents and of code run under a nonce, and loads code beside itself', async () => {
  policy = `script-src 'nonce-n0nce' 'strict-dynamic'; style-src 'none'`
  answers['/r/fill'] = (reply) =>
    reply
      .setHeader('content-type', 'text/html')
      .end(
        `<style>b { color: rgb(1, 2, 3) }</style><b onclick="evil()">new</b><script>document.title += ' inline'</script>`,
      )
  await open([integration('fill', { codePath: 't-code/a/fill-x.js' })])
  await becomes('new')
  await expect.poll(() => page.title(), waiting).toBe('inline from code')
  expect(
    await run(`getComputedStyle(document.querySelector('#hero > div').shadowRoot.querySelector('b')).color`),
  ).toBe('rgb(1, 2, 3)')
})

it('stays on its own site', async () => {
  await open([integration('fill', { domain: 'shop.example' }), integration('own', { domain: '127.0.0.1' })])
  await becomes('/r/own')
  expect(asked).toEqual(['/r/own'])
})

it('hands JSON to each element that takes the place', async () => {
  answers['/r/data'] = (reply) => reply.setHeader('content-type', 'application/json').end('{"title":"Hi"}')
  body = `<script>addEventListener('trk-content', ({ target, detail }) => { target.textContent = detail.title })</script>
<main><p id="hero">before</p></main>`
  await open([integration('data', { kind: 'json' })])
  await becomes('Hi')
  await run(`void (document.querySelector('main').innerHTML = '<p id="hero">again</p>')`)
  await becomes('Hi')
  expect(asked).toEqual(['/r/data'])
})

it('is looked at by a visitor who has never been anywhere, in each test', async () => {
  await page.goto(siteOrigin)
  const traces = '[document.cookie, localStorage.trace, sessionStorage.trace, window.name]'
  const cached = 'caches.keys()'
  await run(
    `document.cookie = 'trace=1; max-age=999'; localStorage.trace = sessionStorage.trace = window.name = '1'; caches.open('trace')`,
  )
  expect(await run(traces)).toEqual(['trace=1', '1', '1', '1'])
  expect(await run(cached)).toEqual(['trace'])
  page = await visits.begin()
  await page.goto(siteOrigin)
  expect(await run(traces)).toEqual(['', undefined, undefined, ''])
  expect(await run(cached)).toEqual([])
})
