import { Workflow } from '@millrace/contract/resources/workflow.ts'
import { Compile } from 'typebox/compile'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { newId } from '../../src/platform/ids.ts'
import { openWorkflowsApp, type WorkflowsApp } from '../support/workflows.ts'

let opened: WorkflowsApp

beforeAll(async () => {
  opened = await openWorkflowsApp()
})

beforeEach(async () => {
  await opened.relational.pool.query('delete from workflows')
  await opened.relational.pool.query('delete from idempotency_keys')
  await opened.app.audit()
})

afterAll(() => opened.close())

const body = (fields: object = {}) => ({
  name: 'Welcome banner',
  resourceGroupIds: [opened.teamId],
  ...fields,
})
const count = async (): Promise<number> =>
  (await opened.relational.pool.query('select from workflows')).rowCount ?? 0

describe('a new workflow', () => {
  test('is a draft with one draft version, and is read back as it was answered', async () => {
    const workflow = await opened.create({
      description: 'First visit of the shop',
      hierarchy: ['Shop', 'Banners'],
      hidden: true,
    })
    expect(Compile(Workflow).Check(workflow)).toBe(true)
    expect(workflow).toEqual({
      _id: workflow.id,
      id: expect.stringMatching(/^[0-9a-f]{24}$/),
      companyId: opened.app.companyId,
      name: 'Welcome banner',
      description: 'First visit of the shop',
      createdAt: expect.any(String),
      updatedAt: expect.any(String),
      hierarchy: ['Shop', 'Banners'],
      status: 'draft',
      hidden: true,
      resourceGroupIds: [opened.teamId],
      integrations: [],
      versions: [
        {
          id: expect.stringMatching(/^[0-9a-f]{24}$/),
          number: 1,
          revision: 1,
          createdAt: expect.any(String),
          updatedAt: expect.any(String),
          state: 'draft',
          definition: { nodes: {}, entrypoints: {}, edges: {} },
          analyze: {
            entrypointsByBranches: [],
            branches: [],
            individualizedBranches: [],
            branchesScore: {},
            defaultBranches: [],
            usedDatasourceFields: {},
            usedDatagraphEntityParameters: {},
            branchesInfos: {},
            entrypointsPerDataNodeId: {},
            entrypointsPerPathId: {},
            entrypointTypes: [],
            entrypointFormats: [],
            categoryIdByBranch: {},
            loopWindowByBranch: {},
            branchTags: [],
            outputsForEntrypoint: {},
            datasForEntrypoint: {},
          },
          metadata: {},
          analyzeOverrides: {
            vertexIndividualizedScore: {},
            customVertexNames: [],
            branchCategoryIds: {},
            branchLoopWindows: {},
            branchTags: [],
          },
          lastSavedBy: opened.admin.id,
          complexityScore: 0,
        },
      ],
    })
    expect(await opened.read(workflow)).toEqual(workflow)
    expect(await opened.app.audit()).toMatchObject([
      { action: 'workflow-create', outcome: 'success', target_id: workflow.id, actor_id: opened.admin.id },
    ])
  })

  test('needs a name and teams alone', async () => {
    const workflow = await opened.create()
    expect(workflow).toMatchObject({ description: '', hierarchy: [], hidden: false })
  })

  test('trims its name and the names of its folders', async () => {
    const workflow = await opened.create({ name: '  Banner ', hierarchy: [' Shop '] })
    expect(workflow).toMatchObject({ name: 'Banner', hierarchy: ['Shop'] })
  })

  test('comes with the datasource of displays and clicks, of which a company has one', async () => {
    const rows = async () =>
      (
        await opened.relational.pool.query(
          `select id, company_id, name from datasources where kind = 'workflow_events'`,
        )
      ).rows
    await opened.create()
    const [first] = await rows()
    expect(first).toMatchObject({ company_id: opened.app.companyId, name: 'Workflow events' })
    await opened.create()
    expect(await rows()).toEqual([first])
  })

  test('has a datasource of displays and clicks that is neither paused nor deleted', async () => {
    await opened.create()
    const { rows } = await opened.relational.pool.query(
      `select id from datasources where kind = 'workflow_events' and company_id = $1`,
      [opened.app.companyId],
    )
    const path = `/v2/datasources/${rows[0]?.id}`
    const headers = { authorization: `Bearer ${opened.admin.token}` }
    for (const [method, url] of [
      ['POST', `${path}/pause`],
      ['DELETE', path],
    ] as const) {
      const reply = await opened.app.app.inject({ method, url, headers })
      expect([reply.statusCode, reply.json().error_code]).toEqual([409, 10])
      expect(reply.json().message).toContain('neither paused nor deleted')
    }
    const reply = await opened.app.app.inject({ method: 'GET', url: path, headers })
    expect(reply.json().data.status).not.toBe('paused')
  })

  test('has no address at the collector for its events', async () => {
    await opened.create()
    const { rows } = await opened.relational.pool.query(
      `select id from datasources where kind = 'workflow_events'`,
    )
    const send = (id: string) =>
      opened.app.app.inject({
        method: 'POST',
        url: `/collect/${id}/tracker`,
        payload: { key: opened.app.companyId, name: 'workflow_display', tmpId: 'a' },
      })
    const [own, absent] = [await send(rows[0]?.id), await send(newId())]
    expect([own.statusCode, own.json().error_code]).toEqual([absent.statusCode, absent.json().error_code])
    expect(own.statusCode).toBe(404)
  })
})

