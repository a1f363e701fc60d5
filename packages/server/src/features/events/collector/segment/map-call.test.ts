import { validateEvent } from '@millrace/contract/events/validate.ts'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type CallType, callNames, mapCall } from './map-call.ts'

const companyId = '65f0c0ffee5ca1ab1e0ddba1'
const receivedAt = Date.UTC(2026, 0, 31, 12)
const request = { companyId, receivedAt }

/** A call with the identities that it needs, mapped and then validated as the collector does. */
function collected(type: CallType, fields: object, beside: object = {}) {
  const call = { messageId: 'm1', anonymousId: 'device-1', ...fields }
  const mapped = mapCall(call, type, { ...request, ...beside })
  if ('kept' in mapped) return mapped
  const event = validateEvent(mapped, request)
  return event.kept ? { ...event, labels: Object.fromEntries(event.labels) } : event
}

describe('events of online shops', () => {
  const products = [
    { product_id: 'p1', sku: 's1', price: 19.9, quantity: 2 },
    { sku: 's2', price: 1 },
  ]

  test.each<[string, object, object]>([
    [
      'Order Completed',
      { order_id: 'A-1', total: 59.9, revenue: 50, currency: 'EUR', products },
      {
        name: 'purchase',
        ids: ['p1', 's2'],
        value: '59.90',
        transId: 'A-1',
        labels: { revenue: '50', currency: 'EUR', products: JSON.stringify(products) },
      },
    ],
    ['Order Completed', { revenue: '25.10' }, { name: 'purchase', ids: [], value: '25.10', transId: '' }],
    ['Order Completed', { value: 3 }, { value: '3.00', labels: {} }],
    ['Order Completed', { total: 3, value: 2 }, { value: '3.00', labels: { 'properties.value': '2' } }],
    ['order completed', { total: 1 }, { name: 'purchase' }],
    ['Completed Order', { orderId: 7, total: 1 }, { name: 'purchase', transId: '7', value: '1.00' }],
    [
      'Product Viewed',
      { product_id: 507, sku: 'G-32', name: 'Monopoly' },
      { name: 'product_page', ids: ['507'], labels: { sku: 'G-32', name: 'Monopoly' } },
    ],
    ['Product Viewed', { sku: 'a;b' }, { name: 'product_page', ids: ['a;b'], labels: {} }],
    ['Viewed Product', { id: 'p1' }, { name: 'product_page', ids: ['p1'] }],
    ['Product Viewed', { name: 'Monopoly' }, { name: 'product_page', ids: [], labels: { name: 'Monopoly' } }],
    [
      'Product List Viewed',
      { category: 'Games, new', list_id: 'l1', products },
      { name: 'category_view', ids: ['Games, new'], labels: { list_id: 'l1', products: expect.any(String) } },
    ],
    ['Product List Viewed', { list_id: 'l1' }, { name: 'category_view', ids: ['l1'], labels: {} }],
    ['Product Added', { product_id: 'p1', cart_id: 'c' }, { name: 'add_cart', labels: { cart_id: 'c' } }],
    ['Product Clicked', { product_id: 'p1', position: 3 }, { name: 'product_hover', ids: ['p1'] }],
    [
      'Product Removed',
      { product_id: 'p1' },
      { name: 'Product Removed', ids: [], labels: { product_id: 'p1' } },
    ],
    ['Order Refunded', { order_id: 'A-1' }, { name: 'Order Refunded', labels: { order_id: 'A-1' } }],
  ])('%s %j', (event, properties, expected) => {
    expect(collected('track', { event, properties })).toMatchObject({ kept: true, ...expected })
  })

  test('an order whose total is no amount is dropped by the rule of purchases', () => {
    expect(collected('track', { event: 'Order Completed', properties: { total: '12,50' } })).toMatchObject({
      kept: false,
      reason: { rule: 'purchase-value-joined', path: 'data.value' },
    })
  })

  test('our own names take our own fields', () => {
    const properties = { ids: ['p1'], value: 5, transId: 'A-1', total: 7 }
    expect(collected('track', { event: 'purchase', properties })).toMatchObject({
      name: 'purchase',
      ids: ['p1'],
      value: '5.00',
      transId: 'A-1',
      labels: { total: '7' },
    })
  })
})

