import type { JsonTemplate } from '@millrace/contract/resources/json-template.ts'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openWorkflowsApp, type WorkflowsApp } from '../support/workflows.ts'

let flows: WorkflowsApp
beforeAll(async () => {
  flows = await openWorkflowsApp()
})
afterAll(() => flows.close())

const path = '/json-templates'
const leaf = (variable: string) => ({ type: 'dependency', variable })
const card = {
  name: 'Product card',
  definition: {
    z: { type: 'static', value: 'card' },
    product: { title: leaf('title'), images: leaf('images') },
  },
  variables: [
    { name: 'title', type: 'scalar', description: 'What it is called' },
    { name: 'images', type: 'array' },
    { name: 'address', type: 'fixed', index: 19 },
  ],
  redirectVariable: 'address',
}
const add = (fields: object = {}) =>
  flows.call<JsonTemplate>('POST', path, { ...card, resourceGroupIds: [flows.teamId], ...fields })
const made = (fields: object = {}) => flows.succeed(add(fields))
const replace = ({ id }: JsonTemplate, body: object) => flows.call<JsonTemplate>('PUT', `${path}/${id}`, body)
const remove = ({ id }: JsonTemplate) => flows.call('DELETE', `${path}/${id}`)

/** A workflow of one zone that answers this template. */
const answering = (templateId: string) => ({
  entrypoints: { zone: { type: 'web', format: 'json' } },
  nodes: {
    card: {
      type: 'json',
      templateId,
      bindings: {
        title: { value: 'Shoe' },
        images: { value: ['a'] },
        address: { value: 'https://a.example/' },
      },
    },
  },
  edges: { e1: { from: 'zone', to: 'card' } },
})

describe('a JSON template', () => {
  it('is made, read, replaced as a whole and deleted', async () => {
    const template = await made({ name: ' Product card ' })
    expect(template).toMatchObject({
      ...card,
      _id: template.id,
      type: 'WorkflowJsonTemplates',
      companyId: flows.app.companyId,
      resourceGroupIds: [flows.teamId],
    })
    // The order of fields is that of the answer.
    expect(Object.keys(template.definition)).toEqual(['z', 'product'])
    expect((await flows.call('GET', `${path}/${template.id.toUpperCase()}`)).data).toEqual(template)
    const back = await flows.succeed(replace(template, template))
    expect(back).toEqual(template)
    const { redirectVariable: _, variables: __, ...rest } = template
    const definition = { only: { type: 'static', value: [1, { a: null }] } }
    const replaced = await flows.succeed(replace(template, { ...rest, definition }))
    expect(replaced).toMatchObject({ id: template.id, definition, variables: [] })
    expect(replaced).not.toHaveProperty('redirectVariable')
    expect(Date.parse(replaced.updatedAt)).toBeGreaterThan(Date.parse(template.updatedAt))
    await flows.succeed(remove(template))
    expect(await remove(template)).toMatchObject({ status: 404, error_code: 3059 })
  })

  it('says which variables no leaf names', async () => {
    const reply = (await add({ redirectVariable: undefined })) as unknown as { warnings: unknown }
    expect(reply).toMatchObject({
      status: 200,
      warnings: [{ path: 'variables.2', message: expect.stringContaining('"address"') }],
    })
    expect(await add()).not.toHaveProperty('warnings')
  })

  it.each([
    ['a leaf that names no variable', { definition: { a: leaf('titel') } }, 'definition.a.variable'],
    ['a variable in another case', { definition: { a: leaf('Title') } }, 'definition.a.variable'],
    ['a variable that objects inherit', { definition: { a: leaf('toString') } }, 'definition.a.variable'],
    ['a bare value', { definition: { a: { b: 'text' } } }, 'definition.a.b'],
    ['a leaf of an unknown type', { definition: { a: { type: 'dynamic', value: 1 } } }, 'definition.a'],
    ['a leaf with more than it has', { definition: { a: { ...leaf('title'), value: 1 } } }, 'definition.a'],
    ['a static leaf without a value', { definition: { a: [{ type: 'static' }] } }, 'definition.a.0'],
    ['a leaf as the whole', { definition: { type: 'static', value: 1 } }, 'definition'],
    ['a list as the whole', { definition: [] }, 'definition'],
    ['two variables of one name', { variables: [...card.variables, card.variables[0]] }, 'variables.3.name'],
    ['a fixed variable without its row', { variables: [{ name: 'a', type: 'fixed' }] }, 'variables.0.index'],
    ['row 20', { variables: [{ name: 'a', type: 'fixed', index: 20 }] }, 'variables.0.index'],
    ['a row of a scalar', { variables: [{ name: 'a', type: 'scalar', index: 0 }] }, 'variables.0.index'],
    ['a mode that there is not', { variables: [{ name: 'a', type: 'list' }] }, 'variables.0.type'],
    ['a redirect variable that there is not', { redirectVariable: 'nothing' }, 'redirectVariable'],
    ['a redirect variable of many values', { redirectVariable: 'images' }, 'redirectVariable'],
    ['no team', { resourceGroupIds: [] }, 'resourceGroupIds'],
  ])('is refused for %s', async (_, fields, at) => {
    const reply = await add(fields)
    expect(reply.status, JSON.stringify(reply.data)).toBe(400)
    const { errors } = reply.data as unknown as { errors: { path: string }[] }
    expect(errors.map((each) => each.path)).toContain(at)
  })

  it('is bounded in depth, leaves and bytes', async () => {
    const nested = (depth: number): object => (depth === 1 ? leaf('title') : { a: nested(depth - 1) })
    const leaves = (count: number) =>
      Object.fromEntries(Array.from({ length: count }, (_, i) => [`f${i}`, leaf('title')]))
    expect((await add({ definition: nested(11) })).status).toBe(200)
    expect((await add({ definition: nested(12) })).status).toBe(400)
    expect((await add({ definition: { a: leaves(999), b: leaf('title') } })).status).toBe(200)
    expect((await add({ definition: { a: leaves(1_000), b: leaf('title') } })).status).toBe(400)
    const long = (length: number) => ({ definition: { a: { type: 'static', value: 'x'.repeat(length) } } })
    expect((await add(long(99_000))).status).toBe(200)
    expect((await add(long(100_000))).status).toBe(400)
  })
})

