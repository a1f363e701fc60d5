import { describe, expect, it } from 'vitest'
import { discoveryRates } from '../../../../platform/distributions/discovery-rates.ts'
import { seededRandom, shuffled } from '../../../../platform/distributions/random.ts'
import { findChangePoint } from './change-point.ts'
import { type Bucket, compareLevels, comparePeriods, compareRobustly } from './compare-periods.ts'
import { findOutliers } from './outliers.ts'
import { findPeak } from './peak.ts'
import { autocorrelation, median, robustDeviation, twoSided } from './robust.ts'
import { findSeason, weekdayFactors } from './season.ts'

/** Normal values of mean 0 and deviation 1, the same for the same seed. */
function normals(seed: number): () => number {
  const random = seededRandom(seed)
  return () => Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random())
}

const weekdayLevels = [1.1, 1, 1.05, 1, 1.2, 0.8, 0.7]

/** Days of lognormal values around a level that weekdays divide. */
function days(seed: number, count: number, level: (day: number) => number = () => 100, spread = 0.2) {
  const normal = normals(seed)
  return Array.from({ length: count }, (_, i) => ({
    weekday: i % 7,
    value: level(i) * (weekdayLevels[i % 7] ?? 1) * Math.exp(spread * normal()),
  }))
}

const bucketsOf = (some: readonly { value: number; weekday: number }[]): Bucket[] =>
  some.map((each) => ({ ...each, base: 1 }))

describe('Student’s distribution', () => {
  it.each([0.1, 1, 2.5, 12.7062, 100])('has its closed forms of 1, 2 and 4 degrees of freedom at %d', (t) => {
    expect(twoSided(t, 1)).toBeCloseTo(1 - (2 / Math.PI) * Math.atan(t), 12)
    expect(twoSided(-t, 2)).toBeCloseTo(1 - t / Math.sqrt(2 + t * t), 12)
    const x = t / Math.sqrt(4 + t * t)
    expect(twoSided(t, 4)).toBeCloseTo(1 - (x * (3 - x * x)) / 2, 12)
  })

  it('gives 1 where there is nothing to test', () => {
    expect(twoSided(Number.NaN, 5)).toBe(1)
    expect(twoSided(3, 0)).toBe(1)
    expect(twoSided(Number.POSITIVE_INFINITY, 5)).toBe(0)
  })
})

describe('robust measures', () => {
  it('keep half of the values apart from what the others do', () => {
    expect(median([3, 1, 2])).toBe(2)
    expect(median([4, 1, 2, 3])).toBe(2.5)
    expect(robustDeviation([1, 2, 3, 4, 1_000_000])).toBeCloseTo(1.4826, 10)
    expect(autocorrelation([1, 2, 3, 4, 5, 6, 7, 8])).toBeCloseTo(0.625, 10)
  })
})

