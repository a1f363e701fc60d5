import { Type } from 'typebox'
import type { Operation } from '../operation.ts'
import { answers, operationsOf, succeeds } from '../operation-builders.ts'
import { Application } from '../resources/application.ts'
import { idParams } from '../resources/formats.ts'

const operation = operationsOf('Accounts')

const url = '/v2/entities/users/me/applications'

export const listApplications = {
  ...operation('listApplications', 'GET', url),
  access: 'Your own account',
  summary: 'List the applications that act for you',
  description:
    'Every application that has your consent or a session with you, by name. An application of the operator’s own need not ask you, and has sessions alone.',
  ...answers('All of them', Type.Array(Application)),
} as const satisfies Operation

export const deleteApplication = {
  ...operation('deleteApplication', 'DELETE', `${url}/:id`),
  access: 'Your own account',
  summary: 'Withdraw an application’s access',
  description:
    'Withdraws your consent and ends every session of the application with you: its refresh and access tokens, and codes not yet exchanged, are revoked in every process of the service. An application that has to ask you asks again at the next sign-in. With the application that makes this call, the token of the call ends too.',
  audit: { action: 'application-revoke', target: 'client' },
  errors: ['applicationNotFound'],
  ...succeeds('Its access has ended', { params: idParams('Its `client_id`') }),
} as const satisfies Operation
