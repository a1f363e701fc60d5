import {
  createJsonTemplate,
  deleteJsonTemplate,
  readJsonTemplate,
  replaceJsonTemplate,
} from '@millrace/contract/operations/workflow-settings.ts'
import { listJsonTemplates } from '@millrace/contract/operations/workflows.ts'
import type { FastifyInstance } from 'fastify'
import { entityTagOf, expectedBy } from '../../../platform/http/entity-tag.ts'
import { warned } from '../../../platform/http/envelope.ts'
import { rawRoute, route } from '../../../platform/http/route.ts'
import type { JsonTemplateService } from './json-template-service.ts'

/** Operation 11 and the other operations on JSON templates, for the authenticated scope. */
export function registerJsonTemplateRoutes(scope: FastifyInstance, templates: JsonTemplateService): void {
  route(scope, listJsonTemplates, ({ principal, query }) => {
    const { workflowId, ...page } = query
    return templates.list(principal, workflowId, page)
  })
  route(scope, readJsonTemplate, ({ principal, params }) => templates.read(principal, params.id))
  rawRoute(scope, createJsonTemplate, {
    async handler({ caller, body }, reply) {
      const { template, warnings } = await templates.create(caller, body)
      reply.header('etag', entityTagOf(template.revision))
      return warned(template, warnings)
    },
  })
  rawRoute(scope, replaceJsonTemplate, {
    async handler({ caller, params, headers, body }, reply) {
      const { template, warnings } = await templates.replace(caller, params.id, body, expectedBy(headers))
      reply.header('etag', entityTagOf(template.revision))
      return warned(template, warnings)
    },
  })
  route(scope, deleteJsonTemplate, ({ caller, params, headers }) =>
    templates.delete(caller, params.id, expectedBy(headers)),
  )
}
