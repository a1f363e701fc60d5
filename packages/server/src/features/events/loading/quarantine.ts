import type { DropRuleId } from '@millrace/contract/events/rules.ts'
import type { Statement } from '../../../platform/stores/columnar.ts'
import { asDateTime } from './reused-ids.ts'
import type { QuarantinedEvent } from './staged-rows.ts'

/** The rule of the contract by which the datasource log shows a quarantined event. */
const quarantineRule = 'engine-refused' satisfies DropRuleId

export interface QuarantineDependencies {
  readonly ask: <R>(statement: Statement) => Promise<R[]>
  readonly insertJson: (table: string, rows: readonly object[]) => Promise<void>
}

/** Keeps aside what the engine refuses. */
export function createQuarantine({ ask, insertJson }: QuarantineDependencies) {
  return {
    /** Puts events into quarantine and into their datasources' logs; one that is there already is left as it is. */
    async quarantine(events: readonly QuarantinedEvent[]): Promise<void> {
      const sequences = events.map(({ sequence }) => sequence)
      const storedIn = async (table: string, text: string, where = '1'): Promise<Set<string>> => {
        const stored = await ask<{ seq: number; text: string }>({
          sql: `SELECT seq, ${text} AS text FROM ${table} WHERE seq IN {sequences: Array(UInt64)} AND ${where}`,
          params: { sequences },
        })
        return new Set(stored.map((row) => `${row.seq} ${row.text}`))
      }
      const logged = await storedIn('datasource_log', 'datasource', `rule = '${quarantineRule}'`)
      const toLog = events.filter(
        ({ datasource, sequence }) => datasource !== '' && !logged.has(`${sequence} ${datasource}`),
      )
      if (toLog.length > 0) await insertJson('datasource_log', toLog.map(quarantineLogRow))
      const known = await storedIn('events_quarantine', 'line')
      const rows = events.filter(({ sequence, line }) => !known.has(`${sequence} ${line}`))
      const set = rows.map(({ company, datasource, sequence, error, line }) => ({
        company,
        datasource,
        seq: sequence,
        error,
        line,
      }))
      if (set.length > 0) await insertJson('events_quarantine', set)
    },
  }
}

function quarantineLogRow({ company, datasource, sequence, receivedAt }: QuarantinedEvent): object {
  // The event itself stands in the quarantine; the log shows no sample of what nothing could read.
  return {
    company,
    datasource,
    received: asDateTime(receivedAt),
    seq: sequence,
    kind: 'dropped',
    rule: quarantineRule,
    path: '',
    sample: '',
    count: 1,
  }
}