describe('the teams of a JSON template', () => {
  it('alone see it, and may keep it when a colleague of one of them replaces it', async () => {
    const colleague = await flows.app.person('admin')
    const teamId = await flows.app.team()
    await flows.app.putInto(colleague.id, teamId)
    await flows.app.putInto(flows.admin.id, flows.teamId, teamId)
    const shared = await made({ resourceGroupIds: [flows.teamId, teamId] })
    const own = await made()
    await flows.app.putInto(flows.admin.id, flows.teamId)
    const as = { token: colleague.token }
    for (const method of ['GET', 'DELETE'] as const)
      expect(await flows.call(method, `${path}/${own.id}`, undefined, as)).toMatchObject({
        status: 404,
        error_code: 3059,
      })
    expect(await flows.call('PUT', `${path}/${own.id}`, own, as)).toMatchObject({ status: 404 })
    expect(await flows.call('PUT', `${path}/${shared.id}`, shared, as)).toMatchObject({ status: 200 })
    expect(
      await flows.call('GET', `${path}/${own.id}`, undefined, { token: flows.stranger.token }),
    ).toMatchObject({ status: 404 })
  })

  it('stay until it is given to others', async () => {
    const teamId = await flows.app.team()
    await flows.app.putInto(flows.admin.id, flows.teamId, teamId)
    const template = await made({ resourceGroupIds: [teamId] })
    await flows.app.putInto(flows.admin.id, flows.teamId, teamId)
    const removeTeam = () => flows.app.call(flows.admin.token, 'DELETE', `/teams/${teamId}`)
    expect(await removeTeam()).toMatchObject({ status: 409, error_code: 2074, data: { resources: 1 } })
    await flows.succeed(replace(template, { ...template, resourceGroupIds: [flows.teamId] }))
    expect((await removeTeam()).status).toBe(200)
    expect((await flows.call<JsonTemplate>('GET', `${path}/${template.id}`)).data.resourceGroupIds).toEqual([
      flows.teamId,
    ])
  })
})

describe('a JSON template of a workflow', () => {
  it('is kept while a published workflow uses it, which the failure names', async () => {
    const template = await made()
    const workflow = await flows.published(answering(template.id))
    expect(await remove(template)).toMatchObject({
      status: 409,
      error_code: 3009,
      data: { workflows: [{ id: workflow.id, name: workflow.name }] },
    })
    await flows.succeed(flows.act(workflow, 'archive'))
    await flows.succeed(remove(template))
    // Made again it is another template: the workflow comes back as a draft that cannot be published.
    await made()
    expect((await flows.succeed(flows.act(workflow, 'restore'))).status).toBe('draft')
    expect((await flows.publish(workflow, await flows.draftOf(workflow))).status).toBe(409)
  })

  it('reaches it at its next publication', async () => {
    const template = await made()
    const workflow = await flows.published(answering(template.id))
    const published = async () => {
      const { rows } = await flows.relational.pool.query(
        `select p.templates -> $2 -> 'definition' as definition from workflows w
         join workflow_publications p on p.version_id = w.published_version_id where w.id = $1`,
        [workflow.id, template.id],
      )
      return rows[0]?.definition
    }
    const definition = { ...card.definition, z: { type: 'static', value: 'other' } }
    await flows.succeed(replace(template, { ...template, definition }))
    expect(await published()).toEqual(card.definition)
    await flows.succeed(flows.publish(workflow, await flows.draftOf(workflow)))
    expect(await published()).toEqual(definition)
  })

  it('is no longer there for it when no team of it sees the template', async () => {
    const teamId = await flows.app.team()
    await flows.app.putInto(flows.admin.id, flows.teamId, teamId)
    const template = await made({ resourceGroupIds: [teamId] })
    const workflow = await flows.create()
    const draft = await flows.draftOf(workflow)
    await flows.succeed(flows.save(workflow, draft, { definition: answering(template.id) }))
    const refused = await flows.publish(workflow, draft)
    expect(refused.status).toBe(409)
    expect(JSON.stringify(refused.data)).toContain('templateId')
    await flows.succeed(replace(template, { ...template, resourceGroupIds: [flows.teamId] }))
    await flows.succeed(flows.publish(workflow, draft))
    await flows.app.putInto(flows.admin.id, flows.teamId)
  })
})
