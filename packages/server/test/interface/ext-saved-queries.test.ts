import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { createAttachmentReader } from '../../src/features/saved-queries/runs/read-attachment.ts'
import { goodPassword } from '../support/auth.ts'
import { day, hour, minute } from '../support/fake-time.ts'
import { eventsQuery, openSavedQueries, type SavedQueriesApp } from '../support/saved-queries.ts'

let app: SavedQueriesApp

beforeAll(async () => {
  app = await openSavedQueries()
  await app.advanceTo('2027-03-01T06:00:00Z')
})

beforeEach(async () => {
  await app.relational.pool.query('delete from saved_queries')
  await app.app.takeMails()
  await app.app.audit()
  app.engine.answer = () => '["17"]\n'
  app.engine.asked.length = 0
  app.webhooks.received.length = 0
  app.webhooks.answer = (reply) => void reply.end('ok')
  // Each test begins at six in the morning.
  const now = app.app.time.clock.now()
  await app.advanceTo(Math.floor(now / day) * day + day + 6 * hour)
})

afterAll(() => app.close())

const today = (time: string) =>
  `${new Date(app.app.time.clock.now()).toISOString().slice(0, 10)}T${time}:00.000Z`

/** The planned time of the daily schedule has come, and its run has ended. */
async function runToday(): Promise<void> {
  await app.advanceTo(today('08:00'))
  await app.work()
}

const subjects = async () => (await app.app.takeMails()).map(({ to, subject }) => [to, subject])

describe('lists', () => {
  test('saved queries come page by page, the newest first, and of one’s own company', async () => {
    for (const name of ['a', 'b', 'c']) {
      app.app.time.advance(1_000)
      await app.save({ name })
    }
    const { data, paginationCount } = await app.call('reader', 'GET', '?perPage=2')
    expect(paginationCount).toBe(3)
    expect((data as unknown as { name: string }[]).map(({ name }) => name)).toEqual(['c', 'b'])
    expect((await app.call('reader', 'GET', '?perPage=2&page=2')).data).toHaveLength(1)
    expect((await app.call('stranger', 'GET', '')).paginationCount).toBe(0)
    expect((await app.call('reader', 'GET', '?perPage=101')).status).toBe(400)
  })

  test('are searched by name and sorted', async () => {
    for (const name of ['Revenue 10%', 'revenue 100', 'Alpha']) {
      app.app.time.advance(1_000)
      await app.save({ name })
    }
    const names = async (query: string) => {
      const { data } = await app.call('reader', 'GET', `?perPage=100&${query}`)
      return (data as unknown as { name: string }[]).map(({ name }) => name)
    }
    expect(await names('q=REVENUE')).toEqual(['revenue 100', 'Revenue 10%'])
    expect(await names('q=0%25')).toEqual(['Revenue 10%'])
    expect(await names('q=_____________________')).toEqual([])
    expect(await names('q=revenue&sortBy=name')).toEqual(['Revenue 10%', 'revenue 100'])
    expect((await names('sortBy=name&sortOrder=desc')).slice(0, 2)).toEqual(['revenue 100', 'Revenue 10%'])
    expect(await names('q=revenue&sortOrder=asc')).toEqual(['Revenue 10%', 'revenue 100'])
    await app.save({ name: 'Scheduled', schedule: app.daily() })
    expect((await names('sortBy=nextRunAt'))[0]).toBe('Scheduled')
    expect((await names('sortBy=nextRunAt&sortOrder=asc'))[0]).toBe('Scheduled')
    expect((await app.call('reader', 'GET', '?sortBy=query')).status).toBe(400)
  })

  test('a saved query is deleted with its ledger and results', async () => {
    const { id } = await app.save({ schedule: app.daily() })
    await runToday()
    expect((await app.call('stranger', 'DELETE', `/${id}`)).status).toBe(404)
    expect(await app.call('reader', 'DELETE', `/${id}`)).toMatchObject({ status: 200, data: {} })
    expect((await app.call('reader', 'GET', `/${id}`)).status).toBe(404)
    expect((await app.call('reader', 'DELETE', `/${id}`)).status).toBe(404)
    const { rows } = await app.relational.pool.query(
      'select (select count(*)::int from saved_query_runs) + (select count(*)::int from saved_query_results) as left',
    )
    expect(rows).toEqual([{ left: 0 }])
  })

  test('the next ten runs are shown in the zone of the schedule', async () => {
    await app.advanceTo('2027-10-29T12:00:00Z')
    const { id } = await app.save({ schedule: app.daily({ timezone: 'Europe/Paris', time: '02:30' }) })
    const { data } = await app.call('reader', 'GET', `/${id}/next-runs`)
    expect(data).toHaveLength(10)
    expect((data as unknown as unknown[]).slice(0, 3)).toEqual([
      { at: '2027-10-30T00:30:00.000Z', local: '2027-10-30T02:30:00.000+02:00' },
      { at: '2027-10-31T00:30:00.000Z', local: '2027-10-31T02:30:00.000+02:00' },
      { at: '2027-11-01T01:30:00.000Z', local: '2027-11-01T02:30:00.000+01:00' },
    ])
    const off = await app.save()
    expect((await app.call('reader', 'GET', `/${off.id}/next-runs`)).data).toEqual([])
    expect((await app.call('stranger', 'GET', `/${id}/next-runs`)).status).toBe(404)
  })
})

