import { deflateRawSync } from 'node:zlib'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { RefusalReason } from '../../src/features/identity/single-sign-on/assertion/saml-refusal.ts'
import type { IdentityProvider, IdpOptions } from '../support/identity-provider.ts'
import { type Attempts, createAttempts } from '../support/saml-attempts.ts'
import {
  createBrowser,
  type OpenedSingleSignOn,
  openSingleSignOn,
  type SingleSignOnApp,
} from '../support/single-sign-on.ts'

/** Messages of docs/faults.md, A05 to A08 and A14: each is posted in a sign-in that is otherwise right. */

let opened: OpenedSingleSignOn
let app: SingleSignOnApp
let idp: IdentityProvider
let begin: Attempts['begin']
let post: Attempts['post']
let expectRefused: Attempts['expectRefused']
let edited: Attempts['edited']
let entityId: string

beforeAll(async () => {
  opened = await openSingleSignOn()
  ;({ app, idp, entityId } = opened)
  await app.auth.addUser('eve@acme.example')
  ;({ begin, post, expectRefused, edited } = createAttempts(opened.relational, app, idp))
})

afterAll(() => opened.close())

beforeEach(() => opened.forget())

describe('A05, A06, A14: the message itself', () => {
  test('A05 a comment in an address never cuts it short', async () => {
    const { browser, respond } = await begin()
    const whole = { nameId: 'eve', attributes: { email: 'root@acme.example.evil.example' } }
    const xml = await respond({}, whole)
    const cut = xml.replace('root@acme.example.evil', 'root@acme.example<!---->.evil')
    await expectRefused(browser, cut, 'markup-declaration')
    await expectRefused(browser, xml, 'domain-not-verified')
  })

  const doctype = '<!DOCTYPE x [<!ENTITY a "aaaa">]>'
  const messages: [string, (xml: string) => string | Buffer, RefusalReason][] = [
    ['a document type', (xml) => `${doctype}${xml}`, 'markup-declaration'],
    ['an entity of its own', (xml) => xml.replace('>eve<', '>&a;<'), 'malformed-xml'],
    ['a CDATA section', (xml) => xml.replace('>eve<', '><![CDATA[eve]]><'), 'markup-declaration'],
    ['a processing instruction', (xml) => `<?xml-stylesheet href="x"?>${xml}`, 'processing-instruction'],
    ['one inside', (xml) => xml.replace('>eve<', '>e<?x y?>ve<'), 'processing-instruction'],
    ['UTF-16', (xml) => Buffer.from(`\ufeff${xml}`, 'utf16le'), 'not-utf8'],
    ['the word of UTF-7', (xml) => `<?xml version="1.0" encoding="UTF-7"?>${xml}`, 'not-utf8'],
    ['broken UTF-8', (xml) => Buffer.concat([Buffer.from(xml), Buffer.from([0xff])]), 'not-utf8'],
    ['over 256 KiB', (xml) => xml + ' '.repeat(256 * 1024), 'too-large'],
    [
      'a hundred levels',
      (xml) => xml.replace('>eve<', `>${'<a>'.repeat(100)}${'</a>'.repeat(100)}<`),
      'too-deep',
    ],
    ['thousands of elements', (xml) => xml.replace('>eve<', `>${'<a/>'.repeat(5000)}<`), 'too-many-elements'],
    [
      'ten thousand attributes',
      (xml) =>
        xml.replace(
          '<saml:Subject',
          `<saml:Subject ${Array.from({ length: 10_000 }, (_, i) => `a${i}=""`).join(' ')}`,
        ),
      'too-many-elements',
    ],
    [
      'ten thousand references',
      (xml) => xml.replace('>eve<', `>${'&#65;'.repeat(10_000)}<`),
      'too-many-elements',
    ],
    ['a loose ampersand', (xml) => xml.replace('>eve<', '>e&ve<'), 'malformed-xml'],
    ['an open end', (xml) => xml.slice(0, -20), 'malformed-xml'],
    ['text after its end', (xml) => `${xml}x`, 'malformed-xml'],
    ['nothing', () => ' ', 'malformed-xml'],
    ['a packed form (deflate)', (xml) => deflateRawSync(xml), 'not-utf8'],
    // 10 MB in 10 kB: unpacked by nobody.
    ['a packed bomb (deflate)', (xml) => deflateRawSync(xml + ' '.repeat(10_000_000)), 'not-utf8'],
    ['another root', () => '<Response/>', 'unexpected-structure'],
  ]
  test.each(messages)('A06 a message with %s is refused by its form', async (_name, change, reason) => {
    const { browser, respond } = await begin()
    const message = change(await respond())
    await expectRefused(browser, message, reason)
  })

  test('A06 10 MB are refused unread, and what is no base64 by its name', async () => {
    const browser = createBrowser(app)
    const large = await browser.post(app.auth.companyId, { SAMLResponse: 'A'.repeat(10_000_000) })
    expect(large.statusCode).toBe(413)
    const odd = await browser.post(app.auth.companyId, { SAMLResponse: 'PHg+*' })
    expect([odd.statusCode, app.seen.outcomes.at(-1)]).toEqual([403, 'not-base64'])
  })

  test('A14 a status other than success and an encrypted assertion are refused alike for the person', async () => {
    const { browser, respond } = await begin()
    const xml = await respond()
    const failed = xml.replace('status:Success', 'status:Responder')
    await expectRefused(browser, failed, 'status-not-success')
    const encrypted = await respond({ encryptionCert: idp.cert, encryptionPublicKey: idp.cert })
    await expectRefused(browser, encrypted, 'encrypted')
    const pages = await Promise.all(
      [failed, encrypted].map((each) =>
        browser.post(app.auth.companyId, { SAMLResponse: Buffer.from(each).toString('base64') }),
      ),
    )
    const [first, second] = pages.map(({ body }) => body.replaceAll(/[0-9a-f]{24}/g, ''))
    expect(first).toBe(second)
    expect(first).toContain('Signing in has failed')
    expect(first).not.toMatch(/status|encrypt/i)
  })
})

