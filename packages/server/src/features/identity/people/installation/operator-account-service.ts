import type { ClosedCompany } from '@millrace/contract/resources/company.ts'
import { DomainError } from '../../../../platform/errors.ts'
import { isId, newId, normalizeId } from '../../../../platform/ids.ts'
import { invalid } from '../../../../platform/invalid.ts'
import { parseEmailAddress } from '../../../../platform/mail/email-address.ts'
import { found } from '../../../../platform/resources/resource.ts'
import type { Queries } from '../../../../platform/stores/relational.ts'
import type { IdentityContext } from '../../sessions/identity-context.ts'
import { createSessionStore } from '../../sessions/session-store.ts'
import { closeCompany, removedAfter } from '../company/company-closing.ts'
import { createCompanyStore } from '../company/company-store.ts'
import { requireGoodPassword } from '../passwords/password-setting.ts'
import { createPeopleStore, type User } from '../people-store.ts'
import { builtInRoles } from '../roles/built-in-roles.ts'
import { createRoleStore } from '../roles/role-store.ts'
import { createTeamStore } from '../teams/team-store.ts'
import { createUserLifecycle } from '../users/user-lifecycle.ts'
import { createUserStore } from '../users/user-store.ts'

export interface UserToCreate {
  readonly companyId: string
  readonly email: string
  /** Undefined for a user who signs in without a password. */
  readonly password: string | undefined
  readonly roleName: string
  /** The company's default team when empty. */
  readonly teamNames: readonly string[]
  /** Whether it is a program: provisioning does not see it, single sign-on does not bind it. */
  readonly serviceAccount?: boolean
}

/** A company with the roles and the team that each begins with; inside the caller's transaction. */
export async function insertCompany(queries: Queries, name: string) {
  const roles = createRoleStore(queries)
  const companyId = newId()
  await createCompanyStore(queries).insert({ id: companyId, name })
  for (const role of builtInRoles) {
    const roleId = newId()
    await roles.insert({ id: roleId, companyId, name: role.name, builtIn: true })
    await roles.addPermissions(roleId, role.permissions)
  }
  const teamId = newId()
  await createTeamStore(queries).insert({ id: teamId, companyId, name: 'Everyone', isDefault: true })
  return { companyId, teamId }
}

/** Gives built-in roles what a newer version has added to them; takes nothing away. */
export async function completeBuiltInRoles(queries: Queries): Promise<void> {
  const roles = createRoleStore(queries)
  for (const { id, name } of await roles.listBuiltIn()) {
    const definition = builtInRoles.find((role) => role.name === name)
    await roles.addPermissions(id, definition?.permissions ?? [])
  }
}

/** @throws DomainError `validation` saying what would be right */
export function requireEmail(text: string): string {
  const email = parseEmailAddress(text)
  if (email === undefined)
    throw invalid('email', 'must be an e-mail address in ASCII characters, like ada@example.com')
  return email
}

const operator = { kind: 'operator' } as const

const of = (user: User) => ({ kind: 'user', id: user.id, name: user.email })

