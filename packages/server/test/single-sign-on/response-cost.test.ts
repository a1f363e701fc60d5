import { beforeAll, expect, onTestFinished, test, vi } from 'vitest'
import { ExclusiveCanonicalization } from 'xml-crypto'
import { verifyResponse } from '../../src/features/single-sign-on/assertion-verifier.ts'
import { SamlRefusal } from '../../src/features/single-sign-on/saml-refusal.ts'
import { mostCertificates } from '../../src/features/single-sign-on/signed-element.ts'
import { makeKey } from '../support/identity-provider.ts'
import {
  costlyResponses,
  declarations,
  hostileAcsUrl,
  hostileResponse,
  withSignedInfo,
} from '../support/saml-hostile.ts'

/** faults.md, A06: what a message costs is bounded by its form, not by what a clock says on some machine. */

let keys: Awaited<ReturnType<typeof makeKey>>[]

beforeAll(async () => {
  keys = await Promise.all(Array.from({ length: mostCertificates + 1 }, () => makeKey()))
})

/** Why the message is refused, and how often something was canonicalised for that. */
function refusalOf(xml: string, certificates = keys.map(({ certificate }) => certificate)) {
  const process = vi.spyOn(ExclusiveCanonicalization.prototype, 'process')
  onTestFinished(() => process.mockRestore())
  process.mockClear()
  try {
    verifyResponse(Buffer.from(xml).toString('base64'), {
      issuer: 'i',
      certificates,
      audience: 'x',
      acsUrl: hostileAcsUrl,
      now: Date.now(),
    })
  } catch (error) {
    if (!(error instanceof SamlRefusal)) throw error
    const elements = process.mock.calls.map(([element]) => (element as Element).localName)
    return { reason: error.reason, canonicalised: elements }
  }
  throw new Error('the message was accepted')
}

const names = (count: number) => Array.from({ length: count }, (_, i) => `z${i}`).join(' ')

test.each([
  ['many prefixes to include', hostileResponse({ prefixList: names(21) }), 'signature-malformed'],
  ['one prefix, 50 000 times', hostileResponse({ prefixList: 'z1 '.repeat(50_000) }), 'signature-malformed'],
  ['a long prefix', hostileResponse({ prefixList: 'z'.repeat(501) }), 'signature-malformed'],
  ['51 namespaces in one element', hostileResponse({ attributes: declarations(51) }), 'too-many-elements'],
  [
    '51 namespaces one inside the other',
    hostileResponse({
      attributes: declarations(20),
      inner: `<a:b ${declarations(15)}><a:b ${declarations(15)}/></a:b>`,
    }),
    'too-many-elements',
  ],
  [
    '101 attributes',
    hostileResponse({ attributes: Array.from({ length: 101 }, (_, i) => `a${i}=""`).join(' ') }),
    'too-many-elements',
  ],
] as const)('A06 a message with %s is refused before anything is computed from it', (_name, xml, reason) => {
  expect(refusalOf(xml)).toEqual({ reason, canonicalised: [] })
})

test.each(Object.entries(costlyResponses))(
  'A06 of a message with %s that nobody has signed the document is never canonicalised',
  (_name, xml) => {
    expect(refusalOf(xml)).toEqual({ reason: 'signature-invalid', canonicalised: ['SignedInfo'] })
  },
)

test('A06 the document is canonicalised once, however many certificates there are', () => {
  const xml = Object.values(costlyResponses)[0] ?? ''
  const certificates = keys.slice(0, mostCertificates).map(({ certificate }) => certificate)
  const signed = (at: number) => withSignedInfo(xml, keys[at]?.privateKey ?? '')
  const alone = refusalOf(signed(0), certificates.slice(0, 1))
  expect(alone.canonicalised.filter((name) => name === 'Assertion')).toHaveLength(1)
  expect(refusalOf(signed(mostCertificates - 1), certificates)).toEqual(alone)
})

test('A06 a certificate beyond the fourth is not tried', () => {
  const xml = withSignedInfo(hostileResponse({}), keys.at(-1)?.privateKey ?? '')
  expect(refusalOf(xml).canonicalised).toEqual(['SignedInfo'])
})

test('namespaces that are declared again for each value are no more than one such declaration', () => {
  const value =
    '<a:b xmlns:xs="http://www.w3.org/2001/XMLSchema" xmlns:xsi="urn:i" xsi:type="xs:string">g</a:b>'
  expect(refusalOf(hostileResponse({ inner: value.repeat(500) })).reason).toBe('signature-invalid')
})
