import fc from 'fast-check'
import { beforeEach, describe, expect, it } from 'vitest'
import { times } from '../support/long.ts'
import type { StatisticsApp } from '../support/statistics-app.ts'
import type { StatisticsEngine } from '../support/statistics-engine.ts'
import { otherCompany, type StoredEvent, storedEvent } from '../support/statistics-events.ts'
import { useStatistics, wholeQuery } from '../support/statistics-interface.ts'
import { createOracle } from '../support/statistics-oracle.ts'

let engine: StatisticsEngine
let app: StatisticsApp

useStatistics((opened) => {
  engine = opened.engine
  app = opened.app
})

beforeEach(() => {
  app.timezone = 'UTC'
})

const minute = 60_000
const base = Date.parse('2026-03-10T12:00:00Z')
const view = (minutes: number, fields: Partial<StoredEvent> = {}) =>
  storedEvent({ time: base + minutes * minute, ...fields })

const everyMeasure = [
  ...['count', 'people', 'duration', 'events', 'bounces'],
  ...['bounceRate', 'eventsPerSession', 'perPerson'],
].map((name) => `sessions.${name}`)

const onDay = (day: string) => [{ dimension: 'sessions.time', dateRange: [day, day] }]

describe('a session', () => {
  it('is measured from its first to its last event', async () => {
    await engine.load([
      view(0),
      view(10),
      view(40),
      view(71),
      view(0, { tmpId: 'device-2' }),
      view(600, { tmpId: 'device-2', company: otherCompany }),
    ])
    expect(await app.rows({ measures: everyMeasure })).toEqual([
      {
        'sessions.count': 3,
        'sessions.people': 2,
        'sessions.duration': 800,
        'sessions.events': 5,
        'sessions.bounces': 2,
        'sessions.bounceRate': 2 / 3,
        'sessions.eventsPerSession': 5 / 3,
        'sessions.perPerson': 1.5,
      },
    ])
  })

  it('is null and 0 where there is none', async () => {
    expect(await app.rows({ measures: everyMeasure })).toEqual([
      {
        'sessions.count': 0,
        'sessions.people': 0,
        'sessions.duration': null,
        'sessions.events': 0,
        'sessions.bounces': 0,
        'sessions.bounceRate': null,
        'sessions.eventsPerSession': null,
        'sessions.perPerson': null,
      },
    ])
  })

  it('begins with its first event and ends with the last that has an address', async () => {
    const of = (url: string, fields: Partial<StoredEvent> = {}) => ({ url, ...fields })
    await engine.load([
      view(0, of('https://Shop.example/in?utm_source=news', { os: 'iOS', country: 'FR', browser: '' })),
      view(5, of('https://blog.example/out', { os: 'Linux', country: 'DE' })),
      view(9, of('', { os: 'Windows' })),
    ])
    const names = ['entryPath', 'entryHost', 'exitPath', 'exitHost', 'utmSource', 'os', 'browser', 'country']
    const [row] = await app.rows({
      measures: ['sessions.count'],
      dimensions: names.map((name) => `sessions.${name}`),
    })
    expect(row).toEqual({
      'sessions.entryPath': '/in',
      'sessions.entryHost': 'shop.example',
      'sessions.exitPath': '/out',
      'sessions.exitHost': 'blog.example',
      'sessions.utmSource': 'news',
      'sessions.os': 'iOS',
      'sessions.browser': null,
      'sessions.country': 'FR',
      'sessions.count': 1,
    })
  })

  it('is chosen whole by filters, never cut', async () => {
    await engine.load([
      view(0, { url: '/a' }),
      view(20, { url: '/b' }),
      view(40, { url: '/c' }),
      view(0, { url: '/b', tmpId: 'device-2' }),
    ])
    const filtered = (member: string, value: string) =>
      app.rows({
        measures: ['sessions.count', 'sessions.events'],
        filters: [{ member: `sessions.${member}`, operator: 'equals', values: [value] }],
      })
    expect(await filtered('entryPath', '/a')).toEqual([{ 'sessions.count': 1, 'sessions.events': 3 }])
    expect(await filtered('entryPath', '/c')).toEqual([{ 'sessions.count': 0, 'sessions.events': 0 }])
    expect(await filtered('exitPath', '/c')).toEqual([{ 'sessions.count': 1, 'sessions.events': 3 }])
    expect(await filtered('person', 'device-2')).toEqual([{ 'sessions.count': 1, 'sessions.events': 1 }])
  })

  it('joins two devices as soon as an identify binds them, earlier events included', async () => {
    await engine.load([
      view(0, { tmpId: 'phone', url: '/phone' }),
      view(25, { tmpId: 'laptop', clientId: 'ada', url: '/laptop' }),
      view(50, { tmpId: 'phone', url: '/last' }),
    ])
    const query = { measures: ['sessions.count'], dimensions: ['sessions.entryPath', 'sessions.exitPath'] }
    expect(await app.rows(query)).toHaveLength(3)
    await engine.load([view(9_000, { tmpId: 'phone', name: 'identify', clientId: 'ada', url: '/later' })])
    expect(await app.rows({ ...query, timeDimensions: onDay('2026-03-10') })).toEqual([
      { 'sessions.entryPath': '/phone', 'sessions.exitPath': '/last', 'sessions.count': 1 },
    ])
  })

  it('belongs to the range in which it starts, with all that follows, for days if it lasts', async () => {
    const begin = Date.parse('2026-03-10T23:50:00Z')
    const robot = Array.from({ length: 200 }, (_, i) =>
      storedEvent({ time: begin + i * 29 * minute, tmpId: 'robot', url: `/${i}` }),
    )
    const person = ['23:40', '23:59'].map((at) => storedEvent({ at: `2026-03-10T${at}:00Z`, url: '/p' }))
    const next = storedEvent({ at: '2026-03-11T00:20:00Z', url: '/q' })
    // Another person's day after, which no session of the range reaches.
    const other = storedEvent({ at: '2026-03-12T13:00:00Z', tmpId: 'device-3' })
    await engine.load([...robot, ...person, next, other])
    const query = (day: string) => ({
      measures: ['sessions.count', 'sessions.events', 'sessions.duration'],
      dimensions: ['sessions.person', 'sessions.exitPath'],
      timeDimensions: onDay(day),
    })
    expect(await app.rows(query('2026-03-10'))).toEqual([
      {
        'sessions.person': 'device-1',
        'sessions.exitPath': '/q',
        'sessions.count': 1,
        'sessions.events': 3,
        'sessions.duration': 2_400,
      },
      {
        'sessions.person': 'robot',
        'sessions.exitPath': '/199',
        'sessions.count': 1,
        'sessions.events': 200,
        'sessions.duration': 199 * 29 * 60,
      },
    ])
    expect(await app.rows(query('2026-03-11'))).toEqual([])
    expect(await app.rows(query('2026-03-12'))).toHaveLength(1)
  })

  it('lasts for days over the devices of one client too', async () => {
    const begin = Date.parse('2026-03-10T23:50:00Z')
    await engine.load(
      Array.from({ length: 150 }, (_, i) =>
        storedEvent({
          time: begin + i * 30 * minute,
          tmpId: ['bound', 'known', 'client-1'][i % 3] ?? '',
          clientId: i % 3 === 1 ? 'client-1' : '',
        }),
      ),
    )
    await engine.load([
      storedEvent({ at: '2026-04-01T00:00:00Z', tmpId: 'bound', name: 'identify', clientId: 'client-1' }),
    ])
    const measures = ['sessions.count', 'sessions.events']
    expect(await app.rows({ measures, timeDimensions: onDay('2026-03-10') })).toEqual([
      { 'sessions.count': 1, 'sessions.events': 150 },
    ])
  })

  it('is new when the person has no event before it, at any time', async () => {
    await engine.load([
      storedEvent({ at: '2020-01-01T00:00:00Z', tmpId: 'old' }),
      view(0, { tmpId: 'old' }),
      view(0, { tmpId: 'new' }),
      view(60, { tmpId: 'new' }),
      view(-10, { tmpId: 'phone' }),
      view(500, { tmpId: 'phone', name: 'identify', clientId: 'ada' }),
      view(100, { tmpId: 'laptop', clientId: 'ada' }),
    ])
    const query = {
      measures: ['sessions.count'],
      dimensions: ['sessions.person', 'sessions.isNew'],
      filters: [{ member: 'sessions.isNew', operator: 'equals' as const, values: ['true'] }],
    }
    expect(await app.rows({ ...query, timeDimensions: onDay('2026-03-10') })).toEqual([
      { 'sessions.person': 'ada', 'sessions.isNew': true, 'sessions.count': 1 },
      { 'sessions.person': 'new', 'sessions.isNew': true, 'sessions.count': 1 },
    ])
  })

  it('of events at one instant begins with the same one in whatever order they arrive', async () => {
    const events = Array.from({ length: 6 }, (_, i) =>
      view(0, { url: `/${i}?utm_source=s${i}`, os: `os-${i}`, eventId: `same-time-${i}` }),
    )
    const query = {
      measures: ['sessions.count'],
      dimensions: ['sessions.entryPath', 'sessions.utmSource', 'sessions.os', 'sessions.exitPath'],
    }
    const answers = []
    for (const arrived of [events, events.toReversed()]) {
      await engine.empty()
      for (const each of arrived) await engine.load([each])
      answers.push(await app.rows(query))
    }
    const [[row] = [], other] = answers
    expect([row]).toEqual(other)
    const place = String(row?.['sessions.entryPath']).slice(1)
    expect(row).toMatchObject({ 'sessions.utmSource': `s${place}`, 'sessions.os': `os-${place}` })
    expect(row?.['sessions.exitPath']).not.toBe(row?.['sessions.entryPath'])
  })
})

