import { Type } from 'typebox'
import type { Operation } from '../operation.ts'
import { answers, example, operationsOf, succeeds } from '../operation-builders.ts'
import { id, object, text } from '../resources/formats.ts'
import { LinkedAccount, LinkedAccountCreation } from '../resources/linked-account.ts'

const operation = operationsOf('Accounts')

const sample = {
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
  ...operation('deleteLinkedAccount', 'DELETE', '/v2/linked-accounts/:id'),
  number: 14,
  access: 'Your own linked account, or User: update',
  summary: 'Delete a linked account',
  description:
    'Takes the link to a place of another service away, with its credentials. One that you may not delete is answered like one that does not exist.',
  audit: { action: 'linked-account-delete', target: 'linked-account' },
  errors: ['linkedAccountNotFound'],
  ...succeeds('It is deleted', {
    params: object({
      id: text(
        'Identifier of the linked account: up to 128 letters, digits, hyphens or underscores',
        '65f0c0ffee5ca1ab1e0ddba1',
      ),
    }),
  }),
} as const satisfies Operation

export const listLinkedAccounts = {
  ...operation('listLinkedAccounts', 'GET', '/v2/linked-accounts'),
  access: 'Your own, or those of a colleague with User: read',
  summary: 'List linked accounts',
  description: 'The linked accounts of one user, at most 20, the oldest first. Addresses are not shown.',
  errors: ['notFound'],
  ...answers(
    'All of them',
    Type.Array(LinkedAccount),
    { querystring: object({ userId: Type.Optional(id('Whose; your own when absent')) }) },
    { one: example('One', [sample]) },
  ),
} as const satisfies Operation

export const createLinkedAccount = {
  ...operation('createLinkedAccount', 'POST', '/v2/linked-accounts'),
  access: 'Every user, for themselves',
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
    slack: example('A channel in Slack', {
      provider: 'slack',
      name: 'Sales channel',
      url: 'https://hooks.slack.com/services/T00000000/B00000000/XXXXXXXXXXXXXXXXXXXXXXXX',
    }),
    webhook: example('A webhook whose messages are signed', {
      provider: 'webhook',
      name: 'Warehouse',
      url: 'https://warehouse.example/hooks/millrace',
      secret: 'Q0m6vS1x-9dTz-4hKw-rB27',
    }),
  },
  ...answers(
    'The linked account',
    LinkedAccount,
    { body: LinkedAccountCreation },
    {
      made: example('Linked', sample),
    },
  ),
} as const satisfies Operation