/** Companies and users as operator commands create and change them. */
export function createOperatorAccountService({
  relational,
  passwords,
  recordAudit,
}: Pick<IdentityContext, 'relational' | 'recordAudit' | 'passwords'>) {
  const lifecycle = createUserLifecycle({ relational, recordAudit })
  const { db } = relational
  const hash = (password: string): Promise<string> => passwords.withHasher((hasher) => hasher.hash(password))

  async function getUser(emailText: string): Promise<User> {
    const email = requireEmail(emailText)
    const user = await createPeopleStore(db).findUserByEmail(email)
    if (!user) throw new DomainError('userNotFound', { email }, { message: `There is no user ${email}` })
    return user
  }

  async function requireRole(companyId: string, name: string): Promise<string> {
    const roles = createRoleStore(db)
    const role = await roles.findByName(companyId, name)
    if (role) return role.id
    const names = await roles.listNames(companyId)
    throw invalid('role', `must be one of ${names.join(', ')}; it is "${name}"`)
  }

  async function requireTeams(tx: Queries, companyId: string, names: readonly string[]): Promise<string[]> {
    if (names.length === 0) return [await createPeopleStore(tx).getDefaultTeam(companyId)]
    const ids = new Set<string>()
    for (const name of names) {
      const team = await createTeamStore(tx).findByName(companyId, name)
      if (!team) throw invalid('team', `must be a team of the company; there is no "${name}"`)
      ids.add(team.id)
    }
    return [...ids]
  }

  /**
   * The company that an operator means: the one named, or the only one.
   * @throws DomainError `validation` listing the companies there are
   */
  async function resolveCompany(companyId: string | undefined): Promise<string> {
    const companies = await createCompanyStore(db).list()
    const wanted = companyId === undefined ? undefined : normalizeId(companyId)
    const found =
      wanted === undefined && companies.length === 1
        ? companies[0]
        : companies.find(({ id }) => id === wanted && isId(id))
    if (found) return found.id
    if (companies.length === 0)
      throw invalid('company', 'does not exist yet: start the service once, that makes the first one')
    const list = companies.map(({ id, name }) => `${id} (${name})`).join(', ')
    throw invalid('company', `must be one of ${list}`)
  }

  return {
    resolveCompany,

    async listCompanies(): Promise<{ id: string; name: string; removedAfter?: string }[]> {
      const companies = await createCompanyStore(db).list()
      return companies.map(({ id, name, closedAt }) => ({
        ...{ id, name },
        ...(closedAt && { removedAfter: removedAfter(closedAt) }),
      }))
    },

    /** @throws DomainError `validation` (unknown company), `notFound` (closed already) or `companyNotConfirmed` */
    async closeCompany(companyId: string, confirm: string): Promise<ClosedCompany> {
      const id = await resolveCompany(companyId)
      return relational.transaction(async (tx) => {
        const closed = await closeCompany(tx, id, confirm)
        const target = { kind: 'company', id, name: confirm }
        await recordAudit(tx, { companyId: id, action: 'company-close', actor: operator, target })
        return closed
      })
    },

    /** @throws DomainError `validation` where it is not closed, or is being removed */
    async openCompany(companyId: string): Promise<{ id: string; name: string }> {
      const id = await resolveCompany(companyId)
      return relational.transaction(async (tx) => {
        const store = createCompanyStore(tx)
        const { name } = found(await store.find(id), 'notFound', id)
        if (!(await store.open(id)))
          throw invalid('company', `must be closed, for less than 7 days; ${name} is not`)
        const target = { kind: 'company', id, name }
        await recordAudit(tx, { companyId: id, action: 'company-open', actor: operator, target })
        return { id, name }
      })
    },

    /**
     * An active user.
     * @throws DomainError `validation` (address, password, role, team) or `conflict` when the address is taken
     */
    async createUser(wanted: UserToCreate): Promise<User> {
      const email = requireEmail(wanted.email)
      if (wanted.password !== undefined) requireGoodPassword(wanted.password, 'password')
      const { companyId } = wanted
      const roleId = await requireRole(companyId, wanted.roleName)
      const passwordHash = wanted.password === undefined ? null : await hash(wanted.password)
      const { serviceAccount = false } = wanted
      const newUser = { companyId, email, status: 'active', roleId, passwordHash, serviceAccount } as const
      const user = await lifecycle.transact(async (tx) => {
        // The teams are neither deleted nor replaced as default until the user is in them.
        await createPeopleStore(tx).lockCompany(companyId)
        const teamIds = await requireTeams(tx, companyId, wanted.teamNames)
        return lifecycle.create(tx, { ...newUser, teamIds }, { actor: operator })
      })
      if (!user)
        throw new DomainError(
          'conflict',
          {},
          { message: `There is a user ${email} already; choose another address` },
        )
      return user
    },

    /**
     * Sets a password and ends all sessions of the user, in one step.
     * @returns the user and how many sessions were ended
     * @throws DomainError `validation` or `userNotFound`
     */
    async setPassword(email: string, password: string): Promise<{ user: User; endedSessions: number }> {
      requireGoodPassword(password, 'password')
      const user = await getUser(email)
      const passwordHash = await hash(password)
      const endedSessions = await relational.transaction(async (tx) => {
        await createUserStore(tx).setPassword(user.id, passwordHash)
        const { companyId } = user
        await recordAudit(tx, { companyId, action: 'password-change', actor: operator, target: of(user) })
        return createSessionStore(tx).endOfUser(user.id)
      })
      return { user, endedSessions }
    },

    /**
     * Deactivates a user and ends all their sessions, in one step.
     * @throws DomainError `validation`, `userNotFound` or `lastAdministrator`
     */
    async disableUser(email: string): Promise<User> {
      const user = await getUser(email)
      await lifecycle.transact((tx) => lifecycle.deactivate(tx, user, { actor: operator }))
      return { ...user, status: 'disabled' }
    },
  }
}
