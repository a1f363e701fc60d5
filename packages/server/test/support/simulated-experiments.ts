import type {
  MetricStatistics,
  StatisticsByVariant,
} from '../../src/features/experiments/inference/metric-statistics.ts'

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
  /** All spend, and what they spent before exposure is known; the logarithms of both correlate by 0.8. */
  | { readonly kind: 'returning'; readonly average: number }
  /** Each sees one to eleven displays and clicks on them at a rate of its own, around the one given. */
  | { readonly kind: 'clicks'; readonly rate: number }

/** The course of an experiment: what is known after each day, with as many new units on every one. */
export function simulateCourse(
  random: () => number,
  {
    days,
    dailyUnits,
    variants,
  }: {
    readonly days: number
    /** Over all variants. */
    readonly dailyUnits: number
    readonly variants: readonly {
      readonly id: string
      readonly allocation: number
      readonly behaviour: Behaviour
    }[]
  },
): StatisticsByVariant[] {
  const growing = variants.map(({ id, allocation, behaviour }) => {
    const addUnits = adders[behaviour.kind](random, behaviour as never)
    return { id, addDay: () => addUnits(Math.ceil(allocation * dailyUnits - 1e-9)) }
  })
  return Array.from({ length: days }, () => new Map(growing.map(({ id, addDay }) => [id, addDay()])))
}

type BehaviourOf<Kind> = Extract<Behaviour, { kind: Kind }>

/** Each gives a function that adds units and answers the statistics of all so far. */
const adders: {
  [Kind in Behaviour['kind']]: (
    random: () => number,
    behaviour: BehaviourOf<Kind>,
  ) => (units: number) => MetricStatistics
} = {
  conversion: (random, { rate }) => {
    let [units, conversions] = [0, 0]
    return (more) => {
      units += more
      conversions += binomial(random, more, rate)
      return { kind: 'rate', units, conversions }
    }
  },
  revenue: (random, { buyers, average, skew }) => {
    let [units, sum, sumSquares] = [0, 0, 0]
    return (more) => {
      units += more
      for (let left = binomial(random, more, buyers); left > 0; left--) {
        const amount = average * Math.exp(skew * normal(random) - (skew * skew) / 2)
        sum += amount
        sumSquares += amount * amount
      }
      return { kind: 'mean', units, sum, sumSquares }
    }
  },
  returning: (random, { average }) => {
    let [units, sum, sumSquares] = [0, 0, 0]
    const covariate = { sum: 0, sumSquares: 0, sumProducts: 0 }
    return (more) => {
      units += more
      for (let left = more; left > 0; left--) {
        const habit = normal(random)
        const before = Math.exp(0.7 * habit)
        const after = average * Math.exp(0.7 * (0.8 * habit + 0.6 * normal(random)) - 0.245)
        sum += after
        sumSquares += after * after
        covariate.sum += before
        covariate.sumSquares += before * before
        covariate.sumProducts += before * after
      }
      return { kind: 'mean', units, sum, sumSquares, covariate: { ...covariate } }
    }
  },
  clicks: (random, { rate }) => {
    let [units, sumProducts] = [0, 0]
    const [clicked, displayed] = [
      { sum: 0, sumSquares: 0 },
      { sum: 0, sumSquares: 0 },
    ]
    return (more) => {
      units += more
      for (let left = more; left > 0; left--) {
        const displays = 1 + Math.floor(11 * random())
        const clicks = binomial(random, displays, rate * (0.5 + random()))
        clicked.sum += clicks
        clicked.sumSquares += clicks * clicks
        displayed.sum += displays
        displayed.sumSquares += displays * displays
        sumProducts += clicks * displays
      }
      return { kind: 'ratio', units, numerator: { ...clicked }, denominator: { ...displayed }, sumProducts }
    }
  },
}
