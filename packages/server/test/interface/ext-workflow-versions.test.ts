import type { Workflow } from '@millrace/contract/resources/workflow.ts'
import type { WorkflowVersion } from '@millrace/contract/resources/workflow-version.ts'
import type {
  WorkflowChanges,
  WorkflowValidation,
  WorkflowVersionSummary,
} from '@millrace/contract/resources/workflow-version-save.ts'
import pg from 'pg'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { validateDefinition } from '../../src/features/personalisation/definition/validate-definition.ts'
import { bannerDefinition, openWorkflowsApp, type WorkflowsApp } from '../support/workflows.ts'

let opened: WorkflowsApp
/** What validation of a definition throws. */
let broken: Error | undefined

beforeAll(async () => {
  opened = await openWorkflowsApp({
    async validateDefinition(...asked) {
      if (broken) throw broken
      return validateDefinition(...asked)
    },
  })
})

beforeEach(async () => {
  broken = undefined
  await opened.relational.pool.query('delete from workflows')
  await opened.app.audit()
})

afterAll(() => opened.close())

const empty = { nodes: {}, entrypoints: {}, edges: {} }
const versionOf = async (workflow: Workflow, state: WorkflowVersion['state']) => {
  const found = (await opened.read(workflow)).versions.find((version) => version.state === state)
  if (!found) throw new Error(`there is no ${state} version`)
  return found
}
const readVersion = (workflow: Workflow, { id }: { id: string }) =>
  opened.call<WorkflowVersion>('GET', `/${workflow.id}/versions/${id}`)
const list = (workflow: Workflow, query = '') =>
  opened.call<WorkflowVersionSummary[]>('GET', `/${workflow.id}/versions${query}`)
const validate = async (workflow: Workflow, { id }: { id: string }) =>
  opened.succeed(opened.call<WorkflowValidation>('POST', `/${workflow.id}/versions/${id}/validate`))
const restore = (workflow: Workflow, { id }: { id: string }, headers = {}) =>
  opened.call<WorkflowVersion>('POST', `/${workflow.id}/versions/${id}/restore`, undefined, { headers })
const changes = async (workflow: Workflow, to: { id: string }, from: { id: string }) =>
  opened.succeed(
    opened.call<WorkflowChanges>('GET', `/${workflow.id}/versions/${to.id}/changes?from=${from.id}`),
  )

