import type { Readable } from 'node:stream'
import type { Columnar, Statement } from '../../platform/stores/columnar.ts'
import { unboundedResult } from '../../platform/stores/columnar-settings.ts'
import type { StoredExport } from './export-store.ts'

/** What becomes one file: a day that has rows, or all rows of a query. */
export interface ExportedPart {
  readonly part: string
  /** Another one says that rows were added, changed or removed. */
  readonly fingerprint: string
}

/** The rows of an export. */
export interface ExportedRows {
  /** By day. */
  listParts(signal: AbortSignal): Promise<readonly ExportedPart[]>
  /** The rows of one part in the format of the export, while they are read. */
  stream(part: string, signal: AbortSignal): Promise<Readable>
}

/** The first instant, and the one behind the last, in milliseconds since 1970. */
interface Span {
  readonly from: number
  readonly to: number
}

/** A relation of the sessions of a company that start within a span, and its bound values. */
export type SessionsWithin = (companyId: string, span: Span) => Required<Pick<Statement, 'sql' | 'params'>>

/** Columns that hold any text, those that hold a list or a map, and all others. */
type ColumnKind = 'text' | 'list' | 'other'

interface ExportedTable {
  /** The relation; undefined for sessions, which are made when they are read. */
  readonly from?: string
  /** Changes with the rows of a day. */
  readonly fingerprint: string
  readonly order: string
  readonly columns: Readonly<Record<string, ColumnKind>>
}

const sessionColumns = {
  person: 'text',
  time: 'other',
  duration: 'other',
  events: 'other',
  is_new: 'other',
  entry_url: 'text',
  exit_url: 'text',
  referrer_host: 'text',
  device_type: 'text',
  os: 'text',
  browser: 'text',
  country: 'text',
} as const

