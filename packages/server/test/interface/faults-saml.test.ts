import { createHmac } from 'node:crypto'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { RefusalReason } from '../../src/features/single-sign-on/saml-refusal.ts'
import type { Relational } from '../../src/platform/stores/relational.ts'
import {
  type IdentityProvider,
  type IdpOptions,
  makeKey,
  startIdentityProvider,
} from '../support/identity-provider.ts'
import { createTestDatabase } from '../support/postgres.ts'
import {
  assertionOf,
  forged,
  genuineResponse,
  requestIdOf,
  signatureOf,
  signElement,
  unsigned,
  wrappings,
} from '../support/saml-forgery.ts'
import {
  type Browser,
  configureSingleSignOn,
  createBrowser,
  createSingleSignOnApp,
  type SingleSignOnApp,
} from '../support/single-sign-on.ts'

/** Messages of faults.md, 2.6, A01 to A08 and A14: each is posted in a sign-in that is otherwise right. */

let relational: Relational
let app: SingleSignOnApp
let idp: IdentityProvider
let entityId: string
let attacker: Awaited<ReturnType<typeof makeKey>>

const eve = { nameId: 'eve', attributes: { email: 'eve@acme.example' } }

beforeAll(async () => {
  relational = await createTestDatabase()
  app = await createSingleSignOnApp(relational)
  idp = await startIdentityProvider()
  ;({ entityId } = await configureSingleSignOn(app, idp))
  await app.auth.addUser('eve@acme.example')
  attacker = await makeKey()
})

afterAll(async () => {
  await app.auth.app.close()
  await idp.close()
  await relational.close()
})

beforeEach(() => {
  app.seen.outcomes.length = 0
  app.seen.finished.length = 0
  // Every response counts, and the clock stands still.
  app.auth.time.advance(1000)
})

interface Attempt {
  readonly browser: Browser
  readonly requestId: string
  /** A response to this very request. */
  respond(options?: IdpOptions, person?: typeof eve): Promise<string>
}

async function begin(): Promise<Attempt> {
  const browser = createBrowser(app)
  const requestId = requestIdOf((await browser.start({ domain: 'acme.example' })).url)
  const respond = (options: IdpOptions = {}, person = eve) =>
    genuineResponse(idp, person, { audience: entityId, inResponseTo: requestId, ...options })
  return { browser, requestId, respond }
}

/** Posts a message. @returns what became of the sign-in */
async function post(browser: Browser, xml: string | Buffer): Promise<string> {
  const SAMLResponse = Buffer.from(xml as string).toString('base64')
  const reply = await browser.post(app.auth.companyId, { SAMLResponse })
  if (reply.statusCode === 303) await browser.follow(reply)
  else expect(reply.statusCode).toBe(403)
  return app.seen.outcomes.at(-1) ?? 'nothing'
}

/** Every refusal is in the audit log by its name, and the page says nothing of it. */
async function expectRefused(browser: Browser, xml: string | Buffer, reason: RefusalReason): Promise<void> {
  expect(await post(browser, xml)).toBe(reason)
  expect(app.seen.finished).toEqual([])
  const { rows } = await relational.pool.query(
    `select company_id, outcome, error, details from audit_entries where action = 'sso-sign-in' order by at desc, id desc limit 1`,
  )
  expect(rows[0]).toMatchObject({
    company_id: app.auth.companyId,
    outcome: 'failure',
    error: 'singleSignOnRefused',
    details: { reason, reference: expect.stringMatching(/^[0-9a-f]{24}$/) },
  })
}

const edited = (edit: (xml: string) => string) => (xml: string) =>
  signElement(edit(unsigned(xml)), { key: idp.key, cert: idp.cert })

