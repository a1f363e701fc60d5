import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { second } from '../support/fake-time.ts'
import type { IdentityProvider } from '../support/identity-provider.ts'
import { requestIdOf } from '../support/saml-forgery.ts'
import {
  createBrowser,
  type OpenedSingleSignOn,
  openSingleSignOn,
  personOf,
  type SingleSignOnApp,
} from '../support/single-sign-on.ts'

/** docs/faults.md, A17 and O04: the pages on the way, and a configuration that changes meanwhile. */

let opened: OpenedSingleSignOn
let app: SingleSignOnApp
let idp: IdentityProvider
let token: string
let begin: OpenedSingleSignOn['begin']
const config = '/v2/entities/sso/config'

beforeAll(async () => {
  opened = await openSingleSignOn()
  ;({ app, idp, token, begin } = opened)
  await app.auth.addUser('once@acme.example')
})

afterAll(() => opened.close())

beforeEach(() => opened.forget())

describe('A17 and the pages', () => {
  test('A17 GET is not allowed, a form without a response is told so, and 21 in a second are too many', async () => {
    const url = `/v2/sso/saml/${app.auth.companyId}/acs`
    const got = await app.auth.app.inject({ url })
    expect([got.statusCode, got.headers.allow]).toEqual([405, 'POST'])
    const browser = createBrowser(app, '198.51.100.9')
    expect((await browser.post(app.auth.companyId, {})).statusCode).toBe(400)
    const form = { 'content-type': 'application/x-www-form-urlencoded' }
    const twice = await app.auth.app.inject({
      method: 'POST',
      url,
      headers: form,
      payload: 'SAMLResponse=a&SAMLResponse=b',
    })
    expect(twice.json()).toMatchObject({ code: 400, error_code: 1 })
    const json = await app.auth.app.inject({ method: 'POST', url, payload: { SAMLResponse: 'x' } })
    expect(json.statusCode).toBe(415)
    app.auth.time.advance(second)
    const replies = []
    for (let i = 0; i < 21; i++)
      replies.push((await browser.post(app.auth.companyId, { SAMLResponse: 'eA==' })).statusCode)
    expect(replies).toEqual([...Array<number>(20).fill(403), 429])
    expect((await createBrowser(app, '198.51.100.10').post(app.auth.companyId, {})).statusCode).toBe(400)
    app.auth.time.advance(second)
    expect((await browser.post(app.auth.companyId, {})).statusCode).toBe(400)
  })

  test('A17 every sign-in has a request and a cookie of its own, and two tabs do not meet', async () => {
    const browser = createBrowser(app)
    const first = await browser.start({ domain: 'acme.example' })
    const second = await browser.start({ company: app.auth.companyId.toUpperCase() })
    expect(requestIdOf(first.url)).not.toBe(requestIdOf(second.url))
    expect([...browser.cookies.keys()].filter((name) => name.startsWith('sso_'))).toHaveLength(2)
    const line = [first.reply.headers['set-cookie'] ?? ''].flat().find((each) => each.startsWith('sso_'))
    expect(line).toMatch(/; Max-Age=600; Path=\/v2\/sso\/saml; HttpOnly; SameSite=Lax$/)
    idp.state.person = personOf('once')
    for (const { url } of [first, second]) {
      const { samlResponse } = await idp.answer(url)
      const reply = await browser.follow(
        await browser.post(app.auth.companyId, { SAMLResponse: samlResponse }),
      )
      expect(reply.statusCode).toBe(303)
    }
    expect([...browser.cookies.keys()]).toEqual(['millrace_browser'])
  })

  test('a page leads to the identity provider with a request that only we can have signed', async () => {
    const browser = createBrowser(app)
    const { reply, url } = await browser.start({ domain: 'ACME.example', lang: 'fr' })
    expect(reply.headers['content-language']).toBe('fr')
    expect(reply.headers['content-security-policy']).toContain("default-src 'none'")
    expect(url).toMatch(new RegExp(`^${idp.origin}/sign-in\\?SAMLRequest=.*&SigAlg=.*rsa-sha256&Signature=`))
    idp.state.person = personOf('once')
    expect((await idp.answer(url)).samlResponse).not.toBe('')
    const tampered = await idp.answer(
      url.replace(
        /SAMLRequest=[^&]*/,
        (await browser.start({ domain: 'acme.example' })).url.match(/SAMLRequest=[^&]*/)?.[0] ?? '',
      ),
    )
    expect([tampered.samlResponse, tampered.body]).toEqual([
      '',
      expect.stringContaining('Signature check errors'),
    ])
  })

  test('a domain without single sign-on, an unknown client and a wrong address lead nowhere', async () => {
    const browser = createBrowser(app)
    for (const domain of ['sub.acme.example', 'other.example', "acme.example' or '1'='1", ''])
      expect((await browser.start({ domain })).reply.statusCode).toBe(404)
    expect((await browser.start({ company: 'x' })).reply.statusCode).toBe(404)
    expect((await browser.start({})).reply.statusCode).toBe(400)
    expect(
      (await browser.start({ domain: 'acme.example', company: app.auth.companyId })).reply.statusCode,
    ).toBe(400)
    const evil = await browser.start({ domain: 'acme.example', redirect_uri: 'https://evil.example' })
    expect(evil.reply.statusCode).toBe(400)
    expect(evil.reply.headers.location).toBeUndefined()
    expect(evil.reply.body).toContain('redirect_uri is not registered')
  })
})

