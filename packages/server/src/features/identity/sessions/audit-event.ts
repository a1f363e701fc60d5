import { type AuditEvent, actorOf } from '../../../platform/audit.ts'
import type { Caller } from './principal.ts'

/** The entry of the audit log for an action of a signed-in user in their company. */
export const auditEventOf = (
  { principal, address }: Caller,
  action: AuditEvent['action'],
  target?: AuditEvent['target'],
): AuditEvent => ({
  companyId: principal.companyId,
  action,
  actor: actorOf(principal),
  address,
  ...(target && { target }),
})
