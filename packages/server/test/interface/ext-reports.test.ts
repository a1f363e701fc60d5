import type { EvidenceCheck, Report } from '@millrace/contract/resources/report.ts'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { createGenerationStore } from '../../src/features/reports/generations/generation-store.ts'
import { newId } from '../../src/platform/ids.ts'
import { hour } from '../support/fake-time.ts'
import { openReports, type ReportsApp } from '../support/reports.ts'

let app: ReportsApp

beforeAll(async () => {
  app = await openReports()
  await app.advanceTo('2027-03-10T09:30:00Z')
})

beforeEach(async () => {
  await app.relational.pool.query('delete from reports')
  await app.relational.pool.query('delete from report_settings')
  await app.app.takeMails()
  await app.app.audit()
  app.engine.answer = () => '["17"]\n'
  app.engine.asked.length = 0
  app.plain.asked.length = 0
  app.plain.requests.length = 0
  app.plain.faults = []
  app.plain.quality = 'answered'
  app.plain.beforeQuery = () => undefined
  // The hour in which a user starts 30 generations at most.
  await app.advance(hour)
})

afterAll(() => app.close())

const none = 'f'.repeat(24)
const refusal = async (call: ReturnType<ReportsApp['call']>) => {
  const { status, error_code, message } = await call
  return { status, error_code, message }
}

