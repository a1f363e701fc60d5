import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { companyId, datasourceId, event, startCollector } from '../support/collector.ts'
import { createRunnerWorld, jsonZone, runnerTemplate, straight } from '../support/runner.ts'

// An address in which a sign is encoded goes through the framework; the plain one is answered in front of it.

const encodeAt = (path: string, at: number): string =>
  `${path.slice(0, at)}%${path.charCodeAt(at).toString(16)}${path.slice(at + 1)}`

const collect = `/collect/${datasourceId}/tracker`
const json = { 'content-type': 'application/json' }
const proxied = '203.0.113.7'

let direct: Awaited<ReturnType<typeof startCollector>>
let behindProxy: typeof direct

beforeAll(async () => {
  direct = await startCollector()
  behindProxy = await startCollector({ trustedProxies: ['127.0.0.1', '::1'] })
})
afterAll(async () => {
  await direct.stop()
  await behindProxy.stop()
})

/** Without what differs between any two answers. */
function comparable({ status, headers, body }: Awaited<ReturnType<typeof direct.send>>) {
  const { date: _, 'retry-after': retryAfter, 'x-millrace-run-id': runId, ...others } = headers
  const text = body.replace(/"datetime":"[^"]*"/, '').replace(/"retryAfter":\d+/, '')
  return { status, headers: others, hasRetry: retryAfter !== undefined, hasRun: runId !== undefined, text }
}

type Sent = Parameters<typeof direct.send>[0]

const one = JSON.stringify(event())
const requests: readonly (readonly [string, Sent])[] = [
  ['an event', { headers: json, body: one }],
  ['an event with a query behind the address', { path: `${collect}?a=1&b`, headers: json, body: one }],
  ['events without a content type', { body: `[${one},${JSON.stringify(event())}]` }],
  ['a content type that is none', { headers: { 'content-type': ';;' }, body: one }],
  ['lines', { headers: { 'content-type': 'application/x-ndjson' }, body: `${one}\n${one}` }],
  [
    'a form',
    { headers: { 'content-type': 'application/x-www-form-urlencoded' }, body: `key=${companyId}&name=a` },
  ],
  ['a crawler', { headers: { ...json, 'user-agent': 'Googlebot/2.1' }, body: one }],
  ['gzip', { headers: { ...json, 'content-encoding': 'gzip' }, body: gzipSync(one) }],
  ['gzip that is none', { headers: { ...json, 'content-encoding': 'gzip' }, body: one }],
  ['an unknown encoding', { headers: { ...json, 'content-encoding': 'zip' }, body: one }],
  ['chunks', { headers: { ...json, 'transfer-encoding': 'chunked' }, body: one }],
  ['an unknown transfer', { headers: { ...json, 'transfer-encoding': 'gzip, chunked' }, body: one }],
  ['an expectation', { headers: { ...json, expect: 'more' }, body: one }],
  ['nothing', {}],
  ['no JSON, in French', { headers: { ...json, 'accept-language': 'fr' }, body: '{' }],
  ['too many events', { headers: json, body: JSON.stringify(Array.from({ length: 2_001 }, () => ({}))) }],
  ['a body that is too large', { headers: json, body: 'x'.repeat(3 * 1024 * 1024) }],
  ['another datasource', { path: `/collect/${'a'.repeat(24)}/tracker`, headers: json, body: one }],
  ['an identifier that is none', { path: '/collect/abc/tracker', headers: json, body: one }],
  [
    'an identifier in upper case',
    {
      path: collect.toUpperCase().replace('COLLECT', 'collect').replace('TRACKER', 'tracker'),
      headers: json,
      body: one,
    },
  ],
  ['PUT', { method: 'PUT', headers: json, body: one }],
  ['GET', { method: 'GET' }],
  ['a preflight', { method: 'OPTIONS', headers: { 'access-control-request-headers': 'x-a' } }],
  ...['track', 't', 'page', 'identify', 'batch', 'b', 'import'].flatMap((name) => [
    [`/v1/${name}`, { path: `/v1/${name}`, headers: json, body: segmentBody(name) }] as const,
    [`/v1/${name} without a key`, { path: `/v1/${name}`, headers: json, body: '{}' }] as const,
  ]),
]

