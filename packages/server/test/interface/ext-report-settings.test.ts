import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { createReportSettingsStore } from '../../src/features/reports/automatic/report-settings-store.ts'
import { hour } from '../support/fake-time.ts'
import { openReports, type ReportsApp } from '../support/reports.ts'

let app: ReportsApp

beforeAll(async () => {
  app = await openReports()
})

beforeEach(async () => {
  const { pool } = app.relational
  await pool.query('delete from reports')
  await pool.query('delete from report_settings')
  await pool.query(`update companies set timezone = 'UTC', language = 'en'`)
  await pool.query(`update users set status = 'active' where id = $1`, [app.people.admin.id])
  app.engine.answer = () => '["17"]\n'
  app.plain.requests.length = 0
  app.plain.faults = []
  app.plain.quality = 'answered'
  app.plain.beforeQuery = () => undefined
  // Each test begins in the middle of a January.
  const year = new Date(app.app.time.clock.now()).getUTCFullYear() + 1
  await app.advanceTo(`${year}-01-15T12:00:00Z`)
  await app.app.takeMails()
  await app.app.audit()
})

afterAll(() => app.close())

const yearNow = () => new Date(app.app.time.clock.now()).getUTCFullYear()
const patch = (body: unknown, who: 'admin' | 'reader' | 'stranger' = 'admin') =>
  app.call(who, 'PATCH', '/settings', body)

/** The period has ended, and the report of it is made. */
async function endPeriod(instant: string): Promise<void> {
  await app.advanceTo(instant)
  await app.work()
}

describe('the settings of automatic reports', () => {
  test('are the defaults while nothing was set', async () => {
    const { data } = await app.call('reader', 'GET', '/settings')
    const analyses = data.analyses as unknown as Record<string, unknown>
    expect(Object.keys(analyses)).toEqual(['impact', 'revenue', 'engagement', 'retention'])
    expect(analyses.revenue).toEqual({
      enabled: false,
      cadence: 'monthly',
      recipients: [],
      locale: null,
      prompt: null,
      revision: 0,
      defaultPrompt: { templateKey: 'reports.revenue', version: 1, text: expect.stringContaining('revenue') },
    })
  })

  test('are changed in part, with a revision, and recorded without addresses', async () => {
    const first = await app.set('revenue', {
      enabled: true,
      cadence: 'quarterly',
      recipients: [app.people.reader.email.toUpperCase()],
    })
    const nextAt = Date.parse(first.nextAt ?? '') - Date.parse(`${yearNow()}-04-01T00:00:00Z`)
    expect(nextAt).toBeGreaterThanOrEqual(3 * hour)
    expect(nextAt).toBeLessThan(4 * hour)
    expect(first).toMatchObject({
      enabled: true,
      cadence: 'quarterly',
      recipients: [app.people.reader.email],
      revision: 1,
      ownerId: app.people.admin.id,
    })
    const second = await app.set('revenue', { prompt: 'Look at Germany' })
    expect(second).toMatchObject({ cadence: 'quarterly', prompt: 'Look at Germany', revision: 2 })
    expect(second.nextAt).toBe(first.nextAt)
    expect(await app.set('revenue', {})).toMatchObject({ revision: 2 })
    expect(await app.set('revenue', { ...second })).toMatchObject({ revision: 2 })
    expect(await app.set('revenue', { prompt: null })).toMatchObject({ prompt: null, revision: 3 })
    const entries = await app.app.audit()
    expect(entries.map(({ action }) => action)).toEqual(Array(3).fill('report-settings-update'))
    expect(entries[0]?.details).toMatchObject({
      revenue: { changed: ['enabled', 'cadence', 'recipients'], to: { enabled: true, cadence: 'quarterly' } },
    })
    expect(JSON.stringify(entries)).not.toContain(app.people.reader.email)
  })

  test('are all changed or none, and name each receiver that may not be one', async () => {
    const { status, message, data } = await patch({
      analyses: {
        impact: { enabled: true },
        revenue: {
          recipients: [app.people.reader.email, 'eve@elsewhere.example', app.people.stranger.email],
        },
      },
    })
    expect(status).toBe(400)
    expect(message).toContain('analyses.revenue.recipients.1 must be an active user of your company')
    expect((data.errors as unknown as unknown[]).length).toBe(2)
    const read = await app.call('reader', 'GET', '/settings')
    expect(read.data.analyses).toMatchObject({ impact: { enabled: false, revision: 0 } })
    expect(await app.app.audit()).toEqual([])
  })

  test.each([
    [{}],
    [{ analyses: { sales: {} } }],
    [{ analyses: { revenue: { cadence: 'weekly' } } }],
    [{ analyses: { revenue: { enabled: 'true' } } }],
    [{ analyses: { revenue: { recipients: ['a@b.c\r\nBcc: d@e.f'] } } }],
    [{ analyses: { revenue: { recipients: Array.from({ length: 51 }, (_, i) => `a${i}@b.example`) } } }],
    [{ analyses: { revenue: { prompt: 'x'.repeat(2_001) } } }],
    [{ analyses: { revenue: { locale: 'de' } } }],
  ])('refuse %j', async (body) => {
    expect((await patch(body)).status).toBe(400)
  })

  test('belong to one company, and need Company: update, with both rights on statistics where it is enabled', async () => {
    await app.set('revenue', { prompt: 'Ours' })
    const theirs = await app.call('stranger', 'GET', '/settings')
    expect(theirs.data.analyses).toMatchObject({ revenue: { prompt: null } })
    expect((await patch({ analyses: {} }, 'reader')).status).toBe(403)
    const officer = await app.app.personWith('statistics:access', 'company:update')
    const reply = await app.app.auth.call(officer.token, 'PATCH', '/v2/statistics/reports/settings', {
      analyses: { revenue: { enabled: true } },
    })
    expect(reply.statusCode).toBe(403)
    expect(reply.json().message).toContain('Statistics: export')
  })
})

