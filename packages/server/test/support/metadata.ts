import { signElement } from './saml-forgery.ts'

export interface Described {
  readonly entityId?: string
  readonly signInUrl?: string
  /** In PEM. */
  readonly certificates: readonly string[]
}

const packed = (pem: string): string => pem.replaceAll(/-----[A-Z ]+-----|\s/g, '')

/** Metadata of an identity provider. */
export function describe(described: Described): string {
  const {
    entityId = 'https://idp.example/metadata',
    signInUrl = 'https://idp.example/in',
    certificates,
  } = described
  const keys = certificates.map(
    (pem) =>
      `<KeyDescriptor use="signing"><KeyInfo xmlns="http://www.w3.org/2000/09/xmldsig#"><X509Data><X509Certificate>${packed(pem)}</X509Certificate></X509Data></KeyInfo></KeyDescriptor>`,
  )
  return `<EntityDescriptor xmlns="urn:oasis:names:tc:SAML:2.0:metadata" ID="_m" entityID="${entityId}"><IDPSSODescriptor protocolSupportEnumeration="urn:oasis:names:tc:SAML:2.0:protocol">${keys.join('')}<SingleSignOnService Binding="urn:oasis:names:tc:SAML:2.0:bindings:HTTP-Redirect" Location="${signInUrl}"/></IDPSSODescriptor></EntityDescriptor>`
}

/** The same, signed as a whole. */
export const signMetadata = (xml: string, key: string): string =>
  signElement(xml, { key, element: 'EntityDescriptor', before: 'IDPSSODescriptor' })
