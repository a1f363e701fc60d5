import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { SignedXml } from 'xml-crypto'
import { verifyResponse } from '../../src/features/identity/single-sign-on/assertion/assertion-verifier.ts'
import { readResponseStructure } from '../../src/features/identity/single-sign-on/assertion/response-structure.ts'
import { SamlRefusal } from '../../src/features/identity/single-sign-on/assertion/saml-refusal.ts'
import {
  namespaces,
  parseForeignXml,
  responseLimits,
} from '../../src/features/identity/single-sign-on/assertion/saml-xml.ts'
import { verifySignedText } from '../../src/features/identity/single-sign-on/assertion/signed-element.ts'
import { type IdentityProvider, startIdentityProvider } from '../support/identity-provider.ts'
import { times } from '../support/long.ts'
import { genuineResponse, signElement, unsigned } from '../support/saml-forgery.ts'
import { hostileResponse, withSignatures } from '../support/saml-hostile.ts'

/**
 * What is taken for signed is held against a second reader: the whole verification of xml-crypto, which parses the
 * document and finds the signed element by itself.
 */

let idp: IdentityProvider
let genuine: Readonly<Record<string, string>>
const audience = 'https://millrace.example/metadata'
const acsUrl = 'https://millrace.example/acs'
const groups = (count: number) =>
  Array.from({ length: count }, (_, i) => `00000000-0000-4000-8000-${String(i).padStart(12, '0')}`)

/** As Entra ID writes it: namespaces by default, nothing inclusive, names of claims that are addresses. */
function likeEntra(attributes: Readonly<Record<string, readonly string[]>>): string {
  const at = (seconds: number) => new Date(Date.now() + seconds * 1000).toISOString()
  const statement = Object.entries(attributes).map(([name, values]) => {
    const texts = values.map((value) => `<AttributeValue>${value}</AttributeValue>`).join('')
    return `<Attribute Name="http://schemas.microsoft.com/ws/2008/06/identity/claims/${name}">${texts}</Attribute>`
  })
  const confirmation = `<SubjectConfirmation Method="urn:oasis:names:tc:SAML:2.0:cm:bearer"><SubjectConfirmationData InResponseTo="_request" NotOnOrAfter="${at(300)}" Recipient="${acsUrl}"/></SubjectConfirmation>`
  const conditions = `<Conditions NotBefore="${at(0)}" NotOnOrAfter="${at(300)}"><AudienceRestriction><Audience>${audience}</Audience></AudienceRestriction></Conditions>`
  const authentication = `<AuthnStatement AuthnInstant="${at(0)}" SessionIndex="_s"><AuthnContext><AuthnContextClassRef>urn:oasis:names:tc:SAML:2.0:ac:classes:Password</AuthnContextClassRef></AuthnContext></AuthnStatement>`
  const assertion = `<Assertion ID="_assertion" IssueInstant="${at(0)}" Version="2.0" xmlns="${namespaces.assertion}"><Issuer>${idp.entityId}</Issuer><Subject><NameID Format="urn:oasis:names:tc:SAML:2.0:nameid-format:persistent">eve</NameID>${confirmation}</Subject>${conditions}<AttributeStatement>${statement.join('')}</AttributeStatement>${authentication}</Assertion>`
  const status =
    '<samlp:Status><samlp:StatusCode Value="urn:oasis:names:tc:SAML:2.0:status:Success"/></samlp:Status>'
  const response = `<samlp:Response ID="_response" Version="2.0" IssueInstant="${at(0)}" Destination="${acsUrl}" InResponseTo="_request" xmlns:samlp="${namespaces.protocol}"><Issuer xmlns="${namespaces.assertion}">${idp.entityId}</Issuer>${status}${assertion}</samlp:Response>`
  return signElement(response, { key: idp.key, cert: idp.cert })
}

beforeAll(async () => {
  idp = await startIdentityProvider()
  idp.state.acsUrl = acsUrl
  const person = { nameId: 'eve', attributes: { email: 'eve@acme.example', role: ['a', 'b & "c"', '<d>'] } }
  const made = (options = {}) =>
    genuineResponse(idp, person, { audience, inResponseTo: '_request', ...options })
  const types = 'xmlns:xs="http://www.w3.org/2001/XMLSchema" xmlns:xsi="urn:i"'
  const value = '<a:b xsi:type="xs:string">v\n\t&#13;&quot;</a:b>'
  const inherited = (prefixList: string) =>
    withSignatures(hostileResponse({ attributes: types, prefixList, inner: value, twice: true }), idp.key)
  genuine = {
    'one signature': await made(),
    'two signatures': await made({ signResponse: true }),
    'a prefix for signatures': await made({ signatureNamespacePrefix: 'ds' }),
    'SHA-512': signElement(unsigned(await made()), {
      key: idp.key,
      digest: 'http://www.w3.org/2001/04/xmlenc#sha512',
      signature: 'http://www.w3.org/2001/04/xmldsig-more#rsa-sha512',
    }),
    'default namespaces': likeEntra({ emailaddress: ['eve@acme.example'], groups: groups(3) }),
    'inherited prefixes': inherited(''),
    'inherited prefixes that are included': inherited('xs xsi a none'),
  }
})

afterAll(() => idp.close())

/** The text of the assertion that is signed, as this service reads it. */
function read(xml: string): string | undefined {
  try {
    const { assertion } = readResponseStructure(parseForeignXml(Buffer.from(xml), responseLimits))
    return assertion && verifySignedText(assertion, [idp.cert])
  } catch (error) {
    if (!(error instanceof SamlRefusal)) throw error
    return undefined
  }
}

