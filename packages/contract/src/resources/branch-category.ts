import { type Static, Type } from 'typebox'
import { bodyOf, id, integer, listOf, named, nameText, nullable, optionals, text, times } from './formats.ts'

/** Bounds of the tree (docs/workflows.md, Branch categories). */
export const categoryLimits = { perCompany: 1_000, levels: 5 } as const

/** What branches of workflows are sorted into: a node of the company's tree. */
export const BranchCategory = named('BranchCategory', {
  _id: id('Identifier of the category'),
  id: id('The same identifier'),
  type: text('Kind of setting', 'WorkflowBranchCategories'),
  companyId: id('Company that owns it'),
  ...times,
  name: Type.String(),
  level: integer(1, categoryLimits.levels, '1 has no parent'),
  parentId: Type.Optional(text('Category above it; absent on level 1')),
  children: listOf(Type.String(), 'Categories right below it, by name'),
})
export type BranchCategory = Static<typeof BranchCategory>

const creation = {
  name: nameText('Name of the category', 100, { examples: ['Loyalty'] }),
  parentId: Type.Optional(nullable(id('Category above it'), 'Category above it; null or absent: level 1')),
}

export const BranchCategoryCreation = bodyOf('BranchCategoryCreation', BranchCategory, creation)
export type BranchCategoryCreation = Static<typeof BranchCategoryCreation>

const update = optionals({
  name: creation.name,
  parentId: nullable(
    id('Category above it'),
    'Where it moves to, with all below it; null: to level 1. It stays when absent',
  ),
})

/** Partial: a field that is absent stays as it is. */
export const BranchCategoryUpdate = bodyOf('BranchCategoryUpdate', BranchCategory, update)
export type BranchCategoryUpdate = Static<typeof BranchCategoryUpdate>
