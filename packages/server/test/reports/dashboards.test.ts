import type { Query } from '@millrace/contract/resources/query.ts'
import { describe, expect, it } from 'vitest'
import { createDashboardReader } from '../../src/features/questions/dashboard-reader.ts'
import { calendar, questionContext, readQuestion } from '../support/questions.ts'

const id = '65f0c0ffee5ca1ab1e0ddba1'
const company = '65f0c0ffee5ca1ab1e0ddb00'

function readerOf(queries: Query[]) {
  return createDashboardReader({
    calendar,
    findSavedQuery: async (companyId, wanted) =>
      companyId === company && wanted === id ? { name: 'Sales', queries } : undefined,
  })
}

const revenue = (timeDimensions: Query['timeDimensions'], more: Partial<Query> = {}): Query => ({
  measures: ['purchases.revenue'],
  dimensions: [],
  filters: [],
  timeDimensions,
  ...more,
})
const over = (dateRange: string | [string | null, string | null]) => [
  { dimension: 'purchases.time', dateRange },
]

/** Asked on Wednesday, 18 March 2026, at 16:30 in Paris. */
async function plan(query: Query) {
  const read = await readerOf([query]).readDashboard({ companyId: company, path: id }, questionContext())
  return { ...read, query: read.queries[0]?.query }
}

