import type { Query } from '@millrace/contract/resources/query.ts'
import { describe, expect, it } from 'vitest'
import { questionContext, readQuestion } from '../support/questions.ts'

/** A query in short: ids apart by spaces, ranges as the first and the last day. */
interface Expected {
  readonly of: string
  readonly by?: string
  readonly per?: string
  readonly in?: string
  readonly compared?: readonly string[]
  readonly where?: readonly string[]
  readonly order?: 'asc' | 'desc'
  readonly limit?: number
  readonly fill?: true
  readonly unread?: readonly string[]
}

const rangeOf = (text: string): string[] => {
  const [first = '', last = first] = text.split(' ')
  return [first, last]
}

/** The whole query that stands for the short form: exactly this, and nothing else. */
function queryOf(expected: Expected): Query {
  const measures = expected.of.split(' ')
  const [first = ''] = measures
  const filters = (expected.where ?? []).map((text) => {
    const [, member = '', operator = '', values = ''] = /^(\S+) (\S+) (.*)$/.exec(text) ?? []
    return { member, operator, values: values.split('|') }
  })
  return {
    measures,
    dimensions: expected.by?.split(' ') ?? [],
    filters,
    timeDimensions: [
      {
        dimension: `${first.slice(0, first.indexOf('.'))}.time`,
        ...(expected.per ? { granularity: expected.per } : {}),
        ...(expected.in ? { dateRange: rangeOf(expected.in) } : {}),
        ...(expected.compared ? { compareDateRange: expected.compared.map(rangeOf) } : {}),
      },
    ],
    timezone: 'Europe/Paris',
    ...(expected.order ? { order: [[first, expected.order]] } : {}),
    ...(expected.limit ? { limit: expected.limit } : {}),
    ...(expected.fill ? { fill: true } : {}),
  } as Query
}

