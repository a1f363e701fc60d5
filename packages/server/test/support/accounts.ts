import pg from 'pg'
import type { AccountServices } from '../../src/features/identity/people/account-services.ts'
import { insertCompany } from '../../src/features/identity/people/installation/operator-account-service.ts'
import { createRoleStore } from '../../src/features/identity/people/roles/role-store.ts'
import { newId } from '../../src/platform/ids.ts'
import type { QueuedMail } from '../../src/platform/mail/mail-queue.ts'
import type { Relational, SocketAddress } from '../../src/platform/stores/relational.ts'
import { type Auth, type AuthOptions, type Body, createAuth, goodPassword } from './auth.ts'
import { createTestDatabase, type TestDatabase } from './postgres.ts'

export const origin = 'https://millrace.example'

const testIdpEntityId = 'https://idp.example'

export interface Reply {
  status: number
  code: number
  message: string
  error_code?: number
  data: Record<string, unknown> & Record<string, unknown>[]
  paginationCount?: number
}

export interface Person {
  readonly id: string
  readonly email: string
  readonly token: string
}

export interface AuditRow {
  readonly action: string
  readonly outcome: string
  readonly error: string | null
  readonly company_id: string | null
  readonly actor_id: string | null
  readonly target_id: string | null
  readonly details: Record<string, unknown>
}

/** The secret of the link in a mail, or in an address that was answered. */
export function secretIn(text: string | undefined): string {
  const [, secret] = /set-password\?token=([A-Za-z0-9_-]{43})/.exec(text ?? '') ?? []
  if (secret === undefined) throw new Error(`there is no link in: ${text}`)
  return secret
}

/** Runs a statement as migrations do. */
export async function asOwner(
  { socketDirectory: host, user, database }: SocketAddress,
  statement: string,
): Promise<void> {
  const owner = new pg.Client({ host, user, database })
  await owner.connect()
  await owner.query(statement)
  await owner.end()
}

/** From now on people with addresses of this domain must use single sign-on. */
export async function requireSingleSignOn(database: TestDatabase, domain: string): Promise<void> {
  await asOwner(
    database.owner,
    `create or replace function requires_single_sign_on(company text, email text) returns boolean
      language sql stable as $$ select email like ${pg.escapeLiteral(`%@${domain}`)} $$`,
  )
}

/** Rows as single sign-on leaves them: the company has shown the domain, and has an identity provider. */
export async function offerSingleSignOn(
  { pool }: Relational,
  companyId: string,
  domain: string,
  mandatory = false,
): Promise<void> {
  await pool.query(
    `insert into sso_configs (company_id, version, metadata_xml, idp_entity_id, idp_sign_in_url, idp_certificates,
       attribute_mapping, provisioning, mandatory, proven_at)
     values ($1, $2, '', $3, $3, '{x}', '{}', 'invitation', $4, now())
     on conflict (company_id) do update set mandatory = excluded.mandatory`,
    [companyId, newId(), testIdpEntityId, mandatory],
  )
  await pool.query(
    'insert into sso_domains (id, company_id, domain, challenge, verified_at) values ($1, $2, $3, $1, now())',
    [newId(), companyId, domain],
  )
}

/** The identity provider of `offerSingleSignOn` has named this person, or another one has. */
export async function linkIdentity(
  { pool }: Relational,
  userId: string,
  idpEntityId = testIdpEntityId,
): Promise<void> {
  await pool.query(
    `insert into sso_identities (company_id, idp_entity_id, name_id, user_id)
     select company_id, $2, id, id from users where id = $1`,
    [userId, idpEntityId],
  )
}

