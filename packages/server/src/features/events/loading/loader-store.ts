import { randomUUID } from 'node:crypto'
import { eventColumns, lineKeys, stagingColumns } from '../../../database/event-columns.ts'
import { isRecent, personColumns } from '../../../database/person-columns.ts'
import { hasInteractionName, isInteraction, workflowColumns } from '../../../database/workflow-columns.ts'
import type { Columnar, ColumnarParam, Statement } from '../../../platform/stores/columnar.ts'
import { createKeyStore } from './keys/key-store.ts'
import { createLabelKeys } from './label-keys.ts'
import { createOrderStore } from './order-store.ts'
import type { Received } from './outcome.ts'
import { createQuarantine } from './quarantine.ts'
import { createReusedIds } from './reused-ids.ts'
import {
  type BatchSize,
  type DuplicateGroup,
  eventKey,
  isEvent,
  isPurchase,
  orderOf,
  type Selection,
  type StagedBatch,
  type StagedGroup,
  type Staging,
  unlessPurged,
} from './staged-rows.ts'

/** The reception times of two events with one `eventId` are at most this far apart when the second is a duplicate. */
export const duplicateWindowMs = 7 * 24 * 3_600 * 1_000

/** Rows up to which the index of event_keys is faster than reading all of it. */
const rowsByIndex = 2_000

const isIdentify = "n = 'identify' AND c != ''"

const restOf = 'toUInt64(bitShiftRight(hash, 64))'

export interface LoaderStoreOptions {
  readonly columnar: Columnar
  /** Threads for a large batch; a small one uses one. */
  readonly threads: number
}

/** Prefix of the loader's query ids, by which they are found after the process that sent them has ended. */
const statementPrefix = 'millrace-load-'

