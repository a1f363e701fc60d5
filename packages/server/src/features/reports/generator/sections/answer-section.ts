import type { Evidence } from '@millrace/contract/resources/evidence.ts'
import type { Query } from '@millrace/contract/resources/query.ts'
import type { ReportSection } from '@millrace/contract/resources/report-section.ts'
import type { PlannedQuery } from '../../../questions/planned-query.ts'
import type { FigureDraft } from '../checker/figures.ts'
import { findNumberTokens } from '../checker/number-tokens.ts'
import { type Row, rowsOf } from '../evidence/table.ts'
import type { Sentence } from '../language/paragraph.ts'
import { isAdditive } from '../plans/subject.ts'
import { barChart, lineChart } from './charts.ts'
import type { Writer } from './writer.ts'

const maxTold = 10
const compareColumn = 'compareDateRange'

/** What one planned query answers: its greatest rows, or the highest and lowest of its buckets, and a chart. */
export function answerSection(
  { query, asks, chart }: PlannedQuery,
  evidence: Evidence,
  writer: Writer,
  isComparable: (bucket: Row) => boolean,
  kind: ReportSection['kind'] = 'answer',
): ReportSection | undefined {
  const { phrases } = writer
  const { measures, dimensions } = query
  const [measure] = measures
  const time = query.timeDimensions.find(({ granularity }) => granularity)
  const bucket = time?.granularity ? `${time.dimension}.${time.granularity}` : undefined
  const [dimension] = dimensions
  const rows = rowsOf(evidence)
  const title =
    findNumberTokens(asks).length === 0 && asks !== '' ? asks.slice(0, 300) : phrases.sections.answer
  if (rows.length === 0) return writer.section(kind, title, [[phrases.noRows]])
  const memberOf = (row: Row): Sentence =>
    dimensions.flatMap((id, i) => [...(i > 0 ? [', '] : []), ...writer.member(id, row.key(id), row.cell(id))])
  const nameOf = dimension === undefined ? undefined : memberOf
  const isPart = isCut(query, evidence)
  const paragraphs = rangesOf(rows).map((some) => {
    if (bucket !== undefined && time?.granularity) {
      return course(some, measures, bucket, time.granularity, writer, nameOf, isPart, isComparable)
    }
    return nameOf ? firstRows(some, measures, nameOf, writer) : totals(some, measures, writer)
  })
  const drawn = measure && drawing(evidence, chart, bucket, dimension, measure, writer)
  return writer.section(kind, title, paragraphs, drawn || undefined)
}

/** Whether there may be rows that the evidence does not hold. */
function isCut({ limit }: Query, { rowCount, embeddedRowCount }: Evidence): boolean {
  return rowCount > embeddedRowCount || (typeof limit === 'number' && rowCount >= limit)
}

/** The rows of each range that is compared, in the order of the ranges. */
function rangesOf(rows: readonly Row[]): Row[][] {
  return [...Map.groupBy(rows, (row) => row.key(compareColumn)).values()]
}

function rangeName([first]: readonly Row[], writer: Writer): Sentence {
  if (!first || first.key(compareColumn) === null) return []
  const cell = first.cell(compareColumn)
  return [...writer.member(compareColumn, first.key(compareColumn), cell), ' – ']
}

function totals(rows: readonly Row[], measures: readonly string[], writer: Writer): Sentence[] {
  const [row] = rows
  if (!row) return []
  return measures.flatMap((measure, i) => {
    if (row.number(measure) === undefined) return []
    const told = writer.phrases.alsoTotal(writer.noun(measure), writer.value(measure, row.cell(measure)))
    return [i === 0 ? [...rangeName(rows, writer), ...told] : told]
  })
}

/** The first rows as the query orders them, each by its name. */
function firstRows(
  rows: readonly Row[],
  measures: readonly string[],
  nameOf: (row: Row) => Sentence,
  writer: Writer,
): Sentence[] {
  const { phrases } = writer
  const [measure] = measures
  const listed = rows.slice(0, maxTold).map((row) => {
    const name = nameOf(row)
    if (measure === undefined) return name
    // What a query shows need not be all there is, so no share is told.
    return phrases.memberValue(name, writer.value(measure, row.cell(measure)))
  })
  return [[...rangeName(rows, writer), ...phrases.rows(listed)]]
}

/** When a row is, as exactly as its unit of time. */
function timeOf(row: Row, bucket: string, granularity: string, writer: Writer): FigureDraft {
  const cell = row.cell(bucket)
  switch (granularity) {
    case 'year':
    case 'month':
      return writer.time(granularity, cell)
    case 'day':
    case 'week':
    case 'quarter':
      return writer.time('date', cell)
    default:
      return writer.text(cell)
  }
}

/**
 * The highest and the lowest bucket of each measure, of those that can be set against each other; of members by time, of other units of time, or of a part of the rows,
 * the first rows.
 */
function course(
  rows: readonly Row[],
  measures: readonly string[],
  bucket: string,
  granularity: string,
  writer: Writer,
  memberOf: ((row: Row) => Sentence) | undefined,
  isPart: boolean,
  isComparable: (bucket: Row) => boolean,
): Sentence[] {
  const { phrases } = writer
  const when = (row: Row) => timeOf(row, bucket, granularity, writer)
  const isTold = granularity === 'day' || granularity === 'week' || granularity === 'month'
  if (memberOf || !isTold || isPart) {
    const nameOf = (row: Row) => (memberOf ? [...memberOf(row), ', ', when(row)] : [when(row)])
    return firstRows(rows, measures, nameOf, writer)
  }
  return measures.flatMap((measure) => {
    const filled = rows.filter((row) => row.number(measure) !== undefined)
    const value = (row: Row) => writer.value(measure, row.cell(measure))
    const [only, another] = filled
    if (only && !another) {
      return [[...rangeName(rows, writer), ...phrases.alsoTotal(writer.noun(measure), value(only))]]
    }
    const numberOf = (row: Row | undefined) => row?.number(measure) ?? 0
    const greatest = filled.filter(isComparable).toSorted((a, b) => numberOf(b) - numberOf(a))
    const [high, low] = [greatest[0], greatest.at(-1)]
    // Where all are equal none is the highest, and of several lowest none is the one.
    const differ = high && low && numberOf(high) > numberOf(low)
    const isLowest = differ && numberOf(greatest.at(-2)) > numberOf(low)
    const cells = filled.map((row) => row.cell(measure))
    const sum = () => phrases.alsoTotal(writer.noun(measure), writer.figure(measure, 'sum', cells))
    return [
      ...(isAdditive(measure) && cells.length <= 500 ? [[...rangeName(rows, writer), ...sum()]] : []),
      ...(differ ? [phrases.peak(granularity, writer.noun(measure), when(high), value(high))] : []),
      ...(isLowest ? [phrases.lowest(granularity, when(low), value(low))] : []),
    ]
  })
}

function drawing(
  evidence: Evidence,
  chart: PlannedQuery['chart'],
  bucket: string | undefined,
  dimension: string | undefined,
  measure: string,
  writer: Writer,
): ReportSection['chart'] {
  const axis = { column: measure, title: writer.noun(measure).title }
  const byDimension =
    dimension === undefined ? undefined : { column: dimension, title: writer.dimension(dimension) }
  const byTime = bucket === undefined ? undefined : { column: bucket, title: '' }
  if (chart === 'table') return undefined
  if (byTime && (chart === 'line' || !byDimension)) {
    return lineChart(evidence, byTime, axis, chart === 'line' ? byDimension : undefined)
  }
  return byDimension && barChart(evidence, byDimension, axis)
}
