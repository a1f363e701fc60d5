import type { Experiment } from '@millrace/contract/resources/experiment.ts'
import type { TagKey } from '@millrace/contract/resources/tag-key.ts'
import type { Workflow } from '@millrace/contract/resources/workflow.ts'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { experimentBody } from '../support/experiments.ts'
import {
  bannerDefinition,
  openWorkflowsApp,
  readingDefinition,
  type WorkflowsApp,
} from '../support/workflows.ts'

/** What becomes of workflows when what they use is deleted, and of what they use while they are published. */

let opened: WorkflowsApp

beforeAll(async () => {
  opened = await openWorkflowsApp()
})

beforeEach(async () => {
  const { pool } = opened.relational
  for (const table of ['workflows', 'experiments', 'tag_keys', 'cohorts'])
    await pool.query(`delete from ${table}`)
})

afterAll(() => opened.close())

const tags = '/v2/statistics/analytics/settings/tags'
const cohorts = '/v2/statistics/cohorts'

async function call<T>(method: 'GET' | 'POST' | 'DELETE', url: string, body?: object) {
  const reply = await opened.app.auth.call(opened.admin.token, method, url, body as never)
  return { ...(reply.json() as { data: T; error_code?: number }), status: reply.statusCode }
}

async function addKey(name: string, values: readonly string[], cardinality = 'single') {
  const body = { definition: { name, cardinality, values: values.map((value) => ({ name: value })) } }
  const { data } = await call<TagKey>('POST', tags, body)
  return { id: data.id, values: data.definition.values.map(({ _id }) => _id) }
}

const tagged = (...pairs: (readonly [string, string | undefined])[]) => {
  const definition = bannerDefinition()
  const own = pairs.map(([tagKeyId, tagValueId]) => ({ tagKeyId, tagValueId }))
  return { ...definition, edges: { e1: { ...definition.edges.e1, tags: own } } }
}

const withCohort = (cohortId: string) => ({
  entrypoints: { zone: { type: 'email', format: 'embed-image' } },
  nodes: {
    member: { type: 'cohort', cohortId },
    yes: { type: 'image', url: 'https://a.example/yes.png' },
    no: { type: 'image', url: 'https://a.example/no.png' },
  },
  edges: {
    e1: { from: 'zone', to: 'member' },
    e2: { from: 'member', to: 'yes', output: 'member' },
    e3: { from: 'member', to: 'no', output: 'default' },
  },
})

const stateOf = async (workflow: Workflow, state: 'draft' | 'live') => {
  const found = (await opened.read(workflow)).versions.find((version) => version.state === state)
  if (!found) throw new Error(`there is no ${state} version`)
  return found
}
const tagsOf = async (workflow: Workflow, state: 'draft' | 'live') => {
  const { definition, analyze } = await stateOf(workflow, state)
  const edge = definition.edges.e1 as { tags: { tagValueId: string }[] }
  return {
    edge: edge.tags.map(({ tagValueId }) => tagValueId),
    branches: analyze.branchTags.map(({ tagValueId }) => tagValueId),
  }
}

