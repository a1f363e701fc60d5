import type { Cell, Evidence } from '@millrace/contract/resources/evidence.ts'
import type { Computation, Figure } from '@millrace/contract/resources/report-section.ts'
import type { Language } from '../../../../platform/i18n/language.ts'
import { mean, median } from '../findings/robust.ts'

/** A figure that has no place in a text yet. */
export type FigureDraft = Pick<Figure, 'cells' | 'computation' | 'form' | 'decimals'>

export interface FigureContext {
  readonly locale: Language
  /** IANA name of the zone of times whose query names none. */
  readonly timezone: string
  readonly findEvidence: (id: string) => Evidence | undefined
}

/** What is wrong with a figure: it cannot be computed from stored rows. */
export class FigureFault extends Error {}

/** Texts of cells are cut here: a figure names, it does not quote. */
const maxTextLength = 120

/**
 * The text of a figure, computed anew from the cells that it names.
 * @throws {FigureFault}
 */
export function textOfFigure(figure: FigureDraft, context: FigureContext): string {
  const { form, computation } = figure
  switch (form) {
    case 'text':
    case 'date':
    case 'month':
    case 'year':
    case 'weekday': {
      const [only, ...more] = figure.cells
      if (computation !== 'value' || only === undefined || more.length > 0) {
        throw new FigureFault(`${form} is of one cell, with the computation value`)
      }
      const { value, zone } = readCell(only, context)
      if (value === null) throw new FigureFault('the cell is empty')
      return form === 'text' ? nameOf(value) : dateText(value, form, zone, context.locale)
    }
    case 'number':
    case 'money':
    case 'percent':
    case 'points':
      return numberText(shownValue(figure, context), figure, context.locale)
  }
}

/** Computations of which a percentage is relative to a base: where that stands among their cells. */
const relative: Partial<Record<Computation, (values: readonly number[]) => number>> = {
  change: ([, base = 0]) => base,
  ratioChange: ([, , c = 0, d = 0]) => c / d,
}

/**
 * The value of a figure that shows a number. Of nothing and of less than nothing there is no percentage, and none is
 * rounded to a change of nothing, or to the loss of all, that is none.
 */
function shownValue(figure: FigureDraft, context: FigureContext): number {
  const value = valueOfFigure(figure, context)
  const baseOf = figure.form === 'percent' ? relative[figure.computation] : undefined
  if (!baseOf) return value
  const values = figure.cells.map((cell) => numberIn(readCell(cell, context).value))
  if (!(baseOf(values) > 0)) throw new FigureFault('a percentage needs a base above 0')
  const shown = Number(value.toFixed(figure.decimals + 2))
  if (shown !== value && (shown === 0 || shown === -1)) {
    throw new FigureFault(`${shown === 0 ? 'no change' : 'the loss of all'} is shown, which it is not`)
  }
  return value
}

/**
 * The value of a figure.
 * @throws {FigureFault}
 */
export function valueOfFigure(
  figure: Omit<FigureDraft, 'form' | 'decimals'>,
  context: FigureContext,
): number {
  const found = figure.cells.map((cell) => readCell(cell, context).value)
  const values = figure.computation === 'count' ? found.map(() => 1) : found.map(numberIn)
  const value = compute(figure.computation, values)
  if (!Number.isFinite(value)) throw new FigureFault(`${figure.computation} of these cells is no number`)
  return value
}

type Compute = (values: readonly number[]) => number

/** How many cells each computation takes, at least where it says so, and its value over theirs, in their order. */
const computations: Readonly<
  Record<Computation, readonly [cells: number, of: Compute, atLeast?: 'atLeast']>
> = {
  value: [1, ([a = 0]) => a],
  sum: [1, sum, 'atLeast'],
  difference: [2, ([a = 0, b = 0]) => a - b],
  change: [2, ([a = 0, b = 0]) => (a - b) / b],
  share: [2, ([a = 0, ...others]) => a / sum(others), 'atLeast'],
  ratio: [2, ([a = 0, b = 0]) => a / b],
  mean: [1, mean, 'atLeast'],
  median: [1, median, 'atLeast'],
  count: [1, ({ length }) => length, 'atLeast'],
  contribution: [4, ([a = 0, b = 0, c = 0, d = 0]) => (a - b) / (c - d)],
  ratioDifference: [4, ([a = 0, b = 0, c = 0, d = 0]) => a / b - c / d],
  ratioChange: [4, ([a = 0, b = 0, c = 0, d = 0]) => a / b / (c / d) - 1],
  excess: [2, excess, 'atLeast'],
  excessShare: [4, excessShare, 'atLeast'],
  rateEffect: [8, (values) => effects(values).rateEffect],
  mixEffect: [8, (values) => effects(values).mixEffect],
}

/** Computations that tell how far two things are apart: they are written with their sign. */
const signed: ReadonlySet<Computation> = new Set([
  ...(['difference', 'change', 'ratioDifference', 'ratioChange'] as const),
  ...(['excess', 'rateEffect', 'mixEffect'] as const),
])

/** The computation over the values of the cells, in their order (packages/contract, `Computation`). */
export function compute(computation: Computation, values: readonly number[]): number {
  const [cells, of, atLeast] = computations[computation]
  const fits = atLeast ? values.length >= cells : values.length === cells
  if (!fits) throw new FigureFault(`${computation} cannot be of ${values.length} cells`)
  return of(values)
}

