import type { Action, Permission, Resource } from '@millrace/contract/permissions.ts'

/** Who makes an authenticated request, and what that user may do. */
export interface Principal {
  readonly userId: string
  /** The user's address, as the store has it. */
  readonly email: string
  readonly roleId: string
  readonly companyId: string
  /** The OAuth client that the token was given to. */
  readonly clientId: string
  /** The access token's id; never the token. */
  readonly tokenId: string
  /** Teams whose resources the user may use: their own and, by the hierarchy, others. */
  readonly teamIds: readonly string[]
  /** Each `resource:action` that the user's role holds. */
  readonly permissions: ReadonlySet<string>
  /** Whether the user's role allows the action; company and team of the object are checked besides. */
  can(resource: Resource, action: Action): boolean
}

/** Who asks for a change, and from which network address. */
export interface Caller {
  readonly principal: Principal
  readonly address: string
}

/** A principal from what the store knows of a token; each of `permissions` is `resource:action`. */
export function createPrincipal(
  known: Omit<Principal, 'can' | 'permissions'> & { readonly permissions: Iterable<string> },
): Principal {
  const { permissions, ...principal } = known
  const allowed: ReadonlySet<string> = new Set(permissions)
  return Object.freeze({
    ...principal,
    permissions: allowed,
    teamIds: Object.freeze([...principal.teamIds]),
    can: (resource: Resource, action: Action) => allowed.has(`${resource}:${action}`),
  })
}

/** Whether the principal has a permission that an operation names. */
export function holds(principal: Principal, permission: Permission): boolean {
  return principal.can(permission.resource, permission.action)
}

declare module 'fastify' {
  interface FastifyRequest {
    /** Set by the bearer guard before any handler of the authenticated scope. */
    principal: Principal
    /** The same with the address that the request came from, for what changes something. */
    caller: Caller
  }
}