/** The loader's statements to the columnar store; decisions are made in the batch loader. */
export function createLoaderStore({ columnar, threads }: LoaderStoreOptions) {
  /** Tables that may hold rows of an earlier batch; all of them when this process begins. */
  const used = new Set(['staging', 'staging_ahead', 'staging_known', 'staging_skipped', 'staging_places'])
  /** Staging tables that were made with the columns of this version. */
  const made = new Set<Staging['table']>()

  const settingsOf = ({ size }: Staging) => ({
    max_threads: size === 'small' ? 1 : threads,
    max_insert_threads: 1,
    optimize_on_insert: 0,
    // Repeated loads are recognised by sequence numbers; the engine, by its blocks, would drop other rows silently.
    insert_deduplicate: 0,
    min_insert_block_size_rows: 1_048_576,
    min_insert_block_size_bytes: 1024 * 1024 * 1024,
  })

  const reading = (size: BatchSize) => ({
    max_threads: size === 'small' ? 1 : threads,
    max_execution_time: 120,
  })

  const abandoning = new AbortController()
  const { signal } = abandoning

  const run = (statement: Statement): Promise<void> =>
    columnar.command({ ...statement, queryId: `${statementPrefix}${randomUUID()}`, signal })
  const ask = <R>(statement: Statement): Promise<R[]> => columnar.query<R>({ ...statement, signal })

  const { streamStagedKeys, ...otherKeys } = createKeyStore({ columnar, ask, signal })

  function conditionsOf(table: string, selection: Selection, of: string): string {
    const conditions = [`${of}${unlessPurged('d', selection.purged)}`]
    if (selection.withoutDuplicates) conditions.push('q NOT IN (SELECT seq FROM staging_skipped)')
    if (selection.unlessStored) {
      conditions.push(
        `q NOT IN (SELECT seq FROM ${table} WHERE seq BETWEEN {first: UInt64} AND {last: UInt64})`,
      )
    }
    return conditions.join(' AND ')
  }

  const paramsOf = ({ unlessStored, purged }: Selection): Record<string, ColumnarParam> => ({
    purged,
    ...(unlessStored && { first: unlessStored.firstSequence, last: unlessStored.lastSequence }),
  })

  async function insertRows(
    table: string,
    columns: Readonly<Record<string, string>>,
    of: string,
    selection: Selection,
    params: Record<string, ColumnarParam> = {},
  ): Promise<void> {
    await run({
      sql: `INSERT INTO ${table} (${Object.keys(columns).join(', ')})
            SELECT ${Object.values(columns).join(', ')} FROM ${selection.staging.table}
            WHERE ${conditionsOf(table, selection, of)}`,
      params: { ...params, ...paramsOf(selection) },
      settings: settingsOf(selection.staging),
    })
  }

  async function empty(table: string): Promise<void> {
    if (!used.has(table)) return
    await run({ sql: `TRUNCATE TABLE ${table}` })
    used.delete(table)
  }

  return {
    /** Aborts what is running and refuses further statements: for a stop that cannot wait. */
    abandon(): void {
      abandoning.abort(new Error('Loading is being stopped'))
    },

    /**
     * Ends what an earlier load may have left running in the engine, and waits until it is gone: a statement whose
     * answer was lost must not store its rows in addition to its own repetition. Staging tables are recreated afterwards:
     * another process may have left them, of another version.
     */
    async endLeftovers(): Promise<void> {
      made.clear()
      await columnar.command({
        sql: `KILL QUERY WHERE query_id LIKE '${statementPrefix}%' SYNC`,
        settings: { max_execution_time: 60 },
        signal,
      })
    },

    /**
     * Empties one of the two staging tables, or makes it. Migrations do not know them: they hold rows in memory, and
     * one process uses them.
     */
    async clear({ table }: Staging): Promise<void> {
      if (made.has(table)) return await empty(table)
      await run({ sql: `DROP TABLE IF EXISTS ${table}` })
      await run({ sql: `CREATE TABLE ${table} (${stagingColumns}) ENGINE = Memory` })
      made.add(table)
      used.delete(table)
    },

    /** Puts lines of the log into staging, all or none of them. */
    async stage(staging: Staging, body: Buffer): Promise<void> {
      used.add(staging.table)
      await columnar.insert({
        table: staging.table,
        columns: lineKeys,
        format: 'JSONEachRow',
        body,
        queryId: `${statementPrefix}${randomUUID()}`,
        signal,
        settings: {
          ...settingsOf(staging),
          input_format_skip_unknown_fields: 1,
          // Rows leave out what is absent, and one thread parses more than 1.2 million of them a second: parsers
          // side by side and the care for null cost half as much again (measured).
          input_format_null_as_default: 0,
          input_format_defaults_for_omitted_fields: 0,
          input_format_parallel_parsing: 0,
        },
      })
    },

    /** Rows in staging: 0 after a restart of the engine, which keeps staging in memory. */
    async countStaged({ table }: Staging): Promise<number> {
      const [row] = await ask<{ rows: number }>({ sql: `SELECT count() AS rows FROM ${table}` })
      return row?.rows ?? 0
    },

    /**
     * What stands in staging, the keys of its events, and how many keys are stored: of a small batch in one statement,
     * since each takes milliseconds whatever it does.
     */
    async readGroups({ table, size }: Staging): Promise<StagedBatch> {
      const isSmall = size === 'small'
      const keys = isSmall
        ? `arrayStringConcat(groupArrayIf(hex(reinterpretAsFixedString(${eventKey})), ${isEvent}))`
        : "''"
      const groups = await ask<StagedGroup & { readonly keys: string; readonly stored: number }>({
        sql: `SELECT k AS company, d AS datasource, count() AS rows,
                countIf(${isEvent}) AS events,
                uniqExactIf(${eventKey}, ${isEvent}) AS distinct,
                countIf(${isEvent} AND g = 1) AS changed,
                countIf(z != 'e' AND fault = '') AS logRows,
                sumIf(m, z = 'dropped' AND fault = '') AS dropped,
                sumIf(m, z = 'bot' AND fault = '') AS bot,
                countIf(${isEvent} AND ${isIdentify}) AS identifies,
                countIf(${isEvent} AND ${isPurchase}) AS purchases,
                countIf(${isEvent} AND ${hasInteractionName}) AS interactions,
                max(fault) AS reason,
                min(q) AS firstSequence, max(q) AS lastSequence,
                minIf(toUnixTimestamp64Milli(received), fault = '') AS earliestReceived,
                maxIf(toUnixTimestamp64Milli(received), fault = '') AS latestReceived,
                if(events = 0, 0, toYYYYMM(minIf(time, ${isEvent}))) AS firstMonth,
                if(events = 0, 0, toYYYYMM(maxIf(time, ${isEvent}))) AS lastMonth,
                ${keys} AS keys,
                (SELECT count() FROM event_keys) AS stored
              FROM ${table} GROUP BY k, d`,
        settings: reading(size),
      })
      return {
        groups,
        keys: isSmall ? groups.map((group) => Buffer.from(group.keys, 'hex')) : streamStagedKeys(table),
        stored: groups[0]?.stored ?? 0,
      }
    },

    /**
     * Looks the keys of the staged events up among those stored within the window around their reception; an
     * interrupted load of the same events left them too.
     * @param rows about how many are staged
     * @param received of the staged events
     * @param candidates the only keys that may be stored; undefined when all may be
     * @returns whether some may be stored
     */
    async findKnown(
      staging: Staging,
      rows: number,
      received: Received,
      candidates: readonly bigint[] | undefined,
    ): Promise<boolean> {
      await empty('staging_known')
      if (candidates?.length === 0) return false
      const keys = candidates
        ? '{candidates: Array(UInt64)}'
        : `(SELECT ${eventKey} FROM ${staging.table} WHERE ${isEvent})`
      const stored = `FROM event_keys WHERE key IN ${keys} AND received BETWEEN {from: DateTime64(3, 'UTC')}
        AND {to: DateTime64(3, 'UTC')}`
      const params = {
        from: new Date(received.earliest - duplicateWindowMs),
        to: new Date(received.latest + duplicateWindowMs),
        ...(candidates && { candidates }),
      }
      if (candidates) {
        // Most are taken for known by chance.
        const [row] = await ask<{ keys: number }>({
          sql: `SELECT count() AS keys ${stored}`,
          params,
          settings: reading(staging.size),
        })
        if (row?.keys === 0) return false
      }
      used.add('staging_known')
      await run({
        sql: `INSERT INTO staging_known SELECT key, rest, seq, received ${stored}`,
        params,
        settings: { ...settingsOf(staging), use_index_for_in_with_subqueries: rows <= rowsByIndex ? 1 : 0 },
      })
      return true
    },

    /**
     * Marks the duplicates in staging: events whose key is known with another sequence number within the window, then
     * of those left all but the first of each key. Reception times in staging must not lie further apart than the
     * window, or the second rule would mark too many.
     */
    async markDuplicates(staging: Staging): Promise<DuplicateGroup[]> {
      const { table } = staging
      const settings = settingsOf(staging)
      await empty('staging_skipped')
      used.add('staging_skipped')
      await run({
        sql: `INSERT INTO staging_skipped SELECT DISTINCT row.q
              FROM (SELECT ${eventKey} AS key, ${restOf} AS rest, q, received FROM ${table}
                WHERE ${isEvent} AND ${eventKey} IN (SELECT key FROM staging_known)) AS row
              INNER JOIN staging_known AS known ON row.key = known.key AND row.rest = known.rest
              WHERE known.seq != row.q
                AND abs(toUnixTimestamp64Milli(row.received) - toUnixTimestamp64Milli(known.received))
                  <= {window: Int64}`,
        params: { window: duplicateWindowMs },
        settings,
      })
      await run({
        sql: `INSERT INTO staging_skipped SELECT row.q
              FROM (SELECT hash, q FROM ${table}
                WHERE ${isEvent} AND q NOT IN (SELECT seq FROM staging_skipped)) AS row
              INNER JOIN (
                SELECT hash, min(q) AS first FROM ${table}
                WHERE ${isEvent} AND q NOT IN (SELECT seq FROM staging_skipped)
                GROUP BY hash HAVING count() > 1
              ) AS repeated ON row.hash = repeated.hash
              WHERE row.q != repeated.first`,
        settings,
      })
      return await ask<DuplicateGroup>({
        sql: `SELECT k AS company, d AS datasource, count() AS duplicate, countIf(g = 1) AS changed FROM ${table}
              WHERE ${isEvent} AND q IN (SELECT seq FROM staging_skipped) GROUP BY k, d`,
        settings: { max_execution_time: 120 },
      })
    },

    ...otherKeys,

    ...createReusedIds({ ask, insertLog: (rows) => insertJson('datasource_log', rows), reading }),

    async insertKeys(selection: Selection): Promise<void> {
      const columns = { key: eventKey, rest: restOf, seq: 'q', received: 'received' }
      await insertRows('event_keys', columns, isEvent, selection)
    },

    /** Inserts the events of months from `first` to `last`, each as year * 100 + month. */
    async insertEvents(
      months: { readonly first: number; readonly last: number },
      selection: Selection,
    ): Promise<void> {
      const of = `${isEvent} AND toYYYYMM(time) BETWEEN {firstMonth: UInt32} AND {lastMonth: UInt32}`
      const params = { firstMonth: months.first, lastMonth: months.last }
      await insertRows('events', eventColumns, of, selection, params)
    },

    async insertPurchases(selection: Selection): Promise<void> {
      const columns = { ...eventColumns, purchase: orderOf }
      await insertRows('purchases', columns, `${isEvent} AND ${isPurchase}`, selection)
    },

    /** What workflows may know of persons. */
    async insertPersonEvents(selection: Selection): Promise<void> {
      await insertRows('person_events', personColumns, `${isEvent} AND ${isRecent}`, selection)
    },

    /** The displays and clicks of workflows. */
    async insertWorkflowEvents(selection: Selection): Promise<void> {
      await insertRows('workflow_events', workflowColumns, `${isEvent} AND ${isInteraction}`, selection)
    },

    ...createOrderStore({
      run,
      async empty(table) {
        await empty(table)
        used.add(table)
      },
      settingsOf,
    }),

    ...createLabelKeys({
      ask,
      insert: (rows) => insertJson('label_keys', rows),
      conditionsOf: (selection, of) =>
        conditionsOf('label_keys', { ...selection, unlessStored: undefined }, of),
      reading,
    }),

    /** The bindings of identify events; one that is stored already changes nothing. */
    async insertIdentities(selection: Selection): Promise<void> {
      const of = conditionsOf(
        'identities',
        { ...selection, unlessStored: undefined },
        `${isEvent} AND ${isIdentify}`,
      )
      await run({
        sql: `INSERT INTO identities (company, datasource, device, tmp_id, time, client, client_id)
              SELECT k, d, device, any(p), max(row.time), any(client), c
              FROM ${selection.staging.table} AS row WHERE ${of}
              GROUP BY k, d, device, c`,
        params: { purged: selection.purged },
        settings: settingsOf(selection.staging),
      })
    },

    async insertLog(selection: Selection): Promise<void> {
      const columns = {
        company: 'k',
        datasource: 'd',
        received: 'received',
        seq: 'q',
        kind: 'z',
        rule: 'rule',
        path: 'path',
        sample: 'sample',
        count: 'm',
      }
      const each = { ...selection, withoutDuplicates: false }
      await insertRows('datasource_log', columns, "z != 'e' AND fault = ''", each)
    },

    ...createQuarantine({ ask, insertJson }),

    /** The greatest sequence number that any load has begun to store; 0 for none. */
    async greatestSequence(): Promise<number> {
      const [row] = await ask<{ greatest: number }>({
        sql: `SELECT max(seq) AS greatest FROM (
                SELECT max(seq) AS seq FROM event_keys UNION ALL SELECT max(seq) FROM datasource_log
                UNION ALL SELECT max(seq) FROM events_quarantine)`,
      })
      return row?.greatest ?? 0
    },
  }

  async function insertJson(table: string, rows: readonly object[]): Promise<void> {
    const body = Buffer.from(rows.map((row) => `${JSON.stringify(row)}\n`).join(''))
    await columnar.insert({ table, columns: Object.keys(rows[0] ?? {}), format: 'JSONEachRow', body, signal })
  }
}

export type LoaderStore = ReturnType<typeof createLoaderStore>
