/**
 * Four of the largest answers at once while events arrive: the service's own memory, and the collector's latency.
 * Run: `npm run bench -- large-answers [--seconds 20] [--rate 500] [--rows 50000]`
 */
import { readFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { removeData, startService } from '../packages/server/test/support/running-service.ts'
import { readCounters, untilLoaded } from './support/fill.ts'
import { printTable, type Row } from './support/machine.ts'
import { paced } from './support/paced.ts'

const { values } = parseArgs({
  options: {
    seconds: { type: 'string', default: '20' },
    rate: { type: 'string', default: '500' },
    rows: { type: 'string', default: '50000' },
    settle: { type: 'string', default: '10' },
  },
})
const seconds = Number(values.seconds)
const rate = Number(values.rate)
const allRows = Number(values.rows)
const atOnce = 4

const note = 'n'.repeat(4_000)
const itemsOfEvent = 1_000
const service = await startService()

/** Events whose every identifier is a row of its own with the whole label. */
async function collectWideEvents(): Promise<void> {
  const { accepted } = await readCounters(service)
  const count = Math.ceil(allRows / itemsOfEvent)
  for (let i = 0; i < count; i++) {
    const reply = await fetch(service.trackerUrl, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({
        key: service.companyId,
        name: 'wide',
        url: 'https://shop.example/',
        tmpId: 'wide',
        data: { ids: Array.from({ length: itemsOfEvent }, (_, j) => `item-${i}-${j}`), note },
        eventId: `wide-${i}`,
        v: 1,
      }),
    })
    if (reply.status !== 200) throw new Error(`an event was answered with ${reply.status}`)
  }
  await untilLoaded(service, accepted + count, 60_000)
}

interface Asked {
  readonly status: number
  readonly bytes: number
}

/** Asks for so many of the wide rows and throws the answer away as it comes. */
async function ask(limit: number, accept: string, search = ''): Promise<Asked> {
  const query = {
    measures: [],
    dimensions: ['events.item', 'events.label.note'],
    filters: [{ member: 'events.name', operator: 'equals', values: ['wide'] }],
    timeDimensions: [],
    limit,
  }
  const reply = await service.call('POST', `/v2/statistics/query${search}`, query, accept)
  let bytes = 0
  for await (const chunk of reply.body ?? []) bytes += (chunk as Uint8Array).length
  return { status: reply.status, bytes }
}

/** Resident memory of the service's own process, without its stores, in MiB. */
function residentMemory(): number {
  const status = readFileSync(`/proc/${service.pid}/status`, 'utf8')
  return Number(/VmRSS:\s+(\d+)/.exec(status)?.[1]) / 1024
}

interface Measured {
  readonly p50: number
  readonly p99: number
  readonly grown: number
  readonly answers: readonly Asked[]
}

/** Sends events at the rate, while four clients query again and again. */
async function measure(asking?: () => Promise<Asked>): Promise<Measured> {
  const before = residentMemory()
  let highest = before
  const sampling = setInterval(() => {
    highest = Math.max(highest, residentMemory())
  }, 50)
  const answers: Asked[] = []
  let stopping = false
  const callers = Array.from({ length: asking ? atOnce : 0 }, async () => {
    while (!stopping && asking) answers.push(await asking())
  })
  try {
    const { p50, p99 } = await paced(service, rate, seconds)
    stopping = true
    await Promise.all(callers)
    return { p50, p99, grown: highest - before, answers }
  } finally {
    stopping = true
    clearInterval(sampling)
  }
}

const rows: Row[] = []

async function report(what: string, asking?: () => Promise<Asked>): Promise<void> {
  try {
    const { p50, p99, grown, answers } = await measure(asking)
    const statuses = [...new Set(answers.map(({ status }) => status))].join(', ')
    const largest = Math.max(0, ...answers.map(({ bytes }) => bytes))
    const queries = asking
      ? `: ${answers.length} answered ${statuses}, ${(largest / 1e6).toFixed(1)} MB each`
      : ''
    rows.push([`p99 during ${what}${queries}`, `${p99} ms (p50 ${p50})`, '', '< 50 ms'])
    rows.push([`memory grows during ${what}`, `${grown.toFixed(0)} MiB`, '', '< 64 MiB'])
  } catch (error) {
    rows.push([`during ${what}`, `failed: ${(error as Error).message}`, '', ''])
  }
  console.error(rows.at(-2)?.join(' | '), '\n', rows.at(-1)?.join(' | '))
}

/** Of the wide rows so many fit into an envelope; the rest of the bound is for their keys and escapes. */
const fitting = Math.min(allRows, 16_000)

try {
  await collectWideEvents()
  await report('nothing')
  // The first round makes the heap as large as this load keeps it.
  for (let i = 0; i < atOnce; i++) await ask(fitting, 'application/json')
  await new Promise((resolve) => setTimeout(resolve, Number(values.settle) * 1000))
  await report('nothing, once it has answered', undefined)
  await report('4 of the largest answers', () => ask(fitting, 'application/json'))
  await report('4 of the largest CSV answers', () => ask(fitting, 'application/json', '?format=csv'))
  await report('4 streams of lines', () => ask(allRows, 'application/x-ndjson'))
  await report('4 answers that are too large', () => ask(allRows, 'application/json'))
  printTable('Large answers', rows)
} finally {
  await service.stop()
  removeData(service)
}
