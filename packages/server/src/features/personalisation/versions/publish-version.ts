import { newId } from '../../../platform/ids.ts'
import type { Queries } from '../../../platform/stores/relational.ts'
import { withAutomaticBindings } from '../definition/definition-graph.ts'
import { createWorkflowStore } from '../workflow-store.ts'
import { analyseContent, listReferences } from './version-content.ts'
import type { HeldVersion } from './version-reader.ts'
import { createVersionStore } from './version-store.ts'

/** Makes the held draft the live version, keeps the former one, and begins another draft with its content. */
export async function publishHeld(
  tx: Queries,
  { workflow, version, content, resources }: HeldVersion,
  { userId, now }: { readonly userId: string; readonly now: number },
): Promise<void> {
  const { companyId, id: workflowId } = workflow
  const store = createVersionStore(tx)
  const former = await store.findInState(workflow, 'live')
  if (former) {
    await store.update(former, { state: 'inactive' })
    await store.replaceReferences(former, [])
  }
  const analysed = analyseContent(version, content, resources)
  const references = listReferences(content)
  await store.update(version, {
    state: 'live',
    publishedAt: new Date(now),
    lastSavedBy: userId,
    ...analysed,
  })
  await store.replaceReferences(version, references)
  await store.insertPublication(version, {
    definition: withAutomaticBindings(content.definition, resources),
    templates: Object.fromEntries(resources.templates),
    publishedBy: userId,
  })
  const { definition, analyzeOverrides, metadata } = version
  const draft = { id: newId(), companyId, workflowId }
  await store.insert({ ...draft, definition, analyzeOverrides, metadata, ...analysed, lastSavedBy: userId })
  await store.replaceReferences(draft, references)
  await createWorkflowStore(tx).update(workflow, { status: 'published', publishedVersionId: version.id })
}
