import {
  listWorkflowVersions,
  publishWorkflowVersion,
  readWorkflowChanges,
  readWorkflowVersion,
  restoreWorkflowVersion,
  saveWorkflowVersion,
  validateWorkflowVersion,
} from '@millrace/contract/operations/workflow-versions.ts'
import { definitionLimits } from '@millrace/contract/resources/workflow-definition.ts'
import type { FastifyInstance } from 'fastify'
import { expectedBy } from '../../../platform/http/entity-tag.ts'
import { takeJsonBodies } from '../../../platform/http/json-body.ts'
import { route } from '../../../platform/http/route.ts'
import type { VersionService } from './version-service.ts'

/** A definition, its metadata and what overrides its analysis. */
const saveBytes = 3 * 1024 * 1024
/** A definition may have more edges in one object than other bodies have keys. */
const saveBounds = { levels: 32, keys: definitionLimits.edges + 1, values: 250_000 }

/** Versions of workflows, for the authenticated scope. */
export function registerVersionRoutes(scope: FastifyInstance, versions: VersionService): void {
  route(scope, listWorkflowVersions, ({ principal, params, query }) =>
    versions.list(principal, params.id, query),
  )
  route(scope, readWorkflowVersion, ({ principal, params }) =>
    versions.read(principal, params.id, params.versionId),
  )
  route(scope, validateWorkflowVersion, ({ principal, params }) =>
    versions.validate(principal, params.id, params.versionId),
  )
  route(scope, publishWorkflowVersion, ({ caller, params, headers }) =>
    versions.publish(caller, params.id, params.versionId, expectedBy(headers)),
  )
  route(scope, restoreWorkflowVersion, ({ caller, params, headers }) =>
    versions.restore(caller, params.id, params.versionId, expectedBy(headers)),
  )
  route(scope, readWorkflowChanges, ({ principal, params, query }) =>
    versions.changes(principal, params.id, params.versionId, query.from),
  )
  scope.register(async function saves(inner) {
    inner.removeContentTypeParser('application/json')
    takeJsonBodies(inner, 'application/json', { bounds: saveBounds })
    route(
      inner,
      saveWorkflowVersion,
      ({ caller, params, headers, body }) =>
        versions.save(caller, params.id, params.versionId, body, expectedBy(headers)),
      { bodyLimit: saveBytes },
    )
  })
}
