import type { SsoConfigReplacement, SsoConfigUpdate } from '@millrace/contract/resources/sso-config.ts'
import { invalid } from '../../../../platform/invalid.ts'
import type { Queries } from '../../../../platform/stores/relational.ts'
import { createPeopleStore } from '../../people/people-store.ts'
import {
  requireGrantableRole,
  requireGrantableTeams,
  requireUnprovisioned,
} from '../../people/roles/grants.ts'
import type { Principal } from '../../sessions/principal.ts'
import type { StoredConfig } from './config-store.ts'

/** Whether the first sign-in creates an unknown user (just-in-time provisioning), and with which role and teams. */
export interface JitDefaults {
  readonly provisioning: 'invitation' | 'create'
  /** Null follows the company. */
  readonly defaultRoleId: string | null
  readonly defaultTeamIds: readonly string[]
}

export interface WantedDefaults {
  readonly wanted: SsoConfigReplacement | SsoConfigUpdate
  /** Whether absent fields get their defaults; otherwise they stay as they were. */
  readonly isWhole: boolean
  readonly before: Pick<StoredConfig, keyof JitDefaults> | undefined
}

/**
 * Validates what a change would give to new users; a default that another administrator has set may not be put to use
 * by a caller who could not give it.
 * @throws DomainError `unknownRole`, `roleAboveOwn`, `unknownTeam`, `notInTeam` or `provisionedTeam`, and `validation`
 *   where users are created and there is no role for them
 */
export async function validateJitDefaults(
  tx: Queries,
  principal: Principal,
  { wanted, isWhole, before }: WantedDefaults,
): Promise<JitDefaults> {
  const { companyId } = principal
  const base: Partial<JitDefaults> = isWhole ? {} : (before ?? {})
  const provisioning = wanted.provisioning ?? base.provisioning ?? 'invitation'
  const givenRole = wanted.defaultRoleId === undefined ? base.defaultRoleId : wanted.defaultRoleId
  const effectiveRole = givenRole ?? (await createPeopleStore(tx).findCompanyDefaultRole(companyId))
  if (provisioning === 'create' && effectiveRole === undefined)
    throw invalid('defaultRoleId', 'is required where users are created: the company has no default role')
  const isGiven = wanted.defaultRoleId !== undefined || wanted.provisioning !== undefined
  const isUsed = provisioning === 'create' || givenRole
  const validated =
    isGiven && isUsed && effectiveRole
      ? await requireGrantableRole(tx, principal, effectiveRole)
      : effectiveRole
  const present = before?.defaultTeamIds ?? []
  const defaultTeamIds =
    wanted.defaultTeamIds === undefined
      ? (base.defaultTeamIds ?? [])
      : await requireGrantableTeams(tx, principal, wanted.defaultTeamIds, present)
  const given = defaultTeamIds.filter((id) => !present.includes(id))
  await requireUnprovisioned(tx, companyId, given)
  return { provisioning, defaultRoleId: givenRole ? (validated ?? null) : null, defaultTeamIds }
}
