import { expect, test } from 'vitest'
import { createSemaphore, type Holders, SemaphoreFull } from './semaphore.ts'

/** Work that lasts until it is told to end, and the order in which it began. */
function createWorkshop(places: number, waitingPlaces: number) {
  const semaphore = createSemaphore(places, waitingPlaces)
  const begun: string[] = []
  const refused: string[] = []
  const ends = new Map<string, () => void>()
  const settled: Promise<unknown>[] = []
  return {
    semaphore,
    begun,
    refused,
    async add(name: string, holders: Holders = [name.slice(0, 1)]): Promise<void> {
      const { promise, resolve } = Promise.withResolvers<void>()
      ends.set(name, resolve)
      const work = () => {
        begun.push(name)
        return promise
      }
      settled.push(
        semaphore.run(work, holders).catch((error: unknown) => {
          expect(error).toBeInstanceOf(SemaphoreFull)
          refused.push(name)
        }),
      )
      await new Promise(setImmediate)
    },
    async end(name: string): Promise<void> {
      ends.get(name)?.()
      await new Promise(setImmediate)
    },
    async endAll(): Promise<void> {
      for (const end of ends.values()) end()
      await Promise.all(settled)
      expect(semaphore.load()).toEqual({ running: 0, waiting: 0 })
    },
  }
}

test('one holder alone may take every place, and beyond them is refused', async () => {
  const shop = createWorkshop(2, 2)
  for (const name of ['a1', 'a2', 'a3', 'a4', 'a5']) await shop.add(name)
  expect(shop.begun).toEqual(['a1', 'a2'])
  expect(shop.refused).toEqual(['a5'])
  await shop.endAll()
})

test('another holder takes the newest waiting place of the one with the most, and is next', async () => {
  const shop = createWorkshop(2, 3)
  for (const name of ['a1', 'a2', 'a3', 'a4', 'a5']) await shop.add(name)
  await shop.add('b1')
  expect(shop.refused).toEqual(['a5'])
  await shop.end('a1')
  expect(shop.begun).toEqual(['a1', 'a2', 'b1'])
  await shop.add('b2')
  await shop.add('a6')
  expect(shop.refused).toEqual(['a5', 'a6'])
  await shop.endAll()
})

test('holders of equally many do not displace each other', async () => {
  const shop = createWorkshop(1, 2)
  for (const name of ['a1', 'b1', 'c1', 'd1', 'a2', 'b2']) await shop.add(name)
  expect(shop.refused).toEqual(['d1', 'a2', 'b2'])
  await shop.endAll()
})

test('many narrow holders of one wide one count together against another wide one, and apart among themselves', async () => {
  const shop = createWorkshop(1, 4)
  for (const name of ['1', '2', '3', '4', '4b'])
    await shop.add(`a${name}`, ['wide a', `a${name.slice(0, 1)}`])
  await shop.add('a5', ['wide a', 'a5'])
  expect(shop.refused).toEqual(['a4b'])
  await shop.add('a6', ['wide a', 'a6'])
  expect(shop.refused).toEqual(['a4b', 'a6'])
  await shop.add('b1', ['wide b', 'b1'])
  expect(shop.refused).toEqual(['a4b', 'a6', 'a5'])
  await shop.end('a1')
  expect(shop.begun.at(-1)).toBe('b1')
  await shop.endAll()
})

test('what fails leaves its place', async () => {
  const semaphore = createSemaphore(1, 0)
  await expect(semaphore.run(() => Promise.reject(new Error('broken')), ['a'])).rejects.toThrow('broken')
  expect(await semaphore.run(async () => 'next', ['a'])).toBe('next')
})

test('a wait ends with its signal and leaves no trace', async () => {
  const semaphore = createSemaphore(1, 1)
  const release = await semaphore.acquire({ holders: ['a'] })
  const leaving = new AbortController()
  const waiting = semaphore.acquire({ holders: ['b'], signal: leaving.signal })
  leaving.abort(new Error('left'))
  await expect(waiting).rejects.toThrow('left')
  expect(semaphore.load()).toEqual({ running: 1, waiting: 0 })
  release()
  release()
  expect(semaphore.load()).toEqual({ running: 0, waiting: 0 })
})
