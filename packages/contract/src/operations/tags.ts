import { Type } from 'typebox'
import type { Operation } from '../operation.ts'
import { answers, example, lists, operationsOf, succeeds } from '../operation-builders.ts'
import { flag, id, object } from '../resources/formats.ts'
import {
  TagKey,
  TagKeyCreation,
  TagKeyUpdate,
  TagValueCreation,
  TagValueUpdate,
} from '../resources/tag-key.ts'

const operation = operationsOf('Statistics')

const url = '/v2/statistics/analytics/settings/tags'

const ofKey = object({ tagId: id('Identifier of the tag key') })
const ofValue = object({ tagId: id('Identifier of the tag key'), valueId: id('Identifier of the value') })

export const listTagKeys = {
  ...operation('listTagKeys', 'GET', url, 'workflowSettings:read'),
  summary: 'List tag keys',
  description: 'The tag keys of your company with their values, the oldest first, page by page.',
  ...lists('One page of tag keys', TagKey, {
    includeSystem: Type.Optional(
      flag('Whether keys that the service has made are listed too; they are not when absent'),
    ),
  }),
} as const satisfies Operation

export const readTagKey = {
  ...operation('readTagKey', 'GET', `${url}/:tagId`, 'workflowSettings:read'),
  summary: 'Read a tag key',
  errors: ['tagKeyNotFound'],
  ...answers('The tag key', TagKey, { params: ofKey }),
} as const satisfies Operation

export const createTagKey = {
  ...operation('createTagKey', 'POST', url, 'workflowSettings:create'),
  summary: 'Create a tag key',
  description:
    'A company has at most 200 tag keys of its own, a key at most 1,000 values. Two names are the same when they differ only in the case of letters, in the spaces around them or in characters that are not seen.',
  audit: { action: 'tag-key-create', target: 'tag-key' },
  errors: ['tagKeyNameTaken', 'tagValueNameTaken', 'tooManyTagKeys', 'unknownTeam'],
  examples: {
    season: example('With its first values', {
      definition: {
        name: 'Season',
        cardinality: 'multiple',
        values: [{ name: 'Spring' }, { name: 'Christmas', description: 'From Advent to Epiphany' }],
      },
    }),
  },
  ...answers('The tag key', TagKey, { body: TagKeyCreation }),
} as const satisfies Operation

export const updateTagKey = {
  ...operation('updateTagKey', 'PATCH', `${url}/:tagId`, 'workflowSettings:update'),
  summary: 'Change a tag key',
  description:
    'A partial update: a field that is absent, at any depth, stays as it is. `definition.values` is ignored: values have operations of their own.',
  audit: { action: 'tag-key-update', target: 'tag-key', param: 'tagId' },
  errors: ['tagKeyNotFound', 'tagKeyNameTaken', 'systemTagKey', 'unknownTeam'],
  examples: { multiple: example('Count all values', { definition: { cardinality: 'multiple' } }) },
  ...answers('The tag key as it is now', TagKey, { params: ofKey, body: TagKeyUpdate }),
} as const satisfies Operation

export const deleteTagKey = {
  ...operation('deleteTagKey', 'DELETE', `${url}/:tagId`, 'workflowSettings:delete'),
  summary: 'Delete a tag key',
  description:
    'Deletes the key with all its values for good. While experiments or workflows use it, it cannot be deleted; the failure names them.',
  audit: { action: 'tag-key-delete', target: 'tag-key', param: 'tagId' },
  errors: ['tagKeyNotFound', 'tagKeyInUse', 'systemTagKey'],
  ...succeeds('The tag key is deleted', { params: ofKey }),
} as const satisfies Operation

export const createTagValue = {
  ...operation('createTagValue', 'POST', `${url}/:tagId/values`, 'workflowSettings:update'),
  summary: 'Add a value to a tag key',
  audit: { action: 'tag-value-create', target: 'tag-value', named: 'name' },
  errors: ['tagKeyNotFound', 'tagValueNameTaken', 'tooManyTagValues', 'systemTagKey'],
  examples: { summer: example('A value', { name: 'Summer' }) },
  ...answers('The tag key with the new value', TagKey, { params: ofKey, body: TagValueCreation }),
} as const satisfies Operation

export const updateTagValue = {
  ...operation('updateTagValue', 'PATCH', `${url}/:tagId/values/:valueId`, 'workflowSettings:update'),
  summary: 'Change a value of a tag key',
  description: 'A partial update. What is tagged with the value keeps it under its new name.',
  audit: { action: 'tag-value-update', target: 'tag-value', param: 'valueId' },
  errors: ['tagKeyNotFound', 'tagValueNotFound', 'tagValueNameTaken', 'systemTagKey'],
  examples: { name: example('Another name', { name: 'Summer sales' }) },
  ...answers('The tag key as it is now', TagKey, { params: ofValue, body: TagValueUpdate }),
} as const satisfies Operation

/** Operation 9. */
export const deleteTagValue = {
  ...operation('deleteTagValue', 'DELETE', `${url}/:tagId/values/:valueId`, 'workflowSettings:delete'),
  number: 9,
  summary: 'Delete a value of a tag key',
  description:
    'Deletes the value for good. Branches that were tagged with it lose the tag; while an experiment that is not archived uses it, it cannot be deleted.',
  audit: { action: 'tag-value-delete', target: 'tag-value', param: 'valueId' },
  errors: ['tagKeyNotFound', 'tagValueNotFound', 'tagValueInUse', 'systemTagKey'],
  ...answers('The tag key after the deletion', TagKey, { params: ofValue }),
} as const satisfies Operation
