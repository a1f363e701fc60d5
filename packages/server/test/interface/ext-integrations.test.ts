import type { VariableProfile } from '@millrace/contract/resources/variable-profile.ts'
import type { Workflow } from '@millrace/contract/resources/workflow.ts'
import type { Integration } from '@millrace/contract/resources/workflow-integration.ts'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openTestService } from '../support/service.ts'
import { bannerDefinition, openWorkflowsApp, type WorkflowsApp } from '../support/workflows.ts'

let flows: WorkflowsApp
beforeAll(async () => {
  flows = await openWorkflowsApp()
})
afterAll(() => flows.close())

const pageDefinition = {
  entrypoints: {
    hero: { type: 'web', format: 'embed-html' },
    mail: { type: 'email', format: 'embed-image' },
  },
  nodes: {
    text: { type: 'html', html: '<p>Hi</p>' },
    banner: { type: 'image', url: 'https://a.example/b.png' },
  },
  edges: { e1: { from: 'hero', to: 'text' }, e2: { from: 'mail', to: 'banner' } },
}

async function drafted(definition: object = pageDefinition): Promise<Workflow> {
  const workflow = await flows.create()
  await flows.succeed(flows.save(workflow, await flows.draftOf(workflow), { definition }))
  return workflow
}

const add = ({ id }: Pick<Workflow, 'id'>, body: object) =>
  flows.call<Integration>('POST', `/${id}/integrations`, body)
const made = (workflow: Pick<Workflow, 'id'>, body: object) => flows.succeed(add(workflow, body))
const change = ({ workflowId, id }: Integration, body: object) =>
  flows.call<Integration>('PATCH', `/${workflowId}/integrations/${id}`, body)
const read = ({ workflowId, id }: Integration) =>
  flows.succeed(flows.call<Integration>('GET', `/${workflowId}/integrations/${id}`))

