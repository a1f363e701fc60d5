import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { insertCompany } from '../../src/features/identity/people/installation/operator-account-service.ts'
import { RelationalUnavailable } from '../../src/platform/stores/relational.ts'
import { offerSingleSignOn } from '../support/accounts.ts'
import { type Auth, createAuth, testOrigin, testRedirectUri } from '../support/auth.ts'
import { createFormBrowser, injected } from '../support/form-browser.ts'
import { createTestDatabase, type TestDatabase } from '../support/postgres.ts'

const challenge = 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM'

let relational: TestDatabase
let auth: Auth

beforeAll(async () => {
  relational = await createTestDatabase()
  auth = await createAuth(relational)
  const other = await relational.transaction((tx) => insertCompany(tx, 'Other'))
  await offerSingleSignOn(relational, auth.companyId, 'corp.example', true)
  await offerSingleSignOn(relational, other.companyId, 'optional.example')
  await auth.addUser('ada@example.com')
})

afterAll(() => relational.close())

const form = (fields: Record<string, string> = {}): Record<string, string> => ({
  client_id: auth.clientId,
  redirect_uri: testRedirectUri,
  username: 'ada@example.com',
  state: 'af0ifjsldkj',
  response_type: 'code',
  code_challenge: challenge,
  code_challenge_method: 'S256',
  ...fields,
})

const post = (
  fields: Record<string, string> | string,
  headers: Record<string, string> = {},
  from = '192.0.2.9',
) =>
  auth.app.inject({
    method: 'POST',
    url: '/v2/oauth/check-email',
    remoteAddress: from,
    headers: { 'content-type': 'application/x-www-form-urlencoded', ...headers },
    payload: typeof fields === 'string' ? fields : new URLSearchParams(fields).toString(),
  })

const browser = { accept: 'text/html,application/xhtml+xml;q=0.9' }

describe('a program', () => {
  test('gets 204 and the password step, with everything that it asked for', async () => {
    const reply = await post(form({ lang: 'fr' }))
    expect(reply.statusCode).toBe(204)
    expect(reply.body).toBe('')
    const location = new URL(String(reply.headers.location))
    expect(location.origin + location.pathname).toBe(`${testOrigin}/v2/oauth/authorize`)
    expect(Object.fromEntries(location.searchParams)).toEqual({ ...form(), lang: 'fr' })
    const page = await auth.app.inject({ url: location.pathname + location.search, headers: browser })
    expect(page.statusCode).toBe(200)
    expect(page.body).toContain('type="password"')
  })

  test('gets 204 and single sign-on where the domain requires it', async () => {
    const reply = await post(form({ username: 'anybody@corp.example' }))
    expect(reply.statusCode).toBe(204)
    const location = new URL(String(reply.headers.location))
    expect(location.origin + location.pathname).toBe(`${testOrigin}/v2/sso/saml/login`)
    expect(location.searchParams.get('domain')).toBe('corp.example')
    expect(location.searchParams.get('state')).toBe('af0ifjsldkj')
  })

  test('E01: gets the same bytes for a known and an unknown address of a domain', async () => {
    const [known, unknown] = [await post(form()), await post(form({ username: 'eve@example.com' }))]
    const comparable = ({ statusCode, headers, body }: typeof known) => {
      const { date: _date, location, ...rest } = headers
      return { statusCode, body, rest, location: String(location).replace(/(ada|eve)%40/, 'X%40') }
    }
    expect(comparable(known)).toEqual(comparable(unknown))
  })
})

