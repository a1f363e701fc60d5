/**
 * What a role can allow: each resource with its actions. A role holds (resource, action) pairs; company
 * isolation always holds on top, and `team` marks resources that are also scoped by team
 * (docs/interface.md, Who may call).
 */
export const permissionTable = {
  datasource: {
    label: 'Datasource',
    team: true,
    actions: ['access', 'create', 'read', 'query', 'update', 'delete'],
  },
  workflow: { label: 'Workflow', team: true, actions: ['create', 'read', 'update', 'delete'] },
  content: { label: 'Content', team: true, actions: ['create', 'read', 'update', 'delete'] },
  workflowSettings: {
    label: 'Workflow settings',
    team: false,
    actions: ['create', 'read', 'update', 'delete'],
  },
  statistics: { label: 'Statistics', team: false, actions: ['access', 'export', 'manage'] },
  user: { label: 'User', team: false, actions: ['create', 'read', 'update', 'delete'] },
  role: { label: 'Role', team: false, actions: ['create', 'read', 'update', 'delete'] },
  team: { label: 'Team', team: false, actions: ['create', 'read', 'update', 'delete'] },
  company: { label: 'Company', team: false, actions: ['read', 'update'] },
  invitation: { label: 'Invitation', team: false, actions: ['create', 'read', 'delete'] },
} as const satisfies Record<string, { label: string; team: boolean; actions: readonly string[] }>

export type Resource = keyof typeof permissionTable

export type Action = (typeof permissionTable)[Resource]['actions'][number]

/** One pair of the table: only an action that its resource has. */
export type Permission = {
  [R in Resource]: { readonly resource: R; readonly action: (typeof permissionTable)[R]['actions'][number] }
}[Resource]

/** The permission as documents and messages show it: `Workflow settings: delete`. */
export function describePermission(permission: Permission): string {
  return `${permissionTable[permission.resource].label}: ${permission.action}`
}

/** `resource:action`, as roles and principals list permissions. */
export type PermissionName = {
  [R in Resource]: `${R}:${(typeof permissionTable)[R]['actions'][number]}`
}[Resource]

/** Every pair of the table as `resource:action`, in its order. */
export const permissionNames = Object.entries(permissionTable).flatMap(([resource, { actions }]) =>
  actions.map((action) => `${resource}:${action}`),
) as PermissionName[]
