import { describe, expect, it } from 'vitest'
import { times } from '../support/long.ts'
import { begin, day, middle, reportOfDays as report, type Sold, windowOf } from '../support/report-of-days.ts'

const repeat = <T>(count: number, value: T): T[] => Array.from({ length: count }, () => value)
const month = (before: readonly Sold[], now: readonly Sold[]) => [
  ...before,
  ...repeat(30 - before.length, [] as Sold),
  ...now,
  ...repeat(30 - now.length, [] as Sold),
]

describe('a change', () => {
  it('goes the way of its difference over a base below 0, and has no percentage there', async () => {
    const days = month([-4480, ...repeat(29, [])], repeat(30, 62.186))
    const told = await report(days)
    expect(told('change')).toContain(
      'Revenue rose from -4,480.00 in the period before to 1,865.70 (+6,345.70).',
    )
    expect(told()).not.toMatch(/Country FR: revenue fell/)
    const french = await report(days, { locale: 'fr' })
    expect(french('change')).toContain(
      'Le chiffre d’affaires a augmenté de -4 480,00 pendant la période précédente à 1 865,70 (+6 345,70).',
    )
  })

  it('from nothing has its difference alone', async () => {
    const told = await report(month([], repeat(40, [20])))
    expect(told('change')).toContain('Revenue rose from 0.00 in the period before to 600.00 (+600.00).')
  })

  it('of a member goes the way of its difference too', async () => {
    const of = (fr: number, i: number) => ({ FR: fr + (i % 3), DE: 100 + (i % 5), US: 90 + (i % 4) })
    const days = Array.from({ length: 60 }, (_, i) => of(i < 30 ? -50 : 20, i))
    const told = await report(days)
    expect(told('drivers')).toMatch(/Country FR: revenue rose from -1,470\.00 to 630\.00 \(\+2,100\.00\)\./)
    const french = await report(days, { locale: 'fr' })
    expect(french('drivers')).toContain(
      ': le chiffre d’affaires a augmenté de -1 470,00 à 630,00 (+2 100,00).',
    )
  })

  it('over fewer than 30 counted begins with its difference, and names the base', async () => {
    const days = month(repeat(3, 15), repeat(9, 15))
    const told = await report(days)
    expect(told('change')).toContain(
      'Revenue rose from 45.00 in the period before to 135.00 (+90.00, which is +200.0% of a small base: the number of purchases was 3 then).',
    )
    expect(told('change')).toContain(
      'The number of purchases rose from 3 in the period before to 9 (+6, which is +200.0% of a small base: the number of purchases was 3 then).',
    )
    const french = await report(days, { locale: 'fr' })
    expect(french('change')).toContain(
      '(+90,00, soit +200,0 % d’une petite base : le nombre d’achats était alors de 3).',
    )
  })

  it('is a loss of all where nothing is left, and only there', async () => {
    const many = repeat(30, [40_000, 30_000])
    expect((await report(month(many, [[1]])))('change')).toContain('to 1.00 (-99.99995%).')
    const lost = await report(month(many, [[5], [-5]]))
    expect(lost('change')).toContain('to 0.00 (-100.0%).')
    expect((await report(month(many, [[1]]), { locale: 'fr' }))('change')).toContain('à 1,00 (-99,99995 %).')
  })
})

const usual = { en: 'That lies within what', fr: 'Cela reste dans la variation habituelle' }
const beyond = { en: 'That is more than what days usually vary by.', fr: 'C’est plus que la variation' }

describe.each(['en', 'fr'] as const)('what is usual, in %s', (locale) => {
  it.each([
    ['2,200 a day, then 1,600', month(repeat(30, 2200), repeat(30, 1600))],
    ['nothing, then sales on each day', month([], repeat(30, 156.085))],
    [
      'sales on each tenth day, then on each other',
      Array.from({ length: 60 }, (_, i) => (i % (i < 30 ? 10 : 2) === 0 ? 100 + (i % 7) : [])),
    ],
  ])('is left by %s', async (_, days) => {
    const told = await report(days, { locale })
    expect(told('change')).toContain(beyond[locale])
    expect(told()).not.toContain(usual[locale])
  })

  it('is not known of a shop that sold once', async () => {
    const told = await report(month([], [4682.55]), { locale })
    expect(told('change')).not.toContain(usual[locale])
    expect(told('change')).not.toContain(beyond[locale])
    expect(told('limits')).toContain(
      { en: 'have too few values, to say what is usual', fr: 'ont trop peu de valeurs' }[locale],
    )
  })

  const except = {
    en: 'Apart from days that are extraordinary or lack data, that lies within what days usually vary by.',
    fr: 'Hormis les jours exceptionnels ou sans données, cela reste dans la variation habituelle des jours.',
  }

  it.each<[string, readonly Sold[]]>([
    ['of refunds', repeat(60, [120] as Sold).with(45, [-8890])],
    ['of refunds in the period before', repeat(60, [120] as Sold).with(15, [-8890])],
    [
      'of refunds in a shop that sells on few days',
      Array.from({ length: 60 }, (_, i) => (i === 46 ? [-8890] : i % 5 === 0 ? [100 + ((i * 7) % 31)] : [])),
    ],
    [
      'without data',
      Array.from({ length: 60 }, (_, i) => (i >= 40 && i < 50 ? null : [100 + ((i * 37) % 23)])),
    ],
  ])('is kept but for days %s', async (_, days) => {
    const told = await report(days, { locale })
    expect(told('change')).toContain(except[locale])
    expect(told()).not.toContain(usual[locale])
  })

  it('is left by parts, and by extraordinary days', async () => {
    const days = Array.from({ length: 60 }, (_, i) => [
      i === 50 ? -5000 : (i < 44 ? 100 : 200) + ((i * 37) % 9),
    ])
    expect((await report(days, { locale }))('change')).toContain(
      { en: 'have a part in it, and parts of it', fr: 'y ont une part, et une partie a changé' }[locale],
    )
  })

  it('is kept by days that vary as before', async () => {
    const told = await report(
      Array.from({ length: 60 }, (_, i) => [100 + ((i * 37) % 23), 80 + ((i * 53) % 31)]),
      { locale },
    )
    expect(told('change')).toContain(usual[locale])
  })
})

