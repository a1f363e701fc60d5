import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { testRedirectUri } from '../support/auth.ts'
import { challengeOf, verifier } from '../support/authorization.ts'
import { minute, second } from '../support/fake-time.ts'
import type { IdpOptions } from '../support/identity-provider.ts'
import { genuineResponse } from '../support/saml-forgery.ts'
import {
  type Browser,
  createBrowser,
  createSingleSignOnApp,
  type OpenedSingleSignOn,
  openSingleSignOn,
  personOf,
  type SingleSignOnApp,
  tokenOf,
} from '../support/single-sign-on.ts'

/** Sign-ins that begin at the identity provider, for companies that allow them. */

const config = '/v2/entities/sso/config'
const landing = 'https://app.example/start?from=tiles'

let opened: OpenedSingleSignOn
let outside: string
let clientId: string

beforeAll(async () => {
  opened = await openSingleSignOn()
  const { auth } = opened.app
  outside = await tokenOf(auth, 'root@elsewhere.example')
  const redirectUris = [testRedirectUri]
  clientId = (await auth.clients.createClient({ name: 'Shop <b>desk</b>', grants: [], redirectUris })).id
  await auth.addUser('tile@acme.example')
})

afterAll(() => opened.close())

beforeEach(() => {
  opened.forget()
  // The identity provider's clock is the real one, and what it makes is young only for a while.
  const { time } = opened.app.auth
  time.advance(Math.max(0, Date.now() - time.clock.now()))
})

const patch = (body: Record<string, unknown>, as = outside) => opened.call('PATCH', config, body, as)
const allow = () =>
  patch({ allowIdpInitiated: true, idpInitiatedClientId: clientId, idpInitiatedUrl: landing })

const respond = (options: IdpOptions = {}, name = 'tile') =>
  genuineResponse(opened.idp, personOf(name), { audience: opened.entityId, ...options })

/** Posts a response as the identity provider's page does. */
async function bring(xml: string, browser = createBrowser(opened.app), app: SingleSignOnApp = opened.app) {
  const SAMLResponse = Buffer.from(xml).toString('base64')
  const posted = await browser.post(app.auth.companyId, { SAMLResponse, RelayState: 'https://evil.example/' })
  return { browser, posted, outcome: app.seen.outcomes.at(-1) }
}

/** A browser that posts from another site sends no cookie, but keeps those that it is given. */
function keepCookies(browser: Browser, { headers }: { headers: Record<string, unknown> }): void {
  for (const line of [headers['set-cookie'] ?? []].flat() as string[]) {
    const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? []
    if (/Max-Age=0/.test(line)) browser.cookies.delete(name)
    else browser.cookies.set(name, value)
  }
}

/** As far as the question. */
async function ask(name = 'tile') {
  const { browser, posted } = await bring(await respond({}, name))
  expect(posted.statusCode).toBe(303)
  keepCookies(browser, posted)
  const page = await browser.follow(posted)
  const field = (of: string) => new RegExp(`name="${of}" value="([^"]*)"`).exec(page.body)?.[1] ?? ''
  return { browser, page, result: field('result'), form_token: field('form_token') }
}

async function confirm(
  browser: Browser,
  { result, form_token = '' }: { result: string; form_token?: string },
  headers: Record<string, string> = { 'sec-fetch-site': 'same-origin' },
) {
  const reply = await opened.app.auth.app.inject({
    method: 'POST',
    url: `/v2/sso/saml/${opened.app.auth.companyId}/confirm`,
    headers: {
      accept: 'text/html',
      'content-type': 'application/x-www-form-urlencoded',
      cookie: [...browser.cookies].map(([name, value]) => `${name}=${value}`).join('; '),
      ...headers,
    },
    payload: new URLSearchParams({ result, form_token }).toString(),
  })
  keepCookies(browser, reply)
  return reply
}

const authorize = (browser: Browser, client = clientId) =>
  browser.get(
    `/v2/oauth/authorize?${new URLSearchParams({
      client_id: client,
      redirect_uri: testRedirectUri,
      response_type: 'code',
      state: 'of the application',
      code_challenge: challengeOf(verifier),
      code_challenge_method: 'S256',
    })}`,
  )

async function lastEntry() {
  const { rows } = await opened.relational.pool.query(
    `select outcome, details from audit_entries where action = 'sso-sign-in' order by at desc, id desc limit 1`,
  )
  return rows[0]
}

