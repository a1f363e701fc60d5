import { Type } from 'typebox'
import { EmptyObject, paginatedEnvelope, successEnvelope } from '../envelope.ts'
import type { Operation } from '../operation.ts'
import { id, pagination, strict } from '../resources/formats.ts'
import {
  TagKey,
  TagKeyCreation,
  TagKeyUpdate,
  TagValueCreation,
  TagValueUpdate,
} from '../resources/tag-key.ts'

const url = '/v2/statistics/analytics/settings/tags'

const ofKey = Type.Object({ tagId: id('Identifier of the tag key') }, strict)
const ofValue = Type.Object(
  { tagId: id('Identifier of the tag key'), valueId: id('Identifier of the value') },
  strict,
)

export const listTagKeys = {
  id: 'listTagKeys',
  extension: true,
  method: 'GET',
  url,
  scope: 'authenticated',
  permission: { resource: 'workflowSettings', action: 'read' },
  tag: 'Statistics',
  summary: 'List tag keys',
  description: 'The tag keys of your company with their values, the oldest first, page by page.',
  errors: [],
  replies: { 200: { description: 'One page of tag keys' } },
  schema: {
    querystring: Type.Object(
      {
        ...pagination,
        includeSystem: Type.Optional(
          Type.Boolean({
            description: 'Whether keys that the service has made are listed too; they are not when absent',
          }),
        ),
      },
      strict,
    ),
    response: { 200: paginatedEnvelope(TagKey) },
  },
} as const satisfies Operation

export const readTagKey = {
  id: 'readTagKey',
  extension: true,
  method: 'GET',
  url: `${url}/:tagId`,
  scope: 'authenticated',
  permission: { resource: 'workflowSettings', action: 'read' },
  tag: 'Statistics',
  summary: 'Read a tag key',
  errors: ['tagKeyNotFound'],
  replies: { 200: { description: 'The tag key' } },
  schema: { params: ofKey, response: { 200: successEnvelope(TagKey) } },
} as const satisfies Operation

export const createTagKey = {
  id: 'createTagKey',
  extension: true,
  method: 'POST',
  url,
  scope: 'authenticated',
  permission: { resource: 'workflowSettings', action: 'create' },
  tag: 'Statistics',
  summary: 'Create a tag key',
  description:
    'A company has at most 200 tag keys of its own, a key at most 1,000 values. Two names are the same when they differ only in the case of letters, in the spaces around them or in characters that are not seen.',
  audit: { action: 'tag-key-create', target: 'tag-key' },
  errors: ['tagKeyNameTaken', 'tagValueNameTaken', 'tooManyTagKeys', 'unknownTeam'],
  examples: {
    season: {
      summary: 'With its first values',
      value: {
        definition: {
          name: 'Season',
          cardinality: 'multiple',
          values: [{ name: 'Spring' }, { name: 'Christmas', description: 'From Advent to Epiphany' }],
        },
      },
    },
  },
  replies: { 200: { description: 'The tag key' } },
  schema: { body: TagKeyCreation, response: { 200: successEnvelope(TagKey) } },
} as const satisfies Operation

export const updateTagKey = {
  id: 'updateTagKey',
  extension: true,
  method: 'PATCH',
  url: `${url}/:tagId`,
  scope: 'authenticated',
  permission: { resource: 'workflowSettings', action: 'update' },
  tag: 'Statistics',
  summary: 'Change a tag key',
  description:
    'A partial update: a field that is absent, at any depth, stays as it is. `definition.values` is ignored: values have operations of their own.',
  audit: { action: 'tag-key-update', target: 'tag-key', param: 'tagId' },
  errors: ['tagKeyNotFound', 'tagKeyNameTaken', 'systemTagKey', 'unknownTeam'],
  examples: { multiple: { summary: 'Count all values', value: { definition: { cardinality: 'multiple' } } } },
  replies: { 200: { description: 'The tag key as it is now' } },
  schema: { params: ofKey, body: TagKeyUpdate, response: { 200: successEnvelope(TagKey) } },
} as const satisfies Operation

export const deleteTagKey = {
  id: 'deleteTagKey',
  extension: true,
  method: 'DELETE',
  url: `${url}/:tagId`,
  scope: 'authenticated',
  permission: { resource: 'workflowSettings', action: 'delete' },
  tag: 'Statistics',
  summary: 'Delete a tag key',
  description:
    'Deletes the key with all its values for good. While experiments or workflows use it, it cannot be deleted; the failure names them.',
  audit: { action: 'tag-key-delete', target: 'tag-key', param: 'tagId' },
  errors: ['tagKeyNotFound', 'tagKeyInUse', 'systemTagKey'],
  replies: { 200: { description: 'The tag key is deleted' } },
  schema: { params: ofKey, response: { 200: successEnvelope(EmptyObject) } },
} as const satisfies Operation

export const createTagValue = {
  id: 'createTagValue',
  extension: true,
  method: 'POST',
  url: `${url}/:tagId/values`,
  scope: 'authenticated',
  permission: { resource: 'workflowSettings', action: 'update' },
  tag: 'Statistics',
  summary: 'Add a value to a tag key',
  audit: { action: 'tag-value-create', target: 'tag-value', named: 'name' },
  errors: ['tagKeyNotFound', 'tagValueNameTaken', 'tooManyTagValues', 'systemTagKey'],
  examples: { summer: { summary: 'A value', value: { name: 'Summer' } } },
  replies: { 200: { description: 'The tag key with the new value' } },
  schema: { params: ofKey, body: TagValueCreation, response: { 200: successEnvelope(TagKey) } },
} as const satisfies Operation

export const updateTagValue = {
  id: 'updateTagValue',
  extension: true,
  method: 'PATCH',
  url: `${url}/:tagId/values/:valueId`,
  scope: 'authenticated',
  permission: { resource: 'workflowSettings', action: 'update' },
  tag: 'Statistics',
  summary: 'Change a value of a tag key',
  description: 'A partial update. What is tagged with the value keeps it under its new name.',
  audit: { action: 'tag-value-update', target: 'tag-value', param: 'valueId' },
  errors: ['tagKeyNotFound', 'tagValueNotFound', 'tagValueNameTaken', 'systemTagKey'],
  examples: { name: { summary: 'Another name', value: { name: 'Summer sales' } } },
  replies: { 200: { description: 'The tag key as it is now' } },
  schema: { params: ofValue, body: TagValueUpdate, response: { 200: successEnvelope(TagKey) } },
} as const satisfies Operation

/** Operation 9. */
export const deleteTagValue = {
  id: 'deleteTagValue',
  number: 9,
  method: 'DELETE',
  url: `${url}/:tagId/values/:valueId`,
  scope: 'authenticated',
  permission: { resource: 'workflowSettings', action: 'delete' },
  tag: 'Statistics',
  summary: 'Delete a value of a tag key',
  description:
    'Deletes the value for good. Branches that were tagged with it lose the tag; while an experiment that is not archived uses it, it cannot be deleted.',
  audit: { action: 'tag-value-delete', target: 'tag-value', param: 'valueId' },
  errors: ['tagKeyNotFound', 'tagValueNotFound', 'tagValueInUse', 'systemTagKey'],
  replies: { 200: { description: 'The tag key after the deletion' } },
  schema: { params: ofValue, response: { 200: successEnvelope(TagKey) } },
} as const satisfies Operation
