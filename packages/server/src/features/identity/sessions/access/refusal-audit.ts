import type { ErrorName } from '@millrace/contract/errors.ts'
import type { OperationAudit } from '@millrace/contract/operation.ts'
import { type AuditEvent, actorOf } from '../../../../platform/audit.ts'
import { DomainError } from '../../../../platform/errors.ts'
import { isId, normalizeId } from '../../../../platform/ids.ts'
import { createFixedWindow } from '../../../../platform/limits/window.ts'
import type { IdentityContext } from '../identity-context.ts'
import type { Caller } from '../principal.ts'

/** What was asked of an operation. */
export interface Asked {
  readonly caller: Caller
  readonly params: unknown
  readonly body: unknown
}

/** Failures of an audited operation that decide nothing about it. Every other one is recorded. */
export const undecided: ReadonlySet<ErrorName> = new Set<ErrorName>([
  // What was asked was not understood.
  'validation',
  'malformed',
  'unknownMember',
  'invalidQuery',
  'questionUnreadable',
  'tooComplex',
  'payloadTooLarge',
  'unsupportedMediaType',
  // The caller is of no known company.
  'unauthenticated',
  // It could not be decided.
  'internal',
  'unavailable',
  'signInUnavailable',
  // The object does not exist; one that belongs to others gives another error.
  'singleSignOnNotFound',
  // The linked service has refused.
  'linkedAccountTest',
])

/** Entries that one user can cause within a minute by the same refusal. */
const maxAlike = 60
const minuteMs = 60_000
/** Of a list in the details. */
const maxListed = 20
const maxTextLength = 200
const unstorable = /[\p{Cc}\p{Cs}]/gu

const fieldOf = (from: unknown, name: string): unknown =>
  from !== null && typeof from === 'object' ? (from as Record<string, unknown>)[name] : undefined

const textOf = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined)

function targetOf(audit: OperationAudit, { caller, params, body }: Asked): AuditEvent['target'] {
  const { target: kind, of, param = 'id', named } = audit
  if (kind === undefined) return undefined
  const { principal } = caller
  if (of === 'caller') return { kind, id: principal.userId, name: principal.email }
  if (of === 'company') return { kind, id: principal.companyId }
  const id = textOf(fieldOf(params, param)) ?? ''
  const name =
    named === undefined ? undefined : (textOf(fieldOf(params, named)) ?? textOf(fieldOf(body, named)))
  return { kind, id: isId(id) ? normalizeId(id) : undefined, name }
}

/** The part of the reason that the caller sees, and so no secret; without what the target says already. */
function detailsOf({ data }: DomainError, target: AuditEvent['target']): Record<string, unknown> {
  const given = Object.entries(data).filter(([, value]) => value !== target?.id && value !== target?.name)
  return Object.fromEntries(given.map(([name, value]) => [name, toDetail(value)]))
}

/** A text may be what the caller sent, of any length and with characters that the store takes in no text. */
function toDetail(value: unknown): unknown {
  if (Array.isArray(value)) return value.slice(0, maxListed).map(toDetail)
  return typeof value === 'string' ? value.slice(0, maxTextLength).replaceAll(unstorable, '\ufffd') : value
}

/** Records that an operation was refused, if it was; by itself, because the transaction of the work is rolled back. */
export type RecordRefusal = (audit: OperationAudit, asked: Asked, error: unknown) => Promise<void>

export function createRefusalAudit(
  dependencies: Pick<IdentityContext, 'relational' | 'recordAudit' | 'clock'>,
): RecordRefusal {
  const { relational, recordAudit, clock } = dependencies
  const entries = createFixedWindow(clock, minuteMs)
  return async (audit, asked, error) => {
    if (!(error instanceof DomainError) || undecided.has(error.errorName)) return
    const { principal, address } = asked.caller
    const { action } = audit
    if (entries.take(`${principal.userId} ${action} ${error.errorName}`, maxAlike) > 0) return
    const target = targetOf(audit, asked)
    await recordAudit(relational.db, {
      companyId: principal.companyId,
      action,
      actor: actorOf(principal),
      ...(target && { target }),
      error: error.errorName,
      details: detailsOf(error, target),
      address,
    })
  }
}
