import type { Readable } from 'node:stream'
import type { Columnar } from '../../platform/stores/columnar.ts'
import type { StoredExport } from './export-store.ts'

/** What is exported: days from the first to the last one, of UTC. */
export interface ExportedRows extends Pick<StoredExport, 'companyId' | 'table' | 'format' | 'datasources'> {
  readonly from: string
  readonly until: string
}

/** A day that has rows. */
export interface ExportedDay {
  readonly day: string
  /** Another one says that rows were added or removed. */
  readonly fingerprint: string
}

/** Columns that hold any text, those that hold a list or a map, and all others. */
type ColumnKind = 'text' | 'list' | 'other'

interface ExportedTable {
  readonly from: string
  /** Changes with the rows of a day. */
  readonly fingerprint: string
  readonly order: string
  readonly columns: Readonly<Record<string, ColumnKind>>
}

const tables = {
  events: {
    from: 'events AS rows',
    fingerprint: 'sum(sipHash64(seq))',
    order: 'time, seq',
    columns: {
      event_id: 'text',
      time: 'other',
      received: 'other',
      datasource: 'other',
      name: 'text',
      url: 'text',
      referrer_host: 'text',
      tmp_id: 'text',
      client_id: 'text',
      ids: 'list',
      value: 'other',
      trans_id: 'text',
      labels: 'list',
      device_type: 'text',
      os: 'text',
      browser: 'text',
      country: 'text',
    },
  },
  orders: {
    from: 'orders AS rows FINAL',
    // An order that lost an event and got another one has the same version.
    fingerprint: `sum(sipHash64(purchase, version, time, datasource, client_id, tmp_id, ifNull(toString(value), ''),
      toString(ids), toString(labels)))`,
    order: 'time, purchase',
    columns: {
      trans_id: 'text',
      time: 'other',
      datasource: 'other',
      tmp_id: 'text',
      client_id: 'text',
      ids: 'list',
      value: 'other',
      labels: 'list',
      device_type: 'text',
      os: 'text',
    },
  },
} as const satisfies Readonly<Record<StoredExport['table'], ExportedTable>>

const formats = { parquet: 'Parquet', ndjson: 'JSONEachRow', csv: 'CSVWithNames' } as const

/** Lists as JSON; what a spreadsheet takes for a formula is defused, as `csvText` does. */
function csvCell(name: string, kind: ColumnKind): string {
  if (kind === 'other') return name
  const cell = `rows.${name}`
  if (kind === 'list') return `toJSONString(${cell}) AS ${name}`
  return `if(match(${cell}, '^[=+@\\t\\r\\n＝＋－＠-]') AND NOT match(${cell}, '^[+-]?[0-9.]+$'), concat('\\'', ${cell}), ${cell}) AS ${name}`
}

const condition = `company = {company: String} AND time >= {from: DateTime64(3, 'UTC')} AND time < {to: DateTime64(3, 'UTC')}
  AND (empty({datasources: Array(String)}) OR datasource IN {datasources: Array(String)})`

const dayMs = 86_400_000
const startOf = (day: string): number => Date.parse(`${day}T00:00:00Z`)

const paramsOf = ({ companyId, datasources }: ExportedRows, from: number, to: number) => ({
  company: companyId,
  from: new Date(from),
  to: new Date(to),
  datasources: datasources ?? [],
})

/** Of one statement. */
const maxSeconds = 3_600

export type ExportedRowsStore = ReturnType<typeof createExportedRowsStore>

/** Rows of events and orders, as they leave in bulk. */
export function createExportedRowsStore({
  columnar,
  threads,
}: {
  readonly columnar: Pick<Columnar, 'query' | 'stream'>
  /** Of a statement, asked for at its start. */
  readonly threads: () => number | undefined
}) {
  const settings = () => {
    const maxThreads = threads()
    return {
      max_execution_time: maxSeconds,
      max_result_rows: 0,
      max_bytes_before_external_sort: 256 * 1024 * 1024,
      ...(maxThreads !== undefined && { max_threads: maxThreads }),
    }
  }

  return {
    /** The days that have rows, by day. */
    listDays(rows: ExportedRows, signal: AbortSignal): Promise<ExportedDay[]> {
      const { from, fingerprint } = tables[rows.table]
      return columnar.query<ExportedDay>({
        sql: `SELECT toString(toDate(time)) AS day, concat(toString(count()), '-', hex(${fingerprint})) AS fingerprint
              FROM ${from} WHERE ${condition} GROUP BY day ORDER BY day`,
        params: paramsOf(rows, startOf(rows.from), startOf(rows.until) + dayMs),
        settings: settings(),
        signal,
      })
    },

    /** The rows of one day in the format of the export, while they are read. */
    stream(rows: ExportedRows, day: string, signal: AbortSignal): Promise<Readable> {
      const { from, columns, order } = tables[rows.table]
      const cells = Object.entries(columns).map(([name, kind]) =>
        rows.format === 'csv' ? csvCell(name, kind) : name,
      )
      return columnar.stream({
        sql: `SELECT ${cells.join(', ')} FROM ${from} WHERE ${condition} ORDER BY ${order}`,
        params: paramsOf(rows, startOf(day), startOf(day) + dayMs),
        format: formats[rows.format],
        settings: {
          ...settings(),
          output_format_parquet_compression_method: 'zstd',
          output_format_parquet_row_group_size: 100_000,
          output_format_json_quote_decimals: 1,
          format_csv_null_representation: '',
          date_time_output_format: rows.format === 'parquet' ? 'simple' : 'iso',
        },
        signal,
      })
    },
  }
}