describe('a schedule that is not saved', () => {
  test('shows its next runs, as a saved one', async () => {
    await app.advanceTo('2028-10-27T12:00:00Z')
    const preview = (schedule: object) => app.call('reader', 'POST', '/next-runs', schedule)
    const daily = { frequency: 'daily', time: '02:30', timezone: 'Europe/Paris' }
    const { data } = await preview(daily)
    expect((data as unknown as unknown[]).slice(0, 3)).toEqual([
      { at: '2028-10-28T00:30:00.000Z', local: '2028-10-28T02:30:00.000+02:00' },
      { at: '2028-10-29T00:30:00.000Z', local: '2028-10-29T02:30:00.000+02:00' },
      { at: '2028-10-30T01:30:00.000Z', local: '2028-10-30T02:30:00.000+01:00' },
    ])
    expect((await preview({})).data).toEqual([])
    expect((await preview({ ...daily, enabled: false })).data).toEqual([])
    expect((await preview({ frequency: 'custom', cron: '0 7 * * 1-5' })).data).toHaveLength(10)
  })

  test('is refused where a saved one is', async () => {
    const refused = [
      [{ frequency: 'weekly', time: '07:30' }, 'schedule.weekdays'],
      [{ frequency: 'custom', cron: '* * * * *' }, 'schedule.cron'],
      [{ frequency: 'daily', time: '07:30', timezone: 'Mars/Base' }, 'schedule.timezone'],
    ] as const
    for (const [schedule, path] of refused) {
      const { status, data } = await app.call('reader', 'POST', '/next-runs', schedule)
      expect(status).toBe(400)
      expect(data).toMatchObject({ errors: [{ path }] })
    }
    expect((await app.call('reader', 'POST', '/next-runs', { frequency: 'daily', time: '7' })).status).toBe(
      400,
    )
  })
})

