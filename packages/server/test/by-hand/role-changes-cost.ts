/**
 * How long it takes to give everybody of a large group another role, and how long a sign-in of the same company
 * waits meanwhile. Run by hand, on an idle machine:
 *
 *   node packages/server/test/by-hand/role-changes-cost.ts [people, default 50000]
 *
 * Starts a whole service, and prints for each way to change the roles of so many at once the seconds that the
 * request took and the longest sign-in of a member and of another user that began while it ran.
 */
import { join } from 'node:path'
import { createPasswords } from '../../src/platform/crypto/passwords.ts'
import { silentLogger } from '../../src/platform/logger.ts'
import { embeddedAddresses } from '../../src/platform/stores/embedded-postgres.ts'
import { openRelational } from '../../src/platform/stores/relational.ts'
import { removeData, startService } from '../support/running-service.ts'

const people = Number(process.argv[2] ?? 50_000)
const group = 'd00000000000000000000001'
const password = 'a field of 7 poppies'
const service = await startService()
const { application } = embeddedAddresses(join(service.dataDirectory, 'run'))
const relational = openRelational({ address: application, logger: silentLogger, connections: 2 })
const { pool } = relational
const { baseUrl, companyId, clientId } = service

async function roleId(name: string): Promise<string> {
  const { rows } = await pool.query('select id from roles where company_id = $1 and name = $2', [
    companyId,
    name,
  ])
  return rows[0].id
}

const viewer = await roleId('viewer')
const hash = await createPasswords({ cost: { memory: 64, passes: 1, lanes: 1 } }).withHasher((hasher) =>
  hasher.hash(password),
)
await pool.query(
  `insert into users (id, company_id, email, status, role_id, provisioned, password_hash)
   select 'c' || lpad(to_hex(n), 23, '0'), $1, 'crowd-' || n || '@acme.example', 'active', $2, n > 1, $3
   from generate_series(1, $4::int) n`,
  [companyId, viewer, hash, people + 1],
)
await service.dataOf('PATCH', '/entities/scim/config', {
  enabled: true,
  defaultRoleId: viewer,
  roleSource: 'groups',
})
const { token } = await service.dataOf<{ token: string }>('POST', '/entities/scim/tokens', {
  label: 'By hand',
})
await pool.query(`insert into teams (id, company_id, name, provisioned) values ($2, $1, 'Crowd', true)`, [
  companyId,
  group,
])
await pool.query(
  `insert into team_members (company_id, team_id, user_id, provisioned)
   select company_id, $1, id, true from users where email like 'crowd-%' and provisioned`,
  [group],
)
await pool.query(
  `insert into team_members (company_id, team_id, user_id)
   select person.company_id, team.id, person.id from users as person join teams as team
     on team.company_id = person.company_id and team.is_default where email like 'crowd-%'`,
)

/** Statuses of sign-ins that did not succeed. */
let refused: number[] = []

async function signIn(username: string): Promise<number> {
  const start = performance.now()
  const reply = await fetch(`${baseUrl}/auth/token`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ grant_type: 'password', client_id: clientId, username, password }),
  })
  await reply.text()
  if (!reply.ok) refused.push(reply.status)
  return performance.now() - start
}

async function scim(method: string, path: string, body: object): Promise<void> {
  const reply = await fetch(`${baseUrl}/scim/v2${path}`, {
    method,
    headers: { 'content-type': 'application/scim+json', authorization: `Bearer ${token}` },
    body: JSON.stringify(body),
  })
  if (!reply.ok) throw new Error(await reply.text())
}

const patch = (operation: object) => ({
  schemas: ['urn:ietf:params:scim:api:messages:2.0:PatchOp'],
  Operations: [operation],
})

interface Waited {
  /** Milliseconds of the longest sign-in. */
  member: number
  other: number
}

/** Does something while two people sign in again and again. */
async function watched(change: () => Promise<unknown>): Promise<Waited> {
  let running = true
  const waited: Waited = { member: 0, other: 0 }
  const watch = async (who: keyof Waited, username: string) => {
    while (running) {
      waited[who] = Math.max(waited[who], await signIn(username))
      await new Promise((resolve) => setTimeout(resolve, 20))
    }
  }
  // Rows are changed in the order of their identifiers: this member waits for all others.
  const watching = [watch('member', 'crowd-2@acme.example'), watch('other', 'crowd-1@acme.example')]
  await change()
  running = false
  await Promise.all(watching)
  return waited
}

async function secondsOf(change: () => Promise<unknown>): Promise<string> {
  const start = performance.now()
  await change()
  return ((performance.now() - start) / 1000).toFixed(2).padStart(6)
}

async function rolesNow(): Promise<string> {
  const { rows } = await pool.query(
    `select r.name, count(*)::int as n from users u join roles r on r.id = u.role_id
     where u.company_id = $1 group by 1 order by 2 desc`,
    [companyId],
  )
  return rows.map(({ name, n }) => `${name} ${n}`).join(', ')
}

const map = (role: string) =>
  service.dataOf('PATCH', '/entities/scim/config', { roleMapping: [{ group: 'Crowd', roleId: role }] })

const rename = (displayName: string) =>
  scim('PATCH', `/Groups/${group}`, patch({ op: 'replace', value: { displayName } }))

const [editor, admin] = [await roleId('editor'), await roleId('admin')]
const changes: readonly (readonly [what: string, change: () => Promise<unknown>])[] = [
  ['a group gets a role', () => map(editor)],
  ['it gets that of administrators', () => map(admin)],
  ['it gets another one', () => map(editor)],
  ['it is renamed and gives none', () => rename('Nobody')],
  ['it is renamed and gives one', () => rename('Crowd')],
  ['it gets that of administrators', () => map(admin)],
  ['it gives none', () => service.dataOf('PATCH', '/entities/scim/config', { roleMapping: [] })],
]

try {
  await pool.query('analyze')
  for (const [what, change] of changes)
    console.log(`${await secondsOf(change)} s  ${what}: ${await rolesNow()}`)
  console.log('and while people sign in')
  for (const [what, change] of changes) {
    let waited: Waited = { member: 0, other: 0 }
    const seconds = await secondsOf(async () => {
      waited = await watched(change)
    })
    const [member, other] = [waited.member.toFixed(0), waited.other.toFixed(0)]
    console.log(
      `${seconds} s  ${what}; the longest sign-in ${member} ms of a member, ${other} ms of another user`,
    )
    if (refused.length > 0) console.log(`        sign-ins refused with ${refused.join(', ')}`)
    refused = []
  }
  const empty = () => scim('PATCH', `/Groups/${group}`, patch({ op: 'remove', path: 'members' }))
  await map(editor)
  console.log(`${await secondsOf(empty)} s  a group is emptied: ${await rolesNow()}`)
} finally {
  await relational.close()
  await service.stop()
  removeData(service)
}
