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
  route(scope, createWorkflow, ({ principal, ip, body, headers }) =>
    workflows.create({ principal, address: ip }, body, headers['idempotency-key']),
  )
  route(scope, listWorkflows, ({ principal, query }) => {
    const { page, perPage, sortBy, sortOrder, ...filter } = query
    return workflows.list(principal, filter, { sortBy, sortOrder }, { page, perPage })
  })
  route(scope, listWorkflowFolders, ({ principal, query }) =>
    workflows.listFolders(principal, query.hierarchy ?? []),
  )
  route(scope, readWorkflow, ({ principal, params }) => workflows.read(principal, params.id))
  route(scope, updateWorkflow, ({ principal, ip, params, body }) =>
    workflows.update({ principal, address: ip }, params.id, body),
  )
  route(scope, archiveWorkflow, ({ principal, ip, params }) =>
    workflows.archive({ principal, address: ip }, params.id),
  )
  route(scope, restoreWorkflow, ({ principal, ip, params }) =>
    workflows.restore({ principal, address: ip }, params.id),
  )
  route(scope, duplicateWorkflow, ({ principal, ip, params }) =>
    workflows.duplicate({ principal, address: ip }, params.id),
  )
  route(scope, deleteWorkflow, ({ principal, ip, params }) =>
    workflows.delete({ principal, address: ip }, params.id),
  )
}
