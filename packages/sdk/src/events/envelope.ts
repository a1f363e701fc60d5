import type { ChangeRuleId, DropRuleId, Finding } from '@millrace/contract/events/rules.ts'
import { validateEvent } from '@millrace/contract/events/validate.ts'
import type { CollectedEvent } from '@millrace/contract/resources/collected-event.ts'

/** Who an event is of: a device, a known person, or a person on a device. */
export type EventPerson =
  | {
      /** Anonymous identity of the device or visit: the session value `trk_clientId` of a web page. */
      readonly tmpId: string
      readonly clientId?: string | null
    }
  | {
      readonly tmpId?: undefined
      /** Known identity; sent as `tmpId` too where there is none. */
      readonly clientId: string
    }

/** An event as it is given to a sender. */
export type SentEvent = EventPerson & {
  readonly name: string
  /** Page address or app screen; the empty text when absent. */
  readonly url?: string
  readonly referrer?: string | null
  /** `ids`, `value` and `transId` have a meaning (docs/interface.md, Events); every other key becomes a label. */
  readonly data?: Readonly<Record<string, unknown>>
  /** Made by the sender when absent. An event that is sent again with the same one counts once within 7 days. */
  readonly eventId?: string
  /** Epoch milliseconds; the time of `send` when absent. */
  readonly timestamp?: number
  /** Whether the person has consented; a datasource may take no others. */
  readonly consent?: boolean
}

/** An event in memory: its JSON, which is the same in each attempt, and its size. */
export interface PendingEvent {
  /** Grows by one with each event of a sender. */
  readonly serial: number
  readonly json: string
  /** Of the JSON in UTF-8. */
  readonly bytes: number
  /** Its events keep their order. */
  readonly tmpId: string
}

/** What the rules of the collector say of an event, and its envelope as JSON. */
export type ReadEvent =
  | {
      readonly kept: true
      readonly json: string
      readonly tmpId: string
      readonly changes: readonly Finding<ChangeRuleId>[]
    }
  | { readonly kept: false; readonly finding: Finding<DropRuleId> }
  /** Data that is no JSON: a cycle, a bigint, a getter that throws. */
  | { readonly kept: false; readonly finding: undefined; readonly cause: unknown }

export interface EnvelopeContext {
  readonly companyId: string
  readonly now: () => number
  readonly makeEventId: () => string
}

/** Completes an event to the envelope of the collector and holds it against the collector's rules. Never throws. */
export function readEvent(event: SentEvent, { companyId, now, makeEventId }: EnvelopeContext): ReadEvent {
  try {
    const receivedAt = now()
    const envelope = {
      key: companyId,
      name: event.name,
      url: event.url ?? '',
      referrer: event.referrer ?? undefined,
      tmpId: event.tmpId || event.clientId,
      clientId: event.clientId || undefined,
      data: event.data ?? {},
      eventId: event.eventId ?? makeEventId(),
      v: 1,
      timestamp: event.timestamp ?? receivedAt,
      consent: event.consent,
    }
    const result = validateEvent(envelope, { companyId, receivedAt })
    if (!result.kept) return { kept: false, finding: result.reason }
    return { kept: true, json: JSON.stringify(envelope), tmpId: result.tmpId, changes: result.changes }
  } catch (cause) {
    return { kept: false, finding: undefined, cause }
  }
}

/** The envelope of an event, as callbacks and `close()` give it. */
export function envelopeOf(event: Pick<PendingEvent, 'json'>): CollectedEvent {
  return JSON.parse(event.json) as CollectedEvent
}

const encoder = new TextEncoder()
/** Used again and again: most events are short. */
const scratch = new Uint8Array(16_384)

/** Bytes of a text in UTF-8. */
export function byteLength(text: string): number {
  return text.length * 3 <= scratch.length
    ? encoder.encodeInto(text, scratch).written
    : encoder.encode(text).length
}