describe('the channel', () => {
  it('is the first whose rule holds for UTM fields and referrer', async () => {
    const visits: [referrerHost: string, query: string, channel: string][] = [
      ['', '', 'direct'],
      ['www.google.de', '', 'search'],
      ['google.co.uk', '', 'search'],
      ['google.evil.example', '', 'referral'],
      ['notgoogle.com', '', 'referral'],
      ['docs.google.com', '', 'referral'],
      ['fr.search.yahoo.com', '', 'search'],
      ['com.google.android.googlequicksearchbox', '', 'search'],
      ['l.facebook.com', '', 'social'],
      ['t.co', '', 'social'],
      ['xt.co', '', 'referral'],
      ['mail.google.com', '', 'mail'],
      ['outlook.live.com', '', 'mail'],
      ['partner.example', '', 'referral'],
      ['www.google.de', '?utm_source=google&utm_medium=cpc', 'campaign'],
      ['mail.google.com', '?utm_campaign=spring', 'campaign'],
      ['', '?utm_medium=E-Mail&utm_campaign=spring', 'mail'],
      ['l.facebook.com', '?utm_medium=newsletter', 'mail'],
    ]
    await engine.load(
      visits.flatMap(([referrerHost, query], i) => [
        view(0, { tmpId: `device-${i}`, referrerHost, url: `https://shop.example/${query}` }),
        view(1, { tmpId: `device-${i}` }),
      ]),
    )
    const rows = await app.rows({ dimensions: ['sessions.person', 'sessions.channel'] })
    const found = new Map(rows.map((row) => [row['sessions.person'], row['sessions.channel']]))
    expect(visits.map(([host, query], i) => [host, query, found.get(`device-${i}`)])).toEqual(visits)
  })
})