describe('saving a draft', () => {
  test('replaces what the body has and leaves the rest', async () => {
    const workflow = await opened.create()
    const draft = await opened.draftOf(workflow)
    const definition = bannerDefinition()
    const saved = await opened.save(workflow, draft, { definition, metadata: { zoom: 2 } })
    expect(saved).toMatchObject({ status: 200, headers: { etag: '"2"' } })
    expect(saved.data).toMatchObject({
      id: draft.id,
      revision: 2,
      state: 'draft',
      definition,
      metadata: { zoom: 2 },
      lastSavedBy: opened.admin.id,
      analyze: { entrypointTypes: ['email'], entrypointFormats: ['embed-image'] },
    })
    expect(saved.data.analyze.branches).toHaveLength(1)
    expect(saved.data.complexityScore).toBeGreaterThan(0)
    const again = await opened.save(workflow, saved.data, { changeDescription: 'First banner' })
    expect(again.data).toMatchObject({
      revision: 3,
      definition,
      metadata: { zoom: 2 },
      changeDescription: 'First banner',
      analyze: saved.data.analyze,
    })
    const read = await readVersion(workflow, draft)
    expect([read.data, read.headers.etag]).toEqual([again.data, '"3"'])
    expect((await opened.read(workflow)).updatedAt > workflow.updatedAt).toBe(true)
    // What was read is sent back as a whole.
    expect((await opened.save(workflow, read.data, read.data)).data).toEqual({
      ...read.data,
      revision: 4,
      updatedAt: expect.any(String),
    })
  })

  test('keeps any graph, with the order of its parts, and analyses what is sound of it', async () => {
    const workflow = await opened.create()
    const definition = {
      entrypoints: { zone: { type: 'email', format: 'embed-image' }, z: { type: 'pigeon' } },
      nodes: { zz: { type: 'image', url: 'https://a.example/b.png' }, b: 7, a: { type: 'image' } },
      edges: { second: { from: 'zone', to: 'zz' }, first: { from: 'zone' }, x: null },
    }
    const draft = await opened.draftOf(workflow)
    const saved = await opened.succeed(opened.save(workflow, draft, { definition }))
    expect(JSON.stringify(saved.definition)).toBe(JSON.stringify(definition))
    expect(saved.analyze.branches).toHaveLength(1)
    const { valid, faults } = await validate(workflow, draft)
    expect(valid).toBe(false)
    expect(faults.map(({ path }) => path).sort()).toEqual([
      'edges.first.to',
      'edges.x',
      'entrypoints.z.format',
      'entrypoints.z.type',
      'nodes.a.url',
      'nodes.b',
    ])
    expect(await readVersion(workflow, draft)).toMatchObject({ data: saved })
  })

  test('of a cycle is taken, has no branches and cannot be published', async () => {
    const workflow = await opened.create()
    const definition = {
      entrypoints: { zone: { type: 'email', format: 'embed-image' } },
      nodes: { a: { type: 'context' }, b: { type: 'context' } },
      edges: { e1: { from: 'zone', to: 'a' }, e2: { from: 'a', to: 'b' }, e3: { from: 'b', to: 'a' } },
    }
    const draft = await opened.draftOf(workflow)
    const saved = await opened.succeed(opened.save(workflow, draft, { definition }))
    expect(saved.analyze.branches).toEqual([])
    const reply = await opened.publish(workflow, draft)
    expect(reply).toMatchObject({ status: 409, error_code: 3004, data: { id: draft.id } })
  })

  test('needs If-Match, and is refused when another save came first, which names who and when', async () => {
    const workflow = await opened.create()
    const draft = await opened.draftOf(workflow)
    const path = `/${workflow.id}/versions/${draft.id}`
    expect(await opened.call('PUT', path, { metadata: { a: 1 } })).toMatchObject({
      status: 428,
      error_code: 3007,
      data: { id: draft.id },
    })
    const editor = await opened.app.person('editor')
    const other = await opened.succeed(
      opened.call<WorkflowVersion>(
        'PUT',
        path,
        { metadata: { by: 'editor' } },
        { token: editor.token, headers: { 'if-match': '"1"' } },
      ),
    )
    const late = await opened.save(workflow, draft, { metadata: { by: 'admin' } })
    expect(late).toMatchObject({
      status: 412,
      error_code: 3006,
      data: { id: draft.id, revision: 2, lastSavedBy: editor.id, updatedAt: other.updatedAt },
    })
    expect(late.message).toContain(editor.email)
    expect(late.message).toContain(other.updatedAt)
    for (const [tag, status] of [
      ['W/"1"', 412],
      ['"1", "3"', 412],
      ['"abc"', 412],
      ['2', 400],
      ['"2', 400],
      ['"2" "3"', 400],
      ['', 400],
    ] as const) {
      const reply = await opened.call('PUT', path, {}, { headers: { 'if-match': tag } })
      expect([tag, reply.status]).toEqual([tag, status])
      if (status === 400) expect(reply.message).toMatch(/^if-match must be an ETag in its quotes, as "7"/)
    }
    expect((await readVersion(workflow, draft)).data).toEqual(other)
    // A proxy that compresses replies makes their tags weak.
    for (const tag of ['"1", "2"', 'W/"3"', '*']) {
      const reply = await opened.call('PUT', path, {}, { headers: { 'if-match': tag } })
      expect([tag, reply.status]).toEqual([tag, 200])
    }
  })

  test('names no user where who saved it is gone', async () => {
    const workflow = await opened.create()
    const draft = await opened.draftOf(workflow)
    await opened.relational.pool.query(`update workflow_versions set revision = 9, last_saved_by = null`)
    expect(await opened.save(workflow, draft, {})).toMatchObject({
      status: 412,
      data: { revision: 9, lastSavedBy: null },
    })
  })

  test('of two saves at once one wins', async () => {
    const workflow = await opened.create()
    const draft = await opened.draftOf(workflow)
    const replies = await Promise.all(
      [1, 2, 3, 4].map((by) => opened.save(workflow, draft, { metadata: { by } })),
    )
    expect(replies.map(({ status }) => status).sort()).toEqual([200, 412, 412, 412])
    const won = replies.findIndex(({ status }) => status === 200)
    expect((await readVersion(workflow, draft)).data).toMatchObject({
      revision: 2,
      metadata: { by: won + 1 },
    })
  })

  test('takes as many edges as a definition may have, and no larger one', async () => {
    const workflow = await opened.create()
    const draft = await opened.draftOf(workflow)
    const edges = (count: number) =>
      Object.fromEntries(Array.from({ length: count }, (_, i) => [`e${i}`, { from: 'a', to: 'b' }]))
    const saved = await opened.save(workflow, draft, { definition: { ...empty, edges: edges(2_000) } })
    expect(saved.status).toBe(200)
    const refused = [
      { definition: { ...empty, edges: edges(2_001) } },
      { definition: { ...empty, nodes: { a: { type: 'html', html: 'x'.repeat(1_000_000) } } } },
      { definition: { nodes: {}, entrypoints: {} } },
      { definition: { ...empty, extra: {} } },
      { metadata: { text: 'x'.repeat(100_000) } },
      { changeDescription: 'x'.repeat(2_001) },
      { analyzeOverrides: { customVertexNames: [{ vertexId: 'a', name: '' }] } },
      { unknown: 1 },
    ]
    for (const body of refused) {
      const reply = await opened.save(workflow, saved.data, body)
      expect([400, Object.keys(body)]).toEqual([reply.status, Object.keys(body)])
    }
    expect((await opened.save(workflow, saved.data, { metadata: 'x'.repeat(4_000_000) })).status).toBe(413)
    expect((await readVersion(workflow, draft)).data.revision).toBe(2)
  })

  test('refuses overrides with tags that cannot be assigned and with unknown categories', async () => {
    const workflow = await opened.create()
    const draft = await opened.draftOf(workflow)
    const id = 'f'.repeat(24)
    for (const analyzeOverrides of [
      { branchTags: [{ tagKeyId: id, tagValueId: id, branchId: 'a' }] },
      { branchCategoryIds: { a: id } },
    ]) {
      const reply = await opened.save(workflow, draft, { analyzeOverrides })
      expect(reply).toMatchObject({ status: 400, error_code: 1 })
      expect(reply.message).toContain('analyzeOverrides.branch')
    }
  })
})

