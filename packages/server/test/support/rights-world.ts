import fc from 'fast-check'
import { insertCompany } from '../../src/features/identity/people/installation/operator-account-service.ts'
import { createRoleStore } from '../../src/features/identity/people/roles/role-store.ts'
import { newId } from '../../src/platform/ids.ts'
import { type Body, goodPassword } from './auth.ts'
import { aGroup, aUser, openTenant, type ProvisioningApp, patch, type ScimTenant } from './provisioning.ts'
import { createRightsModel, type Mapping, type RightsModel, type Snapshot } from './rights-model.ts'

/** Names of teams and groups; the last one is the default team's. */
const names = ['Bosses', 'Staff', 'Everyone'] as const

type Name = (typeof names)[number]
/** Which of those whom the company has at the moment. */
type Pick = number

export type Step =
  | { step: 'switch'; by: 'admin' | 'attacker'; enabled: boolean; groupSync: boolean }
  | { step: 'map'; groups: Mapping[] }
  | { step: 'push user'; address: number; externalId: string | null }
  | { step: 'link user' | 'rename user'; who: Pick; to: string }
  | { step: 'turn user'; who: Pick; active: boolean }
  | { step: 'delete user' | 'erase' | 'deactivate' | 'reactivate'; who: Pick }
  | { step: 'hire'; address: number }
  | { step: 'give role'; who: Pick; role: string }
  | { step: 'push group'; name: Name; how: 'add' | 'replace' | 'put' | 'say nothing'; members: Pick[] }
  | { step: 'take out'; name: Name; who: Pick }
  | { step: 'rename group' | 'rename team'; name: Name; to: Name }
  | { step: 'delete group' | 'delete team'; name: Name }
  | { step: 'make team'; name: Name; members: Pick[] }
  | { step: 'put in' | 'put out'; name: Name; who: Pick }

const pick = fc.nat(6)
const somePeople = fc.array(pick, { maxLength: 2 })
const name = fc.oneof(
  { weight: 4, arbitrary: fc.constant(names[0]) },
  { weight: 2, arbitrary: fc.constant(names[1]) },
  { weight: 1, arbitrary: fc.constant(names[2]) },
)
const address = fc.nat(1)
const mapped = fc.record({ group: name, role: fc.constantFrom('admin', 'editor') })
const externalId = fc.constantFrom('e1', 'e2', 'e3')
const by = fc.constantFrom<'admin' | 'attacker'>('admin', 'attacker')
const how = fc.constantFrom<'add' | 'replace' | 'put' | 'say nothing'>('add', 'replace', 'put', 'say nothing')

const of = <S extends Step['step'], T>(
  weight: number,
  step: S,
  rest: { [K in keyof T]: fc.Arbitrary<T[K]> },
) => ({
  weight,
  arbitrary: fc.record(rest).map((parts) => ({ step, ...parts })),
})

/** Whatever an identity provider, an administrator and an attacker may try; what has more to do with rights, oftener. */
export const anyStep: fc.Arbitrary<Step> = fc.oneof(
  of(2, 'switch', { by, enabled: fc.boolean(), groupSync: fc.boolean() }),
  of(2, 'switch', { by: fc.constant('admin'), enabled: fc.constant(true), groupSync: fc.constant(true) }),
  of(2, 'map', { groups: fc.uniqueArray(mapped, { maxLength: 2, selector: ({ group }) => group }) }),
  of(3, 'push user', { address, externalId: fc.option(externalId) }),
  of(3, 'delete user', { who: pick }),
  of(1, 'link user', { who: pick, to: externalId }),
  of(1, 'rename user', { who: pick, to: fc.constantFrom('new-0', 'new-1') }),
  of(1, 'turn user', { who: pick, active: fc.boolean() }),
  of(1, 'hire', { address }),
  of(1, 'erase', { who: pick }),
  of(1, 'deactivate', { who: pick }),
  of(1, 'reactivate', { who: pick }),
  of(1, 'give role', { who: pick, role: fc.constantFrom('viewer', 'editor', 'admin') }),
  of(5, 'push group', { name, how, members: somePeople }),
  of(1, 'take out', { name, who: pick }),
  of(1, 'rename group', { name, to: name }),
  of(1, 'delete group', { name }),
  of(1, 'delete team', { name }),
  of(3, 'make team', { name, members: somePeople }),
  of(2, 'rename team', { name, to: name }),
  of(4, 'put in', { name, who: pick }),
  of(1, 'put out', { name, who: pick }),
)

interface World {
  readonly app: ProvisioningApp
  readonly tenant: ScimTenant
  readonly model: RightsModel
  readonly attackerId: string
  /** An address of this world. */
  readonly address: (local: string) => string
  readonly roles: ReadonlyMap<string, string>
  asAttacker: ScimTenant['call']
  snapshot(): Promise<Snapshot>
}

const scimConfig = '/v2/entities/scim/config'
const teams = '/v2/entities/teams'
const users = '/v2/entities/users'
let counter = 0

/**
 * A company whose groups give roles, with a user of the identity provider, one whom an administrator made, and an
 * attacker, who may change the company and its teams.
 */
