import {
  type Workflow,
  type WorkflowSummary,
  workflowActionsFrom,
} from '@millrace/contract/resources/workflow.ts'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { Person } from '../support/accounts.ts'
import { bannerDefinition, openWorkflowsApp, type WorkflowsApp } from '../support/workflows.ts'

let opened: WorkflowsApp

beforeAll(async () => {
  opened = await openWorkflowsApp()
})

beforeEach(async () => {
  await opened.relational.pool.query('delete from workflows')
  await opened.app.audit()
})

afterAll(() => opened.close())

const nobody = 'f'.repeat(24)
const list = async (query = '', token?: string) =>
  opened.call<WorkflowSummary[]>('GET', query, undefined, token === undefined ? {} : { token })
const names = async (query = '', token?: string) =>
  (await opened.succeed(list(query, token))).map(({ name }) => name)

/** A user of the company with every permission, in a team of their own. */
async function colleague(): Promise<Person & { readonly teamId: string }> {
  const person = await opened.app.person('admin')
  const teamId = await opened.app.team()
  await opened.app.putInto(person.id, teamId)
  return { ...person, teamId }
}

describe('lists', () => {
  test('leave out integrations, versions, archived and hidden workflows', async () => {
    const shown = await opened.create({ name: 'Shown' })
    await opened.create({ name: 'Hidden', hidden: true })
    const archived = await opened.create({ name: 'Archived' })
    await opened.succeed(opened.act(archived, 'archive'))
    const { data, paginationCount } = await list()
    const { integrations: _integrations, versions, ...summary } = shown
    expect(data).toEqual([{ ...summary, draftVersionId: versions[0]?.id }])
    expect(paginationCount).toBe(1)
    expect(await names('?includeHidden=true&sortBy=name')).toEqual(['Hidden', 'Shown'])
    expect(await names('?includeArchived=true&sortBy=name')).toEqual(['Archived', 'Shown'])
    expect(await names('?status=inactive')).toEqual(['Archived'])
  })

  test('find names that contain a text, whatever its case, and take no pattern from it', async () => {
    for (const name of ['Spring 100%', 'Summer', 'spring_b']) await opened.create({ name })
    expect(await names('?name=SPRING&sortBy=name')).toEqual(['Spring 100%', 'spring_b'])
    expect(await names('?name=%25')).toEqual(['Spring 100%'])
    expect(await names('?name=_')).toEqual(['spring_b'])
    expect(await names('?name=%5C')).toEqual([])
  })

  test('show a folder with or without those below it', async () => {
    await opened.create({ name: 'Root' })
    await opened.create({ name: 'A', hierarchy: ['Shop'] })
    await opened.create({ name: 'B', hierarchy: ['Shop', 'Mail'] })
    await opened.create({ name: 'C', hierarchy: ['Shopping'] })
    const all = (query: string) => names(`?sortBy=name&${query}`)
    expect(await all('')).toEqual(['A', 'B', 'C', 'Root'])
    expect(await all('subfolders=false')).toEqual(['Root'])
    expect(await all('hierarchy=Shop')).toEqual(['A', 'B'])
    expect(await all('hierarchy=Shop&subfolders=false')).toEqual(['A'])
    expect(await all('hierarchy=Shop&hierarchy=Mail')).toEqual(['B'])
    expect(await all('hierarchy=Mail')).toEqual([])
  })

  test('name the folders below one, of workflows that are not archived', async () => {
    for (const hierarchy of [['Shop', 'Mail'], ['Shop', 'Banners'], ['Shop', 'Banners'], ['Blog'], []]) {
      await opened.create({ hierarchy })
    }
    const archived = await opened.create({ hierarchy: ['Old'] })
    await opened.succeed(opened.act(archived, 'archive'))
    const folders = async (query = '') => (await opened.call('GET', `/hierarchy/values${query}`)).data
    expect(await folders()).toEqual(['Blog', 'Shop'])
    expect(await folders('?hierarchy=Shop')).toEqual(['Banners', 'Mail'])
    expect(await folders('?hierarchy=Shop&hierarchy=Mail')).toEqual([])
    expect(
      (await opened.call('GET', '/hierarchy/values', undefined, { token: opened.stranger.token })).data,
    ).toEqual([])
  })

  test('are sorted as asked, ties by identifier, and paged without a skip', async () => {
    const made: Workflow[] = []
    for (const name of ['b', 'a', 'C', 'a']) {
      made.push(await opened.create({ name }))
      opened.relational.time.advance(1_000)
    }
    expect(await names('?sortBy=name')).toEqual(['a', 'a', 'b', 'C'])
    expect(await names('?sortBy=name&sortOrder=desc')).toEqual(['C', 'b', 'a', 'a'])
    expect(await names('?sortBy=createdAt')).toEqual(['a', 'C', 'a', 'b'])
    await opened.succeed(opened.call('PATCH', `/${made[0]?.id}`, { description: 'New' }))
    expect((await names())[0]).toBe('b')
    await opened.succeed(opened.act(made[2] as Workflow, 'archive'))
    expect(await names('?includeArchived=true&sortBy=status&sortOrder=desc')).toEqual(['C', 'b', 'a', 'a'])
    const pages = await Promise.all(
      [1, 2, 3].map((page) => names(`?includeArchived=true&sortBy=name&perPage=2&page=${page}`)),
    )
    expect(pages).toEqual([['a', 'a'], ['b', 'C'], []])
  })

  test('show what a team sees', async () => {
    const { teamId } = await colleague()
    await opened.app.putInto(opened.admin.id, opened.teamId, teamId)
    await opened.create({ name: 'Both', resourceGroupIds: [opened.teamId, teamId] })
    await opened.create({ name: 'One' })
    expect(await names(`?resourceGroupId=${teamId.toUpperCase()}`)).toEqual(['Both'])
    expect(await names(`?resourceGroupId=${nobody}`)).toEqual([])
    await opened.app.putInto(opened.admin.id, opened.teamId)
  })

  test.each(['page=0', 'perPage=101', 'sortBy=owner', 'status=live', 'hidden=true', 'subfolders=maybe'])(
    'refuse %s',
    async (query) => {
      expect(await list(`?${query}`)).toMatchObject({ status: 400, error_code: 1 })
    },
  )
})

