import type { Logger } from '../../../../platform/logger.ts'
import type { OpenPurge, PurgeLedger } from './purge-ledger-store.ts'
import type { RemovalStore, RowCondition } from './removal-store.ts'
import type { Removal, RemovalHooks } from './remover.ts'

export interface PurgeDependencies {
  readonly ledger: Pick<PurgeLedger, 'listOpen' | 'noteUncounted' | 'forget' | 'finish'>
  readonly store: Pick<RemovalStore, 'removeFromAll' | 'recomputeOrders'>
  readonly logger: Pick<Logger, 'info'>
}

const rowsOf = ({ companyId, datasourceId }: OpenPurge): RowCondition => ({
  sql: 'company = {company: String} AND datasource = {datasource: String}',
  params: { company: companyId, datasource: datasourceId },
})

/**
 * Removes what deleted datasources have told, some days after orders were computed without it; or computes them with it
 * again where the deletion was undone. A batch that began before may still act on what was known then, every later one
 * knows (batch-loader.ts), so each step begins behind that batch.
 */
export function createPurge({ ledger, store, logger }: PurgeDependencies): Removal {
  async function take(
    purge: OpenPurge,
    open: readonly OpenPurge[],
    { betweenBatches, onRemoved }: RemovalHooks,
    signal: AbortSignal,
  ): Promise<void> {
    await betweenBatches(async () => {})
    const rows = rowsOf(purge)
    const { companyId, datasourceId, isDue, isUncounted, isRestored } = purge
    if (isRestored || !isUncounted) {
      const purged = open.filter((each) => !each.isRestored).map((each) => each.datasourceId)
      const uncounted: RowCondition = { sql: 'datasource IN {purged: Array(String)}', params: { purged } }
      await store.recomputeOrders(rows, uncounted, signal)
      await (isRestored ? ledger.forget(purge) : ledger.noteUncounted(purge))
    } else if (isDue) {
      await store.removeFromAll(rows, signal)
      await ledger.finish(purge)
    }
    onRemoved([companyId])
    const what = isRestored ? 'are back' : isUncounted ? 'are removed' : 'are hidden'
    logger.info({ companyId, datasourceId }, `the events of a deleted datasource ${what}`)
  }

  return {
    name: 'the events of deleted datasources',
    async run(hooks, signal) {
      const open = await ledger.listOpen()
      const purge = open.find(({ isDue, isUncounted, isRestored }) => isRestored || !isUncounted || isDue)
      if (!purge) return false
      await take(purge, open, hooks, signal)
      return true
    },
  }
}
