import { type Claims, foldName } from '../assertion/assertion-claims.ts'
import { SamlRefusal } from '../assertion/saml-refusal.ts'
import type { IdentityStore, KnownUser, Link } from './identity-store.ts'

/** The user whom an assertion is about. */
export interface UserMatch {
  readonly user: KnownUser
  /** Matched by a link, by the identifier that never changes, or by the address. */
  readonly by: 'name' | 'externalId' | 'address'
  /** The user's present link. */
  readonly link: Link | undefined
}

/**
 * Known under another identifier that never changes: an address, and a name that is one, may have been given to
 * another user.
 * @throws SamlRefusal `other-identity`
 */
function requireSameExternalId(user: KnownUser, link: Link | undefined, { externalId }: Claims): void {
  const known = [link?.externalId, user.externalId].filter((each) => typeof each === 'string')
  if (externalId !== undefined && known.length > 0 && !known.includes(externalId))
    throw SamlRefusal.about('other-identity', user.id)
}

/** @throws SamlRefusal `other-company`, without anything about that company's user */
async function findHolder(store: IdentityStore, email: string): Promise<KnownUser | undefined> {
  const holder = await store.findByEmail(email)
  if (holder && holder.companyId !== store.companyId) throw new SamlRefusal('other-company')
  return holder
}

/** @throws SamlRefusal `ambiguous-person` when the identifier is another user's, too */
async function requireOwnExternalId(
  store: IdentityStore,
  { user }: UserMatch,
  { externalId }: Claims,
): Promise<void> {
  const known = externalId === undefined ? [] : await store.listByExternalId(externalId)
  const others = known.filter((id) => id !== user.id)
  if (others.length > 0) throw SamlRefusal.about('ambiguous-person', user.id, ...others)
}

async function findLinked(store: IdentityStore, claims: Claims): Promise<UserMatch | undefined> {
  const [link, other] = await store.listByName(claims)
  if (!link) return undefined
  if (other && link.nameId !== claims.nameId)
    throw SamlRefusal.about('ambiguous-person', link.userId, other.userId)
  const user = await store.lockUser(link.userId)
  return user && { user, by: 'name', link }
}

async function findByExternalId(store: IdentityStore, claims: Claims): Promise<UserMatch | undefined> {
  if (claims.externalId === undefined) return undefined
  const [id, ...more] = await store.listByExternalId(claims.externalId)
  if (id === undefined) return undefined
  if (more.length > 0) throw SamlRefusal.about('ambiguous-person', id, ...more)
  const holder = await findHolder(store, claims.email)
  if (holder && holder.id !== id) throw SamlRefusal.about('ambiguous-person', id, holder.id)
  const user = await store.lockUser(id)
  return user && { user, by: 'externalId', link: await store.findByUser(id) }
}

async function findByAddress(store: IdentityStore, claims: Claims): Promise<UserMatch | undefined> {
  const user = await findHolder(store, claims.email)
  return user && { user, by: 'address', link: await store.findByUser(user.id) }
}

/**
 * Finds the one user whom an assertion is about: by the name that is linked, then by the identifier that never
 * changes, then by the address. Whatever contradicts what is found is a refusal, never another account.
 * @throws SamlRefusal `other-identity` or `ambiguous-person`
 */
export async function matchUser(store: IdentityStore, claims: Claims): Promise<UserMatch | undefined> {
  const found =
    (await findLinked(store, claims)) ??
    (await findByExternalId(store, claims)) ??
    (await findByAddress(store, claims))
  if (!found) return undefined
  requireSameExternalId(found.user, found.link, claims)
  await requireOwnExternalId(store, found, claims)
  return found
}

/**
 * Whether a user's link may be replaced by the name of this assertion. The identifier proves that it is the same user;
 * so does an address that was the name before and is still the name, when it is the user's. Of a name of another
 * format only the letters' case may differ, which provisioning does not keep when it renames the user.
 */
function mayReplace({ user, by, link }: UserMatch, claims: Claims): boolean {
  if (!link || by === 'externalId') return true
  const wasAddress = link.nameFormat === 'email' && claims.nameFormat === 'email'
  return (wasAddress || foldName(link.nameId) === user.email) && foldName(claims.nameId) === user.email
}

/**
 * Links a user who was found without a link under this name.
 * @throws SamlRefusal `other-identity`
 */
export async function linkUser(store: IdentityStore, found: UserMatch, claims: Claims): Promise<void> {
  const { user, link } = found
  // Another response with the same name has committed since the name was looked up.
  if (link?.nameId === claims.nameId) return
  if (!mayReplace(found, claims)) throw SamlRefusal.about('other-identity', user.id)
  const unlinked = await store.findUnlinked(claims.nameId, user.roleId)
  // Unlinking oneself and changing one's address at the identity provider must not be a way to become an administrator.
  if (unlinked?.isAbove && unlinked.userId !== user.id)
    throw SamlRefusal.about('other-identity', unlinked.userId, user.id)
  if (link) await store.unlink(user.id)
  if (await store.link(claims, user.id)) return
  const [holder] = await store.listByName(claims)
  if (holder?.userId !== user.id) throw SamlRefusal.about('other-identity', user.id)
}
