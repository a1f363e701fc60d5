import { auditActions } from '@millrace/contract/resources/audit-entry.ts'
import { auditEntries } from '../../database/tables/audit-entry.ts'
import type { RecordAudit } from '../../platform/audit.ts'
import { newId } from '../../platform/ids.ts'

/** Adds one entry; the time is the database's. */
export const recordAudit: RecordAudit = async (queries, event) => {
  const { companyId, action, actor, target, error, details = {}, address } = event
  await queries.insert(auditEntries).values({
    id: newId(),
    companyId,
    category: auditActions[action],
    action,
    actorKind: actor.kind,
    actorId: actor.id,
    actorName: actor.name,
    targetKind: target?.kind,
    targetId: target?.id,
    targetName: target?.name,
    outcome: error === undefined ? 'success' : 'failure',
    error,
    details: { ...details },
    address,
  })
}