describe('the comparison of two periods', () => {
  it('errs at its rate where nothing changes, with weekdays and dispersion', () => {
    let [periods, levels, robust] = [0, 0, 0]
    const sets = 2_000
    for (let seed = 1; seed <= sets; seed++) {
      const all = bucketsOf(days(seed, 60))
      const [before, now] = [all.slice(0, 30), all.slice(30)]
      if (comparePeriods(now, before).pValue < 0.01) periods++
      if (compareRobustly(now, before).pValue < 0.01) robust++
      if (seed <= 500 && compareLevels(now, before).pValue < 0.01) levels++
    }
    // Of 2,000 sets 20 are expected; 35 and more have a chance below 0.001.
    expect(periods).toBeLessThan(35)
    expect(robust).toBeLessThan(35)
    expect(levels).toBeLessThan(13)
  })

  it.each([0.1, 0.3, 1, 2, 5])(
    'errs no more often where few or equal values come by chance: %d a day',
    (level) => {
      let [robust, periods] = [0, 0]
      for (let seed = 1; seed <= 1_000; seed++) {
        const random = seededRandom(seed)
        const count = () => {
          let found = 0
          for (let left = random(); left > Math.exp(-level); left *= random()) found++
          return found
        }
        const all = Array.from({ length: 60 }, (_, i) => ({ weekday: i % 7, value: 20 * count(), base: 1 }))
        const [before, now] = [all.slice(0, 30), all.slice(30)]
        if (compareRobustly(now, before).pValue < 0.01) robust++
        if (comparePeriods(now, before).pValue < 0.01) periods++
      }
      // Of 1,000 sets 10 are expected; 22 and more have a chance below 0.001.
      expect(robust).toBeLessThan(22)
      expect(periods).toBeLessThan(22)
    },
  )

  it.each([
    ['constant levels', Array.from({ length: 60 }, (_, i) => (i < 30 ? 2200 : 1600))],
    [
      'constant levels and an extraordinary day',
      Array.from({ length: 60 }, (_, i) => (i === 7 ? 50_000 : i < 30 ? 2200 : 1600)),
    ],
    ['nothing and something', Array.from({ length: 60 }, (_, i) => (i < 30 ? 0 : 150 + (i % 9)))],
    ['few days and many', Array.from({ length: 60 }, (_, i) => (i % (i < 30 ? 10 : 2) === 0 ? 100 : 0))],
  ])('finds the difference of %s, whose median deviation is 0', (_, values) => {
    const all = values.map((value, i) => ({ value, weekday: i % 7, base: 1 }))
    expect(compareRobustly(all.slice(30), all.slice(0, 30)).pValue).toBeLessThan(0.01)
  })

  it('counts in that neighbours depend on each other', () => {
    let errors = 0
    for (let seed = 1; seed <= 500; seed++) {
      const normal = normals(seed)
      let last = 0
      const values = Array.from({ length: 60 }, () => {
        last = 0.6 * last + normal()
        return { value: 100 + 10 * last, base: 1 }
      })
      if (comparePeriods(values.slice(30), values.slice(0, 30)).pValue < 0.01) errors++
    }
    // Without it more than every tenth errs.
    expect(errors).toBeLessThan(35)
  })

  it('finds a change of a rate whose base differs from day to day', () => {
    const normal = normals(7)
    const rate = (of: number): Bucket => {
      const base = 200 + 150 * Math.abs(normal())
      return { base, value: base * of + Math.sqrt(base * of) * normal() }
    }
    const before = Array.from({ length: 30 }, () => rate(0.1))
    expect(
      comparePeriods(
        Array.from({ length: 30 }, () => rate(0.08)),
        before,
      ).pValue,
    ).toBeLessThan(1e-4)
    expect(
      comparePeriods(
        Array.from({ length: 30 }, () => rate(0.1)),
        before,
      ).pValue,
    ).toBeGreaterThan(0.01)
  })

  it('finds a level of the last days that the mean of the period dilutes', () => {
    const all = bucketsOf(days(3, 60, (day) => (day >= 52 ? 60 : 100)))
    const [before, now] = [all.slice(0, 30), all.slice(30)]
    expect(comparePeriods(now, before).pValue).toBeGreaterThan(0.01)
    expect(compareLevels(now, before).pValue).toBeLessThan(0.01)
  })

  it('says nothing of constant or too few buckets, nor of a run of empty days of a rare member', () => {
    const flat = Array.from({ length: 30 }, () => ({ value: 5, base: 1 }))
    expect(comparePeriods(flat, flat).pValue).toBe(1)
    expect(comparePeriods(flat.slice(0, 3), flat).pValue).toBe(1)
    const rare = Array.from({ length: 60 }, (_, i) => ({ value: i % 3 === 0 && i < 53 ? 1 : 0, base: 1 }))
    expect(compareLevels(rare.slice(30), rare.slice(0, 30)).pValue).toBeGreaterThan(0.05)
  })
})

describe('the correction for many tests', () => {
  it('gives the rates of Benjamini and Hochberg, the tests that were not carried out included', () => {
    expect(discoveryRates([0.01, 0.04, 0.03, 0.005], 4)).toEqual([0.02, 0.04, 0.04, 0.02])
    expect(discoveryRates([0.01, 0.04], 10).map((rate) => Number(rate.toFixed(10)))).toEqual([0.1, 0.2])
    expect(discoveryRates([], 0)).toEqual([])
  })
})

describe('the day of a change', () => {
  it('is found within a day or two, and the same rows give the same day', () => {
    for (let seed = 1; seed <= 10; seed++) {
      const all = bucketsOf(days(seed, 60, (day) => (day >= 40 ? 50 : 100)))
      const found = findChangePoint(all)
      expect(Math.abs((found?.index ?? 0) - 40)).toBeLessThanOrEqual(2)
      expect(findChangePoint(all)).toEqual(found)
    }
  })

  it('is none where there is no change', () => {
    let found = 0
    for (let seed = 1; seed <= 100; seed++) if (findChangePoint(bucketsOf(days(seed, 60)))) found++
    expect(found).toBeLessThanOrEqual(5)
  })
})

