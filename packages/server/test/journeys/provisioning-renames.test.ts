import { afterAll, beforeAll, expect, test } from 'vitest'
import { newId } from '../../src/platform/ids.ts'
import { goodPassword } from '../support/auth.ts'
import { openProvisioning, type ProvisioningApp, type ScimReply } from '../support/provisioning.ts'

/**
 * What Okta and Entra ID send over the years of one person: hired, renamed, unassigned, back again, gone. Between the
 * requests the account is what the company's administrator sees, and signs in or does not.
 */

const core = 'urn:ietf:params:scim:schemas:core:2.0:User'
const enterprise = 'urn:ietf:params:scim:schemas:extension:enterprise:2.0:User'
const groupUrn = 'urn:ietf:params:scim:schemas:core:2.0:Group'
const patchOp = 'urn:ietf:params:scim:api:messages:2.0:PatchOp'
const domain = 'corp.example'

let app: ProvisioningApp

beforeAll(async () => {
  app = await openProvisioning()
  await app.database.pool.query(
    'insert into sso_domains (id, company_id, domain, challenge, verified_at) values ($1, $2, $3, $1, now())',
    [newId(), app.companyId, domain],
  )
})

afterAll(() => app.close())

const query = (parameters: Record<string, string>) => new URLSearchParams(parameters).toString()

async function expectReply(reply: Promise<ScimReply>, status: number, body: object = {}): Promise<ScimReply> {
  const found = await reply
  expect(found.status, JSON.stringify(found.body)).toBe(status)
  expect(found.body).toMatchObject(body)
  return found
}

/** The account as the administrator sees it. */
async function expectAccount(id: string, expected: object): Promise<void> {
  const reply = await app.call('GET', `/v2/entities/users/${id}`)
  expect(reply.json()).toMatchObject({ code: 200, data: expected })
}

/** Teams of the account by their names, as the administrator sees them. */
async function teamsOf(id: string): Promise<string[]> {
  const { data } = (await app.call('GET', `/v2/entities/users/${id}`)).json()
  const teams = (await app.call('GET', '/v2/entities/teams')).json().data as { id: string; name: string }[]
  return teams
    .filter((team) => data.resourceGroupIds.includes(team.id))
    .map(({ name }) => name)
    .sort()
}

async function signIn(email: string): Promise<{ status: number; accessToken: string }> {
  const reply = await app.auth.signIn(email)
  return { status: reply.statusCode, accessToken: reply.json().access_token }
}

/** Whether a session that was opened before still works, a second after what has just happened. */
async function works(accessToken: string): Promise<boolean> {
  app.auth.time.advance(1_000)
  return (await app.auth.get(accessToken)).statusCode === 200
}

