import { describe, expect, it } from 'vitest'
import type { StatisticsApp } from '../support/statistics-app.ts'
import type { StatisticsEngine } from '../support/statistics-engine.ts'
import { storedEvent } from '../support/statistics-events.ts'
import { useStatistics, wholeQuery as whole } from '../support/statistics-interface.ts'

let engine: StatisticsEngine
let app: StatisticsApp
useStatistics((opened) => {
  engine = opened.engine
  app = opened.app
})

const counted = whole({ measures: ['events.count'] })

describe('the answer', () => {
  it('is an envelope whose data is JSON text, also of nothing', async () => {
    const { status, body, headers } = await app.post(whole({ dimensions: ['events.name'] }))
    expect(status).toBe(200)
    expect(body).toMatchObject({
      status: 'success',
      program: 'millrace',
      code: 200,
      message: 'ok',
      data: '[]',
    })
    expect(headers['cache-control']).toBe('no-store')
  })

  it('is CSV in the envelope for format=csv, with a header even of nothing', async () => {
    const query = whole({ measures: ['purchases.revenue'], dimensions: ['purchases.label.note'] })
    expect((await app.post(query, { search: '?format=csv' })).body.data).toBe(
      'purchases.label.note,purchases.revenue\r\n',
    )
    await engine.load([
      storedEvent({ name: 'purchase', value: '-5.5', labels: { note: '=1+1' } }),
      storedEvent({ name: 'purchase', value: '2', labels: { note: 'a "b", c' } }),
      storedEvent({ name: 'purchase', value: '1' }),
    ])
    expect((await app.post(query, { search: '?format=csv' })).body.data).toBe(
      'purchases.label.note,purchases.revenue\r\n"a ""b"", c",2\r\n,1\r\n\'=1+1,-5.5\r\n',
    )
  })

  it('joins displays and clicks with what purchases are credited to, by workflow', async () => {
    const labels = { workflowId: '65f0c0ffee5ca1ab1e0ddba1', individualized: 'true', generationMs: '4' }
    await engine.load([
      storedEvent({ at: '2026-03-10T10:00:00Z', name: 'workflow_display', labels }),
      storedEvent({ at: '2026-03-10T10:00:10Z', name: 'workflow_click', labels }),
      storedEvent({ at: '2026-03-10T11:00:00Z', name: 'purchase', value: '12.5' }),
    ])
    const rows = await app.rows({
      measures: [
        'workflows.displays',
        'workflows.generationTime',
        'workflows.conversionRate',
        'workflows.revenueUplift',
        'purchases.influencedRevenue',
      ],
      dimensions: ['workflows.id', 'workflows.isIndividualized'],
    })
    expect(rows).toEqual([
      {
        'workflows.id': labels.workflowId,
        'workflows.isIndividualized': true,
        'workflows.displays': 1,
        'workflows.generationTime': 4,
        'workflows.conversionRate': 1,
        'workflows.revenueUplift': null,
        'purchases.influencedRevenue': 12.5,
      },
    ])
  })

  it('is streamed bare for Accept, as CSV and as lines of JSON', async () => {
    await engine.load([storedEvent({ name: 'a' }), storedEvent({ name: 'b' })])
    const query = whole({ dimensions: ['events.name'] })
    const csv = await app.post(query, { accept: 'text/csv' })
    expect(csv.headers['content-type']).toBe('text/csv; charset=utf-8; header=present')
    expect(csv.text).toBe('events.name\r\na\r\nb\r\n')
    const lines = await app.post(query, { accept: 'application/x-ndjson' })
    expect(lines.headers['content-type']).toBe('application/x-ndjson; charset=utf-8')
    expect(lines.text).toBe('{"events.name":"a"}\n{"events.name":"b"}\n')
    const failed = await app.post({ ...query, measures: ['events.x'] }, { accept: 'text/csv' })
    expect([failed.status, failed.body.error_code]).toEqual([400, 9100])
  })

  it('writes numbers in texts of CSV as they are, and defuses formulas', async () => {
    const texts = ['-5', '+5', '-1.5e3', '-5 EUR', '+1+1', '=5', '@5', '-']
    await engine.load(texts.map((name) => storedEvent({ name })))
    const { text } = await app.post(whole({ dimensions: ['events.name'] }), { accept: 'text/csv' })
    expect(text.split('\r\n').slice(1, -1).toSorted()).toEqual(
      ['-5', '+5', '-1.5e3', "'-5 EUR", "'+1+1", "'=5", "'@5", "'-"].toSorted(),
    )
  })

  it('reads host, path and campaign from addresses, and names app screens whole', async () => {
    const rowsOf = async (url: string) => {
      await engine.empty()
      await engine.load([storedEvent({ url })])
      const [row = {}] = await app.rows({
        dimensions: ['events.host', 'events.path', 'events.utmSource', 'events.utmMedium'],
      })
      return Object.values(row)
    }
    expect(await rowsOf('screen/home')).toEqual([null, 'screen/home', null, null])
    expect(await rowsOf('home')).toEqual([null, 'home', null, null])
    expect(await rowsOf('Menu: a/b?utm_source=push#x')).toEqual([null, 'Menu: a/b', 'push', null])
    expect(await rowsOf('a/b://c')).toEqual([null, 'a/b://c', null, null])
    expect(await rowsOf('/a/b')).toEqual([null, '/a/b', null, null])
    expect(await rowsOf('?x=1')).toEqual([null, null, null, null])
    expect(await rowsOf('app://settings/wifi')).toEqual(['settings', '/wifi', null, null])
    expect(await rowsOf('//cdn.example')).toEqual(['cdn.example', '/', null, null])
    expect(await rowsOf('https://a.example/p?utm_source=q#utm_source=f&utm_medium=f')).toEqual([
      'a.example',
      '/p',
      'q',
      null,
    ])
    expect(await rowsOf('https://a.example/#/p?utm_source=f')).toEqual(['a.example', '/', null, null])
  })

  it('is CSV or lines for those who may export (Q27)', async () => {
    app.caller.permissions = ['statistics:access']
    const forms = [{ search: '?format=csv' }, { accept: 'text/csv' }, { accept: 'application/x-ndjson' }]
    for (const options of forms) {
      const { status, body } = await app.post(counted, options)
      expect(status).toBe(403)
      expect(body.data).toEqual({ resource: 'statistics', action: 'export' })
    }
  })

  it('has 10,000 rows unless a limit says otherwise', async () => {
    await engine.load(
      Array.from({ length: 10_050 }, (_, i) => storedEvent({ name: `n${String(i).padStart(5, '0')}` })),
    )
    const dimensions = ['events.name']
    expect(await app.rows({ dimensions })).toHaveLength(10_000)
    const all = await app.rows({ dimensions, limit: 50_000 })
    expect(all).toHaveLength(10_050)
    expect(all.at(-1)).toEqual({ 'events.name': 'n10049' })
    expect(await app.rows({ dimensions, limit: 1 })).toHaveLength(1)
  })
})
