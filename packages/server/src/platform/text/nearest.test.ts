import fc from 'fast-check'
import { expect, test } from 'vitest'
import { nearestName } from './nearest.ts'

test('names the known word that is a few edits away, whatever its case', () => {
  expect(nearestName('MILLRACE_PROT', ['MILLRACE_HOST', 'MILLRACE_PORT'])).toBe('MILLRACE_PORT')
  expect(nearestName('measure', ['measures', 'dimensions'])).toBe('measures')
})

test('names nothing when no known word is close', () => {
  expect(nearestName('zebra', ['measures', 'dimensions'])).toBeUndefined()
  expect(nearestName('c', ['a', 'b'])).toBeUndefined()
})

/** The definition of the distance, without any bound. */
function distanceOf(a: string, b: string): number {
  const rows = [Array.from({ length: b.length + 1 }, (_, j) => j)]
  for (let i = 1; i <= a.length; i++) {
    const row = [i]
    for (let j = 1; j <= b.length; j++) {
      const at = (y: number, x: number): number => rows[y]?.[x] ?? Number.POSITIVE_INFINITY
      const swap =
        i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]
          ? at(i - 2, j - 2) + 1
          : a.length + b.length
      row.push(
        Math.min(
          at(i - 1, j) + 1,
          (row[j - 1] ?? 0) + 1,
          at(i - 1, j - 1) + (a[i - 1] === b[j - 1] ? 0 : 1),
          swap,
        ),
      )
    }
    rows.push(row)
  }
  return rows[a.length]?.[b.length] ?? 0
}

test('finds what a comparison of everything with everything finds', () => {
  const word = fc.string({ unit: fc.constantFrom('a', 'b', 'c', '.'), maxLength: 14 })
  fc.assert(
    fc.property(word, fc.array(word, { maxLength: 6 }), (name, known) => {
      const distances = known.map((each) => distanceOf(name, each))
      const least = Math.min(...distances)
      const near = least <= Math.min(10, Math.max(2, Math.floor(name.length / 3)), name.length - 1)
      expect(nearestName(name, known)).toBe(near ? known[distances.indexOf(least)] : undefined)
    }),
    { numRuns: 500 },
  )
})

test('looks at few letters of long names that have nothing in common', () => {
  let looked = 0
  const long = (letter: string) => ({
    length: 100,
    toLowerCase: () =>
      new Proxy([...letter.repeat(100)], {
        get(letters, at) {
          if (/^\d+$/.test(String(at))) looked++
          return Reflect.get(letters, at)
        },
      }),
  })
  expect(nearestName('x'.repeat(100), [long('y') as unknown as string])).toBeUndefined()
  // All pairs would be 10,000.
  expect(looked).toBeGreaterThan(0)
  expect(looked).toBeLessThan(1_000)
})
