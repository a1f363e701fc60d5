import * as oauth from 'oauth4webapi'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Auth, createAuth, goodPassword, testOrigin, testRedirectUri } from '../support/auth.ts'
import {
  authorizationFor,
  codeOf,
  exchange,
  returned,
  verifier,
  walkToPassword,
} from '../support/authorization.ts'
import { discover, libraryOptions } from '../support/client-library.ts'
import { minute } from '../support/fake-time.ts'
import { createFormBrowser, injected } from '../support/form-browser.ts'
import { createTestDatabase, type TestDatabase } from '../support/postgres.ts'
import { createRotation } from '../support/rotation.ts'

let relational: TestDatabase
let auth: Auth

beforeAll(async () => {
  relational = await createTestDatabase()
  auth = await createAuth(relational)
  await auth.addUser('ada@example.com')
})

afterAll(() => relational.close())

test('an ordinary client library finds its way: metadata, code, refresh, revocation', async () => {
  const options = libraryOptions(auth.app)
  const server = await discover(options)
  expect(server.code_challenge_methods_supported).toEqual(['S256'])
  expect(server.authorization_response_iss_parameter_supported).toBe(true)

  const client: oauth.Client = { client_id: auth.clientId }
  const codeVerifier = oauth.generateRandomCodeVerifier()
  const state = oauth.generateRandomState()
  const address = new URL(server.authorization_endpoint ?? '')
  for (const [name, value] of Object.entries({
    client_id: auth.clientId,
    redirect_uri: testRedirectUri,
    response_type: 'code',
    state,
    scope: 'everything',
    code_challenge: await oauth.calculatePKCECodeChallenge(codeVerifier),
    code_challenge_method: 'S256',
  }))
    address.searchParams.set(name, value)

  const browser = createFormBrowser(injected(auth.app))
  const first = await browser.open(address.pathname + address.search)
  expect(first.status).toBe(200)
  const second = await browser.submit(first, { username: 'ADA@example.com' })
  const back = returned(await browser.submit(second, { password: goodPassword }))
  expect(back.href.startsWith('https://app.example/signed-in?from=millrace&')).toBe(true)

  const answer = oauth.validateAuthResponse(server, client, back, state)
  const granted = await oauth.processAuthorizationCodeResponse(
    server,
    client,
    await oauth.authorizationCodeGrantRequest(
      server,
      client,
      oauth.None(),
      answer,
      testRedirectUri,
      codeVerifier,
      options,
    ),
  )
  expect(granted.token_type).toBe('bearer')
  expect(granted.expires_in).toBe(3600)
  expect((await auth.get(granted.access_token)).json().data).toMatchObject({ email: 'ada@example.com' })

  const refreshed = await oauth.processRefreshTokenResponse(
    server,
    client,
    await oauth.refreshTokenGrantRequest(server, client, oauth.None(), granted.refresh_token ?? '', options),
  )
  expect((await auth.get(refreshed.access_token)).statusCode).toBe(200)

  await oauth.processRevocationResponse(
    await oauth.revocationRequest(server, client, oauth.None(), granted.refresh_token ?? '', options),
  )
  auth.time.advance(1000)
  expect((await auth.get(refreshed.access_token)).statusCode).toBe(401)
})

