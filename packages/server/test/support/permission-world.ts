import { join } from 'node:path'
import { type Permission, permissionTable, type Resource } from '@millrace/contract/permissions.ts'
import { recordAudit } from '../../src/features/audit/audit-store.ts'
import {
  createOperatorAccountService,
  insertCompany,
} from '../../src/features/identity/people/installation/operator-account-service.ts'
import { createPeopleStore } from '../../src/features/identity/people/people-store.ts'
import { createRoleStore } from '../../src/features/identity/people/roles/role-store.ts'
import { createTeamStore } from '../../src/features/identity/people/teams/team-store.ts'
import { createUserStore } from '../../src/features/identity/people/users/user-store.ts'
import { createTokenStore } from '../../src/features/identity/sessions/tokens/token-store.ts'
import { hashSecret, newSecret } from '../../src/platform/crypto/secrets.ts'
import { newId } from '../../src/platform/ids.ts'
import { silentLogger } from '../../src/platform/logger.ts'
import { embeddedAddresses } from '../../src/platform/stores/embedded-postgres.ts'
import { openRelational, type Relational } from '../../src/platform/stores/relational.ts'
import { cheapPasswords, goodPassword } from './auth.ts'
import type { Service } from './running-service.ts'

/** One call of an operation: the address behind the origin, and a body where there is one. */
export interface Call {
  readonly path: string
  readonly body?: unknown
  readonly accept?: string
  readonly ifMatch?: string
}

export interface Person {
  readonly userId: string
  readonly companyId: string
  readonly email: string
  /** Their access token. */
  readonly token: string
}

/** What a person's role holds: everything, everything but one permission, or these alone. */
export type Rights = 'all' | { readonly without: Permission } | { readonly only: readonly Permission[] }

/** A running service with two companies. Objects are made in the first one, by its administrator. */
export interface PermissionWorld {
  readonly service: Service
  readonly relational: Relational
  /** Of the first company, in its default team, with every permission. */
  readonly admin: Person
  /** Of the second company, with every permission. */
  readonly stranger: Person
  /** Of the first company, with every permission, in a team that sees nothing of the others'. */
  readonly otherTeam: Person
  /** A user of the first company, in its default team; the same person for the same rights. */
  person(rights: Rights): Promise<Person>
  /** A new user with the same rights and teams, who signs in with `goodPassword`. */
  twin(person: Person): Promise<Person>
  /** The only person of a new company, with an address of a domain that nobody else has. */
  founder(rights?: Rights): Promise<Person>
  /** An access token of the administrator whose session has been revoked. */
  readonly revokedToken: string
  /** Teams of the first company. */
  readonly teams: { readonly default: string; readonly other: string }
  /** Makes a role in the first company. @returns its id */
  addRole(rights: Rights): Promise<string>
  /** Makes a user in the default team of the first company who never signs in. */
  addUser(rights: Rights, status?: 'active' | 'invited' | 'disabled'): Promise<{ id: string; email: string }>
  call(token: string | undefined, method: string, call: Call): Promise<Response>
  /** What the administrator is answered, or the user of another token; throws unless it succeeds. */
  make<T>(method: string, path: string, body?: unknown, token?: string): Promise<T>
  close(): Promise<void>
}

function* every(): Generator<Permission> {
  for (const resource of Object.keys(permissionTable) as Resource[])
    for (const action of permissionTable[resource].actions) yield { resource, action } as Permission
}

const same = (a: Permission, b: Permission) => a.resource === b.resource && a.action === b.action

function permissionsOf(rights: Rights): Permission[] {
  if (rights === 'all') return [...every()]
  if ('only' in rights) return [...rights.only]
  return [...every()].filter((each) => !same(each, rights.without))
}

