import { DomainError } from '../../platform/errors.ts'
import { normalizeId } from '../../platform/ids.ts'
import type { StoredDatasource } from './datasource-store.ts'

/** Of one company. */
export const maxDatasources = 1_000

/** For the audit log. */
export const targetOf = ({ id, name }: { id: string; name: string }) => ({ kind: 'datasource', id, name })

/**
 * Displays and clicks go on whatever becomes of the datasource that they are events of, and none takes its place.
 * @throws DomainError `conflict`
 */
export function requireOrdinary({ id, kind }: StoredDatasource): void {
  if (kind !== 'workflow_events') return
  const message =
    'This datasource holds the displays and clicks of all workflows: it is neither paused nor deleted'
  throw new DomainError('conflict', { id }, { message })
}

export const absent = (id: string) => new DomainError('datasourceNotFound', { id: normalizeId(id) })
