import { afterAll, beforeAll, expect, test } from 'vitest'
import { signInWords } from '../../src/features/identity/sign-in/pages/sign-in-words.ts'
import { createPasswords } from '../../src/platform/crypto/passwords.ts'
import type { Language } from '../../src/platform/i18n/language.ts'
import { RelationalUnavailable } from '../../src/platform/stores/relational.ts'
import {
  type AccountsApp,
  createAccountsApp,
  offerSingleSignOn,
  type Person,
  secretIn,
} from '../support/accounts.ts'
import { goodPassword, testRedirectUri } from '../support/auth.ts'
import { oneTimeCode, turnOnAuthenticator } from '../support/authenticator.ts'
import { authorizationFor } from '../support/authorization.ts'
import { minute } from '../support/fake-time.ts'
import {
  createFormBrowser,
  type FormBrowser,
  injected,
  type Reply,
  type Shown,
} from '../support/form-browser.ts'
import { expectFrench, inLanguage } from '../support/page-language.ts'
import { createTestDatabase, type TestDatabase } from '../support/postgres.ts'

/** Every page of a sign-in in every state that it can be in, in both languages. */

let relational: TestDatabase
let app: AccountsApp
let thirdParty: string
const newPassword = 'ten thousand geese'

beforeAll(async () => {
  relational = await createTestDatabase()
  app = await createAccountsApp(relational, {
    passwords: createPasswords({ cost: { memory: 64, passes: 1, lanes: 1 }, places: 1, waitingPlaces: 0 }),
  })
  await offerSingleSignOn(relational, app.companyId, 'both.example')
  relational.beforeStatement = (_text, values) => {
    if (values.includes('down.example'))
      return Promise.reject(new RelationalUnavailable(new Error('cut off')))
    if (values.includes('broken.example'))
      return Promise.reject(new Error('a column of the table users is missing'))
    return undefined
  }
  const client = { name: 'Bilans', grants: [], redirectUris: [testRedirectUri], firstParty: false }
  thirdParty = (await app.clients.createClient(client)).id
})

afterAll(async () => {
  await app.app.close()
  await relational.close()
})

/** A user with a browser, at an address of their own. */
interface Visit {
  readonly language: Language
  readonly browser: FormBrowser
  readonly person: Person
  /** Opens the first page, with other parameters of the authorization request. */
  begin(more?: Record<string, string>): Promise<Shown>
  /** The page after the e-mail address. */
  toPassword(more?: Record<string, string>): Promise<Shown>
  /** Sends a body as it is to the first form. */
  post(payload: string, headers?: Record<string, string>): Promise<Reply>
}

let visits = 0

async function visit(language: Language): Promise<Visit> {
  visits++
  const transport = inLanguage(language, injected(app.app, `198.18.${visits >> 8}.${visits & 255}`))
  const browser = createFormBrowser(transport)
  const person = await app.person()
  const parameters = (more: Record<string, string> = {}) =>
    new URLSearchParams(authorizationFor(app.auth, { lang: language, ...more }))
  const begin = (more?: Record<string, string>) => browser.open(`/v2/oauth/authorize?${parameters(more)}`)
  return {
    language,
    browser,
    person,
    begin,
    toPassword: async (more) => browser.submit(await begin(more), { username: person.email }),
    post: (body, headers = {}) =>
      transport({
        method: 'POST',
        url: '/v2/oauth/check-email',
        headers: { accept: 'text/html', 'content-type': 'application/x-www-form-urlencoded', ...headers },
        body,
      }),
  }
}

type State = (visit: Visit) => Promise<Shown | Reply>

const addressOf =
  (address: string): State =>
  async ({ browser, begin }) =>
    browser.submit(await begin(), { username: address })

/** While nobody else gets a place where passwords are hashed. */
async function whileBusy<T>(work: () => Promise<T>): Promise<T> {
  const { promise, resolve } = Promise.withResolvers<void>()
  const held = app.parts.passwords.withHasher(() => promise)
  const result = await work()
  resolve()
  await held
  return result
}

async function toCode({ person, browser, toPassword }: Visit) {
  const { secret } = await turnOnAuthenticator(app.auth, person.token)
  const page = await browser.submit(await toPassword(), { password: goodPassword })
  return { page, wrong: oneTimeCode(app.auth, secret, 9) }
}