describe('a dashboard', () => {
  it.each([
    ['last month', ['2026-02-01', '2026-02-28'], ['2026-01-01', '2026-01-31']],
    ['this month', ['2026-03-01', '2026-03-17'], ['2026-02-01', '2026-02-17']],
    ['last 7 days', ['2026-03-11', '2026-03-17'], ['2026-03-04', '2026-03-10']],
    ['2024', ['2024-01-01', '2024-12-31'], ['2023-01-01', '2023-12-31']],
    ['from 2026-03-10', ['2026-03-10', '2026-03-17'], ['2026-03-02', '2026-03-09']],
    [
      ['2026-03-10', null],
      ['2026-03-10', '2026-03-17'],
      ['2026-03-02', '2026-03-09'],
    ],
    [
      ['2024-01-01', '2024-01-31'],
      ['2024-01-01', '2024-01-31'],
      ['2023-12-01', '2023-12-31'],
    ],
    [
      'last 2 hours',
      ['2026-03-18T14:00:00.000+01:00', '2026-03-18T16:00:00.000+01:00'],
      ['2026-03-18T12:00:00.000+01:00', '2026-03-18T14:00:00.000+01:00'],
    ],
  ] as const)('has %j as of now, and the period before beside it', async (range, now, before) => {
    const { query } = await plan(revenue(over(range as string)))
    expect(query?.timeDimensions).toEqual([{ dimension: 'purchases.time', compareDateRange: [now, before] }])
    expect(query?.timezone).toBe('Europe/Paris')
  })

  it('keeps what a query says beside its ranges, and its own comparison', async () => {
    const given = revenue(
      [
        {
          dimension: 'purchases.time',
          granularity: 'day',
          compareDateRange: ['this week', 'last week'],
          dateRange: null,
        },
      ],
      {
        limit: 20,
        offset: 5,
        order: { 'purchases.revenue': 'asc' },
        fill: true,
        total: true,
        timezone: 'Asia/Tokyo',
      },
    )
    const { query } = await plan(given)
    expect(query).toStrictEqual({
      ...revenue([
        {
          dimension: 'purchases.time',
          granularity: 'day',
          compareDateRange: [
            ['2026-03-16', '2026-03-19'],
            ['2026-03-09', '2026-03-15'],
          ],
        },
      ]),
      timezone: 'Asia/Tokyo',
      limit: 20,
      offset: 5,
      order: { 'purchases.revenue': 'asc' },
      fill: true,
    })
  })

  it('has filters on times as of now, those of groups too', async () => {
    const time = 'purchases.time'
    const { query } = await plan(
      revenue(over('last month'), {
        filters: [
          { member: time, operator: 'notInDateRange', values: ['yesterday'] },
          {
            or: [
              { member: time, operator: 'beforeDate', values: ['3 days ago'] },
              { dimension: time, operator: 'afterDate', values: ['now'] },
              { and: [{ member: time, operator: 'inDateRange', values: ['2024-01-01', '2024-01-02'] }] },
            ],
          },
          { member: 'purchases.os', operator: 'equals', values: ['today'] },
        ],
      }),
    )
    expect(query?.filters).toEqual([
      { member: time, operator: 'notInDateRange', values: ['2026-03-17', '2026-03-17'] },
      {
        or: [
          { member: time, operator: 'beforeDate', values: ['2026-03-15'] },
          { dimension: time, operator: 'afterDate', values: ['2026-03-18T16:30:00.000+01:00'] },
          { and: [{ member: time, operator: 'inDateRange', values: ['2024-01-01', '2024-01-02'] }] },
        ],
      },
      { member: 'purchases.os', operator: 'equals', values: ['today'] },
    ])
  })

  it('leaves a query over all time as it is, and compares nothing that is open to the past', async () => {
    expect((await plan(revenue([]))).query).toStrictEqual({ ...revenue([]), timezone: 'Europe/Paris' })
    const { query, period } = await plan(revenue(over([null, '2024-01-31'])))
    expect(query?.timeDimensions[0]?.dateRange).toEqual([null, '2024-02-01T00:00:00.000+01:00'])
    expect(period).toEqual({ start: '2026-02-17T23:00:00.000Z', end: '2026-03-17T23:00:00.000Z' })
  })

  it('has the period of its first range, its words and its name', async () => {
    const read = await readerOf([
      revenue([]),
      revenue(over('last month'), { dimensions: ['purchases.label.country'] }),
    ]).readDashboard(
      { companyId: company, path: `/v2/statistics/query/${id.toUpperCase()}` },
      questionContext(),
    )
    expect(read).toMatchObject({
      title: 'Sales',
      period: { start: '2026-01-31T23:00:00.000Z', end: '2026-02-28T23:00:00.000Z' },
      comparisonWindows: { previousPeriod: { start: '2025-12-31T23:00:00.000Z' } },
      queries: [
        { asks: 'Revenue', chart: 'table' },
        { asks: 'Revenue by country, compared between the ranges', chart: 'bar' },
      ],
      unread: [],
    })
  })

  it('says which queries can no longer be read', async () => {
    const { queries, unread } = await plan(revenue(over('last fortnight')))
    expect({ queries, unread }).toEqual({ queries: [], unread: ['queries.0'] })
  })

  it.each([
    '',
    'x',
    '/v2/statistics/query/',
    `/v2/../${id}`,
    `https://other.example/${id}`,
    `${id}/run`,
    `${id}\n`,
  ])('has no other path (N04): %j', async (path) => {
    await expect(
      readerOf([]).readDashboard({ companyId: company, path }, questionContext()),
    ).rejects.toMatchObject({
      errorName: 'validation',
      data: { errors: [{ path: 'dashboardPath' }] },
    })
  })

  it('of another company is none (N04)', async () => {
    const other = { companyId: '65f0c0ffee5ca1ab1e0ddb99', path: id }
    await expect(readerOf([]).readDashboard(other, questionContext())).rejects.toMatchObject({
      errorName: 'savedQueryNotFound',
      status: 404,
    })
  })

  it('can be asked further', async () => {
    const { queries, period } = await plan(revenue(over('last month')))
    const base = { queries: queries.map(({ query }) => query), period }
    const read = await readQuestion('and by country?', questionContext({ base }))
    expect(read.queries[0]?.query).toMatchObject({
      measures: ['purchases.revenue'],
      dimensions: ['purchases.label.country'],
      timeDimensions: [{ dateRange: ['2026-02-01', '2026-02-28'] }],
    })
  })
})
