import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { always, complementOf, hullOf, intersectionOf, type TimeSet, unionOf } from './interval.ts'

const bound = fc.integer({ min: 0, max: 30 })
const intervals = fc.array(fc.record({ from: bound, to: bound }), { maxLength: 6 })
const instants = Array.from({ length: 32 }, (_, i) => i - 1)
const holds = (set: TimeSet, instant: number) => set.some(({ from, to }) => instant >= from && instant < to)

describe('sets of instants', () => {
  it('unite, complement and intersect as their members do', () => {
    fc.assert(
      fc.property(intervals, intervals, (first, second) => {
        const [a, b] = [unionOf(first), unionOf(second)]
        for (const instant of instants) {
          expect(holds(a, instant)).toBe(holds(first, instant))
          expect(holds(complementOf(a), instant)).toBe(!holds(a, instant))
          expect(holds(intersectionOf(a, b), instant)).toBe(holds(a, instant) && holds(b, instant))
        }
      }),
    )
  })

  it('have no empty, touching or disordered parts', () => {
    fc.assert(
      fc.property(intervals, (some) => {
        const set = unionOf(some)
        for (const [i, { from, to }] of set.entries()) {
          expect(from).toBeLessThan(to)
          expect(set[i - 1]?.to ?? -1).toBeLessThan(from)
        }
      }),
    )
  })

  it('reach from their first instant to their last', () => {
    expect(
      hullOf(
        unionOf([
          { from: 5, to: 6 },
          { from: 1, to: 2 },
        ]),
      ),
    ).toEqual({ from: 1, to: 6 })
    expect(hullOf([])).toBeUndefined()
    expect(complementOf(always)).toEqual([])
  })
})