async function openWorld(app: ProvisioningApp): Promise<World> {
  const { pool, db } = app.database
  const suffix = `world${++counter}.example`
  const address = (local: string) => `${local}@${suffix}`
  const { companyId } = await app.database.transaction((tx) => insertCompany(tx, suffix))
  const tenant = await openTenant(app.auth, companyId, address('admin'))
  const role = { id: newId(), companyId, name: 'attacker' }
  const store = createRoleStore(db)
  await store.insert(role)
  await store.addPermissions(role.id, [
    'company:read',
    'company:update',
    'team:read',
    'team:create',
    'team:update',
  ])
  const email = address('attacker')
  const attacker = { companyId, email, password: goodPassword, roleName: role.name, teamNames: [] }
  const { id: attackerId } = await app.auth.accounts.createUser(attacker)
  const { access_token: token } = (await app.auth.signIn(email)).json()
  const { rows } = await pool.query<{ id: string; name: string }>(
    'select id, name from roles where company_id = $1',
    [companyId],
  )
  const model = createRightsModel()
  model.made(tenant.admin.id, tenant.admin.email, 'admin')
  model.made(attackerId, email, 'attacker')
  return {
    ...{ app, tenant, model, attackerId, address },
    roles: new Map(rows.map(({ id, name: roleName }) => [roleName, id])),
    asAttacker: (method, url, body) => app.auth.call(token, method, url, body),
    async snapshot() {
      const found = await pool.query<Snapshot>(
        `select
           (select coalesce(json_agg(json_build_object('id', u.id, 'email', u.email, 'role', r.name, 'hasWayIn',
                u.password_hash is not null or exists (select 1 from sso_identities i where i.user_id = u.id))
                order by u.created_at, u.id), '[]')
              from users u join roles r on r.id = u.role_id
              where u.company_id = $1 and u.status <> 'deleted') as users,
           (select json_agg(json_build_object('id', id, 'name', name, 'isDefault', is_default))
              from teams where company_id = $1) as teams,
           (select coalesce(json_agg(json_build_object('teamId', team_id, 'userId', user_id)), '[]')
              from team_members where company_id = $1) as members`,
        [companyId],
      )
      const [row] = found.rows
      if (!row) throw new Error('there is no company')
      return row
    },
  }
}

