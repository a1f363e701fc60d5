import type { BodyRuleId } from '@millrace/contract/events/rules.ts'
import type { Clock } from '../../../platform/clock.ts'
import type { CollectorDatasource } from './datasource-cache.ts'
import { logRow } from './rows/event-row.ts'

/** Refusals are collected this long: they count requests, not events, and must not cost a disk write each. */
const collectMs = 1000
/** Datasources and rules that are collected at once; there are few rules, and a flood hits few datasources. */
const maxPending = 1000

interface Refusal {
  readonly datasource: CollectorDatasource
  readonly rule: BodyRuleId
  readonly sample: string
  readonly receivedAt: number
  count: number
}

/**
 * Requests that were answered 4xx as a whole, for the datasource log: one row for each datasource and rule, once a
 * second. They are lost when the process is killed; no event is counted by them.
 */
export function createRefusals(dependencies: {
  append(rows: readonly string[]): Promise<void>
  clock: Clock
  onError(error: unknown): void
}) {
  const { append, clock, onError } = dependencies
  const pending = new Map<string, Refusal>()
  let timer: NodeJS.Timeout | undefined
  let closed = false

  async function write(): Promise<void> {
    clearTimeout(timer)
    timer = undefined
    if (pending.size === 0) return
    const rows = [...pending.values()].map(({ datasource, rule, sample, receivedAt, count }) =>
      logRow(
        { kind: 'refused', rule, path: '', sample, count },
        { companyId: datasource.companyId, datasourceId: datasource.id, receivedAt },
      ),
    )
    pending.clear()
    try {
      await append(rows)
    } catch (error) {
      onError(error)
    }
  }

  return {
    add(datasource: CollectorDatasource, rule: BodyRuleId, sample: string): void {
      const key = `${datasource.id} ${rule}`
      const present = pending.get(key)
      if (present) present.count++
      else if (!closed && pending.size < maxPending) {
        pending.set(key, { datasource, rule, sample, receivedAt: clock.now(), count: 1 })
        timer ??= setTimeout(write, collectMs).unref()
      }
    },
    /** Writes what was collected, and collects no more. */
    async close(): Promise<void> {
      closed = true
      await write()
    },
  }
}
