import type { CollectedEvent } from '@millrace/contract/resources/collected-event.ts'
import { createBackoff } from './backoff.ts'
import { createCollectorRequests } from './collector-request.ts'
import { byteLength, envelopeOf, type PendingEvent, readEvent, type SentEvent } from './envelope.ts'
import { FlushWaits } from './flush-waits.ts'
import { lookAhead, PendingQueue } from './pending-queue.ts'
import { createReports, DeliveryError, type DroppedEvents, describeFinding } from './reports.ts'
import { type EventSenderOptions, readOptions, type WaitingSenderOptions } from './sender-options.ts'
import { pause, startQuietTimer } from './timers.ts'

/** Numbers of events since the sender was made: `sent` = `delivered` + `dropped` + `pending`. */
export interface SenderCounters {
  /** Given to `send` and `identify`, whatever became of them. */
  readonly sent: number
  /** On the disk of the collector. */
  readonly delivered: number
  /** Given up, those that `close()` gave back included. */
  readonly dropped: number
  /** How often an event was sent again, in all. */
  readonly retried: number
  /** In memory: waiting, under way, or waiting for room. */
  readonly pending: number
}

/** Sends events to the collector in the background. Nothing it does throws into the application or rejects. */
export interface EventSender<Accepted extends boolean | Promise<boolean> = boolean> {
  /**
   * Takes an event, whose data is copied at once.
   * @returns whether it was taken; `onDrop` says why not. With `whenFull: 'wait'` a promise of it, which is to be
   * awaited before the next event: what waits for room is in memory too.
   */
  send(event: SentEvent): Accepted
  /** Binds a device to a known person: from now on events of both are one person's. */
  identify(person: {
    readonly tmpId: string
    readonly clientId: string
    readonly timestamp?: number
    readonly consent?: boolean
  }): Accepted
  /**
   * Sends what waits, without waiting for a full batch or the interval.
   * @returns whether everything that was sent before has been delivered or dropped; false where that took longer than
   * `timeoutMs`, 30,000 when absent, or than the sender was open. After its time the sender goes on trying.
   */
  flush(options?: { readonly timeoutMs?: number }): Promise<boolean>
  /**
   * Sends what waits and takes no further event. What is not delivered within `timeoutMs`, 10,000 when absent, is
   * given back. It can be kept and sent again: `eventId` and `timestamp` are in it, so that it counts once.
   */
  close(options?: {
    readonly timeoutMs?: number
  }): Promise<{ readonly undelivered: readonly CollectedEvent[] }>
  counters(): SenderCounters
}

export interface SenderDependencies {
  /** Epoch milliseconds. */
  readonly now?: () => number
  /** Milliseconds of a clock that never steps back. */
  readonly monotonicNow?: () => number
  /** In [0, 1). */
  readonly random?: () => number
  readonly makeEventId?: () => string
}

/** Beyond 7 days the collector would count a repeated event again (docs/interface.md, Collector). */
const retryWindowMs = 6 * 24 * 60 * 60 * 1000

/** After so many answers of 5xx the events of a batch are looked for the one that the collector fails at. */
const attemptsTogether = 5
/** Milliseconds between attempts to send an event that the collector fails at while it takes others. */
const isolatedPauseMs = 60_000

interface Waiter {
  readonly event: PendingEvent
  readonly resolve: (taken: boolean) => void
}

