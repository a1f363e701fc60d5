import { successEnvelope } from '../envelope.ts'
import type { Operation } from '../operation.ts'
import { Company, CompanyUpdate } from '../resources/company.ts'

const url = '/v2/entities/company'

export const readCompany = {
  id: 'readCompany',
  extension: true,
  method: 'GET',
  url,
  scope: 'authenticated',
  permission: { resource: 'company', action: 'read' },
  tag: 'Accounts',
  summary: 'Read your company',
  errors: [],
  replies: { 200: { description: 'The company with its settings' } },
  schema: { response: { 200: successEnvelope(Company) } },
} as const satisfies Operation

export const updateCompany = {
  id: 'updateCompany',
  extension: true,
  method: 'PATCH',
  url,
  scope: 'authenticated',
  permission: { resource: 'company', action: 'update' },
  access:
    'Company: update, every permission of a new `defaultRoleId`, and a new `defaultTeamId` that you use yourself (any team with Team: update)',
  tag: 'Accounts',
  summary: 'Change the settings of your company',
  description:
    'A partial update: a field that is absent stays as it is. Statistics follow at once. Another default team takes new users from now on; members of the former one stay there.',
  audit: { action: 'company-update', target: 'company', of: 'company' },
  errors: ['unknownRole', 'roleAboveOwn', 'unknownTeam', 'notInTeam', 'provisionedTeam'],
  examples: {
    zone: { summary: 'In Paris', value: { timezone: 'Europe/Paris', language: 'fr' } },
    newUsers: {
      summary: 'Role and team of new users',
      value: { defaultRoleId: '65f0c0ffee5ca1ab1e0ddba1', defaultTeamId: '65f0c0ffee5ca1ab1e0ddba2' },
    },
  },
  replies: { 200: { description: 'The company as it is now' } },
  schema: { body: CompanyUpdate, response: { 200: successEnvelope(Company) } },
} as const satisfies Operation
