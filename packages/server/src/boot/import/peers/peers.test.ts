import { validateEvent } from '@millrace/contract/events/validate.ts'
import { describe, expect, test } from 'vitest'
import { type MappingCounts, mapRecords } from '../map-records.ts'
import { peers } from './all.ts'

// Records in the shape that each product documents; made for these tests, no data of a real site.

const key = '65f0c0ffee5ca1ab1e0ddba1'
const receivedAt = Date.UTC(2026, 10, 1)

async function read(name: string, ...records: object[]) {
  const peer = peers.get(name)
  const counts: MappingCounts = {
    records: 0,
    leftOut: 0,
    leftOutBy: new Map(),
    events: 0,
    expected: undefined,
  }
  async function* input() {
    for (const [i, fields] of records.entries())
      yield { number: i + 1, fields: fields as Record<string, unknown> }
  }
  const events: Record<string, unknown>[] = []
  for await (const envelope of mapRecords(input(), { peer }, key, counts)) {
    const event = validateEvent(envelope, { companyId: key, receivedAt })
    if (!event.kept) throw new Error(`${event.reason.rule} ${event.reason.path}`)
    const { kept: _kept, labels, time, ...rest } = event
    events.push({ ...rest, time: new Date(time).toISOString(), labels: Object.fromEntries(labels) })
  }
  return { events, leftOut: Object.fromEntries(counts.leftOutBy) }
}

/** Columns of `website_event`: db/clickhouse/schema.sql and the export route of umami-software/umami (MIT). */
const umamiRow = {
  website_id: '5b2fa5c5-9b0d-4a34-a1c9-e5ed9fe44aa9',
  session_id: '9f1f0a4e-5d6c-5b1f-9f59-1d2a1d6f8a10',
  visit_id: '0d9a8e6b-7d6f-5a08-8d9a-3e0f3d0d9c11',
  event_id: '1b0a3f0e-42a3-4f47-9c5b-2f0c8f6c0a01',
  hostname: 'shop.example',
  browser: 'chrome',
  os: 'Windows 10',
  device: 'desktop',
  screen: '1920x1080',
  language: 'en-GB',
  country: 'GB',
  subdivision1: 'GB-ENG',
  city: 'London',
  url_path: '/p/1',
  url_query: 'utm_source=mail',
  utm_source: 'mail',
  referrer_path: '/search',
  referrer_query: '',
  referrer_domain: 'www.example.org',
  page_title: 'Mug',
  event_type: '1',
  event_name: '',
  tag: '',
  created_at: '2025-03-01 08:15:30',
}

test('umami', async () => {
  const { events, leftOut } = await read(
    'umami',
    umamiRow,
    { ...umamiRow, event_id: 'b', event_type: '2', event_name: 'signup', distinct_id: 'ada' },
    { ...umamiRow, event_type: '5' },
  )
  expect(events).toMatchObject([
    {
      name: 'page_view',
      url: 'https://shop.example/p/1?utm_source=mail',
      referrerHost: 'www.example.org',
      tmpId: umamiRow.session_id,
      clientId: '',
      eventId: umamiRow.event_id,
      time: '2025-03-01T08:15:30.000Z',
      labels: { title: 'Mug', utm_source: 'mail', 'umami.country': 'GB', 'umami.device': 'desktop' },
    },
    { name: 'signup', clientId: 'ada' },
  ])
  expect(leftOut).toEqual({ 'event_type 5': 1 })
})

/** Columns of `events_v2`: priv/ingest_repo/structure.sql of plausible/analytics. */
const plausibleRow = {
  timestamp: '2025-03-01 08:15:30',
  name: 'pageview',
  site_id: '1',
  user_id: '10438294729472948231',
  session_id: '8473629384756192837',
  hostname: 'shop.example',
  pathname: '/p/1',
  referrer: 'www.example.org/search',
  referrer_source: 'Example',
  country_code: 'GB',
  screen_size: 'Desktop',
  operating_system: 'Windows',
  browser: 'Chrome',
  utm_medium: '',
  utm_source: 'mail',
  utm_campaign: '',
  'meta.key': [],
  'meta.value': [],
  revenue_source_amount: null,
  revenue_source_currency: '',
}

