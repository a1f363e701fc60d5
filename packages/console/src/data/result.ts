import type { Series } from '../charts/series.ts'
import type { analysis } from '../texts/analysis.ts'
import { daysOfLabel, withMissing } from './buckets.ts'
import type { Granularity, MeasureMeta, Meta } from './format.ts'
import type { Row } from './statistics.ts'

/** As much of a query as its picture depends on. */
export interface Asked {
  readonly measures: readonly string[]
  readonly dimensions: readonly string[]
  readonly timeDimensions: readonly {
    readonly dimension: string
    readonly granularity?: Granularity | null
    readonly compareDateRange?: readonly unknown[] | null
  }[]
}

/** What a query asks for, in a line. */
export function askedText(
  { measures = [], dimensions = [], timeDimensions = [] }: Partial<Asked>,
  meta: Meta | undefined,
  say: (typeof analysis)['en'],
): string {
  const named = (members: readonly string[]) => members.map((each) => titleOf(meta, each)).join(', ')
  const what = named(measures)
  if (dimensions.length > 0) return what ? say.by(what, named(dimensions)) : named(dimensions)
  return timeDimensions.some(({ granularity }) => granularity) ? say.byTime(what) : what
}

export interface SeriesResult {
  readonly buckets: readonly string[]
  readonly granularity: Granularity
  readonly series: readonly Series[]
  /** How many series there are beyond those that are drawn. */
  readonly more: number
}

/** Name of a member as people call it: of a label its key. */
export function titleOf(meta: Meta | undefined, member: string): string {
  const known = meta?.measures[member] ?? meta?.dimensions[member]
  return known?.title ?? member.slice(member.indexOf('.') + 1)
}

/** What values are called that have no text of their own. */
export type ValueWords = Pick<(typeof analysis)['en'], 'absent' | 'yes' | 'no'>

export function valueText(value: Row[string] | undefined, say: ValueWords): string {
  if (value === null || value === undefined || value === '') return say.absent
  return typeof value === 'boolean' ? (value ? say.yes : say.no) : String(value)
}

/** The key that a grouping by time has in rows. */
export function timeKeyOf({
  timeDimensions,
}: Asked): { readonly key: string; readonly granularity: Granularity } | undefined {
  const time = timeDimensions.find(({ granularity }) => granularity)
  return time?.granularity
    ? { key: `${time.dimension}.${time.granularity}`, granularity: time.granularity }
    : undefined
}

const byInstant = (a: string, b: string): number => Date.parse(a) - Date.parse(b)

interface Found {
  readonly label: string
  readonly range: number
  readonly group: string
  readonly values: (number | null)[]
  readonly format: MeasureMeta['format'] | undefined
}

/**
 * Rows of a query by time as series: one for each measure and each combination of values, the greatest first. Compared
 * ranges lie on each other, bucket by bucket, in the colour of the first.
 * @param texts what an absent value is called, and the name of a range that is compared with
 */
export function seriesOf(
  rows: readonly Row[],
  asked: Asked,
  meta: Meta | undefined,
  texts: ValueWords & { readonly before: string },
  maxSeries: number,
): SeriesResult | undefined {
  const time = timeKeyOf(asked)
  if (!time) return undefined
  const ranges = [...new Set(rows.map((row) => row.compareDateRange))]
  const bucketsOf = ranges.map((range) => {
    const seen = new Set(
      rows.filter((row) => row.compareDateRange === range).map((row) => String(row[time.key])),
    )
    return withMissing([...seen].sort(byInstant), time.granularity, daysOfLabel(range))
  })
  const places = bucketsOf.map((buckets) => new Map(buckets.map((bucket, i) => [bucket, i])))
  // Of ranges that differ in length the longest is the axis.
  const length = Math.max(0, ...bucketsOf.map((buckets) => buckets.length))
  const first = meta?.measures[asked.measures[0] ?? '']?.format
  const found = new Map<string, Found>()
  for (const row of rows) {
    const range = ranges.indexOf(row.compareDateRange)
    const names = asked.dimensions.map((dimension) => valueText(row[dimension], texts))
    const place = places[range]?.get(String(row[time.key]))
    if (place === undefined) continue
    for (const measure of asked.measures) {
      const format = meta?.measures[measure]?.format
      const group = JSON.stringify([measure, ...names])
      const id = `${group}/${range}`
      const label = [
        ...(asked.measures.length > 1 || names.length === 0 ? [titleOf(meta, measure)] : []),
        ...names,
      ].join(' · ')
      const series = found.get(id) ?? {
        label: range === 0 ? label : `${label} (${texts.before})`,
        range,
        group,
        // A value that has no row in a bucket that others have was counted as nothing there; a ratio has none.
        values: Array.from({ length: bucketsOf[range]?.length ?? 0 }, () =>
          names.length > 0 && meta?.measures[measure]?.virtual === false ? 0 : null,
        ),
        format: format === first ? undefined : format,
      }
      found.set(id, series)
      const value = row[measure]
      series.values[place] = typeof value === 'number' ? value : null
    }
  }
  const sumOf = (values: readonly (number | null)[]) =>
    values.reduce<number>((sum, value) => sum + (value ?? 0), 0)
  const groups = [...found.values()]
    .filter(({ range }) => range === 0)
    .map(({ group, values }) => ({ group, sum: sumOf(values) }))
    .sort((a, b) => (asked.dimensions.length > 0 ? b.sum - a.sum : 0))
    .map(({ group }) => group)
  const drawn = groups.slice(0, maxSeries)
  const series = [...found].flatMap(([id, { label, range, group, values, format }]): Series[] => {
    const colour = drawn.indexOf(group)
    if (colour < 0) return []
    const whole = [...values, ...Array.from({ length: Math.max(0, length - values.length) }, () => null)]
    return [{ id, label, values: whole, colour, isComparison: range > 0, format }]
  })
  return {
    buckets: bucketsOf.find((buckets) => buckets.length === length) ?? [],
    granularity: time.granularity,
    series: series.sort(
      (a, b) => Number(a.isComparison) - Number(b.isComparison) || (a.colour ?? 0) - (b.colour ?? 0),
    ),
    more: groups.length - drawn.length,
  }
}