const english: readonly (readonly [question: string, expected: Expected])[] = [
  ['revenue last month', { of: 'purchases.revenue', in: '2026-02-01 2026-02-28' }],
  [
    'How much revenue did we make in November 2011?',
    { of: 'purchases.revenue', in: '2011-11-01 2011-11-30' },
  ],
  [
    'sales by country in 2011',
    {
      of: 'purchases.revenue',
      by: 'purchases.label.country',
      in: '2011-01-01 2011-12-31',
      order: 'desc',
      limit: 100,
    },
  ],
  [
    'orders per day last week',
    { of: 'purchases.count', per: 'day', in: '2026-03-09 2026-03-15', fill: true },
  ],
  [
    'visitors by device last 30 days',
    {
      of: 'sessions.people',
      by: 'sessions.deviceType',
      in: '2026-02-16 2026-03-17',
      order: 'desc',
      limit: 100,
    },
  ],
  [
    'top 5 products last month',
    {
      of: 'purchases.references',
      by: 'purchases.item',
      in: '2026-02-01 2026-02-28',
      order: 'desc',
      limit: 5,
    },
  ],
  [
    'which countries have the most orders this year?',
    {
      of: 'purchases.count',
      by: 'purchases.label.country',
      in: '2026-01-01 2026-03-18',
      order: 'desc',
      limit: 10,
    },
  ],
  [
    'average order value by month in 2025 compared with the year before',
    {
      of: 'purchases.averageOrderValue',
      per: 'month',
      compared: ['2025-01-01 2025-12-31', '2024-01-01 2024-12-31'],
      fill: true,
    },
  ],
  ['How many people visited us yesterday?', { of: 'events.people', in: '2026-03-17' }],
  [
    'bounce rate by landing page in Q3 2025',
    {
      of: 'sessions.bounceRate',
      by: 'sessions.entryPath',
      in: '2025-07-01 2025-09-30',
      order: 'desc',
      limit: 100,
    },
  ],
  [
    'revenue from mobile in March',
    { of: 'purchases.revenue', in: '2026-03-01 2026-03-18', where: ['purchases.deviceType equals mobile'] },
  ],
  [
    'sessions from search vs social last month',
    {
      of: 'sessions.count',
      by: 'sessions.channel',
      in: '2026-02-01 2026-02-28',
      where: ['sessions.channel equals search|social'],
      order: 'desc',
      limit: 100,
    },
  ],
  [
    'events named sign_up by day last 7 days',
    {
      of: 'events.count',
      per: 'day',
      in: '2026-03-11 2026-03-17',
      where: ['events.name equals sign_up'],
      fill: true,
    },
  ],
  [
    'revenue in France compared with last year',
    {
      of: 'purchases.revenue',
      compared: ['2026-01-01 2026-03-17', '2025-01-01 2025-03-17'],
      where: ['purchases.label.country equals France|FR'],
    },
  ],
  ['orders between 1 and 15 May 2024', { of: 'purchases.count', in: '2024-05-01 2024-05-15' }],
  ['revenue since March', { of: 'purchases.revenue', in: '2026-03-01 2026-03-18' }],
  [
    'revenue by store name this year',
    {
      of: 'purchases.revenue',
      by: 'purchases.label.storeName',
      in: '2026-01-01 2026-03-18',
      order: 'desc',
      limit: 100,
    },
  ],
  [
    'visitors by plan type',
    {
      of: 'events.people',
      by: 'events.label.plan_type',
      in: '2026-02-18 2026-03-17',
      order: 'desc',
      limit: 100,
    },
  ],
  [
    'orders by customer group in 2025',
    {
      of: 'purchases.count',
      by: 'purchases.label.customer-group',
      in: '2025-01-01 2025-12-31',
      order: 'desc',
      limit: 100,
    },
  ],
  [
    'revenue and orders by month in 2011',
    { of: 'purchases.revenue purchases.count', per: 'month', in: '2011-01-01 2011-12-31', fill: true },
  ],
  ['conversion rate last month', { of: 'purchases.buyers events.people', in: '2026-02-01 2026-02-28' }],
  [
    'daily revenue from 1 May 2024 to 15 June 2024',
    { of: 'purchases.revenue', per: 'day', in: '2024-05-01 2024-06-15', fill: true },
  ],
  [
    'compare revenue of May with June 2024',
    { of: 'purchases.revenue', compared: ['2024-05-01 2024-05-31', '2024-06-01 2024-06-30'] },
  ],
  [
    'revenue this month vs last month',
    { of: 'purchases.revenue', compared: ['2026-03-01 2026-03-17', '2026-02-01 2026-02-17'] },
  ],
  [
    'least popular pages last week',
    { of: 'events.count', by: 'events.path', in: '2026-03-09 2026-03-15', order: 'asc', limit: 10 },
  ],
  [
    'new visitors by channel last month',
    {
      of: 'sessions.people',
      by: 'sessions.channel',
      in: '2026-02-01 2026-02-28',
      where: ['sessions.isNew equals true'],
      order: 'desc',
      limit: 100,
    },
  ],
  [
    'revenue by country excluding United Kingdom in 2011',
    {
      of: 'purchases.revenue',
      by: 'purchases.label.country',
      in: '2011-01-01 2011-12-31',
      where: [
        'purchases.label.country notEquals United Kingdom|Royaume-Uni|UK|U.K.|Great Britain|Britain|Grande-Bretagne|Angleterre|England|GB',
      ],
      order: 'desc',
      limit: 100,
    },
  ],
  [
    'where country is "France" show revenue in 2011',
    {
      of: 'purchases.revenue',
      in: '2011-01-01 2011-12-31',
      where: ['purchases.label.country equals France'],
    },
  ],
  ['sales over 100 euros yesterday', { of: 'purchases.revenue', in: '2026-03-17', unread: ['100', 'euros'] }],
  [
    'show me the trend of sessions over the last 3 months',
    { of: 'sessions.count', per: 'week', in: '2025-12-01 2026-02-28', fill: true },
  ],
  [
    '10 best products in 2011',
    {
      of: 'purchases.references',
      by: 'purchases.item',
      in: '2011-01-01 2011-12-31',
      order: 'desc',
      limit: 10,
    },
  ],
  [
    'revenue for product 85123A in 2011',
    { of: 'purchases.revenue', in: '2011-01-01 2011-12-31', where: ['purchases.item equals 85123A'] },
  ],
  [
    'visitors by day of the week',
    { of: 'events.people', in: '2026-02-18 2026-03-17', unread: ['day of the week'] },
  ],
  [
    'orders by country and device in H1 2025',
    {
      of: 'purchases.count',
      by: 'purchases.label.country purchases.deviceType',
      in: '2025-01-01 2025-06-30',
      order: 'desc',
      limit: 100,
    },
  ],
  [
    'revenue week 12 of 2024 by day',
    { of: 'purchases.revenue', per: 'day', in: '2024-03-18 2024-03-24', fill: true },
  ],
  ['revenue in March', { of: 'purchases.revenue', in: '2026-03-01 2026-03-18' }],
  [
    'revenue in December 2026',
    { of: 'purchases.revenue', in: '2026-02-18 2026-03-17', unread: ['in December 2026'] },
  ],
  [
    'page views on /checkout yesterday',
    {
      of: 'events.count',
      in: '2026-03-17',
      where: ['events.path equals /checkout', 'events.name equals page_view'],
    },
  ],
  [
    'who are our top 10 customers by revenue in 2011?',
    {
      of: 'purchases.revenue',
      by: 'purchases.person',
      in: '2011-01-01 2011-12-31',
      order: 'desc',
      limit: 10,
    },
  ],
  [
    'which products sold best in November 2011?',
    {
      of: 'purchases.references',
      by: 'purchases.item',
      in: '2011-11-01 2011-11-30',
      order: 'desc',
      limit: 10,
    },
  ],
  [
    'How did revenue develop in 2011?',
    { of: 'purchases.revenue', per: 'month', in: '2011-01-01 2011-12-31', fill: true },
  ],
  [
    'What were our sales yesterday compared to the day before?',
    { of: 'purchases.revenue', compared: ['2026-03-17', '2026-03-16'] },
  ],
  [
    'revenue, orders and average order value by week since January',
    {
      of: 'purchases.revenue purchases.count purchases.averageOrderValue',
      per: 'week',
      in: '2026-01-01 2026-03-18',
      fill: true,
    },
  ],
  [
    'sessions by browser and operating system this quarter',
    {
      of: 'sessions.count',
      by: 'sessions.browser sessions.os',
      in: '2026-01-01 2026-03-18',
      order: 'desc',
      limit: 100,
    },
  ],
  [
    'number of events by event name last 24 hours',
    {
      of: 'events.count',
      by: 'events.name',
      in: '2026-03-17T16:00:00.000+01:00 2026-03-18T16:00:00.000+01:00',
      order: 'desc',
      limit: 100,
    },
  ],
  [
    'Which day had the highest revenue in 2011?',
    { of: 'purchases.revenue', per: 'day', in: '2011-01-01 2011-12-31', order: 'desc' },
  ],
  [
    'orders from Germany or Austria last year by month',
    {
      of: 'purchases.count',
      per: 'month',
      in: '2025-01-01 2025-12-31',
      where: ['purchases.label.country equals Germany|Allemagne|DE|Austria|Autriche|AT'],
      fill: true,
    },
  ],
  [
    'revenue year over year by quarter',
    {
      of: 'purchases.revenue',
      per: 'quarter',
      compared: ['2026-01-01 2026-03-17', '2025-01-01 2025-03-17'],
      fill: true,
    },
  ],
  [
    'sessions from Chrome on Windows last week',
    {
      of: 'sessions.count',
      in: '2026-03-09 2026-03-15',
      where: ['sessions.browser equals Chrome', 'sessions.os equals Windows'],
    },
  ],
  [
    'monthly visitors in 2025 for returning visitors',
    {
      of: 'sessions.people',
      per: 'month',
      in: '2025-01-01 2025-12-31',
      where: ['sessions.isNew equals false'],
      fill: true,
    },
  ],
  [
    'which referrers bring the most sessions?',
    {
      of: 'sessions.count',
      by: 'sessions.referrerHost',
      in: '2026-02-18 2026-03-17',
      order: 'desc',
      limit: 10,
    },
  ],
  [
    'top landing pages',
    { of: 'sessions.count', by: 'sessions.entryPath', in: '2026-02-18 2026-03-17', order: 'desc', limit: 10 },
  ],
  [
    'customers in the UK between January and March 2011',
    {
      of: 'purchases.buyers',
      in: '2011-01-01 2011-03-31',
      where: [
        'purchases.label.country equals United Kingdom|Royaume-Uni|UK|U.K.|Great Britain|Britain|Grande-Bretagne|Angleterre|England|GB',
      ],
    },
  ],
  ['orders on 15 November 2011', { of: 'purchases.count', in: '2011-11-15' }],
  [
    'orders on November 15th, 2011 by hour',
    { of: 'purchases.count', per: 'hour', in: '2011-11-15', fill: true },
  ],
  ['revenue on 2011-11-15', { of: 'purchases.revenue', in: '2011-11-15' }],
  ['revenue 2011-11', { of: 'purchases.revenue', in: '2011-11-01 2011-11-30' }],
  ['revenue 05/06/2024', { of: 'purchases.revenue', in: '2026-02-18 2026-03-17', unread: ['05/06/2024'] }],
  ['revenue 25/06/2024', { of: 'purchases.revenue', in: '2024-06-25' }],
  ['revenue of last November', { of: 'purchases.revenue', in: '2025-11-01 2025-11-30' }],
  [
    'items per order in the last two weeks',
    { of: 'purchases.referencesPerPurchase', in: '2026-03-02 2026-03-15' },
  ],
  [
    'time on site by channel past 14 days',
    {
      of: 'sessions.duration',
      by: 'sessions.channel',
      in: '2026-03-04 2026-03-17',
      order: 'desc',
      limit: 100,
    },
  ],
  [
    'influenced revenue by workflow last month',
    {
      of: 'purchases.influencedRevenue',
      by: 'workflows.name',
      in: '2026-02-01 2026-02-28',
      order: 'desc',
      limit: 100,
    },
  ],
  ['click-to-open rate last month', { of: 'workflows.clickToOpenRate', in: '2026-02-01 2026-02-28' }],
  [
    'displays and clicks by message last month',
    {
      of: 'workflows.displays workflows.clicks',
      by: 'workflows.message',
      in: '2026-02-01 2026-02-28',
      order: 'desc',
      limit: 100,
    },
  ],
  ['purchases after a click last month', { of: 'purchases.afterClick', in: '2026-02-01 2026-02-28' }],
  [
    'How many add to carts last week by device?',
    {
      of: 'events.count',
      by: 'events.deviceType',
      in: '2026-03-09 2026-03-15',
      where: ['events.name equals add_cart'],
      order: 'desc',
      limit: 100,
    },
  ],
  [
    'sessions that came from newsletter vs direct in February',
    {
      of: 'sessions.count',
      by: 'sessions.channel',
      in: '2026-02-01 2026-02-28',
      where: ['sessions.channel equals mail|direct'],
      order: 'desc',
      limit: 100,
    },
  ],
  [
    'traffic by utm campaign, last 90 days',
    {
      of: 'sessions.count',
      by: 'sessions.utmCampaign',
      in: '2025-12-18 2026-03-17',
      order: 'desc',
      limit: 100,
    },
  ],
  [
    "campaign 'summer sale' sessions last month",
    { of: 'sessions.count', in: '2026-02-01 2026-02-28', where: ['sessions.utmCampaign equals summer sale'] },
  ],
  [
    'visits with utm source google last month',
    { of: 'sessions.count', in: '2026-02-01 2026-02-28', where: ['sessions.utmSource equals google'] },
  ],
  [
    'store name Paris revenue last month',
    {
      of: 'purchases.revenue',
      in: '2026-02-01 2026-02-28',
      where: ['purchases.label.storeName equals Paris'],
    },
  ],
  [
    'revenue where store name is "Paris 5" or "Lyon" last month',
    {
      of: 'purchases.revenue',
      in: '2026-02-01 2026-02-28',
      where: ['purchases.label.storeName equals Paris 5|Lyon'],
    },
  ],
  [
    'revenue by storeName excluding store name Paris last month',
    {
      of: 'purchases.revenue',
      by: 'purchases.label.storeName',
      in: '2026-02-01 2026-02-28',
      where: ['purchases.label.storeName notEquals Paris'],
      order: 'desc',
      limit: 100,
    },
  ],
  ['products sold last week', { of: 'purchases.references', in: '2026-03-09 2026-03-15' }],
  [
    'revenue 2010 vs 2011',
    { of: 'purchases.revenue', compared: ['2010-01-01 2010-12-31', '2011-01-01 2011-12-31'] },
  ],
  [
    'revenue in November and December 2011',
    { of: 'purchases.revenue', compared: ['2011-11-01 2011-11-30', '2011-12-01 2011-12-31'] },
  ],
  ['revenue a year ago', { of: 'purchases.revenue', in: '2025-01-01 2025-12-31' }],
  [
    'orders an hour ago',
    { of: 'purchases.count', in: '2026-03-18T15:00:00.000+01:00 2026-03-18T16:00:00.000+01:00' },
  ],
  [
    'most visited pages yesterday',
    { of: 'events.sessions', by: 'events.path', in: '2026-03-17', order: 'desc', limit: 10 },
  ],
  [
    'which country buys the least?',
    {
      of: 'purchases.count',
      by: 'purchases.label.country',
      in: '2026-02-18 2026-03-17',
      order: 'asc',
      limit: 10,
    },
  ],
  [
    'new vs returning visitors by week last month',
    { of: 'sessions.people', by: 'sessions.isNew', per: 'week', in: '2026-02-01 2026-02-28' },
  ],
  [
    'visitors by country, device and channel in January',
    {
      of: 'sessions.people',
      by: 'sessions.country sessions.deviceType sessions.channel',
      in: '2026-01-01 2026-01-31',
      order: 'desc',
      limit: 100,
    },
  ],
  [
    'top 3 countries by revenue and orders in 2011',
    {
      of: 'purchases.revenue purchases.count',
      by: 'purchases.label.country',
      in: '2011-01-01 2011-12-31',
      order: 'desc',
      limit: 3,
    },
  ],
  [
    'revenue by product category',
    {
      of: 'purchases.revenue',
      by: 'purchases.item',
      in: '2026-02-18 2026-03-17',
      order: 'desc',
      limit: 100,
      unread: ['category'],
    },
  ],
  [
    'mobile and desktop sessions yesterday',
    { of: 'sessions.count', in: '2026-03-17', where: ['sessions.deviceType equals mobile|desktop'] },
  ],
  [
    'anonymous vs identified users',
    {
      of: 'events.people',
      by: 'events.isIdentified',
      in: '2026-02-18 2026-03-17',
      order: 'desc',
      limit: 100,
    },
  ],
  [
    'top 10 events last month',
    { of: 'events.count', by: 'events.name', in: '2026-02-01 2026-02-28', order: 'desc', limit: 10 },
  ],
  [
    'what events happened yesterday',
    { of: 'events.count', by: 'events.name', in: '2026-03-17', order: 'desc', limit: 10 },
  ],
  [
    'unique visitors per day over the past two weeks, compared to the two weeks before',
    {
      of: 'events.people',
      per: 'day',
      compared: ['2026-03-02 2026-03-15', '2026-02-16 2026-03-01'],
      fill: true,
    },
  ],
  [
    'sessions last week compared to the same week last year',
    { of: 'sessions.count', compared: ['2026-03-09 2026-03-15', '2025-03-10 2025-03-16'] },
  ],
  [
    'revenue from 1 to 15 November 2011 vs 1 to 15 October 2011',
    { of: 'purchases.revenue', compared: ['2011-11-01 2011-11-15', '2011-10-01 2011-10-15'] },
  ],
  ['revenue 1-15 May 2024', { of: 'purchases.revenue', in: '2024-05-01 2024-05-15' }],
  ['revenue May 1 - May 15, 2024', { of: 'purchases.revenue', in: '2024-05-01 2024-05-15' }],
  [
    'orders 2023-2024 by year',
    { of: 'purchases.count', per: 'year', in: '2023-01-01 2024-12-31', fill: true },
  ],
  [
    'revenue by month from December to February 2024',
    { of: 'purchases.revenue', per: 'month', in: '2023-12-01 2024-02-29', fill: true },
  ],
  ['sales in 2024 products', { of: 'purchases.revenue purchases.references', in: '2024-01-01 2024-12-31' }],
  [
    'show revenue for country France and Germany by month in 2011',
    {
      of: 'purchases.revenue',
      per: 'month',
      in: '2011-01-01 2011-12-31',
      where: ['purchases.label.country equals France|FR|Germany|Allemagne|DE'],
      fill: true,
    },
  ],
  [
    'revenue for countries France, Germany and Spain',
    {
      of: 'purchases.revenue',
      in: '2026-02-18 2026-03-17',
      where: ['purchases.label.country equals France|FR|Germany|Allemagne|DE|Spain|Espagne|ES'],
    },
  ],
  [
    'orders not from mobile last week',
    { of: 'purchases.count', in: '2026-03-09 2026-03-15', where: ['purchases.deviceType notEquals mobile'] },
  ],
  [
    'sessions without direct last week',
    { of: 'sessions.count', in: '2026-03-09 2026-03-15', where: ['sessions.channel notEquals direct'] },
  ],
  ['revenue of customers', { of: 'purchases.revenue purchases.buyers', in: '2026-02-18 2026-03-17' }],
  [
    'purchase frequency and revenue per customer in 2025',
    { of: 'purchases.perBuyer purchases.revenuePerBuyer', in: '2025-01-01 2025-12-31' },
  ],
  [
    'sessions with UTM medium = cpc',
    { of: 'sessions.count', in: '2026-02-18 2026-03-17', where: ['sessions.utmMedium equals cpc'] },
  ],
  ['"Paris" revenue', { of: 'purchases.revenue', in: '2026-02-18 2026-03-17', unread: ['"Paris"'] }],
  [
    'sessions in the US on iOS',
    {
      of: 'sessions.count',
      in: '2026-02-18 2026-03-17',
      where: ['sessions.country equals US', 'sessions.os equals iOS'],
    },
  ],
  ['how many people visited us yesterday', { of: 'events.people', in: '2026-03-17' }],
  [
    'revenue in DE and FR in 2011',
    {
      of: 'purchases.revenue',
      in: '2011-01-01 2011-12-31',
      where: ['purchases.label.country equals Germany|Allemagne|DE|France|FR'],
    },
  ],
  ['REVENUE IN MARCH', { of: 'purchases.revenue', in: '2026-03-01 2026-03-18' }],
  ['average revenue per order', { of: 'purchases.averageOrderValue', in: '2026-02-18 2026-03-17' }],
  [
    'how much did customers spend in 2011',
    { of: 'purchases.buyers purchases.revenue', in: '2011-01-01 2011-12-31' },
  ],
  ['how many people bought something yesterday', { of: 'purchases.buyers', in: '2026-03-17' }],
  [
    'sign_up events per day',
    {
      of: 'events.count',
      per: 'day',
      in: '2026-02-18 2026-03-17',
      where: ['events.name equals sign_up'],
      fill: true,
    },
  ],
  [
    'the number of "newsletter_signup" events this month',
    { of: 'events.count', in: '2026-03-01 2026-03-18', where: ['events.name equals newsletter_signup'] },
  ],
  [
    'did revenue go up last week?',
    { of: 'purchases.revenue', compared: ['2026-03-09 2026-03-15', '2026-03-02 2026-03-08'] },
  ],
  [
    'revenue growth in November 2011 vs last year',
    { of: 'purchases.revenue', compared: ['2011-11-01 2011-11-30', '2010-11-01 2010-11-30'] },
  ],
  [
    'How is revenue trending this quarter compared to last quarter?',
    {
      of: 'purchases.revenue',
      per: 'week',
      compared: ['2026-01-01 2026-03-17', '2025-10-01 2025-12-15'],
      fill: true,
    },
  ],
  [
    'sessions referred by google.com last month',
    { of: 'sessions.count', in: '2026-02-01 2026-02-28', unread: ['google.com'] },
  ],
  ['orders from December to February', { of: 'purchases.count', in: '2025-12-01 2026-02-28' }],
  [
    'Orders in the first week of May 2024',
    { of: 'purchases.count', in: '2024-05-01 2024-05-31', unread: ['first', 'week'] },
  ],
  [
    'What percentage of visitors bounce on mobile?',
    {
      of: 'sessions.people sessions.bounces',
      in: '2026-02-18 2026-03-17',
      where: ['sessions.deviceType equals mobile'],
      unread: ['percentage'],
    },
  ],
]

