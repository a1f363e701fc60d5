import type { Logger } from '../../../../platform/logger.ts'
import type { PurgeLedger } from './purge-ledger-store.ts'
import type { RemovalStore, RowCondition } from './removal-store.ts'
import type { Removal } from './remover.ts'

export interface PurgeDependencies {
  readonly ledger: Pick<PurgeLedger, 'listOpen' | 'finish'>
  readonly store: Pick<RemovalStore, 'removeFromAll' | 'recomputeOrders'>
  readonly logger: Pick<Logger, 'info'>
}

/**
 * Removes what deleted datasources have told. A batch that began before a purge was asked for may still store events of
 * the datasource, every later one knows of it (batch-loader.ts), so nothing of it comes after the removal has begun
 * behind that batch.
 */
export function createPurge({ ledger, store, logger }: PurgeDependencies): Removal {
  return {
    name: 'the events of deleted datasources',
    async run({ betweenBatches, onRemoved }, signal) {
      const open = await ledger.listOpen()
      const [purge] = open
      if (!purge) return false
      await betweenBatches(async () => {})
      const rows: RowCondition = {
        sql: 'company = {company: String} AND datasource = {datasource: String}',
        params: { company: purge.companyId, datasource: purge.datasourceId },
      }
      const purged = open.map(({ datasourceId }) => datasourceId)
      const uncounted: RowCondition = { sql: 'datasource IN {purged: Array(String)}', params: { purged } }
      await store.recomputeOrders(rows, uncounted, signal)
      await store.removeFromAll(rows, signal)
      onRemoved([purge.companyId])
      await ledger.finish(purge)
      logger.info(purge, 'the events of a deleted datasource are removed')
      return true
    },
  }
}
