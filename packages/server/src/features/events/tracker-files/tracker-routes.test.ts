import { createHash } from 'node:crypto'
import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { createHttpServer } from '../../../platform/http/server.ts'
import { silentLogger } from '../../../platform/logger.ts'
import { trackerRoutes } from './tracker-routes.ts'
import { readTrackerScripts } from './tracker-scripts.ts'

const company = '65a1b2c3d4e5f60718293a4b'
const datasource = '65a1b2c3d4e5f60718293a4c'
const address = `/t.js?company=${company}&datasource=${datasource}`

const scripts = readTrackerScripts()
const app = createHttpServer({ logger: silentLogger, trustedProxies: [] })
let findCompany: (datasourceId: string) => Promise<string | undefined>
let integrationsScript: () => Promise<string | undefined>

beforeAll(() =>
  app.register(
    trackerRoutes({
      scripts,
      findCompany: (id) => findCompany(id),
      integrationsScript: () => integrationsScript(),
    }),
  ),
)
beforeEach(() => {
  findCompany = async (id) => (id === datasource ? company : undefined)
  integrationsScript = async () => undefined
})
afterAll(() => app.close())

test('the script is one for all pages, cached for five minutes and open to every site', async () => {
  const { statusCode, headers, body } = await app.inject(address)
  expect(statusCode).toBe(200)
  expect(body).toBe(scripts.base)
  expect(headers).toMatchObject({
    'content-type': 'text/javascript; charset=utf-8',
    'cache-control': 'public, max-age=300',
    'access-control-allow-origin': '*',
    'cross-origin-resource-policy': 'cross-origin',
    'timing-allow-origin': '*',
    'x-content-type-options': 'nosniff',
    vary: 'Accept-Encoding',
  })
  const again = await app.inject({ url: address, headers: { 'if-none-match': String(headers.etag) } })
  expect([again.statusCode, again.body]).toEqual([304, ''])
})

test.each([
  ['br', 'br'],
  ['gzip, deflate, br, zstd', 'br'],
  ['gzip', 'gzip'],
  ['br;q=0, gzip;q=0.5', 'gzip'],
  ['br;q=0.0', undefined],
  ['identity', undefined],
])('with Accept-Encoding %j it is sent as %s', async (accepted, encoding) => {
  const { headers, rawPayload } = await app.inject({ url: address, headers: { 'accept-encoding': accepted } })
  expect(headers['content-encoding']).toBe(encoding)
  const text =
    encoding === 'br'
      ? brotliDecompressSync(rawPayload)
      : encoding === 'gzip'
        ? gunzipSync(rawPayload)
        : rawPayload
  expect(text.toString()).toBe(scripts.base)
})

test('ids in upper case are the same ids', async () => {
  const { body } = await app.inject(
    address
      .toUpperCase()
      .replace('/T.JS', '/t.js')
      .replace('COMPANY', 'company')
      .replace('DATASOURCE', 'datasource'),
  )
  expect(body).toBe(scripts.base)
})

test.each([
  ['', 'company'],
  [`company=${company}`, 'datasource'],
  [`company=${company}&company=${company}&datasource=${datasource}`, 'company'],
  [`company=${encodeURIComponent('");alert(1)//')}&datasource=${datasource}`, 'company'],
  [`company=${company}&datasource=${company}`, 'this id'],
  [`company=${datasource}&datasource=${datasource}`, 'belongs to this company'],
])('a page that asks with %j reads what is wrong, and nothing of the address', async (query, named) => {
  const { statusCode, headers, body } = await app.inject(`/t.js?${query}`)
  expect(statusCode).toBe(200)
  expect(headers['cache-control']).toBe('no-store')
  expect(body).toMatch(/^console\.error\("[^"\\]*"\);$/)
  expect(body).toContain(named)
  expect(body).not.toContain('alert')
})

test('the script is there while the store is down, and while integrations cannot be read', async () => {
  integrationsScript = () => Promise.reject(new Error('down'))
  const without = await app.inject(address)
  expect(without.body).toBe(scripts.base)
  expect(without.headers['cache-control']).toBe('no-cache')
  findCompany = () => Promise.reject(new Error('down'))
  const { headers, body } = await app.inject(address)
  expect(body).toBe(scripts.base)
  expect(headers['cache-control']).toBe('no-cache')
})

test('a company with integrations gets a line that loads the second file, whatever its path', async () => {
  integrationsScript = async () => '/t-workflows-</script>".js'
  const { body, headers } = await app.inject(address)
  expect(body.startsWith(`${scripts.base};`)).toBe(true)
  expect(body).not.toContain('</script>')
  expect(() => new Function(body)).not.toThrow()
  integrationsScript = async () => undefined
  expect((await app.inject(address)).headers.etag).not.toBe(headers.etag)
})

test('the immutable copy has the hash that is named, and no other is there', async () => {
  const { path, integrity } = (await app.inject('/t.json')).json() as { path: string; integrity: string }
  const { body, headers } = await app.inject(path)
  expect(headers['cache-control']).toBe('public, max-age=31536000, immutable')
  expect(integrity).toBe(`sha384-${createHash('sha384').update(body).digest('base64')}`)
  expect((await app.inject('/t-0000000000000000.js')).statusCode).toBe(404)
})