describe('making a report', () => {
  test('answers at once, and the sections come with the evidence that they refer to', async () => {
    const made = await app.create({ guidedAnalysis: 'revenue', period: ['2027-02-01', '2027-02-28'] })
    expect(made).toMatchObject({
      sectionCount: 0,
      sections: [],
      evidence: [],
      progress: 0,
      locale: 'en',
      timezone: 'UTC',
      activeGeneration: { kind: 'initial', status: 'pending' },
      period: {
        start: '2027-02-01T00:00:00.000Z',
        end: '2027-03-01T00:00:00.000Z',
        comparisonWindows: {
          previousPeriod: { start: '2027-01-01T00:00:00.000Z', end: '2027-02-01T00:00:00.000Z' },
        },
      },
    })
    await app.work()
    const read = await app.read(made.id)
    expect(read.activeGeneration).toBeUndefined()
    expect(read.progress).toBeUndefined()
    expect(read).toMatchObject({ title: 'About revenue', publicationQuality: 'answered', sectionCount: 1 })
    expect(read.usage).toMatchObject({ queryCount: 3 })
    expect(read.evidence.map(({ query }) => query.measures[0])).toEqual([
      'events.count',
      'events.people',
      'events.sessions',
    ])
    expect(read.evidence[0]).toMatchObject({
      rows: [{ 'events.count': { value: 17 } }],
      sources: [{ service: 'statistics', queryLayer: 'cube', members: ['events.count'] }],
      state: 'success',
      rowCount: 1,
      embeddedRowCount: 1,
      resultHash: expect.stringMatching(/^[0-9a-f]{64}$/),
    })
    const [figure] = read.sections[0]?.paragraphs[0]?.figures ?? []
    expect(figure?.cells[0]?.evidenceId).toBe(read.evidence[0]?.id)
    // Events reach back to the year before, which is compared too.
    expect(read.period?.comparisonWindows.previousYear).toEqual({
      start: '2026-02-01T00:00:00.000Z',
      end: '2026-03-01T00:00:00.000Z',
    })
    expect(await app.app.audit()).toEqual([
      expect.objectContaining({ action: 'report-create', outcome: 'success', target_id: made.id }),
    ])
  })

  test('leaves out the year before where events do not reach back to it', async () => {
    app.engine.answer = () => '["0"]\n'
    const { id } = await app.create({ guidedAnalysis: 'revenue', period: '2027-02' })
    await app.work()
    expect((await app.read(id)).period?.comparisonWindows.previousYear).toBeUndefined()
  })

  test.each([
    [undefined, '2027-02-10T00:00:00.000Z', '2027-03-10T00:00:00.000Z'],
    ['this month', '2027-03-01T00:00:00.000Z', '2027-03-10T00:00:00.000Z'],
    ['today', '2027-03-10T00:00:00.000Z', '2027-03-11T00:00:00.000Z'],
    ['2026', '2026-01-01T00:00:00.000Z', '2027-01-01T00:00:00.000Z'],
  ])('of the period %s is about what has happened', async (period, start, end) => {
    const made = await app.create({ guidedAnalysis: 'impact', ...(period && { period }) })
    expect(made.period).toMatchObject({ start, end })
  })

  test('of a month that is not over compares it with as many days of the month before, asked for in any way', async () => {
    const compared = [
      { start: '2027-03-01T00:00:00.000Z', end: '2027-03-10T00:00:00.000Z' },
      { start: '2027-02-01T00:00:00.000Z', end: '2027-02-10T00:00:00.000Z' },
      { start: '2026-03-01T00:00:00.000Z', end: '2026-03-10T00:00:00.000Z' },
    ]
    for (const period of ['this month', '2027-03', 'Month to date', ['2027-03-01', '2027-03-31']]) {
      const made = await app.create({ guidedAnalysis: 'revenue', period })
      expect([made.period, made.period?.comparisonWindows.previousPeriod]).toMatchObject(compared.slice(0, 2))
      await app.work()
      const { period: told } = await app.read(made.id)
      const windows = [told, told?.comparisonWindows.previousPeriod, told?.comparisonWindows.previousYear]
      expect(windows).toMatchObject(compared)
    }
    // The generator knows that the month goes on.
    expect(app.plain.requests.at(-1)?.period.end).toBe('2027-04-01T00:00:00.000Z')
  })

  test.each<[Record<string, unknown>, string]>([
    [{}, 'one of the three'],
    [{ question: 'a', guidedAnalysis: 'revenue' }, 'one of the three'],
    [{ question: ' \n' }, 'question must not be blank'],
    [{ question: '' }, 'question'],
    [{ question: 'x'.repeat(2_001) }, 'question'],
    [{ question: 'a\u0000b' }, 'question'],
    [{ question: 'a', period: 'today' }, 'period has a meaning beside guidedAnalysis only'],
    [{ guidedAnalysis: 'sales' }, 'guidedAnalysis must be one of'],
    [{ guidedAnalysis: 'revenue', period: 'once' }, 'period must be a range of dates'],
    [{ guidedAnalysis: 'revenue', period: '2027-02-30' }, 'period must be a range of dates'],
    [{ guidedAnalysis: 'revenue', period: 'from 2026-01-01' }, 'first and a last day'],
    [{ guidedAnalysis: 'revenue', period: 'next year' }, 'must not begin after today'],
    [{ guidedAnalysis: 'revenue', period: ['2000-01-01', '2027-01-01'] }, 'at most 732 days'],
    [{ guidedAnalysis: 'revenue', locale: 'de' }, 'locale must be one of'],
    [{ dashboardPath: 'known' }, 'dashboardTitle and dashboardPath must be given together'],
    [{ dashboardTitle: 'Sales' }, 'one of the three'],
    [{ guidedAnalysis: 'revenue', createdBy: none }, 'createdBy is not known'],
  ])('refuses %j', async (body, message) => {
    const reply = await app.call('reader', 'POST', '', body)
    expect(reply.status).toBe(400)
    expect(reply.message).toContain(message)
    expect(await app.list()).toEqual([])
  })

  test('of a dashboard that is not there is refused as its reading is', async () => {
    expect(
      await refusal(app.call('reader', 'POST', '', { dashboardPath: 'gone', dashboardTitle: 'Sales' })),
    ).toMatchObject({ status: 404, error_code: 9200 })
    const made = await app.create({ dashboardPath: 'known', dashboardTitle: 'Sales' })
    expect(made.origin).toEqual({ type: 'dashboard', dashboardPath: 'known', dashboardTitle: 'Sales' })
    await app.work()
    expect(await app.read(made.id)).toMatchObject({ title: 'Sales', sectionCount: 1 })
  })

  test('happens 30 times an hour for a user, on every process together', async () => {
    for (let i = 0; i < 30; i++) await app.create()
    const reply = await app.call('reader', 'POST', '', { guidedAnalysis: 'revenue' })
    expect(reply).toMatchObject({ status: 429, data: { retryAfter: expect.any(Number) } })
    expect((await app.call('admin', 'POST', '', { guidedAnalysis: 'revenue' })).status).toBe(200)
    await app.advance(hour)
    await app.create()
  })

  test('deletes the report that was archived first where there are 10,000, or is refused', async () => {
    const { pool } = app.relational
    await app.fill(10_000)
    expect(await refusal(app.call('reader', 'POST', '', { guidedAnalysis: 'revenue' }))).toMatchObject({
      status: 409,
      error_code: 9507,
    })
    const { rows } = await pool.query<{ id: string }>('select id from reports order by id limit 2')
    const [first, second] = rows.map((row) => row.id)
    await app.act(second ?? '', 'archive', undefined, 'admin')
    app.app.time.advance(1_000)
    await app.act(first ?? '', 'archive', undefined, 'admin')
    await app.create()
    expect((await app.call('reader', 'GET', `/${second}`)).status).toBe(404)
    expect((await app.call('reader', 'GET', `/${first}`)).status).toBe(200)
  })
})

