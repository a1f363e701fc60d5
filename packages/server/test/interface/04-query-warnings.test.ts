import { connect } from 'node:net'
import { describe, expect, it } from 'vitest'
import { callerToken, type StatisticsApp } from '../support/statistics-app.ts'
import type { StatisticsEngine } from '../support/statistics-engine.ts'
import { otherCompany, storedEvent } from '../support/statistics-events.ts'
import { useStatistics, wholeQuery as whole } from '../support/statistics-interface.ts'

let engine: StatisticsEngine
let app: StatisticsApp
useStatistics((opened) => {
  engine = opened.engine
  app = opened.app
})

describe('warnings', () => {
  const named = (count: number, at: string) =>
    Array.from({ length: count }, (_, i) => storedEvent({ name: `n${i}`, at }))

  it('say that there are more rows than the limit, and nothing when there are just as many', async () => {
    await engine.load(named(3, '2026-03-10T12:00:00Z'))
    const query = whole({ dimensions: ['events.name'], limit: 2 })
    const { body } = await app.post(query)
    expect(JSON.parse(String(body.data))).toHaveLength(2)
    expect(body.warnings).toEqual([
      {
        path: 'limit',
        message: 'the result has more rows than its limit of 2: the rows beyond it are left out',
      },
    ])
    for (const limit of [3, 4, undefined, null]) {
      const all = await app.post({ ...query, limit })
      expect(JSON.parse(String(all.body.data))).toHaveLength(3)
      expect(all.body).not.toHaveProperty('warnings')
    }
    const streamed = await app.app.inject({
      method: 'POST',
      url: '/v2/statistics/query',
      headers: { 'content-type': 'application/json', ...callerToken, accept: 'application/x-ndjson' },
      payload: JSON.stringify(query),
    })
    expect(streamed.body.trim().split('\n')).toHaveLength(2)
    expect(streamed.headers).not.toHaveProperty('x-millrace-warnings')
    expect(JSON.parse(String(streamed.trailers['x-millrace-warnings']))).toEqual(body.warnings)
  })

  it('count the rows of each compared range alone', async () => {
    await engine.load([
      ...named(40_000, '2026-01-10T12:00:00Z'),
      ...named(20_000, '2026-02-10T12:00:00Z'),
      ...named(3, '2026-03-10T12:00:00Z'),
    ])
    const ranges = ['2026-01', '2026-02', '2026-03'].map((month) => [`${month}-01`, `${month}-28`])
    const compared = async (limit: number) => {
      const { body } = await app.post({
        ...whole({ dimensions: ['events.name'] }),
        timeDimensions: [{ dimension: 'events.time', compareDateRange: ranges }],
        limit,
      })
      const counts = new Map<string, number>()
      for (const row of JSON.parse(String(body.data)) as Record<string, string>[]) {
        const range = row.compareDateRange ?? ''
        counts.set(range, (counts.get(range) ?? 0) + 1)
      }
      return { counts: [...counts.values()], warnings: body.warnings?.map(({ message }) => message) }
    }
    expect(await compared(40_000)).toEqual({ counts: [40_000, 20_000, 3], warnings: undefined })
    expect(await compared(20_000)).toEqual({
      counts: [20_000, 20_000, 3],
      warnings: [
        'the range 2026-01-01 - 2026-01-28 has more rows than its limit of 20000: the rows beyond it are left out',
      ],
    })
  })

  it('name the nearest label for one that no event has had', async () => {
    await engine.load([
      storedEvent({ labels: { store: 'Paris', größe: 'L' } }),
      storedEvent({ company: otherCompany, labels: { stores: 'x' } }),
    ])
    const query = {
      ...whole({ dimensions: ['events.label.stores', 'events.label.store'], measures: ['events.count'] }),
      filters: [{ dimension: 'events.label.grösse', operator: 'notEquals', values: ['S'] }],
    }
    const warnings = [
      {
        path: 'dimensions.0',
        message:
          'none of your events has had the label "stores": it is absent in all of them; ' +
          'did you mean "events.label.store"?',
      },
      {
        path: 'filters.0',
        message:
          'none of your events has had the label "grösse": it is absent in all of them; ' +
          'did you mean "events.label.größe"?',
      },
    ]
    for (const search of ['', '?format=csv']) {
      const { status, body } = await app.post(query, { search })
      expect(status).toBe(200)
      expect(body.warnings).toEqual(warnings)
    }
    const rows = JSON.parse(String((await app.post(query)).body.data))
    expect(rows).toEqual([{ 'events.label.stores': null, 'events.label.store': 'Paris', 'events.count': 1 }])
    for (const accept of ['text/csv', 'application/x-ndjson']) {
      const { headers } = await app.post(query, { accept })
      expect(headers['x-millrace-warnings']).toMatch(/^[ -~]+$/)
      expect(JSON.parse(String(headers['x-millrace-warnings']))).toEqual(warnings)
    }
    // Seen from now on, whatever was remembered.
    await engine.load([storedEvent({ labels: { stores: 'a', grösse: 'b' } })])
    expect((await app.post(query)).body).not.toHaveProperty('warnings')
  })

  it('stand in no trailer for a client of HTTP/1.0, which knows no chunks', async () => {
    await engine.load(named(3, '2026-03-10T12:00:00Z'))
    const { port } = new URL(await app.app.listen({ port: 0, host: '127.0.0.1' }))
    const body = JSON.stringify(whole({ dimensions: ['events.name'], limit: 2 }))
    const asked = (version: string) =>
      new Promise<string>((resolve, reject) => {
        const socket = connect(Number(port), '127.0.0.1')
        let text = ''
        socket.setEncoding('utf8').on('data', (chunk) => {
          text += chunk
        })
        socket.once('close', () => resolve(text)).once('error', reject)
        socket.write(
          `POST /v2/statistics/query HTTP/${version}\r\nHost: x\r\nConnection: close\r\nAccept: text/csv\r\n` +
            `Authorization: ${callerToken.authorization}\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
        )
      })
    expect(await asked('1.0')).toMatch(/\r\n\r\nevents\.name\r\nn0\r\nn1\r\n$/)
    expect(await asked('1.1')).toMatch(/\r\n0\r\nx-millrace-warnings: \[\{"path":"limit".*\r\n\r\n$/)
  })

  it('Q17: say that a sum has more digits than JSON numbers usually keep, which CSV has too', async () => {
    const order = (transId: string, value: string) => storedEvent({ name: 'purchase', transId, value })
    await engine.load([order('a', '90071992547409.93'), order('b', '70000000000000.25')])
    const query = whole({ measures: ['purchases.count', 'purchases.revenue'] })
    const exact = '160071992547410.18'
    const { text, body } = await app.post(query)
    expect(text).toContain(`\\"purchases.revenue\\":${exact}`)
    expect(body.warnings).toEqual([
      { path: 'measures.1', message: expect.stringContaining('purchases.revenue has more digits than') },
    ])
    const csv = await app.post(query, { search: '?format=csv' })
    expect(csv.body.data).toContain(exact)
    expect(csv.body).not.toHaveProperty('warnings')
    const filters = [{ member: 'purchases.transaction', operator: 'equals', values: ['b'] }]
    expect((await app.post({ ...query, filters })).body).not.toHaveProperty('warnings')
  })

  it('are few and short, whatever is asked', async () => {
    await engine.load([storedEvent({ labels: { store: 'Paris' } })])
    const dimensions = Array.from({ length: 40 }, (_, i) => `purchases.label.${'é'.repeat(300)}${i}`)
    const query = whole({ measures: ['purchases.count'], dimensions })
    const { body } = await app.post(query)
    expect(body.warnings).toHaveLength(10)
    const { headers } = await app.post(query, { accept: 'text/csv' })
    expect(String(headers['x-millrace-warnings']).length).toBeLessThan(4_001)
  })
})
