import { Type } from 'typebox'
import { successEnvelope } from '../envelope.ts'
import type { Operation } from '../operation.ts'
import { id, strict } from '../resources/formats.ts'
import { TagKey } from '../resources/tag-key.ts'

/** Operation 9. */
export const deleteTagValue = {
  id: 'deleteTagValue',
  number: 9,
  method: 'DELETE',
  url: '/v2/statistics/analytics/settings/tags/:tagId/values/:valueId',
  scope: 'authenticated',
  permission: { resource: 'workflowSettings', action: 'delete' },
  tag: 'Statistics',
  summary: 'Delete a value of a tag key',
  description:
    'Deletes the value for good. Branches that were tagged with it lose the tag; while a running experiment uses it, it cannot be deleted.',
  errors: ['tagKeyNotFound', 'tagValueNotFound', 'tagValueInUse'],
  replies: { 200: { description: 'The tag key after the deletion' } },
  schema: {
    params: Type.Object(
      { tagId: id('Identifier of the tag key'), valueId: id('Identifier of the value') },
      strict,
    ),
    response: { 200: successEnvelope(TagKey) },
  },
} as const satisfies Operation
