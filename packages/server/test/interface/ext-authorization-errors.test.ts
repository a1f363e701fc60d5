import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { RelationalUnavailable } from '../../src/platform/stores/relational.ts'
import { offerSingleSignOn } from '../support/accounts.ts'
import { type Auth, createAuth, goodPassword, testOrigin, testRedirectUri } from '../support/auth.ts'
import { authorizationFor, exchange, returned, walkToPassword } from '../support/authorization.ts'
import { createFormBrowser, injected, type Shown } from '../support/form-browser.ts'
import { createTestDatabase, type TestDatabase } from '../support/postgres.ts'

/** What is wrong with an authorization request, and who is told (RFC 6749 4.1.2.1, RFC 9207). */

let relational: TestDatabase
let auth: Auth

beforeAll(async () => {
  relational = await createTestDatabase()
  auth = await createAuth(relational)
  await offerSingleSignOn(relational, auth.companyId, 'corp.example', true)
  relational.beforeStatement = (_text, values) => {
    if (values.includes('down.example'))
      return Promise.reject(new RelationalUnavailable(new Error('cut off')))
    if (values.includes('broken.example'))
      return Promise.reject(new Error('a column of the table users is missing'))
    return undefined
  }
  await auth.addUser('ada@example.com')
})

afterAll(async () => {
  await auth.app.close()
  await relational.close()
})

function open(more: Record<string, string>, without: string[] = [], accept = 'text/html'): Promise<Shown> {
  const parameters = new URLSearchParams(authorizationFor(auth, more))
  for (const name of without) parameters.delete(name)
  return createFormBrowser(injected(auth.app)).send('GET', `/v2/oauth/authorize?${parameters}`, undefined, {
    accept,
  })
}

/** What the application is told. */
const told = (page: Shown) => Object.fromEntries(returned(page).searchParams)

const answer = (
  error: string,
  description: unknown = expect.stringMatching(/^[\x20-\x21\x23-\x5b\x5d-\x7e]+$/),
) => ({
  from: 'millrace',
  error,
  error_description: description,
  state: 'some state & more',
  iss: testOrigin,
})

describe('a request whose client and redirect_uri are right is answered there', () => {
  test.each<[Record<string, string>, string, RegExp]>([
    [{ response_type: 'token' }, 'unsupported_response_type', /response_type must be code/],
    [{ response_type: 'code id_token' }, 'unsupported_response_type', /response_type must be code/],
    [{ response_mode: 'fragment' }, 'invalid_request', /response_mode must be query/],
    [{ code_challenge_method: 'plain' }, 'invalid_request', /code_challenge_method must be S256/],
    [{ code_challenge: '' }, 'invalid_request', /code_challenge is required/],
    [{ code_challenge: 'short' }, 'invalid_request', /code_challenge must be the 43 characters/],
    [{ scope: 'one  two' }, 'invalid_scope', /scope must be words/],
    [{ scope: 'quoted "word"' }, 'invalid_scope', /scope must be words/],
    [{ scope: 'réel' }, 'invalid_scope', /scope must be words/],
    [{ lang: 'x'.repeat(36) }, 'invalid_request', /lang must have at most 35 characters/],
    [{ prompt: 'a\0b' }, 'invalid_request', /prompt must be well-formed text/],
    [{ login_hint: 'ada@down.example' }, 'temporarily_unavailable', /./],
    [{ login_hint: 'ada@broken.example' }, 'server_error', /./],
  ])('%j: %s', async (more, error, description) => {
    for (const accept of ['text/html', '*/*', 'application/json']) {
      const page = await open(more, [], accept)
      expect(page.status).toBe(303)
      expect(returned(page).href.startsWith(testRedirectUri)).toBe(true)
      expect(told(page)).toEqual(answer(error))
      expect(told(page).error_description).toMatch(description)
      expect(told(page).error_description).not.toContain('column')
      expect(page.reply.headers['cache-control']).toBe('no-store')
    }
  })

  test('without a code challenge', async () => {
    expect(told(await open({}, ['code_challenge', 'code_challenge_method']))).toEqual(
      answer('invalid_request'),
    )
  })

  test('of a client without the grant', async () => {
    const { id } = await auth.clients.createClient({
      name: 'script',
      grants: ['password'],
      redirectUris: [testRedirectUri],
    })
    expect(told(await open({ client_id: id }))).toEqual(answer('unauthorized_client'))
  })

  test('with a parameter given twice, and a state that is none is not given back', async () => {
    const parameters = new URLSearchParams(authorizationFor(auth))
    const browser = createFormBrowser(injected(auth.app))
    const twice = await browser.open(`/v2/oauth/authorize?${parameters}&scope=a&scope=b`)
    expect(told(twice)).toEqual(answer('invalid_request'))
    const { state: _state, ...stateless } = answer('invalid_request')
    expect(told(await browser.open(`/v2/oauth/authorize?${parameters}&state=other`))).toEqual(stateless)
    expect(told(await open({}, ['state', 'code_challenge']))).toEqual(stateless)
  })

  test('when the person does not let the application in', async () => {
    const client = { name: 'Theirs', grants: [], redirectUris: [testRedirectUri], firstParty: false }
    const { id } = await auth.clients.createClient(client)
    const { browser, page } = await walkToPassword(auth, 'ada@example.com', goodPassword, { client_id: id })
    expect(told(await browser.submit(page, { decision: 'deny' }))).toEqual(answer('access_denied'))
  })
})

