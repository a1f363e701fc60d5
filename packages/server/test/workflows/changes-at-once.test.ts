import type { PoolClient } from 'pg'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Reply } from '../support/accounts.ts'
import { openWorkflowsApp, readingDefinition, type WorkflowsApp } from '../support/workflows.ts'

/** What becomes of workflows, of the datasources that they read, and of teams when two are changed at once. */

let opened: WorkflowsApp

beforeAll(async () => {
  opened = await openWorkflowsApp()
})
afterAll(() => opened.close())

async function change(method: 'POST' | 'PATCH' | 'DELETE', url: string, body?: object): Promise<Reply> {
  const reply = await opened.app.auth.call(opened.admin.token, method, url, body as never)
  return { ...reply.json(), status: reply.statusCode }
}

/** Two teams of the administrator, and a datasource of both. */
const shared = async () => {
  const [first, other] = [opened.teamId, await opened.app.team()]
  await opened.app.putInto(opened.admin.id, first, other)
  opened.app.cache.forget()
  const body = { name: 'Shop', resourceGroupIds: [first, other] }
  return { first, other, id: (await change('POST', '/v2/datasources', body)).data.id as string }
}

/** What `hold` does is committed once `work` waits for it. */
async function whileHeld<T>(hold: (holder: PoolClient) => Promise<void>, work: () => Promise<T>): Promise<T> {
  const { pool } = opened.relational
  const holder = await pool.connect()
  try {
    await holder.query('begin')
    await hold(holder)
    const done = work()
    await expect
      .poll(async () => {
        const waiting = `select from pg_stat_activity
            where datname = current_database() and wait_event_type = 'Lock'`
        return (await pool.query(waiting)).rowCount
      })
      .toBeGreaterThan(0)
    await holder.query('commit')
    return await done
  } finally {
    // With what it has not committed.
    holder.release(true)
  }
}

/** All teams of a datasource but one lose it. */
const whileMoved = <T>(id: string, teamId: string, work: () => Promise<T>): Promise<T> =>
  whileHeld(async (holder) => {
    await holder.query('select from datasources where id = $1 for update', [id])
    const lost = 'delete from datasource_teams where datasource_id = $1 and team_id <> $2'
    await holder.query(lost, [id, teamId])
    await holder.query('update datasources set updated_at = now() where id = $1', [id])
  }, work)

test('a datasource that moves to another team while a workflow is published with it is read by none of its versions', async () => {
  const { id, other } = await shared()
  const workflow = await opened.create()
  const draft = await opened.draftOf(workflow)
  await opened.succeed(opened.save(workflow, draft, { definition: readingDefinition(id) }))
  expect(await whileMoved(id, other, () => opened.publish(workflow, draft))).toMatchObject({
    status: 409,
    error_code: 3004,
  })
  expect((await opened.read(workflow)).status).toBe('draft')
})

test('a datasource that moves away from the teams of its user stays as it is', async () => {
  const { id } = await shared()
  const foreign = await opened.app.team()
  await opened.relational.pool.query(
    'insert into datasource_teams (company_id, datasource_id, team_id) values ($1, $2, $3)',
    [opened.app.companyId, id, foreign],
  )
  const reply = await whileMoved(id, foreign, () =>
    change('PATCH', `/v2/datasources/${id}`, { name: 'Mine' }),
  )
  expect(reply.status).toBe(404)
  const { rows } = await opened.relational.pool.query('select name from datasources where id = $1', [id])
  expect(rows).toEqual([{ name: 'Shop' }])
})

test('a datasource parts with no workflow when both move at once', async () => {
  for (let i = 0; i < 10; i++) {
    const { id, first, other } = await shared()
    const workflow = await opened.create({ resourceGroupIds: [first, other] })
    const draft = await opened.draftOf(workflow)
    await opened.succeed(opened.save(workflow, draft, { definition: readingDefinition(id) }))
    await opened.succeed(opened.publish(workflow, draft))
    const moved = await Promise.all([
      change('PATCH', `/v2/datasources/${id}`, { resourceGroupIds: [first] }),
      change('PATCH', `/v2/workflows/${workflow.id}`, { resourceGroupIds: [other] }),
    ])
    expect(moved.map(({ status }) => status).sort()).toEqual([200, 409])
  }
})

test('a datasource that is deleted while a workflow is published with it: one of the two is refused', async () => {
  for (let i = 0; i < 10; i++) {
    const { id } = await shared()
    const workflow = await opened.create()
    const draft = await opened.draftOf(workflow)
    await opened.succeed(opened.save(workflow, draft, { definition: readingDefinition(id) }))
    const [published, deleted] = await Promise.all([
      opened.publish(workflow, draft),
      change('DELETE', `/v2/datasources/${id}`),
    ])
    expect([published.status, deleted.status].sort()).toEqual([200, 409])
  }
})

test.each([
  [
    'a datasource that is created',
    (teamId: string) => change('POST', '/v2/datasources', { name: 'New', resourceGroupIds: [teamId] }),
  ],
  [
    'a datasource that is changed',
    async (teamId: string, id: string) =>
      change('PATCH', `/v2/datasources/${id}`, { resourceGroupIds: [teamId] }),
  ],
  [
    'a workflow that is created',
    (teamId: string) => change('POST', '/v2/workflows', { name: 'New', resourceGroupIds: [teamId] }),
  ],
])('%s for a team that is deleted meanwhile is refused', async (_, work) => {
  const { id } = await shared()
  const teamId = await opened.app.team()
  await opened.app.putInto(opened.admin.id, opened.teamId, teamId)
  opened.app.cache.forget()
  const reply = await whileHeld(
    async (holder) => {
      await holder.query('delete from team_members where team_id = $1', [teamId])
      await holder.query('delete from teams where id = $1', [teamId])
    },
    () => work(teamId, id),
  )
  expect(reply).toMatchObject({ status: 400, data: { teamIds: [teamId] } })
})