test('any other event keeps its name, and names that are reserved here become labels', () => {
  const properties = { ids: 5, transId: {}, value: 'high', depth: { a: [1, { b: null }] }, flag: false }
  expect(collected('track', { event: 'Signed Up', properties })).toMatchObject({
    name: 'Signed Up',
    ids: [],
    value: undefined,
    transId: '',
    changes: [],
    labels: {
      'properties.ids': '5',
      'properties.transId': '{}',
      'properties.value': 'high',
      depth: '{"a":[1,{"b":null}]}',
      flag: 'false',
    },
  })
  expect(collected('track', { event: 'Donated', properties: { value: '12.345' } })).toMatchObject({
    value: '12.34',
    labels: {},
  })
})

test('a page is a page_view at its address', () => {
  const properties = {
    url: 'https://shop.example/a?x=1',
    path: '/a',
    title: 'A',
    referrer: 'https://www.example.org/b',
  }
  expect(collected('page', { name: 'Home', category: 'Start', properties })).toMatchObject({
    name: 'page_view',
    url: 'https://shop.example/a?x=1',
    referrerHost: 'www.example.org',
    labels: { name: 'Home', category: 'Start', path: '/a', title: 'A' },
  })
  const context = { page: { url: 'https://shop.example/c', referrer: 'https://shop.example/', title: 'C' } }
  expect(collected('page', { context })).toMatchObject({
    url: 'https://shop.example/c',
    referrerHost: '',
    labels: { 'context.page.title': 'C' },
  })
  expect(collected('page', { properties: { url: 7 } })).toMatchObject({ url: '', labels: { url: '7' } })
})

test('a screen is a page_view whose address is its name', () => {
  expect(collected('screen', { name: 'Cart', properties: { items: 2 } })).toMatchObject({
    name: 'page_view',
    url: 'Cart',
    labels: { name: 'Cart', items: '2' },
  })
})

test('identify binds the device to the person, with traits as labels', () => {
  const traits = { plan: 'premium', ids: 7, address: { city: 'Lyon' } }
  expect(collected('identify', { userId: 'ada', traits })).toMatchObject({
    name: 'identify',
    tmpId: 'device-1',
    clientId: 'ada',
    ids: [],
    labels: { plan: 'premium', 'traits.ids': '7', address: '{"city":"Lyon"}' },
  })
})

test('alias binds the former identity, and group is an event of its own', () => {
  expect(collected('alias', { previousId: 'old', userId: 'ada' })).toMatchObject({
    name: 'identify',
    tmpId: 'old',
    clientId: 'ada',
  })
  expect(collected('group', { groupId: 'g1', traits: { plan: 'team' } })).toMatchObject({
    name: 'group',
    labels: { groupId: 'g1', plan: 'team' },
  })
})

test.each<[object, object]>([
  [
    { anonymousId: 'device-1', userId: 'ada' },
    { tmpId: 'device-1', clientId: 'ada' },
  ],
  [
    { anonymousId: undefined, userId: 'ada' },
    { tmpId: 'ada', clientId: 'ada' },
  ],
  [
    { anonymousId: '', userId: 42 },
    { tmpId: '42', clientId: '42' },
  ],
  [
    { anonymousId: null, userId: 'undefined' },
    { tmpId: 'undefined', clientId: '' },
  ],
  [{ userId: null }, { tmpId: 'device-1', clientId: '' }],
])('identities %j', (identities, expected) => {
  expect(collected('track', { event: 'e', ...identities })).toMatchObject(expected)
})

test.each<[CallType | undefined, unknown, string, string]>([
  ['track', { anonymousId: 'd' }, 'required-field-missing', 'event'],
  ['track', { anonymousId: 'd', event: 5 }, 'required-field-wrong-type', 'event'],
  ['track', { anonymousId: 'd', event: 'e', properties: [] }, 'data-not-object', 'properties'],
  ['track', { event: 'e' }, 'required-field-missing', 'anonymousId'],
  ['page', { anonymousId: 'd', properties: 'x' }, 'data-not-object', 'properties'],
  ['identify', { userId: 'u', traits: 'x' }, 'data-not-object', 'traits'],
  ['group', { userId: 'u', traits: 1 }, 'data-not-object', 'traits'],
  ['alias', { userId: 'u' }, 'required-field-missing', 'previousId'],
  ['alias', { previousId: 'u' }, 'required-field-missing', 'userId'],
  [undefined, { type: 'delete', anonymousId: 'd' }, 'call-unknown', 'type'],
  [undefined, { type: '__proto__', anonymousId: 'd' }, 'call-unknown', 'type'],
  [undefined, { type: ['track'], anonymousId: 'd' }, 'call-unknown', 'type'],
  [undefined, { anonymousId: 'd', event: 'e' }, 'call-unknown', 'type'],
  [undefined, null, 'event-not-object', ''],
  [undefined, [], 'event-not-object', ''],
])('drops %s %j by the rule %s at %s', (type, call, rule, path) => {
  expect(mapCall(call, type, request)).toMatchObject({ kept: false, reason: { rule, path } })
})

