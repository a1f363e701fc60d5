import { DomainError } from '../../platform/errors.ts'
import { type Columnar, ColumnarTimeout } from '../../platform/stores/columnar.ts'
import type { SourceId } from './members/member.ts'

/** Label keys that the metadata shows of each source: all can be queried, whether shown or not. */
export const shownLabels = 1_000

const limitSeconds = 5

/** Of the sources that have labels. */
export type LabelKeys = Readonly<Partial<Record<SourceId, readonly string[]>>>

export interface StatisticsStore {
  /** Label keys of the company's facts by source, in the order of their bytes, the first thousand. */
  listLabels(companyId: string): Promise<LabelKeys>
}

/** @throws {DomainError} timeout */
export function createStatisticsStore({ columnar }: { readonly columnar: Columnar }): StatisticsStore {
  return {
    async listLabels(companyId) {
      try {
        const rows = await columnar.query<{ source: SourceId; key: string }>({
          sql: `SELECT DISTINCT source, key FROM label_keys WHERE company = {company:String}
                ORDER BY source, key LIMIT ${shownLabels} BY source`,
          params: { company: companyId },
          settings: { max_execution_time: limitSeconds },
        })
        const keysOf = (of: SourceId) => rows.filter(({ source }) => source === of).map(({ key }) => key)
        return { events: keysOf('events'), purchases: keysOf('purchases') }
      } catch (error) {
        if (!(error instanceof ColumnarTimeout)) throw error
        throw new DomainError('timeout', { limitSeconds }, { cause: error })
      }
    },
  }
}
