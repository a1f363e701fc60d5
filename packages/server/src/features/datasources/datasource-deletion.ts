import type { Datasource, DeletedDatasource } from '@millrace/contract/resources/datasource.ts'
import { auditEventOf } from '../../platform/audit.ts'
import { DomainError } from '../../platform/errors.ts'
import { normalizeId } from '../../platform/ids.ts'
import type { Listed, Page } from '../../platform/paging.ts'
import { requireRoom } from '../../platform/resources/resource.ts'
import type { ServiceContext } from '../../platform/service-context.ts'
import type { Queries } from '../../platform/stores/relational.ts'
import type { Caller, Principal } from '../identity/sessions/principal.ts'
import { absent, maxDatasources, requireOrdinary, targetOf } from './datasource-rules.ts'
import { createDatasourceStore, type StoredDatasource, type Viewer } from './datasource-store.ts'
import { createWorkerStore } from './refreshes/worker-store.ts'

export interface DeletionDependencies extends Pick<ServiceContext, 'relational' | 'recordAudit'> {
  /** Removes a file of content that no datasource has now. */
  readonly removeContent: (name: string) => Promise<void>
  /** In the transaction of a deletion: the events of the datasource leave the statistics. */
  readonly requestPurge: (
    tx: Queries,
    of: { companyId: string; datasourceId: string },
    options: { undoDays: number; wasPaused: boolean },
  ) => Promise<void>
  /** The same of a deletion that is undone; undefined where it is too late. */
  readonly undoPurge: (tx: Queries, datasourceId: string) => Promise<{ wasPaused: boolean } | undefined>
  /** Lets this process know at once which datasources are deleted. */
  readonly refreshHidden: () => Promise<void>
  /** @throws DomainError `datasourceInUse` */
  readonly requireUnused: (
    tx: Queries,
    principal: Principal,
    datasource: StoredDatasource,
    message: string,
  ) => Promise<void>
  readonly read: (viewer: Viewer, id: string) => Promise<Datasource>
}

/** In which the deletion of a datasource of events can be undone. */
const undoDays = 7

/** Deleting datasources, and undoing that (docs/data-life.md, What is deleted). */
export function createDatasourceDeletion({
  relational,
  recordAudit,
  removeContent,
  requestPurge,
  undoPurge,
  refreshHidden,
  requireUnused,
  read,
}: DeletionDependencies) {
  const store = createDatasourceStore(relational.db)

  return {
    /**
     * @param isFinal whether there is no way back
     * @throws DomainError `datasourceNotFound`, `datasourceInUse`, `datasourceNotConfirmed` or `conflict`
     */
    async delete(
      caller: Caller,
      id: string,
      { isFinal, confirm }: { readonly isFinal: boolean; readonly confirm?: string },
    ): Promise<void> {
      const { principal } = caller
      const { companyId } = principal
      const content = await relational.transaction(async (tx) => {
        const within = createDatasourceStore(tx)
        const locked = await within.lock(principal, normalizeId(id))
        if (!locked) throw absent(id)
        requireOrdinary(locked)
        if (isFinal && confirm !== locked.name)
          throw new DomainError('datasourceNotConfirmed', { id: locked.id, confirm: locked.name })
        await requireUnused(tx, principal, locked, 'Workflows use this datasource')
        const worker = await createWorkerStore(tx).lock(companyId, locked.id)
        if (locked.kind === 'worker') await within.delete(companyId, locked.id)
        else {
          // Its row stays, so that the collector and the audit log know the id.
          await within.update(companyId, locked.id, { status: 'deleted' })
          const purge = { companyId, datasourceId: locked.id }
          const wasPaused = locked.status === 'paused'
          await requestPurge(tx, purge, { undoDays: isFinal ? 0 : undoDays, wasPaused })
        }
        await recordAudit(tx, auditEventOf(caller, 'datasource-delete', targetOf(locked)))
        return worker?.content?.file
      })
      // Other processes are told by the database, as is this one should the reading fail.
      await refreshHidden().catch(() => {})
      // What a failure leaves is swept later, as are the rows.
      if (content !== undefined) await removeContent(content).catch(() => {})
    },

    listDeleted: (viewer: Viewer, page: Page): Promise<Listed<DeletedDatasource>> =>
      store.listDeleted(viewer, page),

    /** Undoes a deletion. @throws DomainError `datasourceNotFound` or `tooManyDatasources` */
    async restore(caller: Caller, id: string): Promise<Datasource> {
      const { principal } = caller
      const restored = normalizeId(id)
      await relational.transaction(async (tx) => {
        const within = createDatasourceStore(tx)
        const deleted = await within.lockDeleted(principal, restored)
        const undone = deleted && (await undoPurge(tx, restored))
        if (!undone) throw absent(id)
        requireRoom('tooManyDatasources', maxDatasources, await within.countOfCompany(principal.companyId))
        await within.update(principal.companyId, restored, { status: undone.wasPaused ? 'paused' : 'active' })
        await recordAudit(tx, auditEventOf(caller, 'datasource-restore', targetOf(deleted)))
      })
      return read(principal, restored)
    },
  }
}
