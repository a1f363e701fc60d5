import type { Meta } from '../data/format.ts'
import { type Asked, timeKeyOf, type ValueWords, valueText } from '../data/result.ts'
import type { Answer, Row } from '../data/statistics.ts'
import type { Language } from '../texts/texts.ts'
import type { Sort } from '../ui/table.tsx'

export type ResultKind = 'line' | 'area' | 'bar' | 'list' | 'number' | 'pie' | 'table' | 'map'

export const resultKinds: readonly ResultKind[] = [
  'line',
  'area',
  'bar',
  'list',
  'number',
  'pie',
  'map',
  'table',
]

export interface ResultProps {
  readonly title: string
  readonly asked: Asked
  readonly answer: Answer
  readonly meta: Meta | undefined
  readonly kind: ResultKind
  readonly height?: number
  /** Whether the last bucket of the range is not over yet; by the time of its begin where nothing is said. */
  readonly isLastOpen?: boolean
  readonly onZoom?: (from: string, to: string) => void
  /** Gets a value of the first dimension that was pressed. */
  readonly onValue?: (value: Row[string]) => void
  /** Of a table: its page, from 1, and how its rows are sorted. */
  readonly page?: number
  readonly onPage?: (page: number) => void
  readonly sort?: Sort | undefined
  readonly onSort?: (sort: Sort) => void
}

/** Distinct counts: a person of two parts is counted in both, so the parts do not add up. */
const distinct = new Set([
  'events.people',
  'events.identifiedPeople',
  'events.devices',
  'purchases.buyers',
  'purchases.buyersAfterClick',
])

/** Whether parts of the measure add up to the whole: counts of things and sums, not of persons, and no ratios. */
export function isSummed(
  { measures, dimensions }: Pick<Asked, 'measures' | 'dimensions'>,
  meta: Meta | undefined,
): boolean {
  const [id = ''] = measures
  const measure = meta?.measures[id]
  return (
    measures.length === 1 &&
    measure !== undefined &&
    !measure.virtual &&
    measure.exactUpTo === undefined &&
    measure.format !== 'seconds' &&
    measure.format !== 'milliseconds' &&
    !distinct.has(id) &&
    // A purchase of two items is counted for both.
    !dimensions.some((each) => each.endsWith('.item'))
  )
}

/** The kinds in which a result can honestly be drawn, the best one first. */
export function kindsFor(asked: Asked, meta?: Meta): readonly ResultKind[] {
  const isByTime = timeKeyOf(asked) !== undefined
  if (asked.measures.length === 0) return ['table']
  if (isByTime) return ['line', 'area', 'bar', 'table']
  if (asked.dimensions.length === 0) return ['number', 'table']
  if (asked.dimensions.length > 1) return ['table', 'list']
  const countries = asked.dimensions[0]?.endsWith('.country') ? (['map'] as const) : []
  return ['list', ...countries, ...(isSummed(asked, meta) ? (['pie'] as const) : []), 'table']
}

/** Rows of the first range, with the one that the compared range has for the same values of dimensions. */
export function pairs(
  { rows }: Answer,
  { dimensions }: Asked,
): { readonly row: Row; readonly before: Row | undefined }[] {
  const first = rows[0]?.compareDateRange
  const keyOf = (row: Row) => JSON.stringify(dimensions.map((dimension) => row[dimension]))
  const before = new Map(rows.filter((row) => row.compareDateRange !== first).map((row) => [keyOf(row), row]))
  return rows
    .filter((row) => row.compareDateRange === first)
    .map((row) => ({ row, before: before.get(keyOf(row)) }))
}

const regions: Readonly<Record<Language, Intl.DisplayNames>> = {
  en: new Intl.DisplayNames('en', { type: 'region' }),
  fr: new Intl.DisplayNames('fr', { type: 'region' }),
}

/** A country as people call it, where the code is one. */
const regionName = (language: Language, code: string): string =>
  /^[A-Z]{2}$/.test(code) ? (regions[language].of(code) ?? code) : code

/** A value of a dimension as it is shown. */
export function shownValue(
  language: Language,
  dimension: string,
  value: Row[string] | undefined,
  say: ValueWords,
): string {
  const text = valueText(value, say)
  return dimension.endsWith('.country') && typeof value === 'string' ? regionName(language, text) : text
}

export const numberOf = (value: Row[string] | undefined): number | null =>
  typeof value === 'number' ? value : null