test('plausible', async () => {
  const { events, leftOut } = await read(
    'plausible',
    plausibleRow,
    {
      ...plausibleRow,
      name: 'Purchase',
      'meta.key': ['plan'],
      'meta.value': ['gold'],
      revenue_source_amount: '12.500',
      revenue_source_currency: 'EUR',
    },
    { ...plausibleRow, name: 'engagement' },
  )
  expect(events).toMatchObject([
    {
      name: 'page_view',
      url: 'https://shop.example/p/1',
      referrerHost: 'www.example.org',
      tmpId: plausibleRow.user_id,
      time: '2025-03-01T08:15:30.000Z',
      labels: { utm_source: 'mail', 'plausible.country': 'GB' },
    },
    { name: 'Purchase', value: '12.50', labels: { 'properties.plan': 'gold', currency: 'EUR' } },
  ])
  expect(events[0]?.eventId).not.toBe(events[1]?.eventId)
  expect(leftOut).toEqual({ engagement: 1 })
})

/** Fields of an exported event: posthog.com/docs, Batch exports, and the properties that posthog-js sends. */
const posthogEvent = (event: string, properties: object, distinct_id = '0190-anon') => ({
  uuid: `uuid-${event}`,
  event,
  distinct_id,
  timestamp: '2025-03-01T08:15:30.250+00:00',
  properties: { $device_id: '0190-anon', token: 'phc_x', $lib: 'web', ...properties },
})

test('posthog', async () => {
  const { events, leftOut } = await read(
    'posthog',
    posthogEvent('$pageview', {
      $current_url: 'https://shop.example/p/1',
      $referrer: '$direct',
      $os: 'Linux',
    }),
    posthogEvent(
      '$identify',
      { $anon_distinct_id: '0190-anon', $current_url: 'https://shop.example/' },
      'ada',
    ),
    posthogEvent('order placed', { value: 12.5, products: ['a'], $geoip_country_code: 'GB' }, 'ada'),
    { ...posthogEvent('x', {}), properties: JSON.stringify({ plan: 'gold' }) },
    posthogEvent('$web_vitals', {}),
  )
  expect(events).toMatchObject([
    {
      name: 'page_view',
      url: 'https://shop.example/p/1',
      referrerHost: '',
      tmpId: '0190-anon',
      clientId: '',
      eventId: 'uuid-$pageview',
      time: '2025-03-01T08:15:30.250Z',
      labels: { $os: 'Linux' },
    },
    { name: 'identify', tmpId: '0190-anon', clientId: 'ada' },
    { name: 'order placed', clientId: 'ada', labels: { 'properties.value': '12.5', $country: 'GB' } },
    { name: 'x', labels: { plan: 'gold' } },
  ])
  expect(leftOut).toEqual({ $web_vitals: 1 })
  await expect(read('posthog', { ...posthogEvent('x', {}), properties: '{' })).rejects.toThrow(
    /record 1.*not JSON/,
  )
})

/** A visit of Live.getLastVisitsDetails: developer.matomo.org, Reporting API, and plugins/Live of matomo-org/matomo. */
const matomoVisit = {
  idVisit: '4711',
  visitorId: '3f6a9c0b1d2e4f58',
  userId: 'ada',
  deviceType: 'Desktop',
  operatingSystemName: 'Windows',
  browserName: 'Chrome',
  countryCode: 'gb',
  referrerUrl: 'https://www.example.org/search',
  campaignName: '',
  actionDetails: [
    { type: 'action', url: 'https://shop.example/p/1', pageTitle: 'Mug', timestamp: 1740816930 },
    { type: 'event', eventCategory: 'Video', eventAction: 'play', eventName: 'Intro', timestamp: 1740816940 },
    {
      type: 'ecommerceOrder',
      orderId: 'A-1',
      revenue: '12.5',
      itemDetails: [{ itemSKU: 'sku-1', itemName: 'Mug', quantity: 1, price: 12.5 }],
      timestamp: 1740816950,
    },
    { type: 'ecommerceAbandonedCart', revenue: '89', timestamp: 1740816960 },
  ],
}

