import { createBranchCategoryStore } from './branch-categories/branch-category-store.ts'
import { createJsonTemplateStore } from './json-templates/json-template-store.ts'
import type { DefinitionSources } from './read-resources.ts'

/** What definitions can name of templates and categories. */
export const settingSources: Pick<DefinitionSources, 'templates' | 'categories'> = {
  async templates(queries, { ids, lock, ...viewer }) {
    const rows = await createJsonTemplateStore(queries).listByIds(viewer, ids, lock)
    return new Map(
      rows.map(({ id, definition, variables, redirectVariable }) => [
        id,
        { definition, variables, ...(redirectVariable !== null && { redirectVariable }) },
      ]),
    )
  },

  async categories(queries, { companyId, ids, lock }) {
    return new Set(await createBranchCategoryStore(queries).listKnown(companyId, ids, { lock }))
  },
}
