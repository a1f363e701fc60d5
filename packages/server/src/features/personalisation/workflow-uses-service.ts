import type { AnalyzeOverrides, WorkflowVersion } from '@millrace/contract/resources/workflow-version.ts'
import { DomainError } from '../../platform/errors.ts'
import { otherTeams } from '../../platform/statistics-rights.ts'
import type { Queries } from '../../platform/stores/relational.ts'
import type { ReadResources } from './read-resources.ts'
import { analyseContent, type Content, listReferences, readContent } from './versions/version-content.ts'
import { createVersionStore, type VersionReference } from './versions/version-store.ts'
import { createWorkflowStore } from './workflow-store.ts'

/** Workflows that a failure names. */
const maxNamed = 20

/** The user who is told of uses. */
export interface UsesReader {
  readonly companyId: string
  readonly readerId: string
}

/** Of which workflows the user may know the names (docs/statistics.md, Workflows of other teams). */
export type ReadWorkflowSight = (tx: Queries, reader: UsesReader) => Promise<'all' | readonly string[]>

/** A tag key, or one value of it. */
export interface DeletedTag {
  readonly companyId: string
  readonly tagKeyId: string
  readonly valueId?: string
}

export type WorkflowUses = ReturnType<typeof createWorkflowUses>

/** What workflows use of other features, asked and changed inside the transaction that deletes it. */
export function createWorkflowUses({
  readResources,
  readVisibleWorkflows,
}: {
  readonly readResources: ReadResources
  readonly readVisibleWorkflows: ReadWorkflowSight
}) {
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
      const resources = await readResources(tx, workflow, content)
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
    /**
     * Published workflows that use the object, by name: all, or those of none of the teams. Those whose names the
     * reader may not know are called alike, and come last.
     */
    async listPublished(
      tx: Queries,
      reader: UsesReader,
      reference: VersionReference,
      outsideTeams?: readonly string[],
    ): Promise<{ id: string; name: string }[]> {
      const filter = { publishedOnly: true, outsideTeams, limit: 100 }
      const uses = await createVersionStore(tx).listUses(reader.companyId, reference, filter)
      if (uses.length === 0) return uses
      const visibleWorkflows = await readVisibleWorkflows(tx, reader)
      const isSeen = ({ id }: { id: string }) => visibleWorkflows === 'all' || visibleWorkflows.includes(id)
      const unseen = uses.filter((use) => !isSeen(use)).map(({ id }) => ({ id, name: otherTeams }))
      return [...uses.filter(isSeen), ...unseen]
    },

    /** @throws {DomainError} `usedByWorkflows` while a published workflow uses the object */
    async requireUnused(tx: Queries, reader: UsesReader, reference: VersionReference): Promise<void> {
      const workflows = await this.listPublished(tx, reader, reference)
      if (workflows.length === 0) return
      const named = workflows.slice(0, maxNamed)
      const names = [...new Set(named.map(({ name }) => `"${name}"`))].join(', ')
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
