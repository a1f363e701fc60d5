import { afterAll, beforeAll, expect, test } from 'vitest'
import { aGroup, aUser, openProvisioning, type ProvisioningApp, patch } from '../support/provisioning.ts'
import { entraRequests, oktaRequests, type SampleRequest } from '../support/scim-samples.ts'

/** What identity providers do, from the first look to the last, in the requests that they send. */

let app: ProvisioningApp

beforeAll(async () => {
  app = await openProvisioning()
})

afterAll(() => app.close())

function filledIn<T>(value: T, kept: ReadonlyMap<string, string>): T {
  const text = JSON.stringify(value)?.replaceAll(
    /\{(user|group)\}/g,
    (whole, name) => kept.get(name) ?? whole,
  )
  return text === undefined ? value : JSON.parse(text)
}

async function play(requests: readonly SampleRequest[]): Promise<ReadonlyMap<string, string>> {
  const kept = new Map<string, string>()
  for (const { name, method, path, body, keep, status, expect: wanted = {} } of requests) {
    const reply = await app.scim(method, filledIn(path, kept), filledIn(body, kept))
    expect(reply.status, `${name}: ${JSON.stringify(reply.body)}`).toBe(status)
    if (keep) kept.set(keep, reply.body.id)
    expect(reply.body, name).toMatchObject(filledIn(wanted, kept))
  }
  return kept
}

test('Okta: the SPEC tests and the life of one person and one pushed group', async () => {
  const kept = await play(oktaRequests)
  expect(await app.teamsOf(kept.get('user') ?? '')).toEqual(['Everyone'])
})

test('Entra ID: one cycle over one person and one group, to the deletion and back', async () => {
  const kept = await play(entraRequests)
  expect(await app.roleOf(kept.get('user') ?? '')).toBe('viewer')
})

test('a company links its people, gives roles by groups, and lets a user go who is signed in', async () => {
  const email = 'ada@acme.example'
  const ada = await app.auth.addUser(email)
  const found = await app.scim('GET', `/Users?filter=${encodeURIComponent(`userName eq "${email}"`)}`)
  expect(found.body.Resources[0]?.id).toBe(ada.id)
  const linked = patch({ op: 'Add', path: 'externalId', value: 'entra-ada' })
  expect((await app.scim('PATCH', `/Users/${ada.id}`, linked)).body.externalId).toBe('entra-ada')

  const rules = {
    roleSource: 'groups',
    roleMapping: [{ group: 'editors', roleId: await app.roleId('editor') }],
  }
  expect((await app.call('PATCH', '/v2/entities/scim/config', rules)).statusCode).toBe(200)
  const team = (await app.scim('POST', '/Groups', aGroup('Editors', [ada.id]))).body.id
  const { access_token } = (await app.auth.signIn(email)).json()
  const me = await app.auth.cache.find(access_token)
  expect(me?.roleId).toBe(await app.roleId('editor'))
  expect(me?.teamIds).toContain(team)

  // Out of the group: the token that is in use gives less within a second.
  await app.scim(
    'PATCH',
    `/Groups/${team}`,
    patch({ op: 'Remove', path: 'members', value: [{ value: ada.id }] }),
  )
  app.auth.time.advance(1_000)
  const less = await app.auth.cache.find(access_token)
  expect(less?.roleId).toBe(await app.roleId('viewer'))
  expect(less?.teamIds).not.toContain(team)

  // Gone: the token gives nothing within a second, and neither it nor the password comes back with the user.
  expect((await app.scim('DELETE', `/Users/${ada.id}`)).status).toBe(204)
  app.auth.time.advance(1_000)
  expect((await app.auth.get(access_token)).statusCode).toBe(401)
  const back = await app.scim('POST', '/Users', aUser(email, { externalId: 'entra-ada' }))
  expect(back).toMatchObject({ status: 201, body: { id: ada.id, externalId: 'entra-ada' } })
  expect((await app.auth.get(access_token)).statusCode).toBe(401)
  expect((await app.auth.signIn(email)).statusCode).toBe(401)

  // The address is given to another person, who is another user.
  await app.scim('DELETE', `/Users/${ada.id}`)
  const other = await app.scim('POST', '/Users', aUser(email, { externalId: 'entra-bob' }))
  expect(other).toMatchObject({ status: 201, body: { externalId: 'entra-bob' } })
  expect(other.body.id).not.toBe(ada.id)
})