describe('a browser', () => {
  test('gets the login page at its password step', async () => {
    const reply = await post(form(), browser)
    expect(reply.statusCode).toBe(200)
    expect(reply.headers['content-type']).toBe('text/html; charset=utf-8')
    expect(reply.body).toContain('name="password"')
    expect(reply.body).toContain('value="ada@example.com"')
    expect(reply.headers['cache-control']).toBe('no-store')
  })

  test('is redirected with 303 where single sign-on is required', async () => {
    const reply = await post(form({ username: 'Anybody@CORP.example' }), browser)
    expect(reply.statusCode).toBe(303)
    expect(String(reply.headers.location)).toMatch(/^https:\/\/millrace\.example\/v2\/sso\/saml\/login\?/)
  })

  test('is offered single sign-on beside the password where it need not be used', async () => {
    const reply = await post(form({ username: 'ada@optional.example' }), browser)
    expect(reply.statusCode).toBe(200)
    expect(reply.body).toContain('name="password"')
    expect(reply.body).toContain(`${testOrigin}/v2/sso/saml/login?`)
  })

  test('reads French when it asks for it, by the form or by its languages', async () => {
    for (const [fields, headers] of [
      [form({ lang: 'fr' }), browser],
      [form(), { ...browser, 'accept-language': 'fr-CA,fr;q=0.9,en;q=0.1' }],
    ] as const) {
      const reply = await post(fields, headers)
      expect(reply.headers['content-language']).toBe('fr')
      expect(reply.body).toContain('Mot de passe')
    }
    expect((await post(form({ lang: 'de' }), browser)).headers['content-language']).toBe('en')
  })

  test('gets the e-mail step again for what is no address', async () => {
    const reply = await post(form({ username: 'nobody' }), browser)
    expect(reply.statusCode).toBe(400)
    expect(reply.body).toContain('This is not an e-mail address')
  })
})

test.each([
  ['text/html', 200],
  ['text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8', 200],
  ['application/json, text/html;q=0.1', 204],
  ['application/json;q=0.5, text/html', 200],
  ['text/html;q=0', 204],
  ['*/*', 204],
  ['', 204],
])('Accept %j is answered with %i', async (accept, status) => {
  expect((await post(form(), { accept })).statusCode).toBe(status)
})

describe('E02, E03: the domain', () => {
  test.each([
    'a@b@corp.example',
    'a@',
    '@corp.example',
    '"a@evil.example"@corp.example',
    'a@corp.example,b@x.example',
    'a@corp.example.',
    'a@corp.ex\u0430mple',
    'a@corp\u3002example',
    'a @corp.example',
    'a@corp.example\u0000',
  ])('an ambiguous address %j is refused', async (username) => {
    const reply = await post(form({ username }))
    expect(reply.statusCode).toBe(400)
    expect(reply.headers.location).toBeUndefined()
  })

  test.each(['a@sub.corp.example', 'a@corp.example.evil.io', 'a@notcorp.example'])(
    '%s is another domain than corp.example',
    async (username) => {
      const reply = await post(form({ username }))
      expect(reply.statusCode).toBe(204)
      expect(String(reply.headers.location)).toContain('/v2/oauth/authorize?')
    },
  )
})

describe('E04: the redirect_uri', () => {
  test.each([
    'https://good.com.evil',
    'javascript:alert(1)',
    `${testRedirectUri}&more=1`,
    `${testRedirectUri}/..`,
    'https://app.example/signed-in',
    'https:\\\\evil.example',
    'https://app.example@evil.example/',
    'HTTPS://app.example/signed-in?from=millrace',
    '//app.example/signed-in?from=millrace',
  ])('%s is refused without any redirect, by program and browser', async (redirect_uri) => {
    for (const headers of [{}, browser]) {
      const reply = await post(form({ redirect_uri }), headers)
      expect(reply.statusCode).toBe(400)
      expect(reply.headers.location).toBeUndefined()
      if (headers === browser) expect(reply.body).not.toContain('<form')
    }
    expect((await post(form({ redirect_uri }))).json()).toMatchObject({ status: 'fail', error_code: 2010 })
  })

  test('an unknown client is refused', async () => {
    const reply = await post(form({ client_id: 'f'.repeat(24) }))
    expect(reply.statusCode).toBe(401)
    expect(reply.json()).toMatchObject({ error_code: 2004 })
  })
})

describe('E05: what was typed', () => {
  test('is escaped wherever it appears, and the page runs nothing', async () => {
    const state = `"><script>alert(1)</script>'\r\nSet-Cookie: x=1`
    const reply = await post(form({ state, username: "o'hara&co@example.com" }), browser)
    expect(reply.statusCode).toBe(200)
    expect(reply.body).not.toContain('<script')
    expect(reply.body).toContain('&quot;&gt;&lt;script&gt;')
    expect(reply.headers['set-cookie']).not.toContain('x=1')
    const policy = String(reply.headers['content-security-policy'])
    expect(policy).toContain("default-src 'none'")
    expect(policy).toContain("frame-ancestors 'none'")
    expect(policy).toContain("form-action 'self' https://app.example;")
    expect(policy).not.toContain('unsafe')
    expect(reply.headers['referrer-policy']).toBe('no-referrer')
  })

  test.each([
    ['state', 'x'.repeat(2049)],
    ['username', `${'x'.repeat(250)}@example.com`],
    ['lang', 'x'.repeat(36)],
  ])('a %s that is too long is refused', async (name, value) => {
    expect((await post(form({ [name]: value }))).statusCode).toBe(400)
  })

  test('100 KB are refused before they are read', async () => {
    expect((await post(form({ state: 'x'.repeat(100_000) }))).statusCode).toBe(413)
  })
})

