import type { PendingEvent } from './envelope.ts'

export interface BatchBounds {
  readonly maxEvents: number
  readonly maxBytes: number
  /** Whether events of this `tmpId` are under way: they wait, so that a person's events keep their order. */
  readonly isBusy: (tmpId: string) => boolean
}

/** So many batches of events of busy persons are looked behind for events of others. */
export const lookAhead = 4

/** Events that wait to be sent, in the order in which they came. */
export class PendingQueue {
  /** The events stand from `#head` on; the empty places before it are cut off now and then. */
  #events: (PendingEvent | undefined)[] = []
  #head = 0
  #bytes = 0

  get length(): number {
    return this.#events.length - this.#head
  }

  get bytes(): number {
    return this.#bytes
  }

  get first(): PendingEvent | undefined {
    return this.#events[this.#head]
  }

  push(event: PendingEvent): void {
    this.#events.push(event)
    this.#bytes += event.bytes
  }

  /** Takes the events of one request out of the queue; at least one where any may be sent, however large it is. */
  take({ maxEvents, maxBytes, isBusy }: BatchBounds): PendingEvent[] {
    const batch: PendingEvent[] = []
    const left: PendingEvent[] = []
    /** Once one event of a person is left, the later ones are. */
    const leftPersons = new Set<string>()
    // The brackets of the list, then a comma for each event.
    let bytes = 1
    let at = this.#head
    for (; at < this.#events.length && batch.length < maxEvents; at++) {
      const event = this.#events[at] as PendingEvent
      if (leftPersons.has(event.tmpId) || isBusy(event.tmpId)) {
        leftPersons.add(event.tmpId)
        left.push(event)
        if (left.length === lookAhead * maxEvents) {
          at++
          break
        }
        continue
      }
      if (batch.length > 0 && bytes + event.bytes + 1 > maxBytes) break
      bytes += event.bytes + 1
      batch.push(event)
      this.#bytes -= event.bytes
    }
    const head = at - left.length
    this.#events.fill(undefined, this.#head, head)
    for (const [i, event] of left.entries()) this.#events[head + i] = event
    this.#head = head
    this.#compact()
    return batch
  }

  /** Takes out all events. */
  clear(): PendingEvent[] {
    const events = this.#events.slice(this.#head) as PendingEvent[]
    this.#events = []
    this.#head = 0
    this.#bytes = 0
    return events
  }

  /** Moving the rest at each batch would cost the square of their number. */
  #compact(): void {
    if (this.#head === this.#events.length) {
      this.#events = []
      this.#head = 0
    } else if (this.#head > 1024 && this.#head * 2 > this.#events.length) {
      this.#events = this.#events.slice(this.#head)
      this.#head = 0
    }
  }
}