describe('publishing', () => {
  test('makes the draft live, keeps the former one and begins another draft', async () => {
    const workflow = await opened.create()
    const first = await opened.draftOf(workflow)
    await opened.succeed(
      opened.save(workflow, first, {
        definition: bannerDefinition(),
        changeDescription: 'First',
        metadata: { a: 1 },
      }),
    )
    const reply = await opened.publish(workflow, first)
    expect(reply).toMatchObject({ status: 200, headers: { etag: `"${reply.data.revision}"` } })
    expect(reply.data).toMatchObject({
      id: first.id,
      number: 1,
      state: 'live',
      publishedAt: expect.any(String),
      changeDescription: 'First',
    })
    const published = await opened.read(workflow)
    expect(published).toMatchObject({
      status: 'published',
      versions: [
        { number: 2, state: 'draft', revision: 1, definition: bannerDefinition(), metadata: { a: 1 } },
        { number: 1, state: 'live' },
      ],
    })
    expect(published.versions[0]).not.toHaveProperty('changeDescription')
    expect(published.versions[0]?.analyze).toEqual(published.versions[1]?.analyze)

    const second = await opened.draftOf(workflow)
    await opened.succeed(
      opened.save(workflow, second, { definition: bannerDefinition('https://a.example/2.png') }),
    )
    await opened.succeed(opened.publish(workflow, second))
    const { data } = await list(workflow)
    expect(data.map(({ number, state }) => [number, state])).toEqual([
      [3, 'draft'],
      [2, 'live'],
      [1, 'inactive'],
    ])
    expect((await readVersion(workflow, first)).data.definition).toEqual(bannerDefinition())
    const { rows } = await opened.relational.pool.query(
      `select p.version_id from workflow_publications p join workflows w on w.published_version_id = p.version_id`,
    )
    expect(rows).toEqual([{ version_id: second.id }])
  })

  test('a draft with faults changes nothing and names each', async () => {
    const workflow = await opened.published()
    const draft = await opened.draftOf(workflow)
    const definition = { ...bannerDefinition(), edges: {} }
    await opened.succeed(opened.save(workflow, draft, { definition }))
    const before = await opened.read(workflow)
    const { valid, faults } = await validate(workflow, draft)
    expect(valid).toBe(false)
    expect(faults.length).toBeGreaterThan(0)
    const reply = await opened.publish(workflow, draft)
    expect(reply).toMatchObject({ status: 409, error_code: 3004, data: { id: draft.id, faults } })
    expect(reply.message).toContain(faults[0]?.message)
    expect(await opened.read(workflow)).toEqual(before)
  })

  test('a part with several faults is named with each of them, and publishing names the same', async () => {
    const workflow = await opened.create()
    const draft = await opened.draftOf(workflow)
    const definition = bannerDefinition()
    const [id = ''] = Object.keys(definition.nodes)
    const nodes = { ...definition.nodes, [id]: { type: 'image', url: 7, name: '', colour: 'red' } }
    await opened.succeed(opened.save(workflow, draft, { definition: { ...definition, nodes } }))
    const { faults } = await validate(workflow, draft)
    expect(faults.map(({ path, nodeId, rule }) => [path, nodeId, rule])).toEqual([
      [`nodes.${id}.colour`, id, 'shape'],
      [`nodes.${id}.name`, id, 'shape'],
      [`nodes.${id}.url`, id, 'shape'],
    ])
    const reply = await opened.publish(workflow, draft)
    expect(reply).toMatchObject({ status: 409, error_code: 3004, data: { id: draft.id, faults } })
    expect(reply.message).toMatch(/, and 2 more$/)
  })

  test('only a draft is published', async () => {
    const workflow = await opened.published()
    const live = await versionOf(workflow, 'live')
    const draft = await opened.draftOf(workflow)
    expect(await opened.publish(workflow, live)).toMatchObject({
      status: 409,
      error_code: 3005,
      data: { id: live.id, state: 'live', draftVersionId: draft.id },
    })
  })

  test('of two at once one wins', async () => {
    const workflow = await opened.create()
    const draft = await opened.draftOf(workflow)
    await opened.succeed(opened.save(workflow, draft, { definition: bannerDefinition() }))
    const replies = await Promise.all([1, 2, 3].map(() => opened.publish(workflow, draft)))
    expect(replies.map(({ status }) => status).sort()).toEqual([200, 409, 409])
    expect((await list(workflow)).data.map(({ state }) => state)).toEqual(['draft', 'live'])
  })

  test('publishes what the caller has seen, where it says so', async () => {
    const workflow = await opened.create()
    const draft = await opened.draftOf(workflow)
    await opened.succeed(opened.save(workflow, draft, { definition: bannerDefinition() }))
    expect(await opened.publish(workflow, draft, { 'if-match': '"1"' })).toMatchObject({
      status: 412,
      error_code: 3006,
    })
    expect(await opened.publish(workflow, draft, { 'if-match': '"2"' })).toMatchObject({ status: 200 })
  })

  test('while drafts are saved publishes one of them as a whole', async () => {
    const workflow = await opened.create()
    const draft = await opened.draftOf(workflow)
    const first = await opened.succeed(opened.save(workflow, draft, { definition: bannerDefinition() }))
    const url = 'https://a.example/other.png'
    const [saved, published] = await Promise.all([
      opened.save(workflow, first, { definition: bannerDefinition(url) }),
      opened.publish(workflow, draft),
    ])
    expect(published.status).toBe(200)
    // Saved before it was published, or else refused: a live version has no other definition.
    const expected = saved.status === 200 ? bannerDefinition(url) : bannerDefinition()
    expect([200, 409, 412]).toContain(saved.status)
    expect((await versionOf(workflow, 'live')).definition).toEqual(expected)
  })

  test('a failure of the service leaves the status error, and what is published as it was', async () => {
    const workflow = await opened.create()
    const draft = await opened.draftOf(workflow)
    await opened.succeed(opened.save(workflow, draft, { definition: bannerDefinition() }))
    broken = new Error('the validation broke')
    expect(await opened.publish(workflow, draft)).toMatchObject({ status: 500 })
    expect((await opened.read(workflow)).status).toBe('error')
    broken = undefined
    await opened.succeed(opened.publish(workflow, draft))
    broken = new Error('the validation broke')
    expect(await opened.publish(workflow, await opened.draftOf(workflow))).toMatchObject({ status: 500 })
    expect((await opened.read(workflow)).status).toBe('published')
  })
})

