import type { Query } from '@millrace/contract/resources/query.ts'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { times } from '../support/long.ts'
import { questionContext, readQuestion } from '../support/questions.ts'

/** Parts of questions with what each stands for; every question that is made of them must read back to its query. */

interface Spoken<T> {
  readonly en: readonly string[]
  readonly fr: readonly string[]
  readonly means: T
}

const measures: readonly Spoken<string>[] = [
  { en: ['revenue', 'sales'], fr: ["chiffre d'affaires", 'CA'], means: 'purchases.revenue' },
  { en: ['orders', 'how many purchases'], fr: ['commandes', "nombre d'achats"], means: 'purchases.count' },
  { en: ['average order value', 'AOV'], fr: ['panier moyen'], means: 'purchases.averageOrderValue' },
  { en: ['buyers'], fr: ['acheteurs'], means: 'purchases.buyers' },
]

const groups: readonly Spoken<string>[] = [
  { en: ['by country', 'per country'], fr: ['par pays', 'selon le pays'], means: 'purchases.label.country' },
  { en: ['by device', 'split by device type'], fr: ['par appareil'], means: 'purchases.deviceType' },
  { en: ['by store name', 'for each storeName'], fr: ['par store name'], means: 'purchases.label.storeName' },
  { en: ['by product'], fr: ['par produit'], means: 'purchases.item' },
]

const units: readonly Spoken<'day' | 'week' | 'month'>[] = [
  { en: ['by day', 'per day', 'daily'], fr: ['par jour', 'quotidien'], means: 'day' },
  { en: ['by week', 'weekly'], fr: ['par semaine', 'hebdomadaire'], means: 'week' },
  { en: ['per month', 'monthly'], fr: ['par mois', 'mensuel'], means: 'month' },
]

const filters: readonly Spoken<{ member: string; values: string[] }>[] = [
  {
    en: ['on mobile', 'from phones'],
    fr: ['sur mobile', 'via téléphone'],
    means: { member: 'purchases.deviceType', values: ['mobile'] },
  },
  {
    en: ['in Spain', 'from Spain'],
    fr: ['en Espagne', "pour l'Espagne"],
    means: { member: 'purchases.label.country', values: ['Spain', 'Espagne', 'ES'] },
  },
  {
    en: ['where store name is "Le 5e, Nord"'],
    fr: ['où store name est « Le 5e, Nord »'],
    means: { member: 'purchases.label.storeName', values: ['Le 5e, Nord'] },
  },
]

const monthNames = {
  en: 'January February March April May June July August September October November December'.split(' '),
  fr: 'janvier février mars avril mai juin juillet août septembre octobre novembre décembre'.split(' '),
}
const two = (number: number) => String(number).padStart(2, '0')
const lastDay = (year: number, month: number) => new Date(Date.UTC(year, month, 0)).getUTCDate()

/** Days between two years that lie before the question is asked. */
const years = fc.integer({ min: 1975, max: 2025 })
const months = fc.integer({ min: 1, max: 12 })

const monthRange = fc.record({ year: years, month: months }).map(({ year, month }) => ({
  en: [
    `in ${monthNames.en[month - 1]} ${year}`,
    `${monthNames.en[month - 1]} of ${year}`,
    `${year}-${two(month)}`,
  ],
  fr: [`en ${monthNames.fr[month - 1]} ${year}`, `au mois de ${monthNames.fr[month - 1]} ${year}`],
  means: [`${year}-${two(month)}-01`, `${year}-${two(month)}-${lastDay(year, month)}`],
}))
const quarterRange = fc
  .record({ year: years, quarter: fc.integer({ min: 1, max: 4 }) })
  .map(({ year, quarter }) => ({
    en: [
      `in Q${quarter} ${year}`,
      `${year} Q${quarter}`,
      `${['first', 'second', 'third', 'fourth'][quarter - 1]} quarter of ${year}`,
    ],
    fr: [`au T${quarter} ${year}`, `${quarter === 1 ? '1er' : `${quarter}e`} trimestre ${year}`],
    means: [
      `${year}-${two(quarter * 3 - 2)}-01`,
      `${year}-${two(quarter * 3)}-${lastDay(year, quarter * 3)}`,
    ],
  }))
