import type { ServerResponse } from 'node:http'
import { createClient } from '@millrace/sdk'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { json, openScriptedServer, type ScriptedServer } from '../support/scripted-server.ts'

let server: ScriptedServer

beforeAll(async () => {
  server = await openScriptedServer()
})
afterAll(async () => {
  await server.close()
})

const query = { measures: ['events.count'], dimensions: ['events.name'] } as const
const rowsOf = (options = {}) =>
  createClient({ baseUrl: server.baseUrl, accessToken: 'a' }).streamRows(query, options)

/** Rows until the end or the failure of their stream. */
async function read(): Promise<{ rows: unknown[]; failure: unknown }> {
  const rows: unknown[] = []
  try {
    for await (const row of rowsOf()) rows.push(row)
    return { rows, failure: undefined }
  } catch (failure) {
    return { rows, failure }
  }
}

/** Bytes one after the other, each chunk on its own. */
function inChunks(chunks: readonly Uint8Array[], end: (response: ServerResponse) => void) {
  return async (response: ServerResponse) => {
    response.writeHead(200, { 'content-type': 'application/x-ndjson' })
    for (const chunk of chunks) {
      response.write(chunk)
      await new Promise((resolve) => setImmediate(resolve))
    }
    end(response)
  }
}

const finish = (response: ServerResponse) => void response.end()
const breakOff = (response: ServerResponse) => void response.destroy()

describe('a stream of rows', () => {
  it('is read across any bounds of chunks, those within characters too', async () => {
    const expected = ['é', '𝄞', 'a\u2028b', 'x'.repeat(5_000)].map((name) => ({ name }))
    const bytes = new TextEncoder().encode(expected.map((row) => `${JSON.stringify(row)}\n`).join(''))
    for (const size of [1, 2, 3, 7, 4_096]) {
      const chunks = Array.from({ length: Math.ceil(bytes.length / size) }, (_, i) =>
        bytes.subarray(i * size, (i + 1) * size),
      )
      server.answer(
        inChunks(size < 3 ? chunks.slice(0, 40).concat(bytes.subarray(40 * size)) : chunks, finish),
      )
      expect(await read(), `chunks of ${size}`).toEqual({ rows: expected, failure: undefined })
    }
  })

  it('may have no row', async () => {
    server.answer(inChunks([], finish))
    expect(await read()).toEqual({ rows: [], failure: undefined })
  })

  it.each([
    ['the connection breaks between two rows', '{"a":1}\n{"a":2}\n', breakOff],
    ['the connection breaks within a row', '{"a":1}\n{"a":2}\n{"a":', breakOff],
    ['its last row is not whole', '{"a":1}\n{"a":2}\n{"a":', finish],
    ['its last row has no end', '{"a":1}\n{"a":2}\n{"a":3}', finish],
  ])('fails when %s, and is not asked for again', async (_, text, end) => {
    server.answer(inChunks([new TextEncoder().encode(text)], end))
    const { rows, failure } = await read()
    expect(failure).toMatchObject({ name: 'ConnectionError', operation: 'runQuery' })
    expect([0, 2]).toContain(rows.length)
    expect(server.seen).toHaveLength(1)
  })

  it('fails at a row that is no JSON', async () => {
    server.answer(inChunks([new TextEncoder().encode('{"a":1}\n<html>\n')], finish))
    const { rows, failure } = await read()
    expect(rows).toEqual([{ a: 1 }])
    expect(failure).toMatchObject({
      name: 'UnexpectedReplyError',
      message: expect.stringContaining('<html>'),
    })
  })

  it('is refused in another form than was asked for', async () => {
    server.answer(json({ status: 'success', data: '[]' }))
    const { failure } = await read()
    expect(failure).toMatchObject({
      name: 'UnexpectedReplyError',
      message: 'runQuery was to answer application/x-ndjson and answered application/json',
    })
  })

  it('is asked for again until it begins', async () => {
    server.answer(
      (response) => void response.destroy(),
      inChunks([new TextEncoder().encode('{"a":1}\n')], finish),
    )
    expect(await read()).toEqual({ rows: [{ a: 1 }], failure: undefined })
    expect(server.seen).toHaveLength(2)
    expect(server.seen[0]?.headers.accept).toBe('application/x-ndjson')
  })

  it('may take longer than the time within which it has to begin', async () => {
    const chunks = [1, 2, 3, 4].map((a) => new TextEncoder().encode(`{"a":${a}}\n`))
    server.answer(inChunks(chunks, finish))
    const rows: unknown[] = []
    for await (const row of rowsOf({ timeoutMs: 2_000 })) {
      rows.push(row)
      if (rows.length === 1) await new Promise((resolve) => setTimeout(resolve, 2_100))
    }
    expect(rows).toHaveLength(4)
  })

  it('is sent no faster than its rows are used', async () => {
    let written = 0
    let isEnded = false
    const row = `{"a":"${'x'.repeat(1_000)}"}\n`.repeat(64)
    server.answer((response) => {
      response.writeHead(200, { 'content-type': 'application/x-ndjson' })
      response.once('close', () => {
        isEnded = true
      })
      const write = () => {
        while (written < 2_000 && !isEnded) {
          written++
          if (!response.write(row)) return void response.once('drain', write)
        }
        response.end()
      }
      write()
    })
    const rows = rowsOf()
    expect((await rows.next()).done).toBe(false)
    // Until the buffers of the connection are full and nothing moves.
    let before = -1
    while (before !== written) {
      before = written
      await new Promise((resolve) => setTimeout(resolve, 200))
    }
    expect(written).toBeLessThan(1_000)
    await rows.return()
    await expect.poll(() => isEnded).toBe(true)
  })
})
