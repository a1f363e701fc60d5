import type { VariableProfile } from '@millrace/contract/resources/variable-profile.ts'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { openWorkflowsApp, type WorkflowsApp } from '../support/workflows.ts'

let flows: WorkflowsApp
beforeAll(async () => {
  flows = await openWorkflowsApp()
})
afterAll(() => flows.close())

const path = '/variable-profiles'
const add = (body: object, token?: string) =>
  flows.call<VariableProfile>('POST', path, body, token === undefined ? {} : { token })

it('is made, listed, read, replaced and deleted', async () => {
  const parameters = [{ name: 'trk-u', default: '{{contact.id}}' }, { name: 'utm_campaign' }]
  const first = await flows.succeed(add({ name: ' Tool ', parameters }))
  expect(first).toMatchObject({ name: 'Tool', parameters, companyId: flows.app.companyId, _id: first.id })
  const second = await flows.succeed(add({ name: 'Tool', parameters: [] }))
  const listed = await flows.call<VariableProfile[]>('GET', `${path}?perPage=1&page=2`)
  expect(listed).toMatchObject({ data: [second], paginationCount: 2 })
  const replaced = await flows.succeed(
    flows.call<VariableProfile>('PUT', `${path}/${first.id.toUpperCase()}`, {
      ...first,
      name: 'Other',
      parameters: [],
    }),
  )
  expect(replaced).toMatchObject({ id: first.id, name: 'Other', parameters: [] })
  expect(Date.parse(replaced.updatedAt)).toBeGreaterThan(Date.parse(first.updatedAt))
  await flows.succeed(flows.call('DELETE', `${path}/${first.id}`))
  for (const method of ['GET', 'DELETE'] as const) {
    expect(await flows.call(method, `${path}/${first.id}`)).toMatchObject({ status: 404, error_code: 3052 })
  }
})

it.each([
  ['two parameters of one name', [{ name: 'a' }, { name: 'a' }], 'parameters.1.name'],
  ['the parameter mode', [{ name: 'mode' }], 'parameters.0.name'],
  ['a control character in a name', [{ name: 'a\tb' }], 'parameters.0.name'],
  ['a parameter without a name', [{ name: '' }], 'parameters.0.name'],
  ['51 parameters', Array.from({ length: 51 }, (_, i) => ({ name: `p${i}` })), 'parameters'],
])('refuses %s', async (_, parameters, at) => {
  const reply = await add({ name: 'Tool', parameters })
  expect(reply.status).toBe(400)
  expect((reply.data as unknown as { errors: unknown[] }).errors).toContainEqual(
    expect.objectContaining({ path: at }),
  )
})

it('of another company is not there', async () => {
  const foreign = await flows.succeed(add({ name: 'Foreign', parameters: [] }, flows.stranger.token))
  expect(await flows.call('GET', `${path}/${foreign.id}`)).toMatchObject({ status: 404, error_code: 3052 })
  const body = { name: 'Mine', parameters: [] }
  expect(await flows.call('PUT', `${path}/${foreign.id}`, body)).toMatchObject({ status: 404 })
  expect(await flows.call('DELETE', `${path}/${foreign.id}`)).toMatchObject({ status: 404 })
})