test('T14: an ordinary client library goes on with the refresh tokens that it is given', async () => {
  const options = libraryOptions(auth.app)
  const server = await discover(options)
  const { clientId, endings, opens } = await createRotation(auth, relational, 'rita@example.com')
  const client: oauth.Client = { client_id: clientId }
  const refresh = async (token: string) =>
    oauth.processRefreshTokenResponse(
      server,
      client,
      await oauth.refreshTokenGrantRequest(server, client, oauth.None(), token, options),
    )
  const code = await codeOf(auth, 'rita@example.com', { client_id: clientId })
  const { refresh_token: first } = (await exchange(auth, code, { client_id: clientId })).json()
  const tokens: string[] = [first]
  for (let hour = 0; hour < 5; hour++) {
    const { access_token, refresh_token = '' } = await refresh(tokens.at(-1) ?? '')
    expect(await opens({ access_token, refresh_token })).toBe(true)
    tokens.push(refresh_token)
    auth.time.advance(55 * minute)
  }
  expect(new Set(tokens).size).toBe(6)
  expect(await endings()).toEqual([])
  await expect(refresh(first)).rejects.toMatchObject({ status: 400, error: 'invalid_grant' })
  await expect(refresh(tokens.at(-1) ?? '')).rejects.toMatchObject({ error: 'invalid_grant' })
  expect(await endings()).toHaveLength(1)
})

describe('T20: a code', () => {
  test('is given back with the state as it was and the issuer', async () => {
    const { page } = await walkToPassword(auth, 'ada@example.com')
    const { searchParams } = returned(page)
    expect(Object.fromEntries(searchParams)).toEqual({
      from: 'millrace',
      code: expect.stringMatching(/^[\w-]{43}$/),
      state: 'some state & more',
      iss: testOrigin,
    })
  })

  test('works once; a second use ends what the first gave', async () => {
    const code = await codeOf(auth, 'ada@example.com')
    const first = await exchange(auth, code)
    expect(first.statusCode).toBe(200)
    const { access_token, refresh_token } = first.json()
    expect((await auth.get(access_token)).statusCode).toBe(200)
    const second = await exchange(auth, code)
    expect(second.statusCode).toBe(400)
    expect(second.json()).toMatchObject({ error: 'invalid_grant' })
    auth.time.advance(1000)
    expect((await auth.get(access_token)).statusCode).toBe(401)
    expect((await auth.refresh(refresh_token)).statusCode).toBe(400)
    expect((await auth.auditTrail()).at(-1)).toBe('token-revoke success')
  })

  test('that was used ends nothing without its verifier, as a log gives it away', async () => {
    const code = await codeOf(auth, 'ada@example.com')
    const { access_token, refresh_token } = (await exchange(auth, code)).json()
    const other = await auth.clients.createClient({
      name: 'other',
      grants: [],
      redirectUris: [testRedirectUri],
    })
    const before = await auth.auditTrail()
    for (const more of [{ code_verifier: verifier.toLowerCase() }, { client_id: other.id }]) {
      const reply = await exchange(auth, code, more)
      expect(reply.json()).toMatchObject({ code: 400, error: 'invalid_grant' })
    }
    auth.cache.forget()
    expect((await auth.get(access_token)).statusCode).toBe(200)
    expect((await auth.refresh(refresh_token)).statusCode).toBe(200)
    expect(await auth.auditTrail()).toEqual(before)
    // With both it is another program that has them, wherever it says that it was returned to.
    await exchange(auth, code, { redirect_uri: 'https://app.example/signed-in' })
    auth.cache.forget()
    expect((await auth.get(access_token)).statusCode).toBe(401)
  })

  test('used five times at once gives tokens to one at most, and they end', async () => {
    const code = await codeOf(auth, 'ada@example.com')
    const replies = await Promise.all(Array.from({ length: 5 }, () => exchange(auth, code)))
    const granted = replies.filter(({ statusCode }) => statusCode === 200)
    expect(granted).toHaveLength(1)
    auth.time.advance(1000)
    expect((await auth.get(granted[0]?.json().access_token)).statusCode).toBe(401)
  })

  test('lives 60 seconds', async () => {
    const [early, late] = [await codeOf(auth, 'ada@example.com'), await codeOf(auth, 'ada@example.com')]
    auth.time.advance(59_999)
    expect((await exchange(auth, early)).statusCode).toBe(200)
    auth.time.advance(1)
    expect((await exchange(auth, late)).statusCode).toBe(400)
  })

  test.each([
    ['another verifier', { code_verifier: verifier.toLowerCase() }],
    ['another redirect_uri', { redirect_uri: 'https://app.example/signed-in' }],
  ])('with %s gives nothing, and still works with the right one', async (_what, more) => {
    const code = await codeOf(auth, 'ada@example.com')
    const wrong = await exchange(auth, code, more)
    expect(wrong.statusCode).toBe(400)
    expect(wrong.json()).toMatchObject({ error: 'invalid_grant' })
    expect((await exchange(auth, code)).statusCode).toBe(200)
  })

  test('is of no use to another client', async () => {
    const other = await auth.clients.createClient({
      name: 'other',
      grants: [],
      redirectUris: [testRedirectUri],
    })
    const code = await codeOf(auth, 'ada@example.com')
    expect((await exchange(auth, code, { client_id: other.id })).json()).toMatchObject({
      error: 'invalid_grant',
    })
    expect((await exchange(auth, code)).statusCode).toBe(200)
  })

  test.each([
    [{ code: '' }, 'code'],
    [{ code_verifier: '' }, 'code_verifier'],
    [{ code_verifier: 'short' }, 'code_verifier'],
    [{ redirect_uri: '' }, 'redirect_uri'],
    [{ username: 'x' }, 'username'],
  ])('asked for with %j is 400 invalid_request', async (more, path) => {
    const reply = await exchange(auth, 'A'.repeat(43), more as Record<string, string>)
    expect(reply.statusCode).toBe(400)
    expect(reply.json()).toMatchObject({ error: 'invalid_request', data: { errors: [{ path }] } })
  })

  test('that no user has is invalid_grant', async () => {
    for (const code of ['A'.repeat(43), "' or 1=1 --", 'x'])
      expect((await exchange(auth, code)).json()).toMatchObject({ error: 'invalid_grant' })
  })

  test('is void once the password was changed or the person deactivated', async () => {
    const { email } = await auth.addUser('grace@example.com')
    const before = await codeOf(auth, email)
    await auth.accounts.setPassword(email, 'another field of 9 poppies')
    expect((await exchange(auth, before)).statusCode).toBe(400)
    await auth.accounts.setPassword(email, goodPassword)
    const again = await codeOf(auth, email)
    await auth.accounts.disableUser(email)
    expect((await exchange(auth, again)).statusCode).toBe(400)
  })

  test('is kept as a hash only', async () => {
    const code = await codeOf(auth, 'ada@example.com')
    const { rows } = await relational.pool.query(
      "select encode(code_hash, 'hex') as hash from authorization_codes",
    )
    expect(JSON.stringify(rows)).not.toContain(Buffer.from(code).toString('hex'))
  })
})

