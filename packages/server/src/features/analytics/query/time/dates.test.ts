import { describe, expect, it } from 'vitest'
import { DateFault, describeRange, readMoment, readRange } from './dates.ts'
import { openZone } from './zone.ts'

const utc = { instant: Date.parse('2026-03-18T15:30:45.500Z'), zone: openZone('UTC') }
const paris = { instant: Date.parse('2026-03-18T23:30:00Z'), zone: openZone('Europe/Paris') }

const shown = (range: { from: number; to: number }) =>
  [range.from, range.to].map((each) => new Date(each).toISOString().replace(/:00\.000Z$/, 'Z'))

describe('relative ranges', () => {
  it.each([
    ['today', '2026-03-18T00:00Z', '2026-03-19T00:00Z'],
    ['Yesterday', '2026-03-17T00:00Z', '2026-03-18T00:00Z'],
    ['tomorrow', '2026-03-19T00:00Z', '2026-03-20T00:00Z'],
    ['now', '2026-03-18T00:00Z', '2026-03-19T00:00Z'],
    ['this minute', '2026-03-18T15:30Z', '2026-03-18T15:31Z'],
    ['this hour', '2026-03-18T15:00Z', '2026-03-18T16:00Z'],
    ['this day', '2026-03-18T00:00Z', '2026-03-19T00:00Z'],
    ['this week', '2026-03-16T00:00Z', '2026-03-23T00:00Z'],
    ['this month', '2026-03-01T00:00Z', '2026-04-01T00:00Z'],
    ['this quarter', '2026-01-01T00:00Z', '2026-04-01T00:00Z'],
    ['this year', '2026-01-01T00:00Z', '2027-01-01T00:00Z'],
    ['last day', '2026-03-17T00:00Z', '2026-03-18T00:00Z'],
    ['last week', '2026-03-09T00:00Z', '2026-03-16T00:00Z'],
    ['last month', '2026-02-01T00:00Z', '2026-03-01T00:00Z'],
    ['last quarter', '2025-10-01T00:00Z', '2026-01-01T00:00Z'],
    ['last year', '2025-01-01T00:00Z', '2026-01-01T00:00Z'],
    ['next week', '2026-03-23T00:00Z', '2026-03-30T00:00Z'],
    ['next month', '2026-04-01T00:00Z', '2026-05-01T00:00Z'],
    ['next quarter', '2026-04-01T00:00Z', '2026-07-01T00:00Z'],
    ['next year', '2027-01-01T00:00Z', '2028-01-01T00:00Z'],
    ['last 7 days', '2026-03-11T00:00Z', '2026-03-18T00:00Z'],
    ['last 1 day', '2026-03-17T00:00Z', '2026-03-18T00:00Z'],
    ['last 2 weeks', '2026-03-02T00:00Z', '2026-03-16T00:00Z'],
    ['last  6   months', '2025-09-01T00:00Z', '2026-03-01T00:00Z'],
    ['last 2 quarters', '2025-07-01T00:00Z', '2026-01-01T00:00Z'],
    ['last 3 hours', '2026-03-18T12:00Z', '2026-03-18T15:00Z'],
    ['next 2 days', '2026-03-19T00:00Z', '2026-03-21T00:00Z'],
    ['next 1 month', '2026-04-01T00:00Z', '2026-05-01T00:00Z'],
    ['from 7 days ago to now', '2026-03-11T00:00Z', '2026-03-19T00:00Z'],
    ['from now to 2 weeks from now', '2026-03-18T00:00Z', '2026-04-02T00:00Z'],
    ['from 2 hours ago to now', '2026-03-18T13:00Z', '2026-03-18T16:00Z'],
    ['from 90 minutes ago to 30 minutes ago', '2026-03-18T14:00Z', '2026-03-18T15:01Z'],
    ['from 2026-01-01 to yesterday', '2026-01-01T00:00Z', '2026-03-18T00:00Z'],
    ['from 1 month ago to today', '2026-02-18T00:00Z', '2026-03-19T00:00Z'],
    ['3 days ago', '2026-03-15T00:00Z', '2026-03-16T00:00Z'],
    ['2026-02-28', '2026-02-28T00:00Z', '2026-03-01T00:00Z'],
    ['2024-02', '2024-02-01T00:00Z', '2024-03-01T00:00Z'],
    ['2024', '2024-01-01T00:00Z', '2025-01-01T00:00Z'],
    ['from 2024-02 to 2025', '2024-02-01T00:00Z', '2026-01-01T00:00Z'],
    ['week to date', '2026-03-16T00:00Z', '2026-03-19T00:00Z'],
    ['Month to date', '2026-03-01T00:00Z', '2026-03-19T00:00Z'],
    ['quarter  to date', '2026-01-01T00:00Z', '2026-03-19T00:00Z'],
    ['year to date', '2026-01-01T00:00Z', '2026-03-19T00:00Z'],
  ])('reads %s', (text, from, to) => {
    expect(shown(readRange(text, utc))).toEqual([from, to])
  })

  it('lie in the zone, over changes of its clock', () => {
    // 00:30 of the 19th in Paris.
    expect(shown(readRange('today', paris))).toEqual(['2026-03-18T23:00Z', '2026-03-19T23:00Z'])
    expect(shown(readRange('next week', paris))).toEqual(['2026-03-22T23:00Z', '2026-03-29T22:00Z'])
    expect(shown(readRange('this year', paris))).toEqual(['2025-12-31T23:00Z', '2026-12-31T23:00Z'])
  })

  it('of months begin on the first of a month, also on the 31st', () => {
    const last = { instant: Date.parse('2026-03-31T12:00:00Z'), zone: openZone('UTC') }
    expect(shown(readRange('last month', last))).toEqual(['2026-02-01T00:00Z', '2026-03-01T00:00Z'])
    expect(shown(readRange('next 1 month', last))).toEqual(['2026-04-01T00:00Z', '2026-05-01T00:00Z'])
    expect(shown(readRange('from 1 month ago to now', last))[0]).toBe('2026-02-28T00:00Z')
  })
})

