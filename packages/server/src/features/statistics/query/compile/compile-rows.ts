import type { Dimension, Source } from '../../members/member.ts'
import type { DimensionFilter } from '../query.ts'
import { hullOf, type TimeSet } from '../time/interval.ts'
import { conditionOn } from './compile-conditions.ts'
import { storedSql } from './compile-stored.ts'
import { comparedNames, type EventAliases, eventNameSql } from './event-name.ts'
import type { Parameters } from './parameters.ts'
import { nested, select } from './sql-text.ts'

/** The rows of one source for one query: asked for columns, it knows the relation that has them. */
export interface Rows {
  /** The SQL of a dimension over the relation. */
  dimension(dimension: Dimension): string
  /** The SQL of whether a row of the relation passes these filters too. */
  condition(filters: readonly DimensionFilter[]): string
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
  readonly eventAliases: EventAliases
  readonly parameters: Parameters
}

export function rowsOf(options: RowsOptions): Rows {
  const { source, companyId, filters, times, eventAliases, parameters } = options
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
    return dimension.eventName ? eventNameSql(dimension.sql, eventAliases, parameters) : dimension.sql
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
  for (const filter of filters) {
    const { dimension, operator, values } = filter
    if (dimension.columns.includes('person_text') && operator === 'equals') people.push(values)
    const condition = (sql: string) => conditionOn(sql, dimension, operator, values, parameters)
    if (dimension.eventName) {
      const names = comparedNames(dimension.sql, filter, eventAliases, parameters)
      early.push(conditionOn(names.sql, dimension, operator, names.values, parameters))
    } else if (dimension.perItem) ofItems.push(condition('id'))
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

  function conditionSql(asked: readonly DimensionFilter[]): string {
    const ofItem: string[] = []
    const conditions: string[] = []
    for (const { dimension, operator, values } of asked) {
      const condition = (sql: string) => conditionOn(sql, dimension, operator, values, parameters)
      if (dimension.perItem) ofItem.push(condition('id'))
      else conditions.push(`(${condition(dimensionSql(dimension))})`)
    }
    if (ofItem.length > 0) {
      needed.add('items')
      conditions.push(`arrayExists(id -> ${ofItem.join(' AND ')}, items)`)
    }
    return conditions.length > 0 ? conditions.join(' AND ') : '1'
  }

  return {
    dimension: dimensionSql,
    condition: conditionSql,
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
