import { Type } from 'typebox'
import { paginatedEnvelope } from '../envelope.ts'
import type { Operation } from '../operation.ts'
import { example, operationsOf } from '../operation-builders.ts'
import { type AuditAction, AuditEntry, auditActions, auditCategories } from '../resources/audit-entry.ts'
import { object, oneOf, pagination, text } from '../resources/formats.ts'

const operation = operationsOf('Accounts')

const partyId = (description: string) =>
  Type.Optional(text(description, '65f0c0ffee5ca1ab1e0ddba1', { minLength: 1, maxLength: 128 }))

const instant = (description: string) => Type.Optional(Type.String({ format: 'date-time', description }))

export const listAuditEntries = {
  ...operation('listAuditEntries', 'GET', '/v2/entities/audit-log'),
  access: 'User: update, Role: update or Team: update; for CSV also Statistics: export',
  summary: 'Read the audit log',
  description: [
    'Who did what in your company, the newest first; entries of one instant by id, downwards. No user can change an entry, and entries go only when the retention of the company (90 days unless set, never below 30) has passed.',
    'New entries move those of later pages on; send the same `to` with every page to read pages that stay.',
    'With `format=csv` or `Accept: text/csv` the answer is a bare CSV file of all entries that match, up to 50,000; `page` and `perPage` do not count then.',
  ].join('\n\n'),
  errors: ['notAcceptable'],
  replies: {
    200: {
      description: 'One page of entries',
      examples: {
        role: example('A user was deactivated', [
          {
            id: '65f0c0ffee5ca1ab1e0ddba1',
            at: '2026-01-31T12:00:00.000Z',
            category: 'users',
            action: 'user-deactivate',
            actor: { kind: 'user', id: '65f0c0ffee5ca1ab1e0ddba2', name: 'ada@example.com' },
            target: { kind: 'user', id: '65f0c0ffee5ca1ab1e0ddba3', name: 'bob@example.com' },
            outcome: 'success',
            error: null,
            details: { sessions: 1, linkedAccounts: 0 },
            address: '192.0.2.1',
          },
        ]),
      },
      alternatives: {
        'text/csv': {
          description: 'All entries that match',
          example:
            'id,at,category,action,outcome,error,actorKind,actorId,actorName,targetKind,targetId,targetName,address,details\r\n65f0c0ffee5ca1ab1e0ddba1,2026-01-31T12:00:00.000Z,users,user-deactivate,success,,user,65f0c0ffee5ca1ab1e0ddba2,ada@example.com,user,65f0c0ffee5ca1ab1e0ddba3,bob@example.com,192.0.2.1,"{""sessions"":1}"\r\n',
        },
      },
    },
  },
  schema: {
    querystring: object({
      ...pagination,
      category: Type.Optional(oneOf(auditCategories, 'Only entries of this category')),
      action: Type.Optional(oneOf(Object.keys(auditActions) as AuditAction[], 'Only this action')),
      actorId: partyId('Only what this one did'),
      targetId: partyId('Only what was done to this one'),
      outcome: Type.Optional(oneOf(['success', 'failure'], 'Only with this outcome')),
      from: instant('Only entries at or after this instant'),
      to: instant('Only entries before this instant'),
      format: Type.Optional(oneOf(['csv'], 'A CSV file instead of a page')),
    }),
    response: { 200: paginatedEnvelope(AuditEntry) },
  },
} as const satisfies Operation
