import type { MetricStatistics } from '../../src/features/experiments/inference/metric-statistics.ts'

/** Numbers in (0, 1) that are the same in every run (xoshiro128**, Blackman and Vigna 2021). */
export function seededRandom(seed: number): () => number {
  // Its four words are filled by splitmix32, so that seeds that are near each other give unrelated numbers.
  let mixed = seed >>> 0
  const word = () => {
    mixed = (mixed + 0x9e3779b9) >>> 0
    let z = mixed
    z = Math.imul(z ^ (z >>> 16), 0x21f0aaad)
    z = Math.imul(z ^ (z >>> 15), 0x735a2d97)
    return (z ^ (z >>> 15)) >>> 0
  }
  let [a, b, c, d] = [word(), word(), word(), word()]
  const next = () => {
    const turned = Math.imul(b, 5)
    const value = Math.imul((turned << 7) | (turned >>> 25), 9) >>> 0
    const shifted = b << 9
    c ^= a
    d ^= b
    b ^= c
    a ^= d
    c ^= shifted
    d = (d << 11) | (d >>> 21)
    return value
  }
  return () => (next() + (next() & 0x1fffff) * 0x1_0000_0000 + 0.5) / 0x20_0000_0000_0000
}

/** How many of `units` convert, by the gaps between those that do (Devroye 1986, chapter X.4). */
export function binomial(random: () => number, units: number, rate: number): number {
  if (rate > 0.5) return units - binomial(random, units, 1 - rate)
  const perUnit = Math.log1p(-rate)
  let [at, count] = [0, -1]
  while (at <= units) {
    at += Math.floor(Math.log(random()) / perUnit) + 1
    count++
  }
  return count
}

function normal(random: () => number): number {
  return Math.sqrt(-2 * Math.log(random())) * Math.cos(2 * Math.PI * random())
}

/** What the units of a variant do. */
export type Behaviour =
  | { readonly kind: 'conversion'; readonly rate: number }
  /** Those who buy spend amounts whose logarithms have the standard deviation `skew`, `average` in the mean. */
  | { readonly kind: 'revenue'; readonly buyers: number; readonly average: number; readonly skew: number }

/** The statistics of a variant after each day, with as many new units on every one. */
export function simulateDays(
  random: () => number,
  behaviour: Behaviour,
  { days, dailyUnits }: { readonly days: number; readonly dailyUnits: number },
): MetricStatistics[] {
  let [conversions, sum, sumSquares] = [0, 0, 0]
  return Array.from({ length: days }, (_, day): MetricStatistics => {
    const units = (day + 1) * dailyUnits
    if (behaviour.kind === 'conversion') {
      conversions += binomial(random, dailyUnits, behaviour.rate)
      return { kind: 'rate', units, conversions }
    }
    const { average, skew } = behaviour
    for (let left = binomial(random, dailyUnits, behaviour.buyers); left > 0; left--) {
      const amount = average * Math.exp(skew * normal(random) - (skew * skew) / 2)
      sum += amount
      sumSquares += amount * amount
    }
    return { kind: 'mean', units, sum, sumSquares }
  })
}
