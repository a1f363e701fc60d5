import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Integration } from '@millrace/contract/resources/workflow-integration.ts'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import { snippetOf } from '../../src/features/personalisation/integrations/snippet.ts'
import { browserAbsent, launchBrowser, openVisits, type Visits } from '../support/chromium.ts'

/** Snippets in a real page, before a server that answers as the runner does. */

let browser: Browser
let visits: Visits
let page: Page
let site: Server
let runner: Server
let html = ''
/** Parameters of each address that the runner was asked for. */
let asked: URLSearchParams[] = []
let status = 200
const svg = '<svg xmlns="http://www.w3.org/2000/svg" width="20" height="10"/>'

const listen = async (server: Server): Promise<Server> => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return server
}
const originOf = (server: Server) => `http://127.0.0.1:${(server.address() as AddressInfo).port}`

beforeAll(async () => {
  if (browserAbsent) return
  site = await listen(
    createServer((_, reply) => reply.setHeader('content-type', 'text/html; charset=utf-8').end(html)),
  )
  runner = await listen(
    createServer(({ url = '' }, reply) => {
      if (url.startsWith('/r/')) asked.push(new URL(url, 'http://runner').searchParams)
      reply.setHeader('access-control-allow-origin', '*')
      reply.statusCode = status
      if (url.startsWith('/r/json')) reply.setHeader('content-type', 'application/json').end('{"title":"Hi"}')
      else if (url.startsWith('/r/image')) reply.setHeader('content-type', 'image/svg+xml').end(svg)
      else reply.setHeader('content-type', 'text/html').end(status === 200 ? '<p>For you</p>' : '')
    }),
  )
  browser = await launchBrowser()
  visits = await openVisits(browser)
})
afterAll(async () => {
  await browser?.close()
  site?.close()
  runner?.close()
})
beforeEach(async (context) => {
  if (browserAbsent) context.skip(browserAbsent)
  asked = []
  status = 200
  page = await visits.begin()
})

const integration = (fields: Partial<Integration> = {}): Integration => ({
  id: '65f0c0ffee5ca1ab1e0ddba1',
  workflowId: '65f0c0ffee5ca1ab1e0ddba2',
  shortId: 'html',
  entrypointId: 'zone',
  entrypointState: 'live',
  type: 'web',
  format: 'embed-html',
  outputTypes: ['html'],
  parameters: {},
  display: `${originOf(runner)}/r/html?own=1`,
  click: `${originOf(runner)}/r/html?own=1&mode=click`,
  enabled: true,
  selector: '#hero',
  emplacement: 'replace',
  createdAt: '2026-01-01T00:00:00.000Z',
  updatedAt: '2026-01-01T00:00:00.000Z',
  ...fields,
})

/** Opens a page that has the snippet in its head, and waits until no request is under way. */
async function open(fields: Partial<Integration>, search = '', after = ''): Promise<void> {
  html = `<!doctype html><head><script>window.heard=[];addEventListener('trk-content',e=>heard.push(e.detail))</script>
${snippetOf(integration(fields))}</head><body><div id="hero">before</div><i>rest</i>${after}</body>`
  await page.goto(`${originOf(site)}/shop${search}`, { waitUntil: 'networkidle' })
}
const read = (script: string): Promise<unknown> => page.evaluate(script)
const shown =
  '[...document.querySelectorAll("div")].map(e => e.shadowRoot ? e.shadowRoot.textContent : e.textContent)'

it('fills the place, apart from the styles of the page, with the visitor of the tracker', async () => {
  await page.context().addCookies([
    { name: 'trk_clientId', value: 'ada%201', url: originOf(site) },
    { name: 'trk_tmpId', value: 'device', url: originOf(site) },
  ])
  await open({ code: 'window.ran = document.querySelector("#hero div").shadowRoot.textContent' })
  expect(await read(shown)).toEqual(['', 'For you'])
  expect(await read('ran')).toBe('For you')
  expect(await read('heard.length')).toBe(1)
  expect(asked.map((each) => Object.fromEntries(each))).toEqual([
    { own: '1', 'trk-u': 'ada 1', 'trk-t': 'device', 'trk-referer': `${originOf(site)}/shop` },
  ])
  await page.context().clearCookies()
})