describe('context', () => {
  const context = {
    ip: '203.0.113.7',
    userAgent: 'Mozilla/5.0',
    library: { name: 'analytics-node', version: '3' },
    traits: { email: 'ada@example.com' },
    device: { id: 'x', token: 'y', model: 'Pixel' },
    page: { url: 'https://shop.example/', path: '/', search: '', title: 'Start' },
    campaign: { name: 'spring', source: 'mail', content: 'a' },
    locale: 'fr-FR',
    active: true,
    extra: [1],
  }

  test('becomes labels, but for what identifies and what stands elsewhere', () => {
    const labels = {
      utm_source: 'own',
      utm_campaign: 'spring',
      utm_content: 'a',
      'context.device.model': 'Pixel',
      'context.page.title': 'Start',
      'context.locale': 'fr-FR',
      'context.active': 'true',
      'context.extra': '[1]',
    }
    const properties = { utm_source: 'own' }
    expect(collected('track', { event: 'e', context, properties })).toHaveProperty('labels', labels)
  })

  test('of the batch counts for calls without their own', () => {
    const beside = { context: { locale: 'en', page: { url: 'https://a.example/' } } }
    expect(collected('track', { event: 'e' }, beside)).toMatchObject({
      url: 'https://a.example/',
      labels: { 'context.locale': 'en' },
    })
    expect(collected('track', { event: 'e', context: {} }, beside)).toMatchObject({ url: '', labels: {} })
  })
})

describe('times', () => {
  const at = (offset: number) => new Date(receivedAt + offset).toISOString()
  const minute = 60_000

  test.each<[string, object, unknown, number]>([
    ['none: the reception', {}, at(0), 0],
    ['clocks agree', { timestamp: at(-minute) }, at(-2_000), -minute],
    ['history, clocks agree', { timestamp: at(-9_000 * minute) }, at(0), -9_000 * minute],
    ['without sentAt', { timestamp: at(-minute) }, undefined, -minute],
    ['a clock an hour ahead', { timestamp: at(59 * minute) }, at(60 * minute), -minute],
    ['a clock two days behind', { timestamp: at(-2881 * minute) }, at(-2880 * minute), -minute],
    ['sentAt that is no time', { timestamp: at(-minute) }, 'soon', -minute],
    [
      'corrected before',
      { timestamp: at(-minute), originalTimestamp: at(59 * minute) },
      at(60 * minute),
      -minute,
    ],
    ['originalTimestamp alone', { originalTimestamp: at(59 * minute) }, at(60 * minute), -minute],
    ['with an offset', { timestamp: '2026-01-31T14:00:00.123456+02:30' }, undefined, -30 * minute + 123],
    ['without a zone', { timestamp: '2026-01-31T11:00:00' }, undefined, -60 * minute],
    ['a day', { timestamp: '2026-01-31' }, undefined, -720 * minute],
    ['milliseconds', { timestamp: receivedAt - 5 }, undefined, -5],
    ['null', { timestamp: null }, undefined, 0],
    ['empty', { timestamp: '' }, undefined, 0],
  ])('%s', (_, fields, sentAt, offset) => {
    expect(collected('track', { event: 'e', ...fields }, { sentAt })).toMatchObject({
      time: receivedAt + offset,
      changes: [],
    })
  })

  test('what is no time is noted, and the reception stands for it', () => {
    for (const timestamp of ['yesterday', '31/01/2026', {}, true, `2026-01-31T00:00${'0'.repeat(1e6)}`]) {
      expect(collected('track', { event: 'e', timestamp })).toMatchObject({
        time: receivedAt,
        changes: [{ rule: 'timestamp-not-number', path: 'timestamp' }],
      })
    }
  })

  test('any clock that is wrong gives the time at which it happened, within the time of the request', () => {
    const hours = fc.integer({ min: -1e9, max: 1e9 })
    fc.assert(
      fc.property(hours, fc.nat(1e9), fc.nat(30_000), (skew, age, latency) => {
        const happened = receivedAt - latency - age
        const timestamp = new Date(happened + skew).toISOString()
        const sentAt = new Date(receivedAt - latency + skew).toISOString()
        const { time } = collected('track', { event: 'e', timestamp }, { sentAt }) as { time: number }
        const error = Math.abs(time - happened)
        expect(error).toBeLessThanOrEqual(Math.abs(skew) <= latency + 60_000 ? 60_000 + latency : latency)
      }),
    )
  })
})

