import type { Static, Type } from 'typebox'
import { dateTime, freeObject, id, like, named, nullable, object, oneOf, text } from './formats.ts'

/** Recorded actions by category. */
export const auditActions = {
  'sign-in': 'authentication',
  'sign-out': 'authentication',
  'password-change': 'authentication',
  'password-reset-request': 'authentication',
  'password-reset': 'authentication',
  'authenticator-enable': 'authentication',
  'authenticator-disable': 'authentication',
  'recovery-code-use': 'authentication',

  'sso-sign-in': 'sso',
  'sso-user-create': 'sso',
  'sso-required': 'sso',
  'sso-unlink': 'sso',
  'sso-config-update': 'sso',
  'sso-config-delete': 'sso',
  'sso-domain-add': 'sso',
  'sso-domain-verify': 'sso',
  'sso-domain-remove': 'sso',
  'sso-certificate-rotate': 'sso',
  'sso-certificate-retire': 'sso',

  'scim-request': 'provisioning',
  'scim-config-update': 'provisioning',
  'scim-token-create': 'provisioning',
  'scim-token-revoke': 'provisioning',
  'scim-unmatched-value': 'provisioning',

  'user-invite': 'users',
  'user-create': 'users',
  'user-update': 'users',
  'user-deactivate': 'users',
  'user-reactivate': 'users',
  'user-delete': 'users',
  'invitation-renew': 'users',
  'invitation-accept': 'users',
  'invitation-delete': 'users',
  'role-create': 'users',
  'role-update': 'users',
  'role-delete': 'users',
  'team-create': 'users',
  'team-update': 'users',
  'team-delete': 'users',
  'linked-account-create': 'users',
  'linked-account-delete': 'users',
  'company-update': 'users',

  'application-consent': 'applications',
  'application-authorize': 'applications',
  'application-revoke': 'applications',
  'token-revoke': 'applications',

  'cohort-create': 'statistics',
  'cohort-update': 'statistics',
  'cohort-delete': 'statistics',

  'experiment-create': 'statistics',
  'experiment-update': 'statistics',
  'experiment-schedule': 'statistics',
  'experiment-start': 'statistics',
  'experiment-read': 'statistics',
  'experiment-end': 'statistics',
  'experiment-decide': 'statistics',
  'experiment-archive': 'statistics',

  'statistics-settings-update': 'statistics',
  'event-alias-set': 'statistics',
  'event-alias-delete': 'statistics',
  'schedule-pause': 'statistics',
  'report-create': 'statistics',
  'report-archive': 'statistics',
  'report-settings-update': 'statistics',
  'tag-key-create': 'statistics',
  'tag-key-update': 'statistics',
  'tag-key-delete': 'statistics',
  'tag-value-create': 'statistics',
  'tag-value-update': 'statistics',
  'tag-value-delete': 'statistics',

  'workflow-create': 'workflows',
  'workflow-update': 'workflows',
  'workflow-archive': 'workflows',
  'workflow-restore': 'workflows',
  'workflow-duplicate': 'workflows',
  'workflow-delete': 'workflows',
  'workflow-version-save': 'workflows',
  'workflow-version-publish': 'workflows',
  'workflow-version-restore': 'workflows',
  'integration-create': 'workflows',
  'integration-update': 'workflows',
  'integration-delete': 'workflows',
  'variable-profile-create': 'workflows',
  'variable-profile-update': 'workflows',
  'variable-profile-delete': 'workflows',
  'branch-category-create': 'workflows',
  'branch-category-update': 'workflows',
  'branch-category-delete': 'workflows',
  'json-template-create': 'workflows',
  'json-template-update': 'workflows',
  'json-template-delete': 'workflows',

  'datasource-create': 'datasources',
  'datasource-update': 'datasources',
  'datasource-content': 'datasources',
  'datasource-publish': 'datasources',
  'datasource-pause': 'datasources',
  'datasource-resume': 'datasources',
  'datasource-delete': 'datasources',
} as const

export type AuditAction = keyof typeof auditActions
export type AuditCategory = (typeof auditActions)[AuditAction]

export const auditCategories = [
  'authentication',
  'sso',
  'provisioning',
  'users',
  'applications',
  'statistics',
  'workflows',
  'datasources',
] as const
export const auditActorKinds = [
  'user',
  'sso-jit',
  'identity-provider',
  'operator',
  'platform',
  'anonymous',
] as const
export type AuditActorKind = (typeof auditActorKinds)[number]

const party = (kind: ReturnType<typeof oneOf> | ReturnType<typeof Type.String>, what: string) =>
  object({
    kind,
    id: nullable(text(`Identifier of ${what}`)),
    name: nullable(text(`How ${what} was called then`)),
  })

/** One entry of the audit log. */
export const AuditEntry = named('AuditEntry', {
  id: id('Identifier of the entry'),
  at: dateTime('When it happened'),
  category: oneOf(auditCategories),
  action: oneOf(Object.keys(auditActions) as AuditAction[]),
  actor: party(oneOf(auditActorKinds), 'who did it'),
  target: nullable(party(like('user'), 'what it was done to')),
  outcome: oneOf(['success', 'failure']),
  error: nullable(text('Name of the failure in the error table')),
  details: freeObject('What changed, or why it failed; never a secret'),
  address: nullable(text('Network address that the request came from')),
})
export type AuditEntry = Static<typeof AuditEntry>