describe('a scheduled run', () => {
  test('is mailed to each recipient, one file for each query, and is in the ledger', async () => {
    app.engine.answer = () => '["a\\"b, c\\nd","17"]\n["=1+1","4"]\n'
    const recipients = [app.people.analyst.email, app.people.admin.email]
    const query = { ...eventsQuery, dimensions: ['events.name'] }
    const { id, updatedAt } = await app.save({
      name: '../Sales: "May"/📈',
      queries: [query, { ...query, limit: 5 }],
      schedule: app.daily({ recipients }),
    })
    await runToday()
    const [run] = await app.runs(id)
    const bytes = 'events.name,events.count\r\n"a""b, c\nd",17\r\n\'=1+1,4\r\n'.length
    expect(run).toEqual({
      id: expect.any(String),
      savedQueryId: id,
      trigger: 'schedule',
      plannedFor: today('08:00'),
      state: 'delivered',
      attempts: 1,
      startedAt: expect.any(String),
      endedAt: expect.any(String),
      rows: 4,
      bytes: 2 * bytes,
      recipients,
      messages: [],
      results: [
        { index: 0, fileName: '-Sales- -May--📈 1.csv', rows: 2, bytes },
        { index: 1, fileName: '-Sales- -May--📈 2.csv', rows: 2, bytes },
      ],
      resultsUntil: expect.any(String),
    })
    const mails = await app.app.takeMails()
    expect(mails.map(({ to }) => to)).toEqual(recipients)
    const [mail] = mails
    expect(mail?.subject).toBe(`../Sales: "May"/📈: results of ${today('08:00').slice(0, 10)}`)
    expect(mail?.text).toContain(`https://millrace.example/v2/statistics/query/${id}`)
    expect(mail?.text).toContain('-Sales- -May--📈 1.csv (2 rows)')
    expect(mail?.text).toContain(`because ${app.people.analyst.email} put your address`)
    const read = createAttachmentReader(app.relational.db)
    const [first] = mail?.attachments ?? []
    expect(mail?.attachments).toHaveLength(2)
    expect(String(await read(first?.source ?? ''))).toBe(
      'events.name,events.count\r\n"a""b, c\nd",17\r\n\'=1+1,4\r\n',
    )
    // A run is no change of the saved query.
    expect(await app.read(id)).toMatchObject({
      updatedAt,
      nextRunAt: expect.not.stringMatching(today('08:00')),
    })
  })

  test('says of a result that it is cut at the limit of its query', async () => {
    app.engine.answer = () => '["a","17"]\n["b","4"]\n'
    const query = { ...eventsQuery, dimensions: ['events.name'] }
    const queries = [
      { ...query, limit: 1 },
      { ...query, limit: 2 },
    ]
    const { id } = await app.save({ name: 'Names', queries, schedule: app.daily() })
    await runToday()
    const [run] = await app.runs(id)
    expect(run).toMatchObject({ state: 'delivered', rows: 3, results: [{ isCut: true }, { rows: 2 }] })
    expect(run?.results[1]).not.toHaveProperty('isCut')
    const [mail] = await app.app.takeMails()
    expect(mail?.text).toContain('Names 1.csv (the first row: its limit leaves the others out)')
    expect(mail?.text).toContain('Names 2.csv (2 rows)')
  })

  test('reads relative ranges as of its planned time, however late it runs', async () => {
    const range = { dimension: 'events.time', dateRange: 'yesterday' }
    await app.save({
      queries: [{ ...eventsQuery, timeDimensions: [range] }],
      schedule: app.daily({ time: '23:59' }),
    })
    await app.advanceTo(today('23:59'))
    await app.loops.planner.plan()
    await app.advance(30 * minute)
    while (await app.loops.worker.runOne());
    const late = JSON.stringify(app.engine.asked[0]?.params)
    const dayOf = (at: number) => new Date(at).toISOString().slice(0, 10)
    const now = app.app.time.clock.now()
    expect(late).toContain(`"${dayOf(now - 2 * day)} 00:00:00.000"`)
    expect(late).toContain(`"${dayOf(now - day)} 00:00:00.000"`)
  })

  test('is written in the language of each reader', async () => {
    await app.relational.pool.query(`update users set language = 'fr' where id = $1`, [app.people.analyst.id])
    await app.save({ schedule: app.daily() })
    await runToday()
    const [mail] = await app.app.takeMails()
    expect(mail?.subject).toBe(`Sales : résultats du ${today('08:00').slice(0, 10)}`)
    await app.relational.pool.query('update users set language = null')
  })

  test('leaves out who may no longer get it, and fails when nobody is left', async () => {
    const leaver = await app.app.person('viewer')
    const { id } = await app.save({
      schedule: app.daily({ recipients: [leaver.email, app.people.admin.email] }),
    })
    const alone = await app.save({ schedule: app.daily({ recipients: [leaver.email] }) })
    await app.relational.pool.query(`update users set status = 'disabled' where id = $1`, [leaver.id])
    await runToday()
    expect((await app.runs(id))[0]).toMatchObject({
      state: 'delivered',
      recipients: [app.people.admin.email],
      reason: expect.stringContaining(`left out: ${leaver.email} is of no active user`),
    })
    expect((await app.runs(alone.id))[0]).toMatchObject({
      state: 'failed',
      reason: expect.stringContaining('no recipient may get its results'),
    })
    expect((await subjects()).toSorted()).toEqual([
      [app.people.admin.email, expect.stringContaining('Sales: results')],
      [app.people.analyst.email, 'Sales: the scheduled run has failed'],
    ])
  })

  test('over the size of a mail comes as links that need a sign-in and Statistics: export, for 7 days', async () => {
    const long = 'x'.repeat(600_000)
    app.engine.answer = () => `["${long}","1"]\n`.repeat(9)
    const { id } = await app.save({
      queries: [{ ...eventsQuery, dimensions: ['events.name'] }],
      schedule: app.daily(),
    })
    await runToday()
    const [run] = await app.runs(id)
    const [mail] = await app.app.takeMails()
    const path = `/${id}/runs/${run?.id}/results/0`
    expect(mail?.attachments).toBeUndefined()
    expect(mail?.text).toContain(`https://millrace.example/v2/statistics/query${path}`)
    const reply = await app.download('analyst', path)
    expect(reply.statusCode).toBe(200)
    expect(reply.headers).toMatchObject({
      'content-type': expect.stringContaining('text/csv'),
      'content-disposition': `attachment; filename="Sales.csv"; filename*=UTF-8''Sales.csv`,
      'content-length': String(run?.bytes),
      'cache-control': 'no-store',
    })
    expect(reply.body).toBe(`events.name,events.count\r\n${`${long},1\r\n`.repeat(9)}`)
    expect((await app.app.app.inject({ url: `/v2/statistics/query${path}` })).statusCode).toBe(401)
    expect((await app.download('reader', path)).statusCode).toBe(403)
    expect((await app.download('stranger', path)).statusCode).toBe(404)
    const other = await app.save()
    expect((await app.download('analyst', path.replace(id, other.id))).json().error_code).toBe(9202)
    expect((await app.download('analyst', path.replace(/0$/, '1'))).json().error_code).toBe(9203)
    expect((await app.download('analyst', path.replace(/0$/, '-1'))).statusCode).toBe(400)
    await app.advance(7 * day)
    expect((await app.download('analyst', path)).json().error_code).toBe(9203)
    await app.loops.sweep()
    expect((await app.relational.pool.query('select 1 from saved_query_results')).rows).toEqual([])
    expect((await app.runs(id)).at(-1)?.resultsUntil).toBeUndefined()
  })

  test('with more than 64 MiB fails at once and keeps none of it', async () => {
    const line = `["${'x'.repeat(1_000_000)}","1"]\n`
    app.engine.answer = () => line.repeat(68)
    const { id } = await app.save({
      queries: [{ ...eventsQuery, dimensions: ['events.name'] }],
      schedule: app.daily(),
    })
    await runToday()
    expect((await app.runs(id))[0]).toMatchObject({
      state: 'failed',
      attempts: 1,
      reason: expect.stringContaining('64 MiB'),
    })
    expect((await app.relational.pool.query('select 1 from saved_query_results')).rows).toEqual([])
  })
})

