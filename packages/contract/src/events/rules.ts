/**
 * What happens to an event, to a field, or to a request by a rule:
 * `dropped` the event is not stored; `changed` it is stored, with a field altered, left out or doubtful;
 * `bot` it came from a crawler and is not stored; `refused` the request was answered 4xx as a whole;
 * `noted` nothing happens to it, but the sender probably means something else.
 */
export type RuleEffect = 'dropped' | 'changed' | 'bot' | 'refused' | 'noted'

/** One rule of the collector, as the datasource log and the documentation show it. */
export interface EventRule {
  title: string
  effect: RuleEffect
  /** What becomes of the event or field, in one sentence. */
  outcome: string
  /** What the sender does to satisfy the rule. */
  fix: string
}

const bodyRules = {
  'body-empty': {
    title: 'The body is empty',
    effect: 'refused',
    outcome: 'The request is answered 400; there is nothing in it to store.',
    fix: 'Send one event as a JSON object, or a non-empty array of events.',
  },
  'body-unparseable': {
    title: 'The body cannot be read',
    effect: 'refused',
    outcome: 'The request is answered 400 and nothing of it is stored.',
    fix: 'Send UTF-8 JSON (or a form, or one JSON object per line) and check Content-Encoding.',
  },
  'body-encoding-unsupported': {
    title: 'The content encoding is not supported',
    effect: 'refused',
    outcome: 'The request is answered 415 and nothing of it is stored.',
    fix: 'Compress with gzip, deflate or br, once, or not at all.',
  },
  'body-too-large': {
    title: 'The body is too large',
    effect: 'refused',
    outcome: 'The request is answered 413 and nothing of it is stored.',
    fix: 'Keep a body under 5 MB, inflated, and under 500,000 values, and a compressed one under a hundred times its own size.',
  },
  'body-too-many-events': {
    title: 'The body holds too many events',
    effect: 'refused',
    outcome: 'The request is answered 413 and nothing of it is stored.',
    fix: 'Send at most 2,000 events in one request.',
  },
  crawler: {
    title: 'The sender is a crawler',
    effect: 'bot',
    outcome: 'The request is answered 202; its events are counted and not stored.',
    fix: 'Nothing, if it is one. A program of your own sends a user-agent that does not name a crawler.',
  },
} as const satisfies Record<string, EventRule>

const dropRules = {
  'line-unparseable': {
    title: 'A line is not JSON',
    effect: 'dropped',
    outcome: 'The line is dropped; the other lines of the body are validated separately.',
    fix: 'Write one JSON object per line, without line breaks inside it.',
  },
  'event-not-object': {
    title: 'The event is not an object',
    effect: 'dropped',
    outcome: 'The event is dropped.',
    fix: 'Send each event as a JSON object with the fields of the collector envelope.',
  },
  'required-field-missing': {
    title: 'A required field is missing',
    effect: 'dropped',
    outcome: 'The event is dropped.',
    fix: 'Send key, name, url, tmpId, data, eventId and v with every event; only url may be an empty text.',
  },
  'required-field-wrong-type': {
    title: 'A required field has the wrong type',
    effect: 'dropped',
    outcome: 'The event is dropped.',
    fix: 'Send key, name, url, tmpId and eventId as texts.',
  },
  'call-unknown': {
    title: 'The type of a call in the Segment shape is unknown',
    effect: 'dropped',
    outcome: 'The call is dropped.',
    fix: 'Send track, page, screen, identify, group or alias as the type of each call of a batch.',
  },
  'key-mismatch': {
    title: 'The key belongs to another company',
    effect: 'dropped',
    outcome: 'The event is dropped.',
    fix: 'Send the identifier of the company that owns the datasource as key.',
  },
  'data-not-object': {
    title: 'data is not a plain object',
    effect: 'dropped',
    outcome: 'The event is dropped.',
    fix: 'Send data as a JSON object; send {} when there is nothing to say.',
  },
  'ids-wrong-type': {
    title: 'data.ids is neither a text nor a list of texts',
    effect: 'dropped',
    outcome: 'The event is dropped.',
    fix: 'Send identifiers as texts: "123" rather than 123, one text or a list of texts.',
  },
  'ids-none-left': {
    title: 'data.ids holds no identifier',
    effect: 'dropped',
    outcome: 'The event is dropped.',
    fix: 'Leave data.ids out when no item is involved; never send placeholders such as "undefined" or "0".',
  },
  'purchase-value-not-number': {
    title: 'The value of a purchase is not a number',
    effect: 'dropped',
    outcome: 'The purchase is dropped.',
    fix: 'Send data.value as a number, or as a text such as "129.90" with a point for the decimals.',
  },
  'purchase-value-joined': {
    title: 'The value of a purchase joins several amounts',
    effect: 'dropped',
    outcome: 'The purchase is dropped.',
    fix: 'Send the total of the order, without semicolon, comma or pipe.',
  },
  'purchase-value-out-of-range': {
    title: 'The value of a purchase is out of range',
    effect: 'dropped',
    outcome: 'The purchase is dropped.',
    fix: 'Send an amount of at most 16 digits before the decimal point.',
  },
  'event-too-large': {
    title: 'The event is too large',
    effect: 'dropped',
    outcome: 'The event is dropped.',
    fix: 'Keep one event under 1 MiB; send identifiers of large contents rather than the contents.',
  },
  'engine-refused': {
    title: 'The columnar store refuses the event',
    effect: 'dropped',
    outcome: 'The event is set aside in quarantine with the error of the store.',
    fix: 'Report it: an event that passed the rules is meant to be storable.',
  },
} as const satisfies Record<string, EventRule>