describe('a workflow', () => {
  test('does not exist for another company, nor for users whom no team of it has', async () => {
    const workflow = await opened.create()
    const version = workflow.versions[0]?.id
    const other = await colleague()
    const calls: [string, string, object?][] = [
      ['GET', ''],
      ['PATCH', '', { name: 'Mine' }],
      ['DELETE', ''],
      ['POST', '/archive'],
      ['POST', '/restore'],
      ['POST', '/duplicate'],
      ['GET', '/versions'],
      ['GET', `/versions/${version}`],
      ['PUT', `/versions/${version}`, { changeDescription: 'x' }],
      ['POST', `/versions/${version}/validate`],
      ['POST', `/versions/${version}/publish`],
      ['POST', `/versions/${version}/restore`],
      ['GET', `/versions/${version}/changes?from=${version}`],
    ]
    for (const token of [opened.stranger.token, other.token]) {
      expect(await names('?includeHidden=true&includeArchived=true', token)).toEqual([])
      for (const [method, path, body] of calls) {
        const reply = await opened.call(method as 'GET', `/${workflow.id}${path}`, body, {
          token,
          headers: { 'if-match': '*' },
        })
        expect([method, path, reply.status, reply.error_code, reply.data]).toEqual([
          method,
          path,
          404,
          3000,
          { id: workflow.id },
        ])
      }
    }
    expect(await opened.read(workflow)).toEqual(workflow)
  })

  test('is not found by the version of another one', async () => {
    const [one, other] = [await opened.create(), await opened.create()]
    const path = `/${one.id}/versions/${other.versions[0]?.id}`
    expect(await opened.call('GET', path)).toMatchObject({ status: 404, error_code: 3001 })
    expect(
      await opened.call('PUT', path, { changeDescription: 'x' }, { headers: { 'if-match': '*' } }),
    ).toMatchObject({ status: 404, error_code: 3001 })
    expect(await opened.call('POST', `${path}/restore`)).toMatchObject({ status: 404, error_code: 3001 })
  })

  test('is changed in part, and what was read can be sent back', async () => {
    const workflow = await opened.create({ description: 'Before', hierarchy: ['Shop'] })
    const patch = (body: object) => opened.call<Workflow>('PATCH', `/${workflow.id}`, body)
    const { data } = await patch({ name: ' After ', hidden: true })
    expect(data).toMatchObject({ name: 'After', hidden: true, description: 'Before', hierarchy: ['Shop'] })
    expect(data.updatedAt > workflow.updatedAt).toBe(true)
    expect((await patch(data)).data).toEqual(data)
    expect((await patch({ hierarchy: [], description: '' })).data).toMatchObject({
      hierarchy: [],
      description: '',
    })
    expect((await opened.app.audit()).map(({ action, details }) => [action, details.changed])).toEqual([
      ['workflow-create', undefined],
      ['workflow-update', ['name', 'hidden']],
      ['workflow-update', ['description', 'hierarchy']],
    ])
  })

  test('is given to teams: those that are added need membership, those that see it may stay', async () => {
    const other = await colleague()
    const workflow = await opened.create()
    const give = (resourceGroupIds: string[], token?: string) =>
      opened.call<Workflow>('PATCH', `/${workflow.id}`, { resourceGroupIds }, token ? { token } : {})
    expect(await give([opened.teamId, other.teamId])).toMatchObject({ status: 403, error_code: 2053 })
    expect(await give([opened.otherTeamId])).toMatchObject({ status: 400, error_code: 2052 })
    expect(await give([])).toMatchObject({ status: 400 })
    await opened.app.putInto(opened.admin.id, opened.teamId, other.teamId)
    expect((await give([opened.teamId, other.teamId])).data.resourceGroupIds).toEqual(
      [opened.teamId, other.teamId].sort(),
    )
    await opened.app.putInto(opened.admin.id, opened.teamId)
    // The colleague keeps a team of which they are no member, and takes it away.
    expect(await give([opened.teamId, other.teamId], other.token)).toMatchObject({ status: 200 })
    expect(await give([other.teamId], other.token)).toMatchObject({ status: 200 })
    expect(await opened.call('GET', `/${workflow.id}`)).toMatchObject({ status: 404 })
  })

  test('keeps the teams that see it from being deleted', async () => {
    const { teamId } = await colleague()
    const { admin } = opened
    await opened.app.putInto(admin.id, opened.teamId, teamId)
    const workflow = await opened.create({ resourceGroupIds: [teamId] })
    const remove = () => opened.app.call(admin.token, 'DELETE', `/teams/${teamId}`)
    const { rows } = await opened.relational.pool.query(
      'select user_id from team_members where team_id = $1',
      [teamId],
    )
    for (const { user_id } of rows) await opened.app.putInto(user_id, opened.teamId)
    await opened.app.putInto(admin.id, opened.teamId, teamId)
    expect(await remove()).toMatchObject({ status: 409, error_code: 2074, data: { resources: 1 } })
    await opened.succeed(opened.call('PATCH', `/${workflow.id}`, { resourceGroupIds: [opened.teamId] }))
    expect(await remove()).toMatchObject({ status: 200 })
    expect((await opened.read(workflow)).resourceGroupIds).toEqual([opened.teamId])
  })

  test('has a variable profile of the company, or none', async () => {
    const workflow = await opened.create()
    const reply = await opened.call('PATCH', `/${workflow.id}`, { variableProfileId: nobody })
    expect(reply).toMatchObject({ status: 400, error_code: 1 })
    expect(reply.message).toContain('variableProfileId')
    expect(await opened.call('PATCH', `/${workflow.id}`, { variableProfileId: null })).toMatchObject({
      status: 200,
    })
  })

  test('is created with its variable profile, and not with one of another company', async () => {
    const made = (options: object = {}) =>
      opened.succeed(
        opened.call<{ id: string }>('POST', '/variable-profiles', { name: 'Tool', parameters: [] }, options),
      )
    const profile = await made()
    const workflow = await opened.create({ variableProfileId: profile.id.toUpperCase() })
    expect(workflow.variableProfileId).toBe(profile.id)
    expect(await opened.create({ variableProfileId: null })).not.toHaveProperty('variableProfileId')
    const foreign = await made({ token: opened.stranger.token })
    const body = { name: 'Banner', resourceGroupIds: [opened.teamId], variableProfileId: foreign.id }
    const reply = await opened.call('POST', '', body)
    expect([reply.status, reply.error_code, reply.message]).toEqual([
      400,
      1,
      'variableProfileId must be a variable profile of your company, or null',
    ])
  })
})

