import type { PathsQuery } from '@millrace/contract/resources/paths.ts'
import { describe, expect, it } from 'vitest'
import type { StatisticsApp } from '../support/statistics-app.ts'
import type { StatisticsEngine } from '../support/statistics-engine.ts'
import { otherCompany, type StoredEvent, storedEvent } from '../support/statistics-events.ts'
import { useStatistics } from '../support/statistics-interface.ts'

let engine: StatisticsEngine
let app: StatisticsApp
useStatistics((opened) => {
  engine = opened.engine
  app = opened.app
})

const path = '/v2/statistics/paths'
const march: PathsQuery = { by: 'event', dateRange: ['2026-03-10', '2026-03-12'] }

async function rows(query: Partial<PathsQuery> = {}): Promise<Record<string, unknown>[]> {
  const { status, body } = await app.post({ ...march, ...query }, { path })
  if (status !== 200) throw new Error(`${status} ${body.message}`)
  return JSON.parse(String(body.data))
}

/** `<depth> <from> > <to>: <sessions>/<people>`, with `^` for a start, `$` for an end and `*` for the rest. */
async function edges(query: Partial<PathsQuery> = {}): Promise<string[]> {
  return (await rows(query)).map(({ depth, kind, from, to, sessions, people }) => {
    const edge = kind === 'rest' ? '*' : `${from ?? '^'} > ${to ?? '$'}`
    return `${depth} ${edge}: ${sessions}/${people}`
  })
}

/** Events of one session, a minute apart. */
function session(names: string, at: string, fields: Partial<StoredEvent> = {}): StoredEvent[] {
  const start = Date.parse(`2026-03-${at}:00Z`)
  return [...names].map((name, i) => storedEvent({ name, time: start + i * 60_000, ...fields }))
}

