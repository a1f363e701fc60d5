import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { offerSingleSignOn } from '../support/accounts.ts'
import { eventsQuery, openSavedQueries, type SavedQueriesApp } from '../support/saved-queries.ts'

let app: SavedQueriesApp

beforeAll(async () => {
  app = await openSavedQueries()
})

afterAll(() => app.close())

const id = '65f0c0ffee5ca1ab1e0ddba1'
const save = (body: unknown, who: Parameters<SavedQueriesApp['call']>[0] = 'analyst') =>
  app.call(who, 'POST', '/save', body)
const valid = { name: 'Sales', queries: [eventsQuery] }

/** Refused by path and by words, and nothing is saved. */
async function refused(body: unknown, path: string, words: RegExp): Promise<void> {
  const before = await app.call('analyst', 'GET', '')
  const { status, data, message } = await save(body)
  expect({ status, message }).toEqual({ status: 400, message: expect.stringMatching(words) })
  expect(data.errors).toContainEqual({ path, message: expect.any(String) })
  expect((await app.call('analyst', 'GET', '')).paginationCount).toBe(before.paginationCount)
}

describe('operation 6', () => {
  test('saves queries under a name and answers the saved query', async () => {
    const order = { 'events.count': 'desc', 'events.name': 'asc' }
    const query = { ...eventsQuery, dimensions: ['events.name'], order, limit: null }
    const { status, data } = await save({
      name: 'Événements 📈',
      queries: [query, eventsQuery],
      schedule: {},
    })
    expect(status).toBe(200)
    expect(data).toEqual({
      id: expect.stringMatching(/^[0-9a-f]{24}$/),
      companyId: app.app.companyId,
      name: 'Événements 📈',
      queries: [query, eventsQuery],
      schedule: {},
      ownerId: app.people.analyst.id,
      createdBy: app.people.analyst.id,
      lastSavedBy: app.people.analyst.id,
      revision: 1,
      createdAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/),
      updatedAt: data.createdAt,
    })
    expect((await app.call('analyst', 'GET', `/${data.id}`)).data).toEqual(data)
  })

  describe('H27: sent twice with an Idempotency-Key', () => {
    const keyed = async (key: string, body: object = valid, token = app.people.analyst.token) => {
      const reply = await app.app.app.inject({
        method: 'POST',
        url: '/v2/statistics/query/save',
        headers: { authorization: `Bearer ${token}`, 'idempotency-key': key },
        payload: body,
      })
      return { ...reply.json(), status: reply.statusCode }
    }
    const count = async () => (await app.call('analyst', 'GET', '')).paginationCount ?? 0

    test('saves once, also when both run at once, and answers it again as it is then', async () => {
      const before = await count()
      const replies = await Promise.all([1, 2, 3].map(() => keyed('once')))
      expect(replies.map(({ status }) => status)).toEqual([200, 200, 200])
      const { id: made } = replies[0].data
      expect(new Set(replies.map(({ data }) => data.id)).size).toBe(1)
      expect(await count()).toBe(before + 1)
      await app.call('analyst', 'PATCH', `/${made}`, { name: 'Renamed' })
      expect((await keyed('once')).data).toMatchObject({ id: made, name: 'Renamed' })
    })

    test('is refused with another body, and where what it made is gone', async () => {
      const { id: made } = (await keyed('other')).data
      expect(await keyed('other', { ...valid, name: 'Another' })).toMatchObject({
        status: 409,
        error_code: 10,
        message: expect.stringContaining('Idempotency-Key'),
      })
      await app.call('analyst', 'DELETE', `/${made}`)
      expect(await keyed('other')).toMatchObject({
        status: 409,
        message: expect.stringContaining('gone'),
        data: { id: made },
      })
    })

    test('saves for each user, and a request that failed holds no key', async () => {
      expect((await keyed('each', { ...valid, queries: [] })).status).toBe(400)
      const mine = await keyed('each')
      const other = await keyed('each', valid, app.people.reader.token)
      expect([mine.status, other.status]).toEqual([200, 200])
      expect(other.data.id).not.toBe(mine.data.id)
    })
  })

  test('keeps the order of the keys by which rows are ordered', async () => {
    const order = { 'events.name': 'asc', 'events.count': 'desc' }
    const { id } = await app.save({ queries: [{ ...eventsQuery, dimensions: ['events.name'], order }] })
    expect(JSON.stringify((await app.read(id)).queries[0]?.order)).toBe(JSON.stringify(order))
  })

  test('says when a schedule runs next', async () => {
    await app.advanceTo('2027-03-01T06:00:00Z')
    const schedule = app.daily({ timezone: 'Europe/Paris', time: '07:30' })
    const { nextRunAt, schedule: kept } = await app.save({ schedule })
    expect(kept).toEqual(schedule)
    expect(nextRunAt).toBe('2027-03-01T06:30:00.000Z')
    expect((await app.save({ schedule: { ...schedule, enabled: false } })).nextRunAt).toBeUndefined()
  })

  test('reads a schedule without a zone in that of the company', async () => {
    const { pool } = app.relational
    await pool.query(`update companies set timezone = 'Asia/Kolkata' where id = $1`, [app.app.companyId])
    await app.advanceTo('2027-03-02T00:00:00Z')
    const { timezone: _, ...schedule } = app.daily()
    expect((await app.save({ schedule })).nextRunAt).toBe('2027-03-02T02:30:00.000Z')
    await pool.query(`update companies set timezone = 'UTC' where id = $1`, [app.app.companyId])
  })

  test('what was read can be sent back: it is saved again, as one’s own', async () => {
    const first = await app.save({ schedule: app.daily() })
    const { status, data } = await save({ ...first, companyId: id, id, ownerId: id, createdAt: 'x' })
    expect(status).toBe(200)
    expect(data).toMatchObject({ companyId: app.app.companyId, ownerId: app.people.analyst.id })
    expect(data.id).not.toBe(first.id)
    expect(data.id).not.toBe(id)
  })
})

