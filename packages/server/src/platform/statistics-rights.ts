import { DomainError } from './errors.ts'

/** What stands for the names, addresses and parameters of workflows that none of a user's teams sees. */
export const otherTeams = 'other teams'

/** The user who asks, and what they may do. */
interface Asking {
  readonly userId: string
  can(resource: 'statistics', action: 'export' | 'manage'): boolean
}

/**
 * What leaves the product as CSV or NDJSON leaves its bounds too, which a role can withhold (docs/interface.md,
 * Who may call).
 * @throws {DomainError} `forbidden`
 */
export function assertMayExport(principal: Pick<Asking, 'can'>): void {
  if (principal.can('statistics', 'export')) return
  throw new DomainError(
    'forbidden',
    { resource: 'statistics', action: 'export' },
    { message: 'Your role does not allow exports: CSV and NDJSON need the permission Statistics: export' },
  )
}

/**
 * What a user has saved in the statistics, that user changes, archives and deletes; others need a permission for it.
 * @param owners null for one who is gone
 * @throws {DomainError} `forbidden`
 */
export function assertMayChange(principal: Asking, owners: readonly (string | null)[]): void {
  if (owners.includes(principal.userId) || principal.can('statistics', 'manage')) return
  throw new DomainError(
    'forbidden',
    { resource: 'statistics', action: 'manage' },
    { message: 'This is not yours: to change it you need the permission Statistics: manage' },
  )
}
