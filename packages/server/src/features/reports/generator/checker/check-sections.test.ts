import type { Evidence } from '@millrace/contract/resources/evidence.ts'
import type { ReportSection } from '@millrace/contract/resources/report-section.ts'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { paragraphOf, type Sentence, say } from '../language/paragraph.ts'
import { phrasesOf } from '../language/phrases.ts'
import { checkSections } from './check-sections.ts'
import type { FigureDraft } from './figures.ts'

const rows = [
  {
    'purchases.time.month': '2011-10-01T00:00:00.000+01:00',
    'purchases.revenue': 1_154_979.3,
    country: 'France',
  },
  {
    'purchases.time.month': '2011-11-01T00:00:00.000+00:00',
    'purchases.revenue': 1_509_496.33,
    country: 'Île 51',
  },
  { 'purchases.time.month': null, 'purchases.revenue': null, country: null },
]

const evidence: Evidence = {
  id: 'e1',
  query: { measures: [], dimensions: [], filters: [], timeDimensions: [], timezone: 'Europe/London' },
  rows: rows.map((row) => Object.fromEntries(Object.entries(row).map(([key, value]) => [key, { value }]))),
  sources: [],
  freshness: { capturedAt: '2026-01-01T00:00:00.000Z' },
  state: 'success',
  executedAt: '2026-01-01T00:00:00.000Z',
  durationMs: 1,
  rowCount: 3,
  embeddedRowCount: 3,
  payloadBytes: 1,
  resultHash: 'h',
}

const cell = (row: number, column = 'purchases.revenue') => ({ evidenceId: 'e1', row, column })
const revenue = (row: number): FigureDraft => ({
  cells: [cell(row)],
  computation: 'value',
  form: 'money',
  decimals: 2,
})
const change: FigureDraft = { cells: [cell(1), cell(0)], computation: 'change', form: 'percent', decimals: 1 }
const month = (row: number): FigureDraft => ({
  cells: [cell(row, 'purchases.time.month')],
  computation: 'value',
  form: 'month',
  decimals: 0,
})
const country = (row: number): FigureDraft => ({
  cells: [cell(row, 'country')],
  computation: 'value',
  form: 'text',
  decimals: 0,
})

function section(sentence: Sentence, locale: 'en' | 'fr' = 'en', title = 'Revenue'): ReportSection {
  const context = { locale, timezone: 'UTC', findEvidence: () => evidence }
  const paragraph = paragraphOf([sentence], context)
  if (!paragraph) throw new Error('the sentence cannot be written')
  return { id: 's1', kind: 'summary', title, paragraphs: [paragraph], generationId: 'g1' }
}

const sentence = say`In ${month(1)} revenue rose to ${revenue(1)} in ${country(1)} (${change}), from ${revenue(0)}.`
const good = section(sentence)
const check = (sections: ReportSection[], locale: 'en' | 'fr' = 'en') =>
  checkSections(sections, [evidence], locale, 'UTC').map(({ message }) => message)

/** A section whose text is another one, with the same figures. */
function rewritten(text: string, figures = good.paragraphs[0]?.figures ?? []): ReportSection {
  return { ...good, paragraphs: [{ text, figures }] }
}
const text = good.paragraphs[0]?.text ?? ''

describe('a text whose figures follow from their cells', () => {
  it('passes in both languages', () => {
    expect(text).toBe('In November 2011 revenue rose to 1,509,496.33 in Île 51 (+30.7%), from 1,154,979.30.')
    expect(check([good])).toEqual([])
    const french = section(sentence, 'fr')
    expect(french.paragraphs[0]?.text).toContain('novembre 2011')
    expect(french.paragraphs[0]?.text).toContain('1\u202F509\u202F496,33')
    expect(check([french], 'fr')).toEqual([])
    expect(check([french], 'en')).not.toEqual([])
  })

  it('is held against the time zone of its query', () => {
    // Local midnight of 1 October in London is 30 September in UTC.
    expect(section(say`${month(0)}`).paragraphs[0]?.text).toBe('October 2011')
  })
})