test('results of a company have a bound, beyond which runs fail with the reason', async () => {
  const { id } = await app.save()
  await app.relational.pool.query(
    `insert into saved_query_runs (id, company_id, saved_query_id, trigger, planned_for, state, results, results_until)
     select lpad(i::text, 24, '0'), $1, $2, 'manual', now(), 'delivered', $3, now() + interval '1 hour'
     from generate_series(1, 320) as i`,
    [
      app.app.companyId,
      id,
      JSON.stringify([{ index: 0, fileName: 'a.csv', rows: 1, bytes: 64 * 1024 * 1024 }]),
    ],
  )
  await app.call('analyst', 'POST', `/${id}/run`)
  await app.work()
  const failed = (await app.runs(id)).find(({ state }) => state === 'failed')
  expect(failed?.reason).toMatch(/may store 21474836480 bytes: 21474836480 are used/)
  await app.advance(hour)
  await app.loops.sweep()
  await app.call('analyst', 'POST', `/${id}/run`)
  await app.work()
  expect((await app.runs(id))[0]?.state).toBe('delivered')
})

describe('run now', () => {
  test('runs beside the schedule with the rights of the user who asks', async () => {
    const { id } = await app.save({}, 'reader')
    expect((await app.call('reader', 'POST', `/${id}/run`)).status).toBe(403)
    expect((await app.call('stranger', 'POST', `/${id}/run`)).status).toBe(404)
    const { status, data } = await app.call('analyst', 'POST', `/${id}/run`)
    expect({ status, data }).toMatchObject({
      status: 200,
      data: { state: 'queued', trigger: 'manual', attempts: 0 },
    })
    expect((await app.call('analyst', 'POST', `/${id}/run`)).error_code).toBe(9204)
    await app.work()
    expect((await app.runs(id))[0]).toMatchObject({
      id: data.id,
      state: 'delivered',
      rows: 1,
      recipients: [],
    })
    expect((await app.download('analyst', `/${id}/runs/${data.id}/results/0`)).body).toBe(
      'events.count\r\n17\r\n',
    )
    expect(await subjects()).toEqual([])
    expect((await app.call('analyst', 'POST', `/${id}/run`)).status).toBe(200)
  })

  test('is mailed in the name of the owner, who has chosen the recipients', async () => {
    const recipients = [app.people.reader.email]
    const { id } = await app.save({ schedule: app.daily({ recipients }) })
    await app.call('admin', 'POST', `/${id}/run`)
    await app.work()
    const [mail] = await app.app.takeMails()
    expect(mail?.text).toContain(`because ${app.people.analyst.email} put your address`)
    expect(mail?.text).toContain('(1 row)')
  })

  test('is bounded by user and hour, since each run may mail its results', async () => {
    const { id } = await app.save({ schedule: app.daily() })
    await app.advance(3_600_000)
    const ask = async () => {
      const reply = await app.call('analyst', 'POST', `/${id}/run`)
      await app.relational.pool.query(
        `update saved_query_runs set state = 'delivered' where state = 'queued'`,
      )
      return reply
    }
    for (let i = 0; i < 30; i++) expect((await ask()).status).toBe(200)
    expect(await ask()).toMatchObject({ status: 429, data: { retryAfter: expect.any(Number) } })
    const kept = await app.relational.pool.query(`select 1 from saved_query_runs where saved_query_id = $1`, [
      id,
    ])
    expect(kept.rows).toHaveLength(30)
    await app.advance(3_600_000)
    expect((await ask()).status).toBe(200)
  })

  test('delivers as the schedule says, and the planned run still comes', async () => {
    const { id } = await app.save({ schedule: app.daily() })
    await app.call('admin', 'POST', `/${id}/run`)
    await app.work()
    await runToday()
    expect((await app.runs(id)).map(({ trigger, state }) => [trigger, state])).toEqual([
      ['schedule', 'delivered'],
      ['manual', 'delivered'],
    ])
    expect(await subjects()).toHaveLength(2)
  })
})