test('matomo', async () => {
  const { events, leftOut } = await read('matomo', matomoVisit, { ...matomoVisit, actionDetails: [] })
  expect(events).toMatchObject([
    {
      name: 'page_view',
      url: 'https://shop.example/p/1',
      referrerHost: 'www.example.org',
      tmpId: '3f6a9c0b1d2e4f58',
      clientId: 'ada',
      eventId: 'matomo-4711-0',
      time: '2025-03-01T08:15:30.000Z',
      labels: { title: 'Mug', 'matomo.country': 'gb' },
    },
    { name: 'play', referrerHost: '', labels: { category: 'Video', eventName: 'Intro' } },
    { name: 'purchase', ids: ['sku-1'], value: '12.50', transId: 'A-1' },
  ])
  expect(leftOut).toEqual({ 'visits without an action that is known': 1 })
})

const param = (name: string, value: object) => ({ key: name, value })

/** Columns of `events_YYYYMMDD`: support.google.com/analytics/answer/7029846. */
const ga4Event = (event_name: string, fields: object = {}) => ({
  event_date: '20250301',
  event_timestamp: '1740816930123456',
  event_name,
  event_params: [
    param('page_location', { string_value: 'https://shop.example/p/1' }),
    param('ga_session_id', { int_value: '17' }),
    param('page_title', { string_value: 'Mug' }),
  ],
  user_id: null,
  user_pseudo_id: '1234567890.1740000000',
  device: { category: 'desktop', operating_system: 'Windows', web_info: { browser: 'Chrome' } },
  geo: { country: 'United Kingdom' },
  items: [],
  ...fields,
})

test('ga4', async () => {
  const { events, leftOut } = await read(
    'ga4',
    ga4Event('page_view'),
    ga4Event('purchase', {
      user_id: 'ada',
      ecommerce: { transaction_id: 'A-1', purchase_revenue: 12.5 },
      items: [{ item_id: 'sku-1', item_name: 'Mug' }],
    }),
    ga4Event('view_item', { items: [{ item_name: 'Mug' }] }),
    ga4Event('session_start'),
    ga4Event('page_view', { user_pseudo_id: null }),
  )
  expect(events).toMatchObject([
    {
      name: 'page_view',
      url: 'https://shop.example/p/1',
      tmpId: '1234567890.1740000000',
      time: '2025-03-01T08:15:30.123Z',
      labels: { page_title: 'Mug', 'ga4.browser': 'Chrome', 'ga4.country': 'United Kingdom' },
    },
    { name: 'purchase', clientId: 'ada', ids: ['sku-1'], value: '12.50', transId: 'A-1' },
    { name: 'product_page', ids: ['Mug'] },
  ])
  expect(events[0]?.labels).not.toHaveProperty('ga_session_id')
  expect(leftOut).toMatchObject({ session_start: 1 })
})

/** A line of the raw export: docs.mixpanel.com, Export API, with its reserved properties. */
const mixpanelEvent = (event: string, properties: object) => ({
  event,
  properties: {
    time: 1740816930,
    distinct_id: '$device:d-1',
    $device_id: 'd-1',
    mp_lib: 'web',
    ...properties,
  },
})