describe('ranges of two bounds', () => {
  it('include both days of dates', () => {
    expect(shown(readRange(['2026-01-01', '2026-01-31'], utc))).toEqual([
      '2026-01-01T00:00Z',
      '2026-02-01T00:00Z',
    ])
  })

  it('exclude the last instant', () => {
    const range = readRange(['2026-01-01T08:00:00Z', '2026-01-01T09:00:00.250Z'], utc)
    expect(range).toEqual({
      from: Date.parse('2026-01-01T08:00:00Z'),
      to: Date.parse('2026-01-01T09:00:00.250Z'),
    })
  })

  it('may mix them', () => {
    expect(shown(readRange(['2026-01-01', '2026-01-02T12:00'], utc))).toEqual([
      '2026-01-01T00:00Z',
      '2026-01-02T12:00Z',
    ])
  })

  it('read instants without a zone in the company’s', () => {
    const range = readRange(['2026-03-29T01:30', '2026-03-29 04:00:00'], paris)
    expect(shown(range)).toEqual(['2026-03-29T00:30Z', '2026-03-29T02:00Z'])
  })

  it('move an instant that the clock leaves out on, and take the first of two', () => {
    expect(shown(readRange(['2026-03-29T02:30', '2026-10-25T02:30'], paris))).toEqual([
      '2026-03-29T01:30Z',
      '2026-10-25T00:30Z',
    ])
  })

  it('read offsets with and without a colon', () => {
    expect(shown(readRange(['2026-01-01T00:00:00-0330', '2026-01-01T12:00:00+05:45'], utc))).toEqual([
      '2026-01-01T03:30Z',
      '2026-01-01T06:15Z',
    ])
  })
})

describe('open ends', () => {
  const instant = (text: string) => Date.parse(text)

  it.each([
    ['from 2024-02-03', instant('2024-02-03T00:00Z'), Infinity],
    ['From 2024-02', instant('2024-02-01T00:00Z'), Infinity],
    ['from 7 days ago', instant('2026-03-11T00:00Z'), Infinity],
    ['until 2024-02-03', -Infinity, instant('2024-02-04T00:00Z')],
    ['until 2024', -Infinity, instant('2025-01-01T00:00Z')],
    ['until yesterday', -Infinity, instant('2026-03-18T00:00Z')],
    ['until 2024-02-03T10:00Z', -Infinity, instant('2024-02-03T10:00Z')],
    [['2024-02-03', null], instant('2024-02-03T00:00Z'), Infinity],
    [[null, '2024-02-03'], -Infinity, instant('2024-02-04T00:00Z')],
    [[null, '2024-02-03T10:00Z'], -Infinity, instant('2024-02-03T10:00Z')],
    [['2024-02', '2024-03'], instant('2024-02-01T00:00Z'), instant('2024-04-01T00:00Z')],
  ] as const)('reads %j', (range, from, to) => {
    expect(readRange(range, utc)).toEqual({ from, to })
  })

  it('lie in the zone', () => {
    expect(readRange(['2026-03-19', null], paris)).toEqual({
      from: instant('2026-03-18T23:00Z'),
      to: Infinity,
    })
  })
})