const french: readonly (readonly [question: string, expected: Expected])[] = [
  ["chiffre d'affaires le mois dernier", { of: 'purchases.revenue', in: '2026-02-01 2026-02-28' }],
  [
    "chiffre d'affaires par pays en novembre 2011",
    {
      of: 'purchases.revenue',
      by: 'purchases.label.country',
      in: '2011-11-01 2011-11-30',
      order: 'desc',
      limit: 100,
    },
  ],
  ['Combien de commandes depuis mars ?', { of: 'purchases.count', in: '2026-03-01 2026-03-18' }],
  [
    'visiteurs par appareil les 30 derniers jours',
    {
      of: 'sessions.people',
      by: 'sessions.deviceType',
      in: '2026-02-16 2026-03-17',
      order: 'desc',
      limit: 100,
    },
  ],
  [
    'les 5 meilleurs produits du 1er au 15 mai 2024',
    {
      of: 'purchases.references',
      by: 'purchases.item',
      in: '2024-05-01 2024-05-15',
      order: 'desc',
      limit: 5,
    },
  ],
  [
    "panier moyen par mois cette année par rapport à l'année dernière",
    {
      of: 'purchases.averageOrderValue',
      per: 'month',
      compared: ['2026-01-01 2026-03-17', '2025-01-01 2025-03-17'],
      fill: true,
    },
  ],
  [
    'Quels pays ont le plus de commandes en 2011 ?',
    {
      of: 'purchases.count',
      by: 'purchases.label.country',
      in: '2011-01-01 2011-12-31',
      order: 'desc',
      limit: 10,
    },
  ],
  [
    'taux de rebond par canal au 3e trimestre 2025',
    {
      of: 'sessions.bounceRate',
      by: 'sessions.channel',
      in: '2025-07-01 2025-09-30',
      order: 'desc',
      limit: 100,
    },
  ],
  [
    'sessions sur mobile hier',
    { of: 'sessions.count', in: '2026-03-17', where: ['sessions.deviceType equals mobile'] },
  ],
  [
    "évolution du chiffre d'affaires depuis le début de l'année",
    { of: 'purchases.revenue', per: 'week', in: '2026-01-01 2026-03-18', fill: true },
  ],
  [
    'commandes en France le trimestre dernier',
    {
      of: 'purchases.count',
      in: '2025-10-01 2025-12-31',
      where: ['purchases.label.country equals France|FR'],
    },
  ],
  ["nombre de visiteurs aujourd'hui", { of: 'events.people', in: '2026-03-18' }],
  [
    'ventes entre mars et mai 2024 par semaine',
    { of: 'purchases.revenue', per: 'week', in: '2024-03-01 2024-05-31', fill: true },
  ],
  [
    "chiffre d'affaires du 15/05/2024 au 20/05/2024",
    { of: 'purchases.revenue', in: '2024-05-15 2024-05-20' },
  ],
  [
    "quel est le chiffre d'affaires du mois de mai 2024 comparé à avril ?",
    { of: 'purchases.revenue', compared: ['2024-05-01 2024-05-31', '2024-04-01 2024-04-30'] },
  ],
  ['CA par client en 2025', { of: 'purchases.revenuePerBuyer', in: '2025-01-01 2025-12-31' }],
  [
    'produits les plus vendus en 2011',
    { of: 'purchases.count', by: 'purchases.item', in: '2011-01-01 2011-12-31', order: 'desc', limit: 10 },
  ],
  ['sessions il y a 3 jours', { of: 'sessions.count', in: '2026-03-15' }],
  [
    'nouveaux visiteurs par jour la semaine dernière',
    {
      of: 'sessions.people',
      per: 'day',
      in: '2026-03-09 2026-03-15',
      where: ['sessions.isNew equals true'],
      fill: true,
    },
  ],
  [
    "chiffre d'affaires hors Royaume-Uni en 2011",
    {
      of: 'purchases.revenue',
      in: '2011-01-01 2011-12-31',
      where: [
        'purchases.label.country notEquals United Kingdom|Royaume-Uni|UK|U.K.|Great Britain|Britain|Grande-Bretagne|Angleterre|England|GB',
      ],
    },
  ],
  ['combien de clients avons-nous eus en 2011 ?', { of: 'purchases.buyers', in: '2011-01-01 2011-12-31' }],
  [
    'quels sont les produits les plus vendus en novembre 2011 ?',
    { of: 'purchases.count', by: 'purchases.item', in: '2011-11-01 2011-11-30', order: 'desc', limit: 10 },
  ],
  [
    "le meilleur mois de 2011 en chiffre d'affaires",
    { of: 'purchases.revenue', per: 'month', in: '2011-01-01 2011-12-31', order: 'desc' },
  ],
  [
    "ventes d'hier par rapport à avant-hier",
    { of: 'purchases.revenue', compared: ['2026-03-17', '2026-03-16'] },
  ],
  [
    "chiffre d'affaires, commandes et panier moyen par trimestre en 2011",
    {
      of: 'purchases.revenue purchases.count purchases.averageOrderValue',
      per: 'quarter',
      in: '2011-01-01 2011-12-31',
      fill: true,
    },
  ],
  [
    "sessions par navigateur et système d'exploitation ce trimestre",
    {
      of: 'sessions.count',
      by: 'sessions.browser sessions.os',
      in: '2026-01-01 2026-03-18',
      order: 'desc',
      limit: 100,
    },
  ],
  [
    'top 10 des pages la semaine passée',
    { of: 'events.count', by: 'events.path', in: '2026-03-09 2026-03-15', order: 'desc', limit: 10 },
  ],
  [
    "commandes d'Allemagne ou d'Autriche l'an dernier par mois",
    {
      of: 'purchases.count',
      per: 'month',
      in: '2025-01-01 2025-12-31',
      where: ['purchases.label.country equals Germany|Allemagne|DE|Austria|Autriche|AT'],
      fill: true,
    },
  ],
  [
    "chiffre d'affaires de novembre 2011 par rapport au mois précédent",
    { of: 'purchases.revenue', compared: ['2011-11-01 2011-11-30', '2011-10-01 2011-10-31'] },
  ],
  [
    "chiffre d'affaires de novembre 2011 par rapport à novembre 2010",
    { of: 'purchases.revenue', compared: ['2011-11-01 2011-11-30', '2010-11-01 2010-11-30'] },
  ],
  [
    'commandes le 15 novembre 2011 par heure',
    { of: 'purchases.count', per: 'hour', in: '2011-11-15', fill: true },
  ],
  [
    "chiffre d'affaires entre le 1er janvier 2011 et le 15 mars 2011",
    { of: 'purchases.revenue', in: '2011-01-01 2011-03-15' },
  ],
  [
    'visiteurs anonymes le mois dernier',
    { of: 'events.people', in: '2026-02-01 2026-02-28', where: ['events.isIdentified equals false'] },
  ],
  [
    'articles par commande les deux dernières semaines',
    { of: 'purchases.referencesPerPurchase', in: '2026-03-02 2026-03-15' },
  ],
  [
    'CA du magasin Paris le mois dernier',
    { of: 'purchases.revenue', in: '2026-02-01 2026-02-28', unread: ['magasin Paris'] },
  ],
  [
    'commandes où le pays est « France » en 2011',
    { of: 'purchases.count', in: '2011-01-01 2011-12-31', where: ['purchases.label.country equals France'] },
  ],
  [
    'sessions depuis les réseaux sociaux par jour en février 2026',
    {
      of: 'sessions.count',
      per: 'day',
      in: '2026-02-01 2026-02-28',
      where: ['sessions.channel equals social'],
      fill: true,
    },
  ],
  [
    'trafic par campagne les 90 derniers jours',
    {
      of: 'sessions.count',
      by: 'sessions.utmCampaign',
      in: '2025-12-18 2026-03-17',
      order: 'desc',
      limit: 100,
    },
  ],
  [
    'durée moyenne des sessions par canal le mois dernier',
    {
      of: 'sessions.duration',
      by: 'sessions.channel',
      in: '2026-02-01 2026-02-28',
      order: 'desc',
      limit: 100,
    },
  ],
  [
    'les 3 pires pays en commandes en 2011',
    {
      of: 'purchases.count',
      by: 'purchases.label.country',
      in: '2011-01-01 2011-12-31',
      order: 'asc',
      limit: 3,
    },
  ],
  ['revenu premier semestre 2011', { of: 'purchases.revenue', in: '2011-01-01 2011-06-30' }],
  [
    'moyenne des ventes par jour de la semaine',
    { of: 'purchases.revenue', in: '2026-02-18 2026-03-17', unread: ['moyenne', 'jour de la semaine'] },
  ],
  [
    'ventes ce mois-ci par jour',
    { of: 'purchases.revenue', per: 'day', in: '2026-03-01 2026-03-18', fill: true },
  ],
  ['ventes du mois en cours', { of: 'purchases.revenue', in: '2026-03-01 2026-03-18' }],
  [
    "comparer mai et juin 2024 pour le chiffre d'affaires",
    { of: 'purchases.revenue', compared: ['2024-05-01 2024-05-31', '2024-06-01 2024-06-30'] },
  ],
  [
    "chiffre d'affaires de mai contre juin 2024",
    { of: 'purchases.revenue', compared: ['2024-05-01 2024-05-31', '2024-06-01 2024-06-30'] },
  ],
  [
    'mobile contre ordinateur sessions le mois dernier',
    {
      of: 'sessions.count',
      by: 'sessions.deviceType',
      in: '2026-02-01 2026-02-28',
      where: ['sessions.deviceType equals mobile|desktop'],
      order: 'desc',
      limit: 100,
    },
  ],
  [
    'visiteurs nouveaux et récurrents par semaine le mois dernier',
    { of: 'sessions.people', by: 'sessions.isNew', per: 'week', in: '2026-02-01 2026-02-28' },
  ],
  [
    'quelle page est la plus consultée cette semaine ?',
    { of: 'events.count', by: 'events.path', in: '2026-03-16 2026-03-18', order: 'desc', limit: 10 },
  ],
  [
    "quel jour a eu le chiffre d'affaires le plus élevé en novembre 2011 ?",
    { of: 'purchases.revenue', per: 'day', in: '2011-11-01 2011-11-30', order: 'desc' },
  ],
  [
    'quelle a été notre meilleure semaine en 2011 pour les commandes ?',
    { of: 'purchases.count', per: 'week', in: '2011-01-01 2011-12-31', order: 'desc' },
  ],
  [
    "sessions même période de l'année dernière ce mois-ci",
    { of: 'sessions.count', compared: ['2026-03-01 2026-03-17', '2025-03-01 2025-03-17'] },
  ],
  [
    "chiffre d'affaires sur un an par mois",
    {
      of: 'purchases.revenue',
      per: 'month',
      compared: ['2026-01-01 2026-03-17', '2025-01-01 2025-03-17'],
      fill: true,
    },
  ],
  [
    'ventes au T3 2025 par rapport au T2 2025',
    { of: 'purchases.revenue', compared: ['2025-07-01 2025-09-30', '2025-04-01 2025-06-30'] },
  ],
  ['nombre de sessions la semaine 12', { of: 'sessions.count', in: '2026-03-16 2026-03-18' }],
  ["chiffre d'affaires depuis le 1er janvier", { of: 'purchases.revenue', in: '2026-01-01 2026-03-18' }],
  [
    'les 10 premiers clients en 2011',
    {
      of: 'purchases.revenue',
      by: 'purchases.person',
      in: '2011-01-01 2011-12-31',
      order: 'desc',
      limit: 10,
    },
  ],
  [
    'pages vues par jour',
    {
      of: 'events.count',
      per: 'day',
      in: '2026-02-18 2026-03-17',
      where: ['events.name equals page_view'],
      fill: true,
    },
  ],
  ['ajouts au panier hier', { of: 'events.count', in: '2026-03-17', where: ['events.name equals add_cart'] }],
  ['sessions venant de google', { of: 'sessions.count', in: '2026-02-18 2026-03-17', unread: ['google'] }],
  [
    'Comment évoluent les ventes ?',
    { of: 'purchases.revenue', per: 'day', in: '2026-02-18 2026-03-17', fill: true },
  ],
  ["chiffre d'affaires du 1 janvier au 31 mars", { of: 'purchases.revenue', in: '2026-01-01 2026-03-18' }],
  [
    'les ventes ont-elles augmenté en novembre 2011 ?',
    { of: 'purchases.revenue', compared: ['2011-11-01 2011-11-30', '2011-10-01 2011-10-31'] },
  ],
  ['Combien de personnes ont acheté hier ?', { of: 'purchases.buyers', in: '2026-03-17' }],
  [
    "chiffre d'affaires par commande en 2011",
    { of: 'purchases.averageOrderValue', in: '2011-01-01 2011-12-31' },
  ],
  [
    "croissance du chiffre d'affaires en 2011",
    { of: 'purchases.revenue', compared: ['2011-01-01 2011-12-31', '2010-01-01 2010-12-31'] },
  ],
]

/** Asked on Wednesday, 18 March 2026, in Paris. */
describe.each([
  ['en', english],
  ['fr', french],
] as const)('a question in %s', (locale, rows) => {
  it.each(rows)('%s', async (question, expected) => {
    const read = await readQuestion(question, questionContext({ locale }))
    expect(read.queries.map(({ query }) => query)).toStrictEqual([queryOf(expected)])
    expect(read.unread).toEqual(expected.unread ?? [])
  })
})