describe('a page of another site that loads our addresses as images', () => {
  const login = '/v2/sso/saml/login?domain=acme.example'
  const pending = async () => {
    const { rows } = await opened.relational.pool.query<{ count: number }>(
      `select count(*)::int as count from saml_requests where network = '198.51.100.20' and used_at is null`,
    )
    return rows[0]?.count
  }
  const load = async (url: string, headers: Record<string, string>, method: 'GET' | 'POST' = 'GET') =>
    (
      await app.auth.app.inject({
        method,
        url,
        remoteAddress: '198.51.100.20',
        headers: { ...headers, 'content-type': 'application/x-www-form-urlencoded' },
        ...(method === 'POST' ? { payload: 'SAMLResponse=eA==' } : {}),
      })
    ).statusCode
  const image = { 'sec-fetch-dest': 'image', 'sec-fetch-mode': 'no-cors', 'sec-fetch-site': 'cross-site' }
  const document = {
    'sec-fetch-dest': 'document',
    'sec-fetch-mode': 'navigate',
    'sec-fetch-site': 'cross-site',
  }

  async function signIn(): Promise<number> {
    const browser = createBrowser(app, '198.51.100.20')
    const { url } = await browser.start({ domain: 'acme.example' })
    idp.state.person = personOf('once')
    const { samlResponse } = await idp.answer(url)
    const posted = await browser.post(app.auth.companyId, { SAMLResponse: samlResponse })
    return (await browser.follow(posted)).statusCode
  }

  test('counts for nobody, and a person of the same address signs in at that moment', async () => {
    const acs = `/v2/sso/saml/${app.auth.companyId}/acs`
    for (let i = 0; i < 130; i++) {
      expect(await load(login, image)).toBe(403)
      expect(await load(acs, { ...image, 'sec-fetch-dest': 'iframe' }, 'POST')).toBe(403)
      expect(await load(`/v2/sso/saml/${app.auth.companyId}/finish?result=x`, image)).toBe(403)
    }
    expect(await pending()).toBe(0)
    expect(await signIn()).toBe(303)
  })

  test.each([
    ['an image', { 'sec-fetch-dest': 'image' }],
    ['a frame', { ...document, 'sec-fetch-dest': 'iframe' }],
    ['a script that asks', { 'sec-fetch-mode': 'no-cors' }],
    ['a script that asks and reads', { 'sec-fetch-mode': 'cors', 'sec-fetch-site': 'cross-site' }],
    ['a prefetch', { ...document, 'sec-purpose': 'prefetch;prerender' }],
  ])('%s begins no sign-in', async (_what, headers) => {
    app.auth.time.advance(second)
    expect(await load(login, headers)).toBe(403)
    expect(await load(login, document)).toBe(200)
    expect(await load(login, {})).toBe(200)
  })

  test('a browser that does not say what it loads begins sign-ins that give way to newer ones and to known browsers', async () => {
    app.auth.time.advance(second)
    const person = createBrowser(app, '198.51.100.20')
    await person.get(login)
    const { url } = await person.start({ domain: 'acme.example' })
    for (let i = 0; i < 600; i++) {
      if (i % 19 === 0) app.auth.time.advance(second)
      expect(await load(login, {})).toBe(200)
    }
    expect(await pending()).toBeLessThanOrEqual(501)
    // The identity provider keeps the time of the machine.
    app.auth.time.advance(-32 * second)
    idp.state.person = personOf('once')
    const { samlResponse } = await idp.answer(url)
    const posted = await person.post(app.auth.companyId, { SAMLResponse: samlResponse })
    expect((await person.follow(posted)).statusCode).toBe(303)
    expect(await signIn()).toBe(303)
  })

  test('more of them in a second than a network may begin keep no known browser from it', async () => {
    app.auth.time.advance(second)
    const person = createBrowser(app, '198.51.100.20')
    await person.get(login)
    for (let i = 0; i < 40; i++) await load(login, {})
    expect(await load(login, {})).toBe(429)
    expect((await person.get(login)).statusCode).toBe(200)
    // A browser that shows its name has few of its own.
    const statuses = []
    for (let i = 0; i < 20; i++) statuses.push((await person.get(login)).statusCode)
    expect(statuses.at(-1)).toBe(429)
  })

  test('one browser keeps ten sign-ins under way', async () => {
    const person = createBrowser(app, '198.51.100.21')
    for (let i = 0; i < 15; i++) {
      app.auth.time.advance(second)
      await person.get(login)
    }
    const { rows } = await opened.relational.pool.query(
      `select count(*)::int as count from saml_requests where network = '198.51.100.21' and browser_known`,
    )
    expect(rows).toEqual([{ count: 10 }])
    app.auth.time.advance(-15 * second)
  })
})

