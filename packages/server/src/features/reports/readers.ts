import type { PermissionName } from '@millrace/contract/permissions.ts'
import type { Language } from '../../platform/i18n/language.ts'
import type { Queries } from '../../platform/stores/relational.ts'

/** A user, with the rights of this moment. */
export interface Reader {
  readonly userId: string
  readonly email: string
  readonly language: Language
  readonly isActive: boolean
  readonly permissions: ReadonlySet<PermissionName>
}

/** Who of the company may read or get what; given a transaction each works inside it. */
export interface Readers {
  readonly findReader: (db: Queries, companyId: string, userId: string) => Promise<Reader | undefined>
  /** Those of the addresses that may get data of the company. */
  readonly listReaders: (
    db: Queries,
    companyId: string,
    addresses: readonly string[],
  ) => Promise<{ readonly email: string; readonly language: Language }[]>
}

/** What making a report needs, and what sending one needs besides. */
export const readingRights: readonly PermissionName[] = ['statistics:access']
export const sendingRights: readonly PermissionName[] = ['statistics:access', 'statistics:export']

const rightNames: Readonly<Record<string, string>> = {
  'statistics:access': 'Statistics: access',
  'statistics:export': 'Statistics: export',
}

/** Why a user lacks rights, as a phrase that follows the user's role; undefined where nothing is lacking. */
export function lackOf(reader: Reader | undefined, rights: readonly PermissionName[]): string | undefined {
  if (!reader?.isActive) return 'is no longer an active user of the company'
  const lacking = rights.find((right) => !reader.permissions.has(right))
  return lacking && `no longer has the permission ${rightNames[lacking]}`
}
