import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { correctByBenjaminiHochberg, correctByHolm } from './multiple-comparisons.ts'

const anyFamily = fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { minLength: 1, maxLength: 6 })

describe('the correction by Holm', () => {
  it('equals testing every set of comparisons that holds one, by Bonferroni', () => {
    fc.assert(
      fc.property(anyFamily, (pValues) => {
        const { pValues: adjusted } = correctByHolm(pValues, 0.05)
        pValues.forEach((_, own) => {
          let largest = 0
          for (let set = 1; set < 1 << pValues.length; set++) {
            if (!(set & (1 << own))) continue
            const members = pValues.filter((_, at) => set & (1 << at))
            largest = Math.max(largest, Math.min(1, members.length * Math.min(...members)))
          }
          expect(adjusted[own]).toBeCloseTo(largest, 12)
        })
      }),
    )
  })

  it('counts a comparison without a p-value in the family, and leaves it null', () => {
    expect(correctByHolm([0.01, null, null], 0.05)).toEqual({
      pValues: [0.03, null, null],
      intervalAlpha: 0.05 / 3,
    })
  })
})

describe('the correction by Benjamini and Hochberg', () => {
  it('raises the alarms of the rule that its authors state', () => {
    fc.assert(
      fc.property(anyFamily, (pValues) => {
        const { pValues: adjusted } = correctByBenjaminiHochberg(pValues, 0.1)
        const ascending = pValues.toSorted((left, right) => left - right)
        const last = ascending.findLastIndex((pValue, at) => pValue <= (0.1 * (at + 1)) / pValues.length)
        const threshold = ascending[last] ?? -1
        pValues.forEach((pValue, at) => {
          if (Math.abs((adjusted[at] ?? 1) - 0.1) > 1e-12)
            expect((adjusted[at] ?? 1) <= 0.1).toBe(pValue <= threshold)
        })
      }),
    )
  })

  it('widens the intervals by the share of comparisons without an alarm', () => {
    expect(correctByBenjaminiHochberg([0.001, 0.002, 0.9, null], 0.05).intervalAlpha).toBeCloseTo(0.025, 12)
    expect(correctByBenjaminiHochberg([0.9, 0.8, 0.9, 0.7], 0.05).intervalAlpha).toBe(0.0125)
  })
})

it('no comparisons need no correction', () => {
  for (const correct of [correctByHolm, correctByBenjaminiHochberg])
    expect(correct([], 0.05)).toEqual({ pValues: [], intervalAlpha: 0.05 })
})
