import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { bucketKey, createSqlLeakyBuckets } from '../../src/platform/limits/sql-leaky-bucket.ts'
import { createTestDatabase, type TestDatabase } from '../support/postgres.ts'

let database: TestDatabase
const bucket = { key: bucketKey('test', 'a'), free: 3, drainSeconds: 100 }

const open = () => createSqlLeakyBuckets(database.db)
const count = async () => (await database.pool.query('select 1 from leaky_buckets')).rowCount

beforeAll(async () => {
  database = await createTestDatabase()
  database.follow()
})

beforeEach(async () => {
  await database.pool.query('delete from leaky_buckets')
})

afterAll(() => database.close())

test('so many are free at once, then one more after each pause; what is refused is not counted', async () => {
  const { take } = open()
  expect([await take(bucket), await take(bucket), await take(bucket)]).toEqual([0, 0, 0])
  expect([await take(bucket), await take(bucket)]).toEqual([100, 100])
  database.time.advance(99_500)
  expect(await take(bucket)).toBe(1)
  database.time.advance(500)
  expect([await take(bucket), await take(bucket)]).toEqual([0, 100])
})

test('of many requests at once on several connections exactly the free ones pass', async () => {
  const waits = await Promise.all(Array.from({ length: 12 }, () => open().take(bucket)))
  expect(waits.filter((seconds) => seconds === 0)).toHaveLength(3)
})

test('filling goes on beyond what is free, in every bucket, and tells how full they are', async () => {
  const { fill, listStates } = open()
  const other = { key: bucketKey('test', 'b'), drainSeconds: 10 }
  await fill([bucket, other])
  database.time.advance(4_000)
  for (let i = 0; i < 4; i++) await fill([bucket])
  database.time.advance(5_000)
  const states = await listStates([bucket, other])
  const of = (key: Buffer) => states.find((state) => state.key.equals(key))
  expect(of(bucket.key)).toMatchObject({ filledSeconds: 496, sinceLastFillSeconds: 5 })
  expect(of(other.key)).toMatchObject({ filledSeconds: 10, sinceLastFillSeconds: 9 })
  database.time.advance(1_000)
  expect(await listStates([other])).toEqual([])
})

test('a bucket that is forgotten is empty, and empty ones are swept by what comes later', async () => {
  const { take, fill, forget } = open()
  for (let i = 0; i < 3; i++) await take(bucket)
  await forget(bucket.key)
  expect(await take(bucket)).toBe(0)
  database.time.advance(161_000)
  await fill([{ key: bucketKey('test', 'c'), drainSeconds: 1 }])
  expect(await count()).toBe(1)
})

test('what is counted cannot be written so that it counts as something else', () => {
  expect(bucketKey('a', 'b', 'c')).not.toEqual(bucketKey('a', 'b\x001\0c'))
  expect(bucketKey('a', 'b')).not.toEqual(bucketKey('ab'))
})