describe('a report of another company, or none', () => {
  test.each<['GET' | 'POST', string, unknown?]>([
    ['GET', ''],
    ['POST', '/follow-ups', { question: 'and why?' }],
    ['POST', '/retry'],
    ['POST', '/regenerate'],
    ['POST', '/archive'],
    ['GET', `/evidence/${none}/verify`],
  ])('answers %s %s with 404', async (method, suffix, body) => {
    const { id } = await app.create()
    const foreign = await app.call('stranger', method, `/${id}${suffix}`, body)
    expect(foreign).toMatchObject({ status: 404, error_code: 9500, data: { id } })
    const absent = await app.call('reader', method, `/${none}${suffix}`, body)
    expect(absent).toMatchObject({ status: 404, error_code: 9500 })
    expect((await app.call('reader', method, `/1${suffix}`, body)).status).toBe(400)
    expect((await app.call('outsider', method, `/${id}${suffix}`, body)).status).toBe(403)
  })
})

describe('follow-ups', () => {
  test('add sections and evidence at the end, with the question', async () => {
    const { id } = await app.create()
    await app.work()
    const asked = await app.act(id, 'follow-ups', { question: ' how many events? ' })
    expect(asked.activeGeneration).toMatchObject({ kind: 'follow-up', status: 'pending' })
    expect(asked.sectionCount).toBe(1)
    await app.work()
    const read = await app.read(id)
    expect(read.sectionCount).toBe(2)
    expect(read.sections.map(({ kind, question }) => [kind, question])).toEqual([
      ['summary', undefined],
      ['answer', 'how many events?'],
    ])
    expect(read.evidence).toHaveLength(4)
    expect(read.title).toBe('About revenue')
    expect(read.usage?.queryCount).toBe(4)
  })

  test('wait for each other: one generation of a report at a time', async () => {
    const { id } = await app.create()
    const follow = () => refusal(app.call('reader', 'POST', `/${id}/follow-ups`, { question: 'why?' }))
    expect(await follow()).toMatchObject({ status: 409, error_code: 9502 })
    await app.work()
    const replies = await Promise.all([follow(), follow(), follow()])
    expect(replies.map(({ status }) => status).sort()).toEqual([200, 409, 409])
  })

  test('are 50 at most', async () => {
    const { id } = await app.create()
    await app.work()
    await app.relational.pool.query(
      `insert into report_generations (id, company_id, report_id, kind, question, requested_type, state)
       select substr(md5($1::text || n), 1, 24), company_id, id, 'follow-up', 'a', 'platform', 'done'
       from reports, generate_series(1, 50) n where id = $1`,
      [id],
    )
    expect(
      await refusal(app.call('reader', 'POST', `/${id}/follow-ups`, { question: 'why?' })),
    ).toMatchObject({ status: 409, error_code: 9508 })
  })

  test('that cannot be read fail with the reason, and the report stays', async () => {
    const { id } = await app.create()
    await app.work()
    await app.act(id, 'follow-ups', { question: 'unreadable' })
    await app.work()
    const read = await app.read(id)
    expect(read.sections).toHaveLength(1)
    expect(read.lastGenerationFailure).toMatchObject({
      kind: 'follow-up',
      question: 'unreadable',
      code: 'refused',
      retryable: false,
    })
    expect(await refusal(app.call('reader', 'POST', `/${id}/retry`))).toMatchObject({ error_code: 9503 })
  })
})