describe('what is no range', () => {
  it.each([
    ['2024-13', 'months are 01 to 12'],
    ['1969', 'outside the years 1970 to 2099'],
    ['2100-01', 'outside the years 1970 to 2099'],
    ['202', 'is no range of dates'],
    ['2024-6', 'is no range of dates'],
    ['decade to date', 'is no range of dates'],
    ['from here', '"here" in'],
    ['until', 'is no range of dates'],
    ['2024-02-30', 'days 01 to 29'],
    ['2023-02-29', 'days 01 to 28'],
    ['2024-13-01', 'months are 01 to 12'],
    ['2024-00-10', 'months are 01 to 12'],
    ['2024-1-1', 'is no range of dates'],
    ['300000-01-01', 'is no range of dates'],
    ['+002024-01-01', 'is no range of dates'],
    ['1969-12-30', 'outside the years 1970 to 2099'],
    ['2101-01-01', 'outside the years 1970 to 2099'],
    ['last 999999 days', 'outside the years 1970 to 2099'],
    ['next 900000 years', 'outside the years 1970 to 2099'],
    ['from 999999 quarters ago to now', 'outside the years 1970 to 2099'],
    ['last 0 days', 'empty range'],
    ['last -1 days', 'is no range of dates'],
    ['last 1.5 days', 'is no range of dates'],
    ['last fortnight', 'is no range of dates'],
    ['now()', 'is no range of dates'],
    ['today; drop table events', 'is no range of dates'],
    ['from now to 7 days ago', 'ends before it begins'],
    ['from here to there', '"here" in'],
    ['', 'is no range of dates'],
    ['2026-01-01T10:00:00Z', 'is an instant, no range'],
    ['2026-01-01T24:00:00Z', 'times of day'],
    ['2026-01-01T10:00:60Z', 'times of day'],
    ['2026-01-01T10:00:00+25:00', 'offsets are'],
    ['２０２６-01-01', 'is no range of dates'],
    ['2026-01-01\n', '2026'],
  ])('says why %j is none', (text, reason) => {
    const read = () => readRange(text, utc)
    if (text === '2026-01-01\n') expect(shown(read())[0]).toBe('2026-01-01T00:00Z')
    else {
      expect(read).toThrow(DateFault)
      expect(read).toThrow(reason)
    }
  })

  it.each([
    [['2026-02-01', '2026-01-31'], 'ends before it begins'],
    [['2026-01-01T10:00Z', '2026-01-01T10:00Z'], 'ends before it begins'],
    [['2026-01-01', '2026-01-02', '2026-01-03'], 'one or two bounds'],
    [[], 'one or two bounds'],
    [[null], 'one or two bounds'],
    [[null, null], 'one of two may be null'],
    [['2026-03', '2026-02'], 'ends before it begins'],
    [['today', 'tomorrow'], 'a relative range is one text'],
  ])('says why %j is none', (bounds, reason) => {
    expect(() => readRange(bounds, utc)).toThrow(reason)
  })
})

describe('a moment', () => {
  it('is the day of a date, the millisecond of an instant', () => {
    expect(shown(readMoment('2026-01-31', utc))).toEqual(['2026-01-31T00:00Z', '2026-02-01T00:00Z'])
    expect(readMoment('2026-01-31T10:00:00Z', utc)).toEqual({
      from: Date.parse('2026-01-31T10:00:00Z'),
      to: Date.parse('2026-01-31T10:00:00.001Z'),
    })
    expect(readMoment('now', utc)).toEqual({ from: utc.instant, to: utc.instant + 1 })
    expect(shown(readMoment('2 days ago', utc))).toEqual(['2026-03-16T00:00Z', '2026-03-17T00:00Z'])
  })

  it('is no range', () => {
    expect(() => readMoment('last week', utc)).toThrow('is no date')
  })
})

describe('the name of a range', () => {
  it('shows dates for whole days, else instants', () => {
    expect(describeRange(readRange(['2011-01-01', '2011-01-31'], paris), paris.zone)).toBe(
      '2011-01-01 - 2011-01-31',
    )
    expect(describeRange(readRange('today', paris), paris.zone)).toBe('2026-03-19 - 2026-03-19')
    expect(describeRange(readRange(['2011-01-01T10:00', '2011-01-31'], paris), paris.zone)).toBe(
      '2011-01-01T10:00:00.000+01:00 - 2011-02-01T00:00:00.000+01:00',
    )
  })
})
