import type { Datasource } from '@millrace/contract/resources/datasource.ts'
import type { StoredDatasourceSource } from '@millrace/contract/resources/datasource-source.ts'
import type { DatasourceVersion } from '@millrace/contract/resources/datasource-version.ts'
import type { StoredDatasource } from './datasource-store.ts'
import type { StoredWorker, WorkerState } from './refreshes/worker-store.ts'
import { queriableFields } from './rows/query-operators.ts'
import { revisionOf } from './rows/row-reader.ts'

/** How much of a worker datasource is shown. */
type Detail = 'list' | 'whole'

/** A datasource as users see it; `state` is that of a worker datasource. */
export function toDatasource(
  stored: StoredDatasource,
  state: WorkerState | undefined,
  detail: Detail,
): Datasource {
  return {
    id: stored.id,
    companyId: stored.companyId,
    name: stored.name,
    mode: stored.kind === 'worker' ? 'worker' : 'ingester',
    type: typeOf(stored, state),
    status: statusOf(stored, state),
    resourceGroupIds: [...stored.teamIds],
    ...(stored.kind !== 'worker' && { eventRetentionDays: stored.eventRetentionDays }),
    ...(stored.kind === 'tracking' && { consent: stored.consent }),
    ...(stored.sampleData !== null && { sampleData: true as const }),
    createdAt: stored.createdAt.toISOString(),
    updatedAt: stored.updatedAt.toISOString(),
    ...(state && workerPart(stored, state, detail)),
  }
}

function typeOf({ kind }: StoredDatasource, state: WorkerState | undefined): string {
  if (kind === 'worker') return state?.worker.type ?? 'generic'
  return kind === 'tracking' ? 'analytics' : 'workflow_events'
}

export function statusOf({ status }: StoredDatasource, state: WorkerState | undefined): Datasource['status'] {
  if (status !== 'active') return 'paused'
  if (!state) return 'published'
  if (state.isImporting) return 'updating'
  if (state.worker.failure !== null) return 'error'
  return state.live ? 'published' : 'draft'
}

function workerPart(
  { status }: StoredDatasource,
  { worker, live }: WorkerState,
  detail: Detail,
): Partial<Datasource> {
  const { schedule, nextRefreshAt, updateStrategy, maxRefusedShare, failure } = worker
  return {
    ...(worker.source && { source: shownSource(worker) }),
    schedule,
    nextRefreshAt: status === 'active' ? (nextRefreshAt?.toISOString() ?? null) : null,
    updateStrategy,
    maxRefusedShare: Math.round(maxRefusedShare * 1e6) / 1e6,
    ...(failure !== null && { failure }),
    ...(detail === 'whole' && {
      versions: versionsOf({ worker, live, isImporting: false }),
      queriableFields: live ? queriableFields(live.fields) : [],
    }),
  }
}

function shownSource({ source, content }: StoredWorker): StoredDatasourceSource {
  const { headerNames, ...rest } = source ?? { type: 'file' as const }
  return {
    ...rest,
    ...(headerNames && headerNames.length > 0 && { headerNames: [...headerNames] }),
    ...(rest.type === 'file' &&
      content && {
        content: {
          bytes: content.bytes,
          fileName: content.fileName,
          sha256: content.sha256,
          uploadedAt: content.uploadedAt,
        },
      }),
  }
}

function versionsOf({ worker, live }: WorkerState): DatasourceVersion[] {
  return [
    { id: null, state: 'DRAFT', fields: worker.fields, updatedAt: worker.fieldsUpdatedAt.toISOString() },
    ...(live
      ? [
          {
            id: live.id,
            state: 'LIVE' as const,
            fields: live.fields,
            rows: live.rowCount,
            revision: revisionOf(live),
            updatedAt: live.updatedAt.toISOString(),
          },
        ]
      : []),
  ]
}
