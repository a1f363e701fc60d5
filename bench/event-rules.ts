import { type ValidationContext, validateEvent } from '@millrace/contract/events/validate.ts'
import {
  eventHead,
  eventRow,
  lineOf,
} from '../packages/server/src/features/events/collector/rows/event-row.ts'
import { median, printTable, type Row } from './support/machine.ts'

/** What one event costs between its bytes and its row in the event log, on one core and without any network. */

const companyId = '65f0c0ffee5ca1ab1e0ddba1'
const context: ValidationContext = { companyId, receivedAt: Date.now() }
const head = eventHead(
  { companyId, datasourceId: '65f0c0ffee5ca1ab1e0ddba2', receivedAt: context.receivedAt },
  ',"dt":"app"',
)

function eventText(counter: number, name: string, data: Record<string, unknown>): string {
  return JSON.stringify({
    key: companyId,
    name,
    url: 'https://shop.example/products/85123A?utm_source=news',
    tmpId: `c${String(counter % 50_000).padStart(24, '0')}`,
    data,
    eventId: `0b0f7e0e-0000-4000-8000-${counter.toString(16).padStart(12, '0')}`,
    v: 1,
    timestamp: context.receivedAt,
  })
}

const bodies = Array.from({ length: 1000 }, (_, i) =>
  Buffer.from(eventText(i, 'product_page', { ids: ['85123A', '71053'], store: 'north' })),
)
const purchases = Array.from({ length: 1000 }, (_, i) =>
  Buffer.from(
    eventText(i, 'purchase', { ids: 'A1;B2;C3', value: i + 0.29, transId: `T-${i}`, note: 'ça "va"', n: i }),
  ),
)
const batches = Array.from({ length: 10 }, (_, i) =>
  Buffer.from(`[${bodies.slice(i * 100, i * 100 + 100).join(',')}]`),
)

/** Characters made, so that no work can be left out. */
let made = 0

function handle(body: Buffer): void {
  const parsed: unknown = JSON.parse(body.toString('utf8'))
  const events: readonly unknown[] = Array.isArray(parsed) ? parsed : [parsed]
  let lines = ''
  for (const [i, event] of events.entries()) {
    const result = validateEvent(event, context)
    if (result.kept) lines += lineOf(1_700_000_000_000_000 + i, eventRow(result, head))
  }
  made += Buffer.byteLength(lines)
}

/** Median nanoseconds of one run over all bodies, for each event in them. */
function nanosecondsPerEvent(all: readonly Buffer[], events: number, step: (body: Buffer) => void): number {
  const times: number[] = []
  const until = performance.now() + 1500
  while (performance.now() < until) {
    const started = process.hrtime.bigint()
    for (const body of all) step(body)
    times.push(Number(process.hrtime.bigint() - started) / events)
  }
  return median(times)
}

const parse = (body: Buffer): void => {
  made += Number(JSON.parse(body.toString('utf8')) !== null)
}
const parsing = nanosecondsPerEvent(bodies, 1000, parse)
const single = nanosecondsPerEvent(bodies, 1000, handle)
const purchase = nanosecondsPerEvent(purchases, 1000, handle)
const batched = nanosecondsPerEvent(batches, 1000, handle)

const microseconds = (nanoseconds: number) => `${(nanoseconds / 1000).toFixed(2)} µs`
const rows: Row[] = [
  [`JSON.parse alone, ${bodies[0]?.length} B`, microseconds(parsing), '1.00', ''],
  [
    'parse, validate and row, one event a body',
    microseconds(single),
    (single / parsing).toFixed(2),
    '< 6 µs',
  ],
  ['the same for a purchase with labels', microseconds(purchase), (purchase / parsing).toFixed(2), '< 6 µs'],
  [
    'the same, 100 events a body',
    `${Math.round(1e6 / batched).toLocaleString('en')} k events/s`,
    (batched / parsing).toFixed(2),
    '> 250 k events/s',
  ],
]
printTable('Event rules, one core', rows)
if (made === 0) process.exitCode = 1
