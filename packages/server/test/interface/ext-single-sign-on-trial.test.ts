import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { minute, second } from '../support/fake-time.ts'
import type { IdentityProvider } from '../support/identity-provider.ts'
import type { TestDatabase } from '../support/postgres.ts'
import { requestIdOf } from '../support/saml-forgery.ts'
import {
  createBrowser,
  type OpenedSingleSignOn,
  openSingleSignOn,
  personOf,
  redirectUri,
  type SingleSignOnApp,
} from '../support/single-sign-on.ts'

const config = '/v2/entities/sso/config'

let opened: OpenedSingleSignOn
let relational: TestDatabase
let app: SingleSignOnApp
let idp: IdentityProvider

beforeAll(async () => {
  opened = await openSingleSignOn()
  ;({ relational, app, idp } = opened)
})

afterAll(() => opened.close())

beforeEach(() => opened.forget())

const linkOf = (body: string) => (/<a href="([^"]*)">/.exec(body)?.[1] ?? '').replaceAll('&amp;', '&')
const sessions = async () =>
  (await relational.pool.query('select count(*)::int as n from refresh_tokens')).rows[0].n
const entries = async (reason: string) =>
  (
    await relational.pool.query(
      `select count(*)::int as n from audit_entries where details->>'reason' = $1`,
      [reason],
    )
  ).rows[0].n

/** Opens the login address as it is, and goes the whole way. */
async function tryOut(address: string, browser = createBrowser(app)) {
  const page = await browser.get(address)
  expect(page.statusCode).toBe(200)
  const { samlResponse } = await idp.answer(linkOf(page.body))
  return browser.follow(await browser.post(app.auth.companyId, { SAMLResponse: samlResponse }))
}

describe('the login address of a domain, without an application', () => {
  test('names the matched user, proves the configuration and starts no session', async () => {
    const [domain] = (await opened.call('GET', '/v2/entities/sso/domains')).data as unknown as {
      loginUrl: string
    }[]
    const address = String(domain?.loginUrl).slice(app.seen.origin.length)
    idp.state.person = personOf('root')
    const before = await sessions()
    const reply = await tryOut(address)
    expect(reply.statusCode).toBe(200)
    expect(reply.body).toContain('You are recognised as <strong>root@acme.example</strong>')
    expect(reply.headers).toMatchObject({ 'cache-control': 'no-store', 'content-language': 'en' })
    expect(reply.headers.location).toBeUndefined()
    expect(await app.finished()).toEqual([])
    expect(await sessions()).toBe(before)
    expect(app.seen.outcomes).toEqual(['accepted'])
    expect((await opened.call('GET', config)).data.provenAt).toMatch(/Z$/)
    const { rows } = await relational.pool.query(
      `select outcome, details->'isTrial' as trial from audit_entries where action = 'sso-sign-in'`,
    )
    expect(rows).toEqual([{ outcome: 'success', trial: true }])
  })

  test('speaks French where it began in French, to the end and in failures', async () => {
    const address = `/v2/sso/saml/login?company=${app.auth.companyId}&lang=fr`
    idp.state.person = personOf('root')
    const known = await tryOut(address)
    expect(known.headers['content-language']).toBe('fr')
    expect(known.body).toContain('Vous êtes reconnu comme <strong>root@acme.example</strong>')
    idp.state.person = personOf('unknown')
    const refused = await tryOut(address)
    expect([refused.statusCode, refused.headers['content-language']]).toEqual([403, 'fr'])
    expect(refused.body).toContain('La connexion a échoué')
    // Nothing is verified yet, but the page answers a sign-in that began in French.
    const browser = createBrowser(app)
    const { samlResponse } = await idp.answer(linkOf((await browser.get(address)).body))
    const torn = Buffer.from(samlResponse, 'base64').toString().replace('status:Success', 'status:Responder')
    const early = await browser.post(app.auth.companyId, {
      SAMLResponse: Buffer.from(torn).toString('base64'),
    })
    expect([early.statusCode, early.headers['content-language']]).toEqual([403, 'fr'])
  })

  test('a failure of the address itself is told in the language of the address or of the browser', async () => {
    const page = (url: string, language: string) =>
      app.auth.app.inject({ url, headers: { accept: 'text/html', 'accept-language': language } })
    const nowhere = '/v2/sso/saml/login?domain=nowhere.example'
    const french = await page(nowhere, 'fr-CA,en')
    expect([french.statusCode, french.headers['content-language']]).toEqual([404, 'fr'])
    expect(french.body).toContain('Il n’y a pas de connexion unique ici.')
    expect((await page(`${nowhere}&lang=en`, 'fr')).body).toContain('There is no single sign-on here')
    const both = await page('/v2/sso/saml/login?lang=fr', 'en')
    expect(both.body).toContain('domain ou company est obligatoire, et pas les deux.')
  })

  test.each([
    { client_id: 'known' },
    { state: 'x' },
    { redirect_uri: 'https://evil.example' },
    { client_id: '', lang: 'en' },
  ])('some of the parameters of an application, as %j, are refused as before', async (some) => {
    const query = new URLSearchParams({ domain: 'acme.example', ...some } as Record<string, string>)
    if (query.get('client_id') === 'known') query.set('client_id', app.auth.clientId)
    const reply = await createBrowser(app).get(`/v2/sso/saml/login?${query}`)
    expect(reply.statusCode).toBe(400)
  })
})