async function toLink({ person, browser, language }: Visit, kind: 'reset' | 'invitation' = 'reset') {
  await app.takeMails()
  if (kind === 'reset') {
    const page = await browser.open(`/v2/oauth/forgot-password?lang=${language}`)
    await browser.submit(page, { username: person.email })
  } else {
    const admin = await app.person('admin')
    const { data } = await app.call(admin.token, 'GET', `/users/${admin.id}`)
    const { resourceGroupIds } = data
    const email = `new-${person.email}`
    const roleId = await app.roleIdOf('viewer')
    await app.call(admin.token, 'POST', '/invitations', { email, roleId, resourceGroupIds })
  }
  app.time.advance(10 * minute)
  return browser.open(
    `/v2/oauth/set-password?lang=${language}&token=${secretIn((await app.lastMail()).text)}`,
  )
}

const choosing =
  (password: string, repeated = password): State =>
  async (visit) =>
    visit.browser.submit(await toLink(visit), { password, repeated })

/** An address that is no authorization endpoint: it tells the person what it would tell the application. */
const forgot =
  (more: Record<string, string>, behind = ''): State =>
  ({ browser, language }) => {
    const parameters = new URLSearchParams(authorizationFor(app.auth, { lang: language, ...more }))
    return browser.open(`/v2/oauth/forgot-password?${parameters}${behind}`)
  }

const states: Readonly<Record<string, State>> = {
  'the address': ({ begin }) => begin(),
  'no address': addressOf('nobody'),
  'a long address': addressOf(`${'x'.repeat(250)}@example.com`),
  'no address at all': addressOf(''),
  'the password': ({ toPassword }) => toPassword(),
  'the password, or single sign-on': addressOf('ada@both.example'),
  'a wrong password': async ({ browser, toPassword }) =>
    browser.submit(await toPassword(), { password: 'not the password' }),
  'too many wrong passwords': async ({ browser, toPassword }) => {
    let page = await toPassword()
    for (let i = 0; i < 11; i++) page = await browser.submit(page, { password: 'not the password' })
    return page
  },
  'far too many wrong passwords': async ({ browser, toPassword }) => {
    let page = await toPassword()
    for (let i = 0; i < 60; i++) {
      page = await browser.submit(page, { password: 'not the password' })
      if (i < 59) app.time.advance(page.status === 429 ? 5 * minute : 0)
    }
    return page
  },
  'too many people': async ({ browser, toPassword }) => {
    const page = await toPassword()
    return whileBusy(() => browser.submit(page, { password: goodPassword }))
  },
  'the one-time code': async (visit) => (await toCode(visit)).page,
  'a wrong one-time code': async (visit) => {
    const { page, wrong } = await toCode(visit)
    return visit.browser.submit(page, { code: wrong })
  },
  'a sign-in that took too long': async (visit) => {
    const { page, wrong } = await toCode(visit)
    let last = page
    for (let i = 0; i < 6; i++) last = await visit.browser.submit(page, { code: wrong })
    return last
  },
  'the consent': async ({ browser, toPassword }) =>
    browser.submit(await toPassword({ client_id: thirdParty }), { password: goodPassword }),
  'a consent that took too long': async ({ browser, toPassword }) => {
    const page = await browser.submit(await toPassword({ client_id: thirdParty }), { password: goodPassword })
    await browser.submit(page, { decision: 'deny' })
    return browser.submit(page, { decision: 'allow' })
  },
  'a forgotten password': ({ browser, language }) =>
    browser.open(`/v2/oauth/forgot-password?lang=${language}`),
  'a forgotten password of no address': async ({ browser, language }) =>
    browser.submit(await browser.open(`/v2/oauth/forgot-password?lang=${language}`), { username: 'nobody' }),
  'a forgotten password on the way in': ({ browser, language }) =>
    browser.open(
      `/v2/oauth/forgot-password?${new URLSearchParams(authorizationFor(app.auth, { lang: language }))}`,
    ),
  'a link that is on its way': async ({ browser, language, person }) => {
    const parameters = new URLSearchParams(authorizationFor(app.auth, { lang: language }))
    const page = await browser.open(`/v2/oauth/forgot-password?${parameters}`)
    return browser.submit(page, { username: person.email })
  },
  'a new password': (visit) => toLink(visit),
  'a first password': (visit) => toLink(visit, 'invitation'),
  'a short password': choosing('short'),
  'a password that is too long': choosing('x'.repeat(5_000)),
  'a password with U+0000': choosing('a field of \0 poppies'),
  'a common password': choosing('password1234'),
  'different passwords': choosing(newPassword, 'ten thousand ducks'),
  'the same password': choosing(goodPassword),
  'a new password, and too many people': async (visit) => {
    const page = await toLink(visit)
    return whileBusy(() => visit.browser.submit(page, { password: newPassword, repeated: newPassword }))
  },
  'a password that is set': choosing(newPassword),
  'a link that has ended': ({ browser, language }) =>
    browser.open(`/v2/oauth/set-password?lang=${language}&token=x`),
  'a link that ended meanwhile': async (visit) => {
    const page = await toLink(visit)
    await visit.browser.submit(page, { password: newPassword, repeated: newPassword })
    return visit.browser.submit(page, { password: newPassword, repeated: newPassword })
  },
  'a form of another site': async ({ browser, begin }) => {
    const page = await begin()
    return browser.send('POST', page.action, page.hidden, { 'sec-fetch-site': 'cross-site' })
  },
  'a browser without cookies': async ({ browser, toPassword }) => {
    const page = await toPassword()
    browser.cookies.clear()
    return browser.submit(page, { password: goodPassword })
  },
  'no application': ({ begin }) => begin({ client_id: '' }),
  'an unknown application': ({ begin }) => begin({ client_id: 'x' }),
  'an application of programs': async (visit) => {
    const client = { name: 'x', grants: ['password' as const], redirectUris: [testRedirectUri] }
    return forgot({ client_id: (await app.clients.createClient(client)).id })(visit)
  },
  'no address to go back to': ({ begin }) => begin({ redirect_uri: '' }),
  'a foreign address to go back to': ({ begin }) => begin({ redirect_uri: 'https://evil.example' }),
  'another response type': forgot({ response_type: 'token' }),
  'another response mode': forgot({ response_mode: 'fragment' }),
  'another challenge method': forgot({ code_challenge_method: 'plain' }),
  'no challenge': forgot({ code_challenge: '' }),
  'a challenge that is none': forgot({ code_challenge: 'x' }),
  'a scope that is none': forgot({ scope: '"' }),
  'a long state': forgot({ state: 'x'.repeat(2_049) }),
  'a parameter given twice': forgot({}, '&state=x'),
  'a parameter that is no text': forgot({}, '&prompt=%00'),
  'an unknown field': async ({ browser, begin }) => browser.submit(await begin(), { prompt: 'x' }),
  'a field given twice': ({ post, language }) => post('a=1&a=2', { 'accept-language': language }),
  'a form that is not UTF-8': ({ post }) => post('a=%ff'),
  'a hundred fields and one': ({ post }) => post(Array.from({ length: 101 }, (_, i) => `f${i}=`).join('&')),
  'a large form': ({ post }) => post('x'.repeat(70_000)),
  'a form in another format': ({ post }) => post('{}', { 'content-type': 'application/json' }),
  'a form in another alphabet': ({ post }) =>
    post('a=1', { 'content-type': 'application/x-www-form-urlencoded; charset=koi8-r' }),
  'a packed form': ({ post }) => post('a=1', { 'content-encoding': 'br' }),
  'a service that is down': addressOf('ada@down.example'),
  'a mistake of ours': addressOf('ada@broken.example'),
  'too many pages': async ({ begin }) => {
    let page = await begin()
    while (page.status !== 429) page = await begin({ client_id: '' })
    return page
  },
}

