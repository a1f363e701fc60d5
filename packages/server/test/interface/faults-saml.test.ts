import { createHmac } from 'node:crypto'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { RefusalReason } from '../../src/features/identity/single-sign-on/assertion/saml-refusal.ts'
import { type IdentityProvider, makeKey } from '../support/identity-provider.ts'
import { type Attempts, createAttempts } from '../support/saml-attempts.ts'
import {
  assertionOf,
  forged,
  signatureOf,
  signElement,
  unsigned,
  wrappings,
} from '../support/saml-forgery.ts'
import { type OpenedSingleSignOn, openSingleSignOn, type SingleSignOnApp } from '../support/single-sign-on.ts'

/** Messages of docs/faults.md, A01 to A04: each is posted in a sign-in that is otherwise right. */

let opened: OpenedSingleSignOn
let app: SingleSignOnApp
let idp: IdentityProvider
let begin: Attempts['begin']
let post: Attempts['post']
let expectRefused: Attempts['expectRefused']
let edited: Attempts['edited']
let attacker: Awaited<ReturnType<typeof makeKey>>

beforeAll(async () => {
  opened = await openSingleSignOn()
  ;({ app, idp } = opened)
  await app.auth.addUser('eve@acme.example')
  ;({ begin, post, expectRefused, edited } = createAttempts(opened.relational, app, idp))
  attacker = await makeKey()
})

afterAll(() => opened.close())

beforeEach(() => opened.forget())

describe('A01, A02, A04: what is signed, and by whom', () => {
  test('a response as the identity provider writes it is accepted, signed once or twice', async () => {
    for (const options of [{}, { signResponse: true }, { signatureNamespacePrefix: 'ds' }]) {
      const { browser, respond } = await begin()
      expect(await post(browser, await respond(options))).toBe('accepted')
    }
    expect(await app.finished()).toHaveLength(3)
  })

  test('a user with 200 attributes and 1 000 groups is let in', async () => {
    const { browser, respond } = await begin()
    const each = (count: number, name: string) => Array.from({ length: count }, (_, i) => `${name}-${i}`)
    const many = Object.fromEntries(each(200, 'attribute').map((name) => [name, [name]]))
    const attributes = { email: 'eve@acme.example', groups: each(1_000, 'group'), ...many }
    expect(await post(browser, await respond({}, { nameId: 'eve', attributes }))).toBe('accepted')
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