describe('a request whose client or redirect_uri is wrong is a page, and leads nowhere', () => {
  test.each<[Record<string, string>]>([
    [{ redirect_uri: 'https://evil.example/' }],
    [{ redirect_uri: `${testRedirectUri}&more=1` }],
    [{ redirect_uri: 'javascript:alert(1)' }],
    [{ redirect_uri: '' }],
    [{ redirect_uri: 'x'.repeat(3_000) }],
    [{ client_id: 'f'.repeat(24) }],
    [{ client_id: '' }],
  ])('%j', async (more) => {
    for (const fault of [{}, { response_type: 'token' }, { code_challenge: '' }, { scope: '"' }]) {
      const page = await open({ ...fault, ...more })
      expect([400, 401]).toContain(page.status)
      expect(page.reply.headers.location).toBeUndefined()
      expect(page.text).not.toContain('<form')
      expect(page.text).not.toContain('href="https://evil')
      expect(page.text).toContain('This sign-in cannot continue')
    }
  })

  test.each(['client_id', 'redirect_uri'])('%s given twice', async (name) => {
    const parameters = new URLSearchParams(authorizationFor(auth))
    for (const value of [parameters.get(name) ?? '', 'https://evil.example/']) {
      const page = await createFormBrowser(injected(auth.app)).open(
        `/v2/oauth/authorize?${parameters}&${new URLSearchParams({ [name]: value })}`,
      )
      expect(page.status).toBe(400)
      expect(page.reply.headers.location).toBeUndefined()
      expect(page.text).toContain(`${name} is given twice`)
    }
  })

  test('a client that is closed', async () => {
    const { id } = await auth.clients.createClient({
      name: 'old',
      grants: [],
      redirectUris: [testRedirectUri],
    })
    await relational.pool.query('update oauth_clients set active = false where id = $1', [id])
    const page = await open({ client_id: id, response_type: 'token' })
    expect([page.status, page.reply.headers.location]).toEqual([401, undefined])
  })
})

test('a step that cannot be answered now stays, so that its form can be sent again', async () => {
  const browser = createFormBrowser(injected(auth.app))
  const first = await browser.open(`/v2/oauth/authorize?${new URLSearchParams(authorizationFor(auth))}`)
  expect((await browser.submit(first, { username: 'ada@down.example' })).status).toBe(503)
})

test('a request needs no state and no response_type, and takes unknown parameters and scopes', async () => {
  const page = await open({ prompt: 'login', scope: 'openid offline_access', response_mode: 'query' }, [
    'state',
    'response_type',
  ])
  expect(page.status).toBe(200)
})

test('ui_locales chooses the language where lang does not', async () => {
  const languageOf = async (more: Record<string, string>) =>
    (await open(more)).reply.headers['content-language']
  expect(await languageOf({ ui_locales: 'de fr-CA en' })).toBe('fr')
  expect(await languageOf({ ui_locales: 'de' })).toBe('en')
  expect(await languageOf({ ui_locales: 'fr', lang: 'en' })).toBe('en')
  expect(await languageOf({ ui_locales: 'fr', redirect_uri: 'https://evil.example/' })).toBe('fr')
})

describe('login_hint', () => {
  test('saves typing the address: the password page, from which another can be chosen', async () => {
    const page = await open({ login_hint: 'Ada@Example.com' })
    expect(page.status).toBe(200)
    expect(page.hidden.username).toBe('ada@example.com')
    expect(page.text).toContain('name="password"')
    const [, change = ''] = /href="([^"]*)">Change</.exec(page.text) ?? []
    expect(change).not.toContain('ada')
    const again = await createFormBrowser(injected(auth.app)).open(change.replaceAll('&amp;', '&'))
    expect(again.text).toContain('id="username"')
  })

  test('leads to single sign-on where the domain requires it', async () => {
    const page = await open({ login_hint: 'ada@corp.example' })
    const { pathname, searchParams } = returned(page)
    expect([pathname, searchParams.get('domain')]).toEqual(['/v2/sso/saml/login', 'corp.example'])
  })

  test('says the same of a known and an unknown address', async () => {
    const [known, unknown] = [
      await open({ login_hint: 'ada@example.com' }),
      await open({ login_hint: 'eve@example.com' }),
    ]
    const textOf = ({ text, hidden }: Shown) =>
      text.replaceAll(hidden.form_token ?? '', 'T').replaceAll(/(ada|eve)(@|%40)/g, 'X@')
    expect(textOf(unknown)).toBe(textOf(known))
  })

  test.each(['+33 1 23 45 67 89', 'Call 555-0100 now', `${'x'.repeat(300)}@example.com`, '<b>@'])(
    'that is no address is not shown: %s',
    async (hint) => {
      const page = await open({ login_hint: hint })
      expect(page.status).toBe(200)
      expect(page.text).toContain('id="username"')
      expect(page.text).toContain('maxlength="254" value=""')
    },
  )

  test('skips no consent and no password', async () => {
    const client = { name: 'Theirs', grants: [], redirectUris: [testRedirectUri], firstParty: false }
    const { id } = await auth.clients.createClient(client)
    await auth.addUser('hinted@example.com')
    const browser = createFormBrowser(injected(auth.app))
    const parameters = authorizationFor(auth, { client_id: id, login_hint: 'hinted@example.com' })
    const page = await browser.open(`/v2/oauth/authorize?${new URLSearchParams(parameters)}`)
    const asked = await browser.submit(page, { password: goodPassword })
    expect(asked.text).toContain('Authorise Theirs?')
    const back = returned(await browser.submit(asked, { decision: 'allow' }))
    const reply = await exchange(auth, back.searchParams.get('code') ?? '', { client_id: id })
    expect(reply.statusCode).toBe(200)
  })
})