describe('failures', () => {
  const unavailable = () => {
    throw new Error('connect ECONNREFUSED /secret/path')
  }

  test('are tried three times with growing pauses, then the owner is notified once', async () => {
    app.engine.answer = unavailable
    const { id } = await app.save({ schedule: app.daily() })
    await runToday()
    expect((await app.runs(id))[0]).toMatchObject({ state: 'queued', attempts: 1 })
    await app.advance(59_000)
    expect(await app.loops.worker.runOne()).toBe(false)
    await app.advance(1_000)
    expect(await app.loops.worker.runOne()).toBe(true)
    await app.advance(5 * minute)
    expect(await app.loops.worker.runOne()).toBe(true)
    const [run] = await app.runs(id)
    expect(run).toMatchObject({ state: 'failed', attempts: 3 })
    expect(run?.reason).not.toContain('secret')
    expect(await subjects()).toEqual([[app.people.analyst.email, 'Sales: the scheduled run has failed']])
  })

  test('that end in time leave one delivery', async () => {
    app.engine.answer = unavailable
    const { id } = await app.save({ schedule: app.daily() })
    await runToday()
    app.engine.answer = () => '["17"]\n'
    await app.advance(minute)
    await app.work()
    expect((await app.runs(id))[0]).toMatchObject({ state: 'delivered', attempts: 2 })
    expect(await subjects()).toHaveLength(1)
    const { rows } = await app.relational.pool.query('select attempt from saved_query_results')
    expect(rows).toEqual([{ attempt: 2 }])
  })

  test('V06: a member that is gone fails the run at once; five in a row pause the schedule, with a reason and an audit entry', async () => {
    const { id } = await app.save({ schedule: app.daily() })
    await app.relational.pool.query(`update saved_queries set queries = $1`, [
      JSON.stringify([{ ...eventsQuery, measures: ['events.gone'] }]),
    ])
    for (let i = 0; i < 5; i++) {
      await runToday()
      await app.advance(day - 3 * hour)
    }
    expect((await app.call('reader', 'GET', '')).paginationCount).toBe(1)
    const runs = await app.runs(id)
    expect(runs.map(({ state, attempts }) => [state, attempts])).toEqual(Array(5).fill(['failed', 1]))
    const { pausedReason, nextRunAt } = await app.read(id)
    expect(pausedReason).toMatch(/^5 runs in a row have failed, the last one because .*events\.gone/)
    expect(nextRunAt).toBeUndefined()
    expect((await app.app.audit()).filter(({ action }) => action === 'schedule-pause')).toMatchObject([
      { target_id: id, outcome: 'success', details: { reason: pausedReason } },
    ])
    expect((await subjects()).map(([, subject]) => subject)).toEqual([
      'Sales: the scheduled run has failed',
      'Sales: the schedule is paused',
    ])
    // An enabled schedule begins anew.
    const { data } = await app.call('analyst', 'PATCH', `/${id}`, {
      queries: [eventsQuery],
      schedule: app.daily(),
    })
    expect(data).not.toHaveProperty('pausedReason')
    await runToday()
    expect((await app.runs(id))[0]?.state).toBe('delivered')
  })

  test('J06: an owner who has left or lost a permission pauses the schedule; nothing is sent', async () => {
    for (const lost of ['statistics:access', 'statistics:export', 'active'] as const) {
      const owner = await app.app.personWith('statistics:access', 'statistics:export')
      const { id } = await app.save({ schedule: app.daily({ recipients: [app.people.admin.email] }) })
      const { pool } = app.relational
      await pool.query('update saved_queries set owner_id = $1', [owner.id])
      const [resource, action] = lost.split(':')
      await (lost === 'active'
        ? pool.query(`update users set status = 'disabled' where id = $1`, [owner.id])
        : pool.query(
            `delete from role_permissions where resource = $1 and action = $2
               and role_id = (select role_id from users where id = $3)`,
            [resource, action, owner.id],
          ))
      await runToday()
      const reason =
        lost === 'active'
          ? 'its owner is no longer an active user of the company'
          : `its owner no longer has the permission Statistics: ${action}`
      expect(await app.read(id)).toMatchObject({ pausedReason: reason })
      expect(await app.runs(id)).toMatchObject([{ state: 'failed', reason, recipients: [] }])
      expect(app.engine.asked).toEqual([])
      const told = lost === 'active' ? [] : [[owner.email, 'Sales: the schedule is paused']]
      expect(await subjects()).toEqual(told)
      expect((await app.app.audit()).filter((each) => each.action === 'schedule-pause')).toHaveLength(1)
      await pool.query('delete from saved_queries')
      await app.advance(day - 3 * hour)
    }
  })

  test('J06: rights that are lost while the queries run stop the delivery', async () => {
    const owner = await app.app.personWith('statistics:access', 'statistics:export')
    const { id } = await app.save({ schedule: app.daily() })
    const { pool } = app.relational
    await pool.query('update saved_queries set owner_id = $1', [owner.id])
    app.engine.answer = async () => {
      await pool.query(`update users set status = 'disabled' where id = $1`, [owner.id])
      return '["17"]\n'
    }
    await runToday()
    expect((await app.read(id)).pausedReason).toMatch(/no longer an active user/)
    expect(await subjects()).toEqual([])
  })

  test('a schedule that is turned off while its run waits sends nothing, and is no failure', async () => {
    const { id } = await app.save({ schedule: app.daily() })
    await app.advanceTo(today('08:00'))
    await app.loops.planner.plan()
    await app.call('analyst', 'PATCH', `/${id}`, { schedule: {} })
    await app.work()
    expect((await app.runs(id))[0]).toMatchObject({
      state: 'failed',
      reason: expect.stringContaining('turned off'),
    })
    expect(await subjects()).toEqual([])
    expect((await app.read(id)).pausedReason).toBeUndefined()
  })

  test('a saved query that is deleted while it runs sends nothing', async () => {
    const { id } = await app.save({ schedule: app.daily() })
    app.engine.answer = async () => {
      await app.call('analyst', 'DELETE', `/${id}`)
      return '["17"]\n'
    }
    await runToday()
    expect(await subjects()).toEqual([])
  })

  test('a run that the stop of the service interrupts is given back, and no attempt is counted', async () => {
    const { id } = await app.save({ schedule: app.daily() })
    await app.advanceTo(today('08:00'))
    await app.loops.planner.plan()
    app.app.time.advance(10_000)
    const stopping = new AbortController()
    app.engine.answer = () => {
      stopping.abort(new Error('the service stops'))
      return '["17"]\n'
    }
    await app.loops.worker.runOne(stopping.signal)
    expect((await app.runs(id))[0]).toMatchObject({ state: 'queued', attempts: 0 })
    app.engine.answer = () => '["17"]\n'
    await app.work()
    expect((await app.runs(id))[0]).toMatchObject({ state: 'delivered', attempts: 1 })
    expect(await subjects()).toHaveLength(1)
  })
})

