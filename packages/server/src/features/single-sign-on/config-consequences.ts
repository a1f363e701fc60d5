import { isDeepStrictEqual } from 'node:util'
import type { SsoConfigReplacement, SsoConfigUpdate } from '@millrace/contract/resources/sso-config.ts'
import type { NoticedChange } from './config-notice.ts'
import type { StoredConfig } from './config-store.ts'
import { type GivenMetadata, isSameProvider } from './given-metadata.ts'

type Wanted = SsoConfigReplacement | SsoConfigUpdate

/** What a change does beyond the fields that it names. */
export interface Consequences {
  readonly isAnotherProvider: boolean
  readonly isAnotherMapping: boolean
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
): Consequences {
  const isAnotherProvider =
    before !== undefined && metadata !== undefined && !isSameProvider(before, metadata.provider)
  const { attributeMapping } = wanted
  const isAnotherMapping =
    before !== undefined &&
    attributeMapping !== undefined &&
    !isDeepStrictEqual({ ...attributeMapping }, before.attributeMapping)
  // Who comes in is decided by both: what was proven before is not so any more.
  const wasRequired = before?.mandatory === true && !isAnotherProvider && !isAnotherMapping
  const isRequired = wanted.mandatory ?? (isWhole ? false : wasRequired)
  return { isAnotherProvider, isAnotherMapping, wasRequired, isRequired }
}

/** What administrators are told of it. */
export function noticesOf(before: StoredConfig | undefined, now: Consequences): NoticedChange[] {
  return [
    ...(before === undefined || now.isAnotherProvider ? (['provider'] as const) : []),
    ...(now.isAnotherMapping ? (['mapping'] as const) : []),
    ...(now.isRequired && !before?.mandatory ? (['required'] as const) : []),
    ...(before?.mandatory && !now.isRequired ? (['optional'] as const) : []),
  ]
}
