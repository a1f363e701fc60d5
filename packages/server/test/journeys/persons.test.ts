import type { WorkflowPreview } from '@millrace/contract/resources/workflow-preview.ts'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { defaultTeam, publishWorkflow } from '../support/live-workflow.ts'
import { edgesOf } from '../support/runner.ts'
import { removeData, type Service, startService } from '../support/running-service.ts'

let service: Service

beforeAll(async () => {
  // Tests beside it take its time.
  service = await startService({ env: { MILLRACE_RUNNER_BUDGET_MS: '10000' } })
})

afterAll(async () => {
  expect(await service.stop()).toBe(0)
  removeData(service)
})

let sent = 0

const collect = (...events: readonly object[]): Promise<void> => collectAt(service.trackerUrl, ...events)

async function collectAt(trackerUrl: string, ...events: readonly object[]): Promise<void> {
  const body = events.map((event) => ({
    ...{ key: service.companyId, eventId: `event-${++sent}`, url: 'https://shop.example/', data: {}, v: 1 },
    ...event,
  }))
  const headers = { 'content-type': 'application/json' }
  const reply = await fetch(trackerUrl, { method: 'POST', headers, body: JSON.stringify(body) })
  expect(reply.status).toBe(200)
}

test('a workflow knows what the person did a moment ago, on each device, and to which cohort they belong', async () => {
  const cohort = await service.dataOf<{ id: string }>('POST', '/statistics/cohorts', {
    name: 'Buyers',
    rule: { event: { events: ['purchase'] } },
  })
  const teams = await service.dataOf<{ id: string }[]>('GET', '/entities/teams')
  const workflow = await service.dataOf<{ id: string }>('POST', '/workflows', {
    name: 'Welcome back',
    resourceGroupIds: teams.slice(0, 1).map(({ id }) => id),
  })
  const [version] = await service.dataOf<{ id: string }[]>('GET', `/workflows/${workflow.id}/versions`)
  const html = {
    type: 'html',
    html: '{{done}}',
    bindings: { done: { node: 'done', field: 'name', all: true } },
  }
  const definition = {
    entrypoints: { zone: { type: 'web', format: 'embed-html' } },
    nodes: {
      done: { type: 'events', lookBackHours: 24, datasourceId: service.datasourceId },
      buyers: { type: 'cohort', cohortId: cohort.id },
      thanks: html,
      offer: html,
    },
    edges: {
      e1: { from: 'zone', to: 'done' },
      e2: { from: 'done', to: 'buyers' },
      e3: { from: 'buyers', output: 'member', to: 'thanks' },
      e4: { from: 'buyers', output: 'default', to: 'offer' },
    },
  }
  const saved = await fetch(`${service.baseUrl}/workflows/${workflow.id}/versions/${version?.id}`, {
    method: 'PUT',
    headers: {
      authorization: `Bearer ${service.token}`,
      'content-type': 'application/json',
      'if-match': '"1"',
    },
    body: JSON.stringify({ definition }),
  })
  expect(saved.status).toBe(200)

  async function run(person: object) {
    const { steps } = await service.dataOf<WorkflowPreview>('POST', `/workflows/${workflow.id}/preview`, {
      entrypointId: 'zone',
      person,
    })
    const rows = steps.find(({ node }) => node === 'done')?.output as { name: string }[] | null
    return {
      did: rows?.map(({ name }) => name),
      cohort: steps.find(({ node }) => node === 'buyers')?.output,
      faults: steps.flatMap(({ fault }) => fault ?? []),
    }
  }
  const nothing = { did: [], cohort: 'default', faults: [] }

  expect(await run({ client: 'ada' })).toEqual(nothing)
  await collect({ name: 'page_view', tmpId: 'phone' }, { name: 'add_cart', tmpId: 'other' })
  await expect.poll(() => run({ device: 'phone' })).toEqual({ ...nothing, did: ['page_view'] })
  expect(await run({ client: 'ada' })).toEqual(nothing)
  await collect({ name: 'identify', tmpId: 'phone', clientId: 'ada' })
  await expect.poll(() => run({ client: 'ada' })).toEqual({ ...nothing, did: ['identify', 'page_view'] })
  const purchase = { name: 'purchase', tmpId: 'laptop', clientId: 'ada', value: 20, transId: 'order-1' }
  await collect({ ...purchase, data: { ids: ['SKU-1'] } })
  const buyer = { did: ['purchase', 'identify', 'page_view'], cohort: 'member', faults: [] }
  await expect.poll(() => run({ client: 'ada' })).toEqual(buyer)
  await expect.poll(() => run({ device: 'phone' })).toEqual(buyer)
  expect(await run({ device: 'other' })).toEqual({ ...nothing, did: ['add_cart'] })
})

test('a workflow reads the events of all datasources that its teams see, live as in a preview, and of no others', async () => {
  const ownTeam = await defaultTeam(service)
  const { id: userId } = await service.dataOf<{ id: string }>('GET', '/entities/users/me')
  const otherTeam = await service.dataOf<{ id: string }>('POST', '/entities/teams', {
    name: 'Call centre',
    memberIds: [userId],
  })
  const calls = await service.dataOf<{ id: string }>('POST', '/datasources', {
    name: 'Calls',
    resourceGroupIds: [otherTeam.id],
  })
  const { id, addresses } = await publishWorkflow(service, {
    entrypoints: { zone: { type: 'web', format: 'embed-html' } },
    nodes: {
      done: { type: 'events', lookBackHours: 24, exceptNames: ['workflow_display'] },
      shown: {
        type: 'html',
        html: 'done: {{names}}',
        bindings: { names: { node: 'done', field: 'name', all: true } },
      },
    },
    edges: edgesOf('zone>done', 'done>shown'),
  })
  const { origin } = new URL(service.trackerUrl)
  async function shown() {
    const live = await fetch(`${origin}${addresses.get('zone')}?trk-u=eve`)
    const { output } = await service.dataOf<WorkflowPreview>('POST', `/workflows/${id}/preview`, {
      entrypointId: 'zone',
      person: { client: 'eve' },
    })
    return [await live.text(), output.body]
  }
  await collectAt(`${origin}/collect/${calls.id}/tracker`, {
    name: 'call',
    tmpId: 'phone-2',
    clientId: 'eve',
  })
  await collect({ name: 'page_view', tmpId: 'phone-2', clientId: 'eve' })
  await expect.poll(shown).toEqual(['done: page_view', 'done: page_view'])
  await service.dataOf('PATCH', `/datasources/${calls.id}`, { resourceGroupIds: [otherTeam.id, ownTeam] })
  await expect
    .poll(async () => (await shown()).map((text) => text?.includes('call') && text.includes('page_view')))
    .toEqual([true, true])
  // Nothing names it, so that it can be taken away again.
  await service.dataOf('PATCH', `/datasources/${calls.id}`, { resourceGroupIds: [otherTeam.id] })
  await expect.poll(shown).toEqual(['done: page_view', 'done: page_view'])
})
