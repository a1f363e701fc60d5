import type { CellReference, FigureForm, ReportSection } from '@millrace/contract/resources/report-section.ts'
import type { StatisticsMeta } from '@millrace/contract/resources/statistics-meta.ts'
import { type FigureContext, type FigureDraft, FigureFault, textOfFigure } from '../checker/figures.ts'
import type { Row } from '../evidence/table.ts'
import { dimensionNoun, measureNoun, type Noun } from '../language/nouns.ts'
import { paragraphOf, type Sentence } from '../language/paragraph.ts'
import { type ChangeParts, type Phrases, phrasesOf, type SmallBase } from '../language/phrases.ts'
import { minBase } from '../plans/subject.ts'

export interface WriterSettings extends FigureContext {
  readonly meta: StatisticsMeta
  readonly generationId: string
  readonly currency?: string
}

/** Turns cells into figures, and sentences into sections. */
export interface Writer {
  readonly phrases: Phrases
  noun(measure: string): Noun
  dimension(id: string): string
  /** A figure in the form of a measure, with the currency around it where it is money. */
  figure(measure: string, computation: FigureDraft['computation'], cells: readonly CellReference[]): Sentence
  value(measure: string, cell: CellReference): Sentence
  percent(computation: FigureDraft['computation'], cells: readonly CellReference[]): FigureDraft
  points(computation: FigureDraft['computation'], cells: readonly CellReference[]): FigureDraft
  time(form: 'date' | 'month' | 'year' | 'weekday', cell: CellReference): FigureDraft
  count(cell: CellReference): FigureDraft
  /** How many cells there are. */
  countOf(cells: readonly CellReference[]): FigureDraft
  /** The name of a member; words where it has none. */
  member(dimension: string, key: string | null, cell: CellReference): Sentence
  /** A difference as a figure of the measure's form; of rates in points. */
  difference(measure: string, cells: readonly CellReference[]): Sentence
  /** A change in percent; undefined where no percentage can be told. */
  relative(computation: 'change' | 'ratioChange', cells: readonly CellReference[]): FigureDraft | undefined
  /** What was counted of a base, for a percentage of it. */
  smallBase(measure: string, cell: CellReference): SmallBase
  /**
   * What changed between two cells of a measure; undefined where one holds no number.
   * @param sample counts the facts that the measure is of
   */
  change(
    measure: string,
    now: Row | undefined,
    before: Row | undefined,
    sample: string,
  ): ChangeParts | undefined
  /** A section of paragraphs; undefined where none says anything. */
  section(
    kind: ReportSection['kind'],
    title: string,
    paragraphs: readonly (readonly Sentence[])[],
    chart?: ReportSection['chart'],
  ): ReportSection | undefined
}