describe('joined with other sources', () => {
  it('meets events and purchases on time, person, deviceType and os', async () => {
    await engine.load([
      view(0, { name: 'purchase', transId: 'T1', value: '5.00' }),
      view(45, { os: 'iOS' }),
      view(100, { tmpId: 'device-2', os: 'iOS' }),
    ])
    expect(
      await app.rows({
        measures: ['sessions.count', 'events.count', 'purchases.revenue', 'sessions.duration'],
        dimensions: ['sessions.person'],
        timeDimensions: [{ dimension: 'events.time', granularity: 'day' }],
      }),
    ).toEqual([
      {
        'events.time.day': '2026-03-10T00:00:00.000+00:00',
        'sessions.person': 'device-1',
        'sessions.count': 2,
        'events.count': 2,
        'purchases.revenue': 5,
        'sessions.duration': 0,
      },
      {
        'events.time.day': '2026-03-10T00:00:00.000+00:00',
        'sessions.person': 'device-2',
        'sessions.count': 1,
        'events.count': 1,
        'purchases.revenue': 0,
        'sessions.duration': 0,
      },
    ])
  })

  it('leaves the mean absent where only another source has rows, and filters by it', async () => {
    await engine.load([
      view(0, { name: 'purchase', transId: 'T1', value: '5.00', os: 'iOS' }),
      view(10, { name: 'purchase', transId: 'T2', value: '7.00', os: 'Linux' }),
    ])
    const query = {
      measures: ['sessions.duration', 'purchases.revenue'],
      dimensions: ['purchases.os'],
      order: { 'purchases.os': 'desc' as const },
    }
    const linux = { 'purchases.os': 'Linux', 'sessions.duration': null, 'purchases.revenue': 7 }
    const phone = { 'purchases.os': 'iOS', 'sessions.duration': 600, 'purchases.revenue': 5 }
    expect(await app.rows(query)).toEqual([phone, linux])
    const filters = (operator: 'notEquals' | 'gte', value: string) => [
      { member: 'sessions.duration', operator, values: [value] },
    ]
    expect(await app.rows({ ...query, filters: filters('notEquals', '600') })).toEqual([linux])
    expect(await app.rows({ ...query, filters: filters('gte', '600') })).toEqual([phone])
  })

  it('is refused by a dimension that sessions lack', async () => {
    const { status, body } = await app.post(
      wholeQuery({ measures: ['sessions.count'], dimensions: ['events.datasource'] }),
    )
    expect({ status, message: body.message }).toMatchObject({ status: 400 })
    expect(body.message).toContain('events.datasource does not fit together with sessions.count')
  })
})