describe('the life of a workflow', () => {
  /** A workflow in each standing. */
  const standings = {
    draft: () => opened.create(),
    published: () => opened.published(),
    async inactive() {
      const workflow = await opened.create()
      return opened.succeed(opened.act(workflow, 'archive'))
    },
    async error() {
      const workflow = await opened.create()
      await opened.relational.pool.query(`update workflows set status = 'error' where id = $1`, [workflow.id])
      return workflow
    },
  }

  const call = (workflow: Workflow, action: string) => {
    if (action === 'delete') return opened.call('DELETE', `/${workflow.id}`)
    if (action !== 'publish') return opened.act(workflow, action)
    const draft = workflow.versions.find(({ state }) => state === 'draft')
    return opened.publish(workflow, { id: draft?.id ?? '' })
  }

  test.each(
    Object.keys(standings).flatMap((status) =>
      ['publish', 'archive', 'restore', 'delete'].map((action) => [status, action] as const),
    ),
  )('%s: %s is answered as the table of the contract says', async (status, action) => {
    const workflow = await standings[status as keyof typeof standings]()
    const isAllowed = workflowActionsFrom(status as Workflow['status']).includes(action as 'publish')
    const reply = await call(workflow, action)
    if (isAllowed) {
      // An empty draft is refused for what it holds, not for its status.
      expect([200, 409]).toContain(reply.status)
      expect(reply.error_code).not.toBe(3003)
      return
    }
    expect(reply).toMatchObject({
      status: 409,
      error_code: 3003,
      data: { id: workflow.id, action, from: status, allowed: workflowActionsFrom(status as 'draft') },
    })
    expect((await opened.read(workflow)).status).toBe(status)
  })

  test('a published one that is archived serves nothing, and serves again when it is restored', async () => {
    const workflow = await opened.published()
    const { shortId } = await opened.succeed(
      opened.call<{ shortId: string }>('POST', `/${workflow.id}/integrations`, { entrypointId: 'zone' }),
    )
    const served = async () => {
      const { statusCode, headers } = await opened.app.auth.app.inject(`/r/${shortId}`)
      return [statusCode, headers.location]
    }
    const banner = [302, 'https://shop.example/banner.png']
    expect(await served()).toEqual(banner)
    const archived = await opened.succeed(opened.act(workflow, 'archive'))
    expect(archived).toMatchObject({ status: 'inactive', archivedAt: expect.any(String) })
    // An empty image.
    expect(await served()).toEqual([200, undefined])
    const restored = await opened.succeed(opened.act(workflow, 'restore'))
    expect(restored.status).toBe('published')
    expect(restored).not.toHaveProperty('archivedAt')
    expect(await served()).toEqual(banner)
  })

  test('one whose live version no longer validates is restored as a draft', async () => {
    const workflow = await opened.published()
    const live = workflow.versions.find(({ state }) => state === 'live')
    await opened.succeed(opened.act(workflow, 'archive'))
    await opened.relational.pool.query(
      `update workflow_versions set definition = '{"nodes":{},"entrypoints":{},"edges":{}}' where id = $1`,
      [live?.id],
    )
    const restored = await opened.succeed(opened.act(workflow, 'restore'))
    expect(restored.status).toBe('draft')
    expect(restored.versions.map(({ state }) => state)).toEqual(['draft', 'inactive'])
    // It has a past, so it is archived before it is deleted.
    expect(await opened.call('DELETE', `/${workflow.id}`)).toMatchObject({
      status: 409,
      error_code: 3003,
      data: { allowed: ['publish', 'archive'] },
    })
    await opened.succeed(opened.act(workflow, 'archive'))
    expect(await opened.call('DELETE', `/${workflow.id}`)).toMatchObject({ status: 200 })
  })

  test('deleting takes its versions with it', async () => {
    const workflow = await opened.published()
    await opened.succeed(opened.act(workflow, 'archive'))
    expect(await opened.call('DELETE', `/${workflow.id}`)).toMatchObject({ status: 200, data: {} })
    expect(await opened.call('GET', `/${workflow.id}`)).toMatchObject({ status: 404 })
    for (const table of [
      'workflow_versions',
      'workflow_publications',
      'workflow_references',
      'workflow_teams',
    ])
      expect((await opened.relational.pool.query(`select from ${table}`)).rowCount).toBe(0)
    const actions = (await opened.app.audit()).map(({ action }) => action)
    expect(actions).toEqual([
      'workflow-create',
      'workflow-version-save',
      'workflow-version-publish',
      'workflow-archive',
      'workflow-delete',
    ])
  })

  test('a copy is a draft of the live version for those teams that the user is in', async () => {
    const { teamId } = await colleague()
    const workflow = await opened.published()
    const draft = await opened.draftOf(workflow)
    await opened.succeed(
      opened.save(workflow, draft, { definition: bannerDefinition('https://a.example/2.png') }),
    )
    await opened.app.putInto(opened.admin.id, opened.teamId, teamId)
    await opened.succeed(
      opened.call('PATCH', `/${workflow.id}`, {
        name: 'x'.repeat(199),
        hierarchy: ['Shop'],
        hidden: true,
        resourceGroupIds: [opened.teamId, teamId],
      }),
    )
    await opened.app.putInto(opened.admin.id, opened.teamId)
    const copy = await opened.succeed(opened.act(workflow, 'duplicate'))
    expect(copy).toMatchObject({
      status: 'draft',
      name: `Copy of ${'x'.repeat(192)}`,
      hierarchy: ['Shop'],
      hidden: true,
      resourceGroupIds: [opened.teamId],
      versions: [{ state: 'draft', number: 1, revision: 1, definition: bannerDefinition() }],
    })
    expect(copy.id).not.toBe(workflow.id)
    expect(copy.versions[0]?.analyze).toEqual(
      (await opened.read(workflow)).versions.find(({ state }) => state === 'live')?.analyze,
    )
    expect(await opened.publish(copy, copy.versions[0] as { id: string })).toMatchObject({ status: 200 })
  })

  test('a copy of one that was never published has the content of its draft', async () => {
    const workflow = await opened.create()
    const draft = await opened.draftOf(workflow)
    await opened.succeed(opened.save(workflow, draft, { definition: bannerDefinition(), metadata: { a: 1 } }))
    const copy = await opened.succeed(opened.act(workflow, 'duplicate'))
    expect(copy.versions).toMatchObject([{ definition: bannerDefinition(), metadata: { a: 1 } }])
  })
})
