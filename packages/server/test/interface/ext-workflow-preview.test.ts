import type { Workflow } from '@millrace/contract/resources/workflow.ts'
import type { WorkflowPreview } from '@millrace/contract/resources/workflow-preview.ts'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { edgesOf } from '../support/runner.ts'
import { openWorkflowsApp, type WorkflowsApp } from '../support/workflows.ts'

let world: WorkflowsApp

beforeAll(async () => {
  world = await openWorkflowsApp()
})

afterAll(() => world.close())

const definition = {
  entrypoints: { hero: { type: 'web', format: 'embed-html' } },
  nodes: {
    city: { type: 'parameter', parameter: 'city', kind: 'text' },
    visit: { type: 'context' },
    idle: { type: 'parameter', parameter: 'unused', kind: 'text' },
    gate: {
      type: 'conditions',
      name: 'Where from',
      cases: [
        {
          id: 'lyon',
          match: 'and',
          rules: [{ value: { node: 'city' }, type: 'text', operator: 'equals', to: [{ value: 'Lyon' }] }],
        },
      ],
    },
    bouchon: {
      type: 'html',
      html: '<p>{{hour}}, {{city}}</p>',
      bindings: { hour: { node: 'visit', field: 'time.hour' }, city: { node: 'city' } },
      redirect: { value: 'https://shop.example/lyon' },
    },
    other: { type: 'empty' },
  },
  edges: edgesOf(
    'hero>city',
    'city>visit',
    'visit>idle',
    'idle>gate',
    'gate.lyon>bouchon',
    'gate.default>other',
  ),
}

async function draft(): Promise<Workflow> {
  const workflow = await world.create()
  await world.succeed(world.save(workflow, await world.draftOf(workflow), { definition }))
  return workflow
}

const preview = (workflow: Pick<Workflow, 'id'>, body: object, token?: string) =>
  world.call<WorkflowPreview>('POST', `/${workflow.id}/preview`, body, token === undefined ? {} : { token })

test('a draft shows each step with its input, output and time, the branch and what would be answered', async () => {
  const workflow = await draft()
  const { data, status } = await preview(workflow, {
    entrypointId: 'hero',
    parameters: { city: 'Lyon', 'trk-l': 'fr_FR' },
    person: { client: 'ada' },
    now: '2026-01-15T12:30:00Z',
  })
  expect(status).toBe(200)
  expect(data.steps.map(({ node, output, skipped }) => [node, output, skipped])).toEqual([
    ['city', 'Lyon', undefined],
    ['gate', 'lyon', undefined],
    ['visit', expect.objectContaining({ 'user.id': 'ada', 'user.locale': 'fr_FR' }), undefined],
    ['idle', null, true],
    ['bouchon', { kind: 'html', body: '<p>12, Lyon</p>' }, undefined],
  ])
  expect(data.steps[1]).toMatchObject({ type: 'conditions', name: 'Where from', input: ['Lyon'] })
  expect(data.steps.every(({ milliseconds }) => milliseconds >= 0)).toBe(true)
  expect(data.output).toMatchObject({
    kind: 'html',
    status: 200,
    body: '<p>12, Lyon</p>',
    click: expect.stringMatching(/^https:\/\/shop\.example\/lyon\?city=Lyon&trk_id=/),
  })
  expect([data.returnCode, data.branchId?.length]).toEqual(['', 24])
})

test('a published version runs as it was published, whatever became of the draft', async () => {
  const workflow = await draft()
  const first = await world.draftOf(workflow)
  await world.succeed(world.publish(workflow, first))
  const next = await world.draftOf(workflow)
  const emptied = { ...definition, nodes: { ...definition.nodes, bouchon: { type: 'empty' } } }
  await world.succeed(world.save(workflow, next, { definition: emptied }))
  const asked = { entrypointId: 'hero', parameters: { city: 'Lyon' } }
  const kindOf = async (body: object) => (await preview(workflow, body)).data.output.kind
  expect(await kindOf({ ...asked, versionId: first.id.toUpperCase() })).toBe('html')
  expect(await kindOf(asked)).toBe('empty')
})

test('counts nowhere', async () => {
  const workflow = await draft()
  const { runner, collector } = world.app.context.services
  const before = [{ ...runner.totals }, collector.totals.kept]
  await preview(workflow, { entrypointId: 'hero' })
  expect([{ ...runner.totals }, collector.totals.kept]).toEqual(before)
})

test('names what is wrong with the request or the version', async () => {
  const workflow = await draft()
  const refused = async (body: object) => {
    const { status, error_code, data } = await preview(workflow, body)
    return { status, error_code, data }
  }
  expect((await preview(workflow, { entrypointId: 'gone' })).message).toMatch(
    /^The version has no entrypoint "gone"; there are: \w+/,
  )
  expect(await refused({ entrypointId: 'gone' })).toEqual({
    status: 400,
    error_code: 3500,
    data: { id: workflow.id, entrypointId: 'gone' },
  })
  expect(await refused({ entrypointId: 'hero', versionId: '65f0c0ffee5ca1ab1e0ddba1' })).toMatchObject({
    status: 404,
    error_code: 3001,
  })
  for (const [path, body] of [
    ['entrypointId', {}],
    ['now', { entrypointId: 'hero', now: 'soon' }],
    ['parameters.a', { entrypointId: 'hero', parameters: { a: 1 } }],
    ['parameters.a', { entrypointId: 'hero', parameters: { a: '\u0000' } }],
    ['parameters.a', { entrypointId: 'hero', parameters: { a: 'x'.repeat(2_001) } }],
    [
      'parameters',
      {
        entrypointId: 'hero',
        parameters: Object.fromEntries(Array.from({ length: 101 }, (_, i) => [`p${i}`, 'x'])),
      },
    ],
    ['person.client', { entrypointId: 'hero', person: { client: 'x'.repeat(513) } }],
    ['extra', { entrypointId: 'hero', extra: 1 }],
  ] as const) {
    const reply = await preview(workflow, body)
    expect([reply.status, reply.data]).toMatchObject([400, { errors: [{ path }] }])
  }
})

test('a draft that is not finished shows how far it comes; one with faults of shape is refused with them', async () => {
  const workflow = await world.create()
  const save = async (wanted: object) =>
    world.succeed(world.save(workflow, await world.draftOf(workflow), { definition: wanted }))
  await save({ ...definition, edges: edgesOf('hero>city', 'city>gate', 'gate.lyon>bouchon') })
  const { data } = await preview(workflow, { entrypointId: 'hero', parameters: { city: 'Nice' } })
  expect([data.returnCode, data.output.kind, data.branchId]).toEqual(['3501', null, null])
  expect(data.steps.map(({ node }) => node)).toEqual(['city', 'gate'])
  await save({ ...definition, nodes: { ...definition.nodes, gate: { type: 'gate' } } })
  const refused = await preview(workflow, { entrypointId: 'hero' })
  expect(refused).toMatchObject({
    status: 409,
    error_code: 3501,
    data: { id: workflow.id, errors: [{ path: expect.stringContaining('nodes.gate') }] },
  })
})

test('a workflow of another company is not there', async () => {
  const workflow = await draft()
  const reply = await preview(workflow, { entrypointId: 'hero' }, world.stranger.token)
  expect([reply.status, reply.error_code]).toEqual([404, 3000])
})
