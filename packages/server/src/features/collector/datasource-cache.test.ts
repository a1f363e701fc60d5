import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { type CollectorDatasource, createDatasourceCache } from './datasource-cache.ts'

const shop: CollectorDatasource = {
  id: 'a'.repeat(24),
  companyId: 'c'.repeat(24),
  active: true,
  countries: true,
}

/** A cache over a store whose contents, failures and clock the test moves. */
function cacheOver(found: CollectorDatasource | undefined, options = {}) {
  const store = { found, asked: 0, fails: false, hangs: false, now: 1_000_000 }
  const cache = createDatasourceCache({
    clock: { now: () => store.now },
    async find() {
      store.asked++
      if (store.hangs) await new Promise(() => {})
      if (store.fails) throw new Error('down')
      return store.found
    },
    ...options,
  })
  return { store, find: (id = shop.id) => cache.find(id) }
}

test('asks once, however many ask at once, and answers at once from then on', async () => {
  const { store, find } = cacheOver(shop)
  expect(await Promise.all([find(), find(), find()])).toEqual([shop, shop, shop])
  expect(find()).toBe(shop)
  expect(store.asked).toBe(1)
})

test('renews a datasource in use behind its answer', async () => {
  const { store, find } = cacheOver(shop)
  await find()
  store.found = { ...shop, active: false }
  store.now += 4000
  expect(find()).toBe(shop)
  expect(find()).toBe(shop)
  await sleep(1)
  expect(store.asked).toBe(2)
  expect(find()).toEqual({ ...shop, active: false })
})

test('asks before it answers for a datasource that was not in use', async () => {
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
  store.hangs = true
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
  await expect(find('b'.repeat(24))).rejects.toThrow('down')
  store.fails = false
  expect(await find()).toBeUndefined()
})

test('forgets the oldest of many unknown identifiers, and refuses a flood of them', async () => {
  const { store, find } = cacheOver(undefined, { capacity: 2, lookUps: 3 })
  for (const id of ['1', '2', '3']) await find(id)
  expect(find('3')).toBeUndefined()
  expect(await find('1')).toBeUndefined()
  expect(store.asked).toBe(4)
  store.hangs = true
  for (const id of ['4', '5', '6']) void find(id)
  await expect(find('7')).rejects.toThrow('too many')
})

test('asks again when the clock was set back', async () => {
  const { store, find } = cacheOver(shop)
  await find()
  store.now -= 3_600_000
  expect(await find()).toBe(shop)
  expect(store.asked).toBe(2)
})