describe('A01, A02, A04: what is signed, and by whom', () => {
  test('a response as the identity provider writes it is accepted, signed once or twice', async () => {
    for (const options of [{}, { signResponse: true }, { signatureNamespacePrefix: 'ds' }]) {
      const { browser, respond } = await begin()
      expect(await post(browser, await respond(options))).toBe('accepted')
    }
    expect(app.seen.finished.map(({ userId }) => userId)).toHaveLength(3)
  })

  test('our own signing of tests is accepted too, so that what follows is refused for what it changes', async () => {
    const { browser, respond } = await begin()
    expect(await post(browser, edited((xml) => xml)(await respond()))).toBe('accepted')
  })

  test.each(['XSW1', 'XSW2', 'XSW3', 'XSW4', 'XSW5', 'XSW6', 'XSW7', 'XSW8'])(
    'A01 %s is refused',
    async (name) => {
      const { browser, respond } = await begin()
      const response = wrappings(
        await respond(),
        await respond({ signResponse: true, signAssertion: false }),
      )[name]
      await expectRefused(browser, response ?? '', 'signature-wrapped')
    },
  )

  test('A01 a second assertion, a nested one in Advice and a repeated id are refused', async () => {
    const { browser, respond } = await begin()
    const xml = await respond()
    const assertion = assertionOf(xml)
    const twice = xml.replace(assertion, assertion + forged(assertion))
    await expectRefused(browser, twice, 'signature-wrapped')
    const advice = edited((text) =>
      text.replace(
        '</saml:Conditions>',
        `</saml:Conditions><saml:Advice>${forged(assertionOf(text))}</saml:Advice>`,
      ),
    )
    await expectRefused(browser, advice(xml), 'signature-wrapped')
    const [, id = ''] = / ID="([^"]*)"/.exec(assertion) ?? []
    await expectRefused(browser, xml.replace(/ ID="[^"]*"/, ` ID="${id}"`), 'duplicate-id')
    await expectRefused(browser, `${xml}${xml}`, 'malformed-xml')
  })

  test('A02 an unsigned assertion is refused, also where the response is signed', async () => {
    const { browser, respond } = await begin()
    await expectRefused(browser, unsigned(await respond()), 'unsigned')
    await expectRefused(browser, await respond({ signAssertion: false, signResponse: true }), 'unsigned')
    const xml = await respond()
    const empty = xml.replace(signatureOf(xml), '<Signature xmlns="http://www.w3.org/2000/09/xmldsig#"/>')
    await expectRefused(browser, empty, 'signature-malformed')
  })

  test('A02 a key that the company has not configured is refused, whatever KeyInfo says', async () => {
    const { browser, respond } = await begin()
    const forgedKey = signElement(unsigned(await respond()), {
      key: attacker.privateKey,
      cert: attacker.certificate,
    })
    await expectRefused(browser, forgedKey, 'signature-invalid')
    const otherName = signElement(unsigned(await respond()), { key: attacker.privateKey, cert: idp.cert })
    await expectRefused(browser, otherName, 'signature-invalid')
  })

  test('A02 a response whose own signature is wrong is refused, though its assertion is signed', async () => {
    const { browser, respond } = await begin()
    const xml = signElement(await respond(), { key: attacker.privateKey, element: 'Response' })
    await expectRefused(browser, xml, 'signature-invalid')
  })

  test('A01 a changed byte anywhere in the assertion is refused', async () => {
    const { browser, respond } = await begin()
    const xml = await respond({}, { nameId: 'eve', attributes: { email: 'evf@acme.example' } })
    await expectRefused(browser, xml.replace('evf@', 'eve@'), 'signature-invalid')
    await expectRefused(browser, xml.replace('>eve<', '>root<'), 'signature-invalid')
  })

  const hmac = 'http://www.w3.org/2000/09/xmldsig#hmac-sha1'
  test.each([
    ['SHA-1', { signature: 'http://www.w3.org/2000/09/xmldsig#rsa-sha1' }],
    ['a SHA-1 digest', { digest: 'http://www.w3.org/2000/09/xmldsig#sha1' }],
    [
      'the inclusive canonicalisation',
      { transforms: ['http://www.w3.org/2001/10/xml-exc-c14n#WithComments'] },
    ],
    ['a missing enveloped transform', { transforms: ['http://www.w3.org/2001/10/xml-exc-c14n#'] }],
  ])('A03, A04 %s is refused', async (_name, options) => {
    const { browser, respond } = await begin()
    const xml = signElement(unsigned(await respond()), { key: idp.key, ...options })
    await expectRefused(browser, xml, 'algorithm-refused')
  })

  test('A04 HMAC with the public certificate as its key, and no algorithm at all, are refused', async () => {
    const { browser, respond } = await begin()
    const xml = await respond()
    const info = /<SignedInfo>.*<\/SignedInfo>/s.exec(xml)?.[0] ?? ''
    const rsa = 'http://www.w3.org/2001/04/xmldsig-more#rsa-sha256'
    const weak = info.replace(rsa, hmac)
    const canonical = weak.replace('<SignedInfo>', '<SignedInfo xmlns="http://www.w3.org/2000/09/xmldsig#">')
    const value = createHmac('sha1', idp.cert).update(canonical).digest('base64')
    const keyed = xml.replace(info, weak).replace(/<SignatureValue>[^<]*</, `<SignatureValue>${value}<`)
    await expectRefused(browser, keyed, 'algorithm-refused')
    await expectRefused(browser, xml.replace(rsa, ''), 'algorithm-refused')
    await expectRefused(browser, xml.replace(rsa, 'none'), 'algorithm-refused')
    await expectRefused(browser, xml.replace(rsa, '__proto__'), 'algorithm-refused')
  })

  test('A04 a signature over another element is refused', async () => {
    const { browser, respond } = await begin()
    const xml = await respond()
    const moved = xml.replace(/<Reference URI="#[^"]*"/, '<Reference URI=""')
    await expectRefused(browser, moved, 'signature-wrapped')
    const [, responseId] = / ID="([^"]*)"/.exec(xml) ?? []
    await expectRefused(
      browser,
      xml.replace(/<Reference URI="#[^"]*"/, `<Reference URI="#${responseId}"`),
      'signature-wrapped',
    )
  })
})

