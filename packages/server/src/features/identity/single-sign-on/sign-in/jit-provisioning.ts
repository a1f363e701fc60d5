import type { AttributeMapping } from '@millrace/contract/resources/sso-config.ts'
import type { Queries } from '../../../../platform/stores/relational.ts'
import { createPeopleStore } from '../../people/people-store.ts'
import type { UserLifecycle } from '../../people/users/user-lifecycle.ts'
import { type Claims, readClaims } from '../assertion/assertion-claims.ts'
import { SamlRefusal } from '../assertion/saml-refusal.ts'
import type { StoredConfig } from '../config/config-store.ts'
import { domainOf } from '../domains/domain-name.ts'
import { createDomainStore } from '../domains/domain-store.ts'
import { createIdentityStore, type IdentityStore, type KnownUser } from './identity-store.ts'
import type { StoredResult } from './saml-sign-in-store.ts'
import { linkUser, matchUser } from './user-matching.ts'

export interface JitDependencies {
  readonly lifecycle: Pick<UserLifecycle, 'create' | 'activateInvited' | 'endUnproven'>
}

export interface MatchedUser {
  readonly user: KnownUser
  readonly isNew: boolean
  /** Whether the user came through this identity provider under this name for the first time. */
  readonly isLinked: boolean
  /** The name that the user had there before, when it is another one now. */
  readonly formerName: string | undefined
  /** As the identity provider gives it, when it is not the one here. */
  readonly otherAddress: string | undefined
}

/**
 * A user who seems to be new and may exist under another address: an administrator has to decide.
 * @throws SamlRefusal `former-address` or `possible-duplicate`
 */
async function requireUnknown(identities: IdentityStore, claims: Claims): Promise<void> {
  const former = await identities.listFormer(claims.email)
  if (former.length > 0) throw SamlRefusal.about('former-address', ...former)
  const namesakes = await identities.listNamesakes(claims)
  if (namesakes.length > 0) throw SamlRefusal.about('possible-duplicate', ...namesakes)
}

/** Creates a user (just-in-time provisioning): role and teams come from the company's settings alone. */
async function createJitUser(
  tx: Queries,
  { lifecycle }: JitDependencies,
  config: StoredConfig,
  claims: Claims,
  address: string,
): Promise<KnownUser | undefined> {
  if (config.provisioning !== 'create') throw new SamlRefusal('not-invited')
  await requireUnknown(createIdentityStore(tx, config), claims)
  const { companyId } = config
  const directory = createPeopleStore(tx)
  const roleId = config.defaultRoleId ?? (await directory.findCompanyDefaultRole(companyId))
  if (roleId === undefined) throw new SamlRefusal('no-default-role')
  const teamIds =
    config.defaultTeamIds.length > 0 ? config.defaultTeamIds : [await directory.getDefaultTeam(companyId)]
  const { email, firstName, lastName, jobTitle, phone, language } = claims
  const profile = { email, firstName, lastName, jobTitle, phone, language }
  const user = { companyId, ...profile, status: 'active', roleId, passwordHash: null, teamIds } as const
  const created = await lifecycle.create(
    tx,
    user,
    { actor: { kind: 'sso-jit', id: 'sso-jit' }, address },
    'sso-user-create',
  )
  return created && { ...created, serviceAccount: false, externalId: null }
}

/**
 * Matches or creates the user whom an assertion is about; inside `lifecycle.transact`. A user is known by the company,
 * its identity provider and that one's name for them; by other things only the first time.
 * @throws SamlRefusal
 */
export async function provisionOrLinkUser(
  tx: Queries,
  dependencies: JitDependencies,
  config: StoredConfig,
  result: Omit<StoredResult, 'secretHash'>,
  address: string,
): Promise<MatchedUser> {
  const { companyId } = config
  const identities = createIdentityStore(tx, config)
  const domains = createDomainStore(tx)
  const claims = readClaims(result, config.attributeMapping as AttributeMapping)
  const requireOwnDomain = async (email: string) => {
    if (!(await domains.isVerified(companyId, domainOf(email)))) throw new SamlRefusal('domain-not-verified')
  }
  await requireOwnDomain(claims.email)

  const known = await matchUser(identities, claims)
  const created = known ? undefined : await createJitUser(tx, dependencies, config, claims, address)
  // No user was created when another response has just created the same one.
  const found =
    known ??
    (created ? { user: created, by: 'address', link: undefined } : await matchUser(identities, claims))
  // No user was made: the address is another company's, which has shown that its domain is its own.
  if (!found) throw new SamlRefusal('other-company')
  const { user } = found
  if (user.serviceAccount) throw new SamlRefusal('service-account')
  if (user.status !== 'active' && user.status !== 'invited') throw new SamlRefusal('disabled')
  await requireOwnDomain(user.email)
  const isLinked = found.by !== 'name'
  if (isLinked) await linkUser(identities, found, claims)
  else if (found.link) await identities.refresh(found.link, claims)
  await dependencies.lifecycle.activateInvited(tx, user)
  if (isLinked) {
    const actor = { kind: 'user', id: user.id, name: user.email } as const
    await dependencies.lifecycle.endUnproven(tx, companyId, [user.id], { actor, address })
  }
  return {
    user,
    isNew: created !== undefined,
    isLinked,
    formerName: isLinked ? found.link?.nameId : undefined,
    otherAddress: claims.email === user.email ? undefined : claims.email,
  }
}