describe('a number that no cell gives', () => {
  it('is found wherever a digit is changed', () => {
    for (const { index, 0: digit } of text.matchAll(/\d/g)) {
      for (let other = 0; other <= 9; other++) {
        if (String(other) === digit) continue
        expect(check([rewritten(text.slice(0, index) + other + text.slice(index + 1))])).not.toEqual([])
      }
    }
  })

  it('is found wherever a number is inserted, in any form', () => {
    const forms = [
      '7',
      '٣',
      '７',
      '½',
      'Ⅷ',
      '三',
      '%',
      ' seven ',
      ' Douze ',
      ' ｓｅｖｅｎ ',
      ' first ',
      ' moitié ',
    ]
    const figures = good.paragraphs[0]?.figures ?? []
    fc.assert(
      fc.property(fc.nat(text.length), fc.constantFrom(...forms), (at, form) => {
        const shifted = figures.map((figure) => ({
          ...figure,
          start: figure.start + (figure.start >= at ? form.length : 0),
          end: figure.end + (figure.end > at ? form.length : 0),
        }))
        expect(check([rewritten(text.slice(0, at) + form + text.slice(at), shifted)])).not.toEqual([])
        expect(check([rewritten(text.slice(0, at) + form + text.slice(at))])).not.toEqual([])
      }),
    )
  })

  it.each([
    'two',
    'Twelve',
    'DEUX',
    'onze',
    'twelfth',
    'troisième',
    'doubled',
    'a third',
    'la moitié',
    'pour cent',
    'percent',
    'in May',
    'in march, March',
    'on Mondays',
    'en août',
    'jeudi',
    '5',
    '1er',
    'x²',
    '①',
    '百',
    '٥٪',
    'tw\u200Bo',
    'a\u202Eb',
    'half',
    'une dizaine',
    'vingt',
    'ｔｗｏ',
  ])('is found in words and signs: %s', (words) => {
    expect(
      check([{ ...good, paragraphs: [{ text: `Revenue rose ${words} here.`, figures: [] }] }]),
    ).not.toEqual([])
  })

  it.each([
    'Revenue may march on.',
    'Un pays, une ville.',
    'Someone attended often.',
    'weight, lone, tenor, cinquantenaire',
  ])('is not seen in other words: %s', (words) =>
    expect(check([{ ...good, paragraphs: [{ text: words, figures: [] }] }])).toEqual([]),
  )

  it('is found in a title and in the shown texts of a chart, which draw evidence alone', () => {
    expect(check([{ ...good, title: 'Revenue in 2011' }])).not.toEqual([])
    const chart = (specification: Record<string, unknown>, evidenceId = 'e1') =>
      check([{ ...good, chart: { evidenceId, specification } }])
    expect(chart({ encoding: { x: { field: 'purchases\\.label\\.2', title: 'Country' } } })).toEqual([])
    expect(chart({ encoding: { x: { title: '30 % more' } } })).not.toEqual([])
    expect(chart({ title: ['Revenue', 'of 2011'] })).not.toEqual([])
    expect(chart({ title: { text: 'twelve' } })).not.toEqual([])
    expect(chart({ data: { values: [{ a: 1 }] } })).not.toEqual([])
    expect(chart({ mark: 'bar' }, 'e2')).not.toEqual([])
  })
})

describe('a figure', () => {
  const figures = good.paragraphs[0]?.figures ?? []
  const [first, second] = figures
  if (!first || !second) throw new Error('the sentence has figures')
  const withFigure = (changed: Partial<typeof second>) =>
    check([rewritten(text, figures.with(1, { ...second, ...changed }))])

  it('is refused where its cells do not exist or hold no number', () => {
    expect(withFigure({ cells: [cell(3)] })).not.toEqual([])
    expect(withFigure({ cells: [cell(1, 'revenue')] })).not.toEqual([])
    expect(withFigure({ cells: [cell(1, 'constructor')] })).not.toEqual([])
    expect(withFigure({ cells: [cell(2)] })).not.toEqual([])
    expect(withFigure({ cells: [cell(1, 'country')] })).not.toEqual([])
    expect(withFigure({ cells: [{ ...cell(1), evidenceId: 'e2' }] })).not.toEqual([])
    expect(withFigure({ cells: [cell(1), cell(0)] })).not.toEqual([])
  })

  it('is refused where another cell, computation, form or number of decimals gives another text', () => {
    expect(withFigure({ cells: [cell(0)] })).not.toEqual([])
    expect(withFigure({ decimals: 1 })).not.toEqual([])
    expect(withFigure({ form: 'percent' })).not.toEqual([])
    expect(withFigure({ form: 'date' })).not.toEqual([])
    expect(withFigure({ computation: 'sum' })).toEqual([])
  })

  it('is refused where it overlaps another, lies outside of the text or covers a part of a number', () => {
    expect(check([rewritten(text, [first, { ...second, start: first.start, end: second.end }])])).not.toEqual(
      [],
    )
    expect(withFigure({ end: 10_000 })).not.toEqual([])
    expect(withFigure({ start: second.end, end: second.start })).not.toEqual([])
    const million = text.replace('1,509,496.33', '1,509,496.33 million')
    const moved = figures.map((figure) =>
      figure.start > second.start ? { ...figure, start: figure.start + 8, end: figure.end + 8 } : figure,
    )
    expect(check([rewritten(million, moved)])).not.toEqual([])
    for (const sign of ['-', '−', '+', 'x']) {
      const signed = text.replace('1,509', `${sign}1,509`)
      const after = figures.map((figure) =>
        figure.start >= second.start ? { ...figure, start: figure.start + 1, end: figure.end + 1 } : figure,
      )
      expect(check([rewritten(signed, after)])).not.toEqual([])
    }
  })

  it('names a member on one line, without characters that reorder the text', () => {
    const hostile = { ...evidence, rows: [{ country: { value: 'a\u202Eb\n<b>%</b>'.padEnd(300, 'x') } }] }
    const context = { locale: 'en' as const, timezone: 'UTC', findEvidence: () => hostile }
    const paragraph = paragraphOf([say`${country(0)} is new.`], context)
    expect(paragraph?.text).toMatch(/^a b <b>%<\/b>x+… is new\.$/)
    expect(paragraph?.text.length).toBe(128)
  })

  it('is no percentage of nothing, and none that is rounded to what it is not', () => {
    const amounts = { ...evidence, rows: [100_000, 1, 0, -5].map((value) => ({ v: { value } })) }
    const context = { locale: 'en' as const, timezone: 'UTC', findEvidence: () => amounts }
    const written = (now: number, before: number, decimals: number) => {
      const cells = [now, before].map((row) => ({ evidenceId: 'e1', row, column: 'v' }))
      return paragraphOf([say`${{ ...change, cells, decimals }}`], context)?.text
    }
    expect(written(1, 0, 1)).toBeUndefined()
    expect(written(1, 0, 3)).toBe('-99.999%')
    expect(written(2, 0, 1)).toBe('-100.0%')
    expect(written(0, 2, 1)).toBeUndefined()
    expect(written(0, 3, 1)).toBeUndefined()
  })

  it('takes linear time over hostile texts', () => {
    const long = rewritten('1 '.repeat(1_900))
    expect(check([long, rewritten('a'.repeat(4_000)), rewritten('٣'.repeat(4_000))]).length).toBeGreaterThan(
      1_900,
    )
  })
})

