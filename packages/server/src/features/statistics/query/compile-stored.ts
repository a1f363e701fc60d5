import type { IdentityColumn, Source } from '../members/member.ts'
import { timeCondition } from './compile-conditions.ts'
import type { TimeSet } from './interval.ts'
import type { Parameters } from './parameters.ts'
import { nested, select } from './sql-text.ts'

export interface StoredOptions {
  readonly source: Source
  /** The condition that every scan of a table has. */
  readonly ofCompany: string
  /** Columns that are wanted: of the table, computed ones of the source, labels, and `items`. */
  readonly columns: Iterable<string>
  /** Keys of the labels by the columns that show them. */
  readonly labels: ReadonlyMap<string, string>
  /** SQL of `items` over the table. */
  readonly items: string
  readonly within: TimeSet
  /** Further conditions on the table's own columns. */
  readonly conditions: readonly string[]
  readonly parameters: Parameters
}

/** The stored rows of a source, of one company and within the times, with persons bound where they are wanted. */
export function storedSql(options: StoredOptions): string {
  const { source, ofCompany, columns, labels, items, within, conditions, parameters } = options
  const identity = new Set<IdentityColumn>()
  const read = new Set<string>()

  function columnSql(name: string): string {
    const key = labels.get(name)
    if (key !== undefined) {
      read.add('labels')
      const bound = parameters.bind('String', key)
      return `if(mapContains(labels, ${bound}), labels[${bound}], NULL) AS ${name}`
    }
    if (name === 'items') {
      read.add('ids')
      return `${items} AS items`
    }
    const column = source.columns[name]
    for (const each of column?.columns ?? [name]) read.add(each)
    for (const each of column?.identity ?? []) identity.add(each)
    return column ? `${column.sql} AS ${name}` : name
  }

  const shown = [...columns].sort().map(columnSql)
  if (shown.length === 0) shown.push('1')
  const inTime = timeCondition('time', within, 'time', parameters)
  const where = [ofCompany, ...(inTime === undefined ? [] : [inTime]), ...conditions]
  if (identity.size === 0) return select(shown, source.table, where)
  read.add('device')
  const rows = nested(select([...read].sort(), source.table, where))
  const bindings = nested(identitiesSql(identity, ofCompany))
  return select(
    shown,
    `${rows} AS stored\nLEFT ANY JOIN ${bindings} AS identity ON stored.device = identity.of_device`,
  )
}

const boundColumns: Readonly<Record<IdentityColumn, string>> = { bound: 'client', bound_id: 'client_id' }

/** The person that each device is bound to: by its last binding, whatever the order of arrival. */
function identitiesSql(columns: ReadonlySet<IdentityColumn>, ofCompany: string): string {
  const shown = [...columns]
    .sort()
    .map((name) => `argMax(${boundColumns[name]}, (time, client_id)) AS ${name}`)
  return select(['device AS of_device', ...shown], 'identities', [ofCompany], '\nGROUP BY device')
}
