import { type Action, permissionTable, type Resource } from '@millrace/contract/permissions.ts'

/** One pair of the contract's permission table. */
export interface PermissionPair {
  readonly resource: Resource
  readonly action: Action
}

interface RoleDefinition {
  readonly name: string
  readonly permissions: readonly PermissionPair[]
}

type Allowed = (resource: Resource, action: Action) => boolean

function everyPairThat(allowed: Allowed): readonly PermissionPair[] {
  const resources = Object.keys(permissionTable) as Resource[]
  return resources.flatMap((resource) =>
    permissionTable[resource].actions
      .filter((action) => allowed(resource, action))
      .map((action) => ({ resource, action })),
  )
}

/** What an editor works on; the rest of the company is not an editor's. */
const edited: ReadonlySet<Resource> = new Set(['datasource', 'workflow', 'content', 'workflowSettings'])

/** Reading that concerns other people's accounts is no viewer's. */
const viewed: ReadonlySet<Resource> = new Set([...edited, 'statistics', 'team', 'company'])

const looksOnly: ReadonlySet<Action> = new Set(['access', 'read', 'query'])

/** The roles that every company has from its first day and that cannot be edited (docs/interface.md, Run contract). */
export const builtInRoles: readonly RoleDefinition[] = [
  { name: 'admin', permissions: everyPairThat(() => true) },
  {
    name: 'editor',
    permissions: everyPairThat(
      (resource, action) =>
        edited.has(resource) || resource === 'statistics' || (viewed.has(resource) && looksOnly.has(action)),
    ),
  },
  {
    name: 'viewer',
    permissions: everyPairThat((resource, action) => viewed.has(resource) && looksOnly.has(action)),
  },
]