describe('what a stranger can leave behind', () => {
  test('junk writes one entry for a network, a reason and a minute, and the metrics count all of it', async () => {
    const finish = `/v2/sso/saml/${app.auth.companyId}/finish?result=x`
    const at = (address: string) => createBrowser(app, address)
    const before = { unknown: await entries('unknown-result'), junk: await entries('not-base64') }
    for (let i = 0; i < 15; i++) {
      expect((await at('198.51.100.1').get(finish)).statusCode).toBe(403)
      const posted = await at('198.51.100.1').post(app.auth.companyId, { SAMLResponse: '*' })
      expect(posted.statusCode).toBe(403)
    }
    await at('198.51.100.2').get(finish)
    expect(app.seen.outcomes.filter((outcome) => outcome === 'unknown-result')).toHaveLength(16)
    expect(await entries('unknown-result')).toBe(before.unknown + 2)
    expect(await entries('not-base64')).toBe(before.junk + 1)
    app.auth.time.advance(minute)
    await at('198.51.100.1').get(finish)
    expect(await entries('unknown-result')).toBe(before.unknown + 3)
  })

  test('messages without a signature write ten, and each signed one writes its own', async () => {
    const before = { unsigned: await entries('unsigned'), stranger: await entries('not-invited') }
    app.auth.time.advance(minute - (app.auth.time.clock.now() % minute))
    for (let i = 0; i < 12; i++) {
      app.auth.time.advance(second)
      const { browser, response } = await opened.begin(personOf('nobody'))
      const unsigned = response.replaceAll(/<Signature .*?<\/Signature>/gs, '')
      const SAMLResponse = Buffer.from(unsigned).toString('base64')
      await browser.post(app.auth.companyId, { SAMLResponse })
      expect(await opened.signIn(personOf('nobody'))).toBe('not-invited')
    }
    expect((await entries('unsigned')) - before.unsigned).toBe(10)
    expect((await entries('not-invited')) - before.stranger).toBe(12)
  })

  test('all networks together write only so many of them', async () => {
    const before = await entries('unknown-result')
    for (let i = 0; i < 320; i++)
      await createBrowser(app, `198.19.${i >> 8}.${i & 255}`).get(
        `/v2/sso/saml/${app.auth.companyId}/finish?result=x`,
      )
    expect((await entries('unknown-result')) - before).toBeLessThanOrEqual(300)
  })

  test('a network that finishes too many sign-ins in a second waits', async () => {
    const browser = createBrowser(app, '198.51.100.3')
    const replies = []
    for (let i = 0; i < 21; i++)
      replies.push((await browser.get(`/v2/sso/saml/${app.auth.companyId}/finish?result=x`)).statusCode)
    expect(replies).toEqual([...Array<number>(20).fill(403), 429])
  })

  test('a network leaves at most 500 sign-ins open, the newest, and those that have ended are gone with the next one', async () => {
    const login = `/v2/sso/saml/login?domain=acme.example`
    const open = async () =>
      (
        await relational.pool.query(
          `select count(*)::int as n from saml_requests where network = '198.51.100.4'`,
        )
      ).rows[0].n
    for (let i = 0; i < 501; i++) {
      if (i % 20 === 0) app.auth.time.advance(second)
      expect((await createBrowser(app, '198.51.100.4').get(login)).statusCode).toBe(200)
    }
    app.auth.time.advance(second)
    const newest = await createBrowser(app, '198.51.100.4').start({ domain: 'acme.example' })
    expect(await open()).toBe(500)
    const { rows } = await relational.pool.query('select network from saml_requests where id = $1', [
      requestIdOf(newest.url),
    ])
    expect(rows).toEqual([{ network: '198.51.100.4' }])
    app.auth.time.advance(13 * minute + second)
    for (let i = 0; i < 15; i++) await createBrowser(app, '198.51.100.4').get(login)
    expect(await open()).toBe(15)
    // The identity provider keeps the time of the machine.
    app.auth.time.advance(-13 * minute)
  })

  test('a user who came back has nothing open', async () => {
    idp.state.person = personOf('root')
    const browser = createBrowser(app, '198.51.100.6')
    expect(requestIdOf((await browser.start({ domain: 'acme.example' })).url)).toMatch(/^_/)
    await tryOut('/v2/sso/saml/login?domain=acme.example', browser)
    const { rows } = await relational.pool.query(
      `select count(*) filter (where used_at is null)::int as open from saml_requests where network = '198.51.100.6'`,
    )
    expect(rows).toEqual([{ open: 1 }])
  })

  test('a state longer than any application sends is refused', async () => {
    const query = { domain: 'acme.example', redirect_uri: redirectUri, state: 's'.repeat(2_049) }
    const reply = await createBrowser(app).get(`/v2/sso/saml/login?${new URLSearchParams(query)}`)
    expect(reply.statusCode).toBe(400)
  })

  test.each([
    ['bytes that are not UTF-8', 'SAMLResponse=%ff'],
    ['a name that comes twice', 'SAMLResponse=eA%3D%3D&SAMLResponse=eA%3D%3D'],
    ['another name that comes twice', 'SAMLResponse=eA%3D%3D&RelayState=a&RelayState=b'],
    ['a broken escape', 'SAMLResponse=%zz'],
  ])('a form with %s is refused unread', async (_name, payload) => {
    const reply = await app.auth.app.inject({
      method: 'POST',
      url: `/v2/sso/saml/${app.auth.companyId}/acs`,
      remoteAddress: '198.51.100.7',
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      payload,
    })
    expect(reply.json()).toMatchObject({ code: 400, error_code: 1 })
    expect(app.seen.outcomes).toEqual([])
  })
})
