import { describe, expect, it } from 'vitest'
import type { StatisticsApp } from '../support/statistics-app.ts'
import { callerToken } from '../support/statistics-app.ts'
import type { StatisticsEngine } from '../support/statistics-engine.ts'
import { otherCompany, storedEvent } from '../support/statistics-events.ts'
import { useStatistics } from '../support/statistics-interface.ts'

let engine: StatisticsEngine
let app: StatisticsApp
useStatistics((opened) => {
  engine = opened.engine
  app = opened.app
})

async function values(parameters: Record<string, string>) {
  const reply = await app.app.inject({
    url: `/v2/statistics/values?${new URLSearchParams(parameters)}`,
    headers: callerToken,
  })
  return { status: reply.statusCode, body: reply.json() }
}

const found = async (parameters: Record<string, string>) =>
  (await values(parameters)).body.data.map(({ value, count }: { value: string; count: number }) => [
    value,
    count,
  ])

describe('values of a dimension', () => {
  it('come with their counts, the most frequent ones first, absent ones left out', async () => {
    await engine.load([
      ...['b', 'a', 'c', 'c'].map((name) => storedEvent({ name, labels: { store: name.toUpperCase() } })),
      storedEvent({ name: 'd', labels: {} }),
    ])
    expect(await found({ member: 'events.name' })).toEqual([
      ['c', 2],
      ['a', 1],
      ['b', 1],
      ['d', 1],
    ])
    expect(await found({ member: 'events.label.store' })).toEqual([
      ['C', 2],
      ['A', 1],
      ['B', 1],
    ])
    expect(await found({ member: 'events.name', limit: '1' })).toEqual([['c', 2]])
    expect(await found({ member: 'events.label.none' })).toEqual([])
    expect(await found({ member: 'events.utmSource' })).toEqual([])
  })

  it('of workflows are those that interactions name', async () => {
    const labels = (workflowId: string) => ({ labels: { workflowId } })
    await engine.load([
      storedEvent({ name: 'workflow_click', ...labels('w1') }),
      storedEvent({ name: 'workflow_display', ...labels('w1') }),
      storedEvent({ name: 'workflow_display', ...labels('w2') }),
      storedEvent({ name: 'workflow_display', ...labels('') }),
      storedEvent({ name: 'page_view', ...labels('w3') }),
    ])
    expect(await found({ member: 'workflows.id' })).toEqual([
      ['w1', 2],
      ['w2', 1],
    ])
    expect(await found({ member: 'workflows.id', contains: '2' })).toEqual([['w2', 1]])
  })

  it('can be those that hold a text, whatever its case and letters', async () => {
    await engine.load(['Paris', 'paris-2', '100%', 'x_y', "'"].map((name) => storedEvent({ name })))
    expect(await found({ member: 'events.name', contains: 'PARIS' })).toEqual([
      ['Paris', 1],
      ['paris-2', 1],
    ])
    expect(await found({ member: 'events.name', contains: '%' })).toEqual([['100%', 1]])
    expect(await found({ member: 'events.name', contains: '_' })).toEqual([['x_y', 1]])
    expect(await found({ member: 'events.name', contains: "' OR 1=1" })).toEqual([])
    expect(await found({ member: 'events.item', contains: 'x' })).toEqual([])
  })

  it('are of the last 90 days, today included', async () => {
    // Now is 2026-03-20.
    await engine.load([
      storedEvent({ name: 'first', at: '2025-12-21T00:00:00Z' }),
      storedEvent({ name: 'earlier', at: '2025-12-20T23:59:59Z' }),
      storedEvent({ name: 'last', at: '2026-03-20T23:59:59Z' }),
      storedEvent({ name: 'later', at: '2026-03-21T00:00:00Z' }),
    ])
    expect(await found({ member: 'events.name' })).toEqual([
      ['first', 1],
      ['last', 1],
    ])
  })

  it('are those of purchases by purchases, and of identifiers by the events that hold them', async () => {
    await engine.load([
      storedEvent({
        name: 'purchase',
        transId: 'T',
        value: '1',
        ids: ['a', 'a', 'b'],
        labels: { store: 'x' },
      }),
      storedEvent({
        name: 'purchase_references',
        transId: 'T',
        at: '2026-03-11T00:00:00Z',
        labels: { store: 'y' },
      }),
    ])
    expect(await found({ member: 'purchases.label.store' })).toEqual([['x', 1]])
    expect(await found({ member: 'events.item' })).toEqual([
      ['a', 1],
      ['b', 1],
    ])
  })

  it('are those of the own company', async () => {
    await engine.load([storedEvent({ company: otherCompany, name: 'secret' })])
    expect(await found({ member: 'events.name' })).toEqual([])
  })

  it.each([
    [{}, 1, 'member is required'],
    [{ member: 'events.nmae' }, 9100, 'did you mean events.name?'],
    [{ member: "x') from system.tables --" }, 9100, 'GET /v2/statistics/meta'],
    [{ member: 'events.count' }, 9103, 'is a measure'],
    [{ member: 'events.time' }, 9103, 'events.time is a time: only texts have values'],
    [{ member: 'events.time.day' }, 9103, 'events.time is a time'],
    [{ member: 'persons.cohort' }, 9103, 'rows are not grouped by persons.cohort'],
    [{ member: 'events.isIdentified' }, 9103, 'events.isIdentified is a boolean'],
    [{ member: 'events.name', limit: '0' }, 1, 'limit'],
    [{ member: 'events.name', limit: '101' }, 1, 'limit'],
    [{ member: 'events.name', limit: '1.5' }, 1, 'limit'],
    [{ member: 'events.name', contains: '' }, 1, 'contains'],
    [{ member: 'events.name', contains: 'x'.repeat(201) }, 1, 'contains'],
    [{ member: 'events.name', contains: '\0' }, 1, 'contains'],
    [{ member: 'x'.repeat(401) }, 1, 'member'],
    [{ member: 'events.name', companyId: otherCompany }, 1, 'companyId is not known'],
  ])('are refused for %j', async (parameters, code, message) => {
    const { status, body } = await values(parameters as Record<string, string>)
    expect({ status, code: body.error_code }).toEqual({ status: 400, code })
    expect(body.message).toContain(message)
  })

  it('need the permission Statistics: access', async () => {
    app.caller.permissions = ['statistics:export']
    expect((await values({ member: 'events.name' })).status).toBe(403)
  })
})
