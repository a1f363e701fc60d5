import {
  type BranchCategory,
  type BranchCategoryCreation,
  type BranchCategoryUpdate,
  categoryLimits,
} from '@millrace/contract/resources/branch-category.ts'
import { changesOf, definedOf } from '../../../platform/changes.ts'
import { DomainError } from '../../../platform/errors.ts'
import { newId, normalizeId } from '../../../platform/ids.ts'
import { invalid } from '../../../platform/invalid.ts'
import {
  found,
  type ResourceContext,
  recorderOf,
  requireRoom,
  withIsoDates,
} from '../../../platform/resources/resource.ts'
import type { Queries } from '../../../platform/stores/relational.ts'
import type { Caller, Principal } from '../../identity/sessions/principal.ts'
import { createBranchCategoryStore, type StoredCategory } from './branch-category-store.ts'
import { branchOf, type PlacedCategory, treeOf } from './category-tree.ts'

export interface BranchCategoryServiceDependencies extends ResourceContext {
  /** Branches of workflows lose the category. */
  readonly forgetCategory: (tx: Queries, companyId: string, categoryId: string) => Promise<void>
}

export type BranchCategoryService = ReturnType<typeof createBranchCategoryService>

type Placed = PlacedCategory<StoredCategory>

/** Children that a failure names. */
const maxNamed = 20

/** The tree of branch categories of a company (docs/workflows.md, Branch categories). */
export function createBranchCategoryService(dependencies: BranchCategoryServiceDependencies) {
  const { relational, lockCompany, forgetCategory } = dependencies
  const record = recorderOf('branch-category', dependencies.recordAudit)

  const readTree = async (queries: Queries, companyId: string): Promise<Placed[]> =>
    treeOf(await createBranchCategoryStore(queries).list(companyId))

  async function readOne(queries: Queries, companyId: string, id: string): Promise<BranchCategory> {
    return toCategory(getPlaced(await readTree(queries, companyId), id))
  }

  return {
    async list({ companyId }: Principal): Promise<BranchCategory[]> {
      return (await readTree(relational.db, companyId)).map(toCategory)
    },

    /** @throws {DomainError} `branchCategoryNotFound` */
    read({ companyId }: Principal, id: string): Promise<BranchCategory> {
      return readOne(relational.db, companyId, id)
    },

    /** @throws {DomainError} `validation`, `branchCategoryTooDeep` or `tooManyBranchCategories` */
    create(caller: Caller, body: BranchCategoryCreation): Promise<BranchCategory> {
      const { companyId } = caller.principal
      return relational.transaction(async (tx) => {
        await lockCompany(tx, companyId)
        const tree = await readTree(tx, companyId)
        requireRoom('tooManyBranchCategories', categoryLimits.perCompany, tree.length)
        const parent = findParent(tree, body.parentId)
        refuseDepth((parent?.level ?? 0) + 1)
        const id = newId()
        const name = body.name.trim()
        const parentId = parent?.category.id ?? null
        await createBranchCategoryStore(tx).insert({ id, companyId, name, parentId })
        await record(tx, caller, 'branch-category-create', { id, name }, { parentId })
        return readOne(tx, companyId, id)
      })
    },

    /** @throws {DomainError} `validation`, `branchCategoryNotFound`, `branchCategoryTooDeep` or `branchCategoryCycle` */
    update(caller: Caller, id: string, body: BranchCategoryUpdate): Promise<BranchCategory> {
      const { companyId } = caller.principal
      return relational.transaction(async (tx) => {
        await lockCompany(tx, companyId)
        const tree = await readTree(tx, companyId)
        const { category, level } = getPlaced(tree, id)
        const wanted = { name: body.name?.trim(), parentId: normalized(body.parentId) }
        if (wanted.parentId !== undefined) {
          const parent = findParent(tree, wanted.parentId)
          const branch = branchOf(tree, category.id)
          if (parent && branch.includes(parent))
            throw new DomainError('branchCategoryCycle', { id: category.id, parentId: parent.category.id })
          const height = Math.max(...branch.map((each) => each.level)) - level
          refuseDepth((parent?.level ?? 0) + 1 + height)
        }
        const changes = changesOf(category, wanted)
        if (changes.changed.length > 0) {
          await createBranchCategoryStore(tx).update(category, definedOf(wanted))
          await record(tx, caller, 'branch-category-update', category, { ...changes })
        }
        return readOne(tx, companyId, category.id)
      })
    },

    /** @throws {DomainError} `branchCategoryNotFound` or `branchCategoryHasChildren` */
    async delete(caller: Caller, id: string, recursive: boolean): Promise<void> {
      const { companyId } = caller.principal
      await relational.transaction(async (tx) => {
        await lockCompany(tx, companyId)
        const tree = await readTree(tx, companyId)
        const { category, children } = getPlaced(tree, id)
        if (children.length > 0 && !recursive) throw hasChildren(category, children)
        const ids = branchOf(tree, category.id).map((each) => each.category.id)
        const store = createBranchCategoryStore(tx)
        await store.lock(companyId, ids)
        for (const each of ids) await forgetCategory(tx, companyId, each)
        await store.delete(companyId, ids)
        await record(tx, caller, 'branch-category-delete', category, { below: ids.length - 1 })
      })
    },
  }
}

const normalized = (id: string | null | undefined) => (typeof id === 'string' ? normalizeId(id) : id)

const getPlaced = (tree: readonly Placed[], id: string): Placed =>
  found(
    tree.find(({ category }) => category.id === normalizeId(id)),
    'branchCategoryNotFound',
    id,
  )

/** @throws {DomainError} `validation` */
function findParent(tree: readonly Placed[], id: string | null | undefined): Placed | undefined {
  if (typeof id !== 'string') return undefined
  const found = tree.find(({ category }) => category.id === normalizeId(id))
  if (!found) throw invalid('parentId', 'must be a branch category of your company, or null')
  return found
}

function refuseDepth(level: number): void {
  const limit = categoryLimits.levels
  if (level > limit) throw new DomainError('branchCategoryTooDeep', { limit })
}

function hasChildren({ id, name }: StoredCategory, children: readonly StoredCategory[]): DomainError {
  const named = children.slice(0, maxNamed).map((child) => ({ id: child.id, name: child.name }))
  const shown = named.map((child) => `"${child.name}"`).join(', ')
  const message = `Below the category "${name}" are others: ${shown}. Move them, or delete all of them with recursive=true`
  return new DomainError('branchCategoryHasChildren', { id, children: named }, { message })
}

function toCategory({ category, level, children }: Placed): BranchCategory {
  const { parentId, ...own } = category
  return {
    _id: own.id,
    type: 'WorkflowBranchCategories',
    ...withIsoDates(own),
    level,
    ...(parentId !== null && { parentId }),
    children: children.map((child) => child.id),
  }
}
