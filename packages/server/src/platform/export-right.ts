import { DomainError } from './errors.ts'

const right = { resource: 'statistics', action: 'export' } as const

/**
 * What leaves the product as CSV or NDJSON leaves its bounds too, which a role can withhold (docs/interface.md,
 * Who may call).
 * @throws {DomainError} `forbidden`
 */
export function assertMayExport(principal: { can(resource: 'statistics', action: 'export'): boolean }): void {
  if (principal.can(right.resource, right.action)) return
  throw new DomainError('forbidden', right, {
    message: 'Your role does not allow exports: CSV and NDJSON need the permission Statistics: export',
  })
}
