import type { WorkflowDefinition } from '@millrace/contract/resources/workflow-definition.ts'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { publishHeld } from '../../src/features/personalisation/versions/publish-version.ts'
import { readContent } from '../../src/features/personalisation/versions/version-content.ts'
import { createVersionStore } from '../../src/features/personalisation/versions/version-store.ts'
import { createWorkflowStore } from '../../src/features/personalisation/workflow-store.ts'
import { known, knownResources } from '../support/generated-definitions.ts'
import { openWorkflowsApp, type WorkflowsApp } from '../support/workflows.ts'

let opened: WorkflowsApp

beforeAll(async () => {
  opened = await openWorkflowsApp()
})
afterAll(() => opened.close())

test('what runs has the automatic bindings of its template, which the version itself does not show', async () => {
  const { relational } = opened
  const created = await opened.create()
  const draft = await opened.draftOf(created)
  const definition: WorkflowDefinition = {
    nodes: {
      products: { type: 'datasource', datasourceId: known.datasource },
      answer: { type: 'json', templateId: known.template, bindings: { title: { value: 'Shoes' } } },
    },
    entrypoints: { zone: { type: 'web', format: 'json' } },
    edges: { e1: { from: 'zone', to: 'products' }, e2: { from: 'products', to: 'answer' } },
  }
  await opened.succeed(opened.save(created, draft, { definition }))
  const key = { companyId: created.companyId, id: created.id }
  await relational.transaction(async (tx) => {
    const workflow = await createWorkflowStore(tx).findByKey(key)
    const version = await createVersionStore(tx).find({ ...key, workflowId: key.id, id: draft.id })
    if (!workflow || !version) throw new Error('both were made above')
    const held = { workflow, version, content: readContent(version), resources: knownResources }
    await publishHeld(tx, held, { userId: opened.admin.id, now: Date.now() })
  })
  const live = await createVersionStore(relational.db).findPublished(key)
  expect(live?.definition.nodes.answer).toEqual({
    type: 'json',
    templateId: known.template,
    bindings: {
      title: { value: 'Shoes' },
      price: { node: 'products', field: 'price', all: true },
      day: { node: 'products', field: 'day', row: 1 },
    },
  })
  const { versions } = await opened.read(created)
  expect(versions.map((version) => version.definition.nodes.answer)).toEqual([
    definition.nodes.answer,
    definition.nodes.answer,
  ])
})
