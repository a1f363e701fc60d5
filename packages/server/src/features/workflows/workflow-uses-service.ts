import type { AnalyzeOverrides, WorkflowVersion } from '@millrace/contract/resources/workflow-version.ts'
import { DomainError } from '../../platform/errors.ts'
import type { Queries } from '../../platform/stores/relational.ts'
import type { ReadResources } from './read-resources.ts'
import { analyseContent, type Content, listReferences, readContent } from './versions/version-content.ts'
import { createVersionStore, type VersionReference } from './versions/version-store.ts'
import { createWorkflowStore } from './workflow-store.ts'

/** Workflows that a failure names. */
const maxNamed = 20

/** A tag key, or one value of it. */
export interface DeletedTag {
  readonly companyId: string
  readonly tagKeyId: string
  readonly valueId?: string
}

export type WorkflowUses = ReturnType<typeof createWorkflowUses>

/** What workflows use of other features, asked and changed inside the transaction that deletes it. */
export function createWorkflowUses({ readResources }: { readonly readResources: ReadResources }) {
  /** Changes every draft and live version that names the object. */
  async function rewrite(
    tx: Queries,
    companyId: string,
    reference: VersionReference,
    edit: (content: Content) => Content,
  ): Promise<void> {
    const versions = createVersionStore(tx)
    const workflows = createWorkflowStore(tx)
    for (const key of await versions.listNamingForUpdate(companyId, reference)) {
      const version = await versions.find(key)
      const workflow = await workflows.findByKey({ companyId, id: key.workflowId })
      if (!version || !workflow) continue
      const edited = edit(version)
      const content = readContent(edited)
      const teamIds = workflow.resourceGroupIds
      const asked = { companyId, teamIds, references: content.references, lock: false }
      const resources = await readResources(tx, asked)
      const { definition, analyzeOverrides } = edited
      const analysed = analyseContent(edited, content, resources)
      await versions.update(key, { definition, analyzeOverrides, ...analysed })
      await versions.replaceReferences(key, listReferences(content))
      const published = await versions.findPublication(key)
      if (published) {
        const shown = edit({ definition: published.definition, analyzeOverrides })
        await versions.updatePublication(key, readContent(shown).definition)
      }
      await workflows.update(workflow, {})
    }
  }

  return {
    /** Published workflows that use the object, by name: all, or those of none of the teams. */
    listPublished(
      tx: Queries,
      companyId: string,
      reference: VersionReference,
      outsideTeams?: readonly string[],
    ) {
      const filter = { publishedOnly: true, outsideTeams, limit: 100 }
      return createVersionStore(tx).listUses(companyId, reference, filter)
    },

    /**
     * @param seen identifiers of the workflows that may be named to who asks; those of other teams are not
     * @throws {DomainError} `usedByWorkflows` while a published workflow uses the object
     */
    async requireUnused(
      tx: Queries,
      companyId: string,
      reference: VersionReference,
      seen: 'all' | readonly string[] = 'all',
    ): Promise<void> {
      const workflows = await this.listPublished(tx, companyId, reference)
      if (workflows.length === 0) return
      const shown = workflows.filter(({ id }) => seen === 'all' || seen.includes(id))
      const named = shown.slice(0, maxNamed)
      const names = [
        ...named.map(({ name }) => `"${name}"`),
        ...(shown.length < workflows.length ? ['some of other teams'] : []),
      ].join(', ')
      throw new DomainError(
        'usedByWorkflows',
        { id: reference.resourceId, workflows: named },
        { message: `Published workflows use this: ${names}; change them and publish, or archive them first` },
      )
    },

    /** @throws {DomainError} `unknownWorkflow` */
    async requireWorkflows(tx: Queries, companyId: string, ids: readonly string[]): Promise<void> {
      const known = new Set(await createWorkflowStore(tx).listKnown(companyId, ids))
      const unknown = ids.filter((id) => !known.has(id))
      if (unknown.length > 0) throw new DomainError('unknownWorkflow', { workflowIds: unknown })
    },

    /** Branches lose the tag (docs/interface.md, Operations). */
    forgetTag(tx: Queries, { companyId, tagKeyId, valueId }: DeletedTag): Promise<void> {
      const isGone = (tag: unknown) => {
        const named = readTag(tag)
        return named.tagKeyId === tagKeyId && (valueId === undefined || named.tagValueId === valueId)
      }
      const reference: VersionReference =
        valueId === undefined
          ? { kind: 'tag-key', resourceId: tagKeyId }
          : { kind: 'tag-value', resourceId: valueId }
      return rewrite(tx, companyId, reference, ({ definition, analyzeOverrides }) => ({
        definition: withEdges(definition, (edge) => ({
          ...edge,
          ...(Array.isArray(edge.tags) && { tags: edge.tags.filter((tag) => !isGone(tag)) }),
        })),
        analyzeOverrides: {
          ...analyzeOverrides,
          branchTags: analyzeOverrides.branchTags.filter((tag) => !isGone(tag)),
        },
      }))
    },

    /** Branches lose the category. */
    forgetCategory(tx: Queries, companyId: string, categoryId: string): Promise<void> {
      return rewrite(tx, companyId, { kind: 'category', resourceId: categoryId }, (content) => ({
        definition: withEdges(content.definition, ({ categoryId: id, ...edge }) =>
          typeof id === 'string' && id.toLowerCase() !== categoryId ? { ...edge, categoryId: id } : edge,
        ),
        analyzeOverrides: withoutCategory(content.analyzeOverrides, categoryId),
      }))
    },
  }
}

type StoredEdge = Readonly<Record<string, unknown>>

/** A tag of an edge of a draft, which may be anything. */
function readTag(tag: unknown): { tagKeyId: string; tagValueId: string } {
  const { tagKeyId, tagValueId } = (tag ?? {}) as Record<string, unknown>
  return { tagKeyId: String(tagKeyId).toLowerCase(), tagValueId: String(tagValueId).toLowerCase() }
}

/** Edges of a draft may be anything; what is no object stays as it is. */
function withEdges(
  definition: WorkflowVersion['definition'],
  edit: (edge: StoredEdge) => StoredEdge,
): WorkflowVersion['definition'] {
  const edges = Object.entries(definition.edges).map(([id, edge]) => [
    id,
    edge !== null && typeof edge === 'object' && !Array.isArray(edge) ? edit(edge as StoredEdge) : edge,
  ])
  return { ...definition, edges: Object.fromEntries(edges) }
}

function withoutCategory(overrides: AnalyzeOverrides, categoryId: string): AnalyzeOverrides {
  const kept = Object.entries(overrides.branchCategoryIds).filter(([, id]) => id !== categoryId)
  return { ...overrides, branchCategoryIds: Object.fromEntries(kept) }
}