/** @throws {TypeError} for options that cannot be meant */
export function createEventSender(
  options: WaitingSenderOptions,
  dependencies?: SenderDependencies,
): EventSender<Promise<boolean>>
export function createEventSender(options: EventSenderOptions, dependencies?: SenderDependencies): EventSender
export function createEventSender(
  options: EventSenderOptions | WaitingSenderOptions,
  dependencies: SenderDependencies = {},
): EventSender<boolean | Promise<boolean>> {
  const settings = readOptions(options)
  const {
    now = Date.now,
    monotonicNow = () => performance.now(),
    random = Math.random,
    makeEventId = () => crypto.randomUUID(),
  } = dependencies
  const context = { companyId: settings.companyId, now, makeEventId }
  const reports = createReports(options, monotonicNow)
  const backoff = createBackoff({ now: monotonicNow, random })
  const requests = createCollectorRequests(settings)
  const ended = new AbortController()

  const queue = new PendingQueue()
  /** Batches under way; what is settled is taken out of them. */
  const underWay = new Set<PendingEvent[]>()
  /** Those of them, of one event each, that the collector fails at while it takes others: nothing waits for them. */
  const isolated = new Set<PendingEvent[]>()
  const busy = new Set<string>()
  let waiters: Waiter[] = []
  const flushes = new FlushWaits()
  let underWayEvents = 0
  let underWayBytes = 0
  let serial = 0
  /** Events up to this serial number are to be sent without waiting for more. */
  let due = 0
  /** Whether each event within reach waits for one of the same device that is under way. */
  let isStuck = false
  /** By the monotonic clock. */
  let lastAnsweredAt = Number.NEGATIVE_INFINITY
  let stopTimer: (() => void) | undefined
  let closing: ReturnType<EventSender['close']> | undefined
  const count = { sent: 0, delivered: 0, dropped: 0, retried: 0 }

  const hasRoom = (bytes: number): boolean =>
    queue.length + underWayEvents < settings.maxPendingEvents &&
    queue.bytes + underWayBytes + bytes <= settings.maxPendingBytes

  function drop(
    dropped: Omit<DroppedEvents, 'events'>,
    number: number,
    events: () => DroppedEvents['events'],
  ) {
    count.dropped += number
    reports.drop(dropped, number, events)
  }

  function send(event: SentEvent): boolean | Promise<boolean> {
    count.sent++
    const taken = take(event)
    return settings.whenFull === 'wait' ? Promise.resolve(taken) : taken
  }

  function take(event: SentEvent): boolean | Promise<boolean> {
    const refuse = (dropped: Omit<DroppedEvents, 'events'>): false => {
      drop(dropped, 1, () => [event])
      return false
    }
    if (closing) return refuse({ reason: 'closed', message: 'The sender is closed: send before close().' })
    const read = readEvent(event, context)
    if (!read.kept) {
      const { finding } = read
      const message = finding
        ? describeFinding(finding)
        : `The event cannot be written as JSON (${String(read.cause)}). Send texts, numbers, booleans, lists and plain objects.`
      return refuse({ reason: 'invalid', message, ...(finding ? { finding } : {}) })
    }
    for (const change of read.changes) reports.warn(change, event)
    const bytes = byteLength(read.json)
    const pending: PendingEvent = { serial: ++serial, json: read.json, bytes, tmpId: read.tmpId }
    if (bytes > settings.maxPendingBytes) {
      return refuse({
        reason: 'full',
        message: `The event has ${bytes} bytes, and all events in memory together may have ${settings.maxPendingBytes} (maxPendingBytes).`,
      })
    }
    if (waiters.length === 0 && hasRoom(bytes)) {
      enter(pending)
      return true
    }
    if (settings.whenFull === 'wait') {
      // What waits for room needs the room that a request makes.
      due = serial
      const waiting = new Promise<boolean>((resolve) => waiters.push({ event: pending, resolve }))
      startRequests()
      return waiting
    }
    return refuse({
      reason: 'full',
      message: `${queue.length + underWayEvents} events of ${queue.bytes + underWayBytes} bytes wait for the collector already. Raise maxPendingEvents or maxPendingBytes, or send with whenFull: 'wait'.`,
    })
  }

  function enter(event: PendingEvent): void {
    queue.push(event)
    if (!busy.has(event.tmpId) && queue.length <= lookAhead * settings.maxBatchEvents) isStuck = false
    if (isBatchFull()) startRequests()
    else startTimer()
  }

  const isBatchFull = (): boolean =>
    settings.flushInterval > 0 &&
    (queue.length >= settings.maxBatchEvents || queue.bytes >= settings.maxBatchBytes)

  function startTimer(): void {
    if (settings.flushInterval === 0) return
    stopTimer ??= startQuietTimer(() => {
      stopTimer = undefined
      due = serial
      startRequests()
    }, settings.flushInterval)
  }

  const isDue = (): boolean => queue.first !== undefined && queue.first.serial <= due

  function startRequests(): void {
    while (!isStuck && underWay.size - isolated.size < settings.maxRequests && (isBatchFull() || isDue())) {
      const batch = queue.take({
        maxEvents: settings.maxBatchEvents,
        maxBytes: settings.maxBatchBytes,
        isBusy: (tmpId) => busy.has(tmpId),
      })
      isStuck = batch.length === 0
      if (isStuck) break
      underWayEvents += batch.length
      for (const { bytes } of batch) underWayBytes += bytes
      void deliver(batch, now())
    }
    if (queue.length > 0) startTimer()
  }

  /** Sends a batch until each of its events is delivered or dropped, or the sender has ended. Never rejects. */
  async function deliver(batch: PendingEvent[], firstTriedAt: number): Promise<void> {
    const persons = new Set(isolated.has(batch) ? [] : batch.map(({ tmpId }) => tmpId))
    for (const tmpId of persons) busy.add(tmpId)
    underWay.add(batch)
    /** How many of the batch's first events go together: fewer where the collector does not take them all. */
    let size = isolated.has(batch) ? 1 : batch.length
    let failures = 0
    let firstFailedAt: number | undefined
    let isRepeated = isolated.has(batch)
    while (batch.length > 0) {
      if (isRepeated && isolated.has(batch)) await pause(isolatedPauseMs, ended.signal)
      for (let wait = backoff.remaining(); wait > 0 && !ended.signal.aborted; wait = backoff.remaining()) {
        await pause(wait, ended.signal)
      }
      const part = batch.slice(0, size)
      if (isRepeated) count.retried += part.length
      const startedAt = monotonicNow()
      const outcome = await requests.send(part, ended.signal)
      if (outcome.kind === 'aborted' || ended.signal.aborted) return
      isRepeated = outcome.kind === 'failed'
      if (outcome.kind === 'failed') {
        if (!isolated.has(batch)) backoff.fail(startedAt, outcome.retryAfterMs)
        const { message, status, cause } = outcome
        reports.error(new DeliveryError(message, { status, events: part.length, cause }))
        if (now() - firstTriedAt >= retryWindowMs) {
          settle(batch, part.length)
          dropPart(part, { reason: 'expired', message: `They were tried for 6 days. ${message}` })
          continue
        }
        firstFailedAt ??= startedAt
        if (status === undefined || ++failures <= attemptsTogether || isolated.has(batch)) continue
        size = Math.ceil(part.length / 2)
        if (part.length > 1) continue
        // Where nothing else was sent meanwhile, what comes behind it shows whether it fails alone. Other failures
        // than 500 come from a collector that is away or overloaded, and leave the order as it is.
        const isAlone =
          lastAnsweredAt > firstFailedAt || (status === 500 && isolated.size < settings.maxRequests)
        setAside(batch, { isAlone, firstTriedAt })
        continue
      }
      backoff.succeed()
      lastAnsweredAt = monotonicNow()
      if (outcome.kind === 'too-large' && part.length > 1) {
        size = Math.ceil(part.length / 2)
        continue
      }
      settle(batch, part.length)
      if (failures > 0) size *= 2
      if (failures <= attemptsTogether) failures = 0
      if (outcome.kind === 'accepted') count.delivered += part.length
      else if (outcome.kind === 'bot') {
        const message =
          'The collector takes the sender for a crawler (202): send a user-agent in `headers` that names none.'
        dropPart(part, { reason: 'bot', message, status: 202 })
      } else dropPart(part, { reason: outcome.kind, message: outcome.message, status: outcome.status })
    }
    underWay.delete(batch)
    isolated.delete(batch)
    for (const tmpId of persons) busy.delete(tmpId)
    isStuck = false
    startRequests()
    flushes.settle(oldest)
  }

  /**
   * The first event of a batch goes into a batch of its own where it fails alone; else those of its person go behind
   * the others.
   */
  function setAside(
    batch: PendingEvent[],
    { isAlone, firstTriedAt }: { readonly isAlone: boolean; readonly firstTriedAt: number },
  ): void {
    const [first] = batch
    if (isAlone) {
      const own = batch.splice(0, 1)
      isolated.add(own)
      void deliver(own, firstTriedAt)
      return
    }
    const isOfPerson = ({ tmpId }: PendingEvent) => tmpId === first?.tmpId
    const others = batch.filter((event) => !isOfPerson(event))
    batch.splice(0, batch.length, ...others, ...batch.filter(isOfPerson))
  }

  function dropPart(part: readonly PendingEvent[], dropped: Omit<DroppedEvents, 'events'>): void {
    drop(dropped, part.length, () => part.map(envelopeOf))
  }

  /** Takes the first events of a batch out of memory, and lets in what waits for their room. */
  function settle(batch: PendingEvent[], events: number): void {
    for (const { bytes } of batch.splice(0, events)) underWayBytes -= bytes
    underWayEvents -= events
    let entered = 0
    for (const { event, resolve } of waiters) {
      if (!hasRoom(event.bytes)) break
      queue.push(event)
      resolve(true)
      entered++
    }
    if (entered > 0) waiters = waiters.slice(entered)
  }

  /** The smallest serial number that is neither delivered nor dropped. */
  function oldest(): number {
    let found = Math.min(queue.first?.serial ?? Infinity, waiters[0]?.event.serial ?? Infinity)
    for (const batch of underWay) for (const { serial: each } of batch) found = Math.min(found, each)
    return found
  }

  async function flush({ timeoutMs = 30_000 }: { readonly timeoutMs?: number } = {}): Promise<boolean> {
    const upTo = serial
    due = upTo
    startRequests()
    if (oldest() > upTo) return true
    return flushes.wait(upTo, timeoutMs)
  }

  async function end(timeoutMs: number): ReturnType<EventSender['close']> {
    stopTimer?.()
    await flush({ timeoutMs })
    ended.abort()
    stopTimer?.()
    const left = [...[...underWay].flat(), ...queue.clear(), ...waiters.map(({ event }) => event)]
    for (const { resolve } of waiters) resolve(false)
    flushes.end()
    waiters = []
    underWay.clear()
    isolated.clear()
    underWayEvents = 0
    underWayBytes = 0
    count.dropped += left.length
    return { undelivered: left.sort((a, b) => a.serial - b.serial).map(envelopeOf) }
  }

  return {
    send,
    identify: (event) => send({ ...event, name: 'identify' }),
    flush,
    close({ timeoutMs = 10_000 } = {}) {
      closing ??= end(timeoutMs)
      return closing
    },
    counters: () => ({ ...count, pending: queue.length + underWayEvents + waiters.length }),
  }
}