describe('a version that was published', () => {
  test('keeps its definition; its overrides and metadata are saved, and its analysis follows', async () => {
    const workflow = await opened.published()
    const live = await versionOf(workflow, 'live')
    const draft = await opened.draftOf(workflow)
    expect(
      await opened.save(workflow, live, { definition: bannerDefinition('https://a.example/2.png') }),
    ).toMatchObject({ status: 409, error_code: 3005, data: { state: 'live', draftVersionId: draft.id } })
    const [branch] = live.analyze.branches
    const saved = await opened.succeed(
      opened.save(workflow, live, {
        definition: bannerDefinition(),
        metadata: { note: 'kept' },
        analyzeOverrides: { branchLoopWindows: { [branch ?? '']: 24 } },
      }),
    )
    expect(saved).toMatchObject({
      state: 'live',
      revision: live.revision + 1,
      metadata: { note: 'kept' },
      analyze: { loopWindowByBranch: { [branch ?? '']: 24 } },
    })
    expect((await opened.draftOf(workflow)).metadata).toEqual({})
  })

  test('is restored into the draft, and stays', async () => {
    const workflow = await opened.published()
    const live = await versionOf(workflow, 'live')
    const draft = await opened.draftOf(workflow)
    const saved = await opened.succeed(
      opened.save(workflow, draft, { definition: empty, metadata: { b: 2 } }),
    )
    expect(await restore(workflow, live, { 'if-match': '"1"' })).toMatchObject({ status: 412 })
    const restored = await restore(workflow, live, { 'if-match': `"${saved.revision}"` })
    expect(restored).toMatchObject({
      status: 200,
      headers: { etag: '"3"' },
      data: {
        id: draft.id,
        state: 'draft',
        definition: bannerDefinition(),
        metadata: {},
        analyze: live.analyze,
      },
    })
    expect((await readVersion(workflow, live)).data).toEqual(live)
    expect((await opened.app.audit()).at(-1)).toMatchObject({
      action: 'workflow-version-restore',
      details: { versionId: live.id, number: 1 },
    })
  })

  test('is compared with another one', async () => {
    const workflow = await opened.published()
    const live = await versionOf(workflow, 'live')
    const draft = await opened.draftOf(workflow)
    expect(await changes(workflow, draft, live)).toEqual({ from: live.id, to: draft.id, changes: [] })
    const definition = {
      ...bannerDefinition('https://a.example/2.png'),
      entrypoints: { ...bannerDefinition().entrypoints, second: { type: 'pigeon' } },
      edges: { broken: 7 },
    }
    await opened.succeed(opened.save(workflow, draft, { definition }))
    const difference = await changes(workflow, draft, live)
    expect(difference.changes).toMatchObject([
      { kind: 'entrypoint', id: 'second', change: 'added' },
      { kind: 'node', id: 'banner', change: 'changed', fields: ['url'] },
      { kind: 'edge', id: 'e1', change: 'removed' },
    ])
    const reverse = await changes(workflow, live, draft)
    expect(reverse.changes.map(({ change }) => change)).toEqual(['removed', 'changed', 'added'])
  })
})