describe('A03: the form of a signature', () => {
  const changes: [string, (xml: string) => string, RefusalReason][] = [
    [
      'two SignedInfo',
      (xml) => xml.replace('<SignedInfo>', '<SignedInfo></SignedInfo><SignedInfo>'),
      'signature-malformed',
    ],
    [
      'an element in DigestValue',
      (xml) => xml.replace('<DigestValue>', '<DigestValue><x/>'),
      'signature-malformed',
    ],
    [
      'a comment in DigestValue (CVE-2025-29775)',
      (xml) => xml.replace('<DigestValue>', '<DigestValue><!-- AAAA -->'),
      'markup-declaration',
    ],
    [
      'a comment in SignatureValue',
      (xml) => xml.replace('<SignatureValue>', '<SignatureValue><!-- AAAA -->'),
      'markup-declaration',
    ],
    [
      'two DigestValues',
      (xml) => xml.replace('<DigestValue>', '<DigestValue>AAAA</DigestValue><DigestValue>'),
      'signature-malformed',
    ],
    [
      'an Object',
      (xml) => xml.replace('</Signature>', '<Object>x</Object></Signature>'),
      'signature-malformed',
    ],
    [
      'no SignatureValue',
      (xml) => xml.replace(/<SignatureValue>.*<\/SignatureValue>/s, ''),
      'signature-malformed',
    ],
    [
      'a third transform',
      (xml) =>
        xml.replace(
          '<Transforms>',
          '<Transforms><Transform Algorithm="http://www.w3.org/TR/1999/REC-xpath-19991116"/>',
        ),
      'algorithm-refused',
    ],
    [
      'an XPath in a transform',
      (xml) => xml.replace(/(<Transform [^>]*enveloped-signature")\/>/, '$1><XPath>x</XPath></Transform>'),
      'algorithm-refused',
    ],
    [
      'a canonicalisation that is void',
      (xml) => xml.replace(/<CanonicalizationMethod [^>]*>/, '<CanonicalizationMethod Algorithm=""/>'),
      'algorithm-refused',
    ],
    [
      'a namespaced id',
      (xml) => xml.replace('<saml:Subject>', '<saml:Subject xmlns:x="urn:x" x:ID="_other">'),
      'foreign-id',
    ],
    ['an xml:id', (xml) => xml.replace('<saml:Subject>', '<saml:Subject xml:id="_other">'), 'foreign-id'],
    [
      'an id in lower case',
      (xml) => xml.replace('<saml:Subject>', '<saml:Subject id="_other">'),
      'foreign-id',
    ],
    [
      'a quotation mark in an id',
      (xml) => xml.replace(/(<saml:Assertion [^>]*ID=")[^"]*"/, `$1_' or '1'='1"`),
      'foreign-id',
    ],
  ]
  test.each(changes)('A03 %s is refused', async (_name, change, reason) => {
    const { browser, respond } = await begin()
    const xml = await respond()
    expect(change(xml)).not.toBe(xml)
    await expectRefused(browser, change(xml), reason)
  })

  test('A03 a second reference is refused, though both are signed', async () => {
    const { browser, respond } = await begin()
    const both = signElement(unsigned(await respond()), { key: idp.key, also: 'Status' })
    await expectRefused(browser, both.replace(/(<samlp:Status) Id="[^"]*"/, '$1'), 'signature-malformed')
  })
})

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
    ['an open end', (xml) => xml.slice(0, -20), 'malformed-xml'],
    ['text after its end', (xml) => `${xml}x`, 'malformed-xml'],
    ['nothing', () => ' ', 'malformed-xml'],
    ['a packed form (deflate)', () => Buffer.alloc(100_000, 0x78), 'malformed-xml'],
    ['another root', () => '<Response/>', 'unexpected-structure'],
  ]
  test.each(messages)('A06 a message with %s is refused at once', async (_name, change, reason) => {
    const { browser, respond } = await begin()
    const message = change(await respond())
    const from = performance.now()
    await expectRefused(browser, message, reason)
    // With the requests around it, on a machine that does other things, too.
    expect(performance.now() - from).toBeLessThan(500)
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
    ['no end', { lifetimeInSeconds: -1 }, 'expired'],
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
    app.seen.finished.length = 0
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
  test.each(times)('A08 an assertion that %s is judged so', async (_name, change, wanted) => {
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
