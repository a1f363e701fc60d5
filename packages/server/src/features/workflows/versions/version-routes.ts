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
import type { WorkflowVersion } from '@millrace/contract/resources/workflow-version.ts'
import type { FastifyInstance, FastifyReply } from 'fastify'
import { entityTagOf, matchesRevision } from '../../../platform/http/entity-tag.ts'
import { success } from '../../../platform/http/envelope.ts'
import { takeJsonBodies } from '../../../platform/http/json-body.ts'
import { rawRoute, route } from '../../../platform/http/route.ts'
import type { Expected, VersionService } from './version-service.ts'

/** A definition, its metadata and what overrides its analysis. */
const saveBytes = 3 * 1024 * 1024
/** A definition may have more edges in one object than other bodies have keys. */
const saveBounds = { levels: 32, keys: definitionLimits.edges + 1, values: 250_000 }

const expectedBy = (ifMatch: string | undefined): Expected =>
  ifMatch === undefined ? undefined : (revision) => matchesRevision(ifMatch, revision)

function answer(reply: FastifyReply, version: WorkflowVersion) {
  reply.header('etag', entityTagOf(version.revision))
  return success(version)
}

/** Versions of workflows, for the authenticated scope. */
export function registerVersionRoutes(scope: FastifyInstance, versions: VersionService): void {
  route(scope, listWorkflowVersions, ({ principal, params, query }) =>
    versions.list(principal, params.id, query),
  )
  rawRoute(scope, readWorkflowVersion, {
    handler: async ({ principal, params }, reply) =>
      answer(reply, await versions.read(principal, params.id, params.versionId)),
  })
  route(scope, validateWorkflowVersion, ({ principal, params }) =>
    versions.validate(principal, params.id, params.versionId),
  )
  rawRoute(scope, publishWorkflowVersion, {
    async handler({ principal, ip, params, headers }, reply) {
      const expected = expectedBy(headers['if-match'])
      const caller = { principal, address: ip }
      return answer(reply, await versions.publish(caller, params.id, params.versionId, expected))
    },
  })
  rawRoute(scope, restoreWorkflowVersion, {
    async handler({ principal, ip, params, headers }, reply) {
      const expected = expectedBy(headers['if-match'])
      const caller = { principal, address: ip }
      return answer(reply, await versions.restore(caller, params.id, params.versionId, expected))
    },
  })
  route(scope, readWorkflowChanges, ({ principal, params, query }) =>
    versions.changes(principal, params.id, params.versionId, query.from),
  )
  scope.register(async function saves(inner) {
    inner.removeContentTypeParser('application/json')
    takeJsonBodies(inner, 'application/json', { bounds: saveBounds })
    rawRoute(inner, saveWorkflowVersion, {
      bodyLimit: saveBytes,
      async handler({ principal, ip, params, headers, body }, reply) {
        const expected = expectedBy(headers['if-match'])
        const caller = { principal, address: ip }
        return answer(reply, await versions.save(caller, params.id, params.versionId, body, expected))
      },
    })
  })
}
