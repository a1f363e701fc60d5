import type { NoteRuleId } from '@millrace/contract/events/rules.ts'
import { maskSample } from '@millrace/contract/events/samples.ts'
import { type EventColumn, eventColumns } from '../../../database/event-columns.ts'
import type { Statement } from '../../../platform/stores/columnar.ts'
import type { BatchSize, ReusedIds, Staging } from './staged-rows.ts'

/** The rule by which the datasource log shows duplicates that are none but for their identifier. */
const reusedRule = 'event-id-reused' satisfies NoteRuleId

/** Duplicates of a batch that are compared with the stored event: enough to notice, and a bounded look-up. */
const comparedDuplicates = 100

/**
 * What a repetition has in common with its original, as a hash. Of its time the day counts, unless the server gave
 * it: that one differs at each repetition.
 * @param from where a column of `events` comes from
 */
function contentOf(from: (column: EventColumn) => string): string {
  return `sipHash64(if(time = received, toDate(0), toDate(time)), toString(${from('name')}), ${from('url')},
    ${from('tmp_id')}, ${from('client_id')}, toString(${from('ids')}), ifNull(toString(${from('value')}), ''),
    ${from('trans_id')}, toString(${from('labels')}))`
}
const stagedContent = contentOf((column) => eventColumns[column])
const storedContent = contentOf((column) => column)

/** An instant as the engine reads it in JSON. */
export const asDateTime = (milliseconds: number): string =>
  new Date(milliseconds).toISOString().replace('T', ' ').replace('Z', '')

export interface ReusedIdsDependencies {
  readonly ask: <R>(statement: Statement) => Promise<R[]>
  readonly insertLog: (rows: readonly object[]) => Promise<void>
  /** Of a statement that reads a batch of a size. */
  readonly reading: (size: BatchSize) => Readonly<Record<string, number>>
}

/** Finds and records duplicates whose content differs from the event that came first. */
export function createReusedIds({ ask, insertLog, reading }: ReusedIdsDependencies) {
  return {
    /**
     * Compares some of what markDuplicates has marked with the events that came first. A repetition has the same
     * place in the order of events (day and device) as its original, which keeps the look-up small; without a time of
     * its own it may come on the next day.
     */
    async findReusedIds({ table, size }: Staging): Promise<ReusedIds[]> {
      const compared = `q IN (SELECT seq FROM staging_skipped ORDER BY seq LIMIT ${comparedDuplicates})`
      return await ask<ReusedIds>({
        sql: `WITH repeated AS (SELECT * FROM ${table} WHERE ${compared}),
                kept AS (
                  SELECT hash, ${stagedContent} AS content FROM ${table}
                  WHERE sound AND hash IN (SELECT hash FROM repeated)
                    AND q NOT IN (SELECT seq FROM staging_skipped)
                  UNION ALL
                  SELECT reinterpretAsUInt128(sipHash128(toString(datasource), event_id)) AS hash,
                    ${storedContent} AS content
                  FROM events
                  PREWHERE (event_uuid, event_text) IN (SELECT event_uuid, event_text FROM repeated)
                  WHERE (company, datasource, toDate(time), device)
                    IN (SELECT k, d, arrayJoin([toDate(time), toDate(time) - 1]), device FROM repeated)
                )
              SELECT k AS company, d AS datasource, min(q) AS sequence, count() AS count,
                toUnixTimestamp64Milli(argMin(received, q)) AS receivedAt,
                argMin(if(event_text = '', toString(event_uuid), event_text), q) AS eventId
              FROM repeated WHERE (hash, ${stagedContent}) NOT IN (SELECT hash, content FROM kept)
              GROUP BY k, d`,
        settings: { ...reading(size), max_execution_time: 2 },
      })
    },

    /** Records them in the datasource log, once however often the load is repeated. */
    async noteReusedIds(found: readonly ReusedIds[]): Promise<void> {
      const sequences = found.map(({ sequence }) => sequence)
      const noted = await ask<{ seq: number }>({
        sql: `SELECT seq FROM datasource_log WHERE seq IN {sequences: Array(UInt64)} AND rule = '${reusedRule}'`,
        params: { sequences },
      })
      const rows = found
        .filter(({ sequence }) => !noted.some(({ seq }) => seq === sequence))
        .map(({ company, datasource, sequence, receivedAt, eventId, count }) => ({
          company,
          datasource,
          received: asDateTime(receivedAt),
          seq: sequence,
          kind: 'noted',
          rule: reusedRule,
          path: 'eventId',
          sample: maskSample(eventId),
          count,
        }))
      if (rows.length > 0) await insertLog(rows)
    },
  }
}
