import { type Binding, refusedSchemes } from '@millrace/contract/resources/workflow-definition.ts'
import { describe, expect, test } from 'vitest'
import {
  createRunnerWorld,
  edgesOf,
  eventsDatasource,
  htmlZone,
  jsonZone,
  mailZone,
  pageZone,
  runnerCategory,
  runnerDatasource,
  runnerTags,
  runnerTemplate,
  runnerWorkflow,
  straight,
} from '../support/runner.ts'

const address = '/r/abcdef1234'
const greeting = {
  [runnerTemplate]: {
    definition: {
      title: { type: 'dependency', variable: 'title' },
      fixed: { type: 'static', value: 1 },
    },
    variables: [{ name: 'title', type: 'scalar' as const }],
  },
}
const json = (bindings: Record<string, Binding>) => ({
  type: 'json' as const,
  templateId: runnerTemplate,
  bindings,
})
const city = { type: 'parameter' as const, parameter: 'city', kind: 'text' as const }

describe('a display', () => {
  test('answers the JSON of a template with its values', async () => {
    const { publish, get } = createRunnerWorld()
    await publish({
      definition: straight(jsonZone, json({ title: { node: 'city' } }), { city }),
      templates: greeting,
    })
    const reply = await get(`${address}?city=Lyon`)
    expect(reply.statusCode).toBe(200)
    expect(reply.headers['content-type']).toBe('application/json; charset=utf-8')
    expect(reply.json()).toEqual({ title: 'Lyon', fixed: 1 })
  })

  test('answers 204 where no variable of the template has a value', async () => {
    const { publish, get, recorded } = createRunnerWorld()
    await publish({
      definition: straight(jsonZone, json({ title: { node: 'city' } }), { city }),
      templates: greeting,
    })
    expect((await get(address)).statusCode).toBe(204)
    expect(recorded).toHaveLength(1)
  })

  test('redirects to the address of an image, with encoded values', async () => {
    const { publish, get } = createRunnerWorld()
    const image = {
      type: 'image' as const,
      url: 'https://img.example/{{city}}.png?c={{city}}',
      bindings: { city: { node: 'city' } },
    }
    await publish({ definition: straight(mailZone, image, { city }) })
    const reply = await get(`${address}?city=${encodeURIComponent('a/b&c="d"\r\nSet-Cookie: x')}`)
    expect(reply.statusCode).toBe(302)
    expect(reply.headers.location).toBe(
      'https://img.example/a%2Fb%26c%3D%22d%22%0D%0ASet-Cookie%3A%20x.png?c=a%2Fb%26c%3D%22d%22%0D%0ASet-Cookie%3A%20x',
    )
    expect(reply.headers['set-cookie']).toBeUndefined()
  })

  test('has no address where a value would lead out of the path that is written', async () => {
    const { publish, get } = createRunnerWorld()
    const redirect = {
      type: 'redirect' as const,
      url: 'https://shop.example/deals/{{city}}/today?q={{city}}',
      bindings: { city: { node: 'city' } },
    }
    await publish({ definition: straight(pageZone, redirect, { city }) })
    const locationAt = async (value: string) => (await get(`${address}?city=${value}`)).headers.location
    expect(await locationAt('...')).toBe('https://shop.example/deals/.../today?q=...')
    for (const value of ['.', '..', '%2e%2E']) expect(await locationAt(value)).toBeUndefined()
  })

  test('answers HTML with escaped values, a strict policy and the address of the click', async () => {
    const { publish, get } = createRunnerWorld()
    const html = {
      type: 'html' as const,
      html: '<p title="{{city}}">{{city}}</p><a href="{{click}}">go</a>',
      bindings: { city: { node: 'city' } },
      redirect: { value: 'https://shop.example/' },
    }
    await publish({ definition: straight(htmlZone, html, { city }) })
    const reply = await get(`${address}?city=${encodeURIComponent('"><script>')}&trk-u=ada`)
    expect(reply.headers['content-type']).toBe('text/html; charset=utf-8')
    expect(reply.headers['content-security-policy']).toMatch(/^default-src 'none'.*sandbox/)
    expect(reply.headers['content-security-policy']).not.toMatch(/allow-scripts|allow-same-origin/)
    expect(reply.body.replace(/(?<=trk-shown=)[\w-]+/, '…')).toBe(
      '<p title="&quot;&gt;&lt;script&gt;">&quot;&gt;&lt;script&gt;</p>' +
        '<a href="https://millrace.example/r/abcdef1234?city=%22%3E%3Cscript%3E&amp;trk-u=ada&amp;mode=click&amp;trk-shown=…">go</a>',
    )
  })

  test('shows of HTML that is stored already no address that is a visitor’s, runs or moves by itself', async () => {
    const { publish, get } = createRunnerWorld()
    const html = {
      type: 'html' as const,
      html: '<meta http-equiv="refresh" content="0;url={{to}}"><a href="{{to}}">1</a><a href="//{{to}}">2</a><a href="javascript:x">3</a>',
      bindings: { to: { node: 'to' } },
    }
    const to = { type: 'parameter' as const, parameter: 'to', kind: 'text' as const }
    await publish({
      definition: straight(htmlZone, html, { to }),
      integration: { domain: 'brand.example' },
    })
    const links = async (address: string) =>
      (await get(`/r/abcdef1234?to=${encodeURIComponent(address)}`)).body.match(/(http-equiv|href)="[^"]*"/g)
    const none = ['http-equiv=""', 'href=""', 'href=""', 'href=""']
    expect(await links('https://evil.example/')).toEqual(none)
    expect(await links('https://shop.brand.example/')).toEqual(
      none.with(1, 'href="https://shop.brand.example/"'),
    )
  })

  test('leads a landing page to its redirect', async () => {
    const { publish, get } = createRunnerWorld()
    await publish({ definition: straight(pageZone, { type: 'redirect', url: 'myapp://open/1' }) })
    const reply = await get(address)
    expect([reply.statusCode, reply.headers.location]).toEqual([302, 'myapp://open/1'])
  })

  test('is kept by no cache, readable by every page, and carries no credentials', async () => {
    const { publish, get } = createRunnerWorld()
    await publish({ definition: straight(jsonZone, json({ title: { value: 'x' } })), templates: greeting })
    const { headers } = await get(address, { origin: 'https://shop.example' })
    expect(headers).toMatchObject({
      'cache-control': 'no-cache, no-store, max-age=0',
      pragma: 'no-cache',
      'access-control-allow-origin': '*',
      'x-content-type-options': 'nosniff',
      'x-millrace-run-id': expect.stringMatching(/^[0-9a-f]{24}$/),
    })
    expect(headers['access-control-allow-credentials']).toBeUndefined()
    expect(headers['set-cookie']).toBeUndefined()
  })

  test('answers HEAD without a body and without an event, and a preflight', async () => {
    const { publish, get, recorded } = createRunnerWorld()
    await publish({ definition: straight(jsonZone, json({ title: { value: 'x' } })), templates: greeting })
    const head = await get(address, {}, 'HEAD')
    expect([head.statusCode, head.body, Number(head.headers['content-length']) > 5]).toEqual([200, '', true])
    const preflight = await get(address, { 'access-control-request-headers': 'x-a' }, 'OPTIONS')
    expect(preflight.statusCode).toBe(204)
    expect(preflight.headers['access-control-allow-methods']).toBe('GET, HEAD')
    expect(recorded).toEqual([])
  })
})

