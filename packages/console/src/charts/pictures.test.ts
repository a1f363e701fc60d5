import { expect, test } from 'vitest'
import { mapColumns, mapRows, tiles } from './countries.ts'
import { arc, maxParts, partsOf } from './pie-parts.ts'

test('every country has a square of its own', () => {
  expect(new Set(tiles.map(({ code }) => code)).size).toBe(tiles.length)
  expect(new Set(tiles.map(({ column, row }) => `${column} ${row}`)).size).toBe(tiles.length)
  for (const { code, column, row } of tiles) {
    expect(code).toMatch(/^[A-Z]{2}$/)
    expect(column).toBeLessThan(mapColumns)
    expect(row).toBeLessThan(mapRows)
  }
  expect(tiles.length).toBeGreaterThan(200)
})

test('a pie has at most eight parts, of which the last is all others', () => {
  const parts = partsOf(
    Array.from({ length: 12 }, (_, i) => ({ label: `p${i}`, value: i })),
    'others',
  )
  expect(parts).toHaveLength(maxParts)
  expect(parts?.at(-1)).toEqual({ label: 'others', value: 1 + 2 + 3 + 4, isRest: true })
  expect(parts?.reduce((sum, { value }) => sum + value, 0)).toBe(66)
  expect(partsOf([{ label: 'a', value: -1 }], 'others')).toBeUndefined()
  expect(partsOf([{ label: 'a', value: 0 }], 'others')).toEqual([])
})

test('an arc over half the round is the large one', () => {
  expect(arc(0, 0.25, 100, 60)).toContain('A100 100 0 0 1 100.00')
  expect(arc(0, 0.75, 100, 60)).toContain('A100 100 0 1 1')
  expect(arc(0, 1, 100, 60)).not.toContain('NaN')
})