describe('J02: a process that was taken for dead', () => {
  test('delivers nothing once another has taken its run over', async () => {
    const { id } = await app.save({ schedule: app.daily() })
    await app.advanceTo(today('08:00'))
    await app.loops.planner.plan()
    app.app.time.advance(9_000)
    const [slow, reached] = [Promise.withResolvers<string>(), Promise.withResolvers<void>()]
    app.engine.answer = () => {
      reached.resolve()
      return slow.promise
    }
    const first = app.loops.worker.runOne()
    await reached.promise
    await app.advance(59_000)
    expect(await app.loops.worker.runOne()).toBe(false)
    await app.advance(1_000)
    app.engine.answer = () => '["2"]\n'
    expect(await app.loops.worker.runOne()).toBe(true)
    const delivered = await app.runs(id)
    expect(delivered).toMatchObject([{ state: 'delivered', attempts: 2 }])
    slow.resolve('["1"]\n')
    await first
    expect(await app.runs(id)).toEqual(delivered)
    expect(await subjects()).toHaveLength(1)
    const result = await app.download('analyst', `/${id}/runs/${delivered[0]?.id}/results/0`)
    expect(result.body).toBe('events.count\r\n2\r\n')
  })

  test('fails the run when each attempt ends that way', async () => {
    const { id } = await app.save({ schedule: app.daily() })
    await app.relational.pool.query(
      `insert into saved_query_runs (id, company_id, saved_query_id, trigger, planned_for, state, attempts, lease_until)
       values ('65f0c0ffee5ca1ab1e0ddba1', $1, $2, 'schedule', now(), 'running', 3, now())`,
      [app.app.companyId, id],
    )
    expect(await app.loops.worker.runOne()).toBe(true)
    expect(await app.runs(id)).toMatchObject([
      { state: 'failed', reason: 'the service ended during every attempt', recipients: [] },
    ])
  })
})

describe('missed times', () => {
  test('J03: after three days one run catches up with the latest, and the others are marked', async () => {
    const { id } = await app.save({
      schedule: app.daily({ frequency: 'custom', time: undefined, cron: '0 * * * *' }),
    })
    await app.advance(3 * day + 30 * minute)
    await app.work()
    const runs = await app.runs(id)
    expect(runs.map(({ state }) => state)).toEqual(['delivered', ...Array(71).fill('missed')])
    expect(runs[0]?.plannedFor).toBe(today('06:00'))
    expect(runs[1]).toMatchObject({
      plannedFor: today('05:00'),
      attempts: 0,
      reason: expect.stringContaining('instead'),
    })
    expect(await subjects()).toHaveLength(1)
  })

  test('J05: a run that takes longer than its interval does not overlap the next one', async () => {
    const { id } = await app.save({
      schedule: app.daily({ frequency: 'custom', time: undefined, cron: '*/5 * * * *' }),
    })
    app.engine.answer = async () => {
      app.app.time.advance(12 * minute)
      expect(await app.loops.planner.plan()).toBe(false)
      return '["17"]\n'
    }
    await app.advance(5 * minute)
    await app.loops.planner.plan()
    app.app.time.advance(9_000)
    await app.loops.worker.runOne()
    app.engine.answer = () => '["17"]\n'
    await app.work()
    expect((await app.runs(id)).map(({ plannedFor, state }) => [plannedFor.slice(11, 16), state])).toEqual([
      ['06:15', 'delivered'],
      ['06:10', 'missed'],
      ['06:05', 'delivered'],
    ])
  })

  test('J04: new rules of a zone move the next run and lose none', async () => {
    const { timezone: _, ...schedule } = app.daily()
    const { id } = await app.save({ schedule })
    const { pool } = app.relational
    await pool.query(`update companies set timezone = 'Africa/Lagos' where id = $1`, [app.app.companyId])
    await runToday()
    expect((await app.runs(id)).map(({ plannedFor }) => plannedFor)).toEqual([
      new Date(Date.parse(today('07:00'))).toISOString(),
    ])
    await pool.query(`update companies set timezone = 'UTC' where id = $1`, [app.app.companyId])
  })

  test('follows another time zone of the company from its next run on', async () => {
    const { id: ofCompany } = await app.save({ schedule: app.daily({ timezone: undefined }) })
    const { id: ownZone } = await app.save({ schedule: app.daily() })
    await runToday()
    const zoneOfCompany = async (timezone: string) => {
      const signedIn = await app.app.auth.signIn(app.people.admin.email, goodPassword)
      const { access_token: token } = signedIn.json()
      const reply = await app.app.auth.call(token, 'PATCH', '/v2/entities/company', { timezone })
      expect(reply.statusCode).toBe(200)
      await app.work()
    }
    const next = async (id: string) => [
      (await app.read(id)).nextRunAt,
      ((await app.call('reader', 'GET', `/${id}/next-runs`)).data as unknown as { at: string }[])[0]?.at,
    ]
    await zoneOfCompany('America/Bogota')
    expect(await next(ofCompany)).toEqual([today('13:00'), today('13:00')])
    const tomorrow = new Date(Date.parse(today('08:00')) + day).toISOString()
    expect(await next(ownZone)).toEqual([tomorrow, tomorrow])
    await app.advanceTo(today('13:00'))
    await app.work()
    expect((await app.runs(ofCompany)).map(({ plannedFor }) => plannedFor)).toEqual([
      today('13:00'),
      today('08:00'),
    ])
    expect(await app.runs(ownZone)).toHaveLength(1)
    await zoneOfCompany('UTC')
  })
})

