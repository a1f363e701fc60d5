import type { AuditEvent, RecordAudit } from './audit.ts'
import { DomainError } from './errors.ts'
import type { Principal } from './principal.ts'
import type { Relational } from './stores/relational.ts'

/** Who asks for a change, and from which network address. */
export interface Caller {
  readonly principal: Principal
  readonly address: string
}

export interface RefusalAuditDependencies {
  readonly relational: Pick<Relational, 'db'>
  readonly recordAudit: RecordAudit
}

/** What was understood and not done: for lack of rights, against a rule, or too often. */
const refusals: ReadonlySet<number> = new Set([403, 409, 429])

export type AuditRefusal = ReturnType<typeof createRefusalAudit>

/**
 * Records refusals of what a function does: by themselves, because the transaction of the work is rolled back.
 * The success is recorded by the work itself.
 */
export function createRefusalAudit({ relational, recordAudit }: RefusalAuditDependencies) {
  return async <T>(event: Omit<AuditEvent, 'error'>, work: () => Promise<T>): Promise<T> => {
    try {
      return await work()
    } catch (error) {
      if (error instanceof DomainError && refusals.has(error.status))
        await recordAudit(relational.db, { ...event, error: error.errorName })
      throw error
    }
  }
}
