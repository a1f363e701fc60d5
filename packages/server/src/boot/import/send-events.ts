import { setTimeout as sleep } from 'node:timers/promises'
import { ImportFault } from './import-fault.ts'
import type { Envelope } from './map-records.ts'

/** Events of one request; the collector takes up to 2,000 and 5 MB (docs/interface.md, Collector). */
const batchEvents = 500
const batchBytes = 1_000_000
/** Requests under way at once. */
const concurrency = 4
const attemptTimeoutMilliseconds = 30_000
const maxPauseMs = 15_000

export interface SendProgress {
  /** Events whose request was answered 200, without a gap from the beginning of the input. */
  onAcknowledged(eventsInOrder: number): void
  /** A request was refused for now and is sent again. */
  onRetry(reason: string): void
}

interface Batch {
  readonly number: number
  readonly count: number
  readonly body: string
}

async function* inBatches(events: AsyncIterable<Envelope>): AsyncIterable<Batch> {
  let parts: string[] = []
  let bytes = 0
  let number = 0
  for await (const event of events) {
    const text = JSON.stringify(event)
    if (parts.length > 0 && (parts.length === batchEvents || bytes + text.length > batchBytes)) {
      yield { number: number++, count: parts.length, body: `[${parts.join(',')}]` }
      parts = []
      bytes = 0
    }
    parts.push(text)
    bytes += text.length
  }
  if (parts.length > 0) yield { number, count: parts.length, body: `[${parts.join(',')}]` }
}

/** Sends one body until it is answered 200: transport failures and 5xx are tried again, anything else is final. */
async function sendBatch(
  url: string,
  batch: Batch,
  progress: SendProgress,
  signal: AbortSignal,
): Promise<void> {
  for (let attempt = 0; ; attempt++) {
    let pause = Math.min(maxPauseMs, 250 * 2 ** attempt) * (0.5 + Math.random() / 2)
    try {
      const reply = await fetch(url, {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'user-agent': 'millrace-import' },
        body: batch.body,
        signal: AbortSignal.any([signal, AbortSignal.timeout(attemptTimeoutMilliseconds)]),
      })
      const text = await reply.text()
      if (reply.status === 200) return
      if (reply.status < 500)
        throw new ImportFault(
          `${url} refused the events with ${reply.status}: ${text.slice(0, 300) || reply.statusText}`,
        )
      const after = Number(reply.headers.get('retry-after'))
      if (after > 0) pause = after * 1000
      progress.onRetry(`the collector answered ${reply.status}`)
    } catch (error) {
      if (error instanceof ImportFault || signal.aborted) throw error
      const cause = (error as Error).cause as Error | undefined
      progress.onRetry(cause?.message ?? (error as Error).message)
    }
    await sleep(pause, undefined, { signal })
  }
}

/**
 * Sends events to a collector in batches, several at once, until all are acknowledged.
 * @param url full address of the tracker, `.../collect/<datasource>/tracker`
 * @throws ImportFault when the collector refuses for good; the signal's reason when stopped
 */
export async function sendEvents(
  url: string,
  events: AsyncIterable<Envelope>,
  progress: SendProgress,
  signal: AbortSignal,
): Promise<void> {
  const stop = new AbortController()
  const either = AbortSignal.any([signal, stop.signal])
  const acknowledged = new Map<number, number>()
  let firstOpen = 0
  let inOrder = 0
  const onSent = (batch: Batch): void => {
    acknowledged.set(batch.number, batch.count)
    for (let count = acknowledged.get(firstOpen); count !== undefined; count = acknowledged.get(firstOpen)) {
      acknowledged.delete(firstOpen++)
      inOrder += count
    }
    progress.onAcknowledged(inOrder)
  }
  const underWay = new Set<Promise<void>>()
  try {
    for await (const batch of inBatches(events)) {
      if (either.aborted) break
      const sending = sendBatch(url, batch, progress, either).then(() => onSent(batch))
      underWay.add(sending)
      void sending.then(
        () => underWay.delete(sending),
        () => {},
      )
      if (underWay.size >= concurrency) await Promise.race(underWay)
    }
    await Promise.all(underWay)
    either.throwIfAborted()
  } finally {
    stop.abort()
    await Promise.allSettled(underWay)
  }
}
