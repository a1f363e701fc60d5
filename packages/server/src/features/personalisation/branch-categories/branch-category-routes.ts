import {
  createBranchCategory,
  deleteBranchCategory,
  listBranchCategories,
  readBranchCategory,
  updateBranchCategory,
} from '@millrace/contract/operations/workflow-settings.ts'
import type { FastifyInstance } from 'fastify'
import { route } from '../../../platform/http/route.ts'
import type { BranchCategoryService } from './branch-category-service.ts'

export function registerBranchCategoryRoutes(
  scope: FastifyInstance,
  categories: BranchCategoryService,
): void {
  route(scope, listBranchCategories, ({ principal }) => categories.list(principal))
  route(scope, readBranchCategory, ({ principal, params }) => categories.read(principal, params.id))
  route(scope, createBranchCategory, ({ caller, body }) => categories.create(caller, body))
  route(scope, updateBranchCategory, ({ caller, params, body }) => categories.update(caller, params.id, body))
  route(scope, deleteBranchCategory, ({ caller, params, query }) =>
    categories.delete(caller, params.id, query.recursive ?? false),
  )
}