/** Does one step through the interface, and tells the model what succeeded. */
async function take(world: World, step: Step, { users: present, teams: there }: Snapshot): Promise<void> {
  const { app, tenant, model, attackerId, asAttacker, address, roles } = world
  const people = present.filter(({ id }) => id !== tenant.admin.id && id !== attackerId)
  const personAt = (at: Pick) => people[at % people.length]?.id ?? attackerId
  /** The attacker, too, may be a user whom the identity provider names. */
  const memberAt = (at: Pick) => (at === 6 ? attackerId : personAt(at))
  const teamCalled = (wanted: Name) => there.find((team) => team.name.toLowerCase() === wanted.toLowerCase())
  const admin = async (method: 'POST' | 'PATCH' | 'DELETE', url: string, body?: Body): Promise<boolean> =>
    (await tenant.call(method, url, body)).statusCode === 200
  const values = (ids: readonly string[]) => ids.map((value) => ({ value }))

  switch (step.step) {
    case 'switch': {
      const { enabled, groupSync } = step
      const before = (await tenant.call('GET', scimConfig)).json().data
      const call = step.by === 'admin' ? tenant.call : asAttacker
      const done = (await call('PATCH', scimConfig, { enabled, groupSync })).statusCode === 200
      const isTurnedOn = (enabled && !before.enabled) || (groupSync && !before.groupSync)
      const role = present.find(({ id }) => id === attackerId)?.role
      if (done && isTurnedOn && step.by === 'attacker' && role === 'attacker')
        model.fault('the attacker has turned provisioning on')
      return
    }
    case 'map': {
      const roleMapping = step.groups.map(({ group, role }) => ({ group, roleId: roles.get(role) }))
      if (await admin('PATCH', scimConfig, { roleSource: 'groups', roleMapping }))
        model.setMapping(step.groups)
      return
    }
    case 'push user': {
      const email = address(`user-${step.address}`)
      const { status, body } = await tenant.scim(
        'POST',
        '/Users',
        aUser(email, { externalId: step.externalId }),
      )
      if (status === 201) model.pushed(body.id, email, step.externalId)
      return
    }
    case 'link user': {
      const id = personAt(step.who)
      const linked = patch({ op: 'add', path: 'externalId', value: step.to })
      if ((await tenant.scim('PATCH', `/Users/${id}`, linked)).status === 200) model.linked(id, step.to)
      return
    }
    case 'rename user': {
      const id = personAt(step.who)
      const renamed = patch({ op: 'replace', path: 'userName', value: address(step.to) })
      const { status } = await tenant.scim('PATCH', `/Users/${id}`, renamed)
      if (status === 200) model.claimed(id, address(step.to))
      return
    }
    case 'turn user': {
      const id = personAt(step.who)
      const turned = patch({ op: 'replace', path: 'active', value: step.active })
      if ((await tenant.scim('PATCH', `/Users/${id}`, turned)).status === 200) model.claimed(id)
      return
    }
    case 'delete user': {
      const id = personAt(step.who)
      if ((await tenant.scim('DELETE', `/Users/${id}`)).status === 204) model.deleted(id)
      return
    }
    case 'erase': {
      const id = personAt(step.who)
      if (id !== attackerId && (await admin('DELETE', `${users}/${id}`))) model.erased(id)
      return
    }
    case 'deactivate':
    case 'reactivate':
      await admin('POST', `${users}/${personAt(step.who)}/${step.step}`)
      return
    case 'hire': {
      const email = address(`user-${step.address}`)
      const { companyId } = tenant
      const wanted = { companyId, email, password: goodPassword, roleName: 'editor', teamNames: [] }
      if (present.some((person) => person.email === email)) return
      model.made((await app.auth.accounts.createUser(wanted)).id, email, 'editor')
      return
    }
    case 'give role': {
      const id = personAt(step.who)
      if (await admin('PATCH', `${users}/${id}`, { roleId: roles.get(step.role) }))
        model.granted(id, step.role)
      return
    }
    case 'push group': {
      const members = [...new Set(step.members.map(memberAt))]
      const found = teamCalled(step.name)
      if (!found) {
        const { status, body } = await tenant.scim('POST', '/Groups', aGroup(step.name, members))
        if (status === 201) model.groupSaid(body.id, { name: step.name, add: members })
        return
      }
      const path = `/Groups/${found.id}`
      const said = {
        add: [{ op: 'add', path: 'members', value: values(members) }],
        replace: [{ op: 'replace', path: 'members', value: values(members) }],
        put: [],
        'say nothing': [{ op: 'replace', path: 'displayName', value: step.name }],
      }[step.how]
      const { status } =
        step.how === 'put'
          ? await tenant.scim('PUT', path, aGroup(step.name, members))
          : await tenant.scim('PATCH', path, patch(...said))
      if (status >= 300) return
      const replace = step.how === 'put' || step.how === 'replace'
      model.groupSaid(found.id, { name: step.name, replace, add: step.how === 'say nothing' ? [] : members })
      return
    }
    case 'take out': {
      const found = teamCalled(step.name)
      const id = memberAt(step.who)
      if (!found) return
      const removed = patch({ op: 'remove', path: `members[value eq "${id}"]` })
      const { status } = await tenant.scim('PATCH', `/Groups/${found.id}`, removed)
      if (status === 204) model.groupSaid(found.id, { remove: [id] })
      return
    }
    case 'rename group': {
      const found = teamCalled(step.name)
      if (!found) return
      const renamed = patch({ op: 'replace', path: 'displayName', value: step.to })
      const { status } = await tenant.scim('PATCH', `/Groups/${found.id}`, renamed)
      if (status === 204) model.groupSaid(found.id, { name: step.to })
      return
    }
    case 'rename team': {
      const found = teamCalled(step.name)
      if (!found || found.isDefault || step.name === step.to) return
      const reply = await asAttacker('PATCH', `${teams}/${found.id}`, { name: step.to })
      if (reply.statusCode === 200) model.teamSaid(found.id, { name: step.to })
      return
    }
    case 'delete group': {
      const found = teamCalled(step.name)
      if (found && (await tenant.scim('DELETE', `/Groups/${found.id}`)).status === 204)
        model.teamGone(found.id, 'identity-provider')
      return
    }
    case 'delete team': {
      const found = teamCalled(step.name)
      if (found && (await admin('DELETE', `${teams}/${found.id}`))) model.teamGone(found.id, 'people')
      return
    }
    case 'make team': {
      const memberIds = [...new Set([attackerId, ...step.members.map(personAt)])]
      const reply = await asAttacker('POST', teams, { name: step.name, memberIds })
      if (reply.statusCode === 200) model.teamSaid(reply.json().data.id, { name: step.name, add: memberIds })
      return
    }
    case 'put in':
    case 'put out': {
      const found = teamCalled(step.name)
      // The attacker above all.
      const id = step.who % 2 === 0 ? attackerId : personAt(step.who)
      if (!found) return
      const ids = [id]
      const members = step.step === 'put in' ? { add: ids } : { remove: ids }
      const reply = await asAttacker('PATCH', `${teams}/${found.id}`, { members })
      if (reply.statusCode === 200) model.teamSaid(found.id, members)
      return
    }
  }
}

/** Takes the steps one after the other in a company of their own. @returns what is wrong after the first bad one */
export async function walk(app: ProvisioningApp, steps: readonly Step[]): Promise<string[]> {
  const world = await openWorld(app)
  const beginning: Step[] = [
    { step: 'map', groups: [{ group: 'Bosses', role: 'admin' }] },
    { step: 'hire', address: 0 },
    { step: 'push user', address: 1, externalId: 'e1' },
  ]
  let snapshot = await world.snapshot()
  for (const step of [...beginning, ...steps]) {
    await take(world, step, snapshot)
    snapshot = await world.snapshot()
    const wrong = world.model.compare(snapshot)
    if (wrong.length > 0) return [`after ${JSON.stringify(step)}`, ...wrong]
  }
  return []
}
