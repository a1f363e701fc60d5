import type { SsoConfigReplacement, SsoConfigUpdate } from '@millrace/contract/resources/sso-config.ts'
import { invalid } from '../../../../platform/invalid.ts'
import type { Queries } from '../../../../platform/stores/relational.ts'
import { createDirectoryStore } from '../../people/directory/directory-store.ts'
import type { Principal } from '../../sessions/principal.ts'
import type { StoredConfig } from './config-store.ts'

/** The rules about who gives which role and which teams; they are those of accounts. */
export interface GrantRules {
  /** @throws DomainError `unknownRole` or `roleAboveOwn` */
  readonly requireGrantableRole: (queries: Queries, principal: Principal, roleId: string) => Promise<string>
  /** @throws DomainError `unknownTeam` or `notInTeam` */
  readonly requireGrantableTeams: (
    queries: Queries,
    principal: Principal,
    teamIds: readonly string[],
    present: readonly string[],
  ) => Promise<string[]>
  /** @throws DomainError `provisionedTeam` */
  readonly requireUnprovisioned: (
    queries: Queries,
    companyId: string,
    teamIds: readonly string[],
  ) => Promise<void>
}

/** Whether somebody unknown becomes a user, and as what. */
export interface NewcomerDefaults {
  readonly provisioning: 'invitation' | 'create'
  /** Null follows the company. */
  readonly defaultRoleId: string | null
  readonly defaultTeamIds: readonly string[]
}

export interface WantedDefaults {
  readonly wanted: SsoConfigReplacement | SsoConfigUpdate
  /** Whether absent fields get their defaults; otherwise they stay as they were. */
  readonly isWhole: boolean
  readonly before: Pick<StoredConfig, keyof NewcomerDefaults> | undefined
}

/**
 * Judges what a change would have newcomers become. What somebody else has set is not for the caller to put to use.
 * @throws DomainError as the rules do, and `validation` where people are created and there is no role for them
 */
export async function judgeNewcomerDefaults(
  tx: Queries,
  rules: GrantRules,
  principal: Principal,
  { wanted, isWhole, before }: WantedDefaults,
): Promise<NewcomerDefaults> {
  const { companyId } = principal
  const base: Partial<NewcomerDefaults> = isWhole ? {} : (before ?? {})
  const provisioning = wanted.provisioning ?? base.provisioning ?? 'invitation'
  const givenRole = wanted.defaultRoleId === undefined ? base.defaultRoleId : wanted.defaultRoleId
  const effectiveRole = givenRole ?? (await createDirectoryStore(tx).findDefaultRole(companyId))
  if (provisioning === 'create' && effectiveRole === undefined)
    throw invalid('defaultRoleId', 'is required where people are created: the company has no default role')
  const isGiven = wanted.defaultRoleId !== undefined || wanted.provisioning !== undefined
  const isUsed = provisioning === 'create' || givenRole
  const judged =
    isGiven && isUsed && effectiveRole
      ? await rules.requireGrantableRole(tx, principal, effectiveRole)
      : effectiveRole
  const present = before?.defaultTeamIds ?? []
  const defaultTeamIds =
    wanted.defaultTeamIds === undefined
      ? (base.defaultTeamIds ?? [])
      : await rules.requireGrantableTeams(tx, principal, wanted.defaultTeamIds, present)
  const given = defaultTeamIds.filter((id) => !present.includes(id))
  await rules.requireUnprovisioned(tx, companyId, given)
  return { provisioning, defaultRoleId: givenRole ? (judged ?? null) : null, defaultTeamIds }
}
