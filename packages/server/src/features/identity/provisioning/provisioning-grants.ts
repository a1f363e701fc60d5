import type { Queries } from '../../../platform/stores/relational.ts'
import type { Principal } from '../sessions/principal.ts'

/** The rules of accounts about who may give what. */
export interface ProvisioningGrants {
  /** @throws DomainError `unknownRole`, or `roleAboveOwn` for roles that allow more than the caller's own */
  readonly requireGrantableRoles: (
    queries: Queries,
    principal: Principal,
    roleIds: readonly string[],
  ) => Promise<void>
  /** @throws DomainError `roleAboveOwn` when people of the company may do more than the caller */
  readonly requireNobodyAbove: (queries: Queries, principal: Principal) => Promise<void>
}