describe('V01: bodies', () => {
  test.each([
    [{ queries: [eventsQuery] }, 'name', /name is required/],
    [{ ...valid, name: '' }, 'name', /name/],
    [{ ...valid, name: 'x'.repeat(201) }, 'name', /200/],
    [{ ...valid, name: 'a\0b' }, 'name', /name/],
    [{ ...valid, name: 7 }, 'name', /a text/],
    [{ name: 'Sales' }, 'queries', /queries is required/],
    [{ ...valid, queries: null }, 'queries', /a list/],
    [{ ...valid, queries: [] }, 'queries', /queries/],
    [{ ...valid, queries: Array(21).fill(eventsQuery) }, 'queries', /20/],
    [{ ...valid, queries: [{ measures: [] }] }, 'queries.0.dimensions', /required/],
    [{ ...valid, nmae: 'x' }, 'nmae', /did you mean "name"/],
    [{ ...valid, __proto__x: 1 }, '__proto__x', /not known/],
  ])('%j', (body, path, words) => refused(body, path, words))

  test.each([
    [
      { ...eventsQuery, measures: ['events.cuont'] },
      'queries.1.measures.0',
      /queries\.1\.measures\.0: .*events\.count/,
    ],
    [{ ...eventsQuery, measures: [] }, 'queries.1.measures', /asks for nothing/],
    [
      { ...eventsQuery, filters: [{ member: 'events.perPerson', operator: 'gt', values: ['1'] }] },
      'queries.1.filters.0',
      /queries\.1\.filters\.0/,
    ],
    [
      { ...eventsQuery, timeDimensions: [{ dimension: 'events.time', dateRange: 'never' }] },
      'queries.1.timeDimensions.0.dateRange',
      /queries\.1\.timeDimensions\.0/,
    ],
  ])('an invalid query among valid ones: %j', (query, path, words) =>
    refused({ ...valid, queries: [eventsQuery, query] }, path, words),
  )

  test('queries of more than 100,000 characters together', async () => {
    const values = Array.from({ length: 1_000 }, (_, i) => `${i}`.padStart(60, 'x'))
    const query = { ...eventsQuery, filters: [{ member: 'events.name', operator: 'equals', values }] }
    await refused({ ...valid, queries: [query, query] }, 'queries', /at most 100000 characters/)
    expect((await save({ ...valid, queries: [query] })).status).toBe(200)
  })

  test('a query that is too complex is named', async () => {
    const range = { dimension: 'events.time', granularity: 'second', dateRange: ['2000-01-01', '2026-01-01'] }
    const { status, message } = await save({
      ...valid,
      queries: [{ ...eventsQuery, timeDimensions: [range] }],
    })
    expect({ status, message }).toEqual({ status: 400, message: expect.stringMatching(/^queries\.0/) })
  })
})

