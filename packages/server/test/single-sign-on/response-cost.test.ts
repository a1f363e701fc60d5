import { DOMParser } from '@xmldom/xmldom'
import { beforeAll, expect, onTestFinished, test, vi } from 'vitest'
import { ExclusiveCanonicalization } from 'xml-crypto'
import { verifyResponse } from '../../src/features/identity/single-sign-on/assertion/assertion-verifier.ts'
import { SamlRefusal } from '../../src/features/identity/single-sign-on/assertion/saml-refusal.ts'
import { maxCertificates } from '../../src/features/identity/single-sign-on/assertion/signed-element.ts'
import { makeKey } from '../support/identity-provider.ts'
import {
  costlyResponses,
  excessiveResponses,
  hostileAcsUrl,
  hostileResponse,
  withSignatures,
  withSignedInfo,
} from '../support/saml-hostile.ts'

/** docs/faults.md, A06: what a message costs is bounded by its form, not by what a clock says on some machine. */

let keys: Awaited<ReturnType<typeof makeKey>>[]

beforeAll(async () => {
  keys = await Promise.all(Array.from({ length: maxCertificates + 1 }, () => makeKey()))
})

/** Why the message is refused, and what was parsed and canonicalised for that, by the name of its root. */
function refusalOf(xml: string, certificates = keys.map(({ certificate }) => certificate)) {
  const canonicalize = vi.spyOn(ExclusiveCanonicalization.prototype, 'process')
  const parse = vi.spyOn(DOMParser.prototype, 'parseFromString')
  onTestFinished(() => {
    canonicalize.mockRestore()
    parse.mockRestore()
  })
  canonicalize.mockClear()
  parse.mockClear()
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
    return {
      reason: error.reason,
      parsed: parse.mock.calls.map(([text]) => /^<(?:\w+:)?(\w+)/.exec(String(text))?.[1]),
      canonicalised: canonicalize.mock.calls.map(([element]) => (element as Element).localName),
    }
  }
  throw new Error('the message was accepted')
}

test.each(Object.entries(excessiveResponses))(
  'A06 a message with %s is refused by name, and never parsed or canonicalised where that would cost',
  (_name, { xml, reason, isParsed = false }) => {
    expect(refusalOf(xml)).toEqual({ reason, parsed: isParsed ? ['Response'] : [], canonicalised: [] })
  },
)

test.each(Object.entries(costlyResponses))(
  'A06 of a message with %s that nobody has signed the document is never canonicalised',
  (_name, xml) => {
    expect(refusalOf(xml)).toEqual({
      reason: 'signature-invalid',
      parsed: ['Response'],
      canonicalised: ['SignedInfo'],
    })
  },
)

test.each(Object.entries(costlyResponses))(
  'A06 a message with %s is parsed once, and canonicalised once for each true signature in it',
  (_name, xml) => {
    const key = keys[0]?.privateKey ?? ''
    expect(refusalOf(withSignedInfo(xml, key))).toEqual({
      reason: 'signature-invalid',
      parsed: ['Response', 'SignedInfo'],
      canonicalised: ['SignedInfo', 'Assertion'],
    })
    expect(refusalOf(withSignatures(xml, key))).toEqual({
      reason: 'no-subject',
      // Once more what is read: the signed bytes alone.
      parsed: ['Response', 'SignedInfo', 'Assertion', 'SignedInfo'],
      canonicalised: ['SignedInfo', 'Assertion', 'SignedInfo', 'Response'],
    })
  },
)

test('A06 the document is canonicalised once, however many certificates there are', () => {
  const xml = Object.values(costlyResponses)[0] ?? ''
  const certificates = keys.slice(0, maxCertificates).map(({ certificate }) => certificate)
  const signed = (at: number) => withSignedInfo(xml, keys[at]?.privateKey ?? '')
  const alone = refusalOf(signed(0), certificates.slice(0, 1))
  expect(alone.canonicalised.filter((name) => name === 'Assertion')).toHaveLength(1)
  expect(refusalOf(signed(maxCertificates - 1), certificates)).toEqual(alone)
})

test('A06 a certificate beyond the fourth is not tried', () => {
  const xml = withSignedInfo(hostileResponse({}), keys.at(-1)?.privateKey ?? '')
  expect(refusalOf(xml).canonicalised).toEqual(['SignedInfo'])
})

test('namespaces that are declared again for each value are no more than one such declaration', () => {
  const value =
    '<a:b xmlns:xs="http://www.w3.org/2001/XMLSchema" xmlns:xsi="urn:i" xsi:type="xs:string">g</a:b>'
  expect(refusalOf(hostileResponse({ inner: value.repeat(1000) })).reason).toBe('signature-invalid')
})
