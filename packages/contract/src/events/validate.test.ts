import fc from 'fast-check'
import { expect, test } from 'vitest'
import { eventVectors } from './event-vectors.ts'
import { placeholderValues } from './placeholders.ts'
import { eventRules } from './rules.ts'
import { type KeptEvent, type ValidationResult, validateEvent } from './validate.ts'

const companyId = '65a1b2c3d4e5f60718293a4b'
const receivedAt = Date.UTC(2026, 0, 15, 12)
const hour = 3_600_000

const envelope = {
  key: companyId,
  name: 'product_page',
  url: 'https://shop.example/p/1',
  tmpId: 'device-1',
  data: {},
  eventId: 'event-1',
  v: 1,
}

function validate(event: unknown): ValidationResult {
  return validateEvent(event, { companyId, receivedAt })
}

/** Validates the plain event with some fields replaced, after a passage through JSON like any real one. */
function validateWith(fields: Record<string, unknown>): ValidationResult {
  return validate(JSON.parse(JSON.stringify({ ...envelope, ...fields })))
}

function kept(fields: Record<string, unknown>): KeptEvent {
  const result = validateWith(fields)
  if (!result.kept) throw new Error(`dropped by ${result.reason.rule} at ${result.reason.path}`)
  return result
}

function changesOf(fields: Record<string, unknown>): string[] {
  return kept(fields).changes.map(({ rule, path }) => `${rule} ${path}`)
}

function reasonOf(result: ValidationResult): string {
  return result.kept ? 'kept' : `${result.reason.rule} ${result.reason.path}`.trim()
}

test('keeps a complete event as it was sent', () => {
  const data = {
    ids: ['A', 'B'],
    value: 12.345,
    transId: 'T1',
    color: 'red',
    size: 42,
    gift: true,
    none: null,
  }
  const event = { ...envelope, name: 'purchase', clientId: 'c1', timestamp: receivedAt - hour, data }
  expect(validate(event)).toEqual({
    kept: true,
    eventId: 'event-1',
    name: 'purchase',
    url: 'https://shop.example/p/1',
    referrerHost: '',
    tmpId: 'device-1',
    clientId: 'c1',
    time: receivedAt - hour,
    ids: ['A', 'B'],
    value: '12.34',
    transId: 'T1',
    labels: [
      ['color', 'red'],
      ['size', '42'],
      ['gift', 'true'],
    ],
    changes: [],
  })
})

test('leaves the envelope unchanged and ignores fields it does not know', () => {
  const event = Object.freeze({
    ...envelope,
    data: Object.freeze({ ids: Object.freeze(['0', 'A']) }),
    extra: 1,
  })
  expect(validate(event)).toMatchObject({ kept: true, ids: ['A'], labels: [] })
})

test.each([[null], [5], ['x'], [[]], [[envelope]], [true], [new Date()]])(
  'drops %j, which is no object',
  (event) => {
    expect(reasonOf(validate(event))).toBe('event-not-object')
  },
)

test.each(['key', 'name', 'tmpId', 'eventId', 'v'])('drops an event without %s', (field) => {
  expect(reasonOf(validate({ ...envelope, [field]: undefined }))).toBe(`required-field-missing ${field}`)
  expect(reasonOf(validateWith({ [field]: null }))).toBe(`required-field-missing ${field}`)
  expect(reasonOf(validateWith({ [field]: '' }))).toBe(`required-field-missing ${field}`)
})

test('drops an event without url, and keeps an empty one', () => {
  expect(reasonOf(validate({ ...envelope, url: undefined }))).toBe('required-field-missing url')
  expect(reasonOf(validateWith({ url: null }))).toBe('required-field-missing url')
  expect(kept({ url: '' }).url).toBe('')
})

test.each([
  ['key', 5],
  ['name', {}],
  ['url', 5],
  ['tmpId', {}],
  ['eventId', []],
  ['eventId', true],
  ['eventId', 2 ** 53],
])('drops an event whose %s is %j', (field, value) => {
  expect(reasonOf(validateWith({ [field]: value }))).toBe(`required-field-wrong-type ${field}`)
})