it('names the member that is gone, and does not say that none changed', async () => {
  const days = Array.from({ length: 60 }, (_, i) => ({
    DE: 100 + (i % 5),
    ...(i < 30 ? { FR: 80 + (i % 3) } : {}),
  }))
  const told = await report(days)
  expect(told('drivers')).toContain(
    'FR is gone: revenue came to 2,430.00 in the period before, with nothing now.',
  )
  expect(told('drivers')).not.toContain('No member')
  expect((await report(days, { locale: 'fr' }))('drivers')).toContain('FR n’existe plus')
})

describe('extraordinary days', () => {
  const varied = Array.from({ length: 60 }, (_, i) => [120 + ((i * 37) % 9) - 4])

  it.each([
    ['days that are alike', repeat(60, [120])],
    ['days that vary', varied],
  ])('hold one of -8,890 among %s', async (_, days) => {
    const told = await report(days.with(45, [-8890]))
    expect(told('outliers')).toMatch(/^On 17 March 2026 revenue was -8,890\.00, far below what/)
    expect(told('course')).toContain('The lowest day is 17 March 2026, with -8,890.00.')
    const french = await report(days.with(45, [-8890]), { locale: 'fr' })
    expect(french('outliers')).toMatch(
      /^Le 17 mars 2026, le chiffre d’affaires est de -8 890,00, loin au-dessous/,
    )
  })

  it('hold the peak, which then is not usual', async () => {
    const told = await report(repeat(60, [120] as Sold).with(45, [900]))
    expect(told('outliers')).toContain('far above')
    expect(told('course')).toContain('more than these usually vary by')
  })

  it('hold no first day of a new level', async () => {
    const days = Array.from({ length: 60 }, (_, i) => [(i < 45 ? 200 : 100) + ((i * 37) % 9)])
    const told = await report(days)
    expect(told('course')).toContain('Within the period the level falls on 17 March 2026')
    expect(told('outliers')).toBe('')
    expect((await report(days, { locale: 'fr' }))('course')).toContain('le niveau descend le 17 mars 2026')
  })
})

it('finds a new level that begins with an extraordinary day, and no other such day', async () => {
  const days = Array.from({ length: 60 }, (_, i) => [i === 44 ? 2000 : (i < 44 ? 100 : 200) + ((i * 37) % 9)])
  const told = await report(days)
  expect(told('course')).toContain('Within the period the level rises on 17 March 2026')
  expect(told('outliers')).toMatch(/^On 16 March 2026 [^\n]* far above [^\n]*$/)
})

it('calls no day the highest that is far below what was expected', async () => {
  const told = await report(month(repeat(30, [100, 100]), [[5], [7]]))
  expect(told('outliers')).toContain('On 3 March 2026 revenue was 7.00, far below')
  expect(told()).not.toContain('The day with the highest')
})

it('tells no highest and lowest day of the week whose medians are equal', async () => {
  const days = Array.from({ length: 60 }, (_, i) => (i % 7 === 2 && i >= 35 ? 100 : []))
  expect((await report(days))('season')).toBe('')
})

it('calls no day the highest or lowest where all are equal, or several are', async () => {
  const days = repeat(60, [120])
  const refunded = (await report(repeat(60, [120] as Sold).with(45, [-8890])))('course')
  expect(refunded).not.toContain('The day with the highest')
  expect(refunded).toContain('The lowest day is 17 March 2026')
  expect((await report(days))('course')).toBe('')
  expect((await report(days, { locale: 'fr' }))('course')).toBe('')
})

