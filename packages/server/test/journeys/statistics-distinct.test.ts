import { afterAll, beforeAll, expect, it } from 'vitest'
import {
  distinctCount,
  exactUpTo,
  relativeError,
} from '../../src/features/analytics/catalogue/distinct-counts.ts'
import { createTestColumnar, type TestEngine } from '../support/columnar.ts'

let engine: TestEngine

beforeAll(async () => {
  engine = await createTestColumnar()
})

afterAll(() => engine.close())

/** The estimate and the exact number of so many different values, each of which comes twice. */
async function counted(count: number, condition?: string): Promise<{ estimate: number; exact: number }> {
  const { estimate, aggregate } = distinctCount('value', condition)
  const [row] = await engine.query<{ estimate: string; exact: string }>({
    sql: `SELECT toString(${estimate.sql}) AS estimate, toString(${aggregate.sql}) AS exact
          FROM (SELECT sipHash64(number % ${count}) AS value, number % 2 AS odd FROM numbers(${2 * count}))`,
  })
  return { estimate: Number(row?.estimate), exact: Number(row?.exact) }
}

it.each([0, 1, 1_000, exactUpTo - 1, exactUpTo])('an estimate of %i is exact', async (count) => {
  expect(await counted(count === 0 ? 1 : count, count === 0 ? 'odd > 1' : undefined)).toEqual({
    estimate: count,
    exact: count,
  })
})

it.each([exactUpTo + 1, 70_000, 131_072, 300_000, 1_000_000])(
  'an estimate of %i is within 1 %%',
  async (count) => {
    const { estimate, exact } = await counted(count)
    expect(exact).toBe(count)
    expect(Math.abs(estimate / count - 1)).toBeLessThan(relativeError)
  },
)

it('an estimate counts only rows that fulfil its condition', async () => {
  const { estimate, exact } = await counted(exactUpTo, 'odd = 1')
  expect({ estimate, exact }).toEqual({ estimate: exactUpTo / 2, exact: exactUpTo / 2 })
})