describe('a tag value', () => {
  test('that is deleted is taken from the branches of drafts and live versions, and from overrides', async () => {
    const key = await addKey('Season', ['spring', 'summer'])
    const other = await addKey('Audience', ['all'])
    const [spring, summer] = key.values
    const workflow = await opened.published(
      tagged([key.id, spring?.toUpperCase()], [other.id, other.values[0]]),
    )
    const live = await stateOf(workflow, 'live')
    const [branch] = live.analyze.branches
    const draft = await stateOf(workflow, 'draft')
    const branchTags = [
      { tagKeyId: key.id, tagValueId: spring, branchId: branch },
      { tagKeyId: other.id, tagValueId: other.values[0], branchId: branch },
    ]
    await opened.succeed(opened.save(workflow, draft, { analyzeOverrides: { branchTags } }))
    const saved = await stateOf(workflow, 'draft')
    expect(await tagsOf(workflow, 'live')).toEqual({
      edge: [spring?.toUpperCase(), other.values[0]],
      branches: expect.arrayContaining([spring, other.values[0]]),
    })
    expect((await call('DELETE', `${tags}/${key.id}/values/${spring}`)).status).toBe(200)
    const left = { edge: [other.values[0]], branches: [other.values[0]] }
    expect(await tagsOf(workflow, 'live')).toEqual(left)
    expect(await tagsOf(workflow, 'draft')).toEqual(left)
    expect((await stateOf(workflow, 'draft')).analyzeOverrides.branchTags).toEqual(branchTags.slice(1))
    // A client that has read it before is told of it.
    expect(await opened.save(workflow, saved, {})).toMatchObject({ status: 412 })
    expect(await opened.publish(workflow, saved)).toMatchObject({ status: 200 })
    // One that nothing uses changes nothing.
    const before = await opened.read(workflow)
    expect((await call('DELETE', `${tags}/${key.id}/values/${summer}`)).status).toBe(200)
    expect(await opened.read(workflow)).toEqual(before)
  })

  test('that an old version names is not assigned when the version is restored', async () => {
    const key = await addKey('Season', ['spring'])
    const workflow = await opened.published(tagged([key.id, key.values[0]]))
    const first = await stateOf(workflow, 'live')
    await opened.succeed(
      opened.save(workflow, await stateOf(workflow, 'draft'), { definition: bannerDefinition() }),
    )
    await opened.succeed(opened.publish(workflow, await stateOf(workflow, 'draft')))
    await call('DELETE', `${tags}/${key.id}/values/${key.values[0]}`)
    const draft = await opened.succeed(
      opened.call<Workflow['versions'][number]>('POST', `/${workflow.id}/versions/${first.id}/restore`),
    )
    expect(draft.analyze.branchTags).toEqual([])
    expect(await opened.publish(workflow, draft)).toMatchObject({ status: 409, error_code: 3004 })
  })
})

describe('a tag key', () => {
  test('stays while a published workflow uses it, and is taken from drafts otherwise', async () => {
    const key = await addKey('Season', ['spring'])
    const workflow = await opened.published(tagged([key.id, key.values[0]]))
    expect(await call('DELETE', `${tags}/${key.id}`)).toMatchObject({
      status: 409,
      error_code: 9041,
      data: { uses: [{ kind: 'workflow', id: workflow.id, name: workflow.name }] },
    })
    await opened.succeed(opened.act(workflow, 'archive'))
    expect((await call('DELETE', `${tags}/${key.id}`)).status).toBe(200)
    expect(await tagsOf(workflow, 'draft')).toEqual({ edge: [], branches: [] })
    expect((await opened.succeed(opened.act(workflow, 'restore'))).status).toBe('published')
  })
})

test('a branch category that is deleted is taken from the branches, and from overrides', async () => {
  const made = await opened.succeed(
    opened.call<{ id: string }>('POST', '/branch-categories', { name: 'Loyalty' }),
  )
  const other = await opened.succeed(
    opened.call<{ id: string }>('POST', '/branch-categories', { name: 'Welcome' }),
  )
  const definition = bannerDefinition()
  const withCategory = { ...definition, edges: { e1: { ...definition.edges.e1, categoryId: made.id } } }
  const workflow = await opened.published(withCategory)
  const draft = await stateOf(workflow, 'draft')
  const [branch = ''] = draft.analyze.branches
  expect(draft.analyze.categoryIdByBranch).toEqual({ [branch]: made.id })
  const corrected = await opened.succeed(
    opened.save(workflow, draft, { analyzeOverrides: { branchCategoryIds: { [branch]: other.id } } }),
  )
  expect(corrected.analyze.categoryIdByBranch).toEqual({ [branch]: other.id })
  for (const { id } of [made, other]) await opened.succeed(opened.call('DELETE', `/branch-categories/${id}`))
  for (const state of ['draft', 'live'] as const) {
    const { definition: left, analyze, analyzeOverrides } = await stateOf(workflow, state)
    expect(left).toEqual(definition)
    expect(analyze.categoryIdByBranch).toEqual({})
    expect(analyzeOverrides.branchCategoryIds).toEqual({})
  }
  const { rows } = await opened.relational.pool.query('select definition from workflow_publications')
  expect(rows).toEqual([{ definition }])
})