/** Accounts on a real server: the company `auth.companyId` and a second one that is none of its business. */
export async function createAccountsApp(
  relational: TestDatabase,
  options: Pick<
    AuthOptions,
    | 'passwords'
    | 'columnar'
    | 'outgoing'
    | 'listUsesOfTag'
    | 'readResults'
    | 'reportWriting'
    | 'validateDefinition'
    | 'environment'
  > = {},
) {
  const auth: Auth = await createAuth(relational, options)
  const services: AccountServices = auth.services.accounts
  const other = await relational.transaction((tx) => insertCompany(tx, 'Other'))
  let counter = 0

  async function roleIdOf(name: string, companyId = auth.companyId): Promise<string> {
    const { rows } = await relational.pool.query<{ id: string }>(
      'select id from roles where company_id = $1 and lower(name) = lower($2)',
      [companyId, name],
    )
    return rows[0]?.id ?? ''
  }

  async function signIn(email: string, password = goodPassword): Promise<string> {
    const reply = await auth.signIn(email, password)
    if (reply.statusCode !== 200) throw new Error(reply.body)
    return reply.json().access_token
  }

  return {
    ...auth,
    auth,
    services,
    other,
    roleIdOf,
    signInAs: signIn,

    /** A user who is signed in, with a role of this name. */
    async person(roleName = 'viewer', companyId = auth.companyId, domain = 'example.com'): Promise<Person> {
      const email = `person${++counter}@${domain}`
      const user = await auth.accounts.createUser({
        companyId,
        email,
        password: goodPassword,
        roleName,
        teamNames: [],
      })
      return { id: user.id, email, token: await signIn(email) }
    },

    /** A role of the company with these permissions. @returns its name and identifier */
    async role(permissions: readonly string[], companyId = auth.companyId) {
      const role = { id: newId(), companyId, name: `Role ${++counter}` }
      const store = createRoleStore(relational.db)
      await store.insert(role)
      await store.addPermissions(role.id, permissions)
      return role
    },

    /** A user whose role has these permissions and no others. */
    async personWith(...permissions: string[]): Promise<Person> {
      return this.person((await this.role(permissions)).name)
    },

    /** A team of the company. @returns its identifier */
    async team(parentIds: readonly string[] = [], reachesAncestors = false, companyId = auth.companyId) {
      const id = newId()
      const { pool } = relational
      await pool.query(
        'insert into teams (id, company_id, name, reaches_ancestors) values ($1, $2, $3, $4)',
        [id, companyId, `Team ${++counter}`, reachesAncestors],
      )
      for (const parentId of parentIds)
        await pool.query('insert into team_parents (company_id, parent_id, child_id) values ($1, $2, $3)', [
          companyId,
          parentId,
          id,
        ])
      return id
    },

    /** Puts a user into exactly these teams. */
    async putInto(userId: string, ...teamIds: string[]): Promise<void> {
      await relational.pool.query('delete from team_members where user_id = $1', [userId])
      for (const teamId of teamIds)
        await relational.pool.query(
          'insert into team_members (company_id, team_id, user_id) select company_id, $1, id from users where id = $2',
          [teamId, userId],
        )
    },

    /** Calls an operation under `/v2/entities`, past what this process remembers of the token. */
    async call(
      token: string,
      method: 'GET' | 'POST' | 'PATCH' | 'DELETE',
      path: string,
      body?: Body,
    ): Promise<Reply> {
      auth.cache.forget()
      const reply = await auth.call(token, method, `/v2/entities${path}`, body)
      return { ...reply.json(), status: reply.statusCode }
    },

    /** Entries of the audit log since the last question, oldest first, but those about how a test began. */
    audit: (() => {
      let seen = new Set<string>()
      return async (): Promise<AuditRow[]> => {
        const { rows } = await relational.pool.query<AuditRow & { id: string }>(
          `select * from audit_entries where actor_kind <> 'operator' and action <> 'sign-in' order by at, id`,
        )
        const fresh = rows.filter(({ id }) => !seen.has(id))
        seen = new Set(rows.map(({ id }) => id))
        return fresh
      }
    })(),

    async lastMail(): Promise<QueuedMail> {
      const mail = (await auth.takeMails()).at(-1)
      if (!mail) throw new Error('there is no mail')
      return mail
    },
  }
}

export type AccountsApp = Awaited<ReturnType<typeof createAccountsApp>>

/** Moves the time of an application whose users stay signed in: `tokens` are replaced. */
export function createTimeTravel<Who extends string>(
  app: AccountsApp,
  people: Readonly<Record<Who, { readonly email: string }>>,
  tokens: Map<Who, string>,
) {
  async function advance(ms: number): Promise<void> {
    app.time.advance(ms)
    for (const who of tokens.keys()) {
      const reply = await app.auth.signIn(people[who].email, goodPassword)
      if (reply.statusCode === 200) tokens.set(who, reply.json().access_token)
    }
  }
  return {
    advance,
    /** Moves the time to this instant. */
    advanceTo: (instant: string | number) => advance(new Date(instant).getTime() - app.time.clock.now()),
  }
}

/**
 * Accounts over a database of the test's own, with an administrator of each company, a role and a team to give
 * and the body of an invitation.
 */
export async function openAccounts() {
  const relational = await createTestDatabase()
  const app = await createAccountsApp(relational)
  const admin = await app.person('admin')
  const stranger = await app.person('admin', app.other.companyId)
  const viewerRole = await app.roleIdOf('viewer')
  const { data } = await app.call(admin.token, 'GET', `/users/${admin.id}`)
  const everyone = String((data.resourceGroupIds as string[])[0])
  return {
    relational,
    app,
    admin,
    stranger,
    viewerRole,
    everyone,
    invitation: (email: string, more: Body = {}): Body => ({
      email,
      roleId: viewerRole,
      resourceGroupIds: [everyone],
      ...more,
    }),
    async close(): Promise<void> {
      await app.app.close()
      await relational.close()
    },
  }
}

export type Accounts = Awaited<ReturnType<typeof openAccounts>>