describe('a generation that fails', () => {
  const failThrice = async () => {
    for (let attempt = 0; attempt < 3; attempt++) {
      await app.work()
      app.app.time.advance(200_000)
    }
  }

  test('is tried three times, and may be tried again by hand where that may help', async () => {
    app.plain.beforeQuery = () => Promise.reject(new Error('broken'))
    const { id } = await app.create()
    await failThrice()
    expect(app.plain.requests).toHaveLength(3)
    const failed = await app.read(id)
    expect(failed.lastGenerationFailure).toMatchObject({ code: 'internal', retryable: true })
    expect(failed.lastGenerationFailure?.message).not.toContain('broken')
    app.plain.beforeQuery = () => undefined
    const retried = await app.act(id, 'retry', undefined, 'admin')
    expect(retried.activeGeneration).toMatchObject({ kind: 'initial', status: 'pending' })
    expect(await refusal(app.call('reader', 'POST', `/${id}/retry`))).toMatchObject({ error_code: 9502 })
    await app.work()
    const read = await app.read(id)
    expect(read.lastGenerationFailure).toBeUndefined()
    expect(read.sections).toHaveLength(1)
    expect(await refusal(app.call('reader', 'POST', `/${id}/retry`))).toMatchObject({ error_code: 9503 })
  })

  test('goes on with the evidence that an attempt has stored', async () => {
    let isDown = true
    app.plain.beforeQuery = (index) => (isDown && index === 2 ? Promise.reject(new Error('down')) : undefined)
    const { id } = await app.create()
    await app.work()
    isDown = false
    app.app.time.advance(60_000)
    await app.work()
    expect(app.plain.asked).toEqual(['events.count', 'events.people', 'events.sessions'])
    expect((await app.read(id)).evidence).toHaveLength(3)
  })

  test('publishes nothing that the checker refuses', async () => {
    app.plain.faults = ['"18" is no cell']
    const { id } = await app.create()
    await app.work()
    const read = await app.read(id)
    expect(read).toMatchObject({ sections: [], evidence: [], sectionCount: 0 })
    expect(read.lastGenerationFailure).toMatchObject({ code: 'unproven', retryable: false })
  })

  test('J06: of a user who is no longer active, or lost Statistics: access, makes nothing', async () => {
    const leaver = await app.app.personWith('statistics:access')
    app.app.cache.forget()
    const reply = await app.app.auth.call(leaver.token, 'POST', '/v2/statistics/reports', {
      guidedAnalysis: 'revenue',
    })
    const { id } = reply.json().data
    await app.relational.pool.query(`update users set status = 'disabled' where id = $1`, [leaver.id])
    await app.work()
    expect(app.plain.requests).toHaveLength(0)
    expect((await app.read(id)).lastGenerationFailure).toMatchObject({
      code: 'rights-lost',
      message: 'Who asked for it is no longer an active user of the company',
      retryable: false,
    })
  })

  test('shows a bounded part of its evidence', async () => {
    app.engine.answer = () => '["1234567890123"]\n'.repeat(400)
    app.plain.faults = ['no']
    const { id } = await app.create()
    await app.work()
    const { lastGenerationFailure } = await app.read(id)
    const shown = JSON.stringify(lastGenerationFailure?.evidence)
    expect(lastGenerationFailure?.evidence.length).toBeGreaterThan(0)
    expect(shown.length).toBeLessThan(10_000)
  })

  test('ends where the report would hold more than 16 MiB', async () => {
    const { id } = await app.create()
    await app.work()
    await app.relational.pool.query('update report_evidence set bytes = 6000000 where report_id = $1', [id])
    await app.act(id, 'follow-ups', { question: 'more?' })
    await app.work()
    expect((await app.read(id)).lastGenerationFailure).toMatchObject({ code: 'too-large', retryable: false })
  })
})