describe('an integration', () => {
  it('W17: has clicks that every process answers alike, also one that starts later', async () => {
    const html = (place: string) => ({
      type: 'html',
      html: '{{click}}',
      redirect: { value: `https://shop.example/${place}` },
    })
    const rule = { value: { node: 'who', field: 'device.type' }, type: 'text', operator: 'equals' }
    const workflow = await flows.published({
      entrypoints: { hero: { type: 'web', format: 'embed-html' } },
      nodes: {
        who: { type: 'context' },
        is: {
          type: 'conditions',
          cases: [{ id: 'phone', match: 'and', rules: [{ ...rule, to: [{ value: 'mobile' }] }] }],
        },
        small: html('small'),
        wide: html('wide'),
      },
      edges: {
        e1: { from: 'hero', to: 'who' },
        e2: { from: 'who', to: 'is' },
        e3: { from: 'is', output: 'phone', to: 'small' },
        e4: { from: 'is', output: 'default', to: 'wide' },
      },
    })
    const { shortId } = await made(workflow, { entrypointId: 'hero' })
    const phone =
      'Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) Version/18.0 Mobile/15E148 Safari/604.1'
    const { body } = await flows.app.app.inject({
      url: `/r/${shortId}?trk-u=ada`,
      headers: { 'user-agent': phone },
    })
    const { pathname, search } = new URL(body.replaceAll('&amp;', '&'))
    const placeOf = async ({ app }: Pick<typeof later, 'app'>, click = pathname + search) =>
      String((await app.inject({ url: click })).headers.location).split('?')[0]
    const later = await openTestService(flows.relational)
    try {
      expect(await placeOf(later)).toBe('https://shop.example/small')
      expect(await placeOf(flows.app)).toBe('https://shop.example/small')
      expect(await placeOf(later, `/r/${shortId}?trk-u=ada&mode=click`)).toBe('https://shop.example/wide')
    } finally {
      await later.app.close()
    }
  })

  it('has addresses of its own, of which nothing but the short id is known', async () => {
    const workflow = await drafted()
    const integration = await made(workflow, {
      entrypointId: 'mail',
      name: ' Newsletter ',
      parameters: { 'trk-u': '{{contact.id}}', utm_campaign: 'Été 1&2' },
    })
    expect(integration).toMatchObject({
      workflowId: workflow.id,
      name: 'Newsletter',
      entrypointId: 'mail',
      entrypointState: 'draft',
      type: 'email',
      format: 'embed-image',
      outputTypes: ['image'],
      enabled: true,
    })
    expect(integration.shortId).toMatch(/^[0-9A-Za-z]{10}$/)
    const query = 'trk-u={{contact.id}}&utm_campaign=%C3%89t%C3%A9%201%262'
    expect(integration.display).toMatch(new RegExp(`^https?://[^/]+/r/${integration.shortId}\\?`))
    expect(integration.display.endsWith(`?${query}`)).toBe(true)
    expect(integration.click).toBe(`${integration.display}&mode=click`)
    expect(integration).not.toHaveProperty('selector')
    expect((await flows.read(workflow)).integrations).toEqual([integration])
    const listed = await flows.call<Integration[]>('GET', `/${workflow.id}/integrations`)
    expect(listed.data).toEqual([integration])
  })

  it('of a page says where, when and for whom it is put in', async () => {
    const workflow = await drafted()
    const fields = {
      domain: 'Shop.Example',
      selector: 'main > #hero',
      emplacement: 'after',
      includeContext: true,
      includeDatalayerPath: ['user.segment'],
      waitForEvents: ['consent'],
      code: 'console.log(1)',
      filters: {
        type: 'or',
        conditions: [
          { operator: 'eq', field: 'utm_source', values: ['a', 'b'] },
          { operator: 'empty', field: 'trk-u' },
        ],
      },
    }
    const integration = await made(workflow, { entrypointId: 'hero', ...fields })
    const conditions = [fields.filters.conditions[0], { operator: 'empty', field: 'trk-u', values: [] }]
    expect(integration).toMatchObject({
      ...fields,
      domain: 'shop.example',
      filters: { type: 'or', conditions },
    })
    expect((await made(workflow, { entrypointId: 'hero' })).emplacement).toBe('replace')
    const { html } = await flows.succeed(
      flows.call<{ html: string }>('GET', `/${workflow.id}/integrations/${integration.id}/snippet`),
    )
    expect(html).toContain(integration.shortId)
  })

  it('can be sent back as it was read', async () => {
    const workflow = await drafted()
    for (const entrypointId of ['hero', 'mail']) {
      const integration = await made(workflow, { entrypointId, parameters: { a: '1' } })
      const back = await change(integration, integration)
      expect(back.data).toEqual(integration)
    }
  })

  it('changes field by field, null takes away, and the short id stays', async () => {
    const integration = await made(await drafted(), {
      entrypointId: 'hero',
      name: 'Home',
      selector: '#hero',
      code: 'a()',
      parameters: { a: '1' },
    })
    const off = await flows.succeed(change(integration, { enabled: false, selector: null, name: null }))
    expect(off).toMatchObject({ enabled: false, code: 'a()', parameters: { a: '1' } })
    expect(off).not.toHaveProperty('selector')
    expect(off).not.toHaveProperty('name')
    expect(off.shortId).toBe(integration.shortId)
    expect(Date.parse(off.updatedAt)).toBeGreaterThan(Date.parse(integration.updatedAt))
    const unchanged = await flows.succeed(change(integration, { enabled: false }))
    expect(unchanged.updatedAt).toBe(off.updatedAt)
  })

  it('moves to another entrypoint of its channel alone', async () => {
    const workflow = await drafted({
      ...pageDefinition,
      entrypoints: { ...pageDefinition.entrypoints, footer: { type: 'web', format: 'json' } },
    })
    const integration = await made(workflow, { entrypointId: 'hero' })
    const moved = await flows.succeed(change(integration, { entrypointId: 'footer' }))
    expect(moved).toMatchObject({ entrypointId: 'footer', format: 'json', shortId: integration.shortId })
    expect((await change(integration, { entrypointId: 'mail' })).status).toBe(400)
    expect(await change(integration, { entrypointId: 'gone' })).toMatchObject({
      status: 400,
      error_code: 3500,
      message: expect.stringContaining('hero'),
    })
  })

  it('ends for good when it is deleted, and goes with its workflow', async () => {
    const workflow = await drafted()
    const integration = await made(workflow, { entrypointId: 'mail' })
    const path = `/${workflow.id}/integrations/${integration.id}`
    await flows.succeed(flows.call('DELETE', path))
    expect(await flows.call('GET', path)).toMatchObject({ status: 404, error_code: 3050 })
    expect(await flows.call('DELETE', path)).toMatchObject({ status: 404 })
    await made(workflow, { entrypointId: 'mail' })
    await flows.succeed(flows.call('DELETE', `/${workflow.id}`))
    const { rows } = await flows.relational.pool.query(
      'select 1 from workflow_integrations where workflow_id = $1',
      [workflow.id],
    )
    expect(rows).toEqual([])
  })
})

