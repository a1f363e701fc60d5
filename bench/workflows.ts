/**
 * Saving, validating and publishing a graph of many nodes through the interface, against reading the same version.
 * Run: `npm run bench -- workflows [--nodes 200] [--rounds 30]`
 */
import { parseArgs } from 'node:util'
import type { Workflow } from '../packages/contract/src/resources/workflow.ts'
import type { WorkflowVersion } from '../packages/contract/src/resources/workflow-version.ts'
import { removeData, startService } from '../packages/server/test/support/running-service.ts'
import { median, printTable, type Row } from './support/machine.ts'

const { values } = parseArgs({
  options: { nodes: { type: 'string', default: '200' }, rounds: { type: 'string', default: '30' } },
})
const nodes = Number(values.nodes)
const rounds = Number(values.rounds)
const maxPublishMs = 300

/** A parameter and a chain of conditions, each with an image for its case: as many branches as half the nodes. */
function chain(count: number, round: number) {
  const conditions = Math.floor((count - 2) / 2)
  const parts = { nodes: {} as Record<string, object>, edges: {} as Record<string, object> }
  parts.nodes.parameter = { type: 'parameter', parameter: 'segment', kind: 'text' }
  parts.nodes.none = { type: 'empty' }
  parts.edges.start = { from: 'zone', to: 'parameter' }
  parts.edges.first = { from: 'parameter', to: 'c0' }
  for (let i = 0; i < conditions; i++) {
    const rules = [
      { value: { node: 'parameter' }, type: 'text', operator: 'equals', to: [{ value: `segment ${i}` }] },
    ]
    parts.nodes[`c${i}`] = { type: 'conditions', cases: [{ id: 'yes', match: 'and', rules }] }
    parts.nodes[`i${i}`] = { type: 'image', url: `https://shop.example/${round}/${i}.png` }
    parts.edges[`y${i}`] = { from: `c${i}`, to: `i${i}`, output: 'yes' }
    const next = i + 1 < conditions ? `c${i + 1}` : 'none'
    parts.edges[`n${i}`] = { from: `c${i}`, to: next, output: 'default' }
  }
  return { entrypoints: { zone: { type: 'email', format: 'embed-image' } }, ...parts }
}

const service = await startService()
const times = {
  save: [] as number[],
  validate: [] as number[],
  publish: [] as number[],
  read: [] as number[],
}

async function call<T>(method: string, path: string, body?: unknown): Promise<T> {
  const reply = await fetch(`${service.baseUrl}${path}`, {
    method,
    headers: {
      authorization: `Bearer ${service.token}`,
      'if-match': '*',
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
  const text = await reply.text()
  if (!reply.ok) throw new Error(`${method} ${path} answers ${reply.status}: ${text.slice(0, 500)}`)
  return (JSON.parse(text) as { data: T }).data
}

async function timed<T>(what: keyof typeof times, work: () => Promise<T>): Promise<T> {
  const begun = performance.now()
  const result = await work()
  times[what].push(performance.now() - begun)
  return result
}

function row(what: string, measured: readonly number[], yardstick: number, target = '-'): Row {
  const sorted = measured.toSorted((a, b) => a - b)
  const middle = median(measured)
  const last = sorted.at(-1) ?? Number.NaN
  const figure = `median ${middle.toFixed(1)} ms, longest ${last.toFixed(1)} ms`
  return [what, figure, `${(middle / yardstick).toFixed(1)} x read`, target]
}

try {
  const [team] = await call<{ id: string }[]>('GET', '/entities/teams')
  const created = await call<Workflow>('POST', '/workflows', { name: 'Chain', resourceGroupIds: [team?.id] })
  const path = `/workflows/${created.id}/versions`
  for (let round = 0; round < rounds; round++) {
    const [draft] = await call<WorkflowVersion[]>('GET', `${path}?perPage=1`)
    const version = `${path}/${draft?.id}`
    const definition = chain(nodes, round)
    await timed('save', () => call('PUT', version, { definition }))
    await timed('validate', () => call('POST', `${version}/validate`))
    await timed('publish', () => call('POST', `${version}/publish`))
    await timed('read', () => call('GET', version))
  }
  const yardstick = median(times.read)
  const last = await call<Workflow>('GET', `/workflows/${created.id}`)
  const branches = last.versions[0]?.analyze.branches.length
  printTable('Workflows', [
    row(`read a version of ${nodes} nodes and ${branches} branches`, times.read, yardstick),
    row('save it', times.save, yardstick),
    row('validate it', times.validate, yardstick),
    row('publish it', times.publish, yardstick, `median under ${maxPublishMs} ms`),
  ])
} finally {
  await service.stop()
  removeData(service)
}