test('mixpanel', async () => {
  const { events, leftOut } = await read(
    'mixpanel',
    mixpanelEvent('$mp_web_page_view', {
      current_url: 'https://shop.example/p/1',
      $insert_id: 'i-1',
      mp_country_code: 'GB',
    }),
    mixpanelEvent('Signed Up', { distinct_id: 'ada', $user_id: 'ada', plan: 'gold', $browser: 'Chrome' }),
    mixpanelEvent('$merge', {}),
  )
  expect(events).toMatchObject([
    {
      name: 'page_view',
      url: 'https://shop.example/p/1',
      tmpId: 'd-1',
      clientId: '',
      eventId: 'i-1',
      time: '2025-03-01T08:15:30.000Z',
      labels: { mp_country_code: 'GB' },
    },
    { name: 'Signed Up', clientId: 'ada', labels: { plan: 'gold', $browser: 'Chrome' } },
  ])
  expect(leftOut).toEqual({ $merge: 1 })
})

/** A call as archives have it: segment.com/docs/connections/spec/common. */
test('segment', async () => {
  const call = {
    anonymousId: 'd-1',
    userId: 'ada',
    messageId: 'm-1',
    timestamp: '2025-03-01T08:15:30.000Z',
    originalTimestamp: '2025-03-01T08:15:29.000Z',
    receivedAt: '2025-03-01T08:15:31.000Z',
    sentAt: '2025-03-01T08:15:30.000Z',
    context: { locale: 'en-GB' },
  }
  const { events, leftOut } = await read(
    'segment',
    { ...call, type: 'page', properties: { url: 'https://shop.example/p/1', title: 'Mug' } },
    {
      ...call,
      type: 'track',
      event: 'Order Completed',
      properties: { order_id: 'A-1', total: 12.5, products: [{ product_id: 'sku-1' }] },
    },
    { ...call, type: 'delete' },
  )
  expect(events).toMatchObject([
    {
      name: 'page_view',
      url: 'https://shop.example/p/1',
      clientId: 'ada',
      eventId: 'm-1',
      time: '2025-03-01T08:15:30.000Z',
      labels: { title: 'Mug', 'context.locale': 'en-GB' },
    },
    { name: 'purchase', ids: ['sku-1'], value: '12.50', transId: 'A-1' },
  ])
  expect(leftOut).toEqual({ 'calls that are dropped: call-unknown type': 1 })
})

test('millrace', async () => {
  const { events } = await read('millrace', {
    event_id: 'e-1',
    time: '2025-03-01T08:15:30.123Z',
    received: '2025-03-01T08:15:31.000Z',
    datasource: '65f0c0ffee5ca1ab1e0ddba2',
    name: 'purchase',
    url: 'https://shop.example/checkout',
    referrer_host: 'www.example.org',
    tmp_id: 'd-1',
    client_id: 'ada',
    ids: ['sku-1', 'sku-2'],
    value: '12.5',
    trans_id: 'A-1',
    labels: { plan: 'gold' },
    device_type: 'desktop',
    os: 'Linux',
    browser: 'Firefox',
    country: '',
  })
  expect(events).toMatchObject([
    {
      name: 'purchase',
      url: 'https://shop.example/checkout',
      referrerHost: 'www.example.org',
      tmpId: 'd-1',
      clientId: 'ada',
      eventId: 'e-1',
      time: '2025-03-01T08:15:30.123Z',
      ids: ['sku-1', 'sku-2'],
      value: '12.50',
      transId: 'A-1',
      labels: { plan: 'gold' },
    },
  ])
})

describe('a file of something else', () => {
  test.each([...peers.keys()])('is refused by %s, with the record and the field', async (name) => {
    await expect(read(name, { some: 'thing' })).rejects.toThrow(/record 1 is none of .*: it has no "/)
  })

  test('is refused where its time is none', async () => {
    await expect(read('umami', { ...umamiRow, created_at: 'yesterday' })).rejects.toThrow(
      'record 1 is none of Umami: "yesterday" in "created_at" is no time',
    )
  })
})
