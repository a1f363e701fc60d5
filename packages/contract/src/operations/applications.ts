import { Type } from 'typebox'
import { EmptyObject, successEnvelope } from '../envelope.ts'
import type { Operation } from '../operation.ts'
import { Application } from '../resources/application.ts'
import { idParams } from '../resources/formats.ts'

const url = '/v2/entities/users/me/applications'

const common = {
  extension: true,
  scope: 'authenticated',
  access: 'Your own account',
  tag: 'Accounts',
} as const

export const listApplications = {
  ...common,
  id: 'listApplications',
  method: 'GET',
  url,
  summary: 'List the applications that act for you',
  description:
    'Every application that has your consent or a session with you, by name. An application of the operator’s own need not ask you, and has sessions alone.',
  errors: [],
  replies: { 200: { description: 'All of them' } },
  schema: { response: { 200: successEnvelope(Type.Array(Application)) } },
} as const satisfies Operation

export const deleteApplication = {
  ...common,
  id: 'deleteApplication',
  method: 'DELETE',
  url: `${url}/:id`,
  summary: 'Withdraw an application’s access',
  description:
    'Withdraws your consent and ends every session of the application with you: its refresh and access tokens, and codes not yet exchanged, are revoked in every process of the service. An application that has to ask you asks again at the next sign-in. With the application that makes this call, the token of the call ends too.',
  audit: { action: 'application-revoke', target: 'client' },
  errors: ['applicationNotFound'],
  replies: { 200: { description: 'Its access has ended' } },
  schema: {
    params: idParams('Its `client_id`'),
    response: { 200: successEnvelope(EmptyObject) },
  },
} as const satisfies Operation
