import type { AttributeMapping } from '@millrace/contract/resources/sso-config.ts'
import type { Queries } from '../../platform/stores/relational.ts'
import type { UserLifecycle } from '../accounts/user-lifecycle.ts'
import { type Claims, readClaims } from './assertion-claims.ts'
import { createConfigStore, type StoredConfig } from './config-store.ts'
import { domainOf } from './domain-name.ts'
import { createDomainStore } from './domain-store.ts'
import { SamlRefusal } from './saml-refusal.ts'
import { createSamlSignInStore, type KnownUser, type StoredResult } from './saml-sign-in-store.ts'

export interface AdmissionDependencies {
  readonly lifecycle: Pick<UserLifecycle, 'create' | 'admit'>
}

export interface Admitted {
  readonly user: KnownUser
  readonly isNew: boolean
  /** Whether the person came through this identity provider for the first time. */
  readonly isLinked: boolean
}

/** The person as the identity provider creates one: only what the company has set gives role and teams. */
async function createPerson(
  tx: Queries,
  { lifecycle }: AdmissionDependencies,
  config: StoredConfig,
  claims: Claims,
  address: string,
): Promise<KnownUser | undefined> {
  if (config.provisioning !== 'create') throw new SamlRefusal('not-invited')
  const { companyId } = config
  const store = createConfigStore(tx)
  const roleId = config.defaultRoleId ?? (await store.findDefaultRole(companyId))
  if (roleId === undefined) throw new SamlRefusal('no-default-role')
  const defaultTeam = await store.findDefaultTeam(companyId)
  const teamIds = config.defaultTeamIds.length > 0 ? config.defaultTeamIds : defaultTeam ? [defaultTeam] : []
  const { nameId: _, ...profile } = claims
  const person = { companyId, ...profile, status: 'active', roleId, passwordHash: null, teamIds } as const
  const created = await lifecycle.create(
    tx,
    person,
    { actor: { kind: 'sso-jit', id: 'sso-jit' }, address },
    'sso-user-create',
  )
  return created && { ...created, serviceAccount: false }
}

/**
 * Who may come in by what an identity provider said; inside `lifecycle.transact`. Somebody is known by the
 * company, its identity provider and that one's name for them; by the address only the first time.
 * @throws SamlRefusal
 */
export async function admitPerson(
  tx: Queries,
  dependencies: AdmissionDependencies,
  config: StoredConfig,
  result: Omit<StoredResult, 'secretHash'>,
  address: string,
): Promise<Admitted> {
  const { companyId, idpEntityId } = config
  const store = createSamlSignInStore(tx)
  const domains = createDomainStore(tx)
  const claims = readClaims(result, config.attributeMapping as AttributeMapping)
  const requireOwnDomain = async (email: string) => {
    if (!(await domains.isVerified(companyId, domainOf(email)))) throw new SamlRefusal('domain-not-verified')
  }
  await requireOwnDomain(claims.email)

  const linked = await store.findByIdentity(companyId, idpEntityId, claims.nameId)
  const known = linked ?? (await store.findByEmail(companyId, claims.email))
  const created = known ? undefined : await createPerson(tx, dependencies, config, claims, address)
  // Nobody was created when somebody else has just created the same person.
  const user = known ?? created ?? (await store.findByEmail(companyId, claims.email))
  if (!user || user.companyId !== companyId) throw new SamlRefusal('other-company')
  if (user.serviceAccount) throw new SamlRefusal('service-account')
  if (user.status !== 'active' && user.status !== 'invited') throw new SamlRefusal('disabled')
  await requireOwnDomain(user.email)
  if (!linked) {
    const identity = { companyId, idpEntityId, nameId: claims.nameId, userId: user.id }
    // The link of somebody who was renamed has the new address in lower case, whatever the identity provider writes.
    const isFree = (await store.link(identity)) || (await store.respellLink(identity))
    const holder = isFree ? undefined : await store.findByIdentity(companyId, idpEntityId, claims.nameId)
    if (!isFree && holder?.id !== user.id) throw new SamlRefusal('other-identity')
  }
  await dependencies.lifecycle.admit(tx, user)
  return { user, isNew: created !== undefined, isLinked: !linked }
}
