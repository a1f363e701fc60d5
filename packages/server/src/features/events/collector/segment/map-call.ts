import { createHash, randomUUID } from 'node:crypto'
import { type DroppedEvent, drop } from '@millrace/contract/events/draft.ts'
import { isPlainObject } from '@millrace/contract/events/plain-objects.ts'
import { boundedFields } from './bounded-fields.ts'
import { readCallTime } from './call-time.ts'
import { mapTrack } from './commerce-events.ts'
import { addContextLabels } from './context-labels.ts'
import { renameReserved } from './reserved-names.ts'

type Fields = Readonly<Record<string, unknown>>

/** What the calls of one request have in common. */
export interface CallRequest {
  /** The company of the datasource. */
  readonly companyId: string
  /** Milliseconds since 1970-01-01 UTC. */
  readonly receivedAt: number
  /** When it was sent, by the clock of the sender. */
  readonly sentAt?: unknown
  /** Of calls without one of their own. */
  readonly context?: unknown
}

/** An event envelope; the event rules validate what comes from the call. */
export interface MappedEvent {
  readonly key: string
  readonly name: string
  readonly url: string
  readonly referrer: unknown
  readonly tmpId: unknown
  readonly clientId: unknown
  readonly consent: boolean | undefined
  readonly data: Fields
  readonly eventId: unknown
  readonly v: 1
  readonly timestamp: unknown
}

/** What of an event depends on the type of its call. */
interface MappedCall {
  readonly name: string
  readonly url?: unknown
  readonly referrer?: unknown
  /** The identity of the device, where it is not that of other calls. */
  readonly tmpId?: unknown
  readonly data: Fields
}

const callTypes = {
  track({ event, properties }) {
    if (isMissing(event)) return drop('required-field-missing', 'event', event)
    if (typeof event !== 'string') return drop('required-field-wrong-type', 'event', event)
    const given = fieldsOf(properties)
    return given === undefined ? drop('data-not-object', 'properties', properties) : mapTrack(event, given)
  },
  page: (call) => mapView(call, ({ url }) => url),
  screen: (call) => mapView(call, ({ name }) => name),
  identify({ traits }) {
    const given = fieldsOf(traits)
    if (given === undefined) return drop('data-not-object', 'traits', traits)
    return { name: 'identify', data: renameReserved(given, 'traits') }
  },
  group({ groupId, traits }) {
    const given = fieldsOf(traits)
    if (given === undefined) return drop('data-not-object', 'traits', traits)
    return { name: 'group', data: { ...renameReserved(given, 'traits'), groupId } }
  },
  alias({ previousId, userId }) {
    if (isMissing(userId)) return drop('required-field-missing', 'userId', userId)
    if (isMissing(previousId)) return drop('required-field-missing', 'previousId', previousId)
    return { name: 'identify', tmpId: previousId, data: {} }
  },
} as const satisfies Record<string, (call: Fields) => MappedCall | DroppedEvent>

export type CallType = keyof typeof callTypes
export const callNames = Object.keys(callTypes) as CallType[]

/**
 * A call in the Segment shape as an event envelope, which the event rules validate; a drop where it cannot be one.
 * Pure but for the identifier of a call that has neither `messageId` nor a time. Works in time linear in the size of the
 * call and leaves it unchanged. docs/migrating.md has the mapping as tables.
 * @param type by the address; undefined in a batch, where each call has one
 */
export function mapCall(
  call: unknown,
  type: CallType | undefined,
  request: CallRequest,
): MappedEvent | DroppedEvent {
  if (!isPlainObject(call)) return drop('event-not-object', '', call)
  const stated = type ?? call.type ?? call.action
  if (!isCallType(stated)) return drop('call-unknown', 'type', stated)
  const mapped: MappedCall | DroppedEvent = callTypes[stated](call)
  if ('kept' in mapped) return mapped

  const { userId, anonymousId, messageId } = call
  const tmpId = [mapped.tmpId, anonymousId, userId].find((each) => !isMissing(each))
  if (tmpId === undefined) return drop('required-field-missing', 'anonymousId', anonymousId)
  const context = fieldsOf(call.context ?? request.context) ?? {}
  const page = fieldsOf(context.page) ?? {}
  const timestamp = readCallTime(call, call.sentAt ?? request.sentAt, request.receivedAt)
  const data = { ...mapped.data }
  addContextLabels(data, context)
  return {
    key: request.companyId,
    name: mapped.name,
    url: textOf(mapped.url) ?? textOf(page.url) ?? '',
    referrer: mapped.referrer ?? page.referrer,
    tmpId,
    clientId: userId,
    consent: readConsent(context.consent),
    data,
    eventId: isMissing(messageId) ? eventIdOf(call, stated, timestamp) : messageId,
    v: 1,
    timestamp,
  }
}

/**
 * Whether the person has consented to analytics: Segment's libraries state each category by the name that the consent tool
 * gives it. Undefined where none is so named.
 */
function readConsent(consent: unknown): boolean | undefined {
  const categories = fieldsOf(fieldsOf(consent)?.categoryPreferences) ?? {}
  const analytics = Object.keys(categories).find((name) => name.toLowerCase() === 'analytics')
  return analytics === undefined ? undefined : categories[analytics] === true
}

/** A view of a page or a screen; its name and category are labels. */
function mapView(call: Fields, addressOf: (fields: Fields) => unknown): MappedCall | DroppedEvent {
  const given = fieldsOf(call.properties)
  if (given === undefined) return drop('data-not-object', 'properties', call.properties)
  const { name = call.name, category = call.category, url, referrer, ...properties } = given
  const address = addressOf({ name, url })
  return {
    name: 'page_view',
    url: address,
    referrer,
    data: {
      ...renameReserved(properties, 'properties'),
      name,
      category,
      url: url === textOf(address) ? undefined : url,
    },
  }
}

/**
 * The identifier of a call that its sender has given none: that of its content, so that a repetition counts once. Calls
 * without a time of their own are different ones though they say the same, and none is lost for the other.
 */
function eventIdOf(call: Fields, type: CallType, timestamp: unknown): string {
  if (typeof timestamp !== 'number') return randomUUID()
  const { sentAt: _sentAt, ...content } = call
  return createHash('sha256')
    .update(`${type} ${JSON.stringify(content)}`)
    .digest('base64url')
}

function isCallType(value: unknown): value is CallType {
  return typeof value === 'string' && Object.hasOwn(callTypes, value)
}

function isMissing(value: unknown): boolean {
  return value === undefined || value === null || value === ''
}

/** The fields of an object, as many as an event can have, none where it is absent; undefined where it is no object. */
function fieldsOf(value: unknown): Record<string, unknown> | undefined {
  if (value === undefined || value === null) return {}
  return isPlainObject(value) ? boundedFields(value) : undefined
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined
}
