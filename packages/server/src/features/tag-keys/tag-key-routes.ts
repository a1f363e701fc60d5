import {
  createTagKey,
  createTagValue,
  deleteTagKey,
  deleteTagValue,
  listTagKeys,
  readTagKey,
  updateTagKey,
  updateTagValue,
} from '@millrace/contract/operations/tags.ts'
import type { FastifyInstance } from 'fastify'
import { route } from '../../platform/http/route.ts'
import type { TagKeyService } from './tag-key-service.ts'

/** Operation 9 and the other operations on tag keys, for the authenticated scope. */
export function registerTagKeyRoutes(scope: FastifyInstance, service: TagKeyService): void {
  route(scope, listTagKeys, ({ principal, query }) => {
    const { includeSystem = false, ...page } = query
    return service.list(principal, includeSystem, page)
  })
  route(scope, readTagKey, ({ principal, params }) => service.read(principal, params.tagId))
  route(scope, createTagKey, ({ caller, body }) => service.create(caller, body))
  route(scope, updateTagKey, ({ caller, params, body }) => service.update(caller, params.tagId, body))
  route(scope, deleteTagKey, ({ caller, params }) => service.delete(caller, params.tagId))
  route(scope, createTagValue, ({ caller, params, body }) => service.createValue(caller, params.tagId, body))
  route(scope, updateTagValue, ({ caller, params, body }) =>
    service.updateValue(caller, params.tagId, params.valueId, body),
  )
  route(scope, deleteTagValue, ({ caller, params }) =>
    service.deleteValue(caller, params.tagId, params.valueId),
  )
}