describe('the password step', () => {
  test('says the same for a wrong password, an unknown, a deactivated and an invited person', async () => {
    await auth.addUser('gone@example.com')
    await auth.accounts.disableUser('gone@example.com')
    await auth.addUser('new@example.com')
    await relational.pool.query(
      "update users set status = 'invited', password_hash = null where email = 'new@example.com'",
    )
    const pages = []
    for (const [i, email] of ['ada', 'nobody', 'gone', 'new'].entries()) {
      const { page } = await walkToPassword(
        auth,
        `${email}@example.com`,
        'not the password',
        {},
        `198.51.100.${i}`,
      )
      expect(page.status).toBe(401)
      expect(page.text).toContain('The e-mail address or the password is wrong.')
      const { form_token: token = '' } = page.hidden
      pages.push(page.text.replaceAll(token, 'T').replaceAll(/(ada|nobody|gone|new)(@|%40)/g, 'X@'))
    }
    expect(new Set(pages).size).toBe(1)
  })

  test('slows down after ten failures, and says for how long', async () => {
    await auth.addUser('slow@example.com')
    for (let i = 0; i < 10; i++)
      await walkToPassword(auth, 'slow@example.com', 'not the password', {}, '198.51.100.20')
    const { page } = await walkToPassword(auth, 'slow@example.com', goodPassword, {}, '198.51.100.20')
    expect(page.status).toBe(429)
    expect(page.text).toContain('Try again in')
  })

  test('never shows the password again', async () => {
    const { page } = await walkToPassword(
      auth,
      'ada@example.com',
      'hunter2 hunter2 hunter2',
      {},
      '198.51.100.30',
    )
    expect(page.text).not.toContain('hunter2')
  })

  test.each(['no cookie', 'the cookie of another browser', 'no token', 'another site'])(
    'E08: a form with %s is refused',
    async (what) => {
      const browser = createFormBrowser(injected(auth.app))
      const first = await browser.open(`/v2/oauth/authorize?${new URLSearchParams(authorizationFor(auth))}`)
      const second = await browser.submit(first, { username: 'ada@example.com' })
      const fields: Record<string, string> = { ...second.hidden, password: goodPassword }
      if (what === 'no cookie') browser.cookies.clear()
      if (what === 'no token') delete fields.form_token
      if (what === 'the cookie of another browser') {
        const other = createFormBrowser(injected(auth.app))
        await other.open(`/v2/oauth/authorize?${new URLSearchParams(authorizationFor(auth))}`)
        for (const [name, value] of other.cookies) browser.cookies.set(name, value)
      }
      const headers = what === 'another site' ? { 'sec-fetch-site': 'cross-site' } : {}
      const page = await browser.send('POST', second.action, fields, headers)
      expect(page.status).toBe(403)
      expect(page.reply.headers.location).toBeUndefined()
    },
  )
})

