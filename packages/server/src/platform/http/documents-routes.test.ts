import { allOperations } from '@millrace/contract/operations/all.ts'
import { createToken } from '@millrace/contract/operations/auth.ts'
import { collectEvents } from '@millrace/contract/operations/collector.ts'
import { runQuery } from '@millrace/contract/operations/statistics.ts'
import type { FastifyInstance } from 'fastify'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { silentLogger } from '../logger.ts'
import { documentsRoutes } from './documents-routes.ts'
import { createHttpServer } from './server.ts'

const addresses = { baseUrl: 'https://stats.example/v2', collectorUrl: 'https://collect.example' }

async function serverWith(operations: readonly { method: string; url: string }[]): Promise<FastifyInstance> {
  const app = createHttpServer({ logger: silentLogger, trustedProxies: [] })
  for (const { method, url } of operations) app.route({ method, url, handler: async () => ({}) })
  await app.register(
    documentsRoutes({ operations: allOperations, version: '1.2.3', addresses: () => addresses }),
  )
  return app
}

const app = await serverWith([createToken, runQuery, collectEvents])
const everything = await serverWith(allOperations)

beforeAll(() => Promise.all([app.ready(), everything.ready()]))
afterAll(() => Promise.all([app.close(), everything.close()]))

const html = { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' }

test('serves the OpenAPI document of the operations that are routed, and of no others', async () => {
  const reply = await app.inject('/v2/openapi.json')
  expect(reply.statusCode).toBe(200)
  expect(reply.headers['content-type']).toBe('application/json; charset=utf-8')
  expect(reply.json()).toMatchObject({
    openapi: '3.1.0',
    info: { title: 'Millrace', version: '1.2.3' },
    servers: [{ url: 'https://stats.example/v2' }],
  })
  expect(Object.keys(reply.json().paths)).toEqual([
    '/auth/token',
    '/statistics/query',
    '/collect/{datasourceId}/tracker',
  ])
  const paths = (await everything.inject('/v2/openapi.json')).json().paths
  expect(
    Object.values<object>(paths)
      .flatMap((item) => Object.keys(item))
      .filter((key) => key !== 'servers'),
  ).toHaveLength(allOperations.length)
})

test('shows each routed operation in the reference, grouped by tag', async () => {
  const reply = await everything.inject({ url: '/docs', headers: html })
  expect(reply.headers['content-type']).toBe('text/html; charset=utf-8')
  for (const { id, method, url } of allOperations) {
    expect(reply.body).toContain(`<article id="${id}">`)
    expect(reply.body).toContain(
      `<span class="method ${method}">${method}</span><code>${url.replaceAll(/:(\w+)/g, '{$1}')}</code>`,
    )
  }
  expect(reply.body).toContain('<code>purchase-value-joined</code>')
  const small = await app.inject('/docs')
  expect(small.body.match(/<article /g)).toHaveLength(4)
  expect(small.body).not.toContain('id="tag-provisioning"')
  expect(reply.body).toContain('id="tag-provisioning"')
})

test('the reference names permissions, fields, failures and commands with the real addresses', async () => {
  const { body } = await everything.inject('/docs')
  expect(body).toContain('Needs Workflow settings: delete')
  expect(body).toContain('<code>filters[].operator</code>')
  expect(body).toContain('<td>9000</td><td>Unable to find experiment</td>')
  expect(body).toContain('curl -sS https://stats.example/v2/statistics/query')
  expect(body).toContain('https://collect.example/collect/65f0c0ffee5ca1ab1e0ddba1/tracker')
})

test('pages run nothing and allow only their own style and pictures of the service', async () => {
  for (const url of ['/docs', '/docs/statistics', '/docs/nothing']) {
    const { body, headers } = await everything.inject({ url, headers: html })
    expect(body).not.toMatch(/<script|\son\w+=|javascript:|style="|<link[^>]+href="https?:|@import|url\(/i)
    expect(headers['content-security-policy']).toMatch(
      /^default-src 'none'; style-src 'sha256-[\w+/=]{44}'; img-src 'self' data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'$/,
    )
    expect(headers['x-content-type-options']).toBe('nosniff')
  }
})

test('every anchor of the reference leads somewhere, and no id stands twice', async () => {
  const { body } = await everything.inject('/docs')
  const ids = [...body.matchAll(/\sid="([^"]+)"/g)].map(([, id]) => id)
  expect(ids).toEqual([...new Set(ids)])
  for (const [, target] of body.matchAll(/href="#([^"]+)"/g)) expect(ids).toContain(target)
})

test('a browser goes to the console, where there is one', async () => {
  const served = createHttpServer({ logger: silentLogger, trustedProxies: [] })
  await served.register(
    documentsRoutes({ operations: [], version: '1', addresses: () => addresses, home: '/console/' }),
  )
  const { statusCode, headers } = await served.inject({ url: '/', headers: html })
  expect([statusCode, headers.location, headers.vary]).toEqual([302, '/console/', 'Accept'])
  expect((await served.inject('/')).headers['content-type']).toBe('text/plain; charset=utf-8')
  await served.close()
})

test('a terminal gets the first page as plain text', async () => {
  const { body, headers } = await app.inject({ url: '/', headers: { accept: '*/*' } })
  expect(headers['content-type']).toBe('text/plain; charset=utf-8')
  expect(headers.vary).toBe('Accept, Accept-Encoding')
  expect(body).toContain('https://stats.example/docs')
  expect(body).not.toContain('<')
})

test('a document that is known is not sent again', async () => {
  for (const url of [
    '/v2/openapi.json',
    '/docs',
    '/docs/statistics',
    '/docs/statistics.md',
    '/llms.txt',
    '/llms-full.txt',
    '/',
  ]) {
    const first = await app.inject(url)
    const again = await app.inject({ url, headers: { 'if-none-match': `${String(first.headers.etag)}` } })
    expect([again.statusCode, again.body]).toEqual([304, ''])
  }
})

test('shows a page of docs/ with all pages beside it, and the same as Markdown', async () => {
  const reply = await app.inject({ url: '/docs/workflows', headers: html })
  expect(reply.headers['content-type']).toBe('text/html; charset=utf-8')
  expect(reply.body).toContain('<title>Workflows · Millrace</title>')
  expect(reply.body).toContain('<h1>Workflows</h1>')
  expect(reply.body).toContain('<h2 id="quick-start">')
  expect(reply.body).toContain('<a href="/docs/statistics#workflows">')
  expect(reply.body).toContain('<a href="/docs/workflows" aria-current="page">')
  expect(reply.body).toContain('<a href="/docs/interface">')
  const markdown = await app.inject('/docs/workflows.md')
  expect(markdown.headers['content-type']).toBe('text/markdown; charset=utf-8')
  expect(markdown.body).toMatch(/^# Workflows\n/)
})

test('shows pictures of docs/, which browsers keep for an hour', async () => {
  const { body } = await app.inject({ url: '/docs/console', headers: html })
  const pictures = [...body.matchAll(/<img src="([^"]+)" alt="[^"]+" loading="lazy">/g)].map(
    ([, src = '']) => src,
  )
  expect(pictures.length).toBeGreaterThan(5)
  for (const url of pictures) {
    const { statusCode, headers, rawPayload } = await app.inject(url)
    expect([statusCode, headers['content-type'], headers['cache-control']]).toEqual([
      200,
      'image/webp',
      'public, max-age=3600',
    ])
    expect(rawPayload.length).toBeLessThanOrEqual(60_000)
    const again = await app.inject({ url, headers: { 'if-none-match': String(headers.etag) } })
    expect(again.statusCode).toBe(304)
  }
})

test.for(['nothing.webp', '..%2fsecret.webp', '%2e%2e%2f%2e%2e%2fpackage.json', 'a%00.webp', ''])(
  'has no picture %s',
  async (name) => {
    const { statusCode } = await app.inject(`/docs/pictures/${name}`)
    expect(statusCode).toBe(404)
  },
)

test('writes the addresses of the service into the commands of a page', async () => {
  for (const url of ['/docs/workflows', '/docs/workflows.md', '/llms-full.txt']) {
    const { body } = await app.inject(url)
    expect(body).toContain('U=https://stats.example\n')
    expect(body.includes('http://127.0.0.1:8080')).toBe(false)
  }
})

test('no document names the host that a request claims, behind a proxy too', async () => {
  const proxied = createHttpServer({ logger: silentLogger, trustedProxies: ['127.0.0.1'] })
  await proxied.register(
    documentsRoutes({ operations: allOperations, version: '1.2.3', addresses: () => addresses }),
  )
  const claimed = {
    host: 'evil.example',
    'x-forwarded-host': 'evil.example',
    'x-forwarded-proto': 'https',
    forwarded: 'host=evil.example',
  }
  for (const url of ['/', '/docs', '/docs/workflows', '/docs/workflows.md', '/llms.txt', '/v2/openapi.json'])
    for (const accept of ['text/html', '*/*']) {
      const reply = await proxied.inject({ url, headers: { ...claimed, accept } })
      expect([reply.statusCode, reply.body.includes('evil.example')]).toEqual([200, false])
      expect(JSON.stringify(reply.headers)).not.toContain('evil.example')
    }
  await proxied.close()
})

test('the reference begins with the list of all pages', async () => {
  const { body } = await app.inject({ url: '/docs', headers: html })
  expect(body.indexOf('<a href="/docs/workflows">Workflows</a>')).toBeGreaterThan(0)
  expect(body.indexOf('<a href="/docs/workflows">Workflows</a>')).toBeLessThan(body.indexOf('<article '))
})

test('answers an address below /docs without a page by 404, to browsers as a page with the list of all', async () => {
  for (const url of ['/docs/nothing', '/docs/..%2fpackage.json', `/docs/nothing${'.md'}`, '/docs/a%00']) {
    const page = await app.inject({ url, headers: html })
    expect(page.statusCode).toBe(404)
    expect(page.body).toContain('<h1>No such page</h1>')
    expect(page.body).toContain('<a href="/docs/workflows">')
    expect(page.headers).toMatchObject({ vary: 'Accept', 'cache-control': 'no-store' })
    // Not even where the request names what an answer before may have had as its tag.
    const again = { ...html, 'if-none-match': String(page.headers.etag) }
    expect((await app.inject({ url, headers: again })).statusCode).toBe(404)
    const failure = await app.inject({ url, headers: { accept: 'application/json' } })
    expect([failure.statusCode, failure.json().error_code]).toEqual([404, 6])
  }
})

test('lists all pages for language models, and gives them as one text', async () => {
  const list = await app.inject('/llms.txt')
  expect(list.headers['content-type']).toBe('text/plain; charset=utf-8')
  expect(list.body).toMatch(/^# Millrace\n\n> /)
  const links = [...list.body.matchAll(/^- \[[^\]]+\]\(https:\/\/stats\.example(\/[^)]+)\): .+$/gm)].map(
    ([, path]) => path ?? '',
  )
  expect(links).toContain('/docs/statistics.md')
  for (const path of links) expect((await app.inject(path)).statusCode).toBe(200)
  const whole = (await app.inject('/llms-full.txt')).body
  for (const path of links.filter((each) => each.endsWith('.md')))
    expect(whole).toContain((await app.inject(path)).body.trim())
})
