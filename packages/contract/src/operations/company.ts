import type { Operation } from '../operation.ts'
import { answers, example, operationsOf } from '../operation-builders.ts'
import { Company, CompanyUpdate } from '../resources/company.ts'

const operation = operationsOf('Accounts')

const url = '/v2/entities/company'

export const readCompany = {
  ...operation('readCompany', 'GET', url, 'company:read'),
  summary: 'Read your company',
  ...answers('The company with its settings', Company),
} as const satisfies Operation

export const updateCompany = {
  ...operation('updateCompany', 'PATCH', url, 'company:update'),
  access:
    'Company: update, every permission of a new `defaultRoleId`, and a new `defaultTeamId` that you use yourself (any team with Team: update)',
  summary: 'Change the settings of your company',
  description:
    'A partial update: a field that is absent stays as it is. Statistics follow at once. Another default team takes new users from now on; members of the former one stay there.',
  audit: { action: 'company-update', target: 'company', of: 'company' },
  errors: ['unknownRole', 'roleAboveOwn', 'unknownTeam', 'notInTeam', 'provisionedTeam'],
  examples: {
    zone: example('In Paris', { timezone: 'Europe/Paris', language: 'fr' }),
    newUsers: example('Role and team of new users', {
      defaultRoleId: '65f0c0ffee5ca1ab1e0ddba1',
      defaultTeamId: '65f0c0ffee5ca1ab1e0ddba2',
    }),
  },
  ...answers('The company as it is now', Company, { body: CompanyUpdate }),
} as const satisfies Operation
