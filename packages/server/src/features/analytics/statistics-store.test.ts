import { expect, it } from 'vitest'
import type { Columnar } from '../../platform/stores/columnar.ts'
import { createStatisticsStore } from './statistics-store.ts'

/** A store that answers when it is told to, and counts what was asked. */
function open() {
  const asked: PromiseWithResolvers<object[]>[] = []
  const query = () => {
    const answer = Promise.withResolvers<object[]>()
    asked.push(answer)
    return answer.promise
  }
  const columnar = { query } as unknown as Columnar
  return { asked, ...createStatisticsStore({ columnar, hidden: { ids: () => [] } }) }
}

/** A table of so many parts. */
const stored = (parts: number) =>
  Array.from({ length: parts }, (_, i) => part({ first: i + 1, last: i + 1, rows: 10 }))
const part = (of: { first: number; last: number; rows: number }) => ({
  ...{ table: 'events', partition: '202611', version: 1, ...of },
})
const named = (parts: number) => `events 202611 ${parts} ${parts} 1 ${10 * parts} `

it('the version is asked for once by all who come while it is being read, and never older than the question', async () => {
  const { asked, readVersion } = open()
  const first = readVersion()
  const [second, third] = [readVersion(), readVersion()]
  expect(asked).toHaveLength(1)
  asked[0]?.resolve(stored(1))
  expect(await first).toBe(named(1))
  await expect.poll(() => asked.length).toBe(2)
  const fourth = readVersion()
  asked[1]?.resolve(stored(2))
  expect(await Promise.all([second, third])).toEqual([named(2), named(2)])
  await expect.poll(() => asked.length).toBe(3)
  asked[2]?.resolve(stored(3))
  expect(await fourth).toBe(named(3))
})

it('a read that fails is the failure of those who share it alone', async () => {
  const { asked, readVersion } = open()
  const first = readVersion()
  const second = readVersion()
  asked[0]?.reject(new Error('gone'))
  await expect(first).rejects.toThrow('gone')
  await expect.poll(() => asked.length).toBe(2)
  asked[1]?.resolve(stored(2))
  expect(await second).toBe(named(2))
})

it('the version is another one when rows are added, changed or removed, and the same when parts are merged', async () => {
  const { asked, readVersion } = open()
  const versionOf = async (parts: object[]) => {
    const version = readVersion()
    asked.at(-1)?.resolve(parts)
    return await version
  }
  const two = await versionOf(stored(2))
  expect(await versionOf([part({ first: 1, last: 2, rows: 20 })])).toBe(two)
  expect(await versionOf(stored(2).reverse())).toBe(two)
  const others = [
    stored(3),
    stored(1),
    [{ ...part({ first: 1, last: 2, rows: 20 }), version: 3 }],
    [part({ first: 1, last: 2, rows: 19 })],
    [part({ first: 2, last: 3, rows: 20 })],
    [{ ...part({ first: 1, last: 2, rows: 20 }), table: 'purchases' }],
    [...stored(2), { ...part({ first: 1, last: 1, rows: 1 }), partition: '202612' }],
  ]
  const versions = new Set([two])
  for (const parts of others) versions.add(await versionOf(parts))
  expect(versions.size).toBe(others.length + 1)
})