describe('on generated events', () => {
  const zones = ['UTC', 'Europe/Paris', 'America/Sao_Paulo', 'Australia/Lord_Howe']
  const begin = Date.parse('2026-03-28T20:00:00Z')
  /** Around the change of the clock of Europe, over three midnights; some at one instant, gaps of half an hour. */
  const generated = fc.array(
    fc.record({
      slot: fc.integer({ min: 0, max: 260 }),
      late: fc.boolean(),
      device: fc.integer({ min: 0, max: 3 }),
      client: fc.constantFrom('', '', '', 'ada'),
      identify: fc.boolean(),
    }),
    { minLength: 1, maxLength: 60 },
  )

  it('counts as a plain computation does, whatever arrives late', async () => {
    await fc.assert(
      fc.asyncProperty(
        generated,
        fc.constantFrom(...zones),
        fc.constantFrom('2026-03-28', '2026-03-29', '2026-03-30'),
        async (samples, zone, day) => {
          await engine.empty()
          const events = samples.map(({ slot, device, client, identify }) =>
            storedEvent({
              time: begin + slot * 15 * minute,
              tmpId: `device-${device}`,
              clientId: client,
              name: client !== '' && identify ? 'identify' : 'page_view',
            }),
          )
          await engine.load(events.filter((_, i) => !samples[i]?.late))
          await engine.load(events.filter((_, i) => samples[i]?.late))
          app.timezone = zone
          const query = wholeQuery({
            measures: [...everyMeasure, 'events.sessions'],
            timeDimensions: [
              { dimension: 'sessions.time', granularity: 'hour', dateRange: [day, '2026-03-30'] },
            ],
          })
          const oracle = createOracle(events)
          expect(await app.rows(query)).toEqual(oracle.rows(query, zone))
          const compared = wholeQuery({
            measures: ['sessions.count', 'sessions.duration'],
            dimensions: ['sessions.isNew', 'sessions.person'],
            timeDimensions: [
              {
                dimension: 'sessions.time',
                compareDateRange: [
                  [day, day],
                  ['2026-03-29', '2026-03-31'],
                  ['2026-03-01', '2026-03-28'],
                ],
              },
            ],
          })
          expect(await app.rows(compared)).toEqual(oracle.rows(compared, zone))
        },
      ),
      { numRuns: times(60, 2) },
    )
  })
})