const changeRules = {
  'number-as-text': {
    title: 'An identifier is a number',
    effect: 'changed',
    outcome: 'The number is stored as text.',
    fix: 'Send identifiers as texts, so that leading zeros and long numbers survive.',
  },
  'tmp-id-placeholder': {
    title: 'tmpId is a placeholder',
    effect: 'changed',
    outcome: 'The clientId takes its place; without one it is stored as sent, and such devices count as one.',
    fix: 'Create an anonymous identity before the first event, or send the clientId as tmpId.',
  },
  'client-id-placeholder': {
    title: 'clientId is a placeholder',
    effect: 'changed',
    outcome: 'The identity is ignored; the event stays anonymous.',
    fix: 'Send clientId only once the user is known.',
  },
  'client-id-wrong-type': {
    title: 'clientId is not a text',
    effect: 'changed',
    outcome: 'The identity is ignored; the event stays anonymous.',
    fix: 'Send clientId as a text, or leave it out.',
  },
  'referrer-wrong-type': {
    title: 'referrer is not a text',
    effect: 'changed',
    outcome: 'It is left out.',
    fix: 'Send referrer as a text, as document.referrer gives it, or leave it out.',
  },
  'timestamp-not-number': {
    title: 'timestamp is not a number',
    effect: 'changed',
    outcome: 'The time of reception is used.',
    fix: 'Send milliseconds since 1970-01-01 UTC as a number.',
  },
  'timestamp-out-of-range': {
    title: 'timestamp is before 1980',
    effect: 'changed',
    outcome: 'The time of reception is used.',
    fix: 'Send milliseconds, not seconds: a time in seconds reads as January 1970.',
  },
  'timestamp-in-future': {
    title: 'timestamp lies more than 24 hours ahead',
    effect: 'changed',
    outcome: 'The time of reception is used.',
    fix: 'Check the clock of the sender, and that the unit is milliseconds.',
  },
  'version-unknown': {
    title: 'v is not 1',
    effect: 'changed',
    outcome: 'The event is read as version 1.',
    fix: 'Send v as the number 1.',
  },
  'ids-placeholder': {
    title: 'data.ids holds empty or placeholder entries',
    effect: 'changed',
    outcome: 'These entries are removed.',
    fix: 'Send only identifiers of items; leave out what is not known.',
  },
  'ids-too-many': {
    title: 'data.ids holds more than 10,000 entries',
    effect: 'changed',
    outcome: 'The first 10,000 are stored.',
    fix: 'Send one event per order or per page, not per catalogue.',
  },
  'ids-from-id': {
    title: 'data.id stands for data.ids',
    effect: 'changed',
    outcome: 'data.id is read as data.ids, and kept as a label.',
    fix: 'Send identifiers under data.ids.',
  },
  'value-ignored': {
    title: 'data.value is not an amount',
    effect: 'changed',
    outcome: 'The value is left out; the event is stored, as it is no purchase.',
    fix: 'Send data.value as a number, or use another key for other contents.',
  },
  'value-float-tail': {
    title: 'data.value ends in a rounding error of binary numbers',
    effect: 'changed',
    outcome: 'It is truncated to two decimals by the rule, one cent below the probable amount.',
    fix: 'Round amounts to two decimals before sending: 129.89999999999998 was meant to be 129.90.',
  },
  'trans-id-wrong-type': {
    title: 'data.transId is not a text',
    effect: 'changed',
    outcome: 'It is left out; the purchase counts on its own.',
    fix: 'Send data.transId as a text.',
  },
  'trans-id-placeholder': {
    title: 'data.transId is a placeholder',
    effect: 'changed',
    outcome: 'It is left out; the purchase counts on its own instead of merging with unrelated purchases.',
    fix: 'Send the identifier of the order, or leave data.transId out.',
  },
  'text-too-long': {
    title: 'A text is too long',
    effect: 'changed',
    outcome: 'It is cut; a cut identifier ends in a fingerprint of the whole, so that it stays distinct.',
    fix: 'Keep name under 256, url and referrer under 8,192, eventId under 256, identities under 512 characters.',
  },
  'text-not-clean': {
    title: 'A text holds NUL or half a surrogate pair',
    effect: 'changed',
    outcome: 'Each such character is replaced by U+FFFD.',
    fix: 'Cut texts between characters, and leave out NUL.',
  },
  'labels-too-many': {
    title: 'data holds more than 500 labels',
    effect: 'changed',
    outcome: 'The first 500 are stored.',
    fix: 'Send the keys that are filtered by, not whole documents.',
  },
  'label-key-not-allowed': {
    title: 'A key of data is not allowed',
    effect: 'changed',
    outcome: 'The label is left out.',
    fix: 'Use a key that is neither empty nor `__proto__`.',
  },
  'label-too-deep': {
    title: 'A label is nested too deep',
    effect: 'changed',
    outcome: 'The label is left out.',
    fix: 'Keep objects and lists inside data under 32 levels.',
  },
  'label-too-long': {
    title: 'A nested label is too long',
    effect: 'changed',
    outcome: 'The label is left out, because half a JSON text is of no use.',
    fix: 'Keep an object or list inside data under 8,192 characters of JSON.',
  },
} as const satisfies Record<string, EventRule>