describe('what has nothing to show', () => {
  const empty = { type: 'empty' as const }
  test.each([
    ['a mail', mailZone, 200, 'image/png'],
    ['a page', pageZone, 200, 'text/html; charset=utf-8'],
    ['HTML', htmlZone, 204, undefined],
    ['JSON', jsonZone, 204, undefined],
  ] as const)(
    '%s answers its default: empty, unpublished and switched off',
    async (_, zone, status, type) => {
      const { publish, get, recorded } = createRunnerWorld()
      const seen = async () => {
        const reply = await get(address)
        return [reply.statusCode, reply.headers['content-type']]
      }
      await publish({ definition: straight(zone, empty) })
      expect(await seen()).toEqual([status, type])
      expect(recorded.map(({ data }) => data.returnCode)).toEqual([undefined])
      await publish({ definition: straight(zone, empty), published: false })
      expect(await seen()).toEqual([status, type])
      await publish({ definition: straight(zone, empty), integration: { enabled: false } })
      expect(await seen()).toEqual([status, type])
      expect(recorded).toHaveLength(1)
    },
  )

  test('an image is a PNG of 600 by 1 transparent pixels', async () => {
    const { publish, get } = createRunnerWorld()
    await publish({ definition: straight(mailZone, empty) })
    const { rawPayload } = await get(address)
    expect(rawPayload.subarray(0, 8).toString('latin1')).toBe('\x89PNG\r\n\x1a\n')
    expect([rawPayload.readUInt32BE(16), rawPayload.readUInt32BE(20)]).toEqual([600, 1])
    expect(rawPayload.includes('tRNS')).toBe(true)
  })

  test('an address that no integration has is 404 without a body', async () => {
    const { get, world } = createRunnerWorld()
    const reply = await get('/r/unknown123')
    expect([reply.statusCode, reply.body]).toEqual([404, ''])
    await get('/r/unknown123')
    expect(world.asked.zones).toBe(1)
    for (const odd of ['__proto__', 'a', '%00', 'x'.repeat(300), '..%2f..%2fetc'])
      expect((await get(`/r/${odd}`)).statusCode).toBe(404)
    // Only the first of these has a shape that addresses can have.
    expect(world.asked.zones).toBe(2)
  })

  test('while nothing can be looked up, an image is answered to who asks for one', async () => {
    const { get, world } = createRunnerWorld()
    world.down = true
    const image = await get(address, { accept: 'image/avif,image/webp,*/*' })
    expect([image.statusCode, image.headers['content-type']]).toEqual([200, 'image/png'])
    const page = await get(address, { accept: 'text/html,application/xhtml+xml' })
    expect([page.statusCode, page.headers['content-type']]).toEqual([200, 'text/html; charset=utf-8'])
    expect((await get(address)).statusCode).toBe(204)
  })
})

