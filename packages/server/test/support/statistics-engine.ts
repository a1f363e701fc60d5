import type { Statement } from '../../src/platform/stores/columnar.ts'
import { createTestColumnar, type TestEngine } from './columnar.ts'
import type { StoredEvent } from './statistics-events.ts'

/** A columnar engine of the test's own, to which events are written as the loader writes them. */
export interface StatisticsEngine {
  readonly columnar: TestEngine
  /** Every statement that was read with, for tests of what is sent. */
  readonly statements: Statement[]
  load(events: readonly StoredEvent[]): Promise<void>
  /** Removes all events. */
  empty(): Promise<void>
  close(): Promise<void>
}

const uuidForm = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/
const arrived = `company String, datasource String, time DateTime64(3, 'UTC'), received DateTime64(3, 'UTC'), seq UInt64,
  event_uuid UUID, event_text String, name String, url String, tmp_id String, client_id String, ids Array(String),
  value Nullable(Decimal(18, 2)), trans_id String, labels Map(String, String), device_type String, os String,
  browser String`

const noUuid = '00000000-0000-0000-0000-000000000000'

const timeText = (time: number) => new Date(time).toISOString().slice(0, -1).replace('T', ' ')

export async function openStatisticsEngine(): Promise<StatisticsEngine> {
  const engine = await createTestColumnar()
  const statements: Statement[] = []
  let sequence = 0

  await engine.command({ sql: `CREATE TABLE arrived (${arrived}) ENGINE = Memory` })

  return {
    columnar: {
      ...engine,
      stream(statement) {
        statements.push(statement)
        return engine.stream(statement)
      },
    },
    statements,
    async load(events) {
      const rows = events.map((event) => ({
        company: event.company,
        datasource: event.datasource,
        time: timeText(event.time),
        received: timeText(event.time),
        seq: ++sequence,
        event_uuid: uuidForm.test(event.eventId) ? event.eventId : noUuid,
        event_text: uuidForm.test(event.eventId) ? '' : event.eventId,
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
      if (rows.length === 0) return
      const body = Buffer.from(rows.map((row) => `${JSON.stringify(row)}\n`).join(''))
      await engine.command({ sql: 'TRUNCATE TABLE arrived' })
      await engine.insert({ table: 'arrived', format: 'JSONEachRow', body })
      const names = Object.keys(rows[0] ?? {}).join(', ')
      for (const [table, kept] of [
        ['events', '1'],
        ['purchases', "name IN ('purchase', 'purchase_references')"],
      ]) {
        await engine.command({
          // The engine alone knows the hashes that it compares.
          sql: `INSERT INTO ${table} (${names}, device, client)
                SELECT ${names}, sipHash64(tmp_id), if(client_id = '', 0, sipHash64(client_id))
                FROM arrived WHERE ${kept}`,
        })
      }
      await engine.command({
        sql: `INSERT INTO identities SELECT company, sipHash64(tmp_id), tmp_id, time, sipHash64(client_id), client_id
              FROM arrived WHERE name = 'identify' AND client_id != ''`,
      })
    },
    async empty() {
      for (const table of ['events', 'purchases', 'identities']) {
        await engine.command({ sql: `TRUNCATE TABLE ${table}` })
      }
    },
    close: () => engine.close(),
  }
}
