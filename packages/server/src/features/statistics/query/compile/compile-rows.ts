import type { Dimension, Source } from '../../members/member.ts'
import type { DimensionFilter } from '../query.ts'
import { hullOf, type TimeSet } from '../time/interval.ts'
import { eventInCohort, personInCohort } from './compile-cohorts.ts'
import { conditionOn } from './compile-conditions.ts'
import { storedSql } from './compile-stored.ts'
import type { Parameters } from './parameters.ts'
import { nested, select } from './sql-text.ts'

/** The rows of one source for one query: asked for columns, it knows the relation that has them. */
export interface Rows {
  /** The SQL of a dimension over the relation. */
  dimension(dimension: Dimension): string
  /** Makes the relation have these columns. */
  need(columns: readonly string[]): void
  /**
   * The relation as SQL, in parentheses, to be called last. Its rows pass the filters and lie between the
   * first and the last instant of `times`.
   */
  relation(): string
}

export interface RowsOptions {
  readonly source: Source
  readonly companyId: string
  readonly filters: readonly DimensionFilter[]
  readonly times: TimeSet
  readonly parameters: Parameters
}

export function rowsOf({ source, companyId, filters, times, parameters }: RowsOptions): Rows {
  const needed = new Set<string>()
  /** Columns of labels, with their keys. */
  const labels = new Map<string, string>()
  const hull = hullOf(times)
  const bounds: TimeSet = hull ? [hull] : []
  const ofCompany = `company = ${parameters.bind('String', companyId)}`
  let perItem = false

  function dimensionSql(dimension: Dimension): string {
    if (dimension.label !== undefined) return labelColumn(dimension.label)
    for (const name of dimension.columns) needed.add(name)
    if (dimension.perItem) perItem = true
    return dimension.sql
  }

  function labelColumn(key: string): string {
    const known = [...labels].find(([, each]) => each === key)
    const name = known?.[0] ?? `label_${labels.size + 1}`
    labels.set(name, key)
    needed.add(name)
    return name
  }

  /** Whether a condition needs the table's own columns alone, so that it comes before anything is joined. */
  function isStored({ label, columns }: Dimension): boolean {
    return label === undefined && columns.every((name) => !(name in source.columns))
  }

  const early: string[] = []
  const late: string[] = []
  const ofItems: string[] = []
  const people: (readonly string[])[] = []
  for (const { dimension, operator, values, cohort } of filters) {
    if (cohort) {
      const context = { companyId, parameters, rowsOf }
      if (source.table === 'events') early.push(eventInCohort(cohort, context))
      else {
        needed.add('person')
        late.push(personInCohort('person', cohort, context))
      }
      continue
    }
    if (dimension.columns.includes('person_text') && operator === 'equals') people.push(values)
    const condition = (sql: string) => conditionOn(sql, dimension, operator, values, parameters)
    if (dimension.perItem) ofItems.push(condition('id'))
    else if (isStored(dimension)) early.push(condition(dimension.sql))
    else late.push(condition(dimensionSql(dimension)))
  }
  if (ofItems.length > 0) {
    needed.add('items')
    late.push('notEmpty(items)')
  }

  function itemsSql(ids: string): string {
    return ofItems.length > 0 ? `arrayFilter(id -> ${ofItems.join(' AND ')}, ${ids})` : ids
  }

  return {
    dimension: dimensionSql,
    need(columns) {
      for (const name of columns) needed.add(name)
    },
    relation() {
      let sql = storedSql({
        source,
        ofCompany,
        columns: needed,
        labels,
        items: itemsSql('ids'),
        within: bounds,
        conditions: early,
        people,
        parameters,
      })
      if (late.length > 0) sql = select(['*'], nested(sql), late)
      if (perItem) sql = select(['*', 'arrayJoin(arrayDistinct(items)) AS item'], nested(sql))
      return nested(sql)
    },
  }
}