const yearRange = years.map((year) => ({
  en: [`in ${year}`, `during the year ${year}`],
  fr: [`en ${year}`, `pendant l'année ${year}`],
  means: [`${year}-01-01`, `${year}-12-31`],
}))
const dayRange = fc
  .record({
    year: years,
    month: months,
    from: fc.integer({ min: 1, max: 14 }),
    to: fc.integer({ min: 15, max: 28 }),
  })
  .map(({ year, month, from, to }) => ({
    en: [
      `from ${from} to ${to} ${monthNames.en[month - 1]} ${year}`,
      `between ${monthNames.en[month - 1]} ${from}, ${year} and ${monthNames.en[month - 1]} ${to}, ${year}`,
      `from ${year}-${two(month)}-${two(from)} to ${year}-${two(month)}-${two(to)}`,
    ],
    fr: [
      `du ${from === 1 ? '1er' : from} au ${to} ${monthNames.fr[month - 1]} ${year}`,
      `entre le ${two(from)}/${two(month)}/${year} et le ${two(to)}/${two(month)}/${year}`,
    ],
    means: [`${year}-${two(month)}-${two(from)}`, `${year}-${two(month)}-${two(to)}`],
  }))
const relativeRanges: readonly Spoken<readonly string[]>[] = [
  {
    en: ['last month', 'in the previous month'],
    fr: ['le mois dernier', 'au mois précédent'],
    means: ['2026-02-01', '2026-02-28'],
  },
  {
    en: ['last 7 days', 'over the past seven days'],
    fr: ['les 7 derniers jours', 'sur les sept derniers jours'],
    means: ['2026-03-11', '2026-03-17'],
  },
  { en: ['yesterday'], fr: ['hier'], means: ['2026-03-17', '2026-03-17'] },
  {
    en: ['this year', 'since January', 'year to date'],
    fr: ['cette année', 'depuis janvier', "depuis le début de l'année"],
    means: ['2026-01-01', '2026-03-18'],
  },
  { en: ['last quarter'], fr: ['au trimestre dernier'], means: ['2025-10-01', '2025-12-31'] },
]
const ranges = fc.oneof(monthRange, quarterRange, yearRange, dayRange, fc.constantFrom(...relativeRanges))

const frames = {
  en: ['%', 'Show me %', 'What was the % please?', '%?', 'our %'],
  fr: ['%', 'Montre-moi %', 'Quel est le % ?', '% svp', 'nos %'],
} as const

const questions = fc.record({
  locale: fc.constantFrom('en', 'fr') satisfies fc.Arbitrary<'en' | 'fr'>,
  measures: fc.uniqueArray(fc.constantFrom(...measures), { minLength: 1, maxLength: 2 }),
  group: fc.option(fc.constantFrom(...groups), { nil: undefined }),
  unit: fc.option(fc.constantFrom(...units), { nil: undefined }),
  filters: fc.uniqueArray(fc.constantFrom(...filters), { maxLength: 2 }),
  range: ranges,
  frame: fc.nat(4),
  order: fc.shuffledSubarray(['group', 'unit', 'filters', 'range'] as const, { minLength: 4 }),
  pick: fc.infiniteStream(fc.nat(11)),
})

describe('questions made of the grammar', () => {
  it('read back to their queries', async () => {
    await fc.assert(
      fc.asyncProperty(questions, async ({ locale, group, unit, range, frame, order, pick, ...parts }) => {
        const say = (part: Spoken<unknown>) => {
          const spoken = part[locale]
          return spoken[(pick.next().value ?? 0) % spoken.length] ?? ''
        }
        const tail = {
          group: group ? [say(group)] : [],
          unit: unit ? [say(unit)] : [],
          filters: parts.filters.map(say),
          range: [say(range)],
        }
        const body = [
          parts.measures.map(say).join(locale === 'en' ? ' and ' : ' et '),
          ...order.flatMap((part) => tail[part]),
        ].join(' ')
        const question = (frames[locale][frame] ?? '%').replace('%', () => body)
        const [first = ''] = parts.measures.map(({ means }) => means)
        const asked = order.indexOf('filters') >= 0 ? parts.filters : []
        const expected = {
          measures: parts.measures.map(({ means }) => means),
          dimensions: group ? [group.means] : [],
          filters: asked.map(({ means }) => ({
            member: means.member,
            operator: 'equals',
            values: means.values,
          })),
          timeDimensions: [
            {
              dimension: 'purchases.time',
              ...(unit ? { granularity: unit.means } : {}),
              dateRange: range.means,
            },
          ],
          timezone: 'Europe/Paris',
          ...(group && !unit ? { limit: 100, order: [[first, 'desc']] } : {}),
          ...(unit && !group ? { fill: true } : {}),
        } as unknown as Query
        const read = await readQuestion(question, questionContext({ locale }))
        expect({ question, queries: read.queries.map(({ query }) => query), unread: read.unread }).toEqual({
          question,
          queries: [expected],
          unread: [],
        })
      }),
      { numRuns: times(20_000, 1_000) },
    )
  })
})