describe('the entrypoint of an integration', () => {
  it('is that of the live version, else that of the draft, and may be gone from both', async () => {
    const workflow = await flows.published(pageDefinition)
    const integration = await made(workflow, { entrypointId: 'hero' })
    expect(integration).toMatchObject({
      entrypointState: 'live',
      format: 'embed-html',
      outputTypes: ['html'],
    })
    const json = { ...pageDefinition, entrypoints: { hero: { type: 'web', format: 'json' } } }
    await flows.succeed(flows.save(workflow, await flows.draftOf(workflow), { definition: json }))
    // The live version is what is shown.
    expect(await read(integration)).toMatchObject({ entrypointState: 'live', format: 'embed-html' })
    const draft = await flows.draftOf(workflow)
    await flows.succeed(flows.save(workflow, draft, { definition: bannerDefinition() }))
    await flows.succeed(flows.publish(workflow, draft))
    expect(await read(integration)).toMatchObject({
      entrypointState: 'absent',
      type: 'web',
      format: 'embed-html',
      outputTypes: [],
    })
    // What was there before stays in question for nothing but itself.
    expect((await change(integration, { enabled: false })).status).toBe(200)
    const next = await flows.draftOf(workflow)
    await flows.succeed(flows.save(workflow, next, { definition: pageDefinition }))
    expect(await read(integration)).toMatchObject({ entrypointState: 'draft', outputTypes: ['html'] })
  })

  it('of a draft may have no shape yet', async () => {
    const workflow = await drafted({ ...pageDefinition, entrypoints: { hero: 'later', mail: null } })
    expect(await add(workflow, { entrypointId: 'hero' })).toMatchObject({
      status: 400,
      error_code: 3500,
      message: expect.stringMatching(/The draft has faults.*Entrypoint "hero".*Entrypoint "mail"/),
    })
    expect(await add(workflow, { entrypointId: '__proto__' })).toMatchObject({ status: 400 })
    expect(await add(await flows.create(), { entrypointId: 'hero' })).toMatchObject({
      status: 400,
      message: expect.stringContaining('no entrypoint yet'),
    })
  })

  it('stays known while the workflow is archived and when it is restored', async () => {
    const workflow = await flows.published(pageDefinition)
    const integration = await made(workflow, { entrypointId: 'mail' })
    await flows.succeed(flows.act(workflow, 'archive'))
    expect(await read(integration)).toMatchObject({ entrypointState: 'live', shortId: integration.shortId })
    await flows.succeed(flows.act(workflow, 'restore'))
    expect(await read(integration)).toEqual(integration)
    const copy = await flows.succeed(flows.act(workflow, 'duplicate'))
    expect(copy.integrations).toEqual([])
  })
})