test('a JSON template reaches a published workflow as it was, until the next publish', async () => {
  const template = (value: string) => ({
    name: 'Offer',
    resourceGroupIds: [opened.teamId],
    definition: { title: { type: 'static', value } },
    variables: [],
  })
  const { id } = await opened.succeed(
    opened.call<{ id: string }>('POST', '/json-templates', template('Before')),
  )
  const workflow = await opened.published({
    entrypoints: { zone: { type: 'web', format: 'json' } },
    nodes: { offer: { type: 'json', templateId: id } },
    edges: { e1: { from: 'zone', to: 'offer' } },
  })
  const integration = await opened.succeed(
    opened.call<{ shortId: string }>('POST', `/${workflow.id}/integrations`, { entrypointId: 'zone' }),
  )
  const shown = async () => {
    const { statusCode, body } = await opened.app.auth.app.inject(`/r/${integration.shortId}`)
    return statusCode === 200 ? JSON.parse(body) : statusCode
  }
  expect(await shown()).toEqual({ title: 'Before' })
  await opened.succeed(opened.call('PUT', `/json-templates/${id}`, template('After')))
  expect(await shown()).toEqual({ title: 'Before' })
  await opened.succeed(opened.act(workflow, 'archive'))
  expect(await shown()).toBe(204)
  await opened.succeed(opened.act(workflow, 'restore'))
  expect(await shown()).toEqual({ title: 'Before' })
  await opened.succeed(opened.publish(workflow, await stateOf(workflow, 'draft')))
  expect(await shown()).toEqual({ title: 'After' })
  // The address stays; a copy has none.
  expect((await opened.read(workflow)).integrations).toMatchObject([{ shortId: integration.shortId }])
  expect((await opened.succeed(opened.act(workflow, 'duplicate'))).integrations).toEqual([])
  await opened.succeed(opened.act(workflow, 'archive'))
  expect(await opened.call('DELETE', `/${workflow.id}`)).toMatchObject({ status: 200 })
  expect(await shown()).toBe(404)
})

describe('a cohort', () => {
  const addCohort = async (name = 'Buyers') =>
    (await call<{ id: string }>('POST', cohorts, { name, rule: { event: { events: ['purchase'] } } })).data.id

  test('stays while a published workflow uses it', async () => {
    const cohortId = await addCohort()
    const workflow = await opened.published(withCohort(cohortId))
    expect(await call('DELETE', `${cohorts}/${cohortId}`)).toMatchObject({
      status: 409,
      error_code: 3009,
      data: { id: cohortId, workflows: [{ id: workflow.id, name: workflow.name }] },
    })
    // The next version no longer uses it; the draft that does still keeps nothing.
    const draft = await stateOf(workflow, 'draft')
    await opened.succeed(opened.save(workflow, draft, { definition: bannerDefinition() }))
    await opened.succeed(opened.publish(workflow, draft))
    await opened.succeed(
      opened.save(workflow, await stateOf(workflow, 'draft'), { definition: withCohort(cohortId) }),
    )
    expect((await call('DELETE', `${cohorts}/${cohortId}`)).status).toBe(200)
    const reply = await opened.publish(workflow, await stateOf(workflow, 'draft'))
    expect(reply).toMatchObject({ status: 409, error_code: 3004 })
    expect(JSON.stringify(reply.data)).toContain('member')
  })

  test('that is deleted while a workflow is published with it: one of the two is refused', async () => {
    for (let i = 0; i < 5; i++) {
      const cohortId = await addCohort(`Buyers ${i}`)
      const workflow = await opened.create()
      const draft = await stateOf(workflow, 'draft')
      await opened.succeed(opened.save(workflow, draft, { definition: withCohort(cohortId) }))
      const [published, deleted] = await Promise.all([
        opened.publish(workflow, draft),
        call('DELETE', `${cohorts}/${cohortId}`),
      ])
      expect([published.status, deleted.status].sort()).toEqual([200, 409])
    }
  })

  test('of another company does not exist', async () => {
    const { rows } = await opened.relational.pool.query(
      `insert into cohorts (id, company_id, name, rule) values ($1, $2, 'Theirs', '{"event": {}}') returning id`,
      ['c'.repeat(24), opened.app.other.companyId],
    )
    const workflow = await opened.create()
    const draft = await stateOf(workflow, 'draft')
    await opened.succeed(opened.save(workflow, draft, { definition: withCohort(rows[0].id) }))
    expect(await opened.publish(workflow, draft)).toMatchObject({ status: 409, error_code: 3004 })
  })
})

