import { expect, test } from 'vitest'
import type { DataRow, RowQuery } from '../ports.ts'
import { createRowCache } from './row-cache.ts'

const query = (city: string, fields: Partial<RowQuery> = {}): RowQuery => ({
  companyId: 'c',
  datasourceId: 'd',
  match: 'and',
  filters: [{ field: 'city', operator: '$eq', value: city }],
  limit: 20,
  ...fields,
})

function world(options: { maxBytes?: number; maxStatements?: number } = {}) {
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

test('only so many statements are under way', async () => {
  const { state, cache } = world({ maxStatements: 2 })
  let release = () => {}
  state.hold = new Promise((resolve) => {
    release = resolve
  })
  const running = [cache.read(query('a')), cache.read(query('b'))]
  await expect(cache.read(query('c'))).rejects.toThrow('under way')
  release()
  await Promise.all(running)
  expect(state.queries).toBe(2)
})

test('slow look-ups in one datasource, or of one company, leave places for those of others', async () => {
  const { state, cache } = world({ maxStatements: 2 })
  let release = () => {}
  state.hold = new Promise((resolve) => {
    release = resolve
  })
  const running: unknown[] = []
  const ask = async (companyId: string, datasourceId: string, city: string) => {
    const asked = cache.read(query(city, { companyId, datasourceId }))
    running.push(asked)
    const refused = Promise.resolve(asked).then(
      () => false,
      () => true,
    )
    return Promise.race([refused, new Promise((resolve) => setImmediate(() => resolve(false)))])
  }
  for (const city of ['a', 'b', 'c']) expect(await ask('c', 'slow', city)).toBe(city === 'c')
  for (const city of ['a', 'b']) expect(await ask('c', 'other', city)).toBe(false)
  expect(await ask('c', 'third', 'a')).toBe(true)
  for (const datasource of ['x', 'y']) {
    for (const city of ['a', 'b']) expect(await ask('d', datasource, city)).toBe(false)
  }
  expect(await ask('e', 'z', 'a')).toBe(true)
  release()
  await Promise.allSettled(running)
  expect(await ask('c', 'slow', 'd')).toBe(false)
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
