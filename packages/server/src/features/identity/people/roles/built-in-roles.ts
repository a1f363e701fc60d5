import {
  type Action,
  type PermissionName,
  permissionTable,
  type Resource,
} from '@millrace/contract/permissions.ts'

interface RoleDefinition {
  readonly name: string
  readonly permissions: readonly PermissionName[]
}

type Allowed = (resource: Resource, action: Action) => boolean

function everyPermission(allowed: Allowed): readonly PermissionName[] {
  const resources = Object.keys(permissionTable) as Resource[]
  return resources.flatMap((resource) =>
    permissionTable[resource].actions
      .filter((action) => allowed(resource, action))
      .map((action) => `${resource}:${action}` as PermissionName),
  )
}

/** Editors change these; the rest of the company they only see. */
const edited: ReadonlySet<Resource> = new Set(['datasource', 'workflow', 'content', 'workflowSettings'])

/** Viewers do not read what concerns other users' accounts. */
const viewed: ReadonlySet<Resource> = new Set([...edited, 'statistics', 'team', 'company'])

const looksOnly: ReadonlySet<Action> = new Set(['access', 'read', 'query'])

/** The roles that every company has from its first day and that cannot be edited (docs/interface.md, Run contract). */
export const builtInRoles: readonly RoleDefinition[] = [
  { name: 'admin', permissions: everyPermission(() => true) },
  {
    name: 'editor',
    permissions: everyPermission(
      (resource, action) =>
        edited.has(resource) || action === 'export' || (viewed.has(resource) && looksOnly.has(action)),
    ),
  },
  {
    name: 'viewer',
    permissions: everyPermission((resource, action) => viewed.has(resource) && looksOnly.has(action)),
  },
]
