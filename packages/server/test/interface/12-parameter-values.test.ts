import type { Workflow } from '@millrace/contract/resources/workflow.ts'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { openStatisticsEngine, type StatisticsEngine } from '../support/statistics-engine.ts'
import { storedEvent } from '../support/statistics-events.ts'
import { openWorkflowsApp, type WorkflowsApp } from '../support/workflows.ts'

let engine: StatisticsEngine
let flows: WorkflowsApp
let workflow: Workflow

beforeAll(async () => {
  engine = await openStatisticsEngine()
  flows = await openWorkflowsApp({ columnar: engine.columnar })
  workflow = await flows.create()
})
afterAll(async () => {
  await flows.close()
  await engine.close()
})
beforeEach(() => engine.empty())

const dayMs = 86_400_000

/** A display of a workflow with these parameters in its address. */
function shown(parameters: Record<string, string>, fields: Record<string, unknown> = {}) {
  const { workflowId = workflow.id, company = flows.app.companyId, daysAgo = 1, name } = fields
  const labels = Object.entries(parameters).map(([key, value]) => [`parameter.${key}`, value])
  return storedEvent({
    name: String(name ?? 'workflow_display'),
    company: String(company),
    time: flows.app.time.clock.now() - Number(daysAgo) * dayMs,
    labels: { workflowId: String(workflowId), ...Object.fromEntries(labels) },
  })
}

const names = (...all: string[]) => all.map((name) => `name=${encodeURIComponent(name)}`).join('&')
const ask = (query: string, token = flows.admin.token) =>
  flows.call<Record<string, string[]>>('GET', `/usage/parameter-values?${query}`, undefined, {
    token,
  }) as Promise<{ status: number; data: Record<string, string[]>; warnings?: { path: string }[] }>
const used = async (token = flows.admin.token) =>
  (await flows.call('GET', '/parameters', undefined, { token })) as unknown as {
    status: number
    data: unknown
  }

describe('values of a parameter', () => {
  it('are distinct and sorted, of displays and clicks, for each name that is asked for', async () => {
    await engine.load([
      ...['welcome', 'spring', 'welcome', 'Été', ''].map((campaign) => shown({ utm_campaign: campaign })),
      shown({ utm_campaign: 'click', city: 'Lyon' }, { name: 'workflow_click' }),
      shown({ utm_campaign: 'no' }, { name: 'page_view' }),
    ])
    expect(await ask(names('utm_campaign', 'city', 'none', 'city'))).toMatchObject({
      status: 200,
      data: { utm_campaign: ['click', 'spring', 'welcome', 'Été'], city: ['Lyon'], none: [] },
    })
    expect(await used()).toMatchObject({
      status: 200,
      data: [
        { name: 'utm_campaign', uses: 6 },
        { name: 'city', uses: 1 },
      ],
    })
  })

  it('are those of 90 days', async () => {
    await engine.load([shown({ a: 'now' }, { daysAgo: 89 }), shown({ a: 'then', b: '1' }, { daysAgo: 91 })])
    expect((await ask(names('a', 'b'))).data).toEqual({ a: ['now'], b: [] })
    expect((await used()).data).toEqual([{ name: 'a', uses: 1 }])
  })

  it('are those of workflows that the teams of the caller see (W11)', async () => {
    const colleague = await flows.app.person('admin')
    const teamId = await flows.app.team()
    await flows.app.putInto(colleague.id, teamId)
    const secret = await flows.create({ resourceGroupIds: [teamId] }, colleague.token)
    const foreign = await flows.create({ resourceGroupIds: [flows.otherTeamId] }, flows.stranger.token)
    await engine.load([
      shown({ email: 'ours@example.com' }),
      shown({ email: 'secret@example.com' }, { workflowId: secret.id }),
      shown({ email: 'foreign@example.com' }, { workflowId: foreign.id, company: flows.app.other.companyId }),
      // Of another company, under the name of one of its workflows.
      shown({ email: 'forged@example.com' }, { company: flows.app.other.companyId }),
      shown({ email: 'gone@example.com' }, { workflowId: 'f'.repeat(24) }),
    ])
    const of = async (token: string) => (await ask(names('email'), token)).data.email
    expect(await of(flows.admin.token)).toEqual(['ours@example.com'])
    expect(await of(colleague.token)).toEqual(['secret@example.com'])
    expect(await of(flows.stranger.token)).toEqual(['foreign@example.com'])
    expect((await used(colleague.token)).data).toEqual([{ name: 'email', uses: 1 }])
    await flows.app.putInto(colleague.id)
    expect(await of(colleague.token)).toEqual([])
    expect((await used(colleague.token)).data).toEqual([])
  })

  it('stay while the workflow is archived, and go with it', async () => {
    const other = await flows.create()
    await engine.load([shown({ a: '1' }, { workflowId: other.id })])
    await flows.succeed(flows.act(other, 'archive'))
    expect((await ask(names('a'))).data).toEqual({ a: ['1'] })
    await flows.succeed(flows.call('DELETE', `/${other.id}`))
    expect((await ask(names('a'))).data).toEqual({ a: [] })
  })

  it('are at most 1,000 of a name, and it is said that there are more', async () => {
    const many = Array.from({ length: 1_001 }, (_, i) => String(i).padStart(4, '0'))
    await engine.load(many.map((a) => shown({ a, b: '1' })))
    const { data, warnings } = await ask(names('b', 'a'))
    expect(data.a).toEqual(many.slice(0, 1_000))
    expect(data.b).toEqual(['1'])
    expect(warnings?.map(({ path }) => path)).toEqual(['name.1'])
  })
})

describe('a name', () => {
  it.each([
    ['', 'name is required'],
    ['name=', 'name must not be empty'],
    ['name=a&name=', 'name must not be empty; this is value 2 of 2'],
    [`name=${'x'.repeat(10_240)}`, 'name must have at most 256 characters; it has 10240'],
    ['name=a&colour=b', 'colour is not known; known are name'],
    [names(...Array(51).fill('a')), 'name must have at most 50 items; it has 51'],
  ])('is refused: %s (W10)', async (query, message) => {
    expect(await ask(query)).toMatchObject({
      status: 400,
      message,
      data: { errors: [{ path: message.split(' ')[0] }] },
    })
  })

  it.each([
    '__proto__',
    'constructor',
    '$where',
    '(a+)+$',
    "') OR 1=1 --",
    '{names:Array(String)}',
    'a\\',
    '%',
    '日本',
  ])('is no code: %s (W10)', async (name) => {
    await engine.load([shown({ a: '1', [name]: 'own' })])
    const { status, data } = await ask(names(name, 'b'))
    expect(status).toBe(200)
    expect(Object.entries(data).toSorted()).toEqual(
      [
        ['b', []],
        [name, ['own']],
      ].toSorted(),
    )
    expect(({} as { own?: unknown }).own).toBeUndefined()
  })
})