test('Okta: hired, put into a group, renamed, unassigned under another name, assigned again', async () => {
  const oktaUser = (userName: string, more: object = {}) => ({
    schemas: [core],
    externalId: '00u1a2b3c4d5e6f7g8h9',
    userName,
    name: { givenName: 'Maria', familyName: 'Silva' },
    displayName: 'Maria Silva',
    emails: [{ primary: true, value: userName, type: 'work' }],
    locale: 'en-US',
    groups: [],
    active: true,
    ...more,
  })
  const find = (userName: string) =>
    app.scim('GET', `/Users?${query({ filter: `userName eq "${userName}"`, startIndex: '1', count: '100' })}`)
  const [first, second, third] = [`maria.silva@${domain}`, `maria.costa@${domain}`, `mcosta@${domain}`]

  await expectReply(find(first), 200, { totalResults: 0, Resources: [] })
  const { id } = (await expectReply(app.scim('POST', '/Users', oktaUser(first)), 201, { active: true })).body
  await expectAccount(id, { email: first, status: 'active', provisioned: true, firstName: 'Maria' })
  await app.auth.accounts.setPassword(first, goodPassword)
  const hired = await signIn(first)
  expect(hired.status).toBe(200)

  const groupBody = { schemas: [groupUrn], displayName: 'Designers', members: [] }
  const groupId = (await expectReply(app.scim('POST', '/Groups', groupBody), 201)).body.id
  const members = (...Operations: object[]) =>
    app.scim('PATCH', `/Groups/${groupId}`, { schemas: [patchOp], Operations })
  await expectReply(members({ op: 'add', path: 'members', value: [{ value: id, display: first }] }), 204)
  expect(await teamsOf(id)).toEqual(['Designers', 'Everyone'])

  // Married: Okta reads the user, and puts it with another name and address.
  await expectReply(app.scim('GET', `/Users/${id}`), 200, { userName: first, groups: expect.any(Array) })
  const renamed = oktaUser(second, {
    id,
    name: { givenName: 'Maria', familyName: 'Costa' },
    displayName: 'Maria Costa',
    meta: { resourceType: 'User' },
  })
  await expectReply(app.scim('PUT', `/Users/${id}`, renamed), 200, {
    id,
    userName: second,
    displayName: 'Maria Costa',
    emails: [{ value: second, type: 'work', primary: true }],
  })
  await expectAccount(id, { email: second, lastName: 'Costa', status: 'active' })
  expect(await works(hired.accessToken)).toBe(true)
  expect((await signIn(first)).status).toBe(401)
  expect((await signIn(second)).status).toBe(200)
  await expectReply(find(first), 200, { totalResults: 0 })
  await expectReply(find(second), 200, { totalResults: 1, Resources: [{ id }] })

  // Renamed once more to an address that another user has, and unassigned in the same request.
  const holder = await app.auth.addUser(third)
  const unassigned = { ...renamed, ...oktaUser(third, { id }), active: false }
  await expectReply(app.scim('PUT', `/Users/${id}`, unassigned), 200, { userName: second, active: false })
  await expectAccount(id, { email: second, status: 'disabled' })
  expect(await works(hired.accessToken)).toBe(false)
  expect((await signIn(second)).status).toBe(401)
  expect((await signIn(third)).status).toBe(200)
  await expectAccount(holder.id, { email: third, status: 'active', provisioned: false })

  // Assigned again: an error until the address is free, which then is taken.
  await expectReply(app.scim('PUT', `/Users/${id}`, { ...unassigned, active: true }), 409, {
    scimType: 'uniqueness',
  })
  await expectAccount(id, { email: second, status: 'disabled' })
  expect((await app.call('DELETE', `/v2/entities/users/${holder.id}`)).json().code).toBe(200)
  await expectReply(app.scim('PUT', `/Users/${id}`, { ...unassigned, active: true }), 200, {
    id,
    userName: third,
    active: true,
  })
  await expectAccount(id, { email: third, status: 'active' })
  expect(await works(hired.accessToken)).toBe(false)
  expect((await signIn(third)).status).toBe(200)
  expect(await teamsOf(id)).toEqual(['Designers', 'Everyone'])

  // Out of the group and off by PATCH, as the agent does it.
  await expectReply(members({ op: 'remove', path: `members[value eq "${id}"]` }), 204)
  expect(await teamsOf(id)).toEqual(['Everyone'])
  const off = { schemas: [patchOp], Operations: [{ op: 'replace', value: { active: false } }] }
  await expectReply(app.scim('PATCH', `/Users/${id}`, off), 200, { active: false })
  await expectAccount(id, { status: 'disabled' })
  expect((await signIn(third)).status).toBe(401)
})

