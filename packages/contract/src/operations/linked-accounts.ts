import { Type } from 'typebox'
import { EmptyObject, successEnvelope } from '../envelope.ts'
import type { Operation } from '../operation.ts'
import { id, strict } from '../resources/formats.ts'
import { LinkedAccount, LinkedAccountCreation } from '../resources/linked-account.ts'

const example = {
  id: '65f0c0ffee5ca1ab1e0ddba1',
  userId: '65f0c0ffee5ca1ab1e0ddba2',
  provider: 'slack',
  name: 'Sales channel',
  host: 'hooks.slack.com',
  createdAt: '2026-01-31T12:00:00.000Z',
  updatedAt: '2026-01-31T12:00:00.000Z',
}

/** Operation 14. */
export const deleteLinkedAccount = {
  id: 'deleteLinkedAccount',
  number: 14,
  method: 'DELETE',
  url: '/v2/linked-accounts/:id',
  scope: 'authenticated',
  access: 'Your own linked account, or User: update',
  tag: 'Accounts',
  summary: 'Delete a linked account',
  description:
    'Takes the link to a place of another service away, with its credentials. One that you may not delete is answered like one that does not exist.',
  audit: { action: 'linked-account-delete', target: 'linked-account' },
  errors: ['linkedAccountNotFound'],
  replies: { 200: { description: 'It is deleted' } },
  schema: {
    params: Type.Object(
      {
        id: Type.String({
          description: 'Identifier of the linked account: up to 128 letters, digits, hyphens or underscores',
          examples: ['65f0c0ffee5ca1ab1e0ddba1'],
        }),
      },
      strict,
    ),
    response: { 200: successEnvelope(EmptyObject) },
  },
} as const satisfies Operation

export const listLinkedAccounts = {
  id: 'listLinkedAccounts',
  extension: true,
  method: 'GET',
  url: '/v2/linked-accounts',
  scope: 'authenticated',
  access: 'Your own, or those of a colleague with User: read',
  tag: 'Accounts',
  summary: 'List linked accounts',
  description: 'The linked accounts of one user, at most 20, the oldest first. Addresses are not shown.',
  errors: ['notFound'],
  replies: {
    200: { description: 'All of them', examples: { one: { summary: 'One', value: [example] } } },
  },
  schema: {
    querystring: Type.Object({ userId: Type.Optional(id('Whose; your own when absent')) }, strict),
    response: { 200: successEnvelope(Type.Array(LinkedAccount)) },
  },
} as const satisfies Operation

export const createLinkedAccount = {
  id: 'createLinkedAccount',
  extension: true,
  method: 'POST',
  url: '/v2/linked-accounts',
  scope: 'authenticated',
  access: 'Every user, for themselves',
  tag: 'Accounts',
  summary: 'Link an account',
  description: [
    'Sends a test message to the address; only when it is taken is the account linked. The address is kept encrypted and never shown again.',
    'A webhook gets JSON: `{"type": "test", "text": "...", "program": "millrace", "version": "...", "datetime": "..."}`. With a `secret` the header `Millrace-Signature: t=<seconds since 1970>,v1=<signature>` is sent: the signature is the HMAC-SHA256, in hexadecimal, of `t`, a full stop and the body as it was sent. Refuse messages whose `t` is more than five minutes away from your clock.',
    'Schedules of saved queries send `{"type": "saved-query-run", "text": "...", "savedQuery": {"id", "name"}, "run": {"id", "trigger", "plannedFor"}, "results": [{"index", "fileName", "rows", "bytes", "url", "csv"}], ...}`, without `csv` when all results have more than 1 MB together. `run.id` is the same in every attempt.',
    'Requests go to public addresses only, over https on the ports 443, 8443 and 80, and follow no redirect. A user has at most 20 linked accounts and 30 attempts an hour.',
  ].join('\n\n'),
  audit: { action: 'linked-account-create', target: 'linked-account', named: 'name' },
  errors: ['linkedAccountAddress', 'linkedAccountTest', 'tooManyLinkedAccounts', 'tooManyRequests'],
  examples: {
    slack: {
      summary: 'A channel in Slack',
      value: {
        provider: 'slack',
        name: 'Sales channel',
        url: 'https://hooks.slack.com/services/T00000000/B00000000/XXXXXXXXXXXXXXXXXXXXXXXX',
      },
    },
    webhook: {
      summary: 'A webhook whose messages are signed',
      value: {
        provider: 'webhook',
        name: 'Warehouse',
        url: 'https://warehouse.example/hooks/millrace',
        secret: 'Q0m6vS1x-9dTz-4hKw-rB27',
      },
    },
  },
  replies: {
    200: { description: 'The linked account', examples: { made: { summary: 'Linked', value: example } } },
  },
  schema: { body: LinkedAccountCreation, response: { 200: successEnvelope(LinkedAccount) } },
} as const satisfies Operation
