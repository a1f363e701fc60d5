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

const rule =
  <E extends RuleEffect>(effect: E, typical = '') =>
  (title: string, fix: string, outcome = typical) => ({ title, effect, outcome, fix })
const refused = rule('refused')
const bot = rule('bot')
const dropped = rule('dropped', 'The event is dropped.')
const changed = rule('changed')
const noted = rule('noted')

const bodyRules = {
  'body-empty': refused(
    'The body is empty',
    'Send one event as a JSON object, or a non-empty array of events.',
    'The request is answered 400; there is nothing in it to store.',
  ),
  'body-unparseable': refused(
    'The body cannot be read',
    'Send UTF-8 JSON (or a form, or one JSON object per line) and check Content-Encoding.',
    'The request is answered 400 and nothing of it is stored.',
  ),
  'body-encoding-unsupported': refused(
    'The content encoding is not supported',
    'Compress with gzip, deflate or br, once, or not at all.',
    'The request is answered 415 and nothing of it is stored.',
  ),
  'body-too-large': refused(
    'The body is too large',
    'Keep a body under 5 MB, inflated, and under 500,000 values, and a compressed one under a hundred times its own size.',
    'The request is answered 413 and nothing of it is stored.',
  ),
  'body-too-many-events': refused(
    'The body holds too many events',
    'Send at most 2,000 events in one request.',
    'The request is answered 413 and nothing of it is stored.',
  ),
  crawler: bot(
    'The sender is a crawler',
    'Nothing, if it is one. A program of your own sends a user-agent that does not name a crawler.',
    'The request is answered 202; its events are counted and not stored.',
  ),
}

const dropRules = {
  'line-unparseable': dropped(
    'A line is not JSON',
    'Write one JSON object per line, without line breaks inside it.',
    'The line is dropped; the other lines of the body are validated separately.',
  ),
  'person-erased': dropped(
    'The person of the event was erased',
    'Nothing: events with the same identifiers are refused for as long as the erasure says.',
  ),
  'consent-missing': dropped(
    'The event does not say that its person has consented',
    'Send consent: true with events of persons who have consented; the datasource takes no others (docs/data-life.md).',
  ),
  'event-not-object': dropped(
    'The event is not an object',
    'Send each event as a JSON object with the fields of the collector envelope.',
  ),
  'required-field-missing': dropped(
    'A required field is missing',
    'Send key, name, url, tmpId, data, eventId and v with every event; only url may be an empty text.',
  ),
  'required-field-wrong-type': dropped(
    'A required field has the wrong type',
    'Send key, name, url, tmpId and eventId as texts.',
  ),
  'call-unknown': dropped(
    'The type of a call in the Segment shape is unknown',
    'Send track, page, screen, identify, group or alias as the type of each call of a batch.',
    'The call is dropped.',
  ),
  'key-mismatch': dropped(
    'The key belongs to another company',
    'Send the identifier of the company that owns the datasource as key.',
  ),
  'data-not-object': dropped(
    'data is not a plain object',
    'Send data as a JSON object; send {} when there is nothing to say.',
  ),
  'ids-wrong-type': dropped(
    'data.ids is neither a text nor a list of texts',
    'Send identifiers as texts: "123" rather than 123, one text or a list of texts.',
  ),
  'ids-none-left': dropped(
    'data.ids holds no identifier',
    'Leave data.ids out when no item is involved; never send placeholders such as "undefined" or "0".',
  ),
  'purchase-value-not-number': dropped(
    'The value of a purchase is not a number',
    'Send data.value as a number, or as a text such as "129.90" with a point for the decimals.',
    'The purchase is dropped.',
  ),
  'purchase-value-joined': dropped(
    'The value of a purchase joins several amounts',
    'Send the total of the order, without semicolon, comma or pipe.',
    'The purchase is dropped.',
  ),
  'purchase-value-out-of-range': dropped(
    'The value of a purchase is out of range',
    'Send an amount of at most 16 digits before the decimal point.',
    'The purchase is dropped.',
  ),
  'event-too-large': dropped(
    'The event is too large',
    'Keep one event under 1 MiB; send identifiers of large contents rather than the contents.',
  ),
  'engine-refused': dropped(
    'The columnar store refuses the event',
    'Report it: an event that passed the rules is meant to be storable.',
    'The event is set aside in quarantine with the error of the store.',
  ),
}