describe('a call without messageId', () => {
  const idOf = (call: object) => {
    const mapped = mapCall({ anonymousId: 'd', event: 'e', ...call }, 'track', request)
    return 'kept' in mapped ? undefined : mapped.eventId
  }

  test('that has a time counts once, whenever it is sent', () => {
    const call = { timestamp: '2026-01-31T11:00:00Z', properties: { a: 1 } }
    expect(idOf({ ...call, sentAt: '2026-01-31T11:00:01Z' })).toBe(
      idOf({ ...call, sentAt: '2026-01-31T11:05:00Z' }),
    )
    expect(idOf(call)).not.toBe(idOf({ ...call, properties: { a: 2 } }))
    expect(idOf(call)).not.toBe(idOf({ ...call, timestamp: '2026-01-31T11:00:01Z' }))
  })

  test('that has no time is another one each time', () => {
    expect(idOf({})).not.toBe(idOf({}))
  })
})

test('whatever a call holds, it is mapped or dropped, unchanged, and pollutes nothing', () => {
  const names = ['event', 'properties', 'traits', 'context', 'userId', 'anonymousId', 'timestamp', 'url']
  const anything = fc.letrec((tie) => ({
    value: fc.oneof(
      { maxDepth: 4 },
      fc.jsonValue({ maxDepth: 1 }),
      fc.dictionary(
        fc.constantFrom(...names, 'products', 'total', 'page', 'campaign', '__proto__', 'ids', 'value', 'x'),
        tie('value'),
        { noNullPrototype: true },
      ),
    ),
  })).value
  const event = fc.constantFrom('Order Completed', 'Product Viewed', 'Product List Viewed', 'purchase', 'x')
  fc.assert(
    fc.property(anything, event, fc.constantFrom(...callNames, undefined), (value, name, type) => {
      // As it would be read from a body.
      const text = JSON.stringify({ userId: 'u', ...(value as object), event: name })
      const call: unknown = JSON.parse(text)
      const mapped = mapCall(call, type, { ...request, sentAt: value, context: value })
      if (!('kept' in mapped)) validateEvent(mapped, request)
      expect(JSON.stringify(call)).toBe(text)
      expect(({} as Record<string, unknown>).polluted).toBeUndefined()
      expect(Object.keys(Object.prototype)).toEqual([])
    }),
  )
})

test('a __proto__ among properties and context is noted as no label', () => {
  const call = JSON.parse(
    '{"anonymousId":"d","messageId":"m","event":"e","properties":{"__proto__":{"admin":1},"a":1},"context":{"__proto__":{"b":1}}}',
  )
  const mapped = mapCall(call, 'track', request)
  if ('kept' in mapped) throw new Error('it was dropped')
  expect(validateEvent(mapped, request)).toMatchObject({
    kept: true,
    labels: [
      ['a', '1'],
      ['context.__proto__.b', '1'],
    ],
    changes: [{ rule: 'label-key-not-allowed' }],
  })
})

test('works in time linear in the size of a call', async () => {
  const properties = Object.fromEntries(Array.from({ length: 20_000 }, (_, i) => [`k${i}`, i]))
  const products = Array.from({ length: 20_000 }, (_, i) => ({ product_id: i }))
  const call = {
    messageId: 'm',
    anonymousId: 'd',
    event: 'Order Completed',
    properties: { ...properties, products },
    context: properties,
  }
  const text = JSON.stringify(call)
  await expect(() => mapCall(call, 'track', request)).toCostAtMost(30, () => JSON.parse(text))
})

test('of more fields than an event can have, those that are read by name count wherever they stand', () => {
  const many = Object.fromEntries(Array.from({ length: 5000 }, (_, i) => [`k${i}`, i]))
  const event = collected('track', {
    event: 'Order Completed',
    properties: { absent: null, ...many, total: 5, order_id: 'A-1', products: [{ sku: 's' }] },
    context: { ...many, page: { url: 'https://shop.example/', ...many } },
  })
  expect(event).toMatchObject({
    kept: true,
    url: 'https://shop.example/',
    ids: ['s'],
    value: '5.00',
    transId: 'A-1',
    labels: { k0: '0', k499: '499' },
    changes: [{ rule: 'labels-too-many' }],
  })
  expect(Object.keys('labels' in event ? event.labels : {})).toHaveLength(500)
  const properties = Object.fromEntries(Array.from({ length: 100_000 }, (_, i) => [`k${i}`, i]))
  const mapped = mapCall({ anonymousId: 'd', event: 'e', properties, context: properties }, 'track', request)
  expect(Object.keys('kept' in mapped ? {} : mapped.data).length).toBeLessThan(2100)
})
