import { type ChangeRuleId, eventRules, type Finding, type RuleId } from '@millrace/contract/events/rules.ts'
import type { CollectedEvent } from '@millrace/contract/resources/collected-event.ts'
import type { SentEvent } from './envelope.ts'

/** An attempt that failed; its events are sent again. */
export class DeliveryError extends Error {
  /** Of the answer; undefined where there was none. */
  readonly status: number | undefined
  /** Events of the request. */
  readonly events: number

  constructor(message: string, details: { status?: number | undefined; events: number; cause?: unknown }) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause })
    this.name = 'DeliveryError'
    this.status = details.status
    this.events = details.events
  }
}

/**
 * Why events are given up:
 * `invalid` a rule of the collector drops it, or it is no JSON; `full` there is no room in memory; `closed` the sender
 * is; `refused` the collector answered 4xx; `too-large` one event alone is; `bot` the `User-Agent` is a crawler's;
 * `expired` it was tried for longer than the collector recognises repeated events.
 */
export type DropReason = 'invalid' | 'full' | 'closed' | 'refused' | 'too-large' | 'bot' | 'expired'

/** Events that are not delivered and not tried again. */
export interface DroppedEvents {
  readonly reason: DropReason
  /** What is wrong and what would be right, in a sentence or two. */
  readonly message: string
  /** Of `invalid`: the rule and where it found what. Absent where the event is no JSON. */
  readonly finding?: Finding
  /** Of `refused`, `bot` and `too-large`: the status of the answer. */
  readonly status?: number
  /** As they were given where they were never sent, else with their envelope: `eventId` and `timestamp` are in it. */
  readonly events: readonly (SentEvent | CollectedEvent)[]
}

/** A rule that changes an event: it is sent and stored, with a field altered or left out. */
export interface EventWarning {
  readonly rule: ChangeRuleId
  /** From the envelope, such as `data.ids`. */
  readonly path: string
  readonly message: string
  readonly event: SentEvent
}

/** What a rule found, in a sentence: `data.ids: ... (found "null"). Send ...`. */
export function describeFinding({ rule, path, sample }: Finding<RuleId>): string {
  const { title, outcome, fix } = eventRules[rule]
  return `${path === '' ? '' : `${path}: `}${title} (found ${sample}). ${outcome} ${fix}`
}

const quietMs = 60_000

/** Writes lines of one kind at most once a minute, with how many were left out. */
function createConsole(now: () => number): (kind: string, line: string) => void {
  const kinds = new Map<string, { at: number; left: number }>()
  return (kind, line) => {
    const last = kinds.get(kind)
    if (last && now() - last.at < quietMs) {
      last.left++
      return
    }
    kinds.set(kind, { at: now(), left: 0 })
    console.warn(`[millrace] ${line}${last?.left ? ` (and ${last.left} more like it)` : ''}`)
  }
}

interface Callbacks {
  readonly onError?: ((error: DeliveryError) => void) | undefined
  readonly onDrop?: ((dropped: DroppedEvents) => void) | undefined
  readonly onWarning?: ((warning: EventWarning) => void) | undefined
}

/** Calls the callbacks of a sender's options so that nothing they do reaches the sender. */
export function createReports({ onError, onDrop, onWarning }: Callbacks, now: () => number) {
  const write = createConsole(now)
  const call = <T>(callback: (value: T) => unknown, value: T): void => {
    // Also a callback that is an async function and rejects.
    const run = async (): Promise<unknown> => callback(value)
    run().catch((error: unknown) =>
      write('callback', `a callback of the event sender failed: ${String(error)}`),
    )
  }
  return {
    error(error: DeliveryError): void {
      if (onError) call(onError, error)
    },
    /** `events` is only called where there is a callback to take them. */
    drop(dropped: Omit<DroppedEvents, 'events'>, count: number, events: () => DroppedEvents['events']): void {
      if (onDrop) call(onDrop, { ...dropped, events: events() })
      else write(dropped.reason, `${count} event${count === 1 ? '' : 's'} dropped: ${dropped.message}`)
    },
    warn(finding: Finding<ChangeRuleId>, event: SentEvent): void {
      const message = describeFinding(finding)
      if (onWarning) call(onWarning, { rule: finding.rule, path: finding.path, message, event })
      else write(finding.rule, message)
    },
  }
}