describe('days without any data', () => {
  const days = Array.from({ length: 60 }, (_, i) =>
    i === 10 || i === 11 || i === 40 ? null : [100 + i + ((i * 37) % 23), 80 + ((i * 53) % 31)],
  )

  it('are counted beside percentages, and none is the lowest', async () => {
    const told = await report(days)
    for (const kind of ['change', 'course'] as const) {
      expect(told(kind)).toContain('Days of the period without any data: 1.')
    }
    expect(told('change')).toContain('Days of the period before without any data: 2.')
    expect(told('course')).not.toMatch(/12 March 2026/)
    expect(told('course')).toMatch(/The lowest day is \d+ March 2026, with [1-9]/)
    const french = await report(days, { locale: 'fr' })
    expect(french('change')).toContain('Jours de la période précédente sans aucune donnée : 2.')
  })

  it('are none of the days on which nothing was sold', async () => {
    const told = await report(days.map((sold) => sold ?? []))
    expect(told()).not.toContain('without any data')
    expect(told('course')).toContain('The lowest day is 12 March 2026, with 0.00.')
  })

  it('are not the lowest of an answer either, nor is a day that has just begun', async () => {
    const query = {
      measures: ['purchases.revenue'],
      dimensions: [],
      filters: [],
      timeDimensions: [
        {
          dimension: 'purchases.time',
          granularity: 'day' as const,
          dateRange: ['2026-03-02', '2026-03-31'],
        },
      ],
      fill: true,
    }
    const analysis = {
      kind: 'plan' as const,
      title: 'x',
      queries: [{ query, asks: 'Revenue', chart: 'line' as const }],
      unread: [],
    }
    const now = begin + 59 * day + day / 3
    const answer = (await report(days.with(59, [1]), { analysis }, now))('answer')
    expect(answer).toMatch(/The lowest day is \d+ March 2026, with [1-9][\d.]{4,}/)
    expect(answer).not.toMatch(/lowest day is (12|31) March/)
  })
})

describe('a period of which no day is over', () => {
  const now = middle + day / 3
  const today = {
    period: windowOf(middle, middle + day),
    comparisonWindows: { previousPeriod: windowOf(middle - day, middle) },
  }

  it('is set against nothing, and says so', async () => {
    const days = [...repeat(30, [100, 90, 80]), [5]]
    const told = await report(days, today, now)
    expect(told('change')).toBe('')
    expect(told('drivers')).toBe('')
    expect(told('limits')).toContain('Nothing is compared: no day of the period is over.')
    expect((await report(days, { ...today, locale: 'fr' }, now))('limits')).toContain(
      'Rien n’est comparé : aucun jour de la période n’est terminé.',
    )
  })

  it('is named in an answer that sets it against another day', async () => {
    const query = {
      measures: ['purchases.revenue'],
      dimensions: [],
      filters: [],
      timeDimensions: [
        {
          dimension: 'purchases.time',
          compareDateRange: [
            ['2026-03-02', '2026-03-02'],
            ['2026-03-01', '2026-03-01'],
          ],
        },
      ],
    }
    const queries = [{ query, asks: 'Revenue', chart: 'table' as const }]
    const analysis = { kind: 'plan' as const, title: 'x', queries, unread: [] }
    const told = await report([...repeat(30, [100]), [5]], { ...today, analysis }, now)
    expect(told('limits')).toContain('The present day is not over')
  })
})

/** Mulberry32: the same numbers for the same seed. */
function randomOf(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

/** Sixty days of a shop that may be steady, sparse or refunding, with levels, extraordinary days and gaps. */
function randomDays(seed: number): Sold[] {
  const random = randomOf(seed)
  const pick = <T>(...of: T[]) => of[Math.floor(random() * of.length)] as T
  const spread = pick(0, 0, 0.02, 0.3, 1)
  const presence = pick(1, 1, 0.7, 0.3, 0.1)
  const levels = Array.from({ length: pick(1, 1, 2, 3) }, () => ({
    from: Math.floor(random() * 60),
    of: pick(-40, 0, 1, 50, 100, 130, 2200),
  }))
  const first = pick(20, 100, 2200)
  const share = { before: pick(0.5, 0.9), now: pick(0.5, 0.5, 0.1, 0) }
  return Array.from({ length: 60 }, (_, i): Sold => {
    if (random() < pick(0, 0, 0.05)) return null
    if (random() > presence) return []
    const level = levels.findLast(({ from }) => from <= i)?.of ?? first
    const spike = random() < 0.02 ? pick(-50, 8, 30) : 1
    const weekday = i % 7 > 4 ? pick(1, 0.5) : 1
    const value = level * spike * weekday * Math.exp(spread * (random() + random() - 1))
    const part = i < 30 ? share.before : share.now
    return part === 0 ? { DE: value } : { FR: value * part, DE: value * (1 - part) }
  })
}

// A report whose texts contradict each other, or their figures, is refused by the checker.
it('N11: says nothing that contradicts itself, whatever the days are', async () => {
  const refused: string[] = []
  for (let seed = 1; seed <= times(2_000, 150); seed++) {
    const locale = seed % 2 === 0 ? 'en' : 'fr'
    try {
      await report(randomDays(seed), { locale })
    } catch (error) {
      refused.push(`${seed}: ${error}`)
    }
  }
  expect(refused).toEqual([])
})