test('generations of a company do not wait for all that another one has queued', async () => {
  for (let i = 0; i < 6; i++) await app.create()
  const other = await app.create(undefined, 'stranger')
  const take = () =>
    app.relational.transaction(async (tx) => {
      const taken = await createGenerationStore(tx).take(60, 2)
      return taken?.companyId
    })
  expect(await take()).toBe(app.app.companyId)
  expect(await take()).toBe(app.app.other.companyId)
  expect(await take()).toBe(app.app.companyId)
  // Two of each at most.
  expect(await take()).toBeUndefined()
  expect((await app.read(other.id, 'stranger')).activeGeneration?.status).toBe('running')
})

describe('archiving', () => {
  test('takes a report from the list, keeps it readable, and ends what is under way', async () => {
    const { id } = await app.create()
    await app.app.audit()
    let archived: Report | undefined
    app.plain.beforeQuery = async (index) => {
      if (index === 1) archived = await app.act(id, 'archive')
    }
    await app.work()
    expect(archived?.archivedAt).toEqual(expect.any(String))
    expect(archived?.lastGenerationFailure).toMatchObject({ code: 'archived', retryable: false })
    expect(await app.list()).toEqual([])
    const read = await app.read(id)
    expect(read).toMatchObject({ sections: [], evidence: [], archivedAt: archived?.archivedAt })
    expect(await app.act(id, 'archive')).toMatchObject({ archivedAt: archived?.archivedAt })
    expect((await app.app.audit()).map(({ action }) => action)).toEqual(['report-archive'])
    for (const deed of ['follow-ups', 'retry']) {
      const body = deed === 'retry' ? undefined : { question: 'why?' }
      expect(await refusal(app.call('reader', 'POST', `/${id}/${deed}`, body))).toMatchObject({
        status: 409,
        error_code: 9504,
      })
    }
  })
})

describe('evidence', () => {
  const verify = (id: string, evidenceId = '') =>
    app.call('reader', 'GET', `/${id}/evidence/${evidenceId}/verify`) as unknown as Promise<{
      status: number
      error_code: number
      data: EvidenceCheck
    }>

  test('has the same hash when its query is run again on unchanged data, and another one otherwise', async () => {
    const { id } = await app.create()
    await app.work()
    const [evidence] = (await app.read(id)).evidence
    const same = await verify(id, evidence?.id)
    expect(same.data).toEqual({
      evidenceId: evidence?.id,
      matches: true,
      resultHash: evidence?.resultHash,
      presentHash: evidence?.resultHash,
      rowCount: 1,
      checkedAt: expect.any(String),
    })
    app.engine.answer = () => '["18"]\n'
    const other = await verify(id, evidence?.id)
    expect(other.data).toMatchObject({ matches: false, presentHash: expect.stringMatching(/^[0-9a-f]{64}$/) })
    expect(other.data.presentHash).not.toBe(evidence?.resultHash)
    app.engine.answer = () => {
      throw new Error('down')
    }
    const failed = await verify(id, evidence?.id)
    expect(failed.data).toMatchObject({ matches: false, failureMessage: expect.any(String) })
    expect(failed.data.presentHash).toBeUndefined()
    expect(await verify(id, newId())).toMatchObject({ status: 404, error_code: 9501 })
  })

  test('of one report is not that of another', async () => {
    const { id } = await app.create()
    await app.work()
    const [evidence] = (await app.read(id)).evidence
    const other = await app.create()
    expect(await verify(other.id, evidence?.id)).toMatchObject({ status: 404, error_code: 9501 })
  })

  test('holds 500 rows of a longer result, whose hash is of all', async () => {
    app.engine.answer = () => '["17"]\n'.repeat(700)
    const { id } = await app.create()
    await app.work()
    const [evidence] = (await app.read(id)).evidence
    expect(evidence).toMatchObject({ rowCount: 700, embeddedRowCount: 500, state: 'warning' })
    expect(evidence?.rows).toHaveLength(500)
    expect(evidence?.warning).toContain('500 of 700')
    app.engine.answer = () => `${'["17"]\n'.repeat(699)}["18"]\n`
    expect((await verify(id, evidence?.id)).data.matches).toBe(false)
  })
})
