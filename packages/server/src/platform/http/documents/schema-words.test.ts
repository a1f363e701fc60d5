import { CollectedEvent } from '@millrace/contract/resources/collected-event.ts'
import { Query } from '@millrace/contract/resources/query.ts'
import { SavedQueryUpdate } from '@millrace/contract/resources/saved-query.ts'
import { StatisticsMeta } from '@millrace/contract/resources/statistics-meta.ts'
import { TokenRequest } from '@millrace/contract/resources/token.ts'
import { expect, test } from 'vitest'
import { type DocumentedSchema, fieldRows, ignoredFields, typeWords, variantsOf } from './schema-words.ts'

const rowOf = (schema: unknown, path: string) =>
  fieldRows(schema as DocumentedSchema).find((row) => row.path === path)

test.each<[string, unknown, string]>([
  ['a text', { type: 'string' }, 'string'],
  ['an instant', { type: 'string', format: 'date-time' }, 'date-time'],
  ['an identifier', { type: 'string', pattern: '^[0-9a-fA-F]{24}$' }, 'id'],
  ['a word of few', { type: 'string', enum: ['asc', 'desc'] }, '"asc" | "desc"'],
  ['a list of them', { type: 'array', items: { enum: ['asc', 'desc'] } }, '("asc" | "desc")[]'],
  ['a word of many', { type: 'string', enum: ['a', 'b', 'c', 'd'] }, 'string'],
  ['one or null', { anyOf: [{ type: 'number' }, { type: 'null' }] }, 'number or null'],
  ['a map', { type: 'object', additionalProperties: { type: 'number' } }, 'map of number'],
  ['a free object', { type: 'object', additionalProperties: {} }, 'object'],
  ['a pair', { type: 'array', items: [{ type: 'string' }, { type: 'number' }] }, '[string, number]'],
])('%s is in words: %s', (_case, schema, words) => {
  expect(typeWords(schema as DocumentedSchema)).toBe(words)
})

test('rows name the fields inside lists and maps by their path', () => {
  expect(rowOf(Query, 'filters[].operator')).toMatchObject({ type: 'string', required: true })
  expect(rowOf(Query, 'filters[].values')?.notes).toContain('At most 1,000 items')
  expect(rowOf(StatisticsMeta, 'measures.*.title')).toMatchObject({ type: 'string', required: true })
})

test('rows leave out fields that are ignored on input, which are listed apart', () => {
  expect(rowOf(SavedQueryUpdate, 'companyId')).toBeUndefined()
  expect(ignoredFields(SavedQueryUpdate as unknown as DocumentedSchema)).toEqual([
    'id',
    'companyId',
    'createdAt',
    'updatedAt',
    'revision',
    'lastSavedBy',
    'createdBy',
    'ownerId',
    'nextRunAt',
    'pausedReason',
  ])
})

test('a body of several forms has each of them, a list of the same form none more', () => {
  expect(variantsOf(TokenRequest as DocumentedSchema).map(({ title }) => title)).toEqual([
    'PasswordGrant',
    'RefreshTokenGrant',
    'AuthorizationCodeGrant',
  ])
  const events = { anyOf: [CollectedEvent, { type: 'array', items: CollectedEvent }] }
  expect(variantsOf(events as DocumentedSchema).map(({ title }) => title)).toEqual([undefined])
})
