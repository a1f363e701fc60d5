import { afterAll, beforeAll, expect, test } from 'vitest'
import { openProvisioning, type ProvisioningApp, patch } from '../support/provisioning.ts'

/** docs/faults.md, I18: what a group of thousands does to the roles of its people is what it does to each of a few. */

const config = '/v2/entities/scim/config'
/** More than one statement of the audit log takes. */
const people = 6_000

interface Person {
  readonly id: string
  readonly email: string
  readonly role: string
  readonly status: string
  readonly serviceAccount: boolean
  readonly provisioned: boolean
  readonly isMember: boolean
}

interface Change {
  readonly target_id: string
  readonly target_name: string
  readonly actor_kind: string
  readonly details: { readonly roleId: string; readonly previousRoleId: string }
}

let app: ProvisioningApp
let group: string
const roles = new Map<string, string>()
const roleId = (name: string): string => roles.get(name) ?? ''

beforeAll(async () => {
  app = await openProvisioning()
  for (const name of ['admin', 'editor', 'viewer']) roles.set(name, await app.roleId(name))
  group = (await app.scim('POST', '/Groups', { displayName: 'Crowd' })).body.id
  const { pool } = app.database
  // Of every ten one is not a member, one a program, one deactivated, and one is kept by hand; roles take turns.
  await pool.query(
    `insert into users (id, company_id, email, status, role_id, provisioned, service_account)
     select 'c' || lpad(to_hex(n), 23, '0'), $1, 'crowd-' || n || '@acme.example',
       case when n % 10 = 3 then 'disabled' when n % 10 = 4 then 'deleted' else 'active' end,
       case n % 3 when 0 then $2 else $3 end, n % 10 <> 2, n % 10 = 1
     from generate_series(1, $4::int) n`,
    [app.companyId, roleId('editor'), roleId('viewer'), people],
  )
  await pool.query(
    `insert into team_members (company_id, team_id, user_id, provisioned)
     select company_id, $1, id, true from users where id like 'c0000%' and email not like '%0@acme.example'`,
    [group],
  )
})

afterAll(() => app.close())

async function everybody(): Promise<Person[]> {
  const { rows } = await app.database.pool.query<Person>(
    `select u.id, email, r.name as role, status, service_account as "serviceAccount", u.provisioned,
       exists (select 1 from team_members m where m.user_id = u.id and m.team_id = $1) as "isMember"
     from users u join roles r on r.id = u.role_id where u.id like 'c0000%' order by u.id`,
    [group],
  )
  return rows
}

/** Role by role what the rules say of one person. */
function expectedOf(person: Person, given: string | undefined, byDefault: string): string {
  const { status, serviceAccount, isMember, provisioned } = person
  if (status === 'deleted' || serviceAccount) return person.role
  if (isMember && given !== undefined) return given
  return isMember || provisioned ? byDefault : person.role
}

async function changesSince(known: number): Promise<Change[]> {
  const { rows } = await app.database.pool.query<Change>(
    `select target_id, target_name, actor_kind, details from audit_entries
     where action = 'user-update' and company_id = $1 order by at, id offset $2`,
    [app.companyId, known],
  )
  return rows
}

const countChanges = async (): Promise<number> => (await changesSince(0)).length

/** Does something, after which people have the roles that the rules say, each change with an entry of its own. */
async function expectRoles(change: () => Promise<unknown>, given: string | undefined): Promise<Change[]> {
  const before = await everybody()
  const known = await countChanges()
  await change()
  const expected = before.map((person) => ({ ...person, role: expectedOf(person, given, 'viewer') }))
  expect(await everybody()).toEqual(expected)
  const changes = await changesSince(known)
  const wanted = before.flatMap(({ id, email, role }, i) => {
    const now = expected[i]?.role ?? ''
    const details = { roleId: roleId(now), previousRoleId: roleId(role) }
    return now === role ? [] : [{ target_id: id, target_name: email, details }]
  })
  expect(changes.map(({ actor_kind: _, ...entry }) => entry)).toEqual(wanted)
  return changes
}