describe('docs/faults.md, W01 to W07', () => {
  test.each([
    ['absent', undefined],
    ['empty', ''],
    ['blank', '   '],
    ['too long', 'x'.repeat(201)],
    ['with NUL', 'a\u0000b'],
    ['with a line break', 'a\nb'],
    ['with a lone surrogate', 'a\ud800'],
    ['no text', 7],
  ])('W01: refuses a name that is %s', async (_what, name) => {
    const reply = await opened.call('POST', '', body({ name }))
    expect(reply).toMatchObject({ status: 400, error_code: 1 })
    expect(JSON.stringify(reply.data)).toContain('name')
    expect(await count()).toBe(0)
  })

  test('W01: keeps HTML in a name as it is', async () => {
    const name = '<img src=x onerror=alert(1)>'
    expect(await opened.create({ name })).toMatchObject({ name })
  })

  test('W01: refuses a body of 10 MB before reading it', async () => {
    const reply = await opened.call('POST', '', body({ name: 'x'.repeat(10_000_000) }))
    expect(reply).toMatchObject({ status: 413 })
  })

  test.each([
    ['none', [], 400, 1],
    ['unknown ones', ['f'.repeat(24)], 400, 2052],
    ['what is no identifier', ['teams'], 400, 1],
    ['too many', Array.from({ length: 1000 }, (_, i) => i.toString(16).padStart(24, '0')), 400, 1],
    ['no texts', [1], 400, 1],
    ['no list', 'f'.repeat(24), 400, 1],
  ])('W02: refuses resourceGroupIds with %s', async (_what, resourceGroupIds, status, error_code) => {
    const reply = await opened.call('POST', '', body({ resourceGroupIds }))
    expect(reply).toMatchObject({ status, error_code })
    expect(await count()).toBe(0)
  })

  test('W02: answers a team of another company as unknown, and names a team that is not one’s own', async () => {
    const { teamId, otherTeamId } = opened
    expect(await opened.call('POST', '', body({ resourceGroupIds: [teamId, otherTeamId] }))).toMatchObject({
      status: 400,
      error_code: 2052,
      data: { teamIds: [otherTeamId] },
    })
    const foreign = await opened.app.team()
    expect(await opened.call('POST', '', body({ resourceGroupIds: [teamId, foreign] }))).toMatchObject({
      status: 403,
      error_code: 2053,
      data: { teamIds: [foreign] },
    })
  })

  test('W02: refuses repeated teams, and takes one in upper case', async () => {
    const { teamId } = opened
    expect(await opened.call('POST', '', body({ resourceGroupIds: [teamId, teamId] }))).toMatchObject({
      status: 400,
    })
    const workflow = await opened.create({ resourceGroupIds: [teamId.toUpperCase()] })
    expect(workflow.resourceGroupIds).toEqual([teamId])
  })

  test.each([
    ['10,000 levels', Array.from({ length: 10_000 }, () => 'a')],
    ['numbers', [1]],
    ['levels within levels', [['a']]],
    ['a blank name', [' ']],
    ['a text', 'Shop'],
    ['null', null],
  ])('W03: refuses a hierarchy of %s', async (_what, hierarchy) => {
    expect(await opened.call('POST', '', body({ hierarchy }))).toMatchObject({ status: 400, error_code: 1 })
  })

  test.each(['false', 1, null])('W04: refuses hidden %j', async (hidden) => {
    expect(await opened.call('POST', '', body({ hidden }))).toMatchObject({ status: 400, error_code: 1 })
  })

  test('W05: ignores fields of the server', async () => {
    const workflow = await opened.succeed(
      opened.call(
        'POST',
        '',
        body({
          status: 'published',
          companyId: opened.app.other.companyId,
          versions: [{ state: 'live' }],
          archivedAt: '2026-01-01T00:00:00.000Z',
          id: 'f'.repeat(24),
        }),
      ),
    )
    expect(workflow).toMatchObject({
      status: 'draft',
      companyId: opened.app.companyId,
      versions: [{ state: 'draft', number: 1 }],
    })
    expect(workflow).not.toHaveProperty('archivedAt')
    expect(workflow.id).not.toBe('f'.repeat(24))
  })

  test('W06: two workflows may have the same name', async () => {
    const [one, other] = [await opened.create(), await opened.create()]
    expect(one.name).toBe(other.name)
    expect(one.id).not.toBe(other.id)
  })

  describe('W07 and H27: a request that is sent twice', () => {
    const keyed = (key: string, fields?: object, token?: string) =>
      opened.call('POST', '', body(fields), {
        headers: { 'idempotency-key': key },
        ...(token !== undefined && { token }),
      })

    test('makes one workflow, and gives it again as it is then', async () => {
      const first = await keyed('one')
      expect(first.status).toBe(200)
      const { id } = first.data
      await opened.succeed(opened.call('PATCH', `/${id}`, { name: 'Renamed' }))
      expect((await keyed('one')).data).toMatchObject({ id, name: 'Renamed' })
      expect(await count()).toBe(1)
      const audited = (await opened.app.audit()).filter(({ action }) => action === 'workflow-create')
      expect(audited).toHaveLength(1)
    })

    test('makes one workflow also when both run at once', async () => {
      const replies = await Promise.all([1, 2, 3, 4].map(() => keyed('at-once')))
      expect(replies.map(({ status }) => status)).toEqual([200, 200, 200, 200])
      expect(new Set(replies.map(({ data }) => data.id)).size).toBe(1)
      expect(await count()).toBe(1)
    })

    test('is refused with another body', async () => {
      await keyed('two')
      const reply = await keyed('two', { name: 'Another' })
      expect(reply).toMatchObject({ status: 409, error_code: 10 })
      expect(reply.message).toContain('Idempotency-Key')
      expect(await count()).toBe(1)
    })

    test('makes a workflow for each user, and for each key', async () => {
      const colleague = await opened.app.person('editor')
      const ids = [
        (await keyed('three')).data.id,
        (await keyed('three', {}, colleague.token)).data.id,
        (await keyed('four')).data.id,
      ]
      expect(new Set(ids).size).toBe(3)
    })

    test('that failed holds no key', async () => {
      expect(await keyed('five', { resourceGroupIds: ['f'.repeat(24)] })).toMatchObject({ status: 400 })
      expect(await keyed('five')).toMatchObject({ status: 200 })
    })

    test('is another request after 24 hours', async () => {
      const { id } = (await keyed('six')).data
      await opened.relational.pool.query(
        `update idempotency_keys set created_at = now() - interval '25 hours'`,
      )
      expect((await keyed('six')).data.id).not.toBe(id)
    })

    test('says that what it made is gone', async () => {
      const { id } = (await keyed('seven')).data
      await opened.succeed(opened.call('DELETE', `/${id}`))
      const reply = await keyed('seven')
      expect(reply).toMatchObject({ status: 409, error_code: 10, data: { id } })
      expect(reply.message).toContain('gone')
    })
  })
})

test('a company has so many workflows, without the archived ones', async () => {
  await opened.relational.pool.query(
    `insert into workflows (id, company_id, name, status, archived_at)
     select substr(md5(n::text), 1, 24), $1, 'W', case when n = 1 then 'inactive' else 'draft' end,
       case when n = 1 then now() end
     from generate_series(1, 5000) n`,
    [opened.app.companyId],
  )
  await opened.create()
  expect(await opened.call('POST', '', body())).toMatchObject({
    status: 409,
    error_code: 3008,
    data: { limit: 5000 },
  })
})
