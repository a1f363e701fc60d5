import type { CellReference, FigureForm, ReportSection } from '@millrace/contract/resources/report-section.ts'
import type { StatisticsMeta } from '@millrace/contract/resources/statistics-meta.ts'
import { type FigureContext, type FigureDraft, FigureFault, textOfFigure } from '../checker/figures.ts'
import type { Row } from '../evidence/table.ts'
import { dimensionNoun, measureNoun } from '../language/nouns.ts'
import { type ChangeParts, paragraphOf, type Sentence } from '../language/paragraph.ts'
import { phrasesOf } from '../language/phrases.ts'
import { minBase } from '../plans/subject.ts'

export interface WriterSettings extends FigureContext {
  readonly meta: StatisticsMeta
  readonly generationId: string
  readonly currency?: string | undefined
}

const forms = {
  integer: { form: 'number', decimals: 0 },
  amount: { form: 'money', decimals: 2 },
  ratio: { form: 'percent', decimals: 2 },
  seconds: { form: 'number', decimals: 0 },
  milliseconds: { form: 'number', decimals: 0 },
} as const

type Computation = FigureDraft['computation']
type Cells = readonly CellReference[]

/** A figure as the value of its cells, or what is computed of them. */
const drawn = (form: FigureForm, decimals: number, cells: Cells, computation: Computation = 'value') =>
  ({ cells: [...cells], computation, form, decimals }) satisfies FigureDraft

export type Writer = ReturnType<typeof createWriter>

