import { X509Certificate } from 'node:crypto'
import { isDeepStrictEqual } from 'node:util'
import type { SsoConfigReplacement, SsoConfigUpdate } from '@millrace/contract/resources/sso-config.ts'
import { type GivenMetadata, isSameProvider } from '../metadata/given-metadata.ts'
import type { NoticedChange } from './config-notice.ts'
import type { StoredConfig } from './config-store.ts'

export type Wanted = SsoConfigReplacement | SsoConfigUpdate

/** What a change does beyond the fields that it names. */
export interface Consequences {
  readonly isAnotherProvider: boolean
  readonly isAnotherMapping: boolean
  /** In PEM, of the same provider. */
  readonly addedCertificates: readonly string[]
  readonly removedCertificates: readonly string[]
  /** Whether one of the latter was still good for signatures. */
  readonly isTrustWithdrawn: boolean
  /** Whether it takes another sign-in before it can be required. */
  readonly isUnproven: boolean
  /** And still would be, by what else changes. */
  readonly wasRequired: boolean
  readonly isRequired: boolean
}

/** @param isWhole whether absent fields get their defaults */
export function consequencesOf(
  before: StoredConfig | undefined,
  wanted: Wanted,
  metadata: GivenMetadata | undefined,
  isWhole: boolean,
  now: number,
): Consequences {
  const isAnotherProvider =
    before !== undefined && metadata !== undefined && !isSameProvider(before, metadata.provider)
  const { attributeMapping } = wanted
  const isAnotherMapping =
    before !== undefined &&
    attributeMapping !== undefined &&
    !isDeepStrictEqual({ ...attributeMapping }, before.attributeMapping)
  const [held, given] =
    before && metadata && !isAnotherProvider
      ? [before.idpCertificates, metadata.provider.certificates]
      : [[], []]
  const addedCertificates = given.filter((each) => !held.includes(each))
  const removedCertificates = held.filter((each) => !given.includes(each))
  const isTrustWithdrawn = removedCertificates.some(
    (pem) => new X509Certificate(pem).validToDate.getTime() > now,
  )
  // Both decide which users sign in: a change of either must be proven again.
  const isAnother = isAnotherProvider || isAnotherMapping
  const wasRequired = before?.mandatory === true && !isAnother
  const isRequired = wanted.mandatory ?? (isWhole ? false : wasRequired)
  // Other keys of the same provider are a rollover: they make nothing optional that is required, but where nothing is
  // yet, all of them at once need a sign-in first.
  const isRolledOver = held.length > 0 && removedCertificates.length === held.length
  const isUnproven = isAnother || (isRolledOver && !wasRequired)
  return {
    isAnotherProvider,
    isAnotherMapping,
    addedCertificates,
    removedCertificates,
    isTrustWithdrawn,
    isUnproven,
    wasRequired,
    isRequired,
  }
}

/** The changes that administrators are mailed about. */
export function noticesOf(before: StoredConfig | undefined, now: Consequences): NoticedChange[] {
  return [
    ...(before === undefined || now.isAnotherProvider ? (['provider'] as const) : []),
    ...(now.addedCertificates.length + now.removedCertificates.length > 0 ? (['certificates'] as const) : []),
    ...(now.isAnotherMapping ? (['mapping'] as const) : []),
    ...(now.isRequired && !before?.mandatory ? (['required'] as const) : []),
    ...(before?.mandatory && !now.isRequired ? (['optional'] as const) : []),
  ]
}