describe('a season of weekdays', () => {
  it('is found under a trend, and not in days that do not differ', () => {
    const season = findSeason(days(1, 56, (day) => 100 + 5 * day))
    expect(season?.ranking.at(0)).toBe(4)
    expect(season?.ranking.at(-1)).toBe(6)
    let found = 0
    for (let seed = 1; seed <= 300; seed++) {
      const normal = normals(seed)
      if (findSeason(Array.from({ length: 56 }, (_, i) => ({ weekday: i % 7, value: 50 + normal() }))))
        found++
    }
    expect(found).toBeLessThanOrEqual(9)
  })

  it('needs four weeks, and begins with any weekday', () => {
    expect(findSeason(days(1, 27))).toBeUndefined()
    expect(findSeason(days(1, 60).slice(3))?.ranking.at(-1)).toBe(6)
  })

  it('is the statistic of Friedman where all weeks rank alike', () => {
    const same = Array.from({ length: 28 }, (_, i) => ({ weekday: i % 7, value: i % 7 }))
    // χ² is n (k - 1) = 24 then, and its chance with six degrees of freedom e^-12 (1 + 12 + 72).
    expect(findSeason(same)?.pValue).toBeCloseTo(Math.exp(-12) * 85, 12)
    expect(weekdayFactors(same).map((factor) => factor.toFixed(3))).toEqual(
      [0, 1, 2, 3, 4, 5, 6].map((level) => (level / 3).toFixed(3)),
    )
  })
})

describe('extraordinary days', () => {
  it('are none in noise of any level, and found where they are', () => {
    let noise = 0
    let found = 0
    for (let seed = 1; seed <= 100; seed++) {
      if (findOutliers(days(seed, 90, (day) => 100 + day)).length > 0) noise++
      const planted = days(seed, 90).map((each, i) => (i === 45 ? { ...each, value: each.value * 5 } : each))
      if (findOutliers(planted).some(({ index }) => index === 45)) found++
    }
    expect(noise).toBeLessThanOrEqual(5)
    expect(found).toBeGreaterThanOrEqual(95)
  })

  it.each([0.5, 1, 3, 10, 100])(
    'are none where few or many events come by chance alone: %d a day',
    (mean) => {
      let noise = 0
      for (let seed = 1; seed <= 100; seed++) {
        const random = seededRandom(seed)
        const poisson = () => {
          let count = 0
          for (let left = random(); left > Math.exp(-mean); left *= random()) count++
          return count
        }
        const course = Array.from({ length: 90 }, (_, i) => ({ weekday: i % 7, value: poisson() }))
        if (findOutliers(course).length > 0) noise++
      }
      expect(noise).toBeLessThanOrEqual(5)
    },
  )

  it.each([-8890, 8890])('are found where most days are 0: %d', (value) => {
    const sparse = Array.from({ length: 60 }, (_, i) => ({
      weekday: i % 7,
      value: i === 46 ? value : i % 5 === 0 ? 100 + ((i * 7) % 31) : 0,
    }))
    expect(findOutliers(sparse).map(({ index }) => index)).toEqual([46])
  })

  it('are compared by their weekday: an empty Sunday is none where all are empty', () => {
    const closed = days(5, 90).map((each) => (each.weekday === 6 ? { ...each, value: 0 } : each))
    expect(findOutliers(closed)).toEqual([])
    const monday = closed.map((each, i) => (i === 49 ? { ...each, value: 0 } : each))
    expect(findOutliers(monday).map(({ index }) => index)).toEqual([49])
  })
})

describe('a peak', () => {
  it('is the one greatest bucket, and stands out of noise in one of a hundred courses at most', () => {
    expect(findPeak([1, 5, 3, 4])).toEqual({ index: 1, standsOut: false })
    expect(findPeak([1, 5, 3, 5])).toBeUndefined()
    expect(findPeak([0, 0])).toBeUndefined()
    for (const length of [12, 30]) {
      let standing = 0
      for (let seed = 1; seed <= 500; seed++) {
        const normal = normals(seed)
        if (findPeak(Array.from({ length }, () => 100 + 10 * normal()))?.standsOut) standing++
      }
      expect(standing).toBeLessThanOrEqual(10)
    }
    let skewed = 0
    for (let seed = 1; seed <= 500; seed++) {
      const normal = normals(seed)
      if (findPeak(Array.from({ length: 30 }, () => 100 * Math.exp(0.6 * normal())))?.standsOut) skewed++
    }
    expect(skewed).toBeLessThanOrEqual(10)
    const months = [69, 52, 72, 54, 77, 76, 72, 76, 106, 115, 151, 64]
    expect(findPeak(months)).toEqual({ index: 10, standsOut: true })
  })
})

it('puts values in a random order without losing any', () => {
  const order = shuffled([1, 2, 3, 4, 5], seededRandom(1))
  expect(order.toSorted()).toEqual([1, 2, 3, 4, 5])
  expect(shuffled([1, 2, 3, 4, 5], seededRandom(1))).toEqual(order)
})
