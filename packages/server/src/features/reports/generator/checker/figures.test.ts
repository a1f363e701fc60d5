import fc from 'fast-check'
import { expect, it } from 'vitest'
import { compute, FigureFault } from './figures.ts'

it.each([
  ['value', [5], 5],
  ['sum', [1, 2, 3], 6],
  ['difference', [5, 3], 2],
  ['change', [6, 4], 0.5],
  ['share', [3, 1, 2, 3], 0.5],
  ['ratio', [3, 4], 0.75],
  ['mean', [1, 2, 6], 3],
  ['median', [5, 1, 2, 8], 3.5],
  ['median', [5, 1, 2], 2],
  ['count', [0, 0, 0], 3],
  ['contribution', [8, 5, 20, 10], 0.3],
  ['ratioDifference', [1, 2, 1, 4], 0.25],
  ['ratioChange', [1, 2, 1, 4], 1],
  ['excess', [10, 1, 3], 8],
  ['excessShare', [10, 1, 3, 20, 2, 6], 0.5],
] as const)('%s of %j is %d', (computation, values, expected) => {
  expect(compute(computation, values)).toBeCloseTo(expected, 12)
})

it('refuses another number of cells than a computation takes', () => {
  for (const [computation, values] of [
    ['value', [1, 2]],
    ['change', [1]],
    ['contribution', [1, 2, 3]],
    ['rateEffect', [1, 2, 3, 4]],
    ['excessShare', [1, 2, 3, 4, 5]],
    ['mean', []],
  ] as const) {
    expect(() => compute(computation, values)).toThrow(FigureFault)
  }
})

const member = fc.record({
  c1: fc.integer({ min: 0, max: 500 }),
  n1: fc.integer({ min: 0, max: 1_000 }),
  c0: fc.integer({ min: 0, max: 500 }),
  n0: fc.integer({ min: 0, max: 1_000 }),
})

it('divides the change of a rate into effects of rate and mix that sum to it', () => {
  fc.assert(
    fc.property(fc.array(member, { minLength: 2, maxLength: 8 }), (members) => {
      const present = members.filter(({ n1, n0 }) => n1 + n0 > 0)
      const total = (key: keyof (typeof members)[number]) => present.reduce((sum, each) => sum + each[key], 0)
      const [c1, n1, c0, n0] = [total('c1'), total('n1'), total('c0'), total('n0')]
      fc.pre(n1 > 0 && n0 > 0)
      // Nothing can be counted over no base.
      const clean = present.map((each) => ({ ...each, c1: each.n1 ? each.c1 : 0, c0: each.n0 ? each.c0 : 0 }))
      fc.pre(clean.every((each, i) => each.c1 === present[i]?.c1 && each.c0 === present[i]?.c0))
      const effects = clean.flatMap((each) => {
        const cells = [each.c1, each.n1, c1, n1, each.c0, each.n0, c0, n0]
        return [compute('rateEffect', cells), compute('mixEffect', cells)]
      })
      expect(effects.reduce((sum, effect) => sum + effect, 0)).toBeCloseTo(c1 / n1 - c0 / n0, 9)
    }),
  )
})
