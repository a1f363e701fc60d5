import type { Dimension, IdentityColumn, Source } from '../members/member.ts'
import { conditionOn, timeCondition } from './compile-conditions.ts'
import { always, hullOf, type TimeSet } from './interval.ts'
import type { Parameters } from './parameters.ts'
import type { DimensionFilter } from './query.ts'

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

interface RowsOptions {
  readonly source: Source
  readonly companyId: string
  readonly filters: readonly DimensionFilter[]
  readonly times: TimeSet
  readonly parameters: Parameters
}

const indented = (sql: string) => sql.replaceAll('\n', '\n  ')

function nested(sql: string): string {
  return `(\n  ${indented(sql)}\n)`
}

function select(columns: readonly string[], from: string, conditions: readonly string[], rest = ''): string {
  const where = conditions.length > 0 ? `\nWHERE ${conditions.join('\n  AND ')}` : ''
  return `SELECT ${columns.join(', ')}\nFROM ${from}${where}${rest}`
}

export function rowsOf({ source, companyId, filters, times, parameters }: RowsOptions): Rows {
  const needed = new Set<string>()
  const labels = new Map<string, string>()
  const itemFilters = filters.filter(({ dimension }) => dimension.perItem)
  const plainFilters = filters.filter(({ dimension }) => !dimension.perItem)
  const ofCompany = `company = ${parameters.bind('String', companyId)}`
  const hull = hullOf(times)
  const bounds: TimeSet = hull ? [hull] : []
  let perItem = false

  function labelColumn(key: string): string {
    const name = labels.get(key) ?? `label_${labels.size + 1}`
    labels.set(key, name)
    needed.add(name)
    return name
  }

  function dimensionSql(dimension: Dimension): string {
    if (dimension.label !== undefined) return labelColumn(dimension.label)
    for (const name of dimension.columns) needed.add(name)
    if (dimension.perItem) perItem = true
    return dimension.sql
  }

  const conditions = plainFilters.map(({ dimension, operator, values }) => {
    const early = !source.merge && isStored(dimension)
    const sql = early ? dimension.sql : dimensionSql(dimension)
    return { early, sql: conditionOn(sql, dimension, operator, values, parameters) }
  })

  /** Whether the condition can be judged on the table's own columns, before anything is joined. */
  function isStored(dimension: Dimension): boolean {
    return dimension.label === undefined && dimension.columns.every((name) => !(name in source.columns))
  }

  function itemsSql(ids: string): string {
    if (itemFilters.length === 0) return ids
    const parts = itemFilters.map(({ dimension, operator, values }) =>
      conditionOn('id', dimension, operator, values, parameters),
    )
    return `arrayFilter(id -> ${parts.join(' AND ')}, ${ids})`
  }

  /** The rows of the table: of the company, in the hull of the times, with columns from the bound identities. */
  function stored(columns: ReadonlySet<string>, within: TimeSet, early: readonly string[]): string {
    const identity = new Set<IdentityColumn>()
    const read = new Set<string>()
    const shown = [...columns].sort().map((name) => {
      const key = keyOfLabel(name)
      if (key !== undefined) {
        read.add('labels')
        const bound = parameters.bind('String', key)
        return `if(mapContains(labels, ${bound}), labels[${bound}], NULL) AS ${name}`
      }
      if (name === 'items') {
        read.add('ids')
        return `${itemsSql('ids')} AS items`
      }
      const column = source.columns[name]
      for (const each of column?.columns ?? [name]) read.add(each)
      for (const each of column?.identity ?? []) identity.add(each)
      return column ? `${column.sql} AS ${name}` : name
    })
    const inTime = timeCondition('time', within, 'time', parameters)
    const where = [ofCompany, ...(inTime === undefined ? [] : [inTime]), ...early]
    if (shown.length === 0) return select(['1'], source.table, where)
    if (identity.size === 0) return select(shown, source.table, where)
    read.add('device')
    const rows = nested(select([...read].sort(), source.table, where))
    return select(
      shown,
      `${rows} AS stored\nLEFT ANY JOIN ${identities(identity)} AS identity ON stored.device = identity.of_device`,
      [],
    )
  }

  function identities(columns: ReadonlySet<IdentityColumn>): string {
    const stored = { bound: 'client', bound_id: 'client_id' } as const
    // The last binding holds, whatever the order of arrival.
    const shown = [...columns].sort().map((name) => `argMax(${stored[name]}, (time, client_id)) AS ${name}`)
    return nested(select(['device AS of_device', ...shown], 'identities', [ofCompany], '\nGROUP BY device'))
  }

  function keyOfLabel(column: string): string | undefined {
    for (const [key, name] of labels) if (name === column) return key
    return undefined
  }

  /** One row for each key of the source: a merged fact has its own time, so that times are judged afterwards. */
  function merged(merge: NonNullable<Source['merge']>): string {
    const pieces = new Set([merge.key])
    const shown = [...needed, 'time']
      .filter((name, i, all) => all.indexOf(name) === i)
      .sort()
      .map((name) => {
        if (keyOfLabel(name) !== undefined) {
          for (const each of [name, ...merge.label.columns]) pieces.add(each)
          return `${merge.label.sql.replaceAll('$label', `piece.${name}`)} AS ${name}`
        }
        const column = merge.columns[name === 'items' ? 'ids' : name]
        if (!column) throw new Error(`${source.id} have no column ${name}`)
        for (const each of column.columns) pieces.add(each)
        return `${name === 'items' ? itemsSql(column.sql) : column.sql} AS ${name}`
      })
    const from = `${nested(stored(pieces, always, keysInTime(merge.key)))} AS piece`
    return select(shown, from, [], `\nGROUP BY piece.${merge.key}`)
  }

  /** A fact within the times has at least one row within them: rows of other facts need not be merged. */
  function keysInTime(key: string): string[] {
    const inTime =
      hull && Number.isFinite(hull.from) ? timeCondition('time', [hull], 'time', parameters) : undefined
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
      if (itemFilters.length > 0) needed.add('items')
      const early = conditions.flatMap(({ early, sql }) => (early ? [sql] : []))
      const late = conditions.flatMap(({ early, sql }) => (early ? [] : [sql]))
      let sql = source.merge ? merged(source.merge) : stored(needed, bounds, early)
      if (itemFilters.length > 0) late.push('notEmpty(items)')
      if (source.merge) {
        const inTime = timeCondition('time', bounds, 'time', parameters)
        if (inTime !== undefined) late.unshift(inTime)
      }
      if (late.length > 0) sql = select(['*'], nested(sql), late)
      if (perItem) sql = select(['*', 'arrayJoin(arrayDistinct(items)) AS item'], nested(sql), [])
      return nested(sql)
    },
  }
}
