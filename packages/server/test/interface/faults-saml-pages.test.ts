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

/** faults.md, 2.6, A17, and 2.5, O04: the pages on the way, and a configuration that changes meanwhile. */

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
    expect(browser.cookies.size).toBe(2)
    const [line] = [first.reply.headers['set-cookie'] ?? ''].flat()
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
    app.seen.beforeFinish = () => app.auth.call(token, 'DELETE', config)
    expect((await before.browser.follow(posted)).statusCode).toBe(403)
    expect(app.seen.outcomes.at(-1)).toBe('configuration-changed')
    expect((await before.post()).statusCode).toBe(403)
    expect(app.seen.outcomes.at(-1)).toBe('no-configuration')
  })
})
