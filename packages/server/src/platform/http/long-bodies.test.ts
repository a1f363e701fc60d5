import { request } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { silentLogger } from '../logger.ts'
import { allowLongBody } from './long-bodies.ts'
import { createHttpServer } from './server.ts'

const app = createHttpServer({
  logger: silentLogger,
  trustedProxies: [],
  timeouts: { headers: 400, request: 400, silence: 5_000, idle: 5_000, check: 50, closing: 1_000 },
})

beforeAll(async () => {
  app.addContentTypeParser('*', (_request, _payload, done) => done(null))
  app.put('/file', async ({ raw }) => {
    allowLongBody(raw)
    let bytes = 0
    for await (const piece of raw as AsyncIterable<Buffer>) bytes += piece.length
    return { bytes }
  })
  app.put('/other', async ({ raw }) => {
    let bytes = 0
    for await (const piece of raw as AsyncIterable<Buffer>) bytes += piece.length
    return { bytes }
  })
  await app.listen({ port: 0, host: '127.0.0.1' })
})

afterAll(() => app.close())

/** Sends ten bytes, one every 120 ms. */
async function send(path: string): Promise<{ status: number | undefined; text: string }> {
  const { port } = app.server.address() as AddressInfo
  const sent = request({ port, host: '127.0.0.1', path, method: 'PUT', headers: { 'content-type': 'a/b' } })
  const answered = new Promise<{ status: number | undefined; text: string }>((resolve, reject) => {
    sent.on('error', reject)
    sent.on('response', async (response) => {
      let text = ''
      for await (const piece of response) text += piece
      resolve({ status: response.statusCode, text })
    })
  })
  answered.catch(() => {})
  for (let i = 0; i < 10 && !sent.destroyed; i++) {
    sent.write('x')
    await sleep(120)
  }
  sent.end()
  return answered
}

test('a body that may be long lasts longer than the time of a request, and another one does not', async () => {
  expect(await send('/file')).toEqual({ status: 200, text: '{"bytes":10}' })
  expect((await send('/other')).status).toBe(408)
  // The connection that was let through is as any other afterwards.
  expect((await send('/other')).status).toBe(408)
})
