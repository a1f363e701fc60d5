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
  route(scope, createTagKey, ({ principal, ip, body }) => service.create({ principal, address: ip }, body))
  route(scope, updateTagKey, ({ principal, ip, params, body }) =>
    service.update({ principal, address: ip }, params.tagId, body),
  )
  route(scope, deleteTagKey, ({ principal, ip, params }) =>
    service.delete({ principal, address: ip }, params.tagId),
  )
  route(scope, createTagValue, ({ principal, ip, params, body }) =>
    service.createValue({ principal, address: ip }, params.tagId, body),
  )
  route(scope, updateTagValue, ({ principal, ip, params, body }) =>
    service.updateValue({ principal, address: ip }, params.tagId, params.valueId, body),
  )
  route(scope, deleteTagValue, ({ principal, ip, params }) =>
    service.deleteValue({ principal, address: ip }, params.tagId, params.valueId),
  )
}
