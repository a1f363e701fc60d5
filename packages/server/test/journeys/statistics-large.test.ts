import { readdirSync, readlinkSync } from 'node:fs'
import { Readable } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { type Query, queryLimits } from '@millrace/contract/resources/query.ts'
import { afterEach, describe, expect, it } from 'vitest'
import { type Columnar, ColumnarError } from '../../src/platform/stores/columnar.ts'
import { callerToken, openStatisticsApp, type StatisticsApp } from '../support/statistics-app.ts'
import { until } from '../support/until.ts'

const opened: StatisticsApp[] = []

afterEach(async () => {
  for (const each of opened.splice(0)) await each.app.close()
})

/** A text of a kibibyte, with a letter to escape. */
const cell = `é"${'x'.repeat(1_020)}`
const rowsOfChunk = 64

interface Source {
  readonly rows: number
  readonly text?: string
  readonly onChunk?: () => void
  /** Thrown behind the last row. */
  readonly failure?: Error
}

/** A store that answers every query with such rows, and says when the reader has left. */
function answering({
  rows,
  text = cell,
  onChunk = () => {},
  failure,
}: Source): Columnar & { readonly ended: () => number } {
  let ended = 0
  const chunk = Buffer.from(`${JSON.stringify([text])}\n`.repeat(rowsOfChunk))
  async function* produce(): AsyncGenerator<Buffer> {
    try {
      for (let i = 0; i < rows; i += rowsOfChunk) {
        onChunk()
        yield chunk
        // As from a socket, whose bytes come by the event loop.
        await sleep(0)
      }
      if (failure) throw failure
    } finally {
      ended++
    }
  }
  const absent = async () => {
    throw new Error('this store only streams')
  }
  return {
    ended: () => ended,
    stream: async ({ signal }) => {
      const stream = Readable.from(produce(), { objectMode: false })
      signal?.addEventListener('abort', () => stream.destroy(signal.reason))
      return stream
    },
    query: absent,
    command: absent,
    insert: absent,
    ping: absent,
    close: async () => {},
  }
}

async function listening(columnar: Columnar): Promise<{ app: StatisticsApp; address: string }> {
  const app = await openStatisticsApp(columnar)
  opened.push(app)
  return { app, address: await app.app.listen({ port: 0, host: '127.0.0.1' }) }
}

const query: Query = {
  measures: [],
  dimensions: ['events.name'],
  filters: [],
  timeDimensions: [],
  limit: 50_000,
}

function ask(address: string, { search = '', signal }: { search?: string; signal?: AbortSignal } = {}) {
  return fetch(`${address}/v2/statistics/query${search}`, {
    method: 'POST',
    body: JSON.stringify(query),
    headers: {
      // A compressed answer is sent while it is made, without its length.
      'accept-encoding': 'identity',
      'content-type': 'application/json',
      ...callerToken,
    },
    ...(signal ? { signal } : {}),
  })
}

/** Files of answers that this process holds open. */
function spoolFiles(): number {
  return readdirSync('/proc/self/fd').filter((descriptor) => {
    try {
      return readlinkSync(`/proc/self/fd/${descriptor}`).includes('/spool-')
    } catch {
      return false
    }
  }).length
}

describe('a large answer in the envelope', () => {
  it.each([
    [
      'JSON',
      '',
      (rows: number) => JSON.stringify(Array.from({ length: rows }, () => ({ 'events.name': cell }))),
    ],
    [
      'CSV',
      '?format=csv',
      (rows: number) => `events.name\r\n${`"${cell.replaceAll('"', '""')}"\r\n`.repeat(rows)}`,
    ],
  ])('is whole as %s, with its length', async (_, search, expected) => {
    const { address } = await listening(answering({ rows: 6_400 }))
    const reply = await ask(address, { search })
    const text = await reply.text()
    expect(reply.status).toBe(200)
    expect(Number(reply.headers.get('content-length'))).toBe(Buffer.byteLength(text))
    const envelope = JSON.parse(text) as { data: string; warnings?: unknown }
    expect(envelope).toMatchObject({ status: 'success', code: 200, message: 'ok' })
    expect(envelope.warnings).toBeUndefined()
    expect(envelope.data === expected(6_400)).toBe(true)
    await until(() => spoolFiles() === 0)
  })

  it('takes memory that does not grow with it', async () => {
    setFlagsFromString('--expose-gc')
    const collectGarbage = runInNewContext('gc') as () => void
    const used = () => {
      collectGarbage()
      const { heapUsed, external } = process.memoryUsage()
      return heapUsed + external
    }
    let chunks = 0
    let before = 0
    let highest = 0
    const { address } = await listening(
      answering({
        rows: 32_000,
        onChunk() {
          chunks++
          if (chunks === 20) before = used()
          else if (chunks % 50 === 0) highest = Math.max(highest, used())
        },
      }),
    )
    const reply = await ask(address)
    let bytes = 0
    for await (const each of reply.body ?? []) bytes += each.length
    expect({ status: reply.status, chunks }).toEqual({ status: 200, chunks: 500 })
    expect(bytes).toBeGreaterThan(32_000 * 1_024)
    expect(highest - before).toBeLessThan(bytes / 3)
  })

  it.each(['', '?format=csv'])('is refused when an envelope does not hold it%s', async (search) => {
    let chunks = 0
    const columnar = answering({ rows: 50_000, text: cell + cell, onChunk: () => chunks++ })
    const { app } = await listening(columnar)
    const { status, body } = await app.post(query, { search })
    expect({ status, code: body.error_code, data: body.data }).toEqual({
      status: 413,
      code: 9104,
      data: { limit: queryLimits.envelopeBytes, unit: 'bytes' },
    })
    expect(body.message).toContain('text/csv')
    expect(body.message).toContain('application/x-ndjson')
    await until(() => columnar.ended() === 1 && spoolFiles() === 0)
    expect(chunks).toBeLessThan(50_000 / rowsOfChunk)
  })

  it('fails as a whole when the store fails behind many rows', async () => {
    const failure = new ColumnarError(241, 'MEMORY_LIMIT_EXCEEDED', 'too much')
    const { address } = await listening(answering({ rows: 3_200, failure }))
    const reply = await ask(address)
    expect(reply.status).toBe(400)
    expect(await reply.json()).toMatchObject({ status: 'fail', data: { limit: 'memory' } })
    expect(spoolFiles()).toBe(0)
  })

  it('ends in the store when the caller leaves, and leaves no file', async () => {
    let chunks = 0
    const columnar = answering({ rows: 50_000, onChunk: () => chunks++ })
    const { address } = await listening(columnar)
    const leaving = new AbortController()
    const asked = ask(address, { signal: leaving.signal }).catch((error: Error) => error.name)
    await until(() => spoolFiles() === 1)
    leaving.abort()
    expect(await asked).toBe('AbortError')
    await until(() => columnar.ended() === 1 && spoolFiles() === 0)
    expect(chunks).toBeLessThan(50_000 / rowsOfChunk)
  })

  it('leaves no file when the caller leaves while it is sent', async () => {
    const { address } = await listening(answering({ rows: 32_000 }))
    const leaving = new AbortController()
    const reply = await ask(address, { signal: leaving.signal })
    await reply.body?.getReader().read()
    leaving.abort()
    await until(() => spoolFiles() === 0)
    expect(spoolFiles()).toBe(0)
  })
})
