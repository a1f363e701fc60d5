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

it('the version is asked for once by all who come while it is being read, and never older than the question', async () => {
  const { asked, readVersion } = open()
  const first = readVersion()
  const [second, third] = [readVersion(), readVersion()]
  expect(asked).toHaveLength(1)
  asked[0]?.resolve([{ version: '1' }])
  expect(await first).toBe('1 ')
  await expect.poll(() => asked.length).toBe(2)
  const fourth = readVersion()
  asked[1]?.resolve([{ version: '2' }])
  expect(await Promise.all([second, third])).toEqual(['2 ', '2 '])
  await expect.poll(() => asked.length).toBe(3)
  asked[2]?.resolve([{ version: '3' }])
  expect(await fourth).toBe('3 ')
})

it('a read that fails is the failure of those who share it alone', async () => {
  const { asked, readVersion } = open()
  const first = readVersion()
  const second = readVersion()
  asked[0]?.reject(new Error('gone'))
  await expect(first).rejects.toThrow('gone')
  await expect.poll(() => asked.length).toBe(2)
  asked[1]?.resolve([{ version: '2' }])
  expect(await second).toBe('2 ')
})