describe('the setting', () => {
  test('is off, and the audit log names it where such a sign-in is refused', async () => {
    expect((await opened.call('GET', config)).data).toMatchObject({
      allowIdpInitiated: false,
      idpInitiatedClientId: null,
      idpInitiatedUrl: null,
    })
    const { posted, outcome } = await bring(await respond())
    expect([posted.statusCode, outcome]).toEqual([403, 'unsolicited'])
    expect((await lastEntry()).details).toMatchObject({
      remedy: expect.stringContaining('allowIdpInitiated'),
    })
  })

  test('needs an application and an address of it', async () => {
    for (const body of [
      { allowIdpInitiated: true },
      { allowIdpInitiated: true, idpInitiatedClientId: clientId },
      { allowIdpInitiated: true, idpInitiatedUrl: landing },
      { idpInitiatedUrl: landing },
      { idpInitiatedClientId: 'f'.repeat(24) },
      ...[
        'https://evil.example/start',
        'https://app.example.evil.example/',
        'http://app.example/start',
        'https://app.example:8443/start',
        'https://user@app.example/start',
        'https://app.example/start#x',
        'javascript:alert(1)',
        '//app.example/start',
      ].map((idpInitiatedUrl) => ({
        allowIdpInitiated: true,
        idpInitiatedClientId: clientId,
        idpInitiatedUrl,
      })),
    ])
      expect(await patch(body)).toMatchObject({ code: 400, error_code: 1 })
    expect((await opened.call('GET', config)).data).toMatchObject({ allowIdpInitiated: false })
  })

  test('needs what the mapping needs, is audited and mailed, and PUT without it turns it off', async () => {
    const { auth } = opened.app
    await opened.relational.pool.query(
      `with made as (insert into roles (id, company_id, name) values ('cccccccccccccccccccccccc', $1, 'Office') returning id)
       insert into role_permissions select id, 'company', unnest(array['read', 'update']) from made`,
      [auth.companyId],
    )
    const office = await tokenOf(auth, 'office@elsewhere.example', 'Office')
    const body = { allowIdpInitiated: true, idpInitiatedClientId: clientId, idpInitiatedUrl: landing }
    expect(await patch(body, office)).toMatchObject({ code: 403, error_code: 2051 })
    await auth.takeMails()
    expect(await patch(body)).toMatchObject({ code: 200, data: body })
    const mails = await auth.takeMails()
    expect(mails.map(({ text }) => text).join()).toMatch(/Sign-ins may begin at the identity provider/)
    const { rows } = await opened.relational.pool.query(
      `select details from audit_entries where action = 'sso-config-update' and outcome = 'success' order by at desc, id desc limit 1`,
    )
    expect(rows[0].details).toMatchObject(body)
    const { allowIdpInitiated: _, ...rest } = (await opened.call('GET', config)).data
    expect(await opened.call('PUT', config, rest, outside)).toMatchObject({
      code: 200,
      data: { allowIdpInitiated: false },
    })
    expect(await allow()).toMatchObject({ code: 200 })
  })
})

