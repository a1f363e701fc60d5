import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { Session } from 'chdb'
import { type Columnar, ColumnarError, type Statement } from '../../src/platform/stores/columnar.ts'
import type { StoredEvent } from './statistics-events.ts'

const columns = `
  company LowCardinality(String), datasource LowCardinality(String), time DateTime64(3, 'UTC'),
  received DateTime64(3, 'UTC'), seq UInt64, event_id String, name LowCardinality(String), url String,
  tmp_id String, client_id String, device UInt64, client UInt64, ids Array(String),
  value Nullable(Decimal(18, 2)), trans_id String, labels Map(LowCardinality(String), String),
  device_type LowCardinality(String), os LowCardinality(String), browser LowCardinality(String)`

const tables = [
  `CREATE TABLE events (${columns}) ENGINE = MergeTree PARTITION BY toYYYYMM(time) ORDER BY (company, datasource, toDate(time), device, time)`,
  `CREATE TABLE purchases (${columns}) ENGINE = MergeTree ORDER BY (company, time)`,
  `CREATE TABLE identities (company LowCardinality(String), device UInt64, tmp_id String, time DateTime64(3, 'UTC'), client UInt64, client_id String) ENGINE = MergeTree ORDER BY (company, device)`,
]

/** A columnar engine with the tables that statistics read, and nothing in them. */
export interface StatisticsEngine {
  readonly columnar: Columnar
  /** Every statement that was run, for tests of what is sent. */
  readonly statements: Statement[]
  load(events: readonly StoredEvent[]): Promise<void>
  close(): void
}

export async function openStatisticsEngine(): Promise<StatisticsEngine> {
  const directory = mkdtempSync(join(tmpdir(), 'millrace-statistics-'))
  const session = new Session(directory)
  for (const sql of tables) await session.queryAsync(sql)
  const statements: Statement[] = []

  async function run(statement: Statement, format: string): Promise<string> {
    statements.push(statement)
    const settings = Object.entries(statement.settings ?? {}).map(([name, value]) => `${name} = ${value}`)
    const sql = settings.length > 0 ? `${statement.sql}\nSETTINGS ${settings.join(', ')}` : statement.sql
    try {
      const result = await session.queryBindAsync(sql, { ...statement.params }, { format })
      return result.text()
    } catch (error) {
      const code = /Code: (\d+)/.exec(String(error))?.[1]
      throw code ? new ColumnarError(Number(code), '', String(error)) : error
    }
  }

  const columnar: Columnar = {
    async query<R>(statement: Statement) {
      const lines = (await run(statement, 'JSONEachRow')).split('\n')
      return lines.filter((line) => line !== '').map((line): R => JSON.parse(line))
    },
    stream: async (statement) => Readable.from([await run(statement, statement.format)]),
    async command(statement) {
      await run(statement, 'Null')
    },
    insert: () => Promise.reject(new Error('not needed here')),
    ping: () => Promise.resolve(),
    close: () => Promise.resolve(),
  }

  let sequence = 0
  return {
    columnar,
    statements,
    async load(events) {
      const rows = events.map((event) => ({
        company: event.company,
        datasource: event.datasource,
        time: event.time,
        seq: ++sequence,
        event_id: event.eventId,
        name: event.name,
        url: event.url,
        tmp_id: event.tmpId,
        client_id: event.clientId,
        ids: event.ids,
        value: event.value,
        trans_id: event.transId,
        labels: event.labels,
        device_type: event.deviceType,
        os: event.os,
        browser: event.browser,
      }))
      const names = Object.keys(rows[0] ?? {}).join(', ')
      for (const [table, kept] of [
        ['events', rows],
        ['purchases', rows.filter(({ name }) => name.startsWith('purchase'))],
      ] as const) {
        for (let i = 0; i < kept.length; i += 5_000) {
          const lines = kept.slice(i, i + 5_000).map((row) => JSON.stringify(row))
          const source =
            'company String, datasource String, time Int64, seq UInt64, event_id String, name String, url String, ' +
            'tmp_id String, client_id String, ids Array(String), value Nullable(Decimal(18, 2)), trans_id String, ' +
            'labels Map(String, String), device_type String, os String, browser String'
          await session.queryBindAsync(
            `INSERT INTO ${table} (${names}, received, device, client)
             SELECT * REPLACE (fromUnixTimestamp64Milli(time, 'UTC') AS time), time, sipHash64(tmp_id),
               if(client_id = '', 0, sipHash64(client_id))
             FROM format(JSONEachRow, '${source}', {lines:String})`,
            { lines: lines.join('\n') },
          )
        }
      }
      await session.queryAsync(
        `INSERT INTO identities SELECT company, device, tmp_id, time, client, client_id FROM events
         WHERE name = 'identify' AND client_id != '' AND seq > ${sequence - rows.length}`,
      )
    },
    close() {
      session.close()
      rmSync(directory, { recursive: true, force: true })
    },
  }
}
