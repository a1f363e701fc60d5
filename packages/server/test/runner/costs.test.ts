import type { Binding, WorkflowNode } from '@millrace/contract/resources/workflow-definition.ts'
import { expect, test } from 'vitest'
import { createRunnerWorld, htmlZone, jsonZone, runnerTemplate, straight } from '../support/runner.ts'

const isFault = (pattern: RegExp) => (warning: { readonly fields: object }) =>
  pattern.test(String((warning.fields as { err?: unknown }).err))

test('transforms stop to compute where the run has computed for its budget', async () => {
  const world = createRunnerWorld({ timeLimitMs: 20 })
  // Every match reads on to the end of the text, so that a replacement takes quadratic time.
  const argument = { value: 'a'.repeat(10_000) }
  const expression = {
    function: 'replace',
    arguments: [argument, { value: 'a.*b|a' }, { value: '-' }, { value: 'pattern' }],
  }
  const ids = Array.from({ length: 100 }, (_, place) => `t${place}`)
  const transforms = ids.map((id): [string, WorkflowNode] => [id, { type: 'transform', expression }])
  const values = ids.map((id): [string, Binding] => [id, { node: id }])
  const output: WorkflowNode = {
    type: 'html',
    html: `shown${ids.map((id) => `{{${id}}}`).join('')}`,
    bindings: Object.fromEntries(values),
  }
  await world.publish({ definition: straight(htmlZone, output, Object.fromEntries(transforms)) })
  const reply = await world.get('/r/abcdef1234')
  expect([reply.statusCode, reply.body]).toEqual([200, 'shown'])
  expect(world.recorded[0]?.data.returnCode).toBe('3502')
  expect(world.warnings.filter(isFault(/has computed for 20 ms/))).toHaveLength(ids.length)
})

test('conditions stop to compare where the run has computed for its budget', async () => {
  const world = createRunnerWorld({ timeLimitMs: 20 })
  const long = 'a'.repeat(10_000)
  const rule = {
    value: { value: `${long}${long}` },
    type: 'text' as const,
    operator: 'contains' as const,
    to: Array.from({ length: 100 }, () => ({
      value: Array.from({ length: 1_000 }, () => `${'a'.repeat(5_000)}b`),
    })),
  }
  const gate: WorkflowNode = { type: 'conditions', cases: [{ id: 'found', match: 'or', rules: [rule] }] }
  await world.publish({
    definition: {
      entrypoints: { zone: htmlZone },
      nodes: { gate, yes: { type: 'html', html: 'yes' }, no: { type: 'html', html: 'no' } },
      edges: {
        e1: { from: 'zone', to: 'gate' },
        e2: { from: 'gate', to: 'yes', output: 'found' },
        e3: { from: 'gate', to: 'no', output: 'default' },
      },
    },
  })
  expect((await world.get('/r/abcdef1234')).body).toBe('no')
  expect(world.warnings.filter(isFault(/has computed for 20 ms/))).toHaveLength(1)
})

test('a content that values make too long is not made', async () => {
  const world = createRunnerWorld()
  const city: WorkflowNode = { type: 'parameter', parameter: 'city', kind: 'text' }
  const html: WorkflowNode = {
    type: 'html',
    html: '{{city}}'.repeat(2_000),
    bindings: { city: { node: 'city' } },
  }
  const json: WorkflowNode = {
    type: 'json',
    templateId: runnerTemplate,
    bindings: { city: { node: 'city' } },
  }
  const leaves = Array.from({ length: 1_000 }, (_, place) => [
    `l${place}`,
    { type: 'dependency', variable: 'city' },
  ])
  const templates = {
    [runnerTemplate]: {
      definition: { all: Object.fromEntries(leaves) },
      variables: [{ name: 'city', type: 'scalar' as const }],
    },
  }
  for (const [zone, output] of [
    [htmlZone, html],
    [jsonZone, json],
  ] as const) {
    await world.publish({ definition: straight(zone, output, { city }), templates })
    const short = await world.get('/r/abcdef1234?city=Lyon')
    expect([short.statusCode, short.body.split('Lyon').length > 1_000]).toEqual([200, true])
    const long = await world.get(`/r/abcdef1234?city=${'x'.repeat(2_000)}`)
    expect([long.statusCode, long.body]).toEqual([204, ''])
  }
  expect(world.warnings.filter(isFault(/more than 1000000 characters/))).toHaveLength(1)
})
