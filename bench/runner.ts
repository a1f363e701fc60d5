/**
 * Displays of a live JSON workflow of ten nodes with a look-up in a datasource: their rate against the limit of this
 * machine in the same run, their latency at a fixed rate, and what they leave of the collector's rate.
 * Run: `npm run bench -- runner [--seconds 10] [--rounds 3] [--rate 2000]`
 */
import { spawn } from 'node:child_process'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { defaultTeam, publishWorkflow } from '../packages/server/test/support/live-workflow.ts'
import { edgesOf } from '../packages/server/test/support/runner.ts'
import { removeData, type Service, startService } from '../packages/server/test/support/running-service.ts'
import { median, printTable, type Row } from './support/machine.ts'
import type { PacedResult } from './support/paced.ts'
import { runSender } from './support/sender.ts'
import { driveDisplays, driveEvents } from './support/wrk.ts'

const { values } = parseArgs({
  options: {
    seconds: { type: 'string', default: '10' },
    rounds: { type: 'string', default: '3' },
    rate: { type: 'string', default: '2000' },
  },
})
const seconds = Number(values.seconds)
const rounds = Number(values.rounds)
const rate = Number(values.rate)
const cities = 1_000

async function startBareServer(): Promise<{ url: string; stop: () => void }> {
  const child = spawn(process.execPath, [new URL('./support/bare-server.ts', import.meta.url).pathname], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const port = await new Promise<string>((resolve) => {
    child.stdout.setEncoding('utf8').once('data', (text: string) => resolve(text.trim()))
  })
  return { url: `http://127.0.0.1:${port}/r/abcdef1234`, stop: () => child.kill() }
}

/** A datasource with an offer for each city. @returns its identifier once it is live */
async function makeOffers(service: Service): Promise<string> {
  const { id } = await service.dataOf<{ id: string }>('POST', '/datasources', {
    name: 'Offers',
    mode: 'worker',
    source: { type: 'file' },
  })
  const lines = Array.from({ length: cities }, (_, i) => `city-${i},Offer ${i},${i / 100}`)
  const upload = await fetch(`${service.baseUrl}/datasources/${id}/content?fileName=offers.csv`, {
    method: 'PUT',
    headers: { authorization: `Bearer ${service.token}`, 'content-type': 'application/octet-stream' },
    body: ['city,title,price', ...lines].join('\n'),
  })
  if (!upload.ok) throw new Error(await upload.text())
  const { fields } = await service.dataOf<{ fields: Record<string, unknown>[] }>(
    'POST',
    `/datasources/worker/${id}/analyzer`,
  )
  await service.dataOf('PATCH', `/datasources/${id}/fields`, {
    fields: fields.map((field) => ({ ...field, selected: true, isKey: field.name === 'city' })),
  })
  await service.dataOf('POST', `/datasources/${id}/versions/live`)
  for (;;) {
    const [last] = await service.dataOf<{ state: string }[]>('GET', `/datasources/${id}/imports`)
    if (last?.state === 'done') return id
    if (last && last.state !== 'queued' && last.state !== 'running') throw new Error(JSON.stringify(last))
    await sleep(100)
  }
}

/** @returns the path of its address */
async function makeWorkflow(service: Service): Promise<string> {
  const datasourceId = await makeOffers(service)
  const variable = (name: string) => ({ name, type: 'scalar' })
  const leaf = (name: string) => ({ type: 'dependency', variable: name })
  const { id: templateId } = await service.dataOf<{ id: string }>('POST', '/workflows/json-templates', {
    name: 'Offer',
    resourceGroupIds: [await defaultTeam(service)],
    definition: { title: leaf('title'), price: leaf('price'), city: leaf('city') },
    variables: [variable('title'), variable('price'), variable('city')],
  })
  const text = (node: string, field: string, to: string) => ({
    value: { node, field },
    type: 'text',
    operator: 'equals',
    to: [{ value: to }],
  })
  const offer = (field: string) => ({ node: 'offer', field })
  const json = (bindings: object) => ({ type: 'json', templateId, bindings })
  const { addresses } = await publishWorkflow(service, {
    entrypoints: { zone: { type: 'web', format: 'json' } },
    nodes: {
      visit: { type: 'context' },
      city: { type: 'parameter', parameter: 'city', kind: 'text', default: 'city-1' },
      offer: {
        type: 'datasource',
        datasourceId,
        filters: [{ field: 'city', operator: '$eq', value: { node: 'city' } }],
        limit: 1,
      },
      label: {
        type: 'transform',
        expression: { function: 'case', arguments: [{ node: 'city' }, { value: 'upper' }] },
      },
      gate: {
        type: 'conditions',
        cases: [
          { id: 'french', match: 'and', rules: [text('visit', 'user.locale', 'fr_FR')] },
          { id: 'none', match: 'or', rules: [text('offer', 'title', 'Nothing')] },
        ],
      },
      parts: {
        type: 'split',
        groups: [
          { id: 'A', share: 50 },
          { id: 'B', share: 50 },
        ],
      },
      french: json({ title: { value: 'Bonjour' }, price: offer('price'), city: { node: 'label' } }),
      nothing: { type: 'empty' },
      first: json({ title: offer('title'), price: offer('price'), city: { node: 'label' } }),
      second: json({ title: { value: 'Today' }, price: offer('price'), city: { node: 'label' } }),
    },
    edges: edgesOf(
      'zone>visit',
      'visit>city',
      'city>offer',
      'offer>label',
      'label>gate',
      'gate.french>french',
      'gate.none>nothing',
      'gate.default>parts',
      'parts.A>first',
      'parts.B>second',
    ),
  })
  return addresses.get('zone') ?? ''
}

function pacedDisplays(port: string, path: string, at: number): Promise<PacedResult & { failed: number }> {
  return runSender('./paced-displays.lua', [port, path, Math.round(at), seconds, 64, cities])
}

const format = (value: number): string => Math.round(value).toLocaleString('en-US')
const ratio = (value: number): string => value.toFixed(2)

const service = await startService()
const bare = await startBareServer()
const rows: Row[] = []
try {
  const path = await makeWorkflow(service)
  const { origin, port } = new URL(service.baseUrl)
  const display = async (): Promise<number> => {
    const result = await driveDisplays({ url: `${origin}${path}`, seconds, cities })
    if (result.failures > 0) throw new Error(`${result.failures} displays failed`)
    return result.requestsPerSecond
  }
  const collect = async (): Promise<number> => {
    const result = await driveEvents({ url: service.trackerUrl, key: service.companyId, seconds })
    if (result.failures > 0) throw new Error(`${result.failures} events failed`)
    return result.requestsPerSecond
  }
  await display()

  const bareRates: number[] = []
  const displayRates: number[] = []
  for (let round = 0; round < rounds; round++) {
    bareRates.push((await driveDisplays({ url: bare.url, seconds, cities })).requestsPerSecond)
    displayRates.push(await display())
  }
  const displays = median(displayRates)
  rows.push(['bare node:http', `${format(median(bareRates))} requests/s`, '1.00', ''])
  rows.push([
    'displays of a JSON workflow of 10 nodes with a look-up',
    `${format(displays)} requests/s`,
    ratio(median(displayRates.map((each, i) => each / (bareRates[i] ?? 1)))),
    '>= 0.35',
  ])

  const calm = await pacedDisplays(port, path, rate)
  if (calm.failed > 0) throw new Error(`${calm.failed} displays failed`)
  rows.push([`p99 at ${format(rate)} displays/s`, `${calm.p99} ms (p50 ${calm.p50})`, '', '< 20 ms'])

  const alone: number[] = []
  const beside: number[] = []
  for (let round = 0; round < rounds; round++) {
    alone.push(await collect())
    const [events] = await Promise.all([collect(), pacedDisplays(port, path, displays / 2)])
    beside.push(events)
  }
  rows.push([
    'collector beside the runner at half its rate',
    `${format(median(beside))} requests/s`,
    `${ratio(median(beside.map((each, i) => each / (alone[i] ?? 1))))} of alone`,
    '>= 0.55',
  ])
  const [means] = await service.query({
    measures: ['workflows.generationTime'],
    dimensions: [],
    filters: [],
    timeDimensions: [],
  })
  const mean = Number(means?.['workflows.generationTime'])
  rows.push(['mean time of a run, without its event', `${mean.toFixed(2)} ms`, '', ''])
  printTable('Runner', rows)
} finally {
  bare.stop()
  await service.stop()
  removeData(service)
}