describe('J07: crowds', () => {
  test('of one company two runs go at once, and another company’s is not behind them', async () => {
    for (let i = 0; i < 6; i++) await app.save({ name: `n${i}`, schedule: app.daily() })
    await app.save(
      { name: 'other', schedule: app.daily({ recipients: [app.people.stranger.email] }) },
      'stranger',
    )
    await app.advanceTo(today('08:00'))
    await app.loops.planner.plan()
    app.app.time.advance(9_000)
    const release = Promise.withResolvers<string>()
    app.engine.answer = () => release.promise
    const working = [1, 2, 3, 4, 5].map(() => app.loops.worker.runOne())
    await expect.poll(() => app.engine.asked.length).toBe(3)
    const { rows } = await app.relational.pool.query(
      `select company_id = $1 as own, count(*)::int from saved_query_runs where state = 'running' group by 1 order by 1`,
      [app.app.companyId],
    )
    expect(rows).toEqual([
      { own: false, count: 1 },
      { own: true, count: 2 },
    ])
    release.resolve('["17"]\n')
    await Promise.all(working)
    await app.work()
    expect(await subjects()).toHaveLength(7)
  })

  test('runs of one minute begin at different seconds, and within ten', async () => {
    for (let i = 0; i < 12; i++) await app.save({ name: `n${i}`, schedule: app.daily() })
    await app.advanceTo(today('08:00'))
    await app.loops.planner.plan()
    const { rows } = await app.relational.pool.query<{ due_at: Date; planned_for: Date }>(
      'select due_at, planned_for from saved_query_runs',
    )
    const delays = rows.map(({ due_at, planned_for }) => due_at.getTime() - planned_for.getTime())
    expect(new Set(delays).size).toBeGreaterThan(6)
    expect(Math.max(...delays)).toBeLessThan(10_000)
  })
})

test('a schedule that can no longer be planned is paused, and the others go on', async () => {
  const broken = await app.save({ schedule: app.daily() })
  const { id } = await app.save({ schedule: app.daily() })
  const { pool } = app.relational
  await pool.query(`update saved_queries set schedule = '{"frequency": "daily", "time": 8}' where id = $1`, [
    broken.id,
  ])
  await app.advanceTo(today('08:00'))
  await app.loops.planner.plan()
  const { rows } = await pool.query('select paused_reason from saved_queries where id = $1', [broken.id])
  expect(rows).toEqual([{ paused_reason: 'the schedule is no longer valid' }])
  await app.advance(2 * minute)
  expect(await app.loops.findDelay()).toBeGreaterThan(110)
  while (await app.loops.worker.runOne());
  expect((await app.runs(id))[0]?.state).toBe('delivered')
  expect(await app.loops.findDelay()).toBe(0)
})

