import type { Evidence } from '@millrace/contract/resources/evidence.ts'
import type { Granularity } from '@millrace/contract/resources/query.ts'
import type { Window } from '@millrace/contract/resources/report.ts'
import type { CellReference } from '@millrace/contract/resources/report-section.ts'

/** One row of evidence, and references to its cells. */
export interface Row {
  /** The number in a column; undefined where it holds none. */
  number(column: string): number | undefined
  /** The value in a column as it is compared with that of other rows; null where it is absent. */
  key(column: string): string | null
  cell(column: string): CellReference
}

export function rowsOf(evidence: Evidence): Row[] {
  return evidence.rows.map((cells, row) => {
    const found = (column: string) => (Object.hasOwn(cells, column) ? (cells[column]?.value ?? null) : null)
    return {
      number(column) {
        const value = found(column)
        const number = typeof value === 'string' && value !== '' ? Number(value) : value
        return typeof number === 'number' && Number.isFinite(number) ? number : undefined
      },
      key(column) {
        const value = found(column)
        return value === null ? null : String(value)
      },
      cell: (column) => ({ evidenceId: evidence.id, row, column }),
    }
  })
}

/** The rows of one of the ranges that a query compares. */
export function rowsWithin(evidence: Evidence | undefined, window: Window, timezone: string): Row[] {
  if (!evidence) return []
  const start = Date.parse(window.start)
  const day = localDay(start, timezone)
  return rowsOf(evidence).filter((row) => {
    // The key names days where the range has whole ones, else instants (docs/interface.md, Operations).
    const [first = ''] = row.key('compareDateRange')?.split(' - ') ?? []
    return first.length === 10 ? first === day : Date.parse(first) === start
  })
}

/** The day of an instant in a zone, as `2011-01-31`. */
export function localDay(instant: number, timeZone: string): string {
  const parts = new Intl.DateTimeFormat('en-CA', {
    timeZone,
    calendar: 'gregory',
    numberingSystem: 'latn',
    year: 'numeric',
    month: '2-digit',
    day: '2-digit',
  }).formatToParts(instant)
  const part = (type: string) => parts.find((each) => each.type === type)?.value ?? ''
  return `${part('year')}-${part('month')}-${part('day')}`
}

/** The day of the week of a bucket of a day, 0 to 6 from Monday on: its text begins with the local date. */
export function weekdayOf(bucket: string): number {
  return (new Date(`${bucket.slice(0, 10)}T00:00:00Z`).getUTCDay() + 6) % 7
}

/** The column of the buckets of a time dimension. */
export function bucketColumn(time: string, granularity: Granularity): string {
  return `${time}.${granularity}`
}
