import type { LightMyRequestResponse } from 'fastify'
import { insertCompany } from '../../src/features/identity/people/installation/operator-account-service.ts'
import { createRoleStore } from '../../src/features/identity/people/roles/role-store.ts'
import { newId } from '../../src/platform/ids.ts'
import { type Auth, type Body, createAuth, goodPassword } from './auth.ts'
import { createTestDatabase, type TestDatabase } from './postgres.ts'

export const origin = 'https://millrace.example'
export const scimBase = `${origin}/v2/scim/v2`
export const errorSchema = 'urn:ietf:params:scim:api:messages:2.0:Error'

type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'

/** One reply of the SCIM service, parsed. */
export interface ScimReply {
  readonly status: number
  readonly headers: LightMyRequestResponse['headers']
  // A resource, a list or an error: each test looks at what it is about.
  readonly body: Record<string, never> & ScimBody
}

interface ScimBody {
  readonly id: string
  readonly schemas: string[]
  readonly status: string
  readonly scimType?: string
  readonly detail: string
  readonly totalResults: number
  readonly itemsPerPage: number
  readonly startIndex: number
  readonly Resources: (Record<string, never> & ScimBody)[]
  readonly active: boolean
  readonly userName: string
  readonly displayName: string
  readonly externalId?: string
  readonly members: { value: string }[]
  readonly groups: { value: string; display: string }[]
}

/** A company with an administrator, whose identity provider is answered. */
export interface ScimTenant {
  readonly companyId: string
  readonly admin: { readonly id: string; readonly email: string; readonly accessToken: string }
  readonly scimToken: string
  /** Calls the SCIM service; `path` behind its address. */
  scim(method: Method, path: string, body?: unknown, headers?: Record<string, string>): Promise<ScimReply>
  /** Calls an operation of the interface as the administrator. */
  call(method: Method, url: string, body?: Body): Promise<LightMyRequestResponse>
}

export interface ProvisioningApp extends ScimTenant {
  readonly auth: Auth
  readonly database: TestDatabase
  /** Another company of the same service. */
  readonly other: ScimTenant
  /** Id of one of the roles that the first company begins with. */
  roleId(name: string): Promise<string>
  roleOf(userId: string): Promise<string>
  /** One that nobody has. */
  anAddress(): string
  /** Creates a user, as the identity provider does. @returns the identifier */
  user(userName?: string, more?: object): Promise<string>
  /** Creates a group, as the identity provider does. @returns the identifier */
  group(members?: string[]): Promise<string>
  /** A user of the first company who is signed in, whose role has exactly these permissions. */
  personWith(name: string, permissions: readonly string[]): Promise<ScimUser>
  teamsOf(userId: string): Promise<string[]>
  close(): Promise<void>
}

export interface ScimUser {
  readonly id: string
  readonly roleId: string
  readonly call: ScimTenant['call']
}

export interface AuditRow {
  action: string
  outcome: string
  error: string | null
  actor_kind: string
  actor_name: string | null
  target_kind: string | null
  target_id: string | null
  details: Record<string, unknown>
}

/** A company with an administrator of this address, whose identity provider is answered. */
export async function openTenant(auth: Auth, companyId: string, email: string): Promise<ScimTenant> {
  const wanted = { companyId, email, password: goodPassword, roleName: 'admin', teamNames: [] }
  const { id } = await auth.accounts.createUser(wanted)
  const { access_token: accessToken } = (await auth.signIn(email)).json()
  const call: ScimTenant['call'] = (method, url, body) => auth.call(accessToken, method, url, body)
  await call('PATCH', '/v2/entities/scim/config', { enabled: true })
  const created = await call('POST', '/v2/entities/scim/tokens', { label: 'Directory' })
  const scimToken: string = created.json().data.token
  return {
    companyId,
    admin: { id, email, accessToken },
    scimToken,
    call,
    async scim(method, path, body, headers = {}) {
      const reply = await auth.app.inject({
        method,
        url: `/v2/scim/v2${path}`,
        headers: {
          authorization: `Bearer ${scimToken}`,
          ...(body !== undefined && { 'content-type': 'application/scim+json' }),
          ...headers,
        },
        ...(body !== undefined && {
          payload: typeof body === 'string' ? body : JSON.stringify(body),
        }),
      })
      return {
        status: reply.statusCode,
        headers: reply.headers,
        body: reply.body === '' ? ({} as never) : reply.json(),
      }
    },
  }
}

