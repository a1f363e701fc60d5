import { inflateRawSync } from 'node:zlib'
import samlp from 'samlp'
import { SignedXml } from 'xml-crypto'
import type { IdentityProvider, IdpOptions, IdpPerson } from './identity-provider.ts'
import { profileMapper } from './identity-provider.ts'

/** The id of the request that a sign-in address holds. */
export function requestIdOf(signInUrl: string): string {
  const packed = new URL(signInUrl).searchParams.get('SAMLRequest') ?? ''
  const xml = inflateRawSync(Buffer.from(packed, 'base64')).toString('utf8')
  return / ID="([^"]+)"/.exec(xml)?.[1] ?? ''
}

/** A response that the identity provider made and signed, as text. */
export function genuineResponse(
  idp: IdentityProvider,
  person: IdpPerson,
  options: IdpOptions,
): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>()
  samlp.getSamlResponse(
    {
      issuer: idp.entityId,
      cert: idp.cert,
      key: idp.key,
      profileMapper,
      lifetimeInSeconds: 300,
      signatureAlgorithm: 'rsa-sha256',
      digestAlgorithm: 'sha256',
      recipient: idp.state.acsUrl,
      destination: idp.state.acsUrl,
      ...options,
    },
    person,
    (error, response) => (error ? reject(error) : resolve(response ?? '')),
  )
  return promise
}

const exclusive = 'http://www.w3.org/2001/10/xml-exc-c14n#'
const enveloped = 'http://www.w3.org/2000/09/xmldsig#enveloped-signature'

export interface SigningOptions {
  readonly key: string
  readonly cert?: string
  readonly signature?: string
  readonly digest?: string
  readonly transforms?: readonly string[]
  /** Local name of the element; `Assertion` by default. */
  readonly element?: string
  /** A second reference, to this element. */
  readonly also?: string
  /** Local name of the child that the signature stands before; without it the signature stands after `Issuer`. */
  readonly before?: string
}

/** Signs an element of a document as an identity provider does. */
export function signElement(xml: string, options: SigningOptions): string {
  const { key, cert, element = 'Assertion', transforms = [enveloped, exclusive] } = options
  const signed = new SignedXml({
    privateKey: key,
    ...(cert === undefined ? {} : { publicCert: cert }),
    signatureAlgorithm: options.signature ?? 'http://www.w3.org/2001/04/xmldsig-more#rsa-sha256',
    canonicalizationAlgorithm: exclusive,
  })
  const digestAlgorithm = options.digest ?? 'http://www.w3.org/2001/04/xmlenc#sha256'
  for (const name of [element, options.also ?? []].flat())
    signed.addReference({
      xpath: `//*[local-name(.)='${name}']`,
      transforms: [...transforms],
      digestAlgorithm,
    })
  signed.computeSignature(xml, {
    location: {
      reference: `//*[local-name(.)='${element}']/*[local-name(.)='${options.before ?? 'Issuer'}']`,
      action: options.before === undefined ? 'after' : 'before',
    },
  })
  return signed.getSignedXml()
}

export const assertionOf = (xml: string): string =>
  /<saml:Assertion .*<\/saml:Assertion>/s.exec(xml)?.[0] ?? ''
export const signatureOf = (xml: string): string => /<Signature .*?<\/Signature>/s.exec(xml)?.[0] ?? ''

/** The same document without any signature. */
export const unsigned = (xml: string): string => xml.replaceAll(/<Signature .*?<\/Signature>/gs, '')

/** What an attacker would like an assertion to say: another person, and an id of its own. */
export function forged(assertion: string, id = '_forged'): string {
  return unsigned(assertion)
    .replace(/ ID="[^"]*"/, ` ID="${id}"`)
    .replaceAll('eve@acme.example', 'root@acme.example')
    .replace('>eve<', '>root<')
}

/**
 * The eight classic ways to wrap a signature (Somorovsky et al., "On Breaking SAML"): each leaves the signed
 * element somewhere in the document and puts a forged one where a careless reader looks.
 */
export function wrappings(assertionSigned: string, responseSigned: string): Record<string, string> {
  const assertion = assertionOf(assertionSigned)
  const signature = signatureOf(assertion)
  const evil = forged(assertion)
  const withEvil = (text: string) => assertionSigned.replace(assertion, text)
  const responseSignature = signatureOf(responseSigned)
  const evilResponse = unsigned(responseSigned)
    .replace(/ ID="[^"]*"/, ' ID="_forgedResponse"')
    .replace(assertionOf(unsigned(responseSigned)), evil)
  const original = responseSigned.replace(responseSignature, '')
  const evilSigned = evil.replace('</saml:Issuer>', `</saml:Issuer>${signature}`)
  const holding = (inner: string) => signature.replace('</Signature>', `${inner}</Signature>`)
  return {
    XSW1: evilResponse.replace('<samlp:Status>', `${responseSignature}${original}<samlp:Status>`),
    XSW2: evilResponse.replace('<samlp:Status>', `${original}${responseSignature}<samlp:Status>`),
    XSW3: withEvil(`${evil}${assertion}`),
    XSW4: withEvil(evil.replace('</saml:Assertion>', `${assertion}</saml:Assertion>`)),
    XSW5: withEvil(`${evilSigned}${unsigned(assertion)}`),
    XSW6: withEvil(evil.replace('</saml:Issuer>', `</saml:Issuer>${holding(unsigned(assertion))}`)),
    XSW7: withEvil(`<samlp:Extensions>${evil}</samlp:Extensions>${assertion}`),
    XSW8: withEvil(
      evil.replace('</saml:Issuer>', `</saml:Issuer>${holding(`<Object>${unsigned(assertion)}</Object>`)}`),
    ),
  }
}