const tables = {
  events: {
    from: 'events AS rows',
    fingerprint: 'sum(sipHash64(seq))',
    // As they lie there: sorting a day by time alone takes longer than reading it.
    order: 'datasource, toDate(time), device, time, seq',
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
  sessions: {
    fingerprint: `sum(sipHash64(${Object.keys(sessionColumns).join(', ')}))`,
    order: 'time, person',
    columns: sessionColumns,
  },
} as const satisfies Readonly<Record<Exclude<StoredExport['table'], 'query'>, ExportedTable>>

const formats = { parquet: 'Parquet', ndjson: 'JSONEachRow', csv: 'CSVWithNames' } as const

/** Lists as JSON; what a spreadsheet takes for a formula is defused, as `csvText` does. */
function csvCell(name: string, kind: ColumnKind): string {
  if (kind === 'other') return name
  const cell = `rows.${name}`
  if (kind === 'list') return `toJSONString(${cell}) AS ${name}`
  return `if(match(${cell}, '^[=+@\\t\\r\\n＝＋－＠-]') AND NOT match(${cell}, '^[+-]?[0-9.]+$'), concat('\\'', ${cell}), ${cell}) AS ${name}`
}

// The days are in the key of the table before the device, the time behind it, so they say where a day lies.
const condition = `company = {company: String}
  AND toDate(time) >= toDate({from: DateTime64(3, 'UTC')}) AND toDate(time) <= toDate({to: DateTime64(3, 'UTC')})
  AND time >= {from: DateTime64(3, 'UTC')} AND time < {to: DateTime64(3, 'UTC')}
  AND (empty({datasources: Array(String)}) OR datasource IN {datasources: Array(String)})`

const dayMs = 86_400_000
const startOf = (day: string): number => Date.parse(`${day}T00:00:00Z`)
const dayOf = (time: number): string => new Date(time).toISOString().slice(0, 10)

/** Days of which sessions are made at once, so that their memory has a bound. */
const sessionDays = 31

/** Of one statement. */
const maxSeconds = 3_600

/** The span of an export; days that change all the time are no part of one that is made again and again. */
function spanOf({ from, until, everyHours }: StoredExport, instant: number): Span {
  if (from === null) throw new Error('an export of a table has a first day')
  const last = dayOf(instant - (everyHours === null ? 0 : dayMs))
  return { from: startOf(from), to: startOf(until === null || until > last ? last : until) + dayMs }
}

/** Rows of events, orders and sessions, as they leave in bulk. */
export function createExportedRowsStore({
  columnar,
  sessionsWithin,
  threads,
}: {
  readonly columnar: Pick<Columnar, 'query' | 'stream'>
  readonly sessionsWithin: SessionsWithin
  /** Of a statement, asked for at its start. */
  readonly threads: () => number | undefined
}) {
  const settings = () => {
    const maxThreads = threads()
    return {
      max_execution_time: maxSeconds,
      ...unboundedResult,
      ...(maxThreads !== undefined && { max_threads: maxThreads }),
    }
  }

  /** @param instant as of which an export without a last day ends */
  return (asked: StoredExport, instant: number): ExportedRows => {
    const { companyId, table, format, datasources } = asked
    if (table === 'query') throw new Error('a query is no table')
    const { columns, order, fingerprint, ...stored }: ExportedTable = tables[table]
    const all = spanOf(asked, instant)

    function within({ from, to }: Span): ReturnType<SessionsWithin> {
      if (stored.from === undefined) return sessionsWithin(companyId, { from, to })
      return {
        sql: `${stored.from} WHERE ${condition}`,
        params: {
          company: companyId,
          from: new Date(from),
          to: new Date(to),
          datasources: datasources ?? [],
        },
      }
    }

    function fingerprintsOf(span: Span, signal: AbortSignal): Promise<ExportedPart[]> {
      const { sql, params } = within(span)
      return columnar.query<ExportedPart>({
        sql: `SELECT toString(toDate(time)) AS part, concat(toString(count()), '-', hex(${fingerprint})) AS fingerprint
              FROM ${sql} GROUP BY part ORDER BY part`,
        ...{ params, settings: settings(), signal },
      })
    }

    /** Days with events, which are those that may have sessions. */
    async function listSpans(signal: AbortSignal): Promise<Span[]> {
      const days = await columnar.query<{ day: string }>({
        sql: `SELECT DISTINCT toString(toDate(time)) AS day FROM events WHERE ${condition} ORDER BY day`,
        params: { company: companyId, from: new Date(all.from), to: new Date(all.to), datasources: [] },
        ...{ settings: settings(), signal },
      })
      const spans: Span[] = []
      for (const { day } of days) {
        const from = startOf(day)
        const last = spans.at(-1)
        if (last && from - last.from < sessionDays * dayMs)
          spans[spans.length - 1] = { ...last, to: from + dayMs }
        else spans.push({ from, to: from + dayMs })
      }
      return spans
    }

    return {
      async listParts(signal) {
        if (all.to <= all.from) return []
        if (stored.from !== undefined) return fingerprintsOf(all, signal)
        const parts: ExportedPart[] = []
        for (const span of await listSpans(signal)) parts.push(...(await fingerprintsOf(span, signal)))
        return parts
      },

      stream(part, signal) {
        const { sql, params } = within({ from: startOf(part), to: startOf(part) + dayMs })
        const cells = Object.entries(columns).map(([name, kind]) =>
          format === 'csv' ? csvCell(name, kind) : name,
        )
        return columnar.stream({
          sql: `SELECT ${cells.join(', ')} FROM ${sql} ORDER BY ${order}`,
          params,
          format: formats[format],
          settings: {
            ...settings(),
            output_format_parquet_compression_method: 'zstd',
            // The next level takes twice the time for one per cent less.
            output_format_compression_level: 1,
            // A fifth of the file, and of the time.
            output_format_parquet_write_bloom_filter: 0,
            output_format_parquet_row_group_size: 100_000,
            output_format_json_quote_decimals: 1,
            format_csv_null_representation: '',
            date_time_output_format: format === 'parquet' ? 'simple' : 'iso',
          },
          signal,
        })
      },
    }
  }
}
