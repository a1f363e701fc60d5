import { pino } from 'pino'
import { afterEach, expect, test } from 'vitest'
import { setCookie } from './cookies.ts'
import { createHttpServer } from './server.ts'

let warnings: { readonly msg: string; readonly [field: string]: unknown }[] = []
const logger = pino(
  { level: 'warn', base: null, timestamp: false },
  { write: (line: string) => void warnings.push(JSON.parse(line)) },
)

afterEach(() => {
  warnings = []
})

function create(trustedProxies: readonly string[], publicUrl?: string) {
  const app = createHttpServer({ logger, trustedProxies, publicUrl })
  app.get('/', async (request, reply) => {
    setCookie(request, reply, { name: 'a', value: 'b', seconds: 60, path: '/' })
    return { address: request.ip }
  })
  return app
}

test('a start behind https without trusted proxies says what to set', () => {
  create([], 'https://stats.example')
  expect(warnings).toEqual([
    {
      level: 40,
      publicUrl: 'https://stats.example',
      msg: expect.stringContaining('MILLRACE_TRUSTED_PROXIES'),
    },
  ])
  warnings = []
  create(['10.0.0.1'], 'https://stats.example')
  create([], 'http://stats.example')
  create([])
  expect(warnings).toEqual([])
})

test.each([
  [[], 'https://stats.example', true],
  [['127.0.0.1'], 'https://stats.example', true],
  [[], 'http://stats.example', false],
  [[], undefined, false],
])('with proxies %j and the public address %s a cookie is secure: %s', async (proxies, publicUrl, secure) => {
  const reply = await create(proxies, publicUrl).inject({ url: '/' })
  expect(/; Secure$/.test(String(reply.headers['set-cookie']))).toBe(secure)
})

test('a neighbour that forwards and is not listed is named once, and is not believed', async () => {
  const app = create(['10.0.0.0/8'])
  const ask = (remoteAddress: string, headers: Record<string, string>) =>
    app.inject({ url: '/', remoteAddress, headers })
  const forwarded = { 'x-forwarded-for': '203.0.113.5' }
  for (let i = 0; i < 3; i++)
    expect((await ask('192.0.2.1', forwarded)).json()).toEqual({ address: '192.0.2.1' })
  expect((await ask('10.1.2.3', forwarded)).json()).toEqual({ address: '203.0.113.5' })
  await ask('::ffff:10.1.2.4', forwarded)
  await ask('192.0.2.2', {})
  await ask('192.0.2.3', { forwarded: 'for=203.0.113.5' })
  await ask('192.0.2.4', { 'x-forwarded-proto': 'https' })
  expect(warnings.map(({ neighbour, header }) => ({ neighbour, header }))).toEqual([
    { neighbour: '192.0.2.1', header: 'x-forwarded-for' },
    { neighbour: '192.0.2.3', header: 'forwarded' },
    { neighbour: '192.0.2.4', header: 'x-forwarded-proto' },
  ])
  for (const { msg } of warnings) expect(msg).toContain('MILLRACE_TRUSTED_PROXIES')
})

test('no more than 100 neighbours are named, however many knock', async () => {
  const app = create([])
  for (let i = 0; i < 150; i++)
    await app.inject({ url: '/', remoteAddress: `192.0.2.${i}`, headers: { 'x-forwarded-for': 'x' } })
  expect(warnings).toHaveLength(100)
})
