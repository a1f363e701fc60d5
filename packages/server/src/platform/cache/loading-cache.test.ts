import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { createLoadingCache, type LoadingCacheOptions } from './loading-cache.ts'

interface Thing {
  readonly name: string
}

const shop: Thing = { name: 'shop' }

/** A cache over a store whose contents, failures and clock the test moves. */
function cacheOver(
  found: Thing | undefined,
  options: Partial<LoadingCacheOptions<string, Thing | undefined>> = {},
) {
  const store = {
    found,
    asked: 0,
    fails: false,
    hold: undefined as Promise<void> | undefined,
    now: 1_000_000,
  }
  const cache = createLoadingCache<string, Thing | undefined>({
    keyOf: (key) => key,
    clock: { now: () => store.now },
    async load() {
      store.asked++
      const answer = store.found
      await store.hold
      if (store.fails) throw new Error('down')
      return answer
    },
    freshMs: 5_000,
    renewShare: 0.6,
    absentMs: 5_000,
    staleOnError: true,
    ...options,
  })
  return { store, cache, find: (key = 'shop') => cache.find(key) }
}

const never = new Promise<void>(() => {})

test('asks once, however many ask at once, and answers at once from then on', async () => {
  const { store, find } = cacheOver(shop)
  expect(await Promise.all([find(), find(), find()])).toEqual([shop, shop, shop])
  expect(find()).toBe(shop)
  expect(store.asked).toBe(1)
})

test('renews what is in use behind its answer', async () => {
  const { store, find } = cacheOver(shop)
  await find()
  store.found = { name: 'other' }
  store.now += 4000
  expect(find()).toBe(shop)
  expect(find()).toBe(shop)
  await sleep(1)
  expect(store.asked).toBe(2)
  expect(find()).toEqual({ name: 'other' })
})

test('asks before it answers for what was not in use', async () => {
  const { store, find } = cacheOver(shop)
  await find()
  store.found = undefined
  store.now += 6000
  expect(await find()).toBeUndefined()
  expect(find()).toBeUndefined()
  expect(store.asked).toBe(2)
})

test('serves what it knows for as long as the store is down', async () => {
  const { store, find } = cacheOver(shop)
  await find()
  store.fails = true
  for (let hour = 0; hour < 3; hour++) {
    store.now += 3_600_000
    expect(await find()).toBe(shop)
    expect(find()).toBe(shop)
  }
  store.fails = false
  store.found = undefined
  store.now += 6000
  expect(await find()).toBeUndefined()
})

test('does not wait for a store that does not answer', async () => {
  const { store, find } = cacheOver(shop, { waitMs: 20 })
  await find()
  store.hold = never
  store.now += 60_000
  expect(await find()).toBe(shop)
  expect(find()).toBe(shop)
})

test('believes for five seconds that there is none, and asks again then', async () => {
  const { store, find } = cacheOver(undefined)
  expect(await find()).toBeUndefined()
  store.found = shop
  store.now += 4900
  expect(find()).toBeUndefined()
  store.now += 100
  expect(await find()).toBe(shop)
})

test('rejects when the store is down and nothing is known, also of what was absent before', async () => {
  const { store, find } = cacheOver(undefined)
  await find()
  store.fails = true
  store.now += 6000
  await expect(find()).rejects.toThrow('down')
  await expect(find('other')).rejects.toThrow('down')
  store.fails = false
  expect(await find()).toBeUndefined()
})

test('forgets the oldest of many unknown keys, and refuses a flood of them', async () => {
  const { store, find } = cacheOver(undefined, { maxEntries: 2, maxLoads: 3 })
  for (const id of ['1', '2', '3']) await find(id)
  expect(find('3')).toBeUndefined()
  expect(await find('1')).toBeUndefined()
  expect(store.asked).toBe(4)
  store.hold = never
  for (const id of ['4', '5', '6']) void find(id)
  await expect(find('7')).rejects.toThrow('too many')
})

test('unknown keys displace nothing that is known, and what is used least goes first', async () => {
  const { store, find } = cacheOver(shop, { maxEntries: 2 })
  await find('a')
  await find('b')
  store.found = undefined
  for (let i = 0; i < 10; i++) await find(`made up ${i}`)
  expect([find('a'), find('b')]).toEqual([shop, shop])
  store.found = { name: 'c' }
  find('a')
  await find('c')
  expect(find('a')).toBe(shop)
  expect(find('b')).toBeInstanceOf(Promise)
})

test('what has changed while it was loaded is loaded again, for all who wait', async () => {
  const { store, cache, find } = cacheOver(shop)
  const release = Promise.withResolvers<void>()
  store.hold = release.promise
  const before = find()
  store.found = { name: 'changed' }
  cache.invalidate(() => false)
  const after = find()
  release.resolve()
  expect(await Promise.all([before, after])).toEqual([{ name: 'changed' }, { name: 'changed' }])
  expect(store.asked).toBe(2)
})

test('what changes each time that it is loaded is answered and not kept', async () => {
  let asked = 0
  const cache = createLoadingCache({
    keyOf: (key: string) => key,
    clock: { now: () => 1 },
    async load() {
      cache.invalidate()
      return ++asked
    },
    freshMs: 5_000,
  })
  expect(await cache.find('a')).toBe(3)
  expect(await cache.find('a')).toBe(6)
})

test('a notice is for what it is about; the others stand', async () => {
  const { store, cache, find } = cacheOver(shop)
  await find('a')
  await find('b')
  store.found = { name: 'changed' }
  cache.invalidate((_, key) => key === 'a')
  expect(find('b')).toBe(shop)
  expect(await find('a')).toEqual({ name: 'changed' })
  cache.invalidate()
  expect(await find('b')).toEqual({ name: 'changed' })
})

test('where nothing may stand in, a failure is a failure, and the next request asks again', async () => {
  const { store, find } = cacheOver(shop, { staleOnError: false })
  await find()
  store.fails = true
  store.now += 4_000
  expect(find(), 'renewed behind the answer').toBe(shop)
  await sleep(1)
  store.now += 4_000
  await expect(find()).rejects.toThrow('down')
  store.fails = false
  expect(await find()).toBe(shop)
})

test('holds no more bytes than it may, and nothing that is too large', async () => {
  const { store, cache, find } = cacheOver(shop, {
    size: { maxBytes: 30, maxEntryBytes: 20, bytesOf: ({ name }) => name.length },
  })
  store.found = { name: 'x'.repeat(10) }
  for (const key of ['a', 'b', 'c', 'd']) await find(key)
  expect(cache.size()).toBe(30)
  store.found = { name: 'x'.repeat(21) }
  await find('large')
  expect(cache.size()).toBe(30)
  expect(find('d')).not.toBeInstanceOf(Promise)
})

test('a change that could not be read is read once the store answers again', async () => {
  const { store, cache, find } = cacheOver(shop, { freshMs: 60_000 })
  await find()
  Object.assign(store, { found: { name: 'changed' }, fails: true })
  cache.invalidate()
  expect(await find()).toBe(shop)
  expect(find(), 'a store that is down is not asked each time').toBe(shop)
  store.fails = false
  store.now += 5_000
  expect(await find()).toEqual({ name: 'changed' })
})
