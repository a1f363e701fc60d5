import { Type } from 'typebox'
import type { Operation } from '../operation.ts'
import { answers, example, operationsOf } from '../operation-builders.ts'
import { ClosedCompany, Company, CompanyUpdate } from '../resources/company.ts'
import { object } from '../resources/formats.ts'
import { RetentionPreview, retentionDays } from '../resources/retention-preview.ts'

const operation = operationsOf('Accounts')

const url = '/v2/entities/company'

export const readCompany = {
  ...operation('readCompany', 'GET', url, 'company:read'),
  summary: 'Read your company',
  ...answers('The company with its settings', Company),
} as const satisfies Operation

export const previewCompanyRetention = {
  ...operation('previewCompanyRetention', 'GET', `${url}/retention`, 'company:read'),
  summary: 'See what a retention would remove',
  description:
    'Counts the events that would be removed if `eventRetentionDays` of the company were `days`: those of all datasources without a retention of their own. It changes nothing.',
  errors: ['tooManyRequests'],
  ...answers('What would be removed', RetentionPreview, {
    querystring: object({ days: retentionDays }),
  }),
} as const satisfies Operation

export const updateCompany = {
  ...operation('updateCompany', 'PATCH', url, 'company:update'),
  access:
    'Company: update, every permission of a new `defaultRoleId`, and a new `defaultTeamId` that you use yourself (any team with Team: update)',
  summary: 'Change the settings of your company',
  description:
    'A partial update: a field that is absent stays as it is. Statistics follow at once. With `eventRetentionDays` older events are removed for good, a day after it was set at the earliest. Another default team takes new users from now on; members of the former one stay there.',
  audit: { action: 'company-update', target: 'company', of: 'company' },
  errors: ['unknownRole', 'roleAboveOwn', 'unknownTeam', 'notInTeam', 'provisionedTeam'],
  examples: {
    zone: example('In Paris', { timezone: 'Europe/Paris', language: 'fr' }),
    retention: example('Events are kept for two years', { eventRetentionDays: 730 }),
    newUsers: example('Role and team of new users', {
      defaultRoleId: '65f0c0ffee5ca1ab1e0ddba1',
      defaultTeamId: '65f0c0ffee5ca1ab1e0ddba2',
    }),
  },
  ...answers('The company as it is now', Company, { body: CompanyUpdate }),
} as const satisfies Operation

export const closeCompany = {
  ...operation('closeCompany', 'POST', `${url}/close`, 'company:update'),
  access: 'Company: update, User: delete and Datasource: delete, with a one-time code',
  summary: 'Close your company',
  description:
    'No user signs in any more, tokens end, events are refused and nothing is shown or sent. For 7 days an operator of the service can open it again, as it was; then all that it has is removed for good. Its administrators are mailed.',
  audit: { action: 'company-close', target: 'company', of: 'company' },
  errors: [
    'companyNotConfirmed',
    'authenticatorNotOffered',
    'wrongCode',
    'tooManyAttempts',
    'signInUnavailable',
  ],
  examples: { close: example('Close Acme', { confirm: 'Acme', code: '492039' }) },
  ...answers('The company is closed', ClosedCompany, {
    body: object({
      confirm: Type.String({ maxLength: 200, description: 'The name of the company' }),
      code: Type.String({
        minLength: 1,
        maxLength: 40,
        writeOnly: true,
        description: 'Six digits of your authenticator, or a recovery code',
      }),
    }),
  }),
} as const satisfies Operation