describe('a sign-in that begins at the identity provider', () => {
  test('asks first, then the application signs in by a request of its own, once', async () => {
    const { browser, page, result, form_token } = await ask()
    expect(page.statusCode).toBe(200)
    expect(page.body).toContain('Continue as tile@acme.example')
    expect(page.body).toContain('Shop &lt;b&gt;desk&lt;/b&gt;')
    expect(page.headers['content-security-policy']).toContain("form-action 'self'")
    // Nothing has begun.
    expect(opened.app.seen.outcomes).toEqual([])
    expect((await authorize(browser)).body).not.toContain('code=')

    const landed = await confirm(browser, { result, form_token })
    expect(landed.statusCode).toBe(200)
    expect(landed.body).toContain(
      'https://app.example/start?from=tiles&amp;iss=https%3A%2F%2Fmillrace.example',
    )
    expect(landed.body).not.toContain('evil.example')
    expect(opened.app.seen.outcomes).toEqual(['accepted'])
    expect(await lastEntry()).toMatchObject({ outcome: 'success', details: { isIdpInitiated: true } })
    // Another application gets nothing of it.
    expect((await authorize(browser, opened.app.auth.clientId)).statusCode).not.toBe(303)
    const given = await authorize(browser)
    expect(given.statusCode).toBe(303)
    const location = new URL(given.headers.location ?? '')
    expect([location.origin, location.searchParams.get('state')]).toEqual([
      'https://app.example',
      'of the application',
    ])
    const tokens = await opened.app.auth.post({
      grant_type: 'authorization_code',
      client_id: clientId,
      code: location.searchParams.get('code') ?? '',
      redirect_uri: testRedirectUri,
      code_verifier: verifier,
    })
    expect(tokens.statusCode).toBe(200)
    const { rows } = await opened.relational.pool.query(
      `select r.method, u.email from refresh_tokens r join users u on u.id = r.user_id where r.client_id = $1`,
      [clientId],
    )
    expect(rows).toEqual([{ method: 'sso', email: 'tile@acme.example' }])
    expect((await authorize(browser)).statusCode).toBe(200)
  })

  test('is taken once, by whichever process and after a restart', async () => {
    const xml = await respond()
    const other = opened.relational.reopen()
    const elsewhere = await createSingleSignOnApp(other)
    const replies = await Promise.all([
      bring(xml),
      bring(xml),
      bring(xml, createBrowser(elsewhere), { ...elsewhere, auth: opened.app.auth }),
    ])
    expect(replies.map(({ posted }) => posted.statusCode).toSorted()).toEqual([303, 403, 403])
    opened.app.auth.time.advance(second)
    expect((await bring(xml)).outcome).toBe('replayed')
    await elsewhere.auth.app.close()
    await other.close()
  })

  test('is taken within two minutes after it was made, however long it says', async () => {
    const { time } = opened.app.auth
    const [young, old, foreign] = await Promise.all([1, 2, 3].map(() => respond({ lifetimeInSeconds: 3600 })))
    const issued = (xml = '') => Date.parse(/ IssueInstant="([^"]*)"/.exec(xml)?.[1] ?? '')
    const bringAfter = async (ms: number, xml = '') => {
      time.advance(issued(xml) + ms - time.clock.now())
      return bring(xml)
    }
    expect((await bringAfter(2 * minute, young)).posted.statusCode).toBe(303)
    // The clocks may differ by a minute.
    expect((await bringAfter(3 * minute + second, old)).outcome).toBe('too-old')
    expect((await bringAfter(-minute - second, foreign)).outcome).toBe('not-yet-valid')
  })

  test('answers nothing: a response that names a request is held against it', async () => {
    const unknown = await respond({ inResponseTo: '_0123456789' })
    expect((await bring(unknown)).outcome).toBe('unknown-request')
    // Only around the assertion, where it is not signed.
    const claimed = (await respond()).replace('<samlp:Response ', '<samlp:Response InResponseTo="_x" ')
    expect((await bring(claimed)).outcome).toBe('unsolicited')
    const { response } = await opened.begin(personOf('tile'))
    const stripped = response.replace(/(<samlp:Response[^>]*?) InResponseTo="[^"]*"/, '$1')
    expect(stripped).not.toBe(response)
    expect((await bring(stripped)).outcome).toBe('unknown-request')
  })

  test('continues only in the browser that brought it, by a form of ours', async () => {
    const { browser, result, form_token } = await ask()
    const { posted } = await bring(await respond())
    // A link with another user's response leads nowhere in another browser.
    expect((await createBrowser(opened.app).follow(posted)).statusCode).toBe(403)
    expect(opened.app.seen.outcomes.at(-1)).toBe('other-browser')
    const refusals = [
      [{ result }, { 'sec-fetch-site': 'same-origin' }],
      [{ result, form_token: 'x' }, { 'sec-fetch-site': 'same-origin' }],
      [{ result, form_token }, { 'sec-fetch-site': 'cross-site' }],
      [{ result, form_token }, { 'sec-fetch-site': 'same-site' }],
    ] as const
    for (const [fields, headers] of refusals)
      expect((await confirm(browser, fields, headers)).statusCode).toBe(403)
    const victim = await ask()
    const mixed = await confirm(victim.browser, { result, form_token: victim.form_token })
    expect([mixed.statusCode, opened.app.seen.outcomes.at(-1)]).toEqual([403, 'other-browser'])
    expect(opened.app.seen.outcomes).not.toContain('accepted')
  })

  test('waits two minutes for the confirmation, works once, and not after the configuration has changed', async () => {
    const late = await ask()
    opened.app.auth.time.advance(2 * minute + second)
    expect((await confirm(late.browser, late)).statusCode).toBe(403)
    expect(opened.app.seen.outcomes.at(-1)).toBe('unknown-result')
    opened.app.auth.time.advance(-2 * minute)
    const changed = await ask()
    expect(await patch({ provisioning: 'invitation' })).toMatchObject({ code: 200 })
    expect((await confirm(changed.browser, changed)).statusCode).toBe(403)
    expect(opened.app.seen.outcomes.at(-1)).toBe('configuration-changed')
    const twice = await ask()
    expect((await confirm(twice.browser, twice)).statusCode).toBe(200)
    expect((await confirm(twice.browser, twice)).statusCode).toBe(403)
  })

  test('is gone after two minutes without the application, and with the configuration', async () => {
    const late = await ask()
    await confirm(late.browser, late)
    opened.app.auth.time.advance(2 * minute + second)
    expect((await authorize(late.browser)).statusCode).toBe(200)
    opened.app.auth.time.advance(-2 * minute)
    const ended = await ask()
    await confirm(ended.browser, ended)
    const user = await opened.relational.pool.query(`select id from users where email = 'tile@acme.example'`)
    const gone = await opened.call(
      'DELETE',
      `/v2/entities/users/${user.rows[0].id}/sso-link`,
      undefined,
      outside,
    )
    expect(gone).toMatchObject({ code: 200 })
    expect((await authorize(ended.browser)).statusCode).toBe(200)
  })

  test('of a person who is not known makes no user by the question alone', async () => {
    const { page } = await ask('new-person')
    expect(page.body).toContain('new-person@acme.example')
    const { rows } = await opened.relational.pool.query(`select 1 from users where email like 'new-person%'`)
    expect(rows).toEqual([])
  })

  test('does not begin where the application has moved', async () => {
    await opened.relational.pool.query(`update oauth_clients set redirect_uris = '{}' where id = $1`, [
      clientId,
    ])
    const { posted, browser } = await bring(await respond())
    keepCookies(browser, posted)
    expect((await browser.follow(posted)).statusCode).toBe(401)
    expect(await opened.app.finished()).toEqual([])
  })
})
