import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { brotliCompressSync, brotliDecompressSync, gunzipSync, gzipSync } from 'node:zlib'
import Fastify from 'fastify'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { consoleRoutes } from './console-routes.ts'

const script = 'console.log("é")\n'
const folder = mkdtempSync(join(tmpdir(), 'millrace-console-'))
const app = Fastify()
const unbuilt = Fastify()

beforeAll(async () => {
  const built = join(folder, 'dist')
  mkdirSync(join(built, 'assets'), { recursive: true })
  writeFileSync(
    join(built, 'index.html'),
    '<meta name="client" content="%CLIENT%"><script nonce="%NONCE%"></script><style nonce="%NONCE%"></style>',
  )
  writeFileSync(join(built, 'assets/main-a1B_2.js'), script)
  writeFileSync(join(built, 'assets/main-a1B_2.js.gz'), gzipSync(script))
  writeFileSync(join(built, 'assets/main-a1B_2.js.br'), brotliCompressSync(script))
  writeFileSync(join(built, 'assets/icon-1.svg'), '<svg/>')
  writeFileSync(join(folder, 'secret.json'), '{}')
  const directory = pathToFileURL(`${built}/`)
  await app.register(consoleRoutes({ clientId: 'a client', directory }))
  await unbuilt.register(consoleRoutes({ clientId: 'a client', directory: pathToFileURL(`${folder}/none/`) }))
})

afterAll(async () => {
  await app.close()
  await unbuilt.close()
  rmSync(folder, { recursive: true })
})

const nonceOf = (body: string) => /script nonce="([^"]+)"/.exec(body)?.[1] ?? ''

test.each(['/console/', '/console/explore?range=30d', '/console/saved/1', '/console/nowhere'])(
  '%s is the page, under a policy that runs nothing but its own',
  async (url) => {
    const { statusCode, headers, body } = await app.inject({ url })
    expect(statusCode).toBe(200)
    expect(headers).toMatchObject({
      'content-type': 'text/html; charset=utf-8',
      'cache-control': 'no-store',
      'referrer-policy': 'same-origin',
      'cross-origin-opener-policy': 'same-origin',
    })
    expect(body).toContain('content="a client"')
    const policy = String(headers['content-security-policy'])
    expect(policy.split('; ')).toEqual(
      expect.arrayContaining([
        "default-src 'none'",
        `script-src 'self' 'nonce-${nonceOf(body)}'`,
        "connect-src 'self'",
        "frame-ancestors 'none'",
        "require-trusted-types-for 'script'",
        "trusted-types 'none'",
      ]),
    )
    expect(policy).not.toContain('unsafe')
  },
)

test('each answer has a nonce of its own', async () => {
  const pages = await Promise.all(Array.from({ length: 20 }, () => app.inject({ url: '/console/' })))
  const nonces = pages.map(({ body }) => nonceOf(body))
  expect(new Set(nonces).size).toBe(20)
  for (const nonce of nonces) expect(nonce).toMatch(/^[\w-]{24}$/)
})

test('the address without a slash leads to the one with it', async () => {
  const { statusCode, headers } = await app.inject({ url: '/console' })
  expect([statusCode, headers.location]).toEqual([302, '/console/'])
})

test.each([
  ['br', 'br', brotliDecompressSync],
  ['gzip, deflate', 'gzip', gunzipSync],
  ['gzip;q=1, br;q=0', 'gzip', gunzipSync],
  ['identity', undefined, (raw: Buffer) => raw],
  [undefined, undefined, (raw: Buffer) => raw],
])('to Accept-Encoding %s a file goes out as %s, to be kept for a year', async (accepted, coding, decode) => {
  const { statusCode, headers, rawPayload } = await app.inject({
    url: '/console/assets/main-a1B_2.js',
    headers: accepted === undefined ? {} : { 'accept-encoding': accepted },
  })
  expect(statusCode).toBe(200)
  expect(headers).toMatchObject({
    'content-type': 'text/javascript; charset=utf-8',
    'cache-control': 'public, max-age=31536000, immutable',
    vary: 'Accept-Encoding',
  })
  expect(headers['content-encoding']).toBe(coding)
  expect(decode(rawPayload).toString()).toBe(script)
})

test('a file that is not compressed goes out as it is', async () => {
  const { headers, body } = await app.inject({
    url: '/console/assets/icon-1.svg',
    headers: { 'accept-encoding': 'br' },
  })
  expect([headers['content-type'], headers['content-encoding'], body]).toEqual([
    'image/svg+xml',
    undefined,
    '<svg/>',
  ])
})

test.each([
  'gone-1.js',
  '..%2f..%2fsecret.json',
  '%2e%2e%2findex.html',
  '..%5c..%5csecret.json',
  'main-a1B_2.js.gz',
  'main-a1B_2.js%00.svg',
  'main-a1B_2',
  'main-a1B_2..js',
  '.js',
  'index.html',
])('the name %s is no file, and its answer is not kept', async (name) => {
  const { statusCode, headers } = await app.inject({ url: `/console/assets/${name}` })
  expect(statusCode).toBe(404)
  expect(headers['cache-control']).toBeUndefined()
})

test('without a build it says how to make one', async () => {
  const { statusCode, body, headers } = await unbuilt.inject({ url: '/console/' })
  expect([statusCode, headers['content-type']]).toEqual([503, 'text/plain; charset=utf-8'])
  expect(body).toContain('npm run prepare')
  expect((await unbuilt.inject({ url: '/console/assets/main-a1B_2.js' })).statusCode).toBe(404)
})

test('what is not built is built, and a browser comes back by itself meanwhile', async () => {
  const place = pathToFileURL(`${folder}/made/`)
  const made = Promise.withResolvers<void>()
  const build = () =>
    made.promise.then(() => {
      mkdirSync(new URL('assets/', place), { recursive: true })
      writeFileSync(new URL('index.html', place), '<p>built</p>')
    })
  const building = Fastify()
  await building.register(consoleRoutes({ clientId: 'a client', directory: place, build }))
  const ask = () => building.inject({ url: '/console/' })
  const meanwhile = await ask()
  expect(meanwhile.statusCode).toBe(503)
  expect(meanwhile.headers).toMatchObject({ 'retry-after': '3', refresh: '3' })
  expect(meanwhile.body).toContain('is being built')
  made.resolve()
  await expect.poll(async () => (await ask()).body).toBe('<p>built</p>')
  await building.close()
})

test('a build that fails is logged, and the page says what to run', async () => {
  const lines: string[] = []
  const failing = Fastify({ logger: { stream: { write: (line: string) => lines.push(line) } } })
  const build = () => Promise.reject(new Error('no room'))
  await failing.register(
    consoleRoutes({ clientId: 'a client', directory: pathToFileURL(`${folder}/none/`), build }),
  )
  await expect
    .poll(async () => (await failing.inject({ url: '/console/' })).body)
    .toContain('npm run prepare')
  expect(lines.join('')).toContain('no room')
  await failing.close()
})
