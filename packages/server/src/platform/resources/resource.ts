import type { ErrorData, ErrorName } from '@millrace/contract/errors.ts'
import type { AuditAction } from '@millrace/contract/resources/audit-entry.ts'
import { type AuditCaller, type AuditEvent, auditEventOf, type RecordAudit } from '../audit.ts'
import { DomainError } from '../errors.ts'
import { normalizeId } from '../ids.ts'
import type { ServiceContext } from '../service-context.ts'
import { mapConstraintViolation, type Queries } from '../stores/relational.ts'

/** What every service needs that changes what companies own. */
export type ResourceContext = Pick<ServiceContext, 'relational' | 'recordAudit' | 'lockCompany'>

/** Errors whose data have these fields and no others that must be given. */
type ErrorWith<D> = { [N in ErrorName]: D extends ErrorData<N> ? N : never }[ErrorName]
type Failure = { [N in ErrorName]: readonly [N, ErrorData<N>] }[ErrorName]

/** @throws {DomainError} the error named, where a look-up in the caller's company found nothing */
export function found<T>(row: T | undefined, error: ErrorWith<{ id: string }>, id: string): T {
  if (row === undefined) throw new DomainError(error, { id: normalizeId(id) } as never)
  return row
}

/** @throws {DomainError} the error named, where there are as many as there may be */
export function requireRoom(error: ErrorWith<{ limit: number }>, limit: number, count: number): void {
  if (count >= limit) throw new DomainError(error, { limit } as never)
}

/**
 * Runs work whose rules the database keeps: a name that is taken, a team that was deleted meanwhile.
 * @param failures the error for each constraint that may be violated
 */
export const refusing = <T>(
  failures: Readonly<Record<string, Failure>>,
  work: () => Promise<T>,
): Promise<T> =>
  mapConstraintViolation(work, (constraint, cause) => {
    const failure = failures[constraint]
    return failure && new DomainError<ErrorName>(failure[0], failure[1], { cause })
  })

/** The entries of the audit log for one kind of object, each inside the transaction of the change that it records. */
export const recorderOf =
  (kind: string, recordAudit: RecordAudit) =>
  (
    tx: Queries,
    caller: AuditCaller,
    action: AuditAction,
    { id, name }: { readonly id?: string; readonly name: string },
    details?: AuditEvent['details'],
  ): Promise<void> =>
    recordAudit(tx, auditEventOf(caller, action, { kind, id, name }, details))

type Text<V> = V extends Date ? string : V
type WithTexts<T> = { [K in keyof T]: Text<T[K]> }

/** As bodies have it: instants are ISO 8601 texts. */
export function withIsoDates<T extends object>(row: T): WithTexts<T> {
  const fields = Object.entries(row).map(([name, value]) => [
    name,
    value instanceof Date ? value.toISOString() : value,
  ])
  return Object.fromEntries(fields) as WithTexts<T>
}

type Present<T> = { [K in keyof T]?: Exclude<T[K], null> }

/** As bodies have it that leave a field out which is not set. */
export const withoutNulls = <T extends object>(row: T): Present<T> =>
  Object.fromEntries(Object.entries(row).filter(([, value]) => value !== null)) as Present<T>
