import type { Evidence } from '@millrace/contract/resources/evidence.ts'
import type { ReportSection } from '@millrace/contract/resources/report-section.ts'

type Chart = NonNullable<ReportSection['chart']>

const schema = 'https://vega.github.io/schema/vega-lite/v5.json'

/** A column as a field of Vega-Lite, in which dots and brackets lead into objects. */
function fieldOf(column: string): string {
  return column.replace(/[\\.[\]'"]/g, '\\$&')
}

interface Axis {
  readonly column: string
  readonly title: string
}

const chartOf = (id: string, mark: object, encoding: object): Chart => ({
  evidenceId: id,
  specification: { $schema: schema, data: { name: id }, mark, encoding },
})

const axisOf = (
  { column, title }: Axis,
  type: 'temporal' | 'quantitative' | 'nominal',
  more: object = {},
) => ({
  field: fieldOf(column),
  type,
  ...more,
  title,
})

/** A measure over time. */
export function lineChart({ id }: Evidence, time: Axis, measure: Axis, color?: Axis): Chart {
  const axes = { x: axisOf(time, 'temporal'), y: axisOf(measure, 'quantitative') }
  const encoding = color ? { ...axes, color: axisOf(color, 'nominal') } : axes
  return chartOf(id, { type: 'line', point: true }, encoding)
}

/** A measure of the members of a dimension, the greatest first; of several ranges side by side. */
export function barChart({ id, rows }: Evidence, dimension: Axis, measure: Axis): Chart {
  const field = 'compareDateRange'
  const isCompared = rows.some((row) => Object.hasOwn(row, field))
  const axes = {
    y: axisOf(dimension, 'nominal', { sort: '-x' }),
    x: { ...axisOf(measure, 'quantitative'), stack: null },
  }
  const ranges = { color: { field, type: 'nominal', title: null }, yOffset: { field } }
  return chartOf(id, { type: 'bar' }, isCompared ? { ...axes, ...ranges } : axes)
}