const noteRules = {
  'event-id-reused': {
    title: 'An eventId comes again with another content',
    effect: 'noted',
    outcome:
      'The first event stays and this one counts as a duplicate. At most 100 duplicates of a load are compared.',
    fix: 'Give each event an eventId of its own; send an event again unchanged, or not at all.',
  },
  'names-too-many': {
    title: 'There are more than 2,000 event names',
    effect: 'noted',
    outcome: 'Everything is stored; a note comes once an hour while there are new names.',
    fix: 'Name the kind of event, and send what differs in data: view with {"page": "8271"}, not view_8271.',
  },
} as const satisfies Record<string, EventRule>

/** Every rule by its id. The ids are stored in the datasource log and are never given another meaning. */
export const eventRules = { ...bodyRules, ...dropRules, ...changeRules, ...noteRules } as const

export type BodyRuleId = keyof typeof bodyRules
export type DropRuleId = keyof typeof dropRules
export type ChangeRuleId = keyof typeof changeRules
export type NoteRuleId = keyof typeof noteRules
export type RuleId = keyof typeof eventRules

/** One application of a rule: where in the envelope, and a masked sample of what was found there. */
export interface Finding<Rule extends RuleId = RuleId> {
  rule: Rule
  /** Path from the envelope, such as `data.ids`; empty for the event as a whole. */
  path: string
  sample: string
}

export function isRuleId(text: string): text is RuleId {
  return Object.hasOwn(eventRules, text)
}
