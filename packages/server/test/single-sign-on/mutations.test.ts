import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { verifyResponse } from '../../src/features/identity/single-sign-on/assertion/assertion-verifier.ts'
import { SamlRefusal } from '../../src/features/identity/single-sign-on/assertion/saml-refusal.ts'
import { type IdentityProvider, startIdentityProvider } from '../support/identity-provider.ts'
import { times } from '../support/long.ts'
import { genuineResponse } from '../support/saml-forgery.ts'

let idp: IdentityProvider
const audience = 'https://millrace.example/metadata'
const acsUrl = 'https://millrace.example/acs'

beforeAll(async () => {
  idp = await startIdentityProvider()
  idp.state.acsUrl = acsUrl
})

afterAll(() => idp.close())

function verify(xml: string) {
  const { entityId: issuer, cert } = idp
  const expected = { issuer, certificates: [cert], audience, acsUrl, now: Date.now() }
  return verifyResponse(Buffer.from(xml).toString('base64'), expected)
}

test('A01, A03 whatever is cut out, put in or moved, a response says what was signed or is refused by name', async () => {
  const person = { nameId: 'eve', attributes: { email: 'eve@acme.example', role: ['a', 'b'] } }
  const xml = await genuineResponse(idp, person, { audience, inResponseTo: '_request', signResponse: true })
  const genuine = verify(xml)
  expect(genuine).toMatchObject({ nameId: 'eve', inResponseTo: '_request' })
  expect(Object.fromEntries(genuine.attributes)).toEqual({ email: ['eve@acme.example'], role: ['a', 'b'] })

  const tags = [...xml.matchAll(/<[^>]+>/g)].map(({ index }) => index)
  const place = fc.oneof(fc.integer({ min: 0, max: xml.length }), fc.constantFrom(...tags))
  const piece = fc.oneof(
    fc.tuple(place, fc.integer({ min: 1, max: 4000 })).map(([from, size]) => xml.slice(from, from + size)),
    fc.constantFrom(
      ' ',
      '\n',
      '&amp;',
      '&#x0;',
      '&#65;',
      '<a/>',
      '"',
      "'",
      '>',
      ' ID="_x"',
      ' xmlns="urn:x"',
      ' xmlnsx="y"',
      '\ufeff',
      '\u2028',
    ),
    fc.string({ maxLength: 3 }),
  )
  let kept = 0
  fc.assert(
    fc.property(place, fc.nat({ max: 60 }), piece, (at, removed, inserted) => {
      const changed = xml.slice(0, at) + inserted + xml.slice(at + removed)
      try {
        expect(verify(changed)).toEqual(genuine)
        kept++
      } catch (error) {
        if (!(error instanceof SamlRefusal)) throw error
      }
    }),
    { numRuns: times(3000, 300) },
  )
  // Space between attributes and the like changes nothing that is signed.
  expect(kept).toBeLessThan(600)
})

test('A06 no message at all breaks the reader', () => {
  const part = fc.constantFrom(
    '<',
    '>',
    '/',
    '</',
    '/>',
    '<a',
    '<a>',
    '</a>',
    ' b="c"',
    "'",
    '"',
    '&',
    '&lt;',
    '&#x41;',
    '<!--',
    '-->',
    '<?xml ',
    '?>',
    '<![CDATA[',
    ']]>',
    'xmlns:a="b"',
    'a:',
    '<samlp:Response xmlns:samlp="urn:oasis:names:tc:SAML:2.0:protocol" Version="2.0">',
    '</samlp:Response>',
    'x',
    '\u0000',
    '\ud83d\ude00',
  )
  fc.assert(
    fc.property(fc.array(part, { maxLength: 20 }), (parts) => {
      expect(() => verify(parts.join(''))).toThrow(SamlRefusal)
    }),
    { numRuns: times(3000, 300) },
  )
})
