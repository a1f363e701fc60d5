import { DomainError } from '../../../platform/errors.ts'
import type { Lookup } from '../members/member.ts'
import { type Definitions, noDefinitions, type Texts } from '../query/compile/compile-lookups.ts'
import type { WorkflowSight } from '../query/compile/compile-sight.ts'
import type { DefinitionStore, NamedCategory, NamedTagKey } from './definition-store.ts'

/** What definitions of a company say now, for statistics. */
export interface DefinitionReader {
  /**
   * The texts that these lookups need, of workflows within the sight.
   * @throws {DomainError} `tooComplex` when they are more than a statement takes
   */
  read(companyId: string, lookups: readonly Lookup[], sight: WorkflowSight): Promise<Definitions>
  /** The tag keys that the metadata shows. */
  listTagKeys(companyId: string): Promise<readonly NamedTagKey[]>
}

/** Bytes of all texts and identifiers of a statement; the engine takes some more (platform/stores/columnar-params.ts). */
const maxBytes = 300_000
/** Workflows, or categories, whose names may fit. */
const maxListed = 10_000
/** Bytes of an identifier, and of what separates values. */
const perText = 32

export function createDefinitionReader(store: DefinitionStore): DefinitionReader {
  async function readWorkflows(
    companyId: string,
    lookups: readonly Lookup[],
    sight: WorkflowSight,
  ): Promise<Pick<Definitions, 'workflowName' | 'workflowTeams'>> {
    const of = new Set(lookups.map((each) => each.of))
    if (!of.has('workflowName') && !of.has('workflowTeams')) return noDefinitions
    const seen = sight === 'all' ? undefined : new Set(sight)
    const all = (await store.listWorkflows(companyId, maxListed)).filter(({ id }) => seen?.has(id) ?? true)
    const workflowName = new Map(all.map(({ id, name }) => [id, name]))
    const workflowTeams = new Map(
      all.flatMap(({ id, teams }) => (teams.length > 0 ? [[id, teams.toSorted().join(', ')] as const] : [])),
    )
    return {
      workflowName: of.has('workflowName') ? workflowName : new Map(),
      workflowTeams: of.has('workflowTeams') ? workflowTeams : new Map(),
    }
  }

  async function readCategories(
    companyId: string,
    lookups: readonly Lookup[],
  ): Promise<Pick<Definitions, 'categoryName' | 'categoryLevels'>> {
    const levels = new Set(lookups.flatMap((each) => (each.of === 'categoryLevel' ? each.level : [])))
    const isNamed = lookups.some((each) => each.of === 'categoryName')
    if (levels.size === 0 && !isNamed) return noDefinitions
    const all = await store.listCategories(companyId, maxListed)
    const paths = pathsOf(all)
    const onLevel = (level: 1 | 2 | 3): Texts =>
      new Map(
        levels.has(level)
          ? [...paths].flatMap(([id, path]) => {
              const name = path[level - 1]
              return name === undefined ? [] : [[id, name] as const]
            })
          : [],
      )
    return {
      categoryName: new Map(isNamed ? all.map(({ id, name }) => [id, name]) : []),
      categoryLevels: { 1: onLevel(1), 2: onLevel(2), 3: onLevel(3) },
    }
  }

  async function readTags(companyId: string, lookups: readonly Lookup[]): Promise<Definitions['tags']> {
    const ids = new Set(lookups.flatMap((each) => (each.of === 'tag' ? each.keyId : [])))
    const keys = await store.findTagKeys(companyId, [...ids])
    return new Map(
      keys.map(({ id, cardinality, values }) => [
        id,
        {
          isMultiple: cardinality === 'multiple',
          values: new Map(values.map((value) => [value.id, value.name])),
        },
      ]),
    )
  }

  return {
    async read(companyId, lookups, sight) {
      if (lookups.length === 0) return noDefinitions
      const { workflowName, workflowTeams } = await readWorkflows(companyId, lookups, sight)
      const { categoryName, categoryLevels } = await readCategories(companyId, lookups)
      const tags = await readTags(companyId, lookups)
      const found = { workflowName, workflowTeams, categoryName, categoryLevels, tags }
      refuseTooMany(found)
      return found
    },
    listTagKeys: store.listTagKeys,
  }
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
