import { DomainError } from '../../platform/errors.ts'
import { type Columnar, ColumnarTimeout } from '../../platform/stores/columnar.ts'
import type { SourceId } from './members/member.ts'

/** Label keys that the metadata shows of each source: all can be queried, whether shown or not. */
export const shownLabels = 1_000

const limitSeconds = 30

/** @throws {DomainError} timeout */
async function within<T>(work: Promise<T>): Promise<T> {
  try {
    return await work
  } catch (error) {
    if (error instanceof ColumnarTimeout) throw new DomainError('timeout', { limitSeconds }, { cause: error })
    throw error
  }
}

export type LabelKeys = Readonly<Record<SourceId, readonly string[]>>

export interface StatisticsStore {
  /** Label keys of the company's facts by source, in the order of their bytes, the first thousand. */
  listLabels(companyId: string): Promise<LabelKeys>
}

export function createStatisticsStore({ columnar }: { readonly columnar: Columnar }): StatisticsStore {
  async function listKeys(table: SourceId, companyId: string): Promise<string[]> {
    const rows = await within(
      columnar.query<{ key: string }>({
        sql: `SELECT DISTINCT arrayJoin(labels.keys) AS key\nFROM ${table}\nWHERE company = {company:String}\nORDER BY key\nLIMIT ${shownLabels}`,
        params: { company: companyId },
        settings: { max_execution_time: limitSeconds },
      }),
    )
    return rows.map(({ key }) => key)
  }

  return {
    async listLabels(companyId) {
      const [events, purchases] = await Promise.all([
        listKeys('events', companyId),
        listKeys('purchases', companyId),
      ])
      return { events, purchases }
    },
  }
}
