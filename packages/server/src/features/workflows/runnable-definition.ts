import type { WorkflowDefinition } from '@millrace/contract/resources/workflow-definition.ts'
import type { Queries } from '../../platform/stores/relational.ts'
import { withAutomaticBindings } from './definition/bindings.ts'
import type { KnownTemplate } from './definition/definition-resources.ts'
import { referencesOf } from './definition/references-of.ts'
import type { ReadResources } from './read-resources.ts'
import { noResources } from './versions/version-content.ts'

interface Readable {
  readonly companyId: string
  /** Of the workflow. */
  readonly teamIds: readonly string[]
  readonly definition: WorkflowDefinition
  readonly templates: Readonly<Record<string, KnownTemplate>>
}

/**
 * The definition as it runs: with the bindings that variables of its templates have by their name alone. Datasources are
 * read only where a variable has no binding of its own.
 */
export async function runnableDefinition(
  queries: Queries,
  readResources: ReadResources,
  { companyId, teamIds, definition, templates }: Readable,
): Promise<WorkflowDefinition> {
  const isUnbound = Object.values(definition.nodes).some((node) => {
    if (node.type !== 'json') return false
    const { bindings = {}, templateId } = node
    return templates[templateId]?.variables.some(({ name }) => !Object.hasOwn(bindings, name)) ?? false
  })
  if (!isUnbound) return definition
  const { datasourceIds } = referencesOf(definition)
  const { datasources } = await readResources(queries, {
    companyId,
    teamIds,
    references: { ...referencesOf({ nodes: {}, entrypoints: {}, edges: {} }), datasourceIds },
    lock: false,
  })
  const known = { ...noResources, datasources, templates: new Map(Object.entries(templates)) }
  return withAutomaticBindings(definition, known)
}