test('takes the key in upper case, and no other', () => {
  expect(validateWith({ key: companyId.toUpperCase() }).kept).toBe(true)
  expect(reasonOf(validateWith({ key: 'ffffffffffffffffffffffff' }))).toBe('key-mismatch key')
})

test('drops an event without data', () => {
  expect(reasonOf(validate({ ...envelope, data: undefined }))).toBe('required-field-missing data')
})

test.each([
  ['1', []],
  [1.0, []],
  [2, ['version-unknown v']],
  ['one', ['version-unknown v']],
  [{}, ['version-unknown v']],
])('reads an event with v %j as version 1', (v, changes) => {
  expect(changesOf({ v })).toEqual(changes)
})

test.each([['__proto__'], ['constructor'], ['drop table events'], ['😀'], ['page_view'], [' ']])(
  'accepts the event name %j as it is',
  (name) => expect(kept({ name })).toMatchObject({ name, changes: [] }),
)

test('stores numbers as identifiers, and says so', () => {
  const event = { tmpId: 7, eventId: 12.5, clientId: 42, data: { transId: 99 } }
  expect(kept(event)).toMatchObject({ tmpId: '7', eventId: '12.5', clientId: '42', transId: '99' })
  expect(changesOf(event)).toEqual([
    'number-as-text tmpId',
    'number-as-text eventId',
    'number-as-text clientId',
    'number-as-text data.transId',
  ])
})

test.each([[undefined], [null], ['']])('reads clientId %j as absent', (clientId) => {
  expect(kept({ clientId })).toMatchObject({ clientId: '', changes: [] })
})

test.each(placeholderValues.map((value) => [value]))('ignores the placeholder %s as clientId', (clientId) => {
  for (const name of ['identify', 'page_view']) {
    expect(kept({ name, clientId }).clientId).toBe('')
    expect(changesOf({ name, clientId })).toEqual(['client-id-placeholder clientId'])
  }
})

test('ignores a clientId that is no text', () => {
  expect(changesOf({ clientId: {} })).toEqual(['client-id-wrong-type clientId'])
  expect(changesOf({ clientId: 2 ** 60 })).toEqual(['client-id-wrong-type clientId'])
})

test('puts the clientId in the place of a placeholder tmpId', () => {
  expect(kept({ tmpId: 'undefined', clientId: 'c1' })).toMatchObject({ tmpId: 'c1', clientId: 'c1' })
  expect(kept({ tmpId: 'undefined' }).tmpId).toBe('undefined')
  expect(changesOf({ tmpId: 'undefined' })).toEqual(['tmp-id-placeholder tmpId'])
})

test.each([
  ['https://www.example.org/articles/7?reader=ada#comments', 'www.example.org'],
  ['HTTP://News.Example.ORG:8080', 'news.example.org'],
  ['https://reader:secret@example.org/', 'example.org'],
  ['https://bücher.example/', 'xn--bcher-kva.example'],
  ['http://[2001:DB8::1]:8080/', '[2001:db8::1]'],
  ['android-app://com.Example.Mail/https/example.org', 'com.example.mail'],
  ['https://shop.example.org/', 'shop.example.org'],
  // The page itself.
  ['https://shop.example/', ''],
  ['http://SHOP.example:8080/cart', ''],
  // No address of a page or an app.
  [undefined, ''],
  [null, ''],
  ['', ''],
  ['(direct)', ''],
  ['about:blank', ''],
  ['javascript:alert(1)//', ''],
  ['file:///home/ada/notes.html', ''],
  ['https://', ''],
  ['https://exa mple.org/', ''],
  ['//example.org/', ''],
  ['android-app://', ''],
  [`https://${'a.'.repeat(150)}example/`, ''],
])('takes from referrer %j the host %j', (referrer, host) => {
  expect(kept({ referrer })).toMatchObject({ referrerHost: host, changes: [] })
})

