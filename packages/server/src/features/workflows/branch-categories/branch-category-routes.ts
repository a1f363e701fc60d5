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
  route(scope, createBranchCategory, ({ principal, ip, body }) =>
    categories.create({ principal, address: ip }, body),
  )
  route(scope, updateBranchCategory, ({ principal, ip, params, body }) =>
    categories.update({ principal, address: ip }, params.id, body),
  )
  route(scope, deleteBranchCategory, ({ principal, ip, params, query }) =>
    categories.delete({ principal, address: ip }, params.id, query.recursive ?? false),
  )
}