export function createWriter(settings: WriterSettings): Writer {
  const { locale, meta, generationId } = settings
  const currency = /^[A-Z]{3}$/.test(settings.currency ?? '') ? settings.currency : undefined
  const phrases = phrasesOf(locale)
  const around = currencyAround(currency, locale)
  let sections = 0

  function formOf(measure: string): { form: FigureForm; decimals: number } {
    if (measure === 'conversion') return { form: 'percent', decimals: 2 }
    const format = Object.hasOwn(meta.measures, measure) ? meta.measures[measure]?.format : undefined
    switch (format) {
      case 'integer':
        return { form: 'number', decimals: 0 }
      case 'amount':
        return { form: 'money', decimals: 2 }
      case 'ratio':
        return { form: 'percent', decimals: 2 }
      case 'seconds':
      case 'milliseconds':
        return { form: 'number', decimals: 0 }
      case 'decimal':
      case undefined:
        return { form: isAmountPer(measure) ? 'money' : 'number', decimals: 2 }
    }
  }

  /** As the texts show both: what differs behind the last digit stays the same. */
  function directionOf(measure: string, own: number, earlier: number): ChangeParts['direction'] {
    const { form, decimals } = formOf(measure)
    const shown = (value: number) => Number(value.toFixed(form === 'percent' ? decimals + 2 : decimals))
    if (shown(own) === shown(earlier)) return 'same'
    return own > earlier ? 'up' : 'down'
  }

  const isCount = (measure: string) => meta.measures[measure]?.format === 'integer'

  const figure: Writer['figure'] = (measure, computation, cells) => {
    const { form, decimals } = formOf(measure)
    // A mean or median of counts lies between them.
    const isBetween = computation === 'mean' || computation === 'median' || computation === 'excess'
    const draft = {
      cells: [...cells],
      computation,
      form,
      decimals: decimals === 0 && isBetween ? 1 : decimals,
    }
    if (form !== 'money') return [draft]
    // A sign would stand between the symbol and the number.
    if (computation === 'excess' || computation === 'difference' || computation === 'ratioDifference')
      return currency === undefined ? [draft] : [draft, `\u00A0${currency}`]
    return [...around.before, draft, ...around.after]
  }

  const points: Writer['points'] = (computation, cells) => ({
    cells: [...cells],
    computation,
    form: 'points',
    decimals: 2,
  })

  const difference: Writer['difference'] = (measure, cells) => {
    const computation = cells.length === 2 ? 'difference' : 'ratioDifference'
    if (formOf(measure).form === 'percent') return [points(computation, cells), phrases.points]
    return figure(measure, computation, cells)
  }

  /** With as many digits as it takes to show that something changed, and that something is left. */
  const relative: Writer['relative'] = (computation, cells) => {
    for (let decimals = 1; decimals <= maxDecimals; decimals++) {
      const draft: FigureDraft = { cells: [...cells], computation, form: 'percent', decimals }
      try {
        textOfFigure(draft, settings)
        return draft
      } catch (error) {
        if (!(error instanceof FigureFault)) throw error
      }
    }
    return undefined
  }

  const smallBase: Writer['smallBase'] = (measure, cell) => ({
    noun: measureNoun(measure, locale, meta),
    count: figure(measure, 'value', [cell]),
  })

  return {
    phrases,
    difference,
    relative,
    smallBase,
    noun: (measure) => measureNoun(measure, locale, meta),
    dimension: (id) => dimensionNoun(id, locale),
    figure,
    value: (measure, cell) => figure(measure, 'value', [cell]),
    percent: (computation, cells) => ({ cells: [...cells], computation, form: 'percent', decimals: 1 }),
    points,
    time: (form, cell) => ({ cells: [cell], computation: 'value', form, decimals: 0 }),
    count: (cell) => ({ cells: [cell], computation: 'value', form: 'number', decimals: 0 }),
    countOf: (cells) => ({ cells: [...cells], computation: 'count', form: 'number', decimals: 0 }),
    member(dimension, key, cell) {
      if (key === null || key.trim() === '') return [phrases.withoutValue]
      if (dimension === 'sessions.isNew' && (key === 'true' || key === 'false')) return [phrases.isNew[key]]
      return [{ cells: [cell], computation: 'value', form: 'text', decimals: 0 }]
    },
    change(measure, now, before, sample) {
      const [own, earlier] = [now?.number(measure), before?.number(measure)]
      if (!now || !before || own === undefined || earlier === undefined) return undefined
      const cells = [now.cell(measure), before.cell(measure)] as const
      const change = relative('change', cells)
      const counted = isCount(measure) ? measure : sample
      const isSmall = (before.number(counted) ?? minBase) < minBase
      return {
        noun: measureNoun(measure, locale, meta),
        now: figure(measure, 'value', [cells[0]]),
        before: figure(measure, 'value', [cells[1]]),
        direction: directionOf(measure, own, earlier),
        difference: difference(measure, cells),
        ...(change ? { change } : {}),
        ...(isSmall ? { smallBase: smallBase(counted, before.cell(counted)) } : {}),
      }
    },
    section(kind, title, paragraphs, chart) {
      const written = paragraphs
        .map((sentences) => paragraphOf(sentences, settings))
        .filter((paragraph) => paragraph !== undefined)
        .slice(0, maxParagraphs)
      if (written.length === 0) return undefined
      return {
        id: `${generationId}-${++sections}`,
        kind,
        title,
        paragraphs: written,
        ...(chart ? { chart } : {}),
        generationId,
      }
    },
  }
}

/** Of a figure (packages/contract, `Figure`). */
const maxDecimals = 6
/** Of a section (packages/contract, `ReportSection`). */
const maxParagraphs = 20

/** Means of amounts, which are amounts in texts. */
function isAmountPer(measure: string): boolean {
  return measure === 'purchases.averageOrderValue' || measure === 'purchases.revenuePerBuyer'
}

/** What stands before and after an amount of a currency in a language. */
function currencyAround(
  currency: string | undefined,
  locale: 'en' | 'fr',
): { before: readonly string[]; after: readonly string[] } {
  if (currency === undefined) return { before: [], after: [] }
  const tag = locale === 'en' ? 'en-GB' : 'fr-FR'
  const parts = new Intl.NumberFormat(tag, { style: 'currency', currency }).formatToParts(1)
  const number = parts.findIndex(({ type }) => type === 'integer')
  const isAround = ({ type }: Intl.NumberFormatPart) => type === 'currency' || type === 'literal'
  const text = (some: Intl.NumberFormatPart[]) => {
    const joined = some
      .filter(isAround)
      .map(({ value }) => value)
      .join('')
    return joined === '' ? [] : [joined]
  }
  return { before: text(parts.slice(0, number)), after: text(parts.slice(number)) }
}
