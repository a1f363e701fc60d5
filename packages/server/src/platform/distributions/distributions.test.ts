import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { chiSquareSurvival } from './chi-square.ts'
import { regularisedBeta } from './incomplete-beta.ts'
import { normalSurvival, normalUpperQuantile } from './normal.ts'
import { solveDecreasing } from './solve.ts'
import { studentSurvival, studentUpperQuantile } from './student.ts'

const probability = fc.double({ min: 1e-12, max: 1 - 1e-12, noNaN: true })
const degreesOfFreedom = fc.double({ min: 1, max: 1e9, noNaN: true })
const distance = fc.double({ min: -40, max: 40, noNaN: true })

describe('a distribution', () => {
  it('has quantiles that lead back to their probability', () => {
    fc.assert(
      fc.property(probability, degreesOfFreedom, (p, freedom) => {
        expect(Math.abs(normalSurvival(normalUpperQuantile(p)) - p)).toBeLessThan(1e-12 * Math.max(p, 1e-3))
        const back = studentSurvival(studentUpperQuantile(p, freedom), freedom)
        expect(Math.abs(back - p)).toBeLessThan(1e-10 * Math.max(p, 1e-3))
      }),
    )
  })

  it('is symmetric and falls', () => {
    fc.assert(
      fc.property(distance, degreesOfFreedom, (t, freedom) => {
        expect(studentSurvival(t, freedom) + studentSurvival(-t, freedom)).toBeCloseTo(1, 12)
        expect(studentSurvival(t + 0.01, freedom)).toBeLessThanOrEqual(studentSurvival(t, freedom))
        expect(chiSquareSurvival(Math.abs(t), freedom)).toBeGreaterThanOrEqual(
          chiSquareSurvival(Math.abs(t) + 0.01, freedom),
        )
      }),
    )
  })

  it('answers a probability or NaN to whatever it is asked, in the end', () => {
    const odd = fc.constantFrom(
      Number.NaN,
      -1,
      0,
      5e-324,
      1e-300,
      0.5,
      1,
      1e16,
      1e300,
      Number.POSITIVE_INFINITY,
    )
    fc.assert(
      fc.property(odd, odd, fc.constantFrom(0, 1e-300, 0.5, 1), (a, b, x) => {
        const answers = [
          normalSurvival(a),
          studentSurvival(a, b),
          chiSquareSurvival(a, b),
          regularisedBeta({ x, y: 1 - x, a, b }),
        ]
        for (const answer of answers.filter((each) => !Number.isNaN(each))) {
          expect(answer).toBeGreaterThanOrEqual(0)
          expect(answer).toBeLessThanOrEqual(1 + 1e-12)
        }
        expect(normalUpperQuantile(a)).toBeTypeOf('number')
        expect(studentUpperQuantile(a, b)).toBeTypeOf('number')
      }),
      { numRuns: 300 },
    )
  })
})

describe('the search for a root', () => {
  it('finds it to the last digits', () => {
    expect(solveDecreasing((x) => 2 - x * x, { low: 0, high: 10 })).toBeCloseTo(Math.SQRT2, 15)
    expect(solveDecreasing((x) => (x < 3 ? 1 : -1e9), { low: 0, high: 10 })).toBeCloseTo(3, 12)
  })

  it('answers the nearer end where there is none, and NaN for a function that is not a number', () => {
    expect(solveDecreasing((x) => -x - 1, { low: 0, high: 1 })).toBe(0)
    expect(solveDecreasing((x) => 5 - x, { low: 0, high: 1 })).toBe(1)
    expect(solveDecreasing(() => Number.NaN, { low: 0, high: 1 })).toBeNaN()
    expect(solveDecreasing((x) => (x > 0.2 && x < 0.8 ? Number.NaN : 0.5 - x), { low: 0, high: 1 })).toBeNaN()
  })
})
