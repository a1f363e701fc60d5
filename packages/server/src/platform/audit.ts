import type { ErrorName } from '@millrace/contract/errors.ts'
import type { AuditAction, AuditActorKind } from '@millrace/contract/resources/audit-entry.ts'
import type { Queries } from './stores/relational.ts'

export interface AuditActor {
  readonly kind: AuditActorKind
  readonly id?: string | undefined
  /** How the actor is called now; entries outlive names. */
  readonly name?: string | undefined
}

/** Something that happened, without its time; no field ever holds a secret. */
export interface AuditEvent {
  /** Undefined for what belongs to no company, such as a sign-in under an unknown address. */
  readonly companyId: string | undefined
  readonly action: AuditAction
  readonly actor: AuditActor
  readonly target?: {
    readonly kind: string
    readonly id?: string | undefined
    readonly name?: string | undefined
  }
  /** The failure, for what was refused; a success otherwise. */
  readonly error?: ErrorName
  readonly details?: Readonly<Record<string, unknown>>
  /** Network address of the caller. */
  readonly address?: string | undefined
}

/**
 * Adds an entry to the audit log: inside the transaction of the change that it records, so that both are committed or
 * neither, or by itself for a refusal. Very many events get one entry each, in few statements.
 */
export type RecordAudit = (queries: Queries, events: AuditEvent | readonly AuditEvent[]) => Promise<void>

interface Actor {
  readonly userId: string
  readonly email: string
}

/** Who changes something, and from which network address. */
export interface AuditCaller {
  readonly principal: Actor & { readonly companyId: string }
  readonly address: string
}

export function actorOf({ userId, email }: Actor): AuditActor {
  return { kind: 'user', id: userId, name: email }
}

/** The entry of the audit log for an action of a signed-in user in their company. */
export function auditEventOf(
  caller: AuditCaller,
  action: AuditAction,
  target?: AuditEvent['target'],
  details?: AuditEvent['details'],
): AuditEvent {
  const { principal, address } = caller
  return {
    companyId: principal.companyId,
    action,
    actor: actorOf(principal),
    address,
    ...(target && { target }),
    ...(details && { details }),
  }
}
