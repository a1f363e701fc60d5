import { requestLimits } from '@millrace/contract/events/limits.ts'
import { isPlainObject } from '@millrace/contract/events/plain-objects.ts'
import type { DropRuleId, Finding } from '@millrace/contract/events/rules.ts'
import { DomainError } from '../../../../platform/errors.ts'
import { type CollectedBody, checkCount, malformed } from '../body/collector-body.ts'
import { type CallRequest, type CallType, mapCall } from './map-call.ts'

/**
 * The object that a body in the Segment shape is.
 * @throws {DomainError} emptyEvents, malformedEvents
 */
export function objectOf(parsed: unknown): Record<string, unknown> {
  if (!isPlainObject(parsed)) throw malformed('it is not an object')
  for (const _ in parsed) return parsed
  throw new DomainError('emptyEvents')
}

/**
 * The events of a body.
 * @param type of the one call that the body is; undefined for a batch
 * @throws {DomainError} emptyEvents, malformedEvents, eventsTooLarge
 */
export function mapBody(
  body: Readonly<Record<string, unknown>>,
  type: CallType | undefined,
  received: Pick<CallRequest, 'companyId' | 'receivedAt'>,
): CollectedBody {
  const calls = type === undefined ? body.batch : [body]
  if (!Array.isArray(calls)) throw malformed('batch is not a list of calls')
  checkCount(calls.length)
  const { sentAt, context } = body
  checkShared(context, calls)
  const request = { ...received, sentAt, context }
  const events: unknown[] = []
  const dropped: Finding<DropRuleId>[] = []
  for (const call of calls) {
    const mapped = mapCall(call, type, request)
    if ('kept' in mapped) dropped.push(mapped.reason)
    else events.push(mapped)
  }
  return { events, dropped }
}

/**
 * The context of a batch stands for that of each call without one, so it counts as often: a small body would else
 * become any amount of events to write.
 * @throws {DomainError} eventsTooLarge
 */
function checkShared(context: unknown, calls: readonly unknown[]): void {
  if (!isPlainObject(context)) return
  const users = calls.filter(
    (call) => isPlainObject(call) && (call.context ?? undefined) === undefined,
  ).length
  const limit = requestLimits.bodyBytes
  if (users < 2 || JSON.stringify(context).length * users <= limit) return
  const message = `The context of the batch stands for that of ${users} calls, which makes them larger than ${limit} bytes: send fewer calls in one request`
  throw new DomainError('eventsTooLarge', { limit, unit: 'bytes' }, { message })
}
