import { generatePassword } from '../../../../platform/crypto/passwords.ts'
import { newId } from '../../../../platform/ids.ts'
import type { Queries } from '../../../../platform/stores/relational.ts'
import type { IdentityContext } from '../../sessions/identity-context.ts'
import { createRoleStore } from '../roles/role-store.ts'
import { createUserStore } from '../users/user-store.ts'
import { createBootstrapStore, type Installation } from './bootstrap-store.ts'
import { completeBuiltInRoles, insertCompany, requireEmail } from './operator-account-service.ts'

export interface BootstrapDependencies extends Pick<IdentityContext, 'relational' | 'passwords'> {
  /** Both work inside the transaction they are given. */
  readonly createClient: (queries: Queries, client: { name: string }) => Promise<{ id: string }>
  readonly createDatasource: (
    queries: Queries,
    datasource: { companyId: string; name: string; teamIds: readonly string[] },
  ) => Promise<{ id: string }>
}

export interface FirstAdmin {
  readonly email: string
  /** Generated when undefined; otherwise validated with the environment. */
  readonly password: string | undefined
}

export interface Bootstrapped extends Installation {
  /** Whether this was the first start. */
  readonly isNew: boolean
  /** To be shown once, now: it is kept nowhere. Only at the first start, and only if none was given. */
  readonly generatedPassword: string | undefined
}

/**
 * Makes what a service begins with: one company with its roles and its default team, its administrator, one
 * OAuth client, one tracking datasource (docs/interface.md, Run contract). Everything is one transaction, so that
 * an interruption leaves nothing and the next start begins again; later and concurrent starts find what was made
 * and change nothing.
 * @throws DomainError `validation` for an address that is none
 */
export async function bootstrap(
  dependencies: BootstrapDependencies,
  admin: FirstAdmin,
): Promise<Bootstrapped> {
  const { relational, passwords, createClient, createDatasource } = dependencies
  const before = await createBootstrapStore(relational.db).findInstallation()
  if (before) {
    await completeBuiltInRoles(relational.db)
    return { ...before, isNew: false, generatedPassword: undefined }
  }

  const adminEmail = requireEmail(admin.email)
  const password = admin.password ?? generatePassword()
  const passwordHash = await passwords.withHasher((hasher) => hasher.hash(password))
  return relational.transaction(async (tx) => {
    const installations = createBootstrapStore(tx)
    await installations.lockFirstStart()
    const meanwhile = await installations.findInstallation()
    if (meanwhile) return { ...meanwhile, isNew: false, generatedPassword: undefined }

    const { companyId, teamId } = await insertCompany(tx, 'My company')
    const role = await createRoleStore(tx).findByName(companyId, 'admin')
    if (!role) throw new Error('a new company lacks its role admin')
    const user = { id: newId(), companyId, email: adminEmail, status: 'active', roleId: role.id } as const
    await createUserStore(tx).insert({ ...user, passwordHash, teamIds: [teamId] })
    const client = await createClient(tx, { name: 'Default client' })
    const datasource = await createDatasource(tx, { companyId, name: 'Website', teamIds: [teamId] })
    const made = { companyId, clientId: client.id, datasourceId: datasource.id, adminEmail }
    await installations.insertInstallation(made)
    const generatedPassword = admin.password === undefined ? password : undefined
    return { ...made, isNew: true, generatedPassword }
  })
}
