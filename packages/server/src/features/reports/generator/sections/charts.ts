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

/** A measure over time. */
export function lineChart({ id }: Evidence, time: Axis, measure: Axis, color?: Axis): Chart {
  return {
    evidenceId: id,
    specification: {
      $schema: schema,
      data: { name: id },
      mark: { type: 'line', point: true },
      encoding: {
        x: { field: fieldOf(time.column), type: 'temporal', title: time.title },
        y: { field: fieldOf(measure.column), type: 'quantitative', title: measure.title },
        ...(color ? { color: { field: fieldOf(color.column), type: 'nominal', title: color.title } } : {}),
      },
    },
  }
}

/** A measure of the members of a dimension, the greatest first; of several ranges side by side. */
export function barChart({ id, rows }: Evidence, dimension: Axis, measure: Axis): Chart {
  const isCompared = rows.some((row) => Object.hasOwn(row, 'compareDateRange'))
  return {
    evidenceId: id,
    specification: {
      $schema: schema,
      data: { name: id },
      mark: { type: 'bar' },
      encoding: {
        y: { field: fieldOf(dimension.column), type: 'nominal', sort: '-x', title: dimension.title },
        x: { field: fieldOf(measure.column), type: 'quantitative', title: measure.title, stack: null },
        ...(isCompared
          ? {
              color: { field: 'compareDateRange', type: 'nominal', title: null },
              yOffset: { field: 'compareDateRange' },
            }
          : {}),
      },
    },
  }
}
