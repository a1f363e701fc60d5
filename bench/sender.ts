/**
 * The event sender of the SDK: events delivered to a service a second, and processor time of the sending process, against
 * the same events posted by `fetch` in batches that were made before. Run: `npm run bench -- sender [--events 1000000] [--rounds 3]`
 */
import { parseArgs } from 'node:util'
import { createEventSender } from '@millrace/sdk/events'
import { removeData, startService } from '../packages/server/test/support/running-service.ts'
import { untilLoaded } from './support/fill.ts'
import { median, printTable, type Row } from './support/machine.ts'

const { values } = parseArgs({
  options: { events: { type: 'string', default: '1000000' }, rounds: { type: 'string', default: '3' } },
})
const events = Number(values.events)
const rounds = Number(values.rounds)
const batch = 500

const service = await startService()
const { companyId, datasourceId } = service
const collectorUrl = new URL(service.baseUrl).origin

const eventOf = (i: number) => ({
  name: 'product_page',
  url: `https://shop.example/products/${i % 1000}`,
  tmpId: `device-${i % 5000}`,
  clientId: `customer-${i % 5000}`,
  data: { ids: [`sku-${i % 1000}`], category: 'shoes', price: 59.9 },
})

interface Sent {
  /** Events a second, until all are stored. */
  readonly rate: number
  /** Nanoseconds of the processor that this process takes for an event. */
  readonly cost: number
  /** MiB of the heap and of buffers that are added at most, garbage included. */
  readonly memory: number
}

/** @param work sends all events; calls its argument now and then */
async function measure(work: (look: () => void) => Promise<void>): Promise<Sent> {
  const used = (): number => (process.memoryUsage().heapUsed + process.memoryUsage().arrayBuffers) / 2 ** 20
  const before = used()
  let most = before
  const processor = process.cpuUsage()
  const started = performance.now()
  await work(() => {
    most = Math.max(most, used())
  })
  const seconds = (performance.now() - started) / 1000
  const { user, system } = process.cpuUsage(processor)
  return { rate: events / seconds, cost: ((user + system) * 1000) / events, memory: most - before }
}

/** Batches that are ready, four requests at once: what the sender is compared with. */
async function postReadyBatches(round: number): Promise<Sent> {
  const bodies = Array.from({ length: Math.ceil(events / batch) }, (_, b) =>
    JSON.stringify(
      Array.from({ length: Math.min(batch, events - b * batch) }, (_, i) => ({
        ...eventOf(b * batch + i),
        key: companyId,
        eventId: `ready-${round}-${b}-${i}`,
        v: 1,
        timestamp: Date.now(),
      })),
    ),
  )
  const post = async (): Promise<void> => {
    for (let body = bodies.pop(); body !== undefined; body = bodies.pop()) {
      const headers = { 'content-type': 'application/json' }
      const reply = await fetch(service.trackerUrl, { method: 'POST', headers, body })
      await reply.arrayBuffer()
      if (reply.status !== 200) throw new Error(`the collector answered ${reply.status}`)
    }
  }
  return measure(async () => {
    await Promise.all([post(), post(), post(), post()])
  })
}

function send(compress: boolean): Promise<Sent> {
  const sender = createEventSender({ collectorUrl, companyId, datasourceId, compress, whenFull: 'wait' })
  return measure(async (look) => {
    for (let i = 0; i < events; ) {
      let taken: Promise<boolean> | undefined
      for (let end = Math.min(events, i + 100); i < end; i++) taken = sender.send(eventOf(i))
      await taken
      // An application does other things between its events, and the sender gets its turn.
      if (i % 1000 === 0) await new Promise((resolve) => setImmediate(resolve))
      if (i % 50_000 === 0) look()
    }
    const { undelivered } = await sender.close({ timeoutMs: 600_000 })
    look()
    const { delivered } = sender.counters()
    if (delivered !== events || undelivered.length > 0)
      throw new Error(`${delivered} of ${events} were delivered`)
  })
}

try {
  let accepted = 0
  const ready: Sent[] = []
  const plain: Sent[] = []
  const packed: Sent[] = []
  for (let round = 0; round < rounds; round++) {
    ready.push(await postReadyBatches(round))
    plain.push(await send(false))
    packed.push(await send(true))
    accepted += 3 * events
    await untilLoaded(service, accepted, 600_000)
  }
  const format = (value: number): string => Math.round(value).toLocaleString('en-US')
  const row = (what: string, sent: readonly Sent[], of: 'rate' | 'cost'): Row => {
    const figure = format(median(sent.map((each) => each[of])))
    const ratio = median(sent.map((each, i) => each[of] / (ready[i] ?? each)[of]))
    return [what, `${figure} ${of === 'rate' ? 'events/s' : 'ns'}`, ratio.toFixed(2), '']
  }
  const memory = format(median(plain.map((each) => each.memory)))
  printTable('Event sender', [
    row(`batches of ${batch} that are ready, by fetch`, ready, 'rate'),
    row('sender, uncompressed', plain, 'rate'),
    row('sender, gzip', packed, 'rate'),
    row('processor time of an event, of batches that are ready', ready, 'cost'),
    row('of the sender, uncompressed', plain, 'cost'),
    row('of the sender, gzip', packed, 'cost'),
    ['memory at most, garbage included', `${memory} MiB`, '', ''],
  ])
} finally {
  await service.stop()
  removeData(service)
}
