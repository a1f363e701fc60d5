/** Up to this difference the clocks agree: it is the time that a request takes, and times stay as they were sent. */
const agreementMs = 60_000

const isoInstant = /^\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d.{0,40})?$/
const withZone = /(?:Z|[+-]\d\d(?::?\d\d)?)$/i

/**
 * When a call happened, as the envelope's `timestamp` takes it: milliseconds by the clock of the server. `sentAt` is
 * when the request was sent by the clock of the sender, so what it differs from the reception corrects a clock that
 * is wrong. Undefined where the call has no time; what is no time is handed on, for the event rules to note.
 */
export function readCallTime(
  call: Readonly<Record<string, unknown>>,
  sentAt: unknown,
  receivedAt: number,
): unknown {
  const { timestamp, originalTimestamp } = call
  const stated = timestamp ?? originalTimestamp
  const time = readInstant(stated)
  if (time === undefined) return stated ?? undefined
  // Both together come from a service that has received the call before, and has corrected its time.
  if (readInstant(timestamp) !== undefined && readInstant(originalTimestamp) !== undefined) return time
  const sent = readInstant(sentAt)
  const ahead = sent === undefined ? 0 : sent - receivedAt
  return Math.abs(ahead) < agreementMs ? time : time - ahead
}

/** Milliseconds of an ISO 8601 time, of UTC where it names no zone; numbers are milliseconds. */
function readInstant(value: unknown): number | undefined {
  if (typeof value === 'number') return Number.isFinite(value) ? value : undefined
  if (typeof value !== 'string' || !isoInstant.test(value)) return undefined
  const time = Date.parse(value.length === 10 || withZone.test(value) ? value : `${value}Z`)
  return Number.isNaN(time) ? undefined : time
}
