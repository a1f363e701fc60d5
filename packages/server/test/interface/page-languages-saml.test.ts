import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Language } from '../../src/platform/i18n/language.ts'
import { second } from '../support/fake-time.ts'
import { createFormBrowser, type FormBrowser, injected, type Shown } from '../support/form-browser.ts'
import { expectFrench, inLanguage } from '../support/page-language.ts'
import { type OpenedSingleSignOn, openSingleSignOn, personOf } from '../support/single-sign-on.ts'

/** The pages on the way through single sign-on in every state that they can be in, in both languages. */

let opened: OpenedSingleSignOn

beforeAll(async () => {
  opened = await openSingleSignOn()
})

afterAll(() => opened.close())

interface Visit {
  readonly language: Language
  readonly browser: FormBrowser
  /** Opens the login address with these parameters and no language. */
  begin(parameters: Record<string, string>): Promise<Shown>
  answer(fields: Record<string, string>, headers?: Record<string, string>): Promise<Shown>
}

let visits = 0

function visit(language: Language): Visit {
  visits++
  const { auth } = opened.app
  auth.time.advance(second)
  const browser = createFormBrowser(inLanguage(language, injected(auth.app, `198.18.0.${visits}`)))
  return {
    language,
    browser,
    begin: (parameters) => browser.open(`/v2/sso/saml/login?${new URLSearchParams(parameters)}`),
    answer: (fields, headers) => browser.send('POST', `/v2/sso/saml/${auth.companyId}/acs`, fields, headers),
  }
}

const acme = { domain: 'acme.example' }

/** Goes the whole way as a user of the domain, with what the identity provider says changed. */
async function goThrough(
  { browser, begin, answer, language }: Visit,
  name: string,
  change = (xml: string) => xml,
): Promise<Shown> {
  const { app, idp } = opened
  idp.state.person = personOf(name)
  const page = await begin({ ...acme, lang: language })
  const link = /<a href="([^"]*)">/.exec(page.text)?.[1]?.replaceAll('&amp;', '&') ?? ''
  const { samlResponse } = await idp.answer(link)
  const changed = change(Buffer.from(samlResponse, 'base64').toString('utf8'))
  const taken = await answer(
    { SAMLResponse: Buffer.from(changed).toString('base64') },
    { 'accept-language': 'de' },
  )
  const { location } = taken.reply.headers
  return location === undefined ? taken : browser.open(String(location).slice(app.seen.origin.length))
}

/** As far as the pages of an application's sign-in share their words, they are in page-languages.test.ts. */
const states: Readonly<Record<string, (visit: Visit) => Promise<Shown>>> = {
  'the way to the identity provider': ({ begin }) => begin(acme),
  'a trial that works': (visit) => goThrough(visit, 'root'),
  'a trial of a user who may not sign in': (visit) => goThrough(visit, 'nobody'),
  'a response that is refused': (visit) =>
    goThrough(visit, 'root', (xml) => xml.replace('status:Success', 'status:Responder')),
  'a response that nobody can read': ({ answer }) => answer({ SAMLResponse: 'eA==' }),
  'a result that nobody knows': ({ browser }) =>
    browser.open(`/v2/sso/saml/${opened.app.auth.companyId}/finish?result=x`),
  'no response': ({ answer }) => answer({}),
  'a large form': ({ answer }) => answer({ SAMLResponse: 'x'.repeat(600_000) }),
  'a form in another format': ({ answer }) => answer({}, { 'content-type': 'application/json' }),
  'a packed form': ({ answer }) => answer({}, { 'content-encoding': 'br' }),
  'too many responses': async ({ answer }) => {
    let page = await answer({})
    for (let i = 0; i < 20; i++) page = await answer({})
    return page
  },
  'a domain without single sign-on': ({ begin }) => begin({ domain: 'nowhere.example' }),
  'a domain and a company': ({ begin }) => begin({ ...acme, company: opened.app.auth.companyId }),
  'neither of them': ({ begin }) => begin({}),
  'a foreign address to go back to': ({ begin }) => begin({ ...acme, redirect_uri: 'https://evil.example' }),
  'an unknown parameter': ({ begin }) => begin({ ...acme, prompt: 'x' }),
  'a long parameter': ({ begin }) => begin({ domain: 'x'.repeat(300) }),
  'a parameter given twice': ({ browser }) => browser.open('/v2/sso/saml/login?domain=a&domain=b'),
  'a parameter that is no text': ({ browser }) => browser.open('/v2/sso/saml/login?domain=%00'),
  // The last one: nobody comes in afterwards.
  'a certificate that has ended': async ({ begin }) => {
    await opened.relational.pool.query('delete from sso_certificates')
    return begin(acme)
  },
}

test.each(Object.entries(states))('%s is told in French alone', async (name, state) => {
  const english = await state(visit('en'))
  const french = await state(visit('fr'))
  expect(expectFrench(english.reply, french.reply, name).length).toBeGreaterThan(1)
})
