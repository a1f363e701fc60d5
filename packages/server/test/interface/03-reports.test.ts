import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { openReports, type ReportsApp } from '../support/reports.ts'

let app: ReportsApp

beforeAll(async () => {
  app = await openReports()
})

beforeEach(async () => {
  await app.relational.pool.query('delete from reports')
})

afterAll(() => app.close())

describe('the list of reports', () => {
  test('has summaries in the success envelope, the newest first, without sections', async () => {
    const first = await app.create({ guidedAnalysis: 'revenue', period: '2026-01' })
    app.app.time.advance(1_000)
    const second = await app.create({ question: 'events of yesterday' })
    await app.work()
    const reply = await app.call('reader', 'GET', '')
    expect(reply).toMatchObject({ status: 200, code: 200, message: 'ok' })
    expect(Object.keys(reply).sort()).toEqual(
      ['code', 'data', 'datetime', 'message', 'program', 'status', 'version'].sort(),
    )
    expect(reply.data).toEqual([
      {
        id: second.id,
        createdBy: app.people.reader.id,
        requestedBy: { type: 'user', userId: app.people.reader.id },
        createdAt: second.createdAt,
        updatedAt: expect.any(String),
        title: 'Answer to events of yesterday',
        origin: { type: 'free-form' },
        sectionCount: 1,
      },
      expect.objectContaining({ id: first.id, title: 'About revenue', guidedAnalysis: 'revenue' }),
    ])
    const ids = async (query: string) =>
      ((await app.call('reader', 'GET', query)).data as unknown as { id: string }[]).map(({ id }) => id)
    expect(await ids('?q=REVENUE')).toEqual([first.id])
    expect(await ids('?q=about_')).toEqual([])
    expect(await ids('?sortBy=title')).toEqual([first.id, second.id])
    expect(await ids('?sortBy=title&sortOrder=desc&perPage=1')).toEqual([second.id])
  })

  test('shows the generation that is under way, and the one that failed last with bounded evidence', async () => {
    const { id } = await app.create({ question: 'events of yesterday' })
    const [waiting] = await app.list()
    expect(waiting).toMatchObject({
      id,
      title: 'events of yesterday',
      sectionCount: 0,
      activeGeneration: {
        id: expect.any(String),
        kind: 'initial',
        status: 'pending',
        startedAt: expect.any(String),
      },
    })
    app.engine.answer = () => {
      throw new Error('broken')
    }
    for (let attempt = 0; attempt < 3; attempt++) {
      await app.work()
      app.app.time.advance(200_000)
    }
    app.engine.answer = () => '["17"]\n'
    const [failed] = await app.list()
    expect(failed?.activeGeneration).toBeUndefined()
    expect(failed?.lastGenerationFailure).toEqual({
      kind: 'initial',
      question: 'events of yesterday',
      evidence: [expect.objectContaining({ state: 'failure', failureCode: expect.any(String), rows: [] })],
      generationId: expect.any(String),
      code: 'no-data',
      message: expect.stringContaining('No query was answered'),
      retryable: true,
      failedAt: expect.any(String),
      requestedBy: { type: 'user', userId: app.people.reader.id },
      usage: expect.objectContaining({ queryCount: 1, agentTurns: 0 }),
    })
  })

  test('S01: includeArchived is true, false or absent; "false" is false', async () => {
    const { id } = await app.create()
    await app.act(id, 'archive')
    const other = await app.create()
    const idsOf = async (search: string) => (await app.list(search)).map((each) => each.id)
    expect(await idsOf('')).toEqual([other.id])
    expect(await idsOf('?includeArchived=false')).toEqual([other.id])
    expect(await idsOf('?includeArchived=true')).toEqual([other.id, id])
    for (const wrong of ['TRUE', '1', 'null', '']) {
      const reply = await app.call('reader', 'GET', `?includeArchived=${wrong}`)
      expect([wrong, reply.status]).toEqual([wrong, 400])
      expect(reply.message).toContain('includeArchived must be true or false')
    }
    const twice = await app.call('reader', 'GET', '?includeArchived=true&includeArchived=true')
    expect(twice).toMatchObject({
      status: 400,
      message: 'includeArchived may be sent once; it is sent 2 times',
    })
    expect((await app.call('reader', 'GET', '?includeArchive=true')).message).toContain('includeArchived')
  })

  test.each([
    ['a prompt snapshot that is a text', 'prompt_snapshot', '"x"'],
    ['comparison windows without windows', 'comparison_windows', '{}'],
  ])('S02: a row with %s is logged and left out, the others come', async (_what, column, broken) => {
    const { id } = await app.create()
    const { pool } = app.relational
    await app.fill(2)
    await pool.query(
      `update reports set slug = 'revenue', cadence = 'monthly', period_key = '2026-01', settings_id = id,
         prompt_snapshot = '{"templateKey":"a","defaultVersion":1,"settingsRevision":1,"locale":"en",
           "source":"platform-default","text":"a"}' where id = $1`,
      [id],
    )
    expect(await app.list()).toHaveLength(3)
    await pool.query(`update reports set ${column} = $2 where id = $1`, [id, broken])
    const listed = await app.list()
    expect(listed).toHaveLength(2)
    expect(listed.map((each) => each.id)).not.toContain(id)
    expect((await app.call('reader', 'GET', `/${id}`)).status).toBe(404)
  })

  test('S02: of very many it gives the newest 500 and says so, and pages give all', async () => {
    await app.fill(1_200)
    const reply = await app.call('reader', 'GET', '')
    expect(reply.data).toHaveLength(500)
    expect(reply.warnings).toEqual([{ path: 'page', message: expect.stringContaining('newest 500') }])
    const titles = new Set<string>()
    for (let page = 1; page <= 12; page++) {
      const { data, ...envelope } = await app.call('reader', 'GET', `?page=${page}&perPage=100`)
      expect(envelope).toMatchObject({ paginationCount: 1_200, paginationPage: page, paginationLimit: 100 })
      for (const { title } of data as unknown as { title: string }[]) titles.add(title)
    }
    expect(titles.size).toBe(1_200)
    expect((await app.call('reader', 'GET', '?page=1')).data).toHaveLength(10)
    for (const wrong of ['page=0', 'perPage=101', 'page=x', 'perPage=-1', 'page=1.5']) {
      expect([wrong, (await app.call('reader', 'GET', `?${wrong}`)).status]).toEqual([wrong, 400])
    }
  })

  test('belongs to one company, and needs Statistics: access', async () => {
    await app.create()
    expect(await app.list('', 'stranger')).toEqual([])
    expect(await app.list('', 'admin')).toHaveLength(1)
    expect((await app.call('outsider', 'GET', '')).status).toBe(403)
  })
})