describe('O04: a configuration that changes meanwhile', () => {
  test('O04 a response to a request of an earlier configuration is refused', async () => {
    const before = await begin(personOf('once'))
    await app.auth.call(token, 'PATCH', config, { provisioning: 'invitation' })
    expect((await before.post()).statusCode).toBe(403)
    expect(app.seen.outcomes.at(-1)).toBe('configuration-changed')
  })

  test('O04 a result that was taken before the change is refused at the end', async () => {
    const before = await begin(personOf('once'))
    const posted = await before.post()
    await app.auth.call(token, 'PATCH', config, { provisioning: 'invitation' })
    expect((await before.browser.follow(posted)).statusCode).toBe(403)
    expect(app.seen.outcomes.at(-1)).toBe('configuration-changed')
  })

  test('O04 a sign-in that ends while the configuration is deleted leaves nothing', async () => {
    const before = await begin(personOf('once'))
    const posted = await before.post()
    const { relational } = opened
    relational.beforeStatement = (text) => {
      if (!text.includes('authorization_codes')) return undefined
      relational.beforeStatement = undefined
      return app.auth.call(token, 'DELETE', config)
    }
    expect((await before.browser.follow(posted)).statusCode).toBe(403)
    expect(app.seen.outcomes.at(-1)).toBe('configuration-changed')
    expect((await before.post()).statusCode).toBe(403)
    expect(app.seen.outcomes.at(-1)).toBe('no-configuration')
  })
})
