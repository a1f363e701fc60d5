import type { Query } from '@millrace/contract/resources/query.ts'
import { expect, test } from 'vitest'
import { add, startOf } from '../../src/features/analytics/query/time/calendar.ts'
import { readRange } from '../../src/features/analytics/query/time/dates.ts'
import { openZone } from '../../src/features/analytics/query/time/zone.ts'
import { describeStatistics } from '../../src/features/analytics/statistics-meta.ts'
import { createQuestionReader } from '../../src/features/questions/question-reader.ts'
import { pinQuery } from '../../src/features/reports/evidence/pin-query.ts'
import { resultHash } from '../../src/features/reports/evidence/result-hash.ts'
import {
  comparisonsOf,
  keyOf,
  lastPeriod,
  toComparisonWindows,
  toldWindows,
  wholeOf,
  windowOf,
} from '../../src/features/reports/periods/periods.ts'

const time = { openZone, startOf, add, readRange }
const paris = openZone('Europe/Paris')
const at = Date.parse('2027-03-30T10:00:00Z')

const query = (more: Partial<Query>): Query => ({
  measures: ['events.count'],
  dimensions: [],
  filters: [],
  timeDimensions: [],
  ...more,
})
const pinned = (more: Partial<Query>) => pinQuery(query(more), at, paris, time)
const ranged = (dateRange: string | (string | null)[]) =>
  pinned({ timeDimensions: [{ dimension: 'events.time', dateRange }] }).timeDimensions[0]?.dateRange

test.each<[string | (string | null)[], unknown]>([
  // The clock goes forward on 28 March.
  ['last 7 days', ['2027-03-23T00:00:00.000+01:00', '2027-03-30T00:00:00.000+02:00']],
  ['this month', ['2027-03-01T00:00:00.000+01:00', '2027-04-01T00:00:00.000+02:00']],
  ['from 2027-01-01', ['2027-01-01T00:00:00.000+01:00', null]],
  ['2027-01', '2027-01'],
  ['2026', '2026'],
  [
    ['2027-01-01', '2027-01-31'],
    ['2027-01-01', '2027-01-31'],
  ],
  [
    [null, '2027-01-31'],
    [null, '2027-01-31'],
  ],
  ['no range at all', 'no range at all'],
])('the range %j is kept as %j', (range, expected) => {
  expect(ranged(range)).toEqual(expected)
})

test('compared ranges and filters on time are absolute too, in groups as well, and the zone is named', () => {
  const filter = (operator: string, ...values: string[]) => ({
    member: 'events.time',
    operator: operator as 'equals',
    values,
  })
  const { filters, timeDimensions, timezone } = pinned({
    filters: [
      filter('inDateRange', 'today'),
      { or: [filter('afterDate', '3 days ago'), filter('equals', 'today')] },
      { member: 'events.name', operator: 'equals', values: ['today'] },
      filter('beforeOrOnDate', '2027-01-01'),
    ],
    timeDimensions: [{ dimension: 'events.time', compareDateRange: ['today', '2027-01-01'] }],
  })
  const today = ['2027-03-30T00:00:00.000+02:00', '2027-03-31T00:00:00.000+02:00']
  expect(timeDimensions[0]?.compareDateRange).toEqual([today, '2027-01-01'])
  expect(filters).toEqual([
    filter('inDateRange', ...today),
    { or: [filter('afterDate', '2027-03-27'), filter('equals', '2027-03-30')] },
    { member: 'events.name', operator: 'equals', values: ['today'] },
    filter('beforeOrOnDate', '2027-01-01'),
  ])
  expect(timezone).toBe('Europe/Paris')
})

test('a query that is absolute stays the same text, so that an attempt finds what another has read', () => {
  const absolute = query({
    timeDimensions: [
      { dimension: 'events.time', dateRange: ['2027-01-01T00:00:00Z', '2027-02-01T00:00:00Z'] },
    ],
    timezone: 'America/New_York',
  })
  const once = pinQuery(absolute, at, paris, time)
  expect(once).toEqual(absolute)
  expect(pinQuery(once, at + 1e9, paris, time)).toEqual(once)
})

test('the hash is of the rows whatever the order of their keys, and of all of them', () => {
  const hash = resultHash([
    { a: 1, b: null },
    { a: 'x', b: true },
  ])
  expect(
    resultHash([
      { b: null, a: 1 },
      { b: true, a: 'x' },
    ]),
  ).toBe(hash)
  // printf '[{"a":1,"b":null},{"a":"x","b":true}]' | sha256sum
  expect(hash).toBe('7890d0a609dbcb8ed10a4f4b6e718ebc43453e3f66eea0ca0da920003c72f097')
  expect(
    resultHash([
      { a: 'x', b: true },
      { a: 1, b: null },
    ]),
  ).not.toBe(hash)
  expect(
    resultHash([
      { a: '1', b: null },
      { a: 'x', b: true },
    ]),
  ).not.toBe(hash)
})

const local = (instant: number) => paris.format(instant).slice(0, 16)
const windows = (from: string, to: string) => {
  const period = { from: paris.instantOf(Date.parse(`${from}Z`)), to: paris.instantOf(Date.parse(`${to}Z`)) }
  const { previousPeriod, previousYear } = comparisonsOf(period, paris, time)
  return [previousPeriod, previousYear].map((each) => each && `${local(each.from)} ${local(each.to)}`)
}