test('reads the host of a referrer as the parser of addresses does', () => {
  const address = fc.oneof(
    fc.webUrl({ withQueryParameters: true, withFragments: true }),
    fc.stringMatching(/^https?:\/\/[a-zA-Z0-9.:@%[\]-]{1,12}\/?x?$/),
    fc.stringMatching(/^https?:\/\/([a-z0-9-]{1,4}\.){1,3}[a-z0-9]{1,3}(:[0-9]{1,6})?[/?#]$/),
  )
  fc.assert(
    fc.property(address, (referrer) => {
      const host = URL.parse(referrer)?.hostname ?? ''
      expect(kept({ referrer }).referrerHost).toBe(host.includes('%') || host.length > 255 ? '' : host)
    }),
    { numRuns: 400 },
  )
})

test('keeps the host of any referrer where the page is a screen of an app', () => {
  const referrer = 'https://shop.example/'
  expect(kept({ url: 'screen/home', referrer }).referrerHost).toBe('shop.example')
  expect(kept({ url: '', referrer }).referrerHost).toBe('shop.example')
})

test.each([[5], [true], [{}], [['https://example.org/']]])(
  'ignores referrer %j, which is no text',
  (referrer) => {
    expect(kept({ referrer }).referrerHost).toBe('')
    expect(changesOf({ referrer })).toEqual(['referrer-wrong-type referrer'])
  },
)

test('reads a referrer that is too long or not clean as far as it goes', () => {
  const long = `https://example.org/${'x'.repeat(9000)}`
  expect(kept({ referrer: long }).referrerHost).toBe('example.org')
  expect(changesOf({ referrer: long })).toEqual(['text-too-long referrer'])
  expect(kept({ referrer: 'https://exam\0ple.org/' }).referrerHost).toBe('')
  expect(changesOf({ referrer: 'https://exam\0ple.org/' })).toEqual(['text-not-clean referrer'])
})

test.each([
  [undefined, receivedAt, []],
  [null, receivedAt, []],
  ['', receivedAt, []],
  [receivedAt - 1000, receivedAt - 1000, []],
  [String(receivedAt), receivedAt, []],
  ['1.7e12', 1.7e12, []],
  [1_700_000_000_000.9, 1_700_000_000_000, []],
  [receivedAt + hour, receivedAt + hour, []],
  [receivedAt - 400 * 24 * hour, receivedAt - 400 * 24 * hour, []],
  [Date.UTC(2000, 0, 1), Date.UTC(2000, 0, 1), []],
  [1_700_000_000, receivedAt, ['timestamp-out-of-range timestamp']],
  [0, receivedAt, ['timestamp-out-of-range timestamp']],
  [-5, receivedAt, ['timestamp-out-of-range timestamp']],
  [receivedAt + 48 * hour, receivedAt, ['timestamp-in-future timestamp']],
  [Date.UTC(9999, 0, 1), receivedAt, ['timestamp-in-future timestamp']],
  [8.64e15 + 1, receivedAt, ['timestamp-in-future timestamp']],
  ['1e999', receivedAt, ['timestamp-in-future timestamp']],
  ['2026-01-15T12:00:00Z', receivedAt, ['timestamp-not-number timestamp']],
  [true, receivedAt, ['timestamp-not-number timestamp']],
  [{}, receivedAt, ['timestamp-not-number timestamp']],
])('takes timestamp %j for %d', (timestamp, time, changes) => {
  expect(kept({ timestamp }).time).toBe(time)
  expect(changesOf({ timestamp })).toEqual(changes)
})

test.each(eventVectors)('finds in the data of %j what the tracker finds', ({ name, data, outcome }) => {
  const result = validateWith({ name, data })
  if (typeof outcome === 'string') expect(result).toMatchObject({ kept: false, reason: { rule: outcome } })
  else expect(result).toMatchObject({ kept: true, ids: outcome.ids ?? [], value: outcome.value })
})

test('says that placeholder entries were removed, and keeps at most 10,000', () => {
  expect(changesOf({ data: { ids: ['NaN', 'A'] } })).toEqual(['ids-placeholder data.ids'])
  const many = Array.from({ length: 100_000 }, (_, i) => `id${i}`)
  expect(kept({ data: { ids: many } }).ids).toEqual(many.slice(0, 10_000))
  expect(changesOf({ data: { ids: many } })).toEqual(['ids-too-many data.ids'])
})

test('reads data.id of an event about items as its ids', () => {
  expect(kept({ data: { id: 'A;B' } })).toMatchObject({ ids: ['A', 'B'], labels: [['id', 'A;B']] })
  expect(changesOf({ data: { id: 'A' } })).toEqual(['ids-from-id data.id'])
  expect(kept({ data: { id: 'null' } })).toMatchObject({ ids: [], changes: [] })
  expect(kept({ data: { id: 'A', ids: 'B' } })).toMatchObject({ ids: ['B'], changes: [] })
  expect(kept({ name: 'signed_up', data: { id: 'A' } })).toMatchObject({ ids: [], changes: [] })
})

test.each([
  [null, 'not-number'],
  [true, 'not-number'],
  ['', 'not-number'],
  ['0x10', 'not-number'],
  ['12,5', 'joined'],
  [1e21, 'out-of-range'],
])('drops a purchase of value %j, and only the value of another event', (value, why) => {
  expect(reasonOf(validateWith({ name: 'purchase', data: { value } }))).toBe(
    `purchase-value-${why} data.value`,
  )
  const other = { name: 'add_cart', data: { value } }
  expect(kept(other).value).toBeUndefined()
  expect(changesOf(other)).toEqual(value === null ? [] : ['value-ignored data.value'])
})

test('stores a purchase without value, and zero and negative values', () => {
  expect(kept({ name: 'purchase', data: {} })).toMatchObject({ value: undefined, changes: [] })
  expect(kept({ name: 'purchase', data: { value: 0 } }).value).toBe('0.00')
  expect(kept({ name: 'purchase', data: { value: '-1' } }).value).toBe('-1.00')
  expect(changesOf({ name: 'purchase', data: { value: 0.28999999165534973 } })).toEqual([
    'value-float-tail data.value',
  ])
})

test.each([
  [null, []],
  ['', []],
  ['0', ['trans-id-placeholder data.transId']],
  ['undefined', ['trans-id-placeholder data.transId']],
  [['a'], ['trans-id-wrong-type data.transId']],
  [2 ** 60, ['trans-id-wrong-type data.transId']],
])('leaves out transId %j', (transId, changes) => {
  expect(kept({ name: 'purchase', data: { transId } }).transId).toBe('')
  expect(changesOf({ name: 'purchase', data: { transId } })).toEqual(changes)
})

test('stores every other key of data as a label', () => {
  const data = JSON.parse(
    '{"name":"n","a.b":1,"$ne":true,"=cmd()":"x","nested":{"a":[1,{"b":"\\ud800\\u0000"}]},"list":[1,2],"toString":"t"}',
  ) as Record<string, unknown>
  expect(kept({ data }).labels).toEqual([
    ['name', 'n'],
    ['a.b', '1'],
    ['$ne', 'true'],
    ['=cmd()', 'x'],
    ['nested', '{"a":[1,{"b":"\\ud800\\u0000"}]}'],
    ['list', '[1,2]'],
    ['toString', 't'],
  ])
  expect(changesOf({ data })).toEqual([])
})

test('leaves out __proto__ and the empty key', () => {
  const result = validate({ ...envelope, data: JSON.parse('{"__proto__":{"polluted":1},"":"x","a":"b"}') })
  expect(result).toMatchObject({ labels: [['a', 'b']] })
  expect(result.kept && result.changes.map(({ rule }) => rule)).toEqual([
    'label-key-not-allowed',
    'label-key-not-allowed',
  ])
  expect(({} as Record<string, unknown>).polluted).toBeUndefined()
})

test('keeps 500 labels', () => {
  const data = Object.fromEntries(Array.from({ length: 10_000 }, (_, i) => [`k${i}`, i]))
  expect(kept({ data }).labels).toHaveLength(500)
  expect(changesOf({ data })).toEqual(['labels-too-many data'])
  const deep = JSON.parse('['.repeat(33) + ']'.repeat(33)) as unknown
  const refused = Object.fromEntries(Array.from({ length: 10_000 }, (_, i) => [`k${i}`, deep]))
  expect(kept({ data: refused }).labels).toHaveLength(0)
  expect(changesOf({ data: refused })).toHaveLength(501)
})

test('leaves out labels that are nested too deep or too long', () => {
  const nest = (levels: number) => JSON.parse('['.repeat(levels) + ']'.repeat(levels)) as unknown
  expect(kept({ data: { a: nest(32) } }).labels).toHaveLength(1)
  for (const levels of [33, 500])
    expect(changesOf({ data: { a: nest(levels) } })).toEqual(['label-too-deep data.a'])
  expect(validate({ ...envelope, data: { a: nest(1_000_000) } })).toMatchObject({ kept: true, labels: [] })
  expect(changesOf({ data: { a: ['x'.repeat(10_000)] } })).toEqual(['label-too-long data.a'])
})

test('cuts long texts, and long identifiers so that they stay distinct', () => {
  const long = (tail: string) => 'x'.repeat(10_000) + tail
  const event = { name: long('a'), url: long('a'), data: { text: long('a') } }
  const stored = kept(event)
  expect([stored.name.length, stored.url.length, stored.labels[0]?.[1].length]).toEqual([256, 8192, 8192])
  expect(changesOf(event)).toEqual(['text-too-long name', 'text-too-long url', 'text-too-long data.text'])
  for (const [field, length] of Object.entries({ eventId: 256, tmpId: 512, clientId: 512 } as const)) {
    const of = (tail: string) => String(kept({ [field]: long(tail) })[field as 'eventId'])
    expect(of('a')).toHaveLength(length)
    expect(of('a')).toBe(of('a'))
    expect(of('a')).not.toBe(of('b'))
  }
  expect(kept({ data: { [long('a')]: 1, [long('b')]: 2 } }).labels.map(([key]) => key.length)).toEqual([
    256, 256,
  ])
  expect(kept({ data: { ids: [long('a')] } }).ids[0]).toHaveLength(512)
})

test('never splits a surrogate pair', () => {
  const stored = kept({ name: `${'x'.repeat(255)}😀` })
  expect(stored.name).toBe('x'.repeat(255))
})

test('replaces NUL and lone surrogates wherever they stand', () => {
  const event = { name: 'a\0b', url: '\ud800', data: { '\0k': '\udc00', ids: ['i\0'] } }
  expect(validate({ ...envelope, ...event })).toMatchObject({
    name: 'a\ufffdb',
    url: '\ufffd',
    ids: ['i\ufffd'],
    labels: [['\ufffdk', '\ufffd']],
  })
})

test('never throws, and gives rules of the registry with well-formed texts, for any JSON value', () => {
  const unit = fc.nat({ max: 0xffff }).map((code) => String.fromCharCode(code))
  const field = fc.oneof(fc.jsonValue(), fc.string({ unit }), fc.constantFrom(...placeholderValues))
  const some = fc.record(
    {
      key: fc.oneof({ weight: 9, arbitrary: fc.constant(companyId) }, field),
      name: fc.oneof(fc.constantFrom('purchase', 'identify', 'brand_view', 'x'), field),
      url: fc.oneof(fc.constant('u'), field),
      tmpId: fc.oneof(fc.constant('t'), field),
      clientId: field,
      eventId: fc.oneof(fc.constant('e'), field),
      v: fc.oneof(fc.constant(1), field),
      timestamp: fc.oneof(fc.double(), field),
      data: fc.oneof(
        {
          weight: 9,
          arbitrary: fc.dictionary(
            fc.oneof(fc.constantFrom('ids', 'value', 'transId', 'id'), fc.string()),
            field,
          ),
        },
        field,
      ),
    },
    { requiredKeys: ['key', 'data', 'v', 'eventId'] },
  )
  fc.assert(
    fc.property(some, (event) => {
      const result = validate(event)
      if (!result.kept) {
        expect(eventRules[result.reason.rule].effect).toBe('dropped')
        return
      }
      for (const change of result.changes) {
        expect(eventRules[change.rule].effect).toBe('changed')
        expect(change.path.isWellFormed() && change.sample.isWellFormed()).toBe(true)
      }
      const texts = [result.name, result.url, result.tmpId, result.clientId, result.eventId, result.transId]
      for (const text of [...texts, ...result.ids, ...result.labels.flat()]) {
        expect(text.isWellFormed() && !text.includes('\0')).toBe(true)
      }
      expect(Number.isSafeInteger(result.time)).toBe(true)
      expect(result.time).toBeGreaterThan(0)
    }),
    { numRuns: 600 },
  )
})