describe('E06: another body', () => {
  test('JSON is 415', async () => {
    const reply = await post(JSON.stringify(form()), { 'content-type': 'application/json' })
    expect(reply.statusCode).toBe(415)
    expect(reply.json()).toMatchObject({
      status: 'fail',
      data: { accepted: ['application/x-www-form-urlencoded'] },
    })
  })

  test.each(['client_id', 'redirect_uri', 'username', 'code_challenge'])(
    'without %s it is 400 and says so',
    async (name) => {
      const { [name]: _left, ...rest } = form()
      const reply = await post(rest)
      expect(reply.statusCode).toBe(400)
      expect(reply.json()).toMatchObject({ error_code: 1, data: { errors: [{ path: name }] } })
    },
  )

  test.each([
    'username=eve%40example.com',
    '__proto__=1',
    'constructor=1',
    'usrname=x',
    'state=%ff',
    'state=%00',
  ])('a form with %s beside the others is 400', async (more) => {
    const reply = await post(`${new URLSearchParams(form())}&${more}`)
    expect(reply.statusCode).toBe(400)
    expect(reply.json()).toMatchObject({ status: 'fail', error_code: 1 })
  })
})

test.each([
  ['code_challenge', ''],
  ['code_challenge', 'short'],
  ['code_challenge', `${challenge}=`],
  ['code_challenge_method', 'plain'],
  ['response_type', 'token'],
])('E07: %s %j is 400', async (name, value) => {
  const reply = await post(form({ [name]: value }))
  expect(reply.statusCode).toBe(400)
  expect(reply.json()).toMatchObject({ data: { errors: [{ path: name }] } })
})

describe('E08: a form of another site', () => {
  test.each([
    [{ 'sec-fetch-site': 'cross-site', origin: 'https://evil.example' }],
    [{ 'sec-fetch-site': 'same-site', origin: 'https://other.example' }],
    [{ origin: 'https://evil.example' }],
    [{ origin: 'null' }],
  ])('is refused: %j', async (headers) => {
    const reply = await post(form(), { ...browser, ...headers } as Record<string, string>)
    expect(reply.statusCode).toBe(403)
    expect(reply.body).not.toContain('name="password"')
  })

  test('our own, from a browser that hides where forms come from, is taken by its token', async () => {
    const visitor = createFormBrowser(injected(auth.app))
    const { username: _username, ...parameters } = form()
    const page = await visitor.open(`/v2/oauth/authorize?${new URLSearchParams(parameters)}`)
    const fields = { ...page.hidden, username: 'ada@example.com' }
    const sent = await visitor.send('POST', page.action, fields, { 'sec-fetch-site': '', origin: 'null' })
    expect(sent.status).toBe(403)
    const cookie = [...visitor.cookies].map((pair) => pair.join('=')).join('; ')
    const own = await post(fields, { ...browser, origin: 'null', cookie })
    expect(own.statusCode).toBe(200)
  })
})

test('E09: more than 300 a minute from one address are 429, others are not concerned', async () => {
  const replies = await Promise.all(Array.from({ length: 320 }, () => post(form(), {}, '192.0.2.77')))
  const refused = replies.filter(({ statusCode }) => statusCode === 429)
  expect(refused.length).toBeGreaterThanOrEqual(15)
  expect(Number(refused[0]?.headers['retry-after'])).toBeGreaterThanOrEqual(1)
  expect((await post(form(), {}, '192.0.2.78')).statusCode).toBe(204)
})

test('E10: when the store cannot say how a domain signs in, nobody is sent to the password', async () => {
  relational.beforeStatement = (text) =>
    text.includes('sso_domains')
      ? Promise.reject(new RelationalUnavailable(new Error('the store does not answer')))
      : undefined
  try {
    const reply = await post(form({ username: 'anybody@corp.example' }), browser)
    expect(reply.statusCode).toBe(503)
    expect(reply.body).not.toContain('name="password"')
  } finally {
    relational.beforeStatement = undefined
  }
})
