import type { CollectedEvent } from '@millrace/contract/resources/collected-event.ts'
import fc from 'fast-check'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { createEventSender } from './event-sender.ts'

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date', 'performance'] })
})
afterEach(() => {
  vi.useRealTimers()
})

/** What becomes of a request; `lost` is stored, and its answer does not arrive. */
const fault = fc.constantFrom(
  'stored',
  'stored',
  'lost',
  'unreachable',
  'unavailable',
  'stalled',
  'too-large',
)
const step = fc.oneof(
  fc.record({ kind: fc.constant('send' as const), device: fc.nat(3), size: fc.constantFrom(1, 1, 200, 900) }),
  fc.record({ kind: fc.constant('wait' as const), ms: fc.constantFrom(0, 1, 50, 3000) }),
  fc.record({ kind: fc.constant('flush' as const) }),
)
const plan = fc.record({
  steps: fc.array(step, { maxLength: 60 }),
  faults: fc.array(fault, { maxLength: 30 }),
  delays: fc.array(fc.constantFrom(0, 5, 700), { minLength: 1, maxLength: 7 }),
  maxBatchEvents: fc.integer({ min: 1, max: 6 }),
  maxBatchBytes: fc.constantFrom(300, 1500, 100_000),
  maxPendingEvents: fc.integer({ min: 1, max: 20 }),
  maxRequests: fc.integer({ min: 1, max: 4 }),
  flushInterval: fc.constantFrom(0, 10, 1000),
  waits: fc.boolean(),
  closesAfter: fc.constantFrom(0, 400, 3_600_000),
  /** What the sender takes for chance. */
  chance: fc.array(fc.nat(999), { minLength: 1, maxLength: 5 }),
})

test('whatever fails, each event is stored, dropped or given back, counts once and keeps its place', async () => {
  const met = { stored: 0, lost: 0, dropped: 0, undelivered: 0 }
  await fc.assert(
    fc.asyncProperty(plan, async ({ steps, faults, delays, waits, closesAfter, chance, ...bounds }) => {
      // What a failed run has left would fail all that are tried after it.
      vi.clearAllTimers()
      let request = 0
      /** First arrival of each event, in order: a repeated one counts once. */
      const stored: CollectedEvent[] = []
      const store = (events: readonly CollectedEvent[]): void => {
        const known = new Map(stored.map((each) => [each.eventId, each]))
        for (const event of events) {
          const before = known.get(event.eventId)
          if (before === undefined) stored.push(event)
          else expect(event).toEqual(before)
        }
      }
      const fetch = (async (_: string, { body, signal }: { body: string; signal: AbortSignal }) => {
        const events = JSON.parse(body) as CollectedEvent[]
        const delay = delays[request % delays.length]
        const kind = faults[request++] ?? 'stored'
        await new Promise((resolve) => setTimeout(resolve, delay))
        signal.throwIfAborted()
        if (kind === 'stalled') return new Promise((_, reject) => signal.addEventListener('abort', reject))
        if (kind === 'unreachable') throw new TypeError('fetch failed')
        if (kind === 'unavailable') return new Response(null, { status: 503 })
        if (kind === 'too-large' && events.length > 1) return new Response(null, { status: 413 })
        store(events)
        if (kind !== 'lost') return new Response(null)
        met.lost++
        throw new TypeError('terminated')
      }) as unknown as typeof globalThis.fetch

      const dropped: string[] = []
      const options = {
        collectorUrl: 'https://x.example',
        companyId: '65f0c0ffee5ca1ab1e0ddba1',
        datasourceId: '65f0c0ffee5ca1ab1e0ddba2',
        compress: false,
        requestTimeout: 2000,
        ...bounds,
        onDrop: ({ events }: { events: readonly { eventId?: string }[] }) =>
          void dropped.push(...events.map(({ eventId }) => eventId ?? '')),
        fetch,
      }
      let drawn = 0
      const random = () => (chance[drawn++ % chance.length] ?? 0) / 1_000
      const sender = waits
        ? createEventSender({ ...options, whenFull: 'wait' }, { random })
        : createEventSender(options, { random })
      let sent = 0
      const balanced = (): void => {
        const { delivered, dropped: gone, pending, sent: given } = sender.counters()
        expect(delivered + gone + pending).toBe(given)
        expect(given).toBe(sent)
        if (!waits) expect(pending).toBeLessThanOrEqual(bounds.maxPendingEvents)
      }
      for (const each of steps) {
        if (each.kind === 'send') {
          const data = { text: 'x'.repeat(each.size) }
          void sender.send({ name: 'view', tmpId: `device-${each.device}`, eventId: `${sent++}`, data })
        } else if (each.kind === 'wait') await vi.advanceTimersByTimeAsync(each.ms)
        else void sender.flush()
        balanced()
      }
      const closing = sender.close({ timeoutMs: closesAfter })
      await vi.advanceTimersByTimeAsync(closesAfter)
      const { undelivered } = await closing
      expect(sender.counters()).toMatchObject({ sent, pending: 0 })
      balanced()
      // What the network still had to do; nothing of the sender is left.
      await vi.advanceTimersByTimeAsync(700)
      expect(vi.getTimerCount()).toBe(0)

      const storedIds = new Set(stored.map(({ eventId }) => eventId))
      const outcomes = [...storedIds, ...dropped, ...undelivered.map(({ eventId }) => eventId)]
      // Only what is given back may be stored as well, where its answer was lost.
      expect(new Set(outcomes).size).toBe(sent)
      expect(dropped.filter((eventId) => storedIds.has(eventId))).toEqual([])
      expect(sender.counters().dropped).toBe(dropped.length + undelivered.length)
      for (const device of [0, 1, 2, 3]) {
        const places = stored
          .filter(({ tmpId }) => tmpId === `device-${device}`)
          .map(({ eventId }) => Number(eventId))
        expect(places).toEqual(places.toSorted((a, b) => a - b))
      }
      met.stored += stored.length
      met.dropped += dropped.length
      met.undelivered += undelivered.length
    }),
    { numRuns: 300 },
  )
  expect(Object.entries(met).filter(([, number]) => number === 0)).toEqual([])
})