describe('a datasource', () => {
  const datasources = '/v2/datasources'
  const patch = async (url: string, body: object) => {
    const reply = await opened.app.auth.call(opened.admin.token, 'PATCH', url, body as never)
    return { ...(reply.json() as { data: unknown; error_code?: number }), status: reply.statusCode }
  }

  test('stays with the teams of a published workflow that reads it', async () => {
    const [first, other] = [opened.teamId, await opened.app.team()]
    await opened.app.putInto(opened.admin.id, first, other)
    opened.app.cache.forget()
    const body = { name: 'Shop', resourceGroupIds: [first, other] }
    const { id } = (await call<{ id: string }>('POST', datasources, body)).data
    const workflow = await opened.published(readingDefinition(id))
    const sees = (resourceGroupIds: string[]) => patch(`${datasources}/${id}`, { resourceGroupIds })
    expect(await sees([other])).toMatchObject({
      status: 409,
      error_code: 1026,
      data: { id, workflows: [{ id: workflow.id, name: workflow.name }] },
    })
    expect(await sees([first])).toMatchObject({ status: 200 })
    const path = `/v2/workflows/${workflow.id}`
    expect(await patch(path, { resourceGroupIds: [other] })).toMatchObject({
      status: 409,
      error_code: 3010,
      data: { id: workflow.id, datasources: [{ id, name: 'Shop' }] },
    })
    // With one of its teams the workflow may have others, and an archived one reads nothing.
    expect(await patch(path, { resourceGroupIds: [other, first] })).toMatchObject({ status: 200 })
    expect(await sees([other])).toMatchObject({ status: 200 })
    expect(await patch(path, { resourceGroupIds: [first] })).toMatchObject({ status: 409 })
    await opened.succeed(opened.act(workflow, 'archive'))
    expect(await patch(path, { resourceGroupIds: [first] })).toMatchObject({ status: 200 })
    expect((await opened.succeed(opened.act(workflow, 'restore'))).status).toBe('draft')
  })
})