/** Two companies, each with an administrator and an identity provider, over a database of the test's own. */
export async function openProvisioning(): Promise<ProvisioningApp> {
  const database = await createTestDatabase()
  const auth = await createAuth(database)
  const { companyId } = await database.transaction((tx) => insertCompany(tx, 'Other'))
  const tenant = await openTenant(auth, auth.companyId, 'admin@acme.example')
  const other = await openTenant(auth, companyId, 'admin@other.example')

  async function column(query: string, ...parameters: unknown[]): Promise<string[]> {
    const { rows } = await database.pool.query<{ value: string }>(query, parameters)
    return rows.map(({ value }) => value)
  }

  let counter = 0
  const anAddress = () => `person-${++counter}@acme.example`

  async function created(path: string, resource: object): Promise<string> {
    auth.time.advance(1)
    const reply = await tenant.scim('POST', path, resource)
    if (reply.status !== 201) throw new Error(JSON.stringify(reply.body))
    return reply.body.id
  }

  return {
    ...tenant,
    anAddress,
    user: (userName = anAddress(), more = {}) => created('/Users', aUser(userName, more)),
    group: (members = []) => created('/Groups', aGroup(`Group ${++counter}`, members)),
    auth,
    database,
    other,
    async roleId(name) {
      const [id] = await column(
        'select id as value from roles where company_id = $1 and name = $2',
        auth.companyId,
        name,
      )
      if (id === undefined) throw new Error(`there is no role ${name}`)
      return id
    },
    async roleOf(userId) {
      const [name] = await column(
        'select r.name as value from users u join roles r on r.id = u.role_id where u.id = $1',
        userId,
      )
      return name ?? ''
    },
    async personWith(name, permissions) {
      const store = createRoleStore(database.db)
      const roleId = newId()
      await store.insert({ id: roleId, companyId: auth.companyId, name })
      await store.addPermissions(roleId, permissions)
      const email = `${name}@acme.example`
      const { id } = await auth.addUser(email, undefined, name)
      const { access_token: token } = (await auth.signIn(email)).json()
      return { id, roleId, call: (method, url, body) => auth.call(token, method, url, body) }
    },
    teamsOf: (userId) =>
      column(
        'select t.name as value from team_members m join teams t on t.id = m.team_id where m.user_id = $1 order by 1',
        userId,
      ),
    async close() {
      await auth.app.close()
      await database.close()
    },
  }
}

/** Entries of a company's audit log, oldest first; of one action where it is named. */
export async function auditOf(
  { database }: Pick<ProvisioningApp, 'database'>,
  companyId: string,
  action?: string,
): Promise<AuditRow[]> {
  const { rows } = await database.pool.query<AuditRow>(
    `select action, outcome, error, actor_kind, actor_name, target_kind, target_id, details
     from audit_entries where company_id = $1 and ($2::text is null or action = $2) order by at, id`,
    [companyId, action ?? null],
  )
  return rows
}

/** A user as identity providers send one. */
export function aUser(userName: string, more: object = {}): Record<string, unknown> {
  return {
    schemas: ['urn:ietf:params:scim:schemas:core:2.0:User'],
    userName,
    name: { givenName: 'Ada', familyName: 'Lovelace' },
    emails: [{ primary: true, value: userName, type: 'work' }],
    active: true,
    ...more,
  }
}

export function aGroup(displayName: string, members: string[] = []): Record<string, unknown> {
  return {
    schemas: ['urn:ietf:params:scim:schemas:core:2.0:Group'],
    displayName,
    members: members.map((value) => ({ value })),
  }
}

export function patch(...operations: object[]): Record<string, unknown> {
  return { schemas: ['urn:ietf:params:scim:api:messages:2.0:PatchOp'], Operations: operations }
}
