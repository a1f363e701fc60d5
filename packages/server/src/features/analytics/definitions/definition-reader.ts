import { DomainError } from '../../../platform/errors.ts'
import type { Lookup } from '../catalogue/member.ts'
import { type Definitions, noDefinitions, type Texts } from '../query/compile/compile-lookups.ts'
import type { VisibleWorkflows } from '../query/compile/compile-workflows.ts'
import type { DefinitionStore, NamedCategory } from './definition-store.ts'

/** Bytes of all texts and identifiers of a statement; the engine takes some more (platform/stores/columnar-params.ts). */
const maxBytes = 300_000
/** Workflows, or categories, whose names may fit. */
const maxListed = 10_000
/** Bytes of an identifier, and of what separates values. */
const perText = 32

export type DefinitionReader = ReturnType<typeof createDefinitionReader>

/** Reads what definitions of a company say now, for statistics. */
export function createDefinitionReader(store: DefinitionStore) {
  return {
    /**
     * The texts that these lookups need, of workflows that the reader sees.
     * @throws {DomainError} `tooComplex` when they are more than a statement takes
     */
    async read(
      companyId: string,
      lookups: readonly Lookup[],
      visibleWorkflows: VisibleWorkflows,
    ): Promise<Definitions> {
      const asked = new Set(lookups.map((each) => each.of))
      const found: { -readonly [Key in keyof Definitions]: Definitions[Key] } = { ...noDefinitions }
      if (asked.has('workflowName') || asked.has('workflowTeams')) {
        const seen = visibleWorkflows === 'all' ? undefined : new Set(visibleWorkflows)
        const all = (await store.listWorkflows(companyId, maxListed)).filter(
          ({ id }) => seen?.has(id) ?? true,
        )
        if (asked.has('workflowName')) found.workflowName = textsOf(all, ({ name }) => name)
        if (asked.has('workflowTeams')) {
          found.workflowTeams = textsOf(all, ({ teams }) => teams.toSorted().join(', ') || undefined)
        }
      }
      const levels = new Set(lookups.flatMap((each) => (each.of === 'categoryLevel' ? each.level : [])))
      if (asked.has('categoryName') || levels.size > 0) {
        const all = await store.listCategories(companyId, maxListed)
        const paths = pathsOf(all)
        const onLevel = (level: 1 | 2 | 3) =>
          textsOf(levels.has(level) ? all : [], ({ id }) => paths.get(id)?.[level - 1])
        if (asked.has('categoryName')) found.categoryName = textsOf(all, ({ name }) => name)
        found.categoryLevels = { 1: onLevel(1), 2: onLevel(2), 3: onLevel(3) }
      }
      const tagKeys = new Set(lookups.flatMap((each) => (each.of === 'tag' ? each.keyId : [])))
      if (tagKeys.size > 0) {
        const keys = await store.findTagKeys(companyId, [...tagKeys])
        found.tags = new Map(
          keys.map(({ id, cardinality, values }) => [
            id,
            { isMultiple: cardinality === 'multiple', values: textsOf(values, ({ name }) => name) },
          ]),
        )
      }
      refuseTooMany(found)
      return found
    },

    /** The tag keys that the metadata shows. */
    listTagKeys: store.listTagKeys,
  }
}

/** The texts of those that have one, by their identifiers. */
function textsOf<T extends { readonly id: string }>(
  all: readonly T[],
  textOf: (each: T) => string | undefined,
): Texts {
  const texts = new Map<string, string>()
  for (const each of all) {
    const text = textOf(each)
    if (text !== undefined) texts.set(each.id, text)
  }
  return texts
}

/** The names of each category and of those above it, from level 1 on. */
function pathsOf(categories: readonly NamedCategory[]): Map<string, string[]> {
  const byId = new Map(categories.map((each) => [each.id, each]))
  return new Map(
    categories.map(({ id }) => {
      const path: string[] = []
      const passed = new Set<string>()
      for (let at = byId.get(id); at !== undefined && !passed.has(at.id); at = byId.get(at.parentId ?? '')) {
        passed.add(at.id)
        path.unshift(at.name)
      }
      return [id, path]
    }),
  )
}

function refuseTooMany({
  workflowName,
  workflowTeams,
  categoryName,
  categoryLevels,
  tags,
}: Definitions): void {
  const texts = [
    workflowName,
    workflowTeams,
    categoryName,
    ...Object.values(categoryLevels),
    ...[...tags.values()].map(({ values }) => values),
  ]
  const bytes = texts
    .flatMap((each) => [...each.values()])
    .reduce((sum, text) => sum + Buffer.byteLength(text) + perText, 0)
  if (bytes <= maxBytes) return
  throw new DomainError(
    'tooComplex',
    {},
    {
      message:
        'The names of all workflows, teams, categories and tags that the query shows are more than it can hold: ' +
        'group by workflows.id instead, or name fewer of these dimensions',
    },
  )
}