describe('linked accounts', () => {
  async function link(who: 'analyst' | 'reader' = 'analyst'): Promise<string> {
    const url = `https://hooks.example.test:${app.webhooks.port}/inbox`
    const body = { provider: 'webhook', name: 'Warehouse', url, secret: 'Q0m6vS1x-9dTz-4hKw-rB27' }
    const reply = await app.linkAccount(who, body)
    app.webhooks.received.length = 0
    return reply
  }

  test('get a signed message with the results and links', async () => {
    const account = await link()
    const { id } = await app.save({ schedule: app.daily({ recipients: [], linkedAccounts: [account] }) })
    await runToday()
    const [run] = await app.runs(id)
    expect(run).toMatchObject({
      state: 'delivered',
      recipients: [],
      messages: [{ linkedAccountId: account, state: 'sent', attempts: 1 }],
    })
    const [message] = app.webhooks.received
    expect(message?.headers['millrace-signature']).toMatch(/^t=\d+,v1=[0-9a-f]{64}$/)
    const url = `https://millrace.example/v2/statistics/query/${id}/runs/${run?.id}/results/0`
    expect(JSON.parse(message?.body ?? '')).toMatchObject({
      type: 'saved-query-run',
      text: expect.stringContaining(url),
      savedQuery: { id, name: 'Sales' },
      run: { id: run?.id, plannedFor: today('08:00') },
      results: [{ fileName: 'Sales.csv', rows: 1, url, csv: 'events.count\r\n17\r\n' }],
    })
  })

  test('are the owner’s own', async () => {
    const account = await link()
    const schedule = app.daily({ linkedAccounts: [account] })
    const { status, data } = await app.call('admin', 'POST', '/save', {
      name: 'n',
      queries: [eventsQuery],
      schedule,
    })
    expect(status).toBe(400)
    expect(data.errors).toMatchObject([{ path: 'schedule.linkedAccounts.0' }])
    // Who takes the queries over does not take over another's accounts.
    const { id } = await app.save({ schedule })
    await app.call('admin', 'PATCH', `/${id}`, { queries: [eventsQuery] })
    expect((await app.read(id)).schedule).toEqual({ ...schedule, linkedAccounts: [] })
  })

  test('and recipients that a user without Statistics: export has named get nothing of runs by hand', async () => {
    const account = await link('reader')
    const receivers = { recipients: [app.people.reader.email], linkedAccounts: [account] }
    const { id } = await app.save({ schedule: app.daily({ enabled: false, ...receivers }) }, 'reader')
    await app.call('analyst', 'POST', `/${id}/run`)
    await app.work()
    expect((await app.runs(id))[0]).toMatchObject({
      state: 'delivered',
      recipients: [],
      messages: [],
      reason: 'sent to no one: its owner no longer has the permission Statistics: export',
    })
    expect(app.webhooks.received).toEqual([])
    expect(await subjects()).toEqual([])
  })

  test('J06: get nothing once the owner has lost Statistics: export, in no later attempt either', async () => {
    const account = await link()
    const schedule = app.daily({ recipients: [], linkedAccounts: [account] })
    const { id } = await app.save({ schedule })
    app.webhooks.answer = (reply) => void reply.writeHead(500).end()
    await runToday()
    app.webhooks.received.length = 0
    const { rows } = await app.relational.pool.query(
      `delete from role_permissions where action = 'export'
         and role_id = (select role_id from users where email = $1) returning *`,
      [app.people.analyst.email],
    )
    await app.advance(30_000)
    await app.loops.messages.sendOne()
    expect(app.webhooks.received).toEqual([])
    const [lost] = rows
    await app.relational.pool.query(
      'insert into role_permissions (role_id, resource, action) values ($1, $2, $3)',
      [lost.role_id, lost.resource, lost.action],
    )
    expect((await app.runs(id))[0]?.messages).toMatchObject([
      { state: 'failed', attempts: 2, reason: expect.stringMatching(/no longer has the permission/) },
    ])
    expect((await app.read(id)).schedule).toEqual(schedule)
  })

  test('J08: that fail are asked three times more, then left out, and the owner is notified', async () => {
    const account = await link()
    const { id } = await app.save({ schedule: app.daily({ linkedAccounts: [account] }) })
    app.webhooks.answer = (reply) => void reply.writeHead(500).end('internal secrets')
    await runToday()
    for (const pause of [30_000, 300_000, 1_800_000]) {
      expect(await app.loops.messages.sendOne()).toBe(false)
      await app.advance(pause)
      expect(await app.loops.messages.sendOne()).toBe(true)
    }
    const reason = expect.stringMatching(/answered with status 500$/)
    expect((await app.runs(id))[0]?.messages).toEqual([
      { linkedAccountId: account, state: 'failed', attempts: 4, reason },
    ])
    expect((await app.read(id)).schedule.linkedAccounts).toEqual([])
    expect((await subjects()).map(([, subject]) => subject)).toEqual([
      expect.stringContaining('results of'),
      'Sales: a linked account does not take messages',
    ])
  })

  test('that are gone leave a schedule without any other receiver paused', async () => {
    const account = await link()
    const { id } = await app.save({ schedule: app.daily({ recipients: [], linkedAccounts: [account] }) })
    await app.relational.pool.query('delete from linked_accounts')
    await runToday()
    expect((await app.runs(id))[0]?.messages).toMatchObject([{ state: 'failed', attempts: 1 }])
    expect((await app.read(id)).pausedReason).toMatch(/no receiver of its results is left/)
    expect(app.webhooks.received).toEqual([])
  })
})