const update = async (body: Record<string, unknown>): Promise<void> =>
  expect((await app.call('PATCH', config, body)).json()).toMatchObject({ code: 200 })

const map = (name: string) => update({ roleMapping: [{ group: 'crowd', roleId: roleId(name) }] })

const change = async (...operations: object[]): Promise<void> =>
  expect(await app.scim('PATCH', `/Groups/${group}`, patch(...operations))).toMatchObject({ status: 204 })

test('I18 a group of thousands that gets a role gives it to each of them, with an entry for each', async () => {
  const start = { roleSource: 'groups', defaultRoleId: roleId('viewer') }
  await expectRoles(
    () => update({ ...start, roleMapping: [{ group: 'crowd', roleId: roleId('editor') }] }),
    'editor',
  )
  const changes = await expectRoles(() => map('admin'), 'admin')
  expect(changes.length).toBeGreaterThan(people / 2)
  expect(new Set(changes.map(({ actor_kind }) => actor_kind))).toEqual(new Set(['user']))
})

test('I18 thousands of administrators lose their role at once, and one stays', async () => {
  await expectRoles(() => map('editor'), 'editor')
  expect(await app.roleOf(app.admin.id)).toBe('admin')
})

test('I18 a role that thousands get holds from the next request on', async () => {
  const { rows } = await app.database.pool.query<{ email: string }>(
    `select email from users where id like 'c0000%' and status = 'active' and email like '%5@acme.example' limit 1`,
  )
  const email = rows[0]?.email ?? ''
  await app.auth.accounts.setPassword(email, 'a field of 7 poppies')
  const { access_token: token } = (await app.auth.signIn(email)).json()
  const ask = async () => (await app.auth.call(token, 'PATCH', config, {})).json().code
  expect(await ask()).toBe(403)
  await map('admin')
  app.auth.time.advance(800)
  expect(await ask()).toBe(200)
  await map('editor')
  app.auth.time.advance(800)
  expect(await ask()).toBe(403)
})

test('I18 renaming and emptying such a group takes the role from all of them', async () => {
  const renamed = await expectRoles(
    () => change({ op: 'replace', value: { displayName: 'Nobody' } }),
    undefined,
  )
  expect(new Set(renamed.map(({ actor_kind }) => actor_kind))).toEqual(new Set(['identity-provider']))
  await expectRoles(() => change({ op: 'replace', value: { displayName: 'Crowd' } }), 'editor')
  const members = (await everybody()).filter(({ isMember }) => isMember)
  const known = await countChanges()
  await change({ op: 'remove', path: 'members' })
  const visible = members.filter(({ status, serviceAccount }) => status !== 'deleted' && !serviceAccount)
  const now = new Map((await everybody()).map(({ id, role }) => [id, role]))
  expect(new Set(visible.map(({ id }) => now.get(id)))).toEqual(new Set(['viewer']))
  expect((await changesSince(known)).map(({ target_id }) => target_id)).toEqual(visible.map(({ id }) => id))
})

test('I18 when one of thousands is the last administrator, none of them loses anything', async () => {
  await app.database.pool.query(`update users set provisioned = true where id = $1`, [app.admin.id])
  const [before, known] = [await everybody(), await countChanges()]
  const refused = (await app.call('PATCH', config, { defaultRoleId: roleId('editor') })).json()
  expect(refused).toMatchObject({ code: 409, error_code: 2023 })
  expect(await everybody()).toEqual(before)
  expect(await countChanges()).toBe(known)
  expect(await app.roleOf(app.admin.id)).toBe('admin')
})

test('I18 no index holds what a change of role or a sign-in changes, so that a change of many touches none', async () => {
  const { rows } = await app.database.pool.query<{ name: string }>(
    `select attname as name from pg_attribute join pg_index on indrelid = attrelid and attnum = any(indkey)
     where attrelid = 'users'::regclass`,
  )
  const indexed = rows.map(({ name }) => name)
  for (const changed of ['role_id', 'last_sign_in_at', 'password_hash', 'updated_at'])
    expect(indexed).not.toContain(changed)
})