describe('an application that is not the operator’s own', () => {
  let clientId: string
  beforeAll(async () => {
    const client = await auth.clients.createClient({
      name: 'Third <b>party',
      grants: [],
      redirectUris: [testRedirectUri],
      firstParty: false,
    })
    clientId = client.id
  })

  test('is let in by the person, who is asked once', async () => {
    const { browser, page } = await walkToPassword(auth, 'ada@example.com', goodPassword, {
      client_id: clientId,
    })
    expect(page.status).toBe(200)
    expect(page.text).toContain('Authorise Third &lt;b&gt;party?')
    const back = returned(await browser.submit(page, { decision: 'allow' }))
    const reply = await exchange(auth, back.searchParams.get('code') ?? '', { client_id: clientId })
    expect(reply.statusCode).toBe(200)
    const again = await walkToPassword(auth, 'ada@example.com', goodPassword, { client_id: clientId })
    expect(again.page.status).toBe(303)
    expect(await auth.auditTrail()).toContain('application-consent success')
  })

  test('learns that it was not let in', async () => {
    await auth.addUser('shy@example.com')
    const { browser, page } = await walkToPassword(auth, 'shy@example.com', goodPassword, {
      client_id: clientId,
    })
    const back = returned(await browser.submit(page, { decision: 'deny' }))
    expect(back.searchParams.get('error')).toBe('access_denied')
    expect(back.searchParams.get('state')).toBe('some state & more')
    expect(back.searchParams.has('code')).toBe(false)
    expect((await browser.submit(page, { decision: 'allow' })).status).toBe(400)
  })

  test('cannot be let in by another browser, nor after ten minutes', async () => {
    await auth.addUser('slow2@example.com')
    const { browser, page } = await walkToPassword(auth, 'slow2@example.com', goodPassword, {
      client_id: clientId,
    })
    const other = createFormBrowser(injected(auth.app))
    const theirs = await other.open(`/v2/oauth/authorize?${new URLSearchParams(authorizationFor(auth))}`)
    const { form_token: token = '' } = theirs.hidden
    const fields = { ...page.hidden, form_token: token, decision: 'allow' }
    expect((await other.send('POST', '/v2/oauth/consent', fields)).status).toBe(400)
    auth.time.advance(600_000)
    expect((await browser.submit(page, { decision: 'allow' })).status).toBe(400)
  })
})
