import { Readable } from 'node:stream'
import type { Columnar } from '../../platform/stores/columnar.ts'
import { quoteIdentifier } from '../../platform/stores/identifiers.ts'
import type { CompiledQuery } from './query/compile/compile.ts'
import type { CellForm } from './query/compile/compile-groupings.ts'
import { sessionRowsOf } from './query/compile/compile-sessions.ts'
import { createParameters, select } from './query/compile/parameters.ts'
import { createResultWriter, type ResultFormat } from './query/result-writer.ts'
import { createRowLimit } from './query/row-limit.ts'
import { type RunLimits, runCompiled, statementOf } from './query/run.ts'
import type { Interval } from './query/time/interval.ts'
import type { Prepared } from './question.ts'

export type BulkFormat = Exclude<ResultFormat, 'json'> | 'parquet'

/** Of a statement whose rows go to a file: no request waits for the answer. */
const bulkLimits = { seconds: 900, isUnbounded: true } as const

/** Columns of a session, their names as they leave in bulk, and the SQL of those that leave as something else. */
const sessionColumns: readonly (readonly [column: string, as?: string, sql?: string])[] = [
  ['person_text', 'person'],
  ['time'],
  // Of milliseconds.
  ['duration', 'duration', 'duration / 1000'],
  ['event_count', 'events'],
  ['is_new'],
  ['entry_url'],
  ['exit_url'],
  ['referrer_host'],
  ['device_type'],
  ['os'],
  ['browser'],
  ['country'],
]

/** The sessions of a company that start within an interval, as a relation named `rows`, and its bound values. */
export function sessionsWithin(companyId: string, within: Interval) {
  const parameters = createParameters()
  const rows = sessionRowsOf({
    ...{ companyId, parameters, filters: [], times: [within] },
    ...{ eventAliases: new Map(), visibleWorkflows: 'all' },
  })
  rows.need(sessionColumns.map(([column]) => column))
  const columns = sessionColumns.map(([column, as, sql = column]) => `${sql} AS ${as ?? column}`)
  const { sql, params } = parameters.statement(select(columns, rows.relation()))
  return { sql: `(${sql}) AS rows`, params }
}

/** What a column of Parquet has in the place of what the writers of text make of a cell. */
function typedSql(form: CellForm, column: string): string {
  switch (form) {
    case 'range':
      return `{rangeLabels:Array(String)}[${column} + 1]`
    case 'seconds':
      return `toDateTime64(${column}, 3, 'UTC')`
    case 'milliseconds':
      return `fromUnixTimestamp64Milli(toInt64(${column}), 'UTC')`
    default:
      return column
  }
}

/** The same statement with the keys of the result as names of its columns, and its cells with types. */
function typed({ sql, params, columns, rangeLabels, limit }: CompiledQuery) {
  let groupings = 0
  let measures = 0
  const cells = columns.map(({ key, form }) => {
    const column = form === 'range' ? 'range' : form === 'number' ? `s${measures++}` : `g${groupings++}`
    return `${typedSql(form, column)} AS ${quoteIdentifier(key)}`
  })
  // The statement has a row more of each range than its limit.
  const bound = limit === undefined ? '' : `\nLIMIT ${limit}${rangeLabels.length === 0 ? '' : ' BY range'}`
  return { sql: select(cells, `(${sql})`, [], bound), params: { ...params, rangeLabels } }
}

/** The rows of a query for a file, however many there are. */
export async function openBulkRows(
  columnar: Columnar,
  { compiled, zone }: Prepared,
  format: BulkFormat,
  limits: RunLimits,
  signal: AbortSignal,
): Promise<Readable> {
  const bounds = { ...limits, ...bulkLimits }
  if (format === 'parquet') {
    const { settings, ...statement } = statementOf(typed(compiled), bounds)
    return columnar.stream({
      ...statement,
      settings: {
        ...settings,
        output_format_parquet_compression_method: 'zstd',
        // The order of the rows is that of the statement inside.
        query_plan_remove_redundant_sorting: 0,
      },
      ...{ format: 'Parquet', signal },
    })
  }
  const writer = createResultWriter(format, compiled, zone)
  const rowLimit = createRowLimit(compiled)
  async function* pieces() {
    yield writer.begin()
    for await (const rows of runCompiled(columnar, compiled, bounds, signal))
      yield writer.rows(rowLimit.keep(rows))
    yield writer.end()
  }
  return Readable.from(bytesOf(pieces()))
}

async function* bytesOf(pieces: AsyncIterable<string>) {
  for await (const piece of pieces) if (piece !== '') yield Buffer.from(piece)
}
