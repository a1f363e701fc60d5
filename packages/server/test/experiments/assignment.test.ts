import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import {
  assignmentBounds,
  assignmentPoint,
  assignVariant,
} from '@millrace/contract/experiments/assignment.ts'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createTestColumnar, type TestEngine } from '../support/columnar.ts'
import { times } from '../support/long.ts'

const page = readFileSync(join(import.meta.dirname, '../../../../docs/experiments.md'), 'utf8')
/** The expression that the page gives to users of ClickHouse: an index of a variant, from 1. */
const documented = /```sql\n(arrayFirstIndex[\s\S]*?)```/.exec(page)?.[1] ?? ''

const allocated = (shares: readonly number[]) => {
  const total = shares.reduce((sum, share) => sum + share, 0)
  return shares.map((share, i) => ({ id: String(i), allocation: share / total }))
}

describe('the documented SQL', () => {
  let engine: TestEngine
  beforeAll(async () => {
    engine = await createTestColumnar({ migrated: false })
  })
  afterAll(() => engine.close())

  async function assignedBySql(salt: string, units: readonly string[], bounds: readonly number[]) {
    const rows = await engine.query<{ place: number }>({
      sql: `SELECT ${documented} AS place
        FROM (SELECT arrayJoin(arrayZip({units:Array(String)}, arrayEnumerate({units:Array(String)}))) AS each,
          each.1 AS unit) ORDER BY each.2`,
      params: { salt, units, bounds },
    })
    return rows.map(({ place }) => String(place - 1))
  }

  test('assigns 10,000 random texts as the function does', async () => {
    const text = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 40 })
    const units = fc.sample(text, { numRuns: 10_000, seed: 13 })
    const shares = fc.sample(fc.array(fc.integer({ min: 1, max: 100 }), { minLength: 2, maxLength: 10 }), {
      numRuns: 5,
      seed: 13,
    })
    for (const [i, each] of shares.entries()) {
      const variants = allocated(each)
      const salt = createHash('md5').update(String(i)).digest('hex')
      const part = units.slice(i * 2000, (i + 1) * 2000)
      const expected = part.map((unit) => assignVariant(salt, unit, variants).id)
      expect(new Set(expected).size).toBe(variants.length)
      expect(await assignedBySql(salt, part, assignmentBounds(variants))).toEqual(expected)
    }
  })
})

/** Beyond it a chi-square statistic lies once in three million times (Wilson and Hilferty 1931, at z = 5). */
function bound(degrees: number): number {
  const spread = 2 / (9 * degrees)
  return degrees * (1 - spread + 5 * Math.sqrt(spread)) ** 3
}

const units: [string, (i: number) => string][] = [
  ['numbered customers', (i) => `customer-${i}`],
  ['bare numbers', (i) => String(i)],
  ['device ids', (i) => createHash('md5').update(String(i)).digest('hex')],
]
const count = times(1_000_000, 20_000)

describe.each(units)('%s', (_, unitOf) => {
  /** Of each unit in two experiments whose salts differ in one bit. */
  const points: Float64Array[] = []

  beforeAll(() => {
    for (const salt of ['0f3b8c1de94a47b6a0c5d7e8f9012344', '0f3b8c1de94a47b6a0c5d7e8f9012345'])
      points.push(Float64Array.from({ length: count }, (_unit, i) => assignmentPoint(salt, unitOf(i))))
  }, 600_000)

  const pointsOf = (experiment: number) => points[experiment] ?? new Float64Array()

  test('are spread evenly', () => {
    const cells = 1000
    const found = new Float64Array(cells)
    for (const point of pointsOf(0)) add(found, Math.floor(point * cells))
    const statistic = chiSquare(found, () => count / cells)
    expect(statistic).toBeLessThan(bound(cells - 1))
    // Too even would be no hash either.
    expect(statistic).toBeGreaterThan((cells - 1) * 0.7)
  })

  test('get shares as they are allocated', () => {
    const variants = allocated([1, 9, 30, 60])
    const bounds = assignmentBounds(variants)
    const found = new Float64Array(variants.length)
    for (const point of pointsOf(0))
      add(
        found,
        bounds.findIndex((each) => point < each),
      )
    const statistic = chiSquare(found, (i) => (variants[i]?.allocation ?? 0) * count)
    expect(statistic).toBeLessThan(bound(variants.length - 1))
  })

  test('get variants of two experiments independently', () => {
    const cells = 10
    const table = new Float64Array(cells * cells)
    const rows = new Float64Array(cells)
    const columns = new Float64Array(cells)
    const others = pointsOf(1)
    for (const [i, point] of pointsOf(0).entries()) {
      const row = Math.floor(point * cells)
      const column = Math.floor((others[i] ?? 0) * cells)
      add(table, row * cells + column)
      add(rows, row)
      add(columns, column)
    }
    const expected = (cell: number) =>
      ((rows[Math.floor(cell / cells)] ?? 0) * (columns[cell % cells] ?? 0)) / count
    expect(chiSquare(table, expected)).toBeLessThan(bound((cells - 1) ** 2))
  })
})

function add(counts: Float64Array, cell: number): void {
  counts[cell] = (counts[cell] ?? 0) + 1
}

function chiSquare(found: Float64Array, expected: (cell: number) => number): number {
  return found.reduce((sum, n, cell) => sum + (n - expected(cell)) ** 2 / expected(cell), 0)
}