describe('the history', () => {
  test('is listed in pages, and the newest are shown with the workflow', async () => {
    const workflow = await opened.create()
    for (let i = 1; i <= 25; i++) {
      const draft = await opened.draftOf(workflow)
      await opened.succeed(
        opened.save(workflow, draft, { definition: bannerDefinition(`https://a.example/${i}.png`) }),
      )
      await opened.succeed(opened.publish(workflow, draft))
    }
    const { data, paginationCount } = await list(workflow, '?perPage=100')
    expect(data.map(({ number }) => number)).toEqual(Array.from({ length: 26 }, (_, i) => 26 - i))
    expect(paginationCount).toBe(26)
    expect(data[0]).not.toHaveProperty('definition')
    const { versions } = await opened.read(workflow)
    expect(versions.map(({ number }) => number)).toEqual(Array.from({ length: 20 }, (_, i) => 26 - i))
    expect((await list(workflow, '?page=2&perPage=20')).data.map(({ number }) => number)).toEqual([
      6, 5, 4, 3, 2, 1,
    ])
  })

  test('of large versions shows the draft and the live one', async () => {
    const workflow = await opened.published()
    for (let i = 0; i < 2; i++) await opened.succeed(opened.publish(workflow, await opened.draftOf(workflow)))
    await opened.relational.pool.query('update workflow_versions set bytes = 5000000')
    expect((await opened.read(workflow)).versions.map(({ state }) => state)).toEqual(['draft', 'live'])
  })
})

