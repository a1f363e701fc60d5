import type { AuditEntry } from '@millrace/contract/resources/audit-entry.ts'
import { DomainError } from '../../platform/errors.ts'
import { isId, normalizeId } from '../../platform/ids.ts'
import type { Listed, Page } from '../../platform/paging.ts'
import { csvText } from '../../platform/text/csv.ts'
import type { Principal } from '../identity/sessions/principal.ts'
import type { AuditCursor, AuditFilter, AuditStore } from './audit-store.ts'

export interface AuditServiceDependencies {
  readonly store: Pick<AuditStore, 'list' | 'listAfter'>
}

const maxExportRows = 50_000
const exportPageSize = 1_000

const columns: Readonly<Record<string, (entry: AuditEntry) => string | null>> = {
  id: ({ id }) => id,
  at: ({ at }) => at,
  category: ({ category }) => category,
  action: ({ action }) => action,
  outcome: ({ outcome }) => outcome,
  error: ({ error }) => error,
  actorKind: ({ actor }) => actor.kind,
  actorId: ({ actor }) => actor.id,
  actorName: ({ actor }) => actor.name,
  targetKind: ({ target }) => target?.kind ?? null,
  targetId: ({ target }) => target?.id ?? null,
  targetName: ({ target }) => target?.name ?? null,
  address: ({ address }) => address,
  details: ({ details }) => JSON.stringify(details),
}

const cell = (value: string | null): string => (value === null ? '' : csvText(value))

const lineOf = (entry: AuditEntry): string =>
  `${Object.values(columns)
    .map((read) => cell(read(entry)))
    .join(',')}\r\n`

const normalized = (id: string | undefined): string | undefined =>
  id !== undefined && isId(id) ? normalizeId(id) : id

/** Users who may change users, roles or teams may read the audit log. */
function requireAccess(principal: Principal): void {
  if (principal.can('user', 'update') || principal.can('role', 'update') || principal.can('team', 'update'))
    return
  throw new DomainError(
    'forbidden',
    {},
    {
      message:
        'Your role does not allow this: the audit log needs User: update, Role: update or Team: update',
    },
  )
}

export type AuditService = ReturnType<typeof createAuditService>

/** The audit log of the caller's company. */
export function createAuditService({ store }: AuditServiceDependencies) {
  const filterOf = (filter: AuditFilter): AuditFilter => ({
    ...filter,
    actorId: normalized(filter.actorId),
    targetId: normalized(filter.targetId),
  })

  return {
    /** @throws DomainError `forbidden` */
    async list(principal: Principal, wanted: AuditFilter, page: Page): Promise<Listed<AuditEntry>> {
      requireAccess(principal)
      return store.list(principal.companyId, filterOf(wanted), page)
    },

    /**
     * The entries as CSV, piece by piece; formulas are defused.
     * @throws DomainError `forbidden`, before the first piece
     */
    async *export(principal: Principal, wanted: AuditFilter): AsyncGenerator<string> {
      requireAccess(principal)
      const filter = filterOf(wanted)
      let cursor: AuditCursor | undefined
      let left = maxExportRows
      yield `${Object.keys(columns).join(',')}\r\n`
      while (left > 0) {
        const max = Math.min(left, exportPageSize)
        const { entries, last } = await store.listAfter(principal.companyId, filter, cursor, max)
        if (entries.length > 0) yield entries.map(lineOf).join('')
        if (entries.length < max) return
        left -= entries.length
        cursor = last
      }
    },
  }
}
