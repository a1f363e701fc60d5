import type { Workflow } from '@millrace/contract/resources/workflow.ts'
import type { Integration } from '@millrace/contract/resources/workflow-integration.ts'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openWorkflowsApp, type WorkflowsApp } from '../support/workflows.ts'

/** Which integrations pages with the tracker attach, by what is stored. */

let flows: WorkflowsApp
beforeAll(async () => {
  flows = await openWorkflowsApp()
})
afterAll(() => flows.close())

const definition = (type = 'web', format = 'embed-html') => ({
  entrypoints: { hero: { type, format }, mail: { type: 'email', format: 'embed-image' } },
  nodes: {
    text: format === 'embed-html' ? { type: 'html', html: '<p>Hi</p>' } : { type: 'empty' },
    banner: { type: 'image', url: 'https://a.example/b.png' },
  },
  edges: { e1: { from: 'hero', to: 'text' }, e2: { from: 'mail', to: 'banner' } },
})

async function publish(workflow: Pick<Workflow, 'id'>, content: object): Promise<void> {
  const draft = await flows.draftOf(workflow)
  await flows.succeed(flows.save(workflow, draft, { definition: content }))
  await flows.succeed(flows.publish(workflow, draft))
}
const add = ({ id }: Pick<Workflow, 'id'>, body: object) =>
  flows.succeed(flows.call<Integration>('POST', `/${id}/integrations`, { entrypointId: 'hero', ...body }))
const change = ({ workflowId, id }: Integration, body: object) =>
  flows.succeed(flows.call<Integration>('PATCH', `/${workflowId}/integrations/${id}`, body))

async function attached(companyId = flows.app.companyId): Promise<Record<string, unknown>[]> {
  const { pageIntegrations } = flows.app.auth.services
  pageIntegrations.drop(undefined)
  return JSON.parse((await pageIntegrations.find(companyId)).body.toString()).integrations
}
const selectors = async () => (await attached()).map(({ selector }) => selector)

test('those that are enabled, have a selector, and whose entrypoint is live on the web', async () => {
  const workflow = await flows.create()
  const draft = await flows.draftOf(workflow)
  await flows.succeed(flows.save(workflow, draft, { definition: definition() }))
  const first = await add(workflow, { selector: '#first' })
  expect(await selectors(), 'not published').toEqual([])
  await flows.succeed(flows.publish(workflow, draft))
  await add(workflow, { selector: '#second', enabled: false })
  await add(workflow, {})
  await add(workflow, { entrypointId: 'mail' })
  expect(await selectors()).toEqual(['#first'])
  await change(first, { enabled: false })
  expect(await selectors()).toEqual([])
  await change(first, { enabled: true, selector: '#again' })
  expect(await selectors()).toEqual(['#again'])
  expect(await attached(flows.app.other.companyId), 'of another company').toEqual([])

  await publish(workflow, definition('mobile', 'json'))
  expect(await selectors(), 'the entrypoint is one of an app').toEqual([])
  await publish(workflow, definition())
  await flows.succeed(flows.act(workflow, 'archive'))
  expect(await selectors(), 'archived').toEqual([])
  await flows.succeed(flows.act(workflow, 'restore'))
  expect(await selectors()).toEqual(['#again'])
  await flows.succeed(flows.call('DELETE', `/${workflow.id}/integrations/${first.id}`))
  expect(await selectors()).toEqual([])
})

test('the oldest first over all workflows, with the addresses that the integrations have', async () => {
  const workflows = [await flows.published(definition()), await flows.published(definition())]
  const made: Integration[] = []
  for (const place of [0, 1, 0]) {
    const workflow = workflows[place]
    if (workflow) made.push(await add(workflow, { selector: `#n${made.length}`, parameters: { utm: 'a b' } }))
  }
  expect((await attached()).map(({ shortId, display, click }) => ({ shortId, display, click }))).toEqual(
    made.map(({ shortId, display, click }) => ({ shortId, display, click })),
  )
})