it('stands before or after the place, or where it was pasted', async () => {
  await open({ emplacement: 'before' })
  expect(await read(shown)).toEqual(['For you', 'before'])
  await open({ emplacement: 'after' })
  expect(await read(shown)).toEqual(['before', 'For you'])
  html = `<!doctype html><body><div>before</div>${snippetOf({ ...integration(), selector: undefined } as never)}<div>after</div>`
  await page.goto(`${originOf(site)}/shop`, { waitUntil: 'networkidle' })
  expect(await read(shown)).toEqual(['before', 'For you', 'after'])
})

it('passes on the address of the page and paths of the data layer where the settings say so', async () => {
  await page.addInitScript('window.dataLayer = [{ user: { segment: "gold", list: [1] } }]')
  const includeDatalayerPath = ['user.segment', 'user.list', 'user.none.at.all', '__proto__.polluted']
  await open({ includeContext: true, includeDatalayerPath }, '?a=1&mode=click&own=2&trk-u=eve')
  expect(Object.fromEntries(asked[0] ?? [])).toMatchObject({
    own: '1',
    a: '1',
    segment: 'gold',
    'trk-u': 'eve',
  })
  expect([...(asked[0]?.keys() ?? [])].toSorted()).toEqual(['a', 'own', 'segment', 'trk-referer', 'trk-u'])
  await open({}, '?a=1')
  expect(asked[1]?.has('a')).toBe(false)
})

it('is shown on the pages that the filters say', async () => {
  const condition = (operator: string, field: string, ...values: string[]) => ({ operator, field, values })
  const cases = [
    ['?a=x', true, 'and', condition('eq', 'a', 'x', 'y'), condition('nempty', 'a')],
    ['?a=x', false, 'and', condition('eq', 'a', 'x'), condition('ne', 'a', 'x', 'y')],
    ['?a=x', true, 'or', condition('empty', 'a'), condition('contains', 'url', 'nowhere', '/shop')],
    ['?a=x', false, 'or', condition('empty', 'a'), condition('notcontains', 'url', 'nowhere', '/shop')],
    ['', true, 'and', condition('eq', 'isLogged', 'false'), condition('empty', 'trk-u')],
    ['?trk-u=ada', true, 'and', condition('eq', 'isLogged', 'true'), condition('eq', 'trk-u', 'ada')],
  ] as const
  for (const [search, isShown, type, ...conditions] of cases) {
    asked = []
    await open({ filters: { type, conditions: conditions as never } }, search)
    expect(asked.length, JSON.stringify([search, type, conditions])).toBe(isShown ? 1 : 0)
  }
})

it('waits for one of its events, and comes once', async () => {
  const waitForEvents = ['consent', 'login']
  await open({ waitForEvents })
  expect(asked).toHaveLength(0)
  await read('void dataLayer.push({ event: "scroll" })')
  await read('void dataLayer.push({ event: "login" }, null)')
  await read('void dataLayer.push({ event: "consent" })')
  await page.waitForLoadState('networkidle')
  await expect.poll(() => read(shown)).toEqual(['', 'For you'])
  expect(asked).toHaveLength(1)
  expect(await read('dataLayer.length')).toBe(4)
  await open({ waitForEvents }, '', '<script>dataLayer.push({ event: "consent" })</script>')
  expect(asked).toHaveLength(2)
})

it('leaves the page alone without content, without the place, and hands JSON to the page', async () => {
  status = 204
  await open({})
  expect(await read(shown)).toEqual(['before'])
  status = 200
  await open({ selector: '#nowhere' })
  expect(await read(shown)).toEqual(['before'])
  await open({ format: 'json', display: `${originOf(runner)}/r/json` })
  expect(await read('heard')).toEqual([{ title: 'Hi' }])
  expect(await read(shown)).toEqual(['before'])
  await open({ format: 'embed-image', display: `${originOf(runner)}/r/image?x=1` })
  expect(
    await read('document.querySelector("#hero div").shadowRoot.querySelector("a[href*=click] img").src'),
  ).toContain('/r/image?x=1')
})
