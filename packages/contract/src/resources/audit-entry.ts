import type { Static, Type } from 'typebox'
import { dateTime, freeObject, id, like, named, nullable, object, oneOf, text } from './formats.ts'

/** What is recorded, by category: what it is done to, and the actions. */
const recorded = {
  authentication: {
    sign: ['in', 'out'],
    password: ['change', 'reset-request', 'reset'],
    authenticator: ['enable', 'disable'],
    'recovery-code': ['use'],
  },
  sso: {
    'sso-sign': ['in'],
    'sso-user': ['create'],
    sso: ['required', 'unlink'],
    'sso-config': ['update', 'delete'],
    'sso-domain': ['add', 'verify', 'remove'],
    'sso-certificate': ['rotate', 'retire'],
  },
  provisioning: {
    scim: ['request'],
    'scim-config': ['update'],
    'scim-token': ['create', 'revoke'],
    'scim-unmatched': ['value'],
  },
  users: {
    user: ['invite', 'create', 'update', 'deactivate', 'reactivate', 'delete'],
    invitation: ['renew', 'accept', 'delete'],
    role: ['create', 'update', 'delete'],
    team: ['create', 'update', 'delete'],
    'linked-account': ['create', 'delete'],
    company: ['update', 'close', 'open'],
  },
  applications: {
    application: ['consent', 'authorize', 'revoke'],
    token: ['revoke'],
  },
  statistics: {
    cohort: ['create', 'update', 'delete'],
    dashboard: ['create', 'update', 'delete', 'duplicate'],
    experiment: ['create', 'update', 'schedule', 'start', 'read', 'end', 'decide', 'archive'],
    'statistics-settings': ['update'],
    'statistics-export': ['create', 'download', 'delete'],
    'event-alias': ['set', 'delete'],
    schedule: ['pause'],
    report: ['create', 'archive'],
    'report-settings': ['update'],
    'tag-key': ['create', 'update', 'delete'],
    'tag-value': ['create', 'update', 'delete'],
  },
  workflows: {
    workflow: ['create', 'update', 'archive', 'restore', 'duplicate', 'delete'],
    'workflow-version': ['save', 'publish', 'restore'],
    integration: ['create', 'update', 'delete'],
    'variable-profile': ['create', 'update', 'delete'],
    'branch-category': ['create', 'update', 'delete'],
    'json-template': ['create', 'update', 'delete'],
  },
  persons: {
    person: ['search', 'export', 'erase'],
  },
  datasources: {
    datasource: ['create', 'update', 'content', 'publish', 'pause', 'resume', 'delete', 'restore', 'expire'],
  },
} as const

type Recorded = typeof recorded
export type AuditCategory = keyof Recorded
type ActionsOf<Nouns> = {
  [N in keyof Nouns & string]: Nouns[N] extends readonly string[] ? `${N}-${Nouns[N][number]}` : never
}[keyof Nouns & string]
/** A noun and what happens to it: `team-create`. */
export type AuditAction = { [C in AuditCategory]: ActionsOf<Recorded[C]> }[AuditCategory]

/** Recorded actions, each with its category. */
export const auditActions = Object.fromEntries(
  Object.entries(recorded).flatMap(([category, nouns]) =>
    Object.entries(nouns).flatMap(([noun, verbs]) =>
      verbs.map((verb: string) => [`${noun}-${verb}`, category]),
    ),
  ),
) as Readonly<Record<AuditAction, AuditCategory>>

export const auditCategories = Object.keys(recorded) as AuditCategory[]
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