describe('paths', () => {
  it('are the edges from the start of a session to its end', async () => {
    await engine.load([
      ...session('abc', '10T12:00'),
      ...session('ab', '10T14:00'),
      ...session('ba', '10T12:00', { tmpId: 'device-2' }),
    ])
    expect(await rows({ depth: 1 })).toEqual([
      { depth: 1, kind: 'start', from: null, to: 'a', sessions: 2, people: 1 },
      { depth: 1, kind: 'start', from: null, to: 'b', sessions: 1, people: 1 },
    ])
    expect(await edges()).toEqual([
      '1 ^ > a: 2/1',
      '1 ^ > b: 1/1',
      '2 a > b: 2/1',
      '2 b > a: 1/1',
      '3 a > $: 1/1',
      '3 b > $: 1/1',
      '3 b > c: 1/1',
      '4 c > $: 1/1',
    ])
    expect((await edges({ depth: 10 })).at(-1)).toBe('4 c > $: 1/1')
  })

  it('begin at a step, or lead to one', async () => {
    await engine.load([
      ...session('abcbd', '10T12:00'),
      ...session('bb', '10T14:00'),
      ...session('ac', '10T12:00', { tmpId: 'device-2' }),
    ])
    expect(await edges({ from: 'b' })).toEqual([
      '1 b > $: 1/1',
      '1 b > c: 1/1',
      '2 c > b: 1/1',
      '3 b > d: 1/1',
      '4 d > $: 1/1',
    ])
    expect(await edges({ to: 'c' })).toEqual([
      '1 a > c: 1/1',
      '1 b > c: 1/1',
      '2 ^ > a: 1/1',
      '2 a > b: 1/1',
      '3 ^ > a: 1/1',
    ])
    expect(await edges({ from: 'x' })).toEqual([])
    expect(await edges({ from: 'B' })).toEqual([])
  })

  it('count a repeated step once, unless repeats are kept', async () => {
    await engine.load(session('aab', '10T12:00'))
    expect(await edges()).toEqual(['1 ^ > a: 1/1', '2 a > b: 1/1', '3 b > $: 1/1'])
    expect(await edges({ repeats: 'keep', depth: 3 })).toEqual([
      '1 ^ > a: 1/1',
      '2 a > a: 1/1',
      '3 a > b: 1/1',
    ])
  })

  it('show the largest edges of each depth and the rest as one, whose persons are distinct', async () => {
    await engine.load([
      ...['10T08:00', '10T10:00', '10T12:00'].flatMap((at) => session('a', at)),
      ...['10T08:00', '10T10:00'].flatMap((at) => session('b', at, { tmpId: 'device-2' })),
      ...session('c', '10T12:00', { tmpId: 'device-2' }),
      ...session('d', '10T14:00', { tmpId: 'device-2' }),
      ...session('d', '10T14:00', { tmpId: 'device-3' }),
    ])
    expect(await edges({ limit: 1 })).toEqual(['1 ^ > a: 3/1', '1 *: 5/2', '2 a > $: 3/1', '2 *: 5/2'])
    expect(await edges({ limit: 3, depth: 1 })).toEqual([
      '1 ^ > a: 3/1',
      '1 ^ > b: 2/1',
      '1 ^ > d: 2/2',
      '1 *: 1/1',
    ])
  })

  it('of pages have the paths of addresses and screens; other events are no steps', async () => {
    const visit = (url: string, minute: number) =>
      storedEvent({ url, time: Date.parse('2026-03-10T12:00:00Z') + minute * 60_000 })
    await engine.load([
      visit('https://shop.example', 0),
      visit('https://shop.example/p?x=1', 1),
      visit('', 20),
      visit('https://shop.example/p#top', 40),
      visit('screen/home', 45),
    ])
    expect(await edges({ by: 'path' })).toEqual([
      '1 ^ > /: 1/1',
      '2 / > /p: 1/1',
      '3 /p > screen/home: 1/1',
      '4 screen/home > $: 1/1',
    ])
    expect(await edges({ by: 'path', from: '/p' })).toEqual([
      '1 /p > screen/home: 1/1',
      '2 screen/home > $: 1/1',
    ])
  })

  it('belong to the range in which the session starts, with what follows its end', async () => {
    await engine.load([
      ...session('ab', '09T23:59'),
      ...session('cd', '10T00:30', { tmpId: 'device-2' }),
      ...session('x', '10T00:00', { tmpId: 'device-2' }),
      ...session('ef', '12T23:59', { tmpId: 'device-3' }),
      ...session('y', '13T00:00', { tmpId: 'device-4' }),
      // 30 minutes are no gap.
      ...session('g', '12T23:00', { tmpId: 'device-5' }),
      ...session('h', '12T23:30', { tmpId: 'device-5' }),
      ...session('i', '13T00:00', { tmpId: 'device-5' }),
    ])
    expect(await edges({ depth: 10 })).toEqual([
      '1 ^ > e: 1/1',
      '1 ^ > g: 1/1',
      '1 ^ > x: 1/1',
      '2 e > f: 1/1',
      '2 g > h: 1/1',
      '2 x > c: 1/1',
      '3 c > d: 1/1',
      '3 f > $: 1/1',
      '3 h > i: 1/1',
      '4 d > $: 1/1',
      '4 i > $: 1/1',
    ])
  })

  it('read the days of the company’s zone', async () => {
    app.timezone = 'Asia/Kathmandu'
    await engine.load([...session('a', '09T18:14'), ...session('b', '09T18:15', { tmpId: 'device-2' })])
    expect(await edges({ depth: 1, dateRange: ['2026-03-10', '2026-03-10'] })).toEqual(['1 ^ > b: 1/1'])
    app.timezone = 'UTC'
  })

  it('are made of the events that pass the filters', async () => {
    await engine.load([
      ...session('a', '10T12:00'),
      ...session('b', '10T12:20', { labels: { x: '1' } }),
      ...session('c', '10T12:40'),
    ])
    expect(await edges({ depth: 4 })).toEqual([
      '1 ^ > a: 1/1',
      '2 a > b: 1/1',
      '3 b > c: 1/1',
      '4 c > $: 1/1',
    ])
    const filters = [{ member: 'events.label.x', operator: 'notEquals' as const, values: ['1'] }]
    expect(await edges({ filters, depth: 1 })).toEqual(['1 ^ > a: 1/1', '1 ^ > c: 1/1'])
  })

  it('join the devices of a person whom an identify binds later', async () => {
    await engine.load([
      ...session('a', '10T12:00', { tmpId: 'phone' }),
      ...session('b', '10T12:10', { tmpId: 'laptop' }),
    ])
    expect(await edges({ depth: 1 })).toEqual(['1 ^ > a: 1/1', '1 ^ > b: 1/1'])
    await engine.load(
      ['phone', 'laptop'].map((tmpId) =>
        storedEvent({ name: 'identify', clientId: 'ada', tmpId, at: '2026-03-15T12:00:00Z' }),
      ),
    )
    expect(await edges({ depth: 2 })).toEqual(['1 ^ > a: 1/1', '2 a > b: 1/1'])
  })

  it('put events of one instant in the order of their bytes, whatever the order of arrival', async () => {
    const at = { at: '2026-03-10T12:00:00Z' }
    await engine.load(['é', 'b', 'a', 'B'].map((name) => storedEvent({ name, ...at })))
    expect(await edges()).toEqual([
      '1 ^ > B: 1/1',
      '2 B > a: 1/1',
      '3 a > b: 1/1',
      '4 b > é: 1/1',
      '5 é > $: 1/1',
    ])
  })

  it('see nothing of another company', async () => {
    await engine.load(session('ab', '10T12:00'))
    app.caller.companyId = otherCompany
    expect(await edges()).toEqual([])
  })

  it('defuse formulas in CSV (Q19)', async () => {
    await engine.load([storedEvent({ name: '=1+1', at: '2026-03-10T12:00:00Z' })])
    const { text } = await app.post({ ...march, depth: 1 }, { path, accept: 'text/csv' })
    expect(text).toBe("depth,kind,from,to,sessions,people\r\n1,start,,'=1+1,1,1\r\n")
  })
})
