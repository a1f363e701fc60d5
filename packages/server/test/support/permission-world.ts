import { join } from 'node:path'
import { type Permission, permissionTable, type Resource } from '@millrace/contract/permissions.ts'
import { createAccountService, insertCompany } from '../../src/features/accounts/account-service.ts'
import { createAccountStore } from '../../src/features/accounts/account-store.ts'
import { recordAudit } from '../../src/features/audit/audit-store.ts'
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
}

export interface Person {
  readonly userId: string
  readonly companyId: string
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
  /** Somebody of the first company, in its default team; the same person for the same rights. */
  person(rights: Rights): Promise<Person>
  /** An access token of the administrator whose session has been revoked. */
  readonly revokedToken: string
  call(token: string | undefined, method: string, call: Call): Promise<Response>
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
  const accounts = createAccountService({ relational, passwords: cheapPasswords(), recordAudit })
  const store = createAccountStore(relational.db)
  const origin = new URL(service.baseUrl).origin
  const second = await relational.transaction((tx) => insertCompany(tx, 'Second company'))
  const otherTeamName = 'Other team'
  await store.insertTeam({ id: newId(), companyId: service.companyId, name: otherTeamName, isDefault: false })

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

  async function addPerson(companyId: string, rights: Rights, teamNames: string[] = []): Promise<Person> {
    const roleId = newId()
    const roleName = `role ${roleId}`
    await store.insertRole({ id: roleId, companyId, name: roleName, builtIn: false })
    await store.addPermissions(roleId, permissionsOf(rights))
    const email = `${roleId}@example.com`
    const user = await accounts.createUser({ companyId, email, password: goodPassword, roleName, teamNames })
    return { userId: user.id, companyId, token: (await signIn(email, goodPassword)).access_token }
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

  return {
    service,
    relational,
    admin: { userId: rows[0]?.id ?? '', companyId: service.companyId, token: service.token },
    stranger: await addPerson(second.companyId, 'all'),
    otherTeam: await addPerson(service.companyId, 'all', [otherTeamName]),
    revokedToken: session.access_token,
    person(rights) {
      const key = JSON.stringify(rights)
      const found = known.get(key) ?? addPerson(service.companyId, rights)
      known.set(key, found)
      return found
    },
    call: (token, method, { path, body }) =>
      fetch(`${origin}${path}`, {
        method,
        headers: {
          ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
          ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      }),
    close: () => relational.close(),
  }
}