describe('A07, A08: whom it is for, and when', () => {
  const options: [string, IdpOptions, RefusalReason][] = [
    ['another audience', { audience: 'https://other.example' }, 'wrong-audience'],
    ['no audience', { audience: undefined }, 'wrong-audience'],
    ['another recipient', { recipient: 'https://millrace.example/v2/sso/saml/x/acs' }, 'wrong-recipient'],
    ['no recipient', { recipient: undefined }, 'wrong-recipient'],
    ['another destination', { destination: 'https://other.example' }, 'wrong-destination'],
    ['another issuer', { issuer: 'https://other.example/metadata' }, 'wrong-issuer'],
    ['no request', { inResponseTo: undefined }, 'unsolicited'],
    ['an end long past', { lifetimeInSeconds: -600 }, 'expired'],
  ]
  test.each(options)('A07 %s is refused', async (_name, changed, reason) => {
    const { browser, respond } = await begin()
    await expectRefused(browser, await respond(changed), reason)
  })

  test('A07 an assertion for several audiences is taken when each restriction has ours', async () => {
    const { browser, respond } = await begin()
    expect(await post(browser, await respond({ audience: ['https://other.example', entityId] }))).toBe(
      'accepted',
    )
    app.forget()
    const second = await begin()
    const other =
      '<saml:AudienceRestriction><saml:Audience>https://other.example</saml:Audience></saml:AudienceRestriction>'
    const both = edited((xml) => xml.replace('</saml:Conditions>', `${other}</saml:Conditions>`))
    await expectRefused(second.browser, both(await second.respond()), 'wrong-audience')
  })

  test('A07 the issuer of the assertion counts, not only that of the response', async () => {
    const { browser, respond } = await begin()
    const xml = edited((text) =>
      text.replace(/(<saml:Assertion [^>]*><saml:Issuer>)[^<]*/, '$1https://other.example'),
    )
    await expectRefused(browser, xml(await respond()), 'wrong-issuer')
  })

  const at = (seconds: number) => new Date(app.auth.time.clock.now() + seconds * 1000).toISOString()
  const times: [string, (xml: string) => string, RefusalReason | 'accepted'][] = [
    [
      'ended 61 s ago',
      (xml) => xml.replaceAll(/NotOnOrAfter="[^"]*"/g, `NotOnOrAfter="${at(-61)}"`),
      'expired',
    ],
    [
      'ended 60 s ago',
      (xml) => xml.replaceAll(/NotOnOrAfter="[^"]*"/g, `NotOnOrAfter="${at(-60)}"`),
      'expired',
    ],
    [
      'ended 59 s ago',
      (xml) => xml.replaceAll(/NotOnOrAfter="[^"]*"/g, `NotOnOrAfter="${at(-59)}"`),
      'accepted',
    ],
    ['begins in 61 s', (xml) => xml.replace(/NotBefore="[^"]*"/, `NotBefore="${at(61)}"`), 'not-yet-valid'],
    ['begins in 59 s', (xml) => xml.replace(/NotBefore="[^"]*"/, `NotBefore="${at(59)}"`), 'accepted'],
    [
      'has conditions without an end',
      (xml) => xml.replace(/(<saml:Conditions [^>]*?) NotOnOrAfter="[^"]*"/, '$1'),
      'no-time-limit',
    ],
    [
      'has a confirmation without an end',
      (xml) => xml.replace(/(ConfirmationData) NotOnOrAfter="[^"]*"/, '$1'),
      'no-time-limit',
    ],
    [
      'has no conditions',
      (xml) => xml.replace(/<saml:Conditions .*<\/saml:Conditions>/s, ''),
      'no-time-limit',
    ],
    [
      'has a session that ended',
      (xml) => xml.replace('<saml:AuthnStatement ', `<saml:AuthnStatement SessionNotOnOrAfter="${at(-61)}" `),
      'session-expired',
    ],
    [
      'has a date that is none',
      (xml) => xml.replace(/NotBefore="[^"]*"/, 'NotBefore="yesterday"'),
      'unexpected-structure',
    ],
    [
      'has an unknown condition',
      (xml) => xml.replace('</saml:Conditions>', '<saml:Condition/></saml:Conditions>'),
      'unknown-condition',
    ],
    ['has no bearer', (xml) => xml.replace('cm:bearer', 'cm:sender-vouches'), 'no-bearer-confirmation'],
    [
      'has nobody signed in',
      (xml) => xml.replace(/<saml:AuthnStatement .*<\/saml:AuthnStatement>/s, ''),
      'no-authentication',
    ],
    ['has no name', (xml) => xml.replace('>eve<', '><'), 'no-subject'],
    [
      'has a name that changes',
      (xml) =>
        xml.replace(
          /Format="[^"]*nameid-format:unspecified"/,
          'Format="urn:oasis:names:tc:SAML:2.0:nameid-format:transient"',
        ),
      'transient-name-id',
    ],
  ]
  test.each(times)('A08 an assertion that %s is answered so', async (_name, change, wanted) => {
    const { browser, respond } = await begin()
    // The identity provider writes the time of the machine, the service reads that of the test.
    const now = (xml: string) =>
      xml
        .replaceAll(/NotBefore="[^"]*"/g, `NotBefore="${at(0)}"`)
        .replaceAll(/NotOnOrAfter="[^"]*"/g, `NotOnOrAfter="${at(300)}"`)
    const xml = edited((text) => change(now(text)))(await respond())
    if (wanted === 'accepted') expect(await post(browser, xml)).toBe('accepted')
    else await expectRefused(browser, xml, wanted)
  })
})