function segmentBody(name: string): string {
  const call = { type: 'track', event: 'Signed Up', userId: 'ada', anonymousId: 'd', messageId: `m ${name}` }
  const isBatch = ['batch', 'b', 'import'].includes(name)
  return JSON.stringify({ writeKey: datasourceId, ...(isBatch ? { batch: [call] } : call) })
}

test.each(requests)(
  '%s is answered and stored the same in front of the framework',
  async (_name, request) => {
    const { path = collect, headers = {} } = request
    const encoded = encodeAt(path, path.startsWith('/v1') ? 4 : 9)
    for (const world of [direct, behindProxy]) {
      const forwarded = { ...headers, 'x-forwarded-for': proxied }
      await world.rows()
      const front = comparable(await world.send({ ...request, path, headers: forwarded }))
      const frontRows = (await world.rows()).map(({ q: _, ...row }) => row)
      const behind = comparable(await world.send({ ...request, path: encoded, headers: forwarded }))
      const behindRows = (await world.rows()).map(({ q: _, ...row }) => row)
      // What names the address tells of the way that it was written.
      expect({ ...front, text: front.text.replace(path, encoded) }).toEqual(behind)
      const withoutRefusals = (rows: typeof frontRows) => rows.filter(({ z }) => z !== 'refused')
      expect(withoutRefusals(frontRows)).toEqual(withoutRefusals(behindRows))
    }
  },
)

test('an answer that is written while the server closes ends its connection', async () => {
  for (const path of [collect, encodeAt(collect, 9), '/v1/track', encodeAt('/v1/track', 4)]) {
    const written = Promise.withResolvers<void>()
    const arrived = Promise.withResolvers<void>()
    const world = await startCollector({
      log: {
        reserve: () => 1,
        append() {
          arrived.resolve()
          return written.promise
        },
      },
    })
    const headers = { ...json, connection: 'keep-alive' }
    const answer = world.send({ path, headers, body: path.startsWith('/v1') ? segmentBody('track') : one })
    await arrived.promise
    const closed = world.app.close()
    await expect.poll(() => world.app.isClosing()).toBe(true)
    written.resolve()
    expect(await answer, path).toMatchObject({ status: 200, headers: { connection: 'close' } })
    await closed
    await world.stop()
  }
})

test('displays are answered the same in front of the framework', async () => {
  const { app, publish, recorded } = createRunnerWorld()
  const city = { type: 'parameter' as const, parameter: 'city', kind: 'text' as const }
  await publish({
    definition: straight(
      jsonZone,
      { type: 'json', templateId: runnerTemplate, bindings: { title: { node: 'city' } } },
      { city },
    ),
    templates: {
      [runnerTemplate]: {
        definition: { title: { type: 'dependency', variable: 'title' } },
        variables: [{ name: 'title', type: 'scalar' as const }],
      },
    },
  })
  const origin = await app.listen({ port: 0, host: '127.0.0.1' })
  try {
    for (const query of ['', '?', '?city=Lyon', '?city=a+b%20c%zz&city=d&x', '?mode=click&trk-u=ada'])
      for (const shortId of ['abcdef1234', 'unknown123', 'a'])
        for (const method of ['GET', 'HEAD', 'POST']) {
          const ask = async (path: string) => {
            const before = recorded.length
            const reply = await fetch(`${origin}/r/${path}${query}`, { method, redirect: 'manual' })
            const { status, headers } = reply
            const body = await reply.text()
            const answer = comparable({ status, headers: Object.fromEntries(headers), body })
            const events = recorded.slice(before).map(({ data, tmpId: _, ...kept }) => {
              const { runId: _run, generationMs: _ms, ...labels } = data
              return { ...kept, eventId: '', labels }
            })
            return { answer, events }
          }
          const front = await ask(shortId)
          const behind = await ask(encodeAt(shortId, 0))
          front.answer.text = front.answer.text.replace(`/r/${shortId}`, `/r/${encodeAt(shortId, 0)}`)
          expect(front, `${method} ${shortId}${query}`).toEqual(behind)
        }
  } finally {
    await app.close()
  }
})