/** Turns cells into figures, and sentences into sections. */
export function createWriter(settings: WriterSettings) {
  const { locale, meta, generationId } = settings
  const currency = /^[A-Z]{3}$/.test(settings.currency ?? '') ? settings.currency : undefined
  const phrases = phrasesOf(locale)
  const around = currencyAround(currency, locale)
  let sections = 0

  function formOf(measure: string): { form: FigureForm; decimals: number } {
    const format = Object.hasOwn(meta.measures, measure) ? meta.measures[measure]?.format : undefined
    if (measure === 'conversion') return forms.ratio
    return format === undefined || format === 'decimal' ? { form: 'number', decimals: 2 } : forms[format]
  }

  /** As the texts show both: what differs behind the last digit stays the same. */
  function directionOf(measure: string, own: number, earlier: number): ChangeParts['direction'] {
    const { form, decimals } = formOf(measure)
    const shown = (value: number) => Number(value.toFixed(form === 'percent' ? decimals + 2 : decimals))
    if (shown(own) === shown(earlier)) return 'same'
    return own > earlier ? 'up' : 'down'
  }

  const isCount = (measure: string) => meta.measures[measure]?.format === 'integer'

  /** A figure in the form of a measure, with the currency around it where it is money. */
  function figure(measure: string, computation: Computation, cells: Cells): Sentence {
    const { form, decimals } = formOf(measure)
    // A mean or median of counts lies between them.
    const isBetween = computation === 'mean' || computation === 'median' || computation === 'excess'
    const draft = drawn(form, decimals === 0 && isBetween ? 1 : decimals, cells, computation)
    if (form !== 'money') return [draft]
    // A sign would stand between the symbol and the number.
    if (computation === 'excess' || computation === 'difference' || computation === 'ratioDifference')
      return currency === undefined ? [draft] : [draft, `\u00A0${currency}`]
    return [...around.before, draft, ...around.after]
  }

  const points = (computation: Computation, cells: Cells) => drawn('points', 2, cells, computation)
  const value = (measure: string, cell: CellReference) => figure(measure, 'value', [cell])
  const noun = (measure: string) => measureNoun(measure, locale, meta)

  /** A difference as a figure of the measure's form; of rates in points. */
  function difference(measure: string, cells: Cells): Sentence {
    const computation = cells.length === 2 ? 'difference' : 'ratioDifference'
    if (formOf(measure).form === 'percent') return [points(computation, cells), phrases.points]
    return figure(measure, computation, cells)
  }

  /**
   * A change in percent, with as many digits as it takes to show that something changed, and that something is left;
   * undefined where no percentage can be told.
   */
  function relative(computation: 'change' | 'ratioChange', cells: Cells): FigureDraft | undefined {
    for (let decimals = 1; decimals <= maxDecimals; decimals++) {
      const draft = drawn('percent', decimals, cells, computation)
      try {
        textOfFigure(draft, settings)
        return draft
      } catch (error) {
        if (!(error instanceof FigureFault)) throw error
      }
    }
    return undefined
  }

  /** What was counted of a base, for a percentage of it. */
  const smallBase = (measure: string, cell: CellReference) => ({
    noun: noun(measure),
    count: value(measure, cell),
  })

  return {
    ...{ phrases, difference, relative, smallBase, noun, figure, value, points },
    dimension: (id: string) => dimensionNoun(id, locale),
    percent: (computation: Computation, cells: Cells) => drawn('percent', 1, cells, computation),
    time: (form: 'date' | 'month' | 'year' | 'weekday', cell: CellReference) => drawn(form, 0, [cell]),
    text: (cell: CellReference) => drawn('text', 0, [cell]),
    count: (cell: CellReference) => drawn('number', 0, [cell]),
    /** How many cells there are. */
    countOf: (cells: Cells) => drawn('number', 0, cells, 'count'),

    /** The name of a member; words where it has none. */
    member(dimension: string, key: string | null, cell: CellReference): Sentence {
      if (key === null || key.trim() === '') return [phrases.withoutValue]
      if (dimension === 'sessions.isNew' && (key === 'true' || key === 'false')) return [phrases.isNew[key]]
      return [drawn('text', 0, [cell])]
    },

    /**
     * What changed between two cells of a measure; undefined where one holds no number.
     * @param sample counts the facts that the measure is of
     */
    change(
      measure: string,
      now: Row | undefined,
      before: Row | undefined,
      sample: string,
    ): ChangeParts | undefined {
      const [own, earlier] = [now?.number(measure), before?.number(measure)]
      if (!now || !before || own === undefined || earlier === undefined) return undefined
      const cells = [now.cell(measure), before.cell(measure)] as const
      const counted = isCount(measure) ? measure : sample
      const isSmall = (before.number(counted) ?? minBase) < minBase
      return {
        noun: noun(measure),
        now: value(measure, cells[0]),
        before: value(measure, cells[1]),
        direction: directionOf(measure, own, earlier),
        difference: difference(measure, cells),
        change: relative('change', cells),
        smallBase: isSmall ? smallBase(counted, before.cell(counted)) : undefined,
      }
    },

    /** A section of paragraphs; undefined where none says anything. */
    section(
      kind: ReportSection['kind'],
      title: string,
      paragraphs: readonly (readonly Sentence[])[],
      chart?: ReportSection['chart'],
    ): ReportSection | undefined {
      const written = paragraphs
        .flatMap((sentences) => paragraphOf(sentences, settings) ?? [])
        .slice(0, maxParagraphs)
      if (written.length === 0) return undefined
      const id = `${generationId}-${++sections}`
      return { id, kind, title, paragraphs: written, ...(chart ? { chart } : {}), generationId }
    },
  }
}

/** Of a figure (packages/contract, `Figure`). */
const maxDecimals = 6
/** Of a section (packages/contract, `ReportSection`). */
const maxParagraphs = 20

/** What stands before and after an amount of a currency in a language. */
function currencyAround(currency: string | undefined, locale: 'en' | 'fr') {
  if (currency === undefined) return { before: [], after: [] }
  const tag = locale === 'en' ? 'en-GB' : 'fr-FR'
  const parts = new Intl.NumberFormat(tag, { style: 'currency', currency }).formatToParts(1)
  const number = parts.findIndex(({ type }) => type === 'integer')
  const isAround = ({ type }: Intl.NumberFormatPart) => type === 'currency' || type === 'literal'
  const text = (some: Intl.NumberFormatPart[]) =>
    [some.flatMap((part) => (isAround(part) ? part.value : [])).join('')].filter((joined) => joined !== '')
  return { before: text(parts.slice(0, number)), after: text(parts.slice(number)) }
}
