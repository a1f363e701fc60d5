import type { ChangeRuleId } from './rules.ts'

/**
 * 1980-01-01 UTC. No event is older, and every time in seconds, read as milliseconds, lies before it until
 * the year 9999: the two cannot be confused.
 */
export const earliestTime = Date.UTC(1980, 0, 1)
/** How far a sender's clock may run ahead of the reception. */
export const futureTolerance = 24 * 60 * 60 * 1000

export interface EventTime {
  /** Whole milliseconds since 1970-01-01 UTC. */
  time: number
  /** Why the time of reception stands for the one that was sent. */
  rule: ChangeRuleId | undefined
}

const decimalText = /^\s*[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?\s*$/

/**
 * The time of an event: the timestamp sent, as a number or as a text of one, floored to a millisecond; the
 * time of reception where none was sent or where it cannot be meant.
 */
export function readTimestamp(value: unknown, receivedAt: number): EventTime {
  if (value === undefined || value === null || value === '') return { time: receivedAt, rule: undefined }
  const sent = toNumber(value)
  if (sent === undefined) return { time: receivedAt, rule: 'timestamp-not-number' }
  if (sent > receivedAt + futureTolerance) return { time: receivedAt, rule: 'timestamp-in-future' }
  if (sent < earliestTime) return { time: receivedAt, rule: 'timestamp-out-of-range' }
  return { time: Math.floor(sent), rule: undefined }
}

function toNumber(value: unknown): number | undefined {
  if (typeof value === 'number') return Number.isNaN(value) ? undefined : value
  // A length limit keeps the pattern from reading megabytes.
  if (typeof value === 'string' && value.length <= 40 && decimalText.test(value)) return Number(value)
  return undefined
}