describe('an automatic report', () => {
  test('is made of the period that has ended, and mailed with the text of its summary', async () => {
    const year = yearNow()
    const { settingsId } = await app.set('revenue', {
      enabled: true,
      recipients: [app.people.reader.email, app.people.admin.email],
    })
    await endPeriod(`${year}-02-01T02:59:00Z`)
    expect(await app.list()).toEqual([])
    await endPeriod(`${year}-02-01T05:00:00Z`)
    const [report, ...more] = await app.list()
    expect(more).toEqual([])
    expect(report).toMatchObject({
      createdBy: 'platform',
      requestedBy: { type: 'platform' },
      origin: { type: 'free-form' },
      guidedAnalysis: 'revenue',
      title: 'About revenue',
      automatic: {
        slug: 'revenue',
        cadence: 'monthly',
        period: {
          key: `${year}-01`,
          start: `${year}-01-01T00:00:00.000Z`,
          end: `${year}-02-01T00:00:00.000Z`,
          timezone: 'UTC',
          comparisonWindows: {
            previousPeriod: {
              start: `${year - 1}-12-01T00:00:00.000Z`,
              end: `${year}-01-01T00:00:00.000Z`,
            },
            previousYear: {
              start: `${year - 1}-01-01T00:00:00.000Z`,
              end: `${year - 1}-02-01T00:00:00.000Z`,
            },
          },
        },
        promptSnapshot: {
          templateKey: 'reports.revenue',
          defaultVersion: 1,
          settingsRevision: 1,
          locale: 'en',
          source: 'platform-default',
          text: 'How did revenue develop, and what drove it?',
        },
        settingsId,
        publicationQuality: 'answered',
      },
    })
    const mails = await app.app.takeMails()
    expect(mails.map(({ to }) => to).sort()).toEqual([app.people.reader.email, app.people.admin.email].sort())
    const [mail] = mails
    expect(mail?.subject).toBe(`About revenue: report for ${year}-01`)
    expect(mail?.text).toMatch(/^17\n/)
    expect(mail?.text).toContain(`https://millrace.example/v2/statistics/reports/${report?.id}`)
    expect(mail?.text).toContain(`because ${app.people.admin.email} put your address`)
    // Nothing more happens within the next period.
    await endPeriod(`${year}-02-20T00:00:00Z`)
    expect(await app.list()).toHaveLength(1)
  })

  test('is in the language of its settings, with the company’s own words', async () => {
    const year = yearNow()
    app.plain.quality = 'limited'
    await app.set('retention', {
      enabled: true,
      cadence: 'yearly',
      locale: 'fr',
      prompt: 'Qui revient ?',
      recipients: [app.people.reader.email],
    })
    await endPeriod(`${year + 1}-01-01T05:00:00Z`)
    const [report] = await app.list()
    expect(report?.automatic).toMatchObject({
      period: { key: `${year}` },
      publicationQuality: 'limited',
      promptSnapshot: { source: 'company-custom', text: 'Qui revient ?', locale: 'fr' },
    })
    // The year before is the period before.
    expect(Object.keys(report?.automatic?.period.comparisonWindows ?? {})).toEqual(['previousPeriod'])
    // What can be read of the words as a question is answered beside the analysis.
    const { sections, evidence, usage } = await app.read(report?.id ?? '')
    expect(sections.map(({ kind }) => kind)).toEqual(['summary', 'answer'])
    expect(new Set(sections.map(({ id }) => id)).size).toBe(2)
    expect(new Set(evidence.map(({ id }) => id)).size).toBe(evidence.length)
    expect(usage?.queryCount).toBe(4)
    const [mail] = await app.app.takeMails()
    expect(mail?.subject).toBe(`About retention : rapport ${year}`)
    expect(mail?.text).toContain('Une partie de ce qui était demandé')
    expect(app.plain.requests[0]).toMatchObject({ locale: 'fr', timezone: 'UTC' })
  })

  test('J03: after a stop only the last period is made up for', async () => {
    const year = yearNow()
    await app.set('revenue', { enabled: true })
    await endPeriod(`${year}-06-20T00:00:00Z`)
    const listed = await app.list()
    expect(listed.map(({ automatic }) => automatic?.period.key)).toEqual([`${year}-05`])
  })

  test('J01: is made once, however many processes look', async () => {
    const year = yearNow()
    for (const slug of ['impact', 'revenue', 'engagement', 'retention'] as const) {
      await app.set(slug, { enabled: true, recipients: [app.people.reader.email] })
    }
    await app.advanceTo(`${year}-02-01T05:00:00Z`)
    const { planner, worker } = app.loops
    await Promise.all(Array.from({ length: 6 }, () => planner.plan()))
    await Promise.all(
      Array.from({ length: 6 }, async () => {
        while (await worker.runOne());
      }),
    )
    await app.work()
    expect(await app.list()).toHaveLength(4)
    expect(await app.app.takeMails()).toHaveLength(4)
  })

  test('begins with the period that has not ended, and ends when it is switched off', async () => {
    const year = yearNow()
    await app.set('revenue', { enabled: true })
    expect(await app.set('revenue', { enabled: false })).not.toHaveProperty('nextAt')
    await endPeriod(`${year}-02-01T05:00:00Z`)
    expect(await app.list()).toEqual([])
    // Between the end of a period and its report the period is not made up for.
    await app.advanceTo(`${year}-03-01T01:00:00Z`)
    const { nextAt } = await app.set('revenue', { enabled: true })
    expect(nextAt?.slice(0, 10)).toBe(`${year}-04-01`)
    await app.set('revenue', { cadence: 'quarterly' })
    await endPeriod(`${year}-04-01T05:00:00Z`)
    const [report] = await app.list()
    expect(report?.automatic?.period.key).toBe(`${year}-Q1`)
  })

  test('follows the company into another time zone without a period twice', async () => {
    const year = yearNow()
    await app.set('revenue', { enabled: true })
    await endPeriod(`${year}-02-01T05:00:00Z`)
    for (const timezone of ['Pacific/Auckland', 'America/Los_Angeles']) {
      await app.relational.pool.query('update companies set timezone = $1', [timezone])
      await createReportSettingsStore(app.relational.db).replan(app.app.companyId)
      await app.work()
    }
    expect(await app.list()).toHaveLength(1)
    await endPeriod(`${year}-03-01T12:30:00Z`)
    const [report] = await app.list()
    expect(report?.automatic?.period).toMatchObject({
      key: `${year}-02`,
      timezone: 'America/Los_Angeles',
      start: `${year}-02-01T08:00:00.000Z`,
    })
  })

  test('J06: of an owner without the rights is not made; it pauses, with an audit entry and a mail', async () => {
    const year = yearNow()
    const { settingsId } = await app.set('revenue', { enabled: true, recipients: [app.people.reader.email] })
    await app.app.audit()
    const { pool } = app.relational
    await pool.query(
      `delete from role_permissions where resource = 'statistics' and action = 'export'
         and role_id = (select role_id from users where id = $1)`,
      [app.people.admin.id],
    )
    await endPeriod(`${year}-02-01T05:00:00Z`)
    expect(await app.list()).toEqual([])
    const { data } = await app.call('reader', 'GET', '/settings')
    expect(data.analyses).toMatchObject({
      revenue: {
        enabled: true,
        pausedReason: 'its owner no longer has the permission Statistics: export',
      },
    })
    expect(await app.app.audit()).toEqual([
      expect.objectContaining({ action: 'schedule-pause', target_id: settingsId }),
    ])
    const [mail, ...more] = await app.app.takeMails()
    expect(more).toEqual([])
    expect(mail).toMatchObject({
      to: app.people.admin.email,
      subject: 'Revenue: the automatic report is paused',
    })
    await pool.query(
      `insert into role_permissions (role_id, resource, action) select role_id, 'statistics', 'export' from users
       where id = $1 on conflict do nothing`,
      [app.people.admin.id],
    )
    app.app.cache.forget()
    const again = await app.set('revenue', { enabled: true })
    expect(again.pausedReason).toBeUndefined()
    expect(again.nextAt?.slice(0, 10)).toBe(`${year}-03-01`)
  })

  test('is sent to recipients as they are at that moment', async () => {
    const year = yearNow()
    const leaver = await app.app.personWith('statistics:access')
    await app.set('revenue', { enabled: true, recipients: [leaver.email, app.people.reader.email] })
    await app.relational.pool.query(`update users set status = 'disabled' where id = $1`, [leaver.id])
    await endPeriod(`${year}-02-01T05:00:00Z`)
    expect((await app.app.takeMails()).map(({ to }) => to)).toEqual([app.people.reader.email])
  })

  test('that fails notifies the owner, sends nothing, and can be tried again', async () => {
    const year = yearNow()
    app.plain.beforeQuery = () => Promise.reject(new Error('broken'))
    await app.set('revenue', { enabled: true, recipients: [app.people.reader.email] })
    await endPeriod(`${year}-02-01T05:00:00Z`)
    for (let attempt = 0; attempt < 3; attempt++) {
      app.app.time.advance(200_000)
      await app.work()
    }
    const mails = await app.app.takeMails()
    expect(mails.map(({ to, subject }) => [to, subject])).toEqual([
      [app.people.admin.email, `Revenue: the report for ${year}-01 has failed`],
    ])
    app.plain.beforeQuery = () => undefined
    const [failed] = await app.list()
    await app.act(failed?.id ?? '', 'retry')
    await app.work()
    expect((await app.app.takeMails()).map(({ to }) => to)).toEqual([app.people.reader.email])
  })

  test('made again supersedes the former one, which is archived once the new one is complete', async () => {
    const year = yearNow()
    await app.set('revenue', { enabled: true, recipients: [app.people.reader.email] })
    await endPeriod(`${year}-02-01T05:00:00Z`)
    await app.app.takeMails()
    await app.set('revenue', { prompt: 'Look at Germany', cadence: 'quarterly' })
    const [former] = await app.list()
    const id = former?.id ?? ''
    const made = await app.act(id, 'regenerate', undefined, 'admin')
    expect(made.automatic).toMatchObject({
      cadence: 'monthly',
      supersedesReportId: id,
      period: { key: `${year}-01` },
      promptSnapshot: { text: 'Look at Germany', settingsRevision: 2 },
    })
    expect((await app.list()).map((each) => each.id)).toEqual([made.id, id])
    expect(await app.call('admin', 'POST', `/${id}/regenerate`)).toMatchObject({
      status: 409,
      error_code: 9506,
      data: { id, supersededByReportId: made.id },
    })
    expect(await app.call('admin', 'POST', `/${made.id}/regenerate`)).toMatchObject({ error_code: 9502 })
    await app.work()
    expect((await app.list()).map((each) => each.id)).toEqual([made.id])
    const superseded = await app.read(id)
    expect(superseded).toMatchObject({ archivedAt: expect.any(String), supersededByReportId: made.id })
    expect(superseded.sections).toHaveLength(1)
    const [mail] = await app.app.takeMails()
    expect(mail?.text).toContain('stands in the place of one that you got before')
    // Two at once: one of them.
    const replies = await Promise.all([
      app.call('admin', 'POST', `/${made.id}/regenerate`),
      app.call('admin', 'POST', `/${made.id}/regenerate`),
    ])
    expect(replies.map(({ status }) => status).sort()).toEqual([200, 409])
    const plain = await app.create()
    expect(await app.call('reader', 'POST', `/${plain.id}/regenerate`)).toMatchObject({ error_code: 9505 })
  })

  test('that another one supersedes is not tried again, and what is under way of it is given up', async () => {
    const year = yearNow()
    await app.set('revenue', { enabled: true, recipients: [app.people.reader.email] })
    app.plain.beforeQuery = () => Promise.reject(new Error('broken'))
    await endPeriod(`${year}-02-01T05:00:00Z`)
    for (let attempt = 0; attempt < 3; attempt++) {
      app.app.time.advance(200_000)
      await app.work()
    }
    await app.app.takeMails()
    app.plain.beforeQuery = () => undefined
    const [former] = await app.list()
    const id = former?.id ?? ''
    expect(former?.lastGenerationFailure?.retryable).toBe(true)
    const made = await app.act(id, 'regenerate', undefined, 'admin')
    // Its recipients would get the former report after the one that stands in its place.
    expect(await app.call('reader', 'POST', `/${id}/retry`)).toMatchObject({
      status: 409,
      error_code: 9506,
      data: { id, supersededByReportId: made.id },
    })
    await app.act(id, 'follow-ups', { question: 'revenue by country' })
    await app.work()
    await app.work()
    expect(await app.read(id)).toMatchObject({ archivedAt: expect.any(String), sections: [] })
    expect((await app.read(id)).activeGeneration).toBeUndefined()
    expect((await app.app.takeMails()).length).toBe(1)
  })

  test('is left out where the company has 10,000 reports of which none is archived', async () => {
    const year = yearNow()
    await app.set('revenue', { enabled: true })
    await app.fill(10_000)
    await endPeriod(`${year}-02-01T05:00:00Z`)
    expect((await app.list('?perPage=1')).map(({ automatic }) => automatic)).toEqual([undefined])
    const [report] = await app.list('?perPage=1')
    await app.act(report?.id ?? '', 'archive', undefined, 'admin')
    await endPeriod(`${year}-03-01T05:00:00Z`)
    expect((await app.list('?perPage=1'))[0]?.automatic?.period.key).toBe(`${year}-02`)
  })
})