test('Entra ID: hired, renamed in one PATCH, disabled, deleted softly and for good, hired again', async () => {
  const externalId = '5f0b4e1b-9b54-6f2c-3b8f-9d107c1d2e4a'
  const [first, second] = [`Li.Wei@${domain}`, `Li.Chen@${domain}`]
  const [firstAddress, secondAddress] = [first.toLowerCase(), second.toLowerCase()]
  const find = (filter: string, resource = 'Users') => app.scim('GET', `/${resource}?${query({ filter })}`)
  const change = (id: string, ...Operations: object[]) =>
    app.scim('PATCH', `/Users/${id}`, { schemas: [patchOp], Operations })
  const entraUser = (userName: string) => ({
    schemas: [core, enterprise],
    externalId,
    userName,
    active: true,
    displayName: 'Li Wei',
    emails: [{ primary: true, type: 'work', value: userName }],
    meta: { resourceType: 'User' },
    name: { formatted: 'Li Wei', familyName: 'Wei', givenName: 'Li' },
    roles: [],
    [enterprise]: { department: 'Research', manager: 'b4f1c0de' },
  })

  await expectReply(find(`userName eq "${first}"`), 200, { totalResults: 0 })
  const { id } = (
    await expectReply(app.scim('POST', '/Users', entraUser(first)), 201, {
      userName: firstAddress,
      emails: [{ primary: true, type: 'work', value: first }],
      [enterprise]: { department: 'Research', manager: { value: 'b4f1c0de' } },
    })
  ).body
  await expectAccount(id, { email: firstAddress, status: 'active' })
  await app.auth.accounts.setPassword(firstAddress, goodPassword)
  const hired = await signIn(firstAddress)

  const created = { schemas: [groupUrn], externalId: 'f1d4a0d2', displayName: 'Research', members: [] }
  const groupId = (await expectReply(app.scim('POST', '/Groups', created), 201)).body.id
  const members = (operation: object) =>
    app.scim('PATCH', `/Groups/${groupId}`, { schemas: [patchOp], Operations: [operation] })
  const isMember = `id eq "${groupId}" and members[value eq "${id}"]`
  await expectReply(find(isMember, 'Groups'), 200, { totalResults: 0 })
  await expectReply(members({ op: 'Add', path: 'members', value: [{ $ref: null, value: id }] }), 204)
  await expectReply(find(isMember, 'Groups'), 200, { totalResults: 1, Resources: [{ id: groupId }] })
  expect(await teamsOf(id)).toEqual(['Everyone', 'Research'])

  // Renamed: three attributes in one PATCH with paths, others without one.
  await expectReply(
    change(
      id,
      { op: 'Replace', path: 'userName', value: second },
      { op: 'Replace', path: 'emails[type eq "work"].value', value: second },
      { op: 'Replace', path: 'displayName', value: 'Li Chen' },
      { op: 'Replace', value: { 'name.familyName': 'Chen', [`${enterprise}:department`]: 'Labs' } },
    ),
    200,
    {
      id,
      userName: secondAddress,
      displayName: 'Li Chen',
      name: { givenName: 'Li', familyName: 'Chen' },
      emails: [{ primary: true, type: 'work', value: second }],
      [enterprise]: { department: 'Labs', manager: { value: 'b4f1c0de' } },
    },
  )
  await expectAccount(id, { email: secondAddress, lastName: 'Chen', status: 'active' })
  expect(await works(hired.accessToken)).toBe(true)
  expect((await signIn(firstAddress)).status).toBe(401)
  expect((await signIn(secondAddress)).status).toBe(200)
  await expectReply(find(`emails[type eq "work"].value eq "${second}"`), 200, { Resources: [{ id }] })
  await expectReply(find(`externalId eq "${externalId}"`), 200, { Resources: [{ id }] })

  // Renamed to an address that nobody may give, beside being disabled.
  await expectReply(
    change(
      id,
      { op: 'Replace', path: 'userName', value: 'li@elsewhere.example' },
      { op: 'Replace', path: 'active', value: 'False' },
    ),
    200,
    { userName: secondAddress, active: false },
  )
  await expectAccount(id, { email: secondAddress, status: 'disabled' })
  expect(await works(hired.accessToken)).toBe(false)
  expect((await signIn(secondAddress)).status).toBe(401)
  await expectReply(find(`userName eq "${second}" and active eq false`), 200, { totalResults: 1 })

  await expectReply(change(id, { op: 'Replace', value: { active: 'True' } }), 200, { active: true })
  await expectAccount(id, { status: 'active' })
  expect((await signIn(secondAddress)).status).toBe(200)
  expect(await works(hired.accessToken)).toBe(false)

  await expectReply(members({ op: 'Remove', path: 'members', value: [{ $ref: null, value: id }] }), 204)
  await expectReply(find(isMember, 'Groups'), 200, { totalResults: 0 })
  expect(await teamsOf(id)).toEqual(['Everyone'])

  // Deleted softly at Entra ID, and for good 30 days later.
  const last = await signIn(secondAddress)
  await expectReply(change(id, { op: 'Replace', path: 'active', value: 'False' }), 200, { active: false })
  await expectReply(app.scim('DELETE', `/Users/${id}`), 204)
  await expectReply(app.scim('GET', `/Users/${id}`), 404)
  await expectReply(find(`userName eq "${second}"`), 200, { totalResults: 0 })
  await expectAccount(id, { email: secondAddress, status: 'disabled', provisioned: false })
  expect(await works(last.accessToken)).toBe(false)
  expect((await signIn(secondAddress)).status).toBe(401)

  // The same user again, under the name it had last.
  const back = await expectReply(app.scim('POST', '/Users', entraUser(second)), 201, {
    id,
    userName: secondAddress,
    displayName: 'Li Wei',
    active: true,
  })
  await expectAccount(back.body.id, { email: secondAddress, status: 'active', provisioned: true })
  expect(await works(last.accessToken)).toBe(false)
})