export async function openPermissionWorld(service: Service): Promise<PermissionWorld> {
  const { application } = embeddedAddresses(join(service.dataDirectory, 'run'))
  const relational = openRelational({ address: application, logger: silentLogger, connections: 2 })
  const accounts = createOperatorAccountService({ relational, passwords: cheapPasswords(), recordAudit })
  const origin = new URL(service.baseUrl).origin
  const second = await relational.transaction((tx) => insertCompany(tx, 'Second company'))
  const otherTeamName = 'Other team'
  const otherTeamId = newId()
  const { companyId: firstId } = service
  await createTeamStore(relational.db).insert({ id: otherTeamId, companyId: firstId, name: otherTeamName })
  const teams = {
    default: await createPeopleStore(relational.db).getDefaultTeam(firstId),
    other: otherTeamId,
  }

  async function signIn(
    username: string,
    password: string,
  ): Promise<{ access_token: string; refresh_token: string }> {
    const reply = await fetch(`${service.baseUrl}/auth/token`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ grant_type: 'password', client_id: service.clientId, username, password }),
    })
    if (!reply.ok) throw new Error(`${username} cannot sign in: ${await reply.text()}`)
    return (await reply.json()) as { access_token: string; refresh_token: string }
  }

  /**
   * As a sign-in does, without its cost: the service would hash each password anew, at the cost of production.
   * @returns an access token
   */
  async function openSession(email: string): Promise<string> {
    const tokens = createTokenStore(relational.db)
    const user = await tokens.findCredentials(email)
    if (!user) throw new Error(`there is no user ${email}`)
    const token = newSecret()
    const isOpen = await tokens.openSession({
      user,
      method: 'password',
      clientId: service.clientId,
      address: '127.0.0.1',
      userAgent: '',
      refreshTokenId: newId(),
      refreshTokenHash: hashSecret(newSecret()),
      accessTokenId: newId(),
      accessTokenHash: hashSecret(token),
    })
    if (!isOpen) throw new Error(`${email} cannot sign in`)
    return token
  }

  async function addRole(companyId: string, rights: Rights): Promise<{ id: string; name: string }> {
    const id = newId()
    const name = `role ${id}`
    const store = createRoleStore(relational.db)
    await store.insert({ id, companyId, name })
    await store.addPermissions(
      id,
      permissionsOf(rights).map(({ resource, action }) => `${resource}:${action}`),
    )
    return { id, name }
  }

  /** How to make another one of each person. */
  const recipes = new Map<string, () => Promise<Person>>()

  async function addPerson(
    companyId: string,
    rights: Rights,
    teamNames: string[] = [],
    domain = 'example.com',
  ): Promise<Person> {
    const role = await addRole(companyId, rights)
    const email = `${role.id}@${domain}`
    const wanted = { companyId, email, password: goodPassword, roleName: role.name, teamNames }
    const user = await accounts.createUser(wanted)
    recipes.set(user.id, () => addPerson(companyId, rights, teamNames))
    return { userId: user.id, companyId, email, token: await openSession(email) }
  }

  const known = new Map<string, Promise<Person>>()
  const { rows } = await relational.pool.query<{ id: string }>('select id from users where email = $1', [
    service.admin.email,
  ])
  const session = await signIn(service.admin.email, service.admin.password)
  await fetch(`${service.baseUrl}/oauth/revoke`, {
    method: 'POST',
    body: new URLSearchParams({ client_id: service.clientId, token: session.refresh_token }),
  })

  const admin: Person = {
    userId: rows[0]?.id ?? '',
    companyId: service.companyId,
    email: service.admin.email,
    token: service.token,
  }
  recipes.set(admin.userId, () => addPerson(service.companyId, 'all'))

  const call: PermissionWorld['call'] = (token, method, { path, body, accept, ifMatch }) =>
    fetch(`${origin}${path}`, {
      method,
      headers: {
        ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...(accept === undefined ? {} : { accept }),
        ...(ifMatch === undefined ? {} : { 'if-match': ifMatch }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })

  return {
    service,
    relational,
    admin,
    stranger: await addPerson(second.companyId, 'all'),
    otherTeam: await addPerson(service.companyId, 'all', [otherTeamName]),
    revokedToken: session.access_token,
    teams,
    person(rights) {
      const key = JSON.stringify(rights)
      const found = known.get(key) ?? addPerson(service.companyId, rights)
      known.set(key, found)
      return found
    },
    twin(person) {
      const recipe = recipes.get(person.userId)
      if (!recipe) throw new Error(`${person.email} is nobody of this world`)
      return recipe()
    },
    async founder(rights = 'all') {
      const { companyId } = await relational.transaction((tx) => insertCompany(tx, 'New company'))
      return addPerson(companyId, rights, [], `${companyId}.example`)
    },
    addRole: async (rights) => (await addRole(service.companyId, rights)).id,
    async addUser(rights, status = 'active') {
      const { companyId } = service
      const role = await addRole(companyId, rights)
      const user = { id: newId(), companyId, email: `user-${role.id}@example.com`, status, roleId: role.id }
      await createUserStore(relational.db).insert({ ...user, passwordHash: null, teamIds: [teams.default] })
      return user
    },
    call,
    async make<T>(method: string, path: string, body?: unknown, token = service.token): Promise<T> {
      const reply = await call(token, method, { path, body })
      const text = await reply.text()
      if (!reply.ok) throw new Error(`${method} ${path} answers ${reply.status}: ${text}`)
      return (JSON.parse(text) as { data: T }).data
    },
    close: () => relational.close(),
  }
}