describe('a click', () => {
  const linked = (redirect: object | undefined, zone = mailZone) =>
    straight(zone, {
      type: 'image',
      url: 'https://img.example/a.png',
      ...(redirect && { redirect }),
    } as never)

  test('leads to the destination with the parameters of the address, the workflow and the branch', async () => {
    const { publish, get, recorded, zones } = createRunnerWorld()
    await publish({ definition: linked({ value: 'https://shop.example/p?a=%20+1&utm_source=own#top' }) })
    const reply = await get(`${address}?mode=click&trk-u=ada&utm_source=mail&city=Lyon&city=Paris`)
    const branchId = Object.keys(zones.get('abcdef1234')?.published?.analyze.branchesInfos ?? {})[0]
    expect(reply.statusCode).toBe(302)
    expect(reply.headers.location).toBe(
      `https://shop.example/p?a=%20+1&utm_source=own&city=Lyon&city=Paris&trk_id=65f0c0ffee5ca1ab1e0ddc01&utm_term=${branchId}#top`,
    )
    expect(recorded.map(({ name }) => name)).toEqual(['workflow_click'])
  })

  test('leaves a deep link as it is', async () => {
    const { publish, get } = createRunnerWorld()
    await publish({ definition: linked({ value: 'myapp://product/1?x=1' }) })
    expect((await get(`${address}?mode=click&a=1`)).headers.location).toBe('myapp://product/1?x=1')
  })

  test.each([...refusedSchemes])('leads to no address of the scheme %s', async (scheme) => {
    const { publish, get } = createRunnerWorld()
    await publish({ definition: linked({ value: `${scheme}://example.com/x` }) })
    expect((await get(`${address}?mode=click`)).statusCode).toBe(404)
  })

  test('without a destination is 204 for JSON and 404 otherwise, with return code 3503', async () => {
    const { publish, get, recorded } = createRunnerWorld()
    await publish({ definition: linked(undefined) })
    expect((await get(`${address}?mode=click`)).statusCode).toBe(404)
    await publish({ definition: straight(jsonZone, json({ title: { value: 'x' } })), templates: greeting })
    expect((await get(`${address}?mode=click`)).statusCode).toBe(204)
    expect(recorded.map(({ data }) => data.returnCode)).toEqual(['3503', '3503'])
  })

  test('on nothing is 204 where the place takes JSON and 404 otherwise', async () => {
    const { publish, get } = createRunnerWorld()
    await publish({ definition: straight(jsonZone, { type: 'empty' }) })
    expect((await get(`${address}?mode=click`)).statusCode).toBe(204)
    await publish({ definition: straight(mailZone, { type: 'empty' }) })
    expect((await get(`${address}?mode=click`)).statusCode).toBe(404)
  })

  test('of a template leads where its redirect variable says', async () => {
    const { publish, get } = createRunnerWorld()
    const [template] = Object.values(greeting)
    await publish({
      definition: straight(jsonZone, json({ title: { value: 'https://shop.example/x' } })),
      templates: { [runnerTemplate]: { ...template, redirectVariable: 'title' } as never },
    })
    expect((await get(`${address}?mode=click`)).headers.location).toMatch(/^https:\/\/shop\.example\/x\?/)
  })

  test.each([
    'https://evil.example/',
    '//evil.example',
    'https://shop.example@evil.example/',
    'https://shop.example.evil.example/',
    'https://evil.example/#https://shop.example/',
    'https:evil.example',
    'javascript:alert(1)',
    'data:text/html,x',
    'https://evil.example\\@shop.example/',
    'http://shop.example:8080/',
    '\thttps://evil.example/',
  ])('is not led elsewhere by trk-redirect: %s', async (wanted) => {
    const { publish, get } = createRunnerWorld()
    await publish({
      definition: linked({ value: 'https://shop.example/p' }),
      integration: { domain: 'brand.example' },
    })
    const reply = await get(`${address}?mode=click&trk-redirect=${encodeURIComponent(wanted)}`)
    expect(reply.headers.location).toMatch(/^https:\/\/shop\.example\/p\?trk_id=/)
  })

  test.each(['https://shop.example/other', 'https://brand.example/x', 'https://www.brand.example/x'])(
    'follows trk-redirect within its own hosts: %s',
    async (wanted) => {
      const { publish, get } = createRunnerWorld()
      await publish({
        definition: linked({ value: 'https://shop.example/p' }),
        integration: { domain: 'brand.example' },
      })
      const reply = await get(`${address}?mode=click&trk-redirect=${encodeURIComponent(wanted)}`)
      expect(String(reply.headers.location).startsWith(`${wanted}?trk_id=`)).toBe(true)
    },
  )

  test('is not led elsewhere by a parameter that the workflow takes for its destination', async () => {
    const { publish, get } = createRunnerWorld()
    const target = { type: 'parameter' as const, parameter: 'to', kind: 'text' as const }
    const image = { type: 'image' as const, url: 'https://img.example/a.png', redirect: { node: 'target' } }
    await publish({
      definition: straight(mailZone, image, { target }),
      integration: { domain: 'brand.example' },
    })
    const click = async (to: string) => {
      const reply = await get(`${address}?mode=click&to=${encodeURIComponent(to)}`)
      return [reply.statusCode, String(reply.headers.location ?? '').split('?')[0]]
    }
    expect(await click('https://evil.example/')).toEqual([404, ''])
    expect(await click('https://brand.example/x')).toEqual([302, 'https://brand.example/x'])
  })

  /** A display as the events of a person have it. */
  const seen = (labels: Record<string, string>) => ({
    name: 'workflow_display',
    time: new Date(0),
    datasourceId: eventsDatasource,
    url: '',
    ids: [],
    labels: { workflowId: runnerWorkflow, ...labels },
  })
  const safari = { 'user-agent': 'Mozilla/5.0 (Macintosh) Safari/605' }

  test('counts the mail client of the last display, whichever process answered that one', async () => {
    const { publish, get, recorded, events, world } = createRunnerWorld()
    await publish({ definition: linked({ value: 'https://shop.example/p' }) })
    events.push(
      seen({ workflowId: 'another', mailClient: 'Outlook' }),
      seen({ mailClient: 'Gmail' }),
      seen({ mailClient: 'Notes' }),
    )
    await get(`${address}?trk-u=ada&mode=click`, safari)
    await get(`${address}?mode=click`, safari)
    world.failPersons = new Error('the engine is down')
    const click = await get(`${address}?trk-u=ada&mode=click`, safari)
    expect(click.headers.location).toContain('https://shop.example/p')
    expect(recorded.map(({ data }) => data.mailClient)).toEqual(['Gmail', undefined, undefined])
    expect(world.asked.persons).toBe(2)
  })

  test('asks for no display where the content is in no mail, or the mail says what it was', async () => {
    const { publish, get, world } = createRunnerWorld()
    await publish({ definition: linked({ value: 'https://shop.example/p' }, htmlZone) })
    await get(`${address}?trk-u=ada&mode=click`, safari)
    await publish({ definition: linked({ value: 'https://shop.example/p' }) })
    await get(`${address}?trk-u=ada&mode=click`, { 'user-agent': 'Thunderbird' })
    expect(world.asked.persons).toBe(0)
  })

  describe('that says on which content it is', () => {
    const html = (redirect: object) => ({ type: 'html', html: '{{click}}', redirect }) as never
    /** Two ways by what the cohort says at the moment. */
    const definition = {
      nodes: {
        in: { type: 'cohort', cohortId: runnerCategory },
        yes: html({ value: 'https://shop.example/members' }),
        no: html({ value: 'https://shop.example/all' }),
      },
      entrypoints: { zone: htmlZone },
      edges: edgesOf('zone>in', 'in.member>yes', 'in.default>no'),
    } as never
    const pathOf = (body: string) => body.replaceAll('&amp;', '&').replace('https://millrace.example', '')
    const placeOf = (reply: { headers: { location?: unknown } }) =>
      String(reply.headers.location).split('?')[0]

    async function open(query = '?trk-u=ada') {
      const first = createRunnerWorld()
      first.world.members.add('ada')
      await first.publish({ definition })
      const click = pathOf((await first.get(`${address}${query}`)).body)
      return { first, click }
    }

    test('leads there in every process, and when the workflow would show another one', async () => {
      const { first, click } = await open()
      const other = createRunnerWorld()
      await other.publish({ definition })
      const [here, there] = [await first.get(click), await other.get(click)]
      expect([placeOf(here), placeOf(there)]).toEqual([
        'https://shop.example/members',
        'https://shop.example/members',
      ])
      expect(there.headers.location).not.toContain('trk-shown')
      const [display, clickHere] = first.recorded.map(({ data }) => data)
      const labels = { branchId: display?.branchId, outputType: 'html', returnCode: undefined }
      expect([clickHere, other.recorded[0]?.data]).toEqual([
        expect.objectContaining(labels),
        expect.objectContaining(labels),
      ])
      expect(other.world.asked.members).toBe(0)
    })

    test('is of the person without an identifier to whom it was shown', async () => {
      const { first, click } = await open('')
      const other = createRunnerWorld()
      await other.publish({ definition })
      await other.get(click, { 'user-agent': 'Another' })
      expect(other.recorded[0]?.tmpId).toBe(first.recorded[0]?.tmpId)
    })

    test.each([
      ['with another person', (click: string) => click.replace('trk-u=ada', 'trk-u=eve')],
      ['with another device', (click: string) => `${click}&trk-t=phone`],
      ['without it, as in an old message', (click: string) => click.replace(/&trk-shown=.*/, '')],
      ['with another byte', (click: string) => `${click.slice(0, -4)}AAAA`],
      ['with anything else', (click: string) => click.replace(/trk-shown=.*/, 'trk-shown=%00%ff')],
    ])('runs the workflow again %s', async (_, changed) => {
      const { click } = await open()
      const other = createRunnerWorld()
      await other.publish({ definition })
      expect(placeOf(await other.get(changed(click)))).toBe('https://shop.example/all')
    })

    test.each([
      ['company', { companyId: '65f0c0ffee5ca1ab1e0ddba9' }],
      ['workflow', { workflowId: '65f0c0ffee5ca1ab1e0ddc09' }],
      ['integration', { integration: { id: '65f0c0ffee5ca1ab1e0ddc19' } }],
      ['zone', { entrypointId: 'second' }],
    ])('is good at no other %s', async (_, elsewhere) => {
      const { click } = await open()
      const other = createRunnerWorld()
      const { entrypoints, edges, nodes } = definition as Record<string, object>
      await other.publish({
        definition: {
          nodes,
          entrypoints: { ...entrypoints, second: htmlZone },
          edges: { ...edges, e9: { from: 'second', to: 'in' } },
        } as never,
        ...elsewhere,
      })
      expect(placeOf(await other.get(click))).toBe('https://shop.example/all')
    })

    test('is left out where its destination is too long for an address', async () => {
      const { publish, get } = createRunnerWorld()
      const definition = straight(htmlZone, html({ value: `https://shop.example/${'x'.repeat(1_600)}` }))
      await publish({ definition })
      expect((await get(`${address}?trk-u=ada`)).body).not.toContain('trk-shown')
    })
  })
})