/** docs/reports.md, How findings are computed: the two parts of a member in the change of a rate over all. */
function effects(values: readonly number[]): { rateEffect: number; mixEffect: number } {
  const [c1 = 0, n1 = 0, allC1 = 0, allN1 = 0, c0 = 0, n0 = 0, allC0 = 0, allN0 = 0] = values
  const overall = (allC1 / allN1 + allC0 / allN0) / 2
  const [share1, share0] = [n1 / allN1, n0 / allN0]
  // A member that was not there before, or no longer is, has no rate of its own to change.
  const rate1 = n1 > 0 ? c1 / n1 : c0 / n0
  const rate0 = n0 > 0 ? c0 / n0 : c1 / n1
  return {
    rateEffect: ((share1 + share0) / 2) * (rate1 - rate0),
    mixEffect: ((rate1 + rate0) / 2 - overall) * (share1 - share0),
  }
}

function sum(values: readonly number[]): number {
  let total = 0
  for (const value of values) total += value
  return total
}

function excess([first = Number.NaN, ...others]: readonly number[]): number {
  return first - mean(others)
}

/** The excess of a part over that of the whole, whose cells follow in the same order. */
function excessShare(values: readonly number[]): number {
  if (values.length % 2 === 1) throw new FigureFault('excessShare needs two halves of the same length')
  const half = values.length / 2
  return excess(values.slice(0, half)) / excess(values.slice(half))
}

interface Found {
  readonly value: Cell['value']
  readonly zone: string
}

function readCell(reference: Figure['cells'][number], { findEvidence, timezone }: FigureContext): Found {
  const { evidenceId, row, column } = reference
  const evidence = findEvidence(evidenceId)
  if (evidence === undefined) throw new FigureFault(`there is no evidence ${evidenceId}`)
  const cells = evidence.rows[row]
  if (cells === undefined) throw new FigureFault(`evidence ${evidenceId} has no row ${row}`)
  const cell = Object.hasOwn(cells, column) ? cells[column] : undefined
  if (cell === undefined) throw new FigureFault(`evidence ${evidenceId} has no column ${column}`)
  return { value: cell.value, zone: evidence.query.timezone ?? timezone }
}

/** The number that a cell holds: large ones are kept as their digits. */
export function numberIn(value: Cell['value']): number {
  if (typeof value === 'number') return value
  const number = typeof value === 'string' && value.trim() !== '' ? Number(value) : Number.NaN
  if (!Number.isFinite(number)) throw new FigureFault('the cell holds no number')
  return number
}

/** A cell as a name: one line, without what changes the direction or form of the text around it. */
function nameOf(value: string | number | boolean): string {
  const text = String(value).replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]+/gu, ' ')
  if (text.trim() === '') throw new FigureFault('the cell holds no text that can be shown')
  if (text.length <= maxTextLength) return text
  return `${text.slice(0, maxTextLength - 1).replace(/[\uD800-\uDBFF]$/, '')}…`
}

const dateForms = {
  date: { day: 'numeric', month: 'long', year: 'numeric' },
  month: { month: 'long', year: 'numeric' },
  year: { year: 'numeric' },
  weekday: { weekday: 'long' },
} as const satisfies Record<string, Intl.DateTimeFormatOptions>

function dateText(
  value: Cell['value'],
  form: keyof typeof dateForms,
  zone: string,
  locale: Language,
): string {
  const instant =
    typeof value === 'string' && /^\d{4}-\d{2}-\d{2}/.test(value) ? Date.parse(value) : Number.NaN
  if (Number.isNaN(instant)) throw new FigureFault('the cell holds no time')
  const text = dateFormat(locale, form, zone).format(instant)
  // The day of the beginning of a month is an ordinal in French.
  return locale === 'fr' && form === 'date' ? text.replace(/^1 /, '1er ') : text
}

const dateFormats = new Map<string, Intl.DateTimeFormat>()
/** Formats by zone are made once; a service meets few zones, and forgets them all rather than collect them. */
const maxDateFormats = 1_000

function dateFormat(locale: Language, form: keyof typeof dateForms, timeZone: string): Intl.DateTimeFormat {
  const key = `${locale} ${form} ${timeZone}`
  let format = dateFormats.get(key)
  if (!format) {
    if (dateFormats.size >= maxDateFormats) dateFormats.clear()
    format = new Intl.DateTimeFormat(tags[locale], { ...dateForms[form], timeZone, calendar: 'gregory' })
    dateFormats.set(key, format)
  }
  return format
}

/** Days before months in both languages, so that a date reads as one. */
const tags: Readonly<Record<Language, string>> = { en: 'en-GB', fr: 'fr-FR' }

const numberFormats = new Map<string, Intl.NumberFormat>()

function numberText(value: number, { form, computation, decimals }: FigureDraft, locale: Language): string {
  const style = form === 'percent' ? 'percent' : 'decimal'
  const signDisplay = signed.has(computation) ? 'exceptZero' : 'negative'
  const key = `${locale} ${style} ${signDisplay} ${decimals}`
  let format = numberFormats.get(key)
  if (!format) {
    const digits = { minimumFractionDigits: decimals, maximumFractionDigits: decimals }
    format = new Intl.NumberFormat(tags[locale], { style, signDisplay, numberingSystem: 'latn', ...digits })
    numberFormats.set(key, format)
  }
  return format.format(form === 'points' ? value * 100 : value)
}
