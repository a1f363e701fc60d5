import type { Dimension, Expression, Source } from '../members/member.ts'
import { conditionOn, timeCondition } from './compile-conditions.ts'
import { storedSql } from './compile-stored.ts'
import { always, hullOf, type TimeSet } from './interval.ts'
import type { Parameters } from './parameters.ts'
import type { DimensionFilter } from './query.ts'
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
  const { merge } = source
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

  /** Whether a condition can be judged on the table's own columns, before anything is joined or merged. */
  function isStored({ label, columns }: Dimension): boolean {
    return !merge && label === undefined && columns.every((name) => !(name in source.columns))
  }

  const early: string[] = []
  const late: string[] = []
  const ofItems: string[] = []
  for (const { dimension, operator, values } of filters) {
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

  function stored(columns: Iterable<string>, within: TimeSet, conditions: readonly string[]): string {
    const items = merge ? 'ids' : itemsSql('ids')
    return storedSql({ source, ofCompany, columns, labels, items, within, conditions, parameters })
  }

  /** One row for each key of the source: a merged fact has its own time, so that times are judged afterwards. */
  function merged({ key, columns, label }: NonNullable<Source['merge']>): string {
    const pieces = new Set([key])
    needed.add('time')
    const shown = [...needed].sort().map((name) => {
      const column = labels.has(name) ? labelOf(name, label) : columns[name === 'items' ? 'ids' : name]
      if (!column) throw new Error(`${source.id} have no column ${name}`)
      for (const each of column.columns) pieces.add(each)
      return `${name === 'items' ? itemsSql(column.sql) : column.sql} AS ${name}`
    })
    const from = `${nested(stored(pieces, always, keysInTime(key)))} AS piece`
    return select(shown, from, [], `\nGROUP BY piece.${key}`)
  }

  function labelOf(name: string, { sql, columns }: Expression): Expression {
    return { sql: sql.replaceAll('$label', `piece.${name}`), columns: [...columns, name] }
  }

  /** A fact within the times has at least one row within them: rows of other facts need not be merged. */
  function keysInTime(key: string): string[] {
    const bounded = hull !== undefined && Number.isFinite(hull.from)
    const inTime = bounded ? timeCondition('time', [hull], 'time', parameters) : undefined
    const sql = source.columns[key]?.sql
    if (inTime === undefined || sql === undefined) return []
    return [`${sql} IN ${nested(select([sql], source.table, [ofCompany, inTime]))}`]
  }

  return {
    dimension: dimensionSql,
    need(columns) {
      for (const name of columns) needed.add(name)
    },
    relation() {
      const inTime = merge ? timeCondition('time', bounds, 'time', parameters) : undefined
      const conditions = inTime === undefined ? late : [inTime, ...late]
      let sql = merge ? merged(merge) : stored(needed, bounds, early)
      if (conditions.length > 0) sql = select(['*'], nested(sql), conditions)
      if (perItem) sql = select(['*', 'arrayJoin(arrayDistinct(items)) AS item'], nested(sql))
      return nested(sql)
    },
  }
}
