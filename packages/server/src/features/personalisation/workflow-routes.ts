import {
  archiveWorkflow,
  createWorkflow,
  deleteWorkflow,
  duplicateWorkflow,
  listWorkflowFolders,
  listWorkflows,
  readWorkflow,
  restoreWorkflow,
  updateWorkflow,
} from '@millrace/contract/operations/workflows.ts'
import type { FastifyInstance } from 'fastify'
import { route } from '../../platform/http/route.ts'
import type { WorkflowService } from './workflow-service.ts'

/** Operation 10 and the other operations on workflows, for the authenticated scope. */
export function registerWorkflowRoutes(scope: FastifyInstance, workflows: WorkflowService): void {
  route(scope, createWorkflow, ({ caller, body, headers }) =>
    workflows.create(caller, body, headers['idempotency-key']),
  )
  route(scope, listWorkflows, ({ principal, query }) => {
    const { page, perPage, sortBy, sortOrder, ...filter } = query
    return workflows.list(principal, filter, { sortBy, sortOrder }, { page, perPage })
  })
  route(scope, listWorkflowFolders, ({ principal, query }) =>
    workflows.listFolders(principal, query.hierarchy ?? []),
  )
  route(scope, readWorkflow, ({ principal, params }) => workflows.read(principal, params.id))
  route(scope, updateWorkflow, ({ caller, params, body }) => workflows.update(caller, params.id, body))
  route(scope, archiveWorkflow, ({ caller, params }) => workflows.archive(caller, params.id))
  route(scope, restoreWorkflow, ({ caller, params }) => workflows.restore(caller, params.id))
  route(scope, duplicateWorkflow, ({ caller, params }) => workflows.duplicate(caller, params.id))
  route(scope, deleteWorkflow, ({ caller, params }) => workflows.delete(caller, params.id))
}