describe('an integration is refused', () => {
  it.each([
    ['a parameter called mode', { parameters: { mode: 'click' } }, 'parameters.mode'],
    ['a parameter without a name', { parameters: { '': 'x' } }, 'parameters.'],
    ['a parameter with a line break in its name', { parameters: { 'a\nb': 'x' } }, 'parameters.a\nb'],
    ['a parameter that is no text', { parameters: { a: 1 } }, 'parameters.a'],
    ['a value that is too long', { parameters: { a: 'x'.repeat(2_001) } }, 'parameters.a'],
    ['a scheme in the host', { domain: 'https://shop.example' }, 'domain'],
    ['a host with a path', { domain: 'shop.example/a' }, 'domain'],
    ['a host with a port', { domain: 'shop.example:81' }, 'domain'],
    ['an address as host', { domain: '10.0.0.1' }, 'domain'],
    ['a user in the host', { domain: 'a@shop.example' }, 'domain'],
    ['a top-level domain alone', { domain: 'com' }, 'domain'],
    ['a selector that is none', { selector: 'a {' }, 'selector'],
    ['code of more than 20 kB', { code: 'é'.repeat(10_241) }, 'code'],
    ['code that no browser can parse', { code: 'a(' }, 'code'],
    ['code of a module', { code: 'import "/a.js"' }, 'code'],
    ['an unknown emplacement', { emplacement: 'inside' }, 'emplacement'],
    ['enabled as a text', { enabled: 'false' }, 'enabled'],
    ['filters without conditions', { filters: { type: 'and', conditions: [] } }, 'filters.conditions'],
    [
      'a condition without the values that it needs',
      { filters: { type: 'and', conditions: [{ operator: 'eq', field: 'a', values: [] }] } },
      'filters.conditions.0.values',
    ],
    [
      'a condition with values that it cannot have',
      { filters: { type: 'and', conditions: [{ operator: 'empty', field: 'a', values: ['x'] }] } },
      'filters.conditions.0.values',
    ],
    [
      'an unknown operator',
      { filters: { type: 'and', conditions: [{ operator: 'matches', field: 'a', values: ['x'] }] } },
      'filters.conditions.0.operator',
    ],
    ['an unknown field', { colour: 'red' }, 'colour'],
  ])('for %s', async (_, fields, path) => {
    const workflow = await drafted()
    const reply = await add(workflow, { entrypointId: 'hero', ...fields })
    expect(reply.status, reply.message as string).toBe(400)
    const { errors } = reply.data as unknown as { errors: { path: string }[] }
    expect(errors.map((each) => each.path)).toContain(path)
    expect((await flows.read(workflow)).integrations).toEqual([])
  })

  it('for code with a fault, with its line and column, beside what else is wrong', async () => {
    const workflow = await drafted()
    const reply = await add(workflow, { entrypointId: 'hero', domain: 'com', code: 'a()\n  b c' })
    const message = "must be a script that browsers can run; line 2, column 5: Unexpected identifier 'c'"
    expect(reply).toMatchObject({ status: 400, error_code: 1 })
    expect(reply.data).toEqual({
      errors: [
        { path: 'domain', message: expect.any(String) },
        { path: 'code', message },
      ],
    })
    const integration = await made(workflow, { entrypointId: 'hero', code: 'a()' })
    expect(await change(integration, { code: 'a()\n  b c' })).toMatchObject({
      status: 400,
      message: `code ${message}`,
    })
    expect(await read(integration)).toEqual(integration)
  })

  it('for code that changes into another with a fault, and not while it stays as it was stored', async () => {
    const integration = await made(await drafted(), { entrypointId: 'hero', code: 'a()' })
    await flows.relational.pool.query('update workflow_integrations set code = $2 where id = $1', [
      integration.id,
      'a(',
    ])
    const stored = await read(integration)
    expect(stored.code).toBe('a(')
    expect(await flows.succeed(change(stored, { ...stored, name: 'Home' }))).toMatchObject({
      name: 'Home',
      code: 'a(',
    })
    expect((await change(stored, { code: 'a((' })).status).toBe(400)
    expect(await flows.succeed(change(stored, { code: 'b()' }))).toMatchObject({ code: 'b()' })
    expect(await flows.succeed(change(stored, { code: null }))).not.toHaveProperty('code')
  })

  it('for fields of pages in an email, each by its name', async () => {
    const workflow = await drafted()
    const fields = { selector: '#a', code: 'a()', waitForEvents: ['b'], includeContext: true }
    const reply = await add(workflow, { entrypointId: 'mail', ...fields })
    const { errors } = reply.data as unknown as { errors: { path: string }[] }
    expect(errors.map(({ path }) => path).toSorted()).toEqual(Object.keys(fields).toSorted())
    const integration = await made(workflow, {
      entrypointId: 'mail',
      includeContext: false,
      waitForEvents: [],
    })
    expect((await change(integration, { selector: '#a' })).status).toBe(400)
  })

  it('when it belongs to another workflow', async () => {
    const integration = await made(await drafted(), { entrypointId: 'mail' })
    const other = await drafted()
    for (const [method, body] of [['GET'], ['PATCH', { enabled: false }], ['DELETE']] as const) {
      const reply = await flows.call(method, `/${other.id}/integrations/${integration.id}`, body)
      expect(reply).toMatchObject({ status: 404, error_code: 3050 })
    }
    const foreign = await flows.call('GET', `/${integration.workflowId}/integrations`, undefined, {
      token: flows.stranger.token,
    })
    expect(foreign).toMatchObject({ status: 404, error_code: 3000 })
  })
})

