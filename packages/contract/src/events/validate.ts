import { Draft, type DroppedEvent, drop, readIdentifier, readText } from './draft.ts'
import { readIdentifierText } from './identifiers.ts'
import { readItems } from './items.ts'
import { type Label, readLabels } from './labels.ts'
import { eventLimits } from './limits.ts'
import { isPlaceholder } from './placeholders.ts'
import { isPlainObject } from './plain-objects.ts'
import { readTransId, readValue } from './purchases.ts'
import { readReferrerHost } from './referrers.ts'
import type { ChangeRuleId, Finding } from './rules.ts'
import { readTimestamp } from './timestamps.ts'

/** What an envelope is validated against. */
export interface ValidationContext {
  /** The company that owns the datasource: 24 lower-case hexadecimal characters. */
  companyId: string
  /** Milliseconds since 1970-01-01 UTC. */
  receivedAt: number
  /** Whether an event is dropped that does not say that its person has consented. */
  requiresConsent?: boolean
}

/** An event that is stored. Texts are clean and within `eventLimits`; `''` and `undefined` mean absent. */
export interface KeptEvent {
  kept: true
  eventId: string
  name: string
  url: string
  /** Of the page before, in lower case; `''` where that is the page's own. */
  referrerHost: string
  tmpId: string
  clientId: string
  /** Whole milliseconds since 1970-01-01 UTC. */
  time: number
  ids: readonly string[]
  /** Two decimals, within Decimal(18, 2). */
  value: string | undefined
  transId: string
  labels: readonly Label[]
  /** Fields that differ from what was sent, or are doubtful. */
  changes: readonly Finding<ChangeRuleId>[]
}

export type ValidationResult = KeptEvent | DroppedEvent

/**
 * Validates one collected event by the rules of docs/interface.md, Events. Never throws, whatever JSON value it is
 * given; works in time linear in its size; leaves it unchanged. Unknown envelope fields are ignored. A dropped
 * event is reported by its first fault alone.
 */
export function validateEvent(envelope: unknown, context: ValidationContext): ValidationResult {
  if (!isPlainObject(envelope)) return drop('event-not-object', '', envelope)
  const { key, name, url, tmpId, data, eventId, v } = envelope

  if (isMissing(key)) return drop('required-field-missing', 'key', key)
  if (typeof key !== 'string') return drop('required-field-wrong-type', 'key', key)
  if (!isSameId(key, context.companyId)) return drop('key-mismatch', 'key', key)
  if (context.requiresConsent && !isConsent(envelope.consent))
    return drop('consent-missing', 'consent', envelope.consent)
  if (isMissing(name)) return drop('required-field-missing', 'name', name)
  if (typeof name !== 'string') return drop('required-field-wrong-type', 'name', name)
  // An empty url is a screen without an address, not a missing field.
  if (url === undefined || url === null) return drop('required-field-missing', 'url', url)
  if (typeof url !== 'string') return drop('required-field-wrong-type', 'url', url)
  if (isMissing(tmpId)) return drop('required-field-missing', 'tmpId', tmpId)
  const tmpIdText = readIdentifierText(tmpId)
  if (tmpIdText === undefined) return drop('required-field-wrong-type', 'tmpId', tmpId)
  if (data === undefined) return drop('required-field-missing', 'data', data)
  if (!isPlainObject(data)) return drop('data-not-object', 'data', data)
  if (isMissing(eventId)) return drop('required-field-missing', 'eventId', eventId)
  const eventIdText = readIdentifierText(eventId)
  if (eventIdText === undefined) return drop('required-field-wrong-type', 'eventId', eventId)
  if (isMissing(v)) return drop('required-field-missing', 'v', v)

  const draft = new Draft()
  const ids = readItems(data, name, draft)
  if ('kept' in ids) return ids
  const value = readValue(data.value, name, draft)
  if (typeof value === 'object') return value

  if (v !== 1 && v !== '1') draft.note('version-unknown', 'v', v)
  if (typeof tmpId === 'number') draft.note('number-as-text', 'tmpId', tmpId)
  if (typeof eventId === 'number') draft.note('number-as-text', 'eventId', eventId)
  const clientId = readClientId(envelope.clientId, draft)
  return {
    kept: true,
    eventId: readIdentifier(draft, 'eventId', eventIdText, eventLimits.eventId),
    name: readText(draft, 'name', name, eventLimits.name),
    url: readText(draft, 'url', url, eventLimits.url),
    referrerHost: readReferrerHost(envelope.referrer, url, draft),
    tmpId: readTmpId(tmpIdText, clientId, draft),
    clientId,
    time: readTime(envelope.timestamp, context.receivedAt, draft),
    ids,
    value,
    transId: readTransId(data.transId, draft),
    labels: readLabels(data, draft),
    changes: draft.changes,
  }
}

function isMissing(value: unknown): boolean {
  return value === undefined || value === null || value === ''
}

/** Forms have texts alone. */
function isConsent(value: unknown): boolean {
  return value === true || value === 'true'
}

function isSameId(sent: string, id: string): boolean {
  return sent === id || (sent.length === id.length && sent.toLowerCase() === id)
}

/** The identity, or `''`: a placeholder on `identify` is ignored by the interface, and is no person elsewhere. */
function readClientId(value: unknown, draft: Draft): string {
  if (isMissing(value)) return ''
  const text = readIdentifierText(value)
  if (text === undefined) {
    draft.note('client-id-wrong-type', 'clientId', value)
    return ''
  }
  if (isPlaceholder(text)) {
    draft.note('client-id-placeholder', 'clientId', text)
    return ''
  }
  if (typeof value === 'number') draft.note('number-as-text', 'clientId', value)
  return readIdentifier(draft, 'clientId', text, eventLimits.clientId)
}

function readTmpId(text: string, clientId: string, draft: Draft): string {
  if (!isPlaceholder(text)) return readIdentifier(draft, 'tmpId', text, eventLimits.tmpId)
  draft.note('tmp-id-placeholder', 'tmpId', text)
  // Bound to one client, a placeholder would turn every user who sends it into that client.
  return clientId === '' ? text : clientId
}

function readTime(value: unknown, receivedAt: number, draft: Draft): number {
  const { time, rule } = readTimestamp(value, receivedAt)
  if (rule !== undefined) draft.note(rule, 'timestamp', value)
  return time
}