const walked = new Map<string, Promise<string[]>>()

/** What a state says in French, held against English. */
function walk(name: string): Promise<string[]> {
  const walkOnce = async () => {
    const pages = []
    for (const language of ['en', 'fr'] as const) {
      const page = await states[name]?.(await visit(language))
      pages.push(page && 'reply' in page ? page.reply : (page as Reply))
    }
    return expectFrench(pages[0] as Reply, pages[1] as Reply, name)
  }
  const texts = walked.get(name) ?? walkOnce()
  walked.set(name, texts)
  return texts
}

test.each(Object.keys(states))('%s is told in French alone', async (name) => {
  expect((await walk(name)).length).toBeGreaterThan(1)
})

test('all that these pages can say was seen', async () => {
  const seen = (await Promise.all(Object.keys(states).map(walk))).flat()
  const { toApplication, consentTitle, tooMany, passwordFaults, consentPoints, ...words } = signInWords.fr
  // A form that holds what is no text is refused before anybody looks at the password.
  const { malformed: _unseen, ...faults } = passwordFaults
  const whole = [...Object.values(words), ...Object.values(faults), ...consentPoints]
  expect(whole.filter((sentence) => !seen.some((text) => text.startsWith(sentence)))).toEqual([])
  expect(seen).toContain(toApplication('web'))
  expect(seen).toContain(consentTitle('Bilans'))
  const begin = tooMany(1).split('1', 1)[0] ?? ''
  const waits = seen.filter((text) => text.startsWith(begin))
  expect(waits.some((text) => text.includes('minute'))).toBe(true)
  expect(waits.some((text) => text.includes('seconde'))).toBe(true)
})
