import { X509Certificate } from 'node:crypto'
import { maxCertificates } from '../assertion/signed-element.ts'
import type { StoredConfig } from '../config/config-store.ts'
import { isSignedMetadata, readTrustedProvider, refuse } from './identity-provider-metadata.ts'

type Known = Pick<StoredConfig, 'metadataXml' | 'idpEntityId' | 'idpSignInUrl' | 'idpCertificates'>

const endOf = (pem: string): number => new X509Certificate(pem).validToDate.getTime()

/**
 * What may be adopted from a document that was read automatically: further certificates, and another address at the
 * same host. Certificates that the document no longer holds stay until they end, so that a document
 * that is wrong for a day locks no user out; where there are too many, those go first that end first.
 * @param now milliseconds since 1970
 * @throws UnusableMetadata
 */
export function mergeMetadata(known: Known, xml: string, now: number) {
  const provider = readTrustedProvider(xml, known.idpCertificates, now)
  if (isSignedMetadata(known.metadataXml) && !isSignedMetadata(xml))
    refuse('it is no longer signed, and it was when it was saved')
  if (provider.entityId !== known.idpEntityId)
    refuse('it is the metadata of another identity provider: its entityID is not the one that was saved')
  if (new URL(provider.signInUrl).origin !== new URL(known.idpSignInUrl).origin)
    refuse(
      `its sign-in address is at another place than before, ${new URL(provider.signInUrl).host}; save it again to take that over`,
    )
  const added = provider.certificates.filter((each) => !known.idpCertificates.includes(each))
  const stay = known.idpCertificates
    .filter((each) => !provider.certificates.includes(each) && endOf(each) > now)
    .toSorted((a, b) => endOf(b) - endOf(a))
    .slice(0, maxCertificates - provider.certificates.length)
  const isSameAddress = provider.signInUrl === known.idpSignInUrl
  return {
    signInUrl: provider.signInUrl,
    certificates: [...provider.certificates, ...stay],
    added,
    isChanged: added.length > 0 || !isSameAddress,
  }
}