const changeRules = {
  'number-as-text': changed(
    'An identifier is a number',
    'Send identifiers as texts, so that leading zeros and long numbers survive.',
    'The number is stored as text.',
  ),
  'tmp-id-placeholder': changed(
    'tmpId is a placeholder',
    'Create an anonymous identity before the first event, or send the clientId as tmpId.',
    'The clientId takes its place; without one it is stored as sent, and such devices count as one.',
  ),
  'client-id-placeholder': changed(
    'clientId is a placeholder',
    'Send clientId only once the user is known.',
    'The identity is ignored; the event stays anonymous.',
  ),
  'client-id-wrong-type': changed(
    'clientId is not a text',
    'Send clientId as a text, or leave it out.',
    'The identity is ignored; the event stays anonymous.',
  ),
  'referrer-wrong-type': changed(
    'referrer is not a text',
    'Send referrer as a text, as document.referrer gives it, or leave it out.',
    'It is left out.',
  ),
  'timestamp-not-number': changed(
    'timestamp is not a number',
    'Send milliseconds since 1970-01-01 UTC as a number.',
    'The time of reception is used.',
  ),
  'timestamp-out-of-range': changed(
    'timestamp is before 1980',
    'Send milliseconds, not seconds: a time in seconds reads as January 1970.',
    'The time of reception is used.',
  ),
  'timestamp-in-future': changed(
    'timestamp lies more than 24 hours ahead',
    'Check the clock of the sender, and that the unit is milliseconds.',
    'The time of reception is used.',
  ),
  'version-unknown': changed('v is not 1', 'Send v as the number 1.', 'The event is read as version 1.'),
  'ids-placeholder': changed(
    'data.ids holds empty or placeholder entries',
    'Send only identifiers of items; leave out what is not known.',
    'These entries are removed.',
  ),
  'ids-too-many': changed(
    'data.ids holds more than 10,000 entries',
    'Send one event per order or per page, not per catalogue.',
    'The first 10,000 are stored.',
  ),
  'ids-from-id': changed(
    'data.id stands for data.ids',
    'Send identifiers under data.ids.',
    'data.id is read as data.ids, and kept as a label.',
  ),
  'value-ignored': changed(
    'data.value is not an amount',
    'Send data.value as a number, or use another key for other contents.',
    'The value is left out; the event is stored, as it is no purchase.',
  ),
  'value-float-tail': changed(
    'data.value ends in a rounding error of binary numbers',
    'Round amounts to two decimals before sending: 129.89999999999998 was meant to be 129.90.',
    'It is truncated to two decimals by the rule, one cent below the probable amount.',
  ),
  'trans-id-wrong-type': changed(
    'data.transId is not a text',
    'Send data.transId as a text.',
    'It is left out; the purchase counts on its own.',
  ),
  'trans-id-placeholder': changed(
    'data.transId is a placeholder',
    'Send the identifier of the order, or leave data.transId out.',
    'It is left out; the purchase counts on its own instead of merging with unrelated purchases.',
  ),
  'text-too-long': changed(
    'A text is too long',
    'Keep name under 256, url and referrer under 8,192, eventId under 256, identities under 512 characters.',
    'It is cut; a cut identifier ends in a fingerprint of the whole, so that it stays distinct.',
  ),
  'text-not-clean': changed(
    'A text holds NUL or half a surrogate pair',
    'Cut texts between characters, and leave out NUL.',
    'Each such character is replaced by U+FFFD.',
  ),
  'labels-too-many': changed(
    'data holds more than 500 labels',
    'Send the keys that are filtered by, not whole documents.',
    'The first 500 are stored.',
  ),
  'label-key-not-allowed': changed(
    'A key of data is not allowed',
    'Use a key that is neither empty nor `__proto__`.',
    'The label is left out.',
  ),
  'label-too-deep': changed(
    'A label is nested too deep',
    'Keep objects and lists inside data under 32 levels.',
    'The label is left out.',
  ),
  'label-too-long': changed(
    'A nested label is too long',
    'Keep an object or list inside data under 8,192 characters of JSON.',
    'The label is left out, because half a JSON text is of no use.',
  ),
}

const noteRules = {
  'erasure-begun': noted(
    'A person of your company is being erased',
    'Nothing.',
    'Everything that was collected before this note is loaded before rows of the person are removed.',
  ),
  'event-id-reused': noted(
    'An eventId comes again with another content',
    'Give each event an eventId of its own; send an event again unchanged, or not at all.',
    'The first event stays and this one counts as a duplicate. At most 100 duplicates of a load are compared.',
  ),
  'names-too-many': noted(
    'There are more than 2,000 event names',
    'Name the kind of event, and send what differs in data: view with {"page": "8271"}, not view_8271.',
    'Everything is stored; a note comes once an hour while there are new names.',
  ),
}

/** Every rule by its id. The ids are stored in the datasource log and are never given another meaning. */
export const eventRules = { ...bodyRules, ...dropRules, ...changeRules, ...noteRules }

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
