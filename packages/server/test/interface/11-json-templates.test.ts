import type { JsonTemplate } from '@millrace/contract/resources/json-template.ts'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openWorkflowsApp, type WorkflowsApp } from '../support/workflows.ts'

let flows: WorkflowsApp
let made: JsonTemplate[]
const path = '/json-templates'

const add = (name: string, teamId = flows.teamId, token = flows.admin.token) =>
  flows.succeed(
    flows.call<JsonTemplate>(
      'POST',
      path,
      { name, resourceGroupIds: [teamId], definition: { a: { type: 'static', value: 1 } } },
      { token },
    ),
  )
const list = (query = '') =>
  flows.call<JsonTemplate[]>('GET', `${path}${query}`) as Promise<
    Awaited<ReturnType<typeof flows.call<JsonTemplate[]>>> & {
      paginationCount?: number
      paginationPage?: number
      paginationLimit?: number
    }
  >

beforeAll(async () => {
  flows = await openWorkflowsApp()
  made = []
  for (let i = 0; i < 12; i++) made.push(await add(`Template ${i}`))
  await add('Foreign', flows.otherTeamId, flows.stranger.token)
})
afterAll(() => flows.close())

describe('the list of JSON templates', () => {
  it('gives ten, the oldest first, when nothing is asked for (W08)', async () => {
    expect(await list()).toMatchObject({
      status: 200,
      data: made.slice(0, 10),
      paginationCount: 12,
      paginationPage: 1,
      paginationLimit: 10,
    })
  })

  it.each(['page=0', 'page=-1', 'page=1.5', 'page=1e9', 'page=1e2', 'page=', 'perPage=0', 'perPage=-1'])(
    'refuses %s (W08)',
    async (query) => {
      expect((await list(`?${query}`)).status).toBe(400)
    },
  )

  it.each(['perPage=1.5', 'perPage=101', 'perPage=1e9', 'perPage=a', 'limit=5', 'page=1&page=2'])(
    'refuses %s (W08)',
    async (query) => {
      expect((await list(`?${query}`)).status).toBe(400)
    },
  )

  it('is empty beyond the last page, with the true count (W08)', async () => {
    expect(await list('?page=3&perPage=10')).toMatchObject({ status: 200, data: [], paginationCount: 12 })
    expect(await list('?page=1000000&perPage=100')).toMatchObject({ status: 200, data: [] })
  })

  it('skips and repeats none when templates are added between pages (W09)', async () => {
    const first = await list('?page=1&perPage=8')
    const late = await add('Late')
    const second = await list('?page=2&perPage=8')
    made.push(late)
    expect([...first.data, ...second.data].map(({ id }) => id)).toEqual(made.map(({ id }) => id))
  })

  it('holds only what the teams of the caller see, counted so too', async () => {
    const colleague = await flows.app.person('admin')
    const teamId = await flows.app.team()
    await flows.app.putInto(colleague.id, teamId)
    const own = await add('Of another team', teamId, colleague.token)
    const seen = await flows.call<JsonTemplate[]>('GET', path, undefined, { token: colleague.token })
    expect(seen).toMatchObject({ data: [own], paginationCount: 1 })
    expect(await list('?perPage=100')).toMatchObject({ data: made, paginationCount: made.length })
    await flows.app.putInto(colleague.id)
    const none = await flows.call<JsonTemplate[]>('GET', path, undefined, { token: colleague.token })
    expect(none).toMatchObject({ data: [], paginationCount: 0 })
  })

  it('holds for a workflow what its teams see, and the caller sees too', async () => {
    const colleague = await flows.app.person('admin')
    const teamId = await flows.app.team()
    await flows.app.putInto(colleague.id, teamId)
    const own = await add('Of a team', teamId, colleague.token)
    const workflow = await flows.create({ resourceGroupIds: [teamId] }, colleague.token)
    const asked = (token: string) =>
      flows.call<JsonTemplate[]>('GET', `${path}?workflowId=${workflow.id.toUpperCase()}`, undefined, {
        token,
      })
    expect(await asked(colleague.token)).toMatchObject({ data: [own], paginationCount: 1 })
    expect(await asked(flows.admin.token)).toMatchObject({ status: 404, error_code: 3000 })
    expect(await asked(flows.stranger.token)).toMatchObject({ status: 404, error_code: 3000 })
    await flows.app.putInto(flows.admin.id, flows.teamId, teamId)
    expect((await asked(flows.admin.token)).data).toEqual([own])
    await flows.app.putInto(flows.admin.id, flows.teamId)
    expect((await list('?workflowId=x')).status).toBe(400)
  })
})
