import { expect, test } from 'vitest'
import { createDatasourceCache } from './datasource-cache.ts'

// docs/faults.md, K52
test('made-up identifiers of one network wait for their turn, and keep no datasource from others', async () => {
  const { promise: held, resolve: release } = Promise.withResolvers<void>()
  const asked: string[] = []
  const datasource = { id: 'real', companyId: 'company', active: true, countries: false }
  const cache = createDatasourceCache(
    async (id) => {
      asked.push(id)
      await held
      return id === 'real' ? datasource : undefined
    },
    { now: () => 0 },
  )
  const guesses = Array.from({ length: 200 }, (_, i) =>
    cache.find({ id: `made up ${i}`, address: '198.51.100.1' }),
  )
  const real = cache.find({ id: 'real', address: '203.0.113.1' })
  await new Promise(setImmediate)
  const atOnce = asked.length
  expect(atOnce).toBeGreaterThan(0)
  expect(atOnce).toBeLessThan(200)
  release()
  expect(await real).toEqual(datasource)
  expect(asked[atOnce]).toBe('real')
  expect(await Promise.all(guesses)).toEqual(Array(200).fill(undefined))
})
