import type { Evidence } from '@millrace/contract/resources/evidence.ts'
import type { Query } from '@millrace/contract/resources/query.ts'
import { expect, test } from 'vitest'
import { serialWhileIngesting } from './serial-queries.ts'

const query: Query = { measures: ['events.count'], dimensions: [], filters: [], timeDimensions: [] }

/** Queries that end when the test says so. */
function held(isIngesting: () => boolean) {
  const ends: (() => void)[] = []
  let [running, most] = [0, 0]
  const run = serialWhileIngesting(async () => {
    most = Math.max(most, ++running)
    await new Promise<void>((resolve) => ends.push(resolve))
    running--
    return { id: 'e' } as Evidence
  }, isIngesting)
  return {
    run: (companyId: string, signal?: AbortSignal) =>
      run(query, { companyId, readerId: null, ...(signal && { signal }) }),
    most: () => most,
    async endAll(): Promise<void> {
      for (let i = 0; i < 20; i++) {
        await Promise.resolve()
        ends.shift()?.()
      }
    },
  }
}

test('one query runs at a time while many events arrive, and several otherwise', async () => {
  let busy = true
  const queries = held(() => busy)
  const first = [queries.run('a'), queries.run('a'), queries.run('b')]
  await queries.endAll()
  await Promise.all(first)
  expect(queries.most()).toBe(1)
  busy = false
  const second = [queries.run('a'), queries.run('a')]
  await queries.endAll()
  await Promise.all(second)
  expect(queries.most()).toBe(2)
})

test('one that is aborted while it waits leaves its turn to the next', async () => {
  const queries = held(() => true)
  const leaving = new AbortController()
  const first = queries.run('a')
  const aborted = queries.run('a', leaving.signal)
  const third = queries.run('a')
  leaving.abort(new Error('left'))
  await expect(aborted).rejects.toThrow('left')
  await queries.endAll()
  await Promise.all([first, third])
  expect(queries.most()).toBe(1)
})
