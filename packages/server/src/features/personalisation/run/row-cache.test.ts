import { expect, test } from 'vitest'
import type { DataRow, RowQuery } from '../compile/executable.ts'
import { createRowCache } from './row-cache.ts'

const query = (city: string, fields: Partial<RowQuery> = {}): RowQuery => ({
  companyId: 'c',
  datasourceId: 'd',
  match: 'and',
  filters: [{ field: 'city', operator: '$eq', value: city }],
  limit: 20,
  ...fields,
})

function world(options: { maxBytes?: number; maxStatements?: number; waitMs?: number } = {}) {
  const state = {
    now: 0,
    revision: '1',
    down: false,
    queries: 0,
    revisions: 0,
    row: { title: 'a' } as DataRow,
    hold: undefined as Promise<void> | undefined,
  }
  const cache = createRowCache({
    source: {
      async queryRows() {
        state.queries++
        await state.hold
        if (state.down) throw new Error('down')
        return { rows: [state.row], revision: state.revision }
      },
      async revisionOf() {
        state.revisions++
        if (state.down) throw new Error('down')
        return state.revision
      },
    },
    clock: { now: () => state.now },
    ...options,
  })
  return { state, cache }
}

test('rows are asked for once for as long as the revision stays', async () => {
  const { state, cache } = world()
  await cache.read(query('Lyon'))
  for (let i = 1; i <= 20; i++) {
    state.now = i * 300
    expect(await cache.read(query('Lyon'))).toEqual([{ title: 'a' }])
  }
  expect(state.queries).toBe(1)
  expect(state.revisions).toBeGreaterThan(3)
  expect(cache.read(query('Lyon'))).not.toBeInstanceOf(Promise)
})

test('other rows are answered within 800 ms', async () => {
  const { state, cache } = world()
  await cache.read(query('Lyon'))
  Object.assign(state, { revision: '2', row: { title: 'b' }, now: 100 })
  expect(cache.read(query('Lyon'))).toEqual([{ title: 'a' }])
  state.now = 900
  expect(await cache.read(query('Lyon'))).toEqual([{ title: 'b' }])
})

test('while the store is down, kept rows are answered and others fail', async () => {
  const { state, cache } = world()
  await cache.read(query('Lyon'))
  Object.assign(state, { down: true, now: 10_000 })
  expect(await cache.read(query('Lyon'))).toEqual([{ title: 'a' }])
  await expect(cache.read(query('Nice'))).rejects.toThrow('down')
})

test('the same rows are asked for once by all who need them at once', async () => {
  const { state, cache } = world()
  await Promise.all(Array.from({ length: 50 }, () => cache.read(query('Lyon'))))
  expect(state.queries).toBe(1)
})

test('only so many statements are under way, and others wait for their turn', async () => {
  const { state, cache } = world({ maxStatements: 2, waitMs: 60_000 })
  let release = () => {}
  state.hold = new Promise((resolve) => {
    release = resolve
  })
  const running = ['a', 'b', 'c', 'd', 'e'].map((city) => cache.read(query(city)))
  await new Promise((resolve) => setImmediate(resolve))
  expect(state.queries).toBe(2)
  release()
  expect(await Promise.all(running)).toHaveLength(5)
  expect(state.queries).toBe(5)
})

test('a statement whose turn does not come in time is not asked', async () => {
  const { state, cache } = world({ maxStatements: 1, waitMs: 10 })
  let release = () => {}
  state.hold = new Promise((resolve) => {
    release = resolve
  })
  const running = cache.read(query('a'))
  await expect(cache.read(query('b'))).rejects.toThrow('end in time')
  release()
  await running
  expect(state.queries).toBe(1)
  await cache.read(query('b'))
  expect(state.queries).toBe(2)
})

test('of statements that wait there are no more than can end in time', async () => {
  const { state, cache } = world({ maxStatements: 1, waitMs: 60_000 })
  let release = () => {}
  state.hold = new Promise((resolve) => {
    release = resolve
  })
  const waiting = Array.from({ length: 9 }, (_, i) => cache.read(query(`${i}`)))
  await expect(cache.read(query('one too many'))).rejects.toThrow('under way')
  release()
  await Promise.all(waiting)
})

test('slow look-ups in one datasource, or of one company, leave turns to those of others', async () => {
  const { state, cache } = world({ maxStatements: 2, waitMs: 60_000 })
  let release = () => {}
  state.hold = new Promise((resolve) => {
    release = resolve
  })
  const running: unknown[] = []
  const asks = async (companyId: string, datasourceId: string, city: string) => {
    const before = state.queries
    running.push(cache.read(query(city, { companyId, datasourceId })))
    await new Promise((resolve) => setImmediate(resolve))
    return state.queries > before
  }
  for (const city of ['a', 'b', 'c']) expect(await asks('c', 'slow', city)).toBe(city !== 'c')
  for (const city of ['a', 'b']) expect(await asks('c', 'other', city)).toBe(true)
  expect(await asks('c', 'third', 'a')).toBe(false)
  for (const datasource of ['x', 'y']) {
    for (const city of ['a', 'b']) expect(await asks('d', datasource, city)).toBe(true)
  }
  expect(await asks('e', 'z', 'a')).toBe(false)
  release()
  await Promise.all(running)
  expect(await asks('c', 'slow', 'd')).toBe(true)
})

test('no more is kept than there is room for, the least used goes first', async () => {
  const { state, cache } = world({ maxBytes: 20_000 })
  state.row = { title: 'x'.repeat(1_000) }
  for (let i = 0; i < 100; i++) {
    await cache.read(query(`city ${i}`))
    await cache.read(query('city 0'))
  }
  expect(cache.size()).toBeLessThanOrEqual(20_000)
  const { queries } = state
  await cache.read(query('city 0'))
  expect(state.queries).toBe(queries)
  await cache.read(query('city 1'))
  expect(state.queries).toBe(queries + 1)
})

test('companies share nothing, not even what is known of a datasource', async () => {
  const { state, cache } = world()
  await cache.read(query('Lyon'))
  state.revision = '9'
  await cache.read(query('Lyon', { companyId: 'other' }))
  expect(state.queries).toBe(2)
  expect(cache.read(query('Lyon'))).toEqual([{ title: 'a' }])
  expect(state.queries).toBe(2)
})