test.each([
  [
    '2027-03-01T00:00',
    '2027-04-01T00:00',
    '2027-02-01T00:00 2027-03-01T00:00',
    '2026-03-01T00:00 2026-04-01T00:00',
  ],
  [
    '2028-02-01T00:00',
    '2028-03-01T00:00',
    '2028-01-01T00:00 2028-02-01T00:00',
    '2027-02-01T00:00 2027-03-01T00:00',
  ],
  [
    '2027-01-01T00:00',
    '2027-04-01T00:00',
    '2026-10-01T00:00 2027-01-01T00:00',
    '2026-01-01T00:00 2026-04-01T00:00',
  ],
  ['2027-01-01T00:00', '2028-01-01T00:00', '2026-01-01T00:00 2027-01-01T00:00', undefined],
  [
    '2027-03-23T00:00',
    '2027-03-30T00:00',
    '2027-03-16T00:00 2027-03-23T00:00',
    '2026-03-24T00:00 2026-03-31T00:00',
  ],
])('the period from %s to %s is compared with %s and %s', (from, to, before, yearBefore) => {
  expect(windows(from, to)).toEqual([before, yearBefore])
})

/** Of a question that names the same period, read at the same moment. */
async function asked(question: string, now: number, timezone: string) {
  const meta = describeStatistics({ events: [], purchases: [] }, { exactCounts: true })
  const { period, comparisonWindows } = await createQuestionReader(time).readQuestion(question, {
    ...{ now, timezone, meta, locale: 'en' },
  })
  return toldWindows(period, comparisonWindows, now, openZone(timezone), time)
}

test.each([
  ['this month', '2026-11-23T15:00', 'Europe/Paris', '11-01 11-23', '10-01 10-23'],
  ['this month', '2027-03-31T15:00', 'Europe/Paris', '03-01 03-31', '02-01 03-01'],
  ['this quarter', '2026-05-31T15:00', 'America/New_York', '04-01 05-31', '01-01 03-02'],
  ['this week', '2026-11-26T15:00', 'Europe/Paris', '11-23 11-26', '11-16 11-19'],
  ['this year', '2028-03-10T15:00', 'Europe/Paris', '01-01 03-10', '01-01 03-11'],
  // Clocks leave out midnight on 8 March.
  ['this month', '2026-03-20T15:00', 'America/Havana', '03-01 03-20', '02-01 02-20'],
  ['last 7 days', '2026-03-15T15:00', 'America/Havana', '03-08 03-15', '03-01 03-08'],
  ['last 28 days', '2026-03-15T15:00', 'America/Havana', '02-15 03-15', '01-18 02-15'],
])(
  '%s at %s in %s is told of %s against %s, however it is asked for',
  async (range, at, name, own, before) => {
    const zone = openZone(name)
    const now = zone.instantOf(Date.parse(`${at}Z`))
    const read = readRange(range, { instant: now, zone })
    const { previousPeriod, previousYear } = comparisonsOf(read, zone, time)
    const guided = toldWindows(
      windowOf(read),
      toComparisonWindows({ previousPeriod, ...(previousYear && { previousYear }) }),
      now,
      zone,
      time,
    )
    const shown = ({ start, end }: { start: string; end: string }) =>
      [start, end]
        .map((each) => {
          const instant = Date.parse(each)
          expect(startOf(zone, instant, 'day')).toBe(instant)
          return zone.format(instant).slice(5, 10)
        })
        .join(' ')
    expect([guided.period, guided.comparisonWindows.previousPeriod].map(shown)).toEqual([own, before])
    expect(await asked(`revenue ${range}`, now, name)).toEqual(guided)
    // An attempt that begins anew finds the unit that was asked for by what is stored.
    const stored = { from: Date.parse(guided.period.start), to: Date.parse(guided.period.end) }
    expect(wholeOf(stored, guided.comparisonWindows.previousPeriod, zone, time)).toEqual(read)
  },
)

test('N12: a period of which no day is over is told as far as it has come', async () => {
  const now = Date.parse('2026-11-01T10:00:00Z')
  for (const range of ['today', 'this month']) {
    const { period, state } = await asked(`revenue ${range}`, now, 'UTC')
    expect([period, state]).toEqual([
      { start: '2026-11-01T00:00:00.000Z', end: '2026-11-02T00:00:00.000Z' },
      'begun',
    ])
  }
})

test('days that are added to one without a midnight begin at midnight', () => {
  const havana = openZone('America/Havana')
  const first = startOf(havana, Date.parse('2026-03-08T12:00:00Z'), 'day')
  expect(havana.format(first)).toBe('2026-03-08T01:00:00.000-04:00')
  expect(havana.format(add(havana, first, -7, 'day'))).toBe('2026-03-01T00:00:00.000-05:00')
  expect(havana.format(add(havana, first, 1, 'day'))).toBe('2026-03-09T00:00:00.000-04:00')
  expect(add(havana, add(havana, first, -1, 'day'), 1, 'day')).toBe(first)
  const later = first + 3_600_000
  expect(havana.format(add(havana, later, 1, 'day'))).toBe('2026-03-09T02:00:00.000-04:00')
})

test.each([
  ['monthly', '2027-03-31T21:59:59Z', '2027-02'],
  ['monthly', '2027-03-31T22:00:00Z', '2027-03'],
  ['quarterly', '2027-03-31T22:00:00Z', '2027-Q1'],
  ['yearly', '2027-12-31T22:59:59Z', '2026'],
  ['yearly', '2027-12-31T23:00:00Z', '2027'],
] as const)('the last %s period that ended by %s is %s', (cadence, instant, key) => {
  const { period, nextEnd } = lastPeriod(cadence, paris, Date.parse(instant), time)
  expect(keyOf(cadence, paris, period.from)).toBe(key)
  expect(local(period.to).slice(8)).toBe('01T00:00')
  expect(nextEnd).toBeGreaterThan(Date.parse(instant))
})