describe('the event of a run', () => {
  test('has every dimension, and nothing that was not given', async () => {
    const { publish, get, recorded, zones } = createRunnerWorld()
    const definition = {
      nodes: {
        gate: { type: 'conditions', cases: [{ id: 'never', match: 'and', rules: [rule] }] },
        a: { type: 'image', url: 'https://img.example/a.png' },
      },
      entrypoints: { zone: { ...mailZone, position: 1 }, other: { ...mailZone, position: 0 } },
      edges: edgesOf('zone>gate', 'other>gate', 'gate.never>a', [
        'gate.default>a',
        {
          individualized: true,
          categoryId: runnerCategory,
          tags: [{ tagKeyId: runnerTags.key, tagValueId: runnerTags.value }],
        },
      ]),
    } as const
    await publish({ definition: definition as never })
    const asked = `${address}?trk-u=ada&trk-t=tmp-1&trk-l=fr-fr&trk-m=spring&utm_source=mail&a=1&a=2`
    const reply = await get(asked, { referer: 'https://mail.example/inbox', 'user-agent': 'Mozilla/5.0' })
    const infos = Object.entries(zones.get('abcdef1234')?.published?.analyze.branchesInfos ?? {})
    const branchId = infos.find(([, { steps }]) => steps[0]?.output === 'default')?.[0]
    expect(recorded).toEqual([
      {
        name: 'workflow_display',
        companyId: '65f0c0ffee5ca1ab1e0ddba1',
        datasourceId: '65f0c0ffee5ca1ab1e0dda01',
        countries: true,
        eventId: reply.headers['x-millrace-run-id'],
        url: 'https://mail.example/inbox',
        tmpId: 'tmp-1',
        clientId: 'ada',
        userAgent: 'Mozilla/5.0',
        address: '127.0.0.1',
        data: {
          workflowId: '65f0c0ffee5ca1ab1e0ddc01',
          versionId: '65f0c0ffee5ca1ab1e0ddc21',
          branchId,
          entrypointId: 'zone',
          zone: 1,
          zoneType: 'email',
          format: 'embed-image',
          outputType: 'image',
          message: 'spring',
          language: 'fr_FR',
          individualized: 'true',
          generationMs: expect.any(Number),
          returnCode: undefined,
          categoryId: runnerCategory,
          tagValueIds: [runnerTags.value],
          mailClient: 'Apple Mail',
          runId: reply.headers['x-millrace-run-id'],
          integrationId: '65f0c0ffee5ca1ab1e0ddc11',
          'parameter.utm_source': 'mail',
          'parameter.a': '1,2',
        },
      },
    ])
  })

  const rule = { value: { value: '' }, type: 'text', operator: 'notEmpty' }

  test.each(['null', 'undefined', '{{contact.id}}', '%%EMAIL%%', '*|EMAIL|*', '[%email%]', ''])(
    'knows nobody by what a sending tool did not replace: %s',
    async (sent) => {
      const { publish, get, recorded } = createRunnerWorld()
      await publish({ definition: straight(mailZone, { type: 'image', url: 'https://img.example/a.png' }) })
      await get(`${address}?trk-u=${encodeURIComponent(sent)}&b=1`, { 'user-agent': 'A' })
      await get(`${address}?b=1`, { 'user-agent': 'B' })
      const [first, second] = recorded
      expect(first?.clientId).toBeUndefined()
      expect(first?.tmpId).toMatch(/^anonymous-[0-9a-f]{24}$/)
      expect(second?.tmpId).not.toBe(first?.tmpId)
      expect(first?.url).toBe('https://millrace.example/r/abcdef1234?b=1')
    },
  )

  test('is missing where the log takes none, and the content is answered all the same', async () => {
    const { publish, get, world, runner, warnings } = createRunnerWorld()
    await publish({ definition: straight(mailZone, { type: 'image', url: 'https://img.example/a.png' }) })
    world.logDown = true
    expect((await get(address)).statusCode).toBe(302)
    expect((await get(address)).statusCode).toBe(302)
    expect(runner.totals).toMatchObject({ displays: 2, lost: 2 })
    expect(warnings).toHaveLength(1)
  })

  test('bounds what a caller can send', async () => {
    const { publish, get, recorded } = createRunnerWorld()
    await publish({ definition: straight(mailZone, { type: 'image', url: 'https://img.example/a.png' }) })
    const many = Array.from({ length: 300 }, (_, i) => `p${i}=${'x'.repeat(20)}`).join('&')
    await get(`${address}?trk-u=${'u'.repeat(3000)}&long=${'y'.repeat(5000)}&__proto__=1&${many}`)
    const [event] = recorded
    expect(event?.clientId).toHaveLength(512)
    const kept = Object.keys(event?.data ?? {}).filter((key) => key.startsWith('parameter.'))
    expect(kept).toHaveLength(50)
    expect(event?.data['parameter.long']).toHaveLength(2000)
    expect(({} as Record<string, unknown>)['1']).toBeUndefined()
  })
})