/** The same as xml-crypto reads it. */
function readAgain(xml: string): string | undefined {
  const { assertion } = readResponseStructure(parseForeignXml(Buffer.from(xml), responseLimits))
  const [signature] = Array.from(assertion?.childNodes ?? []).filter(
    (node) => (node as Element).localName === 'Signature',
  )
  const signed = new SignedXml({ publicCert: idp.cert, getCertFromKeyInfo: () => null })
  signed.idAttributes = ['ID']
  signed.loadSignature(signature as Element)
  try {
    return signed.checkSignature(xml) ? signed.getSignedReferences()[0] : undefined
  } catch {
    return undefined
  }
}

const verify = (xml: string) =>
  verifyResponse(Buffer.from(xml).toString('base64'), {
    issuer: idp.entityId,
    certificates: [idp.cert],
    audience,
    acsUrl,
    now: Date.now(),
  })

describe('what is taken for signed', () => {
  test('is what xml-crypto verifies, in every form that identity providers write', () => {
    for (const [name, xml] of Object.entries(genuine)) {
      const text = read(xml)
      expect(text, name).toMatch(/^<\w+(:\w+)? /)
      expect(text, name).toBe(readAgain(xml))
    }
  })

  test('A01, A03 is what xml-crypto verifies, whatever is cut out, put in or moved', () => {
    const message = fc.constantFrom(...Object.values(genuine))
    const piece = fc.oneof(
      fc.constantFrom(' ', '&#65;', '<x/>', ' ID="_x"', ' xmlns="urn:x"', ' xmlns:xs="urn:x"', ' xmlnsx="y"'),
      fc.string({ maxLength: 2 }),
    )
    let kept = 0
    fc.assert(
      fc.property(
        message,
        fc.double({ min: 0, max: 1, noNaN: true }),
        fc.nat({ max: 30 }),
        piece,
        fc.boolean(),
        (xml, share, removed, inserted, isTag) => {
          const near = Math.floor(share * xml.length)
          const at = isTag ? Math.max(0, xml.indexOf('>', near)) : near
          const changed = xml.slice(0, at) + inserted + xml.slice(at + (isTag ? 0 : removed))
          const text = read(changed)
          if (text === undefined) return
          expect(readAgain(changed)).toBe(text)
          kept++
        },
      ),
      { numRuns: times(1_500, 150) },
    )
    expect(kept).toBeGreaterThan(10)
  })
})

describe('characters', () => {
  const holding = (text: string) => withSignatures(hostileResponse({ inner: `<a:b>${text}</a:b>` }), idp.key)

  test.each(['&#xD800;', '&#xdfff;', '&#56832;', '&#x110000;'])(
    'A03 %s does not pass for the signed U+FFFD, whose bytes it has in a digest',
    (reference) => {
      const signed = holding('\ufffd')
      expect(read(signed)).toContain('<a:b>\ufffd</a:b>')
      expect(read(signed.replace('\ufffd', reference))).toBeUndefined()
    },
  )

  test.each(['\0', '\u0001', '\uffff', '&#0;', '&#x1F;', '&#xFFFE;', '&#9999999;'])(
    'A06 %j stands in no document, no matter who has signed it',
    (text) => {
      const reading = () => parseForeignXml(Buffer.from(holding(text)), responseLimits)
      expect(reading).toThrow(expect.objectContaining({ reason: 'malformed-xml' }))
    },
  )

  test.each([
    ['&#x85;', '\u0085'],
    ['&#x2028;', '\u2028'],
    ['&#x1F600;', '\ud83d\ude00'],
    ['&#x10FFFF;', '\u{10ffff}'],
    ['&#13;', '\r'],
    ['&#xFFFD;', '\ufffd'],
  ])('%s is read as it was signed, also where it stands for itself', (reference, character) => {
    const signed = holding(`a${reference}b`)
    const text = read(signed)
    expect(text).toContain(`<a:b>a${character === '\r' ? '&#xD;' : character}b</a:b>`)
    if (character !== '\r') expect(read(signed.replace(reference, character))).toBe(text)
    const { attributes } = verify(likeEntra({ name: [`a${reference}b`] }))
    expect([...attributes.values()]).toEqual([[`a${character}b`]])
  })
})

describe('elements', () => {
  test.each(['<a><b></a></b>', '<a><a></a>', '<a></x>', '<a></a></b>', '<a><b></x></b></a>'])(
    'A06 %s is no document',
    (text) => {
      const reading = () => parseForeignXml(Buffer.from(text), responseLimits)
      expect(reading).toThrow(expect.objectContaining({ reason: 'malformed-xml' }))
    },
  )
})

describe('large assertions of people who are in many groups', () => {
  test.each([
    ['200 attributes', Object.fromEntries(groups(200).map((name) => [name, [name]])), 200],
    ['1 000 groups', { groups: groups(1_000) }, 1_000],
    ['200 attributes of four values', Object.fromEntries(groups(200).map((name) => [name, groups(4)])), 800],
  ])('%s are read whole', (_name, attributes, count) => {
    const verified = verify(likeEntra(attributes))
    expect([...verified.attributes.values()].flat()).toHaveLength(count)
  })

  test('1 000 groups that each say their type are read whole, signed twice', async () => {
    const person = { nameId: 'eve', attributes: { email: 'eve@acme.example', groups: groups(1_000) } }
    const options = { audience, inResponseTo: '_request', signResponse: true, typedAttributes: true }
    const verified = verify(await genuineResponse(idp, person, options))
    expect(verified.attributes.get('groups')).toEqual(groups(1_000))
  })
})
