import { type Static, Type } from 'typebox'
import { dateTime, id, nameText, nullable, responseOnly, strict } from './formats.ts'

/** Bounds of the tree (docs/workflows.md, Branch categories). */
export const categoryLimits = { perCompany: 1_000, levels: 5 } as const

/** What branches of workflows are sorted into: a node of the company's tree. */
export const BranchCategory = Type.Object(
  {
    _id: id('Identifier of the category'),
    id: id('The same identifier'),
    type: Type.String({ description: 'Kind of setting', examples: ['WorkflowBranchCategories'] }),
    companyId: id('Company that owns it'),
    createdAt: dateTime('When it was made'),
    updatedAt: dateTime('When it was changed last'),
    name: Type.String(),
    level: Type.Integer({ minimum: 1, maximum: categoryLimits.levels, description: '1 has no parent' }),
    parentId: Type.Optional(Type.String({ description: 'Category above it; absent on level 1' })),
    children: Type.Array(Type.String(), { description: 'Categories right below it, by name' }),
  },
  { ...strict, title: 'BranchCategory' },
)
export type BranchCategory = Static<typeof BranchCategory>

const creation = {
  name: nameText('Name of the category', 100, { examples: ['Loyalty'] }),
  parentId: Type.Optional(
    nullable(id('Category above it'), { description: 'Category above it; null or absent: level 1' }),
  ),
}

export const BranchCategoryCreation = Type.Object(
  { ...creation, ...responseOnly(BranchCategory, creation) },
  { ...strict, title: 'BranchCategoryCreation' },
)
export type BranchCategoryCreation = Static<typeof BranchCategoryCreation>

const update = {
  name: Type.Optional(creation.name),
  parentId: Type.Optional(
    nullable(id('Category above it'), {
      description: 'Where it moves to, with all below it; null: to level 1. It stays when absent',
    }),
  ),
}

/** Partial: a field that is absent stays as it is. */
export const BranchCategoryUpdate = Type.Object(
  { ...update, ...responseOnly(BranchCategory, update) },
  { ...strict, title: 'BranchCategoryUpdate' },
)
export type BranchCategoryUpdate = Static<typeof BranchCategoryUpdate>