describe('faults of nodes', () => {
  const offer = {
    type: 'datasource' as const,
    datasourceId: runnerDatasource,
    filters: [{ field: 'city', operator: '$eq', value: { node: 'city' } }],
  }
  const definition = {
    nodes: {
      city,
      offer,
      gate: {
        type: 'conditions',
        cases: [
          {
            id: 'has',
            match: 'and',
            rules: [{ value: { node: 'offer', field: 'title' }, type: 'text', operator: 'notEmpty' }],
          },
          {
            id: 'hasNot',
            match: 'and',
            rules: [{ value: { node: 'offer', field: 'title' }, type: 'text', operator: 'empty' }],
          },
        ],
      },
      shown: json({ title: { node: 'offer', field: 'title' } }),
      none: json({ title: { value: 'none' } }),
      usual: json({ title: { value: 'usual' } }),
    },
    entrypoints: { zone: jsonZone },
    edges: edgesOf(
      'zone>city',
      'city>offer',
      'offer>gate',
      'gate.has>shown',
      'gate.hasNot>none',
      'gate.default>usual',
    ),
  } as never

  test('a datasource that answers decides', async () => {
    const { publish, get, rows, recorded } = createRunnerWorld()
    rows.push({ city: 'Lyon', title: 'Bouchon' })
    await publish({ definition, templates: greeting })
    expect((await get(`${address}?city=Lyon`)).json().title).toBe('Bouchon')
    expect((await get(`${address}?city=Nice`)).json().title).toBe('none')
    expect((await get(address)).json().title).toBe('none')
    expect(recorded.map(({ data }) => data.returnCode)).toEqual([undefined, undefined, undefined])
  })

  test('one that fails leads to the default with 3502, and is logged once in a minute', async () => {
    const { publish, get, world, recorded, warnings } = createRunnerWorld()
    await publish({ definition, templates: greeting })
    world.failRows = new Error('the store is down')
    expect((await get(`${address}?city=Lyon`)).json().title).toBe('usual')
    expect((await get(`${address}?city=Nice`)).json().title).toBe('usual')
    expect(recorded.map(({ data }) => data.returnCode)).toEqual(['3502', '3502'])
    expect(warnings).toHaveLength(1)
    expect(warnings[0]?.fields).toMatchObject({ node: 'offer' })
    world.now += 61_000
    await get(`${address}?city=Lyon`)
    expect(warnings).toHaveLength(2)
  })

  test('one that does not answer within the budget leads to the default with 3501', async () => {
    const { publish, get, world, recorded } = createRunnerWorld({ timeLimitMs: 20 })
    await publish({ definition, templates: greeting })
    world.rowDelay = 3_000
    expect((await get(`${address}?city=Lyon`)).json().title).toBe('usual')
    expect(recorded.map(({ data }) => data.returnCode)).toEqual(['3501'])
  })

  test('what came too late for one run serves the next', async () => {
    const { publish, get, world, rows } = createRunnerWorld({ timeLimitMs: 20 })
    rows.push({ city: 'Lyon', title: 'Bouchon' })
    await publish({ definition, templates: greeting })
    world.rowDelay = 60
    expect((await get(`${address}?city=Lyon`)).json().title).toBe('usual')
    await expect
      .poll(async () => (await get(`${address}?city=Lyon`)).json().title, { interval: 20 })
      .toBe('Bouchon')
  })

  test('an image that has no address is the transparent one, with 3501', async () => {
    const { publish, get, recorded } = createRunnerWorld()
    const image = { type: 'image' as const, url: '{{city}}', bindings: { city: { node: 'city' } } }
    await publish({ definition: straight(mailZone, image, { city }) })
    const reply = await get(`${address}?city=javascript:alert(1)`)
    expect([reply.statusCode, reply.headers['content-type']]).toEqual([200, 'image/png'])
    expect(recorded.map(({ data }) => data.returnCode)).toEqual(['3501'])
  })

  test('a version that no longer has the entrypoint answers the default of its integration, with 3501', async () => {
    const { publish, get, recorded } = createRunnerWorld()
    await publish({
      definition: straight(mailZone, { type: 'empty' }),
      entrypointId: 'gone',
      integration: { type: 'email', format: 'embed-image' },
    })
    expect((await get(address)).headers['content-type']).toBe('image/png')
    expect(recorded.map(({ data }) => [data.returnCode, data.zoneType])).toEqual([['3501', 'email']])
  })

  test('a click leads where the content leads that the person was shown, though its run fails', async () => {
    const { publish, get, world, events, recorded, zones } = createRunnerWorld()
    const to = (place: string) => ({ redirect: { value: `https://shop.example/${place}` } })
    await publish({
      definition: {
        nodes: {
          offers: { type: 'datasource', datasourceId: runnerDatasource },
          has: { type: 'conditions', cases: [{ id: 'has', match: 'and', rules: [hasTitle] }] },
          yes: { ...json({ title: { value: 'yes' } }), ...to('offers') },
          no: json({ title: { value: 'no' } }),
        },
        entrypoints: { zone: jsonZone },
        edges: edgesOf('zone>offers', 'offers>has', 'has.has>yes', 'has.default>no'),
      } as never,
      templates: greeting,
    })
    const { published, integration } = zones.get('abcdef1234') ?? {}
    const infos = Object.entries(published?.analyze.branchesInfos ?? {})
    const labels = {
      workflowId: runnerWorkflow,
      versionId: published?.versionId ?? '',
      integrationId: integration?.id ?? '',
      branchId: infos.find(([, { outputNodeId }]) => outputNodeId === 'yes')?.[0] ?? '',
    }
    const display = { name: 'workflow_display', time: new Date(0), datasourceId: eventsDatasource, url: '' }
    const event = { ...display, ids: [], labels }
    world.failRows = new Error('the database is down')
    // Nothing is stored of a display yet.
    expect((await get(`${address}?trk-u=ada&mode=click`)).statusCode).toBe(204)
    events.push({ ...event, labels: { ...labels, versionId: 'an older one' } })
    expect((await get(`${address}?trk-u=ada&mode=click`)).statusCode).toBe(204)
    events.splice(0, 1, event)
    const shown = await get(`${address}?trk-u=ada&mode=click`)
    expect([shown.statusCode, shown.headers.location?.split('?')[0]]).toEqual([
      302,
      'https://shop.example/offers',
    ])
    expect((await get(`${address}?mode=click`)).statusCode).toBe(204)
    expect(recorded.at(-2)?.data).toMatchObject({ branchId: labels.branchId, returnCode: '3502' })
    expect(recorded.at(-1)?.data).toMatchObject({ returnCode: '3503' })
  })

  const hasTitle = { value: { node: 'offers', field: 'title' }, type: 'text', operator: 'notEmpty' }

  test('a cohort that cannot be asked leads to the default', async () => {
    const { publish, get, world, recorded } = createRunnerWorld()
    await publish({
      definition: {
        nodes: {
          in: { type: 'cohort', cohortId: runnerCategory },
          yes: json({ title: { value: 'yes' } }),
          no: json({ title: { value: 'no' } }),
        },
        entrypoints: { zone: jsonZone },
        edges: edgesOf('zone>in', 'in.member>yes', 'in.default>no'),
      } as never,
      templates: greeting,
    })
    world.members.add('ada')
    expect((await get(`${address}?trk-u=ada`)).json().title).toBe('yes')
    expect((await get(`${address}?trk-u=eve`)).json().title).toBe('no')
    expect((await get(address)).json().title).toBe('no')
    expect(world.asked.members).toBe(2)
    world.failPersons = new Error('the engine is down')
    expect((await get(`${address}?trk-u=ada`)).json().title).toBe('no')
    expect(recorded.map(({ data }) => data.returnCode)).toEqual([undefined, undefined, undefined, '3502'])
  })
})
