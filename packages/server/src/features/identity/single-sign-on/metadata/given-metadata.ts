import type { SsoConfigReplacement, SsoConfigUpdate } from '@millrace/contract/resources/sso-config.ts'
import { DomainError } from '../../../../platform/errors.ts'
import { invalid } from '../../../../platform/invalid.ts'
import type { IdentityContext } from '../../sessions/identity-context.ts'
import type { StoredConfig } from '../config/config-store.ts'
import {
  type IdentityProvider,
  readIdentityProvider,
  UnusableMetadata,
} from './identity-provider-metadata.ts'

export interface MetadataReaderDependencies extends Pick<IdentityContext, 'clock'> {
  /** Fetches a document from a public address; rejects with a message for the user who named it. */
  readonly fetchDocument: (url: string) => Promise<string>
}

/** Metadata as it was given, with what it says. */
export interface GivenMetadata {
  readonly xml: string
  readonly url: string | null
  readonly provider: IdentityProvider
}

function unusable(reason: string, cause?: unknown): DomainError {
  const message = `The metadata of the identity provider cannot be used: ${reason}`
  return new DomainError('unusableMetadata', { reason }, { message, cause })
}

/** Whether the stored configuration trusts this provider at this address already, apart from its certificates. */
export function isSameProvider(stored: StoredConfig, given: IdentityProvider): boolean {
  return stored.idpEntityId === given.entityId && stored.idpSignInUrl === given.signInUrl
}

/** Reads and validates the metadata of a configuration to save, before any transaction: fetching takes a while. */
export function createMetadataReader({ clock, fetchDocument }: MetadataReaderDependencies) {
  async function fetchFrom(url: string): Promise<string> {
    if (URL.parse(url)?.protocol !== 'https:') throw unusable('its address must begin with https://')
    try {
      return await fetchDocument(url)
    } catch (error) {
      throw unusable(`it cannot be fetched: ${(error as Error).message}`, error)
    }
  }

  /**
   * @returns undefined when none was given
   * @throws DomainError `validation` or `unusableMetadata`
   */
  return async (wanted: SsoConfigReplacement | SsoConfigUpdate): Promise<GivenMetadata | undefined> => {
    const { idpMetadataXml: pasted, idpMetadataUrl: url } = wanted
    if (pasted && url)
      throw invalid('idpMetadataUrl', 'and idpMetadataXml exclude each other; send one of them')
    if (!pasted && !url) return undefined
    const xml = url ? await fetchFrom(url) : (pasted ?? '')
    try {
      return { xml, url: url ?? null, provider: readIdentityProvider(xml, clock.now()) }
    } catch (error) {
      if (!(error instanceof UnusableMetadata)) throw error
      throw unusable(error.message, error)
    }
  }
}