describe('the runner', () => {
  const ask = async ({ shortId }: Pick<Integration, 'shortId'>, query = '') => {
    const { statusCode, headers, body } = await flows.app.app.inject(`/r/${shortId}${query}`)
    return { status: statusCode, location: headers.location, body }
  }

  it('answers under the addresses of an integration, while it is enabled', async () => {
    const workflow = await flows.published(bannerDefinition('https://shop.example/a.png'))
    const integration = await made(workflow, { entrypointId: 'zone' })
    expect(await ask(integration)).toMatchObject({ status: 302, location: 'https://shop.example/a.png' })
    await flows.succeed(change(integration, { enabled: false }))
    const unseen = await made(workflow, { entrypointId: 'zone', enabled: false })
    expect((await ask(unseen)).status).toBe(200)
    for (const shortId of ['0'.repeat(10), 'a%00b', 'x'.repeat(100), unseen.shortId.slice(1)]) {
      expect((await ask({ shortId })).status).toBe(404)
    }
  })

  it('shows what was published, and follows other changes, from the next request on', async () => {
    const workflow = await flows.published(bannerDefinition('https://shop.example/a.png'))
    const integration = await made(workflow, { entrypointId: 'zone' })
    for (const name of ['a', 'b', 'c']) {
      const address = `https://shop.example/${name}.png`
      const draft = await flows.draftOf(workflow)
      const saved = await flows.succeed(
        flows.save(workflow, draft, { definition: bannerDefinition(address) }),
      )
      await flows.succeed(flows.publish(workflow, saved))
      expect((await ask(integration)).location).toBe(address)
    }
    await flows.succeed(change(integration, { enabled: false }))
    expect((await ask(integration)).status).toBe(200)
    await flows.succeed(change(integration, { enabled: true }))
    expect((await ask(integration)).status).toBe(302)
    await flows.succeed(flows.act(workflow, 'archive'))
    expect((await ask(integration)).status).toBe(200)
  })

  it('fills templates', async () => {
    const template = await flows.succeed(
      flows.call<{ id: string }>('POST', '/json-templates', {
        name: 'Card',
        resourceGroupIds: [flows.teamId],
        definition: {
          type: { type: 'static', value: 'card' },
          title: { type: 'dependency', variable: 'title' },
        },
        variables: [{ name: 'title', type: 'scalar' }],
      }),
    )
    const workflow = await flows.published({
      entrypoints: { zone: { type: 'web', format: 'json' } },
      nodes: {
        city: { type: 'parameter', parameter: 'city', kind: 'text' },
        card: { type: 'json', templateId: template.id, bindings: { title: { node: 'city' } } },
      },
      edges: { e1: { from: 'zone', to: 'city' }, e2: { from: 'city', to: 'card' } },
    })
    const integration = await made(workflow, { entrypointId: 'zone' })
    const { status, body } = await ask(integration, '?city=Lyon')
    expect([status, body]).toEqual([200, '{"type":"card","title":"Lyon"}'])
  })
})

describe('the variable profile of a workflow', () => {
  const profile = (parameters: VariableProfile['parameters']) =>
    flows.succeed(flows.call<VariableProfile>('POST', '/variable-profiles', { name: 'Tool', parameters }))

  it('gives addresses its parameters, and leaves them when it is deleted', async () => {
    const { id, ...made1 } = await profile([
      { name: 'trk-u', default: '%%ID%%' },
      { name: 'utm_source', default: 'tool' },
      { name: 'utm_term' },
    ])
    const workflow = await drafted()
    const plain = await made(workflow, { entrypointId: 'mail' })
    const own = await made(workflow, { entrypointId: 'mail', parameters: { b: '2', utm_source: 'own' } })
    const bystander = await made(await drafted(), { entrypointId: 'mail', parameters: { c: '3' } })
    const updated = await flows.succeed(
      flows.call<Workflow>('PATCH', `/${workflow.id}`, { variableProfileId: id.toUpperCase() }),
    )
    const queryOf = (each: Integration) => each.display.split('?')[1]
    expect(updated.integrations.map(queryOf)).toEqual([
      'trk-u=%%ID%%&utm_source=tool',
      'trk-u=%%ID%%&utm_source=own&b=2',
    ])
    await flows.succeed(
      flows.call('PUT', `/variable-profiles/${id}`, {
        ...made1,
        parameters: [...made1.parameters, { name: 'z', default: '9' }],
      }),
    )
    expect(queryOf(await read(plain))).toBe('trk-u=%%ID%%&utm_source=tool&z=9')

    await flows.succeed(flows.call('DELETE', `/variable-profiles/${id}`))
    expect(await flows.read(workflow)).not.toHaveProperty('variableProfileId')
    expect(queryOf(await read(plain))).toBe('trk-u=%%ID%%&utm_source=tool&z=9')
    expect((await read(plain)).parameters).toEqual({ 'trk-u': '%%ID%%', utm_source: 'tool', z: '9' })
    expect([...new URL((await read(own)).display).searchParams].toSorted()).toEqual(
      [...new URLSearchParams('trk-u=%%ID%%&utm_source=own&b=2&z=9')].toSorted(),
    )
    expect((await read(bystander)).parameters).toEqual({ c: '3' })
  })

  it('is one of the company', async () => {
    const foreign = await flows.succeed(
      flows.call<VariableProfile>(
        'POST',
        '/variable-profiles',
        { name: 'Foreign', parameters: [] },
        { token: flows.stranger.token },
      ),
    )
    const workflow = await flows.create()
    for (const id of [foreign.id, 'f'.repeat(24)]) {
      const reply = await flows.call('PATCH', `/${workflow.id}`, { variableProfileId: id })
      expect(reply).toMatchObject({ status: 400 })
    }
  })
})