test('what is shown is announced to every process when it changes, and drafts are not', async () => {
  const { owner } = opened.relational
  const client = new pg.Client({ host: owner.socketDirectory, user: owner.user, database: owner.database })
  await client.connect()
  try {
    const heard: string[] = []
    client.on('notification', ({ payload }) => heard.push(payload ?? ''))
    await client.query('listen workflow_changes')
    const during = async (work: () => Promise<unknown>): Promise<string[]> => {
      heard.length = 0
      await work()
      // Notices come before the answer of a later statement.
      await client.query('select 1')
      return [...new Set(heard)]
    }
    const workflow = await opened.create()
    const draft = await opened.draftOf(workflow)
    const saved = await opened.succeed(opened.save(workflow, draft, { definition: bannerDefinition() }))
    expect(await during(() => opened.save(workflow, saved, { metadata: {} }))).toEqual([])
    expect(await during(() => opened.publish(workflow, draft))).toEqual([workflow.id])
    const live = await versionOf(workflow, 'live')
    expect(await during(() => opened.save(workflow, live, { metadata: { a: 1 } }))).toEqual([workflow.id])
    const profile = (parameters: readonly string[], name = 'Tool') => ({
      name,
      parameters: parameters.map((each) => ({ name: each, default: 'x' })),
    })
    const profiles = '/variable-profiles'
    const { id } = await opened.succeed(opened.call<{ id: string }>('POST', profiles, profile(['a'])))
    const choose = (variableProfileId: string | null) =>
      opened.succeed(opened.call('PATCH', `/${workflow.id}`, { variableProfileId }))
    const replace = (body: object) => opened.succeed(opened.call('PUT', `${profiles}/${id}`, body))
    expect(await during(() => replace(profile(['b'])))).toEqual([])
    expect(await during(() => choose(id))).toEqual([workflow.id])
    expect(await during(() => replace(profile(['b', 'c'])))).toEqual([workflow.id])
    expect(await during(() => replace(profile(['b', 'c'], 'Renamed')))).toEqual([])
    expect(await during(() => opened.call('DELETE', `${profiles}/${id}`))).toEqual([workflow.id])
    expect(await during(() => opened.act(workflow, 'archive'))).toEqual([workflow.id])
    expect(await during(() => opened.act(workflow, 'restore'))).toEqual([workflow.id])
    expect(await during(() => opened.act(workflow, 'archive'))).toEqual([workflow.id])
    expect(await during(() => opened.call('DELETE', `/${workflow.id}`))).toEqual([workflow.id])
  } finally {
    await client.end()
  }
})
