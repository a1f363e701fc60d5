import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Auth, createAuth, goodPassword } from '../support/auth.ts'
import { authorizationFor, challengeOf, exchange, returned, verifier } from '../support/authorization.ts'
import { createFormBrowser, injected } from '../support/form-browser.ts'
import { createTestDatabase, type TestDatabase } from '../support/postgres.ts'

/** Applications on a device (RFC 8252): loopback addresses of any port, private-use schemes. */

const email = 'ada@example.com'
const scheme = 'com.example.app:/oauth'

let relational: TestDatabase
let auth: Auth
let clientId: string
let userId: string

beforeAll(async () => {
  relational = await createTestDatabase()
  auth = await createAuth(relational)
  userId = (await auth.addUser(email)).id
  const redirectUris = ['http://127.0.0.1/cb', 'http://[::1]:4000/cb', 'http://localhost:3000/cb', scheme]
  clientId = (await auth.clients.createClient({ name: 'Phone', grants: [], redirectUris, native: true })).id
})

afterAll(async () => {
  await auth.app.close()
  await relational.close()
})

async function begin(redirectUri: string, more: Record<string, string> = {}) {
  const browser = createFormBrowser(injected(auth.app))
  const parameters = authorizationFor(auth, { client_id: clientId, redirect_uri: redirectUri, ...more })
  return { browser, page: await browser.open(`/v2/oauth/authorize?${new URLSearchParams(parameters)}`) }
}

async function codeAt(redirectUri: string): Promise<string> {
  const { browser, page } = await begin(redirectUri)
  const second = await browser.submit(page, { username: email })
  const back = returned(await browser.submit(second, { password: goodPassword }))
  expect(back.href.startsWith(`${redirectUri}?code=`)).toBe(true)
  return back.searchParams.get('code') ?? ''
}

test.each([
  'http://127.0.0.1/cb',
  'http://127.0.0.1:51004/cb',
  'http://[::1]/cb',
  'http://[::1]:51004/cb',
  'http://localhost:3000/cb',
  scheme,
])('%s gets a code, which is good with this address alone', async (redirectUri) => {
  const code = await codeAt(redirectUri)
  for (const other of ['http://127.0.0.1:51005/cb', 'http://localhost:3000/CB']) {
    const reply = await exchange(auth, code, { client_id: clientId, redirect_uri: other })
    expect(reply.json()).toMatchObject({ error: 'invalid_grant' })
  }
  const reply = await exchange(auth, code, { client_id: clientId, redirect_uri: redirectUri })
  expect(reply.statusCode).toBe(200)
})

test.each([
  'http://localhost/cb',
  'http://localhost:3001/cb',
  'http://127.0.0.1:51004/other',
  'http://127.0.0.1:51004@evil.example/cb',
  'http://127.0.0.1.evil.example/cb',
  'https://127.0.0.1:51004/cb',
  'com.example.app:/other',
  'com.example.app2:/oauth',
])('%s is not registered: a page, and no redirect', async (redirectUri) => {
  for (const fault of [{}, { response_type: 'token' }]) {
    const { page } = await begin(redirectUri, fault)
    expect([page.status, page.reply.headers.location]).toEqual([400, undefined])
  }
})

test('is told what is wrong with its request, too', async () => {
  for (const redirectUri of [scheme, 'http://127.0.0.1:51004/cb']) {
    const { href, searchParams } = returned((await begin(redirectUri, { code_challenge: '' })).page)
    expect(href.startsWith(`${redirectUri}?error=invalid_request&`)).toBe(true)
    expect(searchParams.get('state')).toBe('some state & more')
  }
})

describe('a form of a page', () => {
  test.each([
    [scheme, 'com.example.app:'],
    ['http://127.0.0.1:51004/cb', 'http://127.0.0.1:51004'],
    ['http://[::1]:51004/cb', 'http://*:51004'],
  ])('may lead to %s', async (redirectUri, source) => {
    const { page } = await begin(redirectUri)
    expect(page.reply.headers['content-security-policy']).toContain(`form-action 'self' ${source};`)
  })
})

test('comes back from single sign-on to the port that it listens on', async () => {
  const finish = (redirectUri: string) =>
    auth.services.signIn.finishSingleSignOn({
      userId,
      companyId: auth.companyId,
      email,
      method: 'sso',
      browser: 'a browser',
      address: '192.0.2.9',
      request: { clientId, redirectUri, state: 's', codeChallenge: challengeOf(verifier), language: 'en' },
    })
  const location = await finish('http://127.0.0.1:51004/cb')
  expect(location.startsWith('http://127.0.0.1:51004/cb?code=')).toBe(true)
  await expect(finish('http://127.0.0.1:51004/other')).rejects.toMatchObject({ errorName: 'invalidClient' })
})
