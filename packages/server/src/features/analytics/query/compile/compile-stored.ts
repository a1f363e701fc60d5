import type { Expression, IdentityColumn, Source } from '../../catalogue/member.ts'
import type { TimeSet } from '../time/interval.ts'
import { timeCondition } from './compile-conditions.ts'
import { bindingConditions, ofPeople } from './compile-people.ts'
import { shownColumn } from './compile-workflows.ts'
import { nested, type Parameters, select } from './parameters.ts'

export interface StoredOptions {
  readonly source: Source
  /** The table of the source, or a relation in its place. */
  readonly table: string
  /** The condition that every scan of a table has. */
  readonly ofCompany: string
  /** Columns that are wanted: of the table, computed ones of the source, labels, and `items`. */
  readonly columns: Iterable<string>
  /** Keys of the labels by the columns that show them. */
  readonly labels: ReadonlyMap<string, string>
  /** SQL over the table of whether a row shows what it names of a workflow; always where it is absent. */
  readonly shown: Expression | undefined
  /** SQL of `items` over the table. */
  readonly items: string
  readonly within: TimeSet
  /** Further conditions on the table's own columns. */
  readonly conditions: readonly string[]
  /** Lists of persons: only rows that may belong to one of each list are needed; a filter decides exactly. */
  readonly people: readonly (readonly string[])[]
  /** Whether bindings are read whole, also where those of the rows alone could be looked for. */
  readonly allBindings: boolean
  readonly parameters: Parameters
}

/** The stored rows of a source, of one company and within the times, with persons bound where they are wanted. */
export function storedSql(options: StoredOptions): string {
  const { source, ofCompany, columns, labels, shown, items, within, conditions } = options
  const { people, allBindings, parameters } = options
  const identity = new Set<IdentityColumn>()
  const read = new Set<string>()

  function columnSql(name: string): string {
    const key = labels.get(name)
    if (key !== undefined) {
      read.add(source.labels)
      const bound = parameters.bind('String', key)
      return `if(mapContains(${source.labels}, ${bound}), ${source.labels}[${bound}], NULL) AS ${name}`
    }
    if (name === shownColumn) {
      for (const each of shown?.columns ?? []) read.add(each)
      return `${shown?.sql ?? '1'} AS ${name}`
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

  const selected = [...columns].sort().map(columnSql)
  if (selected.length === 0) selected.push('1')
  const inTime = timeCondition('time', within, 'time', parameters)
  const scope = [ofCompany, ...(inTime === undefined ? [] : [inTime])]
  const table = source.replacing ? `${options.table} FINAL` : options.table
  const where = [
    ...scope,
    ...people.map((values) => ofPeople(source, values, scope, { ofCompany, parameters })),
    ...conditions,
  ]
  if (identity.size === 0) return select(selected, table, where)
  read.add('device')
  const later = [...identity].some((name) => name.startsWith('later_'))
  if (later) read.add('purchase')
  const rows = nested(select([...read].sort(), table, where))
  const bounded = within.length > 0 && within.every(({ from }) => Number.isFinite(from))
  const devices = allBindings
    ? []
    : bindingConditions(source, { table, where, bounded }, people, { ofCompany, parameters })
  const bindings = bindingsSql(identity, [ofCompany, ...devices])
  const joins = [
    `${rows} AS stored`,
    `LEFT ANY JOIN ${nested(bindings)} AS identity ON stored.device = identity.of_device`,
  ]
  if (later) {
    const laterRows = select(['purchase', 'later_devices'], table, [...where, 'notEmpty(later_devices)'])
    const sql = laterSql(identity, laterRows, bindings)
    joins.push(`LEFT ANY JOIN ${nested(sql)} AS later ON stored.purchase = later.of_purchase`)
  }
  return select(selected, joins.join('\n'))
}

const boundColumns = { bound: 'client', bound_id: 'client_id' } as const

function boundOf(columns: ReadonlySet<IdentityColumn>): (keyof typeof boundColumns)[] {
  return (['bound', 'bound_id'] as const).filter((name) => columns.has(name))
}

/** The person that each device is bound to: by its last binding, whatever the order of arrival. */
export function bindingsSql(columns: ReadonlySet<IdentityColumn>, conditions: readonly string[]): string {
  const shown = boundOf(columns).map((name) => `argMax(${boundColumns[name]}, (time, client_id)) AS ${name}`)
  return select(['device AS of_device', ...shown], 'identities', conditions, '\nGROUP BY device')
}

/** The first of an order's later devices that is bound; few orders have any. */
function laterSql(columns: ReadonlySet<IdentityColumn>, rows: string, bindings: string): string {
  const shown = boundOf(columns).map((name) => `argMin(${name}, place) AS later_${name}`)
  const devices = select(
    ['purchase AS of_purchase', 'later_device', 'place'],
    `${nested(rows)}\nARRAY JOIN later_devices AS later_device, arrayEnumerate(later_devices) AS place`,
  )
  return select(
    ['of_purchase', ...shown],
    `${nested(devices)} AS candidate\nINNER JOIN ${nested(bindings)} AS binding ON candidate.later_device = binding.of_device`,
    [],
    '\nGROUP BY of_purchase',
  )
}
