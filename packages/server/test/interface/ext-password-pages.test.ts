import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { type AccountsApp, createAccountsApp, type Person, secretIn } from '../support/accounts.ts'
import { goodPassword, testRedirectUri } from '../support/auth.ts'
import { challengeOf, verifier } from '../support/authorization.ts'
import { minute } from '../support/fake-time.ts'
import { createFormBrowser, injected } from '../support/form-browser.ts'
import { createTestDatabase, type TestDatabase } from '../support/postgres.ts'

let relational: TestDatabase
let app: AccountsApp
let person: Person

const newPassword = 'ten thousand geese'

beforeAll(async () => {
  relational = await createTestDatabase()
  app = await createAccountsApp(relational)
})

beforeEach(async () => {
  person = await app.person()
  app.time.advance(10 * minute)
})

afterAll(async () => {
  await app.app.close()
  await relational.close()
})

const visit = () => createFormBrowser(injected(app.app))

async function askFor(email: string, more = '') {
  const browser = visit()
  const page = await browser.open(`/v2/oauth/forgot-password${more}`)
  expect(page.status).toBe(200)
  return browser.submit(page, { username: email })
}

async function mailedSecret(): Promise<string> {
  await app.takeMails()
  await askFor(person.email)
  return secretIn((await app.lastMail()).text)
}

const linkOf = (secret: string): string => `/v2/oauth/set-password?token=${secret}`

describe('the page for a forgotten password', () => {
  test('mails a link to a user, and says the same to everybody', async () => {
    const known = await askFor(person.email)
    const unknown = await askFor('nobody@example.com')
    expect(known.status).toBe(200)
    expect(known.text).toBe(unknown.text)
    expect(known.text).toContain('If there is an account')
    const mails = await app.takeMails()
    expect(mails.map(({ to }) => to)).toEqual([person.email])
  })

  test('leads back to the sign-in that it came from, and nowhere else', async () => {
    const parameters = new URLSearchParams({
      client_id: app.clientId,
      redirect_uri: testRedirectUri,
      code_challenge: challengeOf(verifier),
      username: person.email,
    })
    const browser = visit()
    const page = await browser.open(`/v2/oauth/forgot-password?${parameters}`)
    expect(page.text).toContain('Back to sign-in')
    expect(page.text).toContain(`value="${person.email}"`)
    const sent = await browser.submit(page, { username: person.email })
    expect(sent.text).toContain('/v2/oauth/authorize?')
    parameters.set('redirect_uri', 'https://evil.example/')
    const refused = await visit().open(`/v2/oauth/forgot-password?${parameters}`)
    expect(refused.status).toBe(400)
    expect(refused.text).not.toContain('evil.example')
  })

  test('asks again for what is no address, and keeps the language', async () => {
    const page = await askFor('nobody', '?lang=fr')
    expect(page.status).toBe(400)
    expect(page.text).toContain('Ce n’est pas une adresse e-mail')
  })

  test('E08: takes no form of another site', async () => {
    const browser = visit()
    const page = await browser.open('/v2/oauth/forgot-password')
    const fields = { ...page.hidden, username: person.email }
    await app.takeMails()
    const sent = await browser.send('POST', page.action, fields, { 'sec-fetch-site': 'cross-site' })
    expect(sent.status).toBe(403)
    expect(await app.takeMails()).toEqual([])
  })
})

describe('the page behind the link', () => {
  test('P10: is looked at as often as one likes, by mail scanners too, and is kept nowhere', async () => {
    const secret = await mailedSecret()
    for (let i = 0; i < 3; i++) {
      const page = await visit().open(linkOf(secret))
      expect(page.status).toBe(200)
      expect(page.text).toContain(person.email)
      expect(page.reply.headers['cache-control']).toBe('no-store')
      expect(page.reply.headers['referrer-policy']).toBe('no-referrer')
      expect(page.reply.headers['x-robots-tag']).toBe('noindex')
    }
    const head = await app.app.inject({ method: 'HEAD', url: linkOf(secret) })
    expect([200, 404, 405]).toContain(head.statusCode)
    expect((await visit().open(linkOf(secret))).status).toBe(200)
  })

  test('sets the password, once, and signs no user in', async () => {
    const secret = await mailedSecret()
    const browser = visit()
    const page = await browser.open(linkOf(secret))
    const done = await browser.submit(page, { password: newPassword, repeated: newPassword })
    expect(done.status).toBe(200)
    expect(done.text).toContain('Your password is set')
    expect(done.reply.headers.location).toBeUndefined()
    expect((await app.signIn(person.email, newPassword)).statusCode).toBe(200)
    expect((await app.signIn(person.email, goodPassword)).statusCode).toBe(401)
    app.time.advance(1000)
    expect((await app.get(person.token)).statusCode).toBe(401)
    const again = await browser.submit(page, { password: 'another good one', repeated: 'another good one' })
    expect(again.status).toBe(400)
    expect(again.text).toContain('This link is no longer valid')
    expect((await visit().open(linkOf(secret))).status).toBe(400)
  })

  test.each([
    ['short', 'short', 'at least 12 characters'],
    ['password1234', 'password1234', 'most common'],
    [newPassword, 'ten thousand ducks', 'different'],
    [goodPassword, goodPassword, 'your current password'],
  ])('P10: refuses %j and %j, and the link stays good', async (password, repeated, message) => {
    const secret = await mailedSecret()
    const browser = visit()
    const page = await browser.open(linkOf(secret))
    const refused = await browser.submit(page, { password, repeated })
    expect(refused.status).toBe(400)
    expect(refused.text).toContain(message)
    expect(refused.text).not.toContain(`value="${password}"`)
    const done = await browser.submit(refused, { password: newPassword, repeated: newPassword })
    expect(done.status).toBe(200)
  })

  test.each(['', 'x', 'A'.repeat(43), "' or 1=1 --"])(
    'a made-up token %j is a page that says so',
    async (token) => {
      const page = await visit().open(linkOf(encodeURIComponent(token)))
      expect(page.status).toBe(400)
      expect(page.text).toContain('Ask for a new link')
    },
  )

  test('speaks the language of the person', async () => {
    await relational.pool.query("update users set language = 'fr' where id = $1", [person.id])
    const secret = await mailedSecret()
    expect((await visit().open(linkOf(secret))).text).toContain('Choisissez un nouveau mot de passe')
  })
})