describe.each(['en', 'fr'] as const)('claims that cannot both be true, in %s', (locale) => {
  const phrases = phrasesOf(locale)
  const noun = { text: locale === 'en' ? 'revenue' : 'le chiffre d’affaires', feminine: false, title: '' }
  const day = (row: number): FigureDraft => ({ ...month(row), form: 'date' })
  const member = { dimension: locale === 'en' ? 'country' : 'pays', name: [country(0)] }
  /** From the value of one row to that of another, said to go a way. */
  const moved = (direction: 'up' | 'down', now: number, before: number) => ({
    ...{ noun, direction, now: [revenue(now)], before: [revenue(before)] },
    difference: [{ ...revenue(now), cells: [cell(now), cell(before)], computation: 'difference' as const }],
  })
  const within = ['change', phrases.variation('within', 'day')] as const
  const outlier = ['outliers', phrases.outlier(noun, day(0), [revenue(0)], true, [revenue(1)])] as const
  const farBelow = ['outliers', phrases.outlier(noun, day(0), [revenue(0)], false, [revenue(1)])] as const
  const highest = phrases.peak('day', noun, day(0), [revenue(0)])
  const levelChange = (row: number) => ['course', phrases.levelChange(true, day(row), 'day')] as const
  const rises = (kind: ReportSection['kind']) => [kind, phrases.driver(member, moved('up', 1, 0))] as const

  type Told = readonly [ReportSection['kind'], ...Sentence[]]
  const faults = (...told: Told[]) =>
    check(
      told.map(([kind, ...sentences]): ReportSection => {
        const context = { locale, timezone: 'UTC', findEvidence: () => evidence }
        const paragraph = paragraphOf(sentences, context)
        if (!paragraph) throw new Error('the sentences cannot be written')
        return { id: 's', kind, title: '', paragraphs: [paragraph], generationId: 'g' }
      }),
      locale,
    )

  it.each<readonly [string, readonly Told[]]>([
    ['a rise by figures that fall', [['change', phrases.change(moved('up', 0, 1))]]],
    ['a fall by figures that rise', [['drivers', phrases.driver(member, moved('down', 1, 0))]]],
    [
      'a rise and a fall of one member',
      [rises('summary'), ['drivers', phrases.driver(member, moved('down', 0, 1))]],
    ],
    ['the usual that is more', [within, ['change', phrases.variation('beyond', 'day')]]],
    ['the usual on a new level', [within, levelChange(1)]],
    ['the usual with drivers', [within, rises('drivers')]],
    ['the usual with an extraordinary day', [within, outlier]],
    ['the highest that is far below', [['course', highest], farBelow]],
    ['drivers and none', [['drivers', phrases.noDrivers('within')], rises('drivers')]],
    ['an extraordinary day that is usual', [['course', highest, phrases.peakIsUsual('day')], outlier]],
    ['a level that begins with an extraordinary day', [levelChange(0), outlier]],
    ['the highest that is the lowest', [['course', highest, phrases.lowest('day', day(0), [revenue(0)])]]],
  ])('are found: %s', (_, told) => expect(faults(...told)).toHaveLength(1))

  it.each<readonly [string, readonly Told[]]>([
    ['a rise by figures that rise', [['change', phrases.change(moved('up', 1, 0))]]],
    [
      'a rise since the period before, and a fall since the year before',
      [['change', phrases.change(moved('up', 1, 0)), phrases.yearChange(moved('down', 0, 1))]],
    ],
    ['a change of parts on a new level', [['change', phrases.variation('partly', 'day')], levelChange(1)]],
    ['an extraordinary day beside usual ones', [['change', phrases.variation('otherwise', 'day')], outlier]],
    ['an extraordinary day before a new level', [outlier, levelChange(1)]],
    ['two subjects', [within, ['summary', phrases.variation('beyond', 'day')], levelChange(1)]],
  ])('are not seen in %s', (_, told) => expect(faults(...told)).toEqual([]))
})