test('what workflows of other teams use stays, and their names are not told', async () => {
  const { app, admin, teamId } = opened
  const other = await app.team()
  const user = await app.personWith(
    ...['statistics:access', 'statistics:manage', 'workflowSettings:delete', 'datasource:delete'],
  )
  await app.putInto(user.id, other)
  await app.putInto(admin.id, teamId, other)
  app.cache.forget()
  const key = await addKey('Season', ['spring'])
  const rule = { event: { events: ['purchase'] } }
  const cohort = (await call<{ id: string }>('POST', cohorts, { name: 'Buyers', rule })).data
  const shop = { name: 'Shop', resourceGroupIds: [teamId, other] }
  const datasource = (await call<{ id: string }>('POST', '/v2/datasources', shop)).data
  const users: readonly (readonly [string, object])[] = [
    [`${tags}/${key.id}`, tagged([key.id, key.values[0]])],
    [`${cohorts}/${cohort.id}`, withCohort(cohort.id)],
    [`/v2/datasources/${datasource.id}`, readingDefinition(datasource.id)],
  ]
  for (const [url, definition] of users) {
    const { name, id } = await opened.published(definition)
    const refused = async (token: string) => {
      const reply = await app.auth.call(token, 'DELETE', url, undefined as never)
      expect(reply.statusCode, url).toBe(409)
      return reply.body
    }
    expect(await refused(user.token)).not.toContain(name)
    expect(await refused(user.token)).toContain(`"id":"${id}","name":"other teams"`)
    expect(await refused(admin.token)).toContain(name)
  }
})

test('tags are deleted while workflows are saved and published, and neither waits for the other for ever', async () => {
  const keys = await Promise.all([1, 2, 3].map((n) => addKey(`Key ${n}`, ['a', 'b', 'c'], 'multiple')))
  const workflow = await opened.published(
    tagged(...keys.flatMap(({ id, values }) => values.map((value) => [id, value] as const))),
  )
  const work = keys.flatMap(({ id, values }) =>
    values.map((value) => call('DELETE', `${tags}/${id}/values/${value}`)),
  )
  const publishing = [1, 2, 3].map(async () => {
    const draft = await stateOf(workflow, 'draft')
    return opened.publish(workflow, draft)
  })
  const deleted = await Promise.all(work)
  expect(deleted.map(({ status }) => status)).toEqual(deleted.map(() => 200))
  for (const { status } of await Promise.all(publishing)) expect([200, 409]).toContain(status)
  expect(await tagsOf(workflow, 'draft')).toEqual({ edge: [], branches: [] })
  expect(await tagsOf(workflow, 'live')).toEqual({ edge: [], branches: [] })
})

test('a live version is given tags while they are deleted, and names none that is gone', async () => {
  const key = await addKey('Season', ['a', 'b', 'c', 'd', 'e'], 'multiple')
  const workflow = await opened.published(tagged())
  for (const tagValueId of key.values) {
    const live = await stateOf(workflow, 'live')
    const branchTags = [{ tagKeyId: key.id, tagValueId, branchId: live.analyze.branches[0] }]
    const [saved, deleted] = await Promise.all([
      opened.save(workflow, live, { analyzeOverrides: { branchTags } }),
      call('DELETE', `${tags}/${key.id}/values/${tagValueId}`),
    ])
    expect([200, 400]).toContain(saved.status)
    expect(deleted.status).toBe(200)
    expect((await stateOf(workflow, 'live')).analyzeOverrides.branchTags).toEqual([])
  }
})

test('an experiment of a published workflow is known by its variants', async () => {
  const { data } = await call<Experiment>('POST', '/v2/statistics/experiments', experimentBody())
  const definition = {
    entrypoints: { zone: { type: 'email', format: 'embed-image' } },
    nodes: {
      test: { type: 'experiment', experimentId: data._id },
      a: { type: 'image', url: 'https://a.example/a.png' },
      b: { type: 'image', url: 'https://a.example/b.png' },
    },
    edges: {
      e1: { from: 'zone', to: 'test' },
      e2: { from: 'test', to: 'a', output: 'control' },
      e3: { from: 'test', to: 'b', output: 'treatment' },
    },
  }
  const workflow = await opened.create()
  const draft = await stateOf(workflow, 'draft')
  const saved = await opened.succeed(opened.save(workflow, draft, { definition }))
  expect(saved.analyze.branches).toHaveLength(2)
  const { rows } = await opened.relational.pool.query(
    `select kind, resource_id from workflow_references where version_id = $1`,
    [draft.id],
  )
  expect(rows).toEqual([{ kind: 'experiment', resource_id: data._id }])
})
