import type { Datasource } from '@millrace/contract/resources/datasource.ts'
import type { RetentionPreview } from '@millrace/contract/resources/retention-preview.ts'
import { DomainError } from '../../../platform/errors.ts'
import type { Columnar } from '../../../platform/stores/columnar.ts'
import type { Principal } from '../../identity/sessions/principal.ts'
import { type ExpiryStore, expiredRows, hoursToUndo } from '../loading/removals/expiry-store.ts'

export interface RetentionDependencies {
  readonly planFor: ExpiryStore['planFor']
  readonly columnar: Pick<Columnar, 'query'>
  /** @throws DomainError `datasourceNotFound` */
  readonly readDatasource: (principal: Principal, id: string) => Promise<Datasource>
  /** Waits for one of the company's places to ask the engine, and gives the function that leaves it. */
  readonly enter: (companyId: string) => Promise<() => void>
}

/** A user waits for the answer, and counting reads two columns. */
const settings = { max_execution_time: 30 }

interface Counts {
  readonly events: number
  readonly purchases: number
  readonly kept: number
  /** Epoch milliseconds; 0 without events. */
  readonly earliest: number
}

export type RetentionService = ReturnType<typeof createRetentionService>

/** What a retention would remove, before it is set. */
export function createRetentionService({ planFor, columnar, readDatasource, enter }: RetentionDependencies) {
  async function preview(of: { companyId: string; datasourceId?: string }, days: number) {
    const { expiry, held } = await planFor({ ...of, days })
    const leave = await enter(of.companyId)
    try {
      const { sql, params } = expiredRows('events', expiry)
      const [found] = await columnar.query<Counts>({
        sql: `SELECT countIf(${sql}) AS events,
                countIf(${sql} AND name IN ('purchase', 'purchase_references')) AS purchases,
                count() - events AS kept,
                if(events = 0, 0, toUnixTimestamp64Milli(minIf(time, ${sql}))) AS earliest
              FROM events
              WHERE company IN {companies: Array(String)} AND datasource IN {datasources: Array(String)}`,
        params,
        settings,
      })
      const { events, purchases, kept, earliest } = found ?? { events: 0, purchases: 0, kept: 0, earliest: 0 }
      return {
        before: expiry.before.toISOString(),
        earliest: events === 0 ? null : new Date(earliest).toISOString(),
        events,
        purchases,
        kept,
        appliesAfterHours: hoursToUndo,
        heldBy: [...held],
      } satisfies RetentionPreview
    } finally {
      leave()
    }
  }

  return {
    /** @throws DomainError `tooManyRequests` */
    previewCompany: ({ companyId }: Principal, days: number): Promise<RetentionPreview> =>
      preview({ companyId }, days),

    /** @throws DomainError `datasourceNotFound`, `notAnEventDatasource` or `tooManyRequests` */
    async previewDatasource(principal: Principal, id: string, days: number): Promise<RetentionPreview> {
      const { id: datasourceId, mode } = await readDatasource(principal, id)
      if (mode === 'worker') throw new DomainError('notAnEventDatasource', { id: datasourceId })
      return preview({ companyId: principal.companyId, datasourceId }, days)
    },
  }
}