describe('V02: schedules', () => {
  test.each([
    [{ frequency: 'hourly' }, 'schedule.frequency', /daily/],
    [{ frequency: 'daily', time: '24:00' }, 'schedule.time', /HH:MM/],
    [{ frequency: 'daily', time: '8:00' }, 'schedule.time', /HH:MM/],
    [{ frequency: 'daily' }, 'schedule.time', /required/],
    [{ frequency: 'weekly', time: '08:00', weekdays: [0] }, 'schedule.weekdays.0', /1/],
    [{ frequency: 'weekly', time: '08:00', weekdays: [1, 1] }, 'schedule.weekdays', /duplicate/],
    [{ frequency: 'monthly', time: '08:00', days: [32] }, 'schedule.days.0', /31/],
    [{ frequency: 'custom', cron: '* * * * *' }, 'schedule.cron', /5 minutes/],
    [{ frequency: 'custom', cron: '*/5 * * * * *' }, 'schedule.cron', /five fields/],
    [{ frequency: 'custom', cron: '0 0 30 2 *' }, 'schedule.cron', /never runs/],
    [{ frequency: 'custom', cron: 'x'.repeat(201) }, 'schedule.cron', /200/],
    [{ timezone: 'Europe/Pairs' }, 'schedule.timezone', /IANA/],
    [{ timezone: 'europe/PARIS' }, 'schedule.timezone', /IANA/],
    [{ timezone: 'x'.repeat(65) }, 'schedule.timezone', /64/],
    [{ recipients: ['a@example.com\nBcc: b@example.com'] }, 'schedule.recipients.0', /one e-mail address/],
    [{ recipients: ['a@example.com,b@example.com'] }, 'schedule.recipients.0', /one e-mail address/],
    [{ recipients: Array.from({ length: 51 }, (_, i) => `a${i}@example.com`) }, 'schedule.recipients', /50/],
    [{ recipients: [] }, 'schedule.recipients', /who gets/],
    [{ linkedAccounts: [id] }, 'schedule.linkedAccounts.0', /of your own/],
    [{ format: 'xlsx' }, 'schedule.format', /csv/],
    [{ every: 'day' }, 'schedule.every', /not known/],
  ])('%j', async (schedule, path, words) => {
    const base = 'frequency' in schedule ? { recipients: [app.people.analyst.email] } : app.daily()
    await refused({ ...valid, schedule: { ...base, ...schedule } }, path, words)
  })

  test('2 MB', async () => {
    const { status } = await save({ ...valid, schedule: { cron: 'x'.repeat(2_000_000) } })
    expect(status).toBe(413)
  })
})

describe('recipients', () => {
  const to = (...recipients: string[]) => ({ ...valid, schedule: app.daily({ recipients }) })

  test('are active users of the company, whatever the case of the address', async () => {
    const { email } = app.people.reader
    const { schedule } = await app.save(to(email.toUpperCase()))
    expect(schedule.recipients).toEqual([email])
    await refused(to(email, email.toUpperCase()), 'schedule.recipients.1', /twice/)
  })

  test('are nobody else: not users of another company, not strangers, not former users', async () => {
    const { email, id: left } = await app.app.person('viewer')
    await app.save(to(email))
    await app.relational.pool.query(`update users set status = 'disabled' where id = $1`, [left])
    await refused(to(email), 'schedule.recipients.0', /active user of your company/)
    await refused(to(app.people.stranger.email), 'schedule.recipients.0', /is neither/)
    await refused(to('press@news.example'), 'schedule.recipients.0', /press@news\.example is neither/)
  })

  test('are addresses of domains that the company has verified, but not those of users who have left', async () => {
    await refused(to('sales@acme.example'), 'schedule.recipients.0', /verified/)
    await offerSingleSignOn(app.relational, app.app.companyId, 'acme.example')
    const { id: left } = await app.app.person('viewer', app.app.companyId, 'acme.example')
    const { rows } = await app.relational.pool.query(
      `update users set status = 'deleted' where id = $1 returning email`,
      [left],
    )
    expect((await app.save(to('sales@acme.example'))).schedule.recipients).toEqual(['sales@acme.example'])
    await refused(to(rows[0].email), 'schedule.recipients.0', /is neither/)
    await refused(to('sales@sub.acme.example'), 'schedule.recipients.0', /is neither/)
    await offerSingleSignOn(app.relational, app.app.other.companyId, 'rival.example')
    await refused(to('sales@rival.example'), 'schedule.recipients.0', /is neither/)
  })
})

test('a schedule takes data out of the product, so it needs Statistics: export', async () => {
  const { status, message } = await save({ ...valid, schedule: app.daily() }, 'reader')
  expect({ status, message }).toEqual({ status: 403, message: expect.stringContaining('Statistics: export') })
  expect((await save({ ...valid, schedule: app.daily({ enabled: false }) }, 'reader')).status).toBe(200)
})

test('a company has a bounded number of saved queries', async () => {
  await app.relational.pool.query(
    `insert into saved_queries (id, company_id, name, queries)
     select lpad(to_hex(i), 24, '0'), $1, 'n', '[]' from generate_series(1, 5000) as i`,
    [app.app.other.companyId],
  )
  const { status, data } = await save(valid, 'stranger')
  expect({ status, data }).toEqual({ status: 409, data: { limit: 5_000 } })
})
