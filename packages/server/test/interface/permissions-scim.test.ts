import { allOperations } from '@millrace/contract/operations/all.ts'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { permissionRows } from '../support/permission-rows.ts'
import { openPermissionWorld, type PermissionWorld } from '../support/permission-world.ts'
import { aGroup, aUser, patch } from '../support/provisioning.ts'
import { removeData, type Service, startService } from '../support/running-service.ts'

/** Every request of the SCIM service against every kind of sender. */

const scimPath = '/v2/scim/v2'
const tokensPath = '/v2/entities/scim/tokens'

let service: Service
let world: PermissionWorld
/** Tokens of the identity providers of the first company and of the second. */
let own: string
let foreign: string
/** Of the first company. */
let revoked: string

const newToken = (accessToken: string) =>
  world.make<{ id: string; token: string }>('POST', tokensPath, { label: 'Directory' }, accessToken)

const turn = (accessToken: string, enabled: boolean) =>
  world.make('PATCH', '/v2/entities/scim/config', { enabled, groupSync: true }, accessToken)

beforeAll(async () => {
  service = await startService()
  world = await openPermissionWorld(service)
  await turn(world.admin.token, true)
  await turn(world.stranger.token, true)
  own = (await newToken(world.admin.token)).token
  foreign = (await newToken(world.stranger.token)).token
  const other = await newToken(world.admin.token)
  await world.make('DELETE', `${tokensPath}/${other.id}`)
  revoked = other.token
})

afterAll(async () => {
  await world.close()
  expect(await service.stop()).toBe(0)
  removeData(service)
})

const userName = () => `${crypto.randomUUID()}@example.com`

async function create(path: string, body: object): Promise<string> {
  const reply = await world.call(own, 'POST', { path: `${scimPath}${path}`, body })
  expect(reply.status).toBe(201)
  return ((await reply.json()) as { id: string }).id
}

/** Users by id: their names, which never change. */
const userNames = new Map<string, string>()

async function aUserId(): Promise<string> {
  const name = userName()
  const id = await create('/Users', aUser(name))
  userNames.set(id, name)
  return id
}

const aGroupId = async () => create('/Groups', aGroup(crypto.randomUUID(), [await aUserId()]))

const sameUser = (id: string) => aUser(userNames.get(id) ?? userName(), { title: 'Engineer' })

interface ScimCase {
  readonly method: string
  readonly path: string
  /** Makes what `:id` stands for, in the first company. */
  readonly id?: () => Promise<string>
  readonly body?: (id: string) => object
  /** Status for the identity provider of the company. */
  readonly status: number
}

const deactivation = () => patch({ op: 'replace', path: 'active', value: false })
const renaming = () => patch({ op: 'replace', path: 'displayName', value: crypto.randomUUID() })

const requests: readonly ScimCase[] = [
  { method: 'GET', path: '/Users', status: 200 },
  { method: 'POST', path: '/Users', body: () => aUser(userName()), status: 201 },
  { method: 'GET', path: '/Users/:id', id: aUserId, status: 200 },
  { method: 'PUT', path: '/Users/:id', id: aUserId, body: sameUser, status: 200 },
  { method: 'PATCH', path: '/Users/:id', id: aUserId, body: deactivation, status: 200 },
  { method: 'DELETE', path: '/Users/:id', id: aUserId, status: 204 },
  { method: 'GET', path: '/Groups', status: 200 },
  { method: 'POST', path: '/Groups', body: () => aGroup(crypto.randomUUID()), status: 201 },
  { method: 'GET', path: '/Groups/:id', id: aGroupId, status: 200 },
  { method: 'PUT', path: '/Groups/:id', id: aGroupId, body: () => aGroup(crypto.randomUUID()), status: 200 },
  { method: 'PATCH', path: '/Groups/:id', id: aGroupId, body: renaming, status: 204 },
  { method: 'DELETE', path: '/Groups/:id', id: aGroupId, status: 204 },
  { method: 'GET', path: '/ServiceProviderConfig', status: 200 },
  { method: 'GET', path: '/ResourceTypes', status: 200 },
  { method: 'GET', path: '/ResourceTypes/User', status: 200 },
  { method: 'GET', path: '/Schemas', status: 200 },
  { method: 'GET', path: '/Schemas/urn:ietf:params:scim:schemas:core:2.0:User', status: 200 },
  { method: 'GET', path: '/Nothing', status: 404 },
]

describe.each(requests)('$method $path', ({ method, path, id, body, status }) => {
  const send = (token: string | undefined, objectId: string) =>
    world.call(token, method, { path: `${scimPath}${path.replace(':id', objectId)}`, body: body?.(objectId) })

  test('answers the identity provider of the company', async () => {
    expect((await send(own, (await id?.()) ?? '')).status).toBe(status)
  })

  test('refuses every sender without a token of a company in the same words', async () => {
    const objectId = (await id?.()) ?? ''
    const unknown = `scim_${'A'.repeat(43)}`
    const senders = [undefined, 'x', unknown, revoked, world.admin.token, world.revokedToken, own.slice(5)]
    const replies = await Promise.all(senders.map((token) => send(token, objectId)))
    expect(replies.map((reply) => reply.status)).toEqual(senders.map(() => 401))
    expect(new Set(await Promise.all(replies.map((reply) => reply.text()))).size).toBe(1)
  })

  test('refuses the token of a company that has turned provisioning off', async () => {
    const objectId = (await id?.()) ?? ''
    await turn(world.admin.token, false)
    try {
      expect((await send(own, objectId)).status).toBe(401)
    } finally {
      await turn(world.admin.token, true)
    }
  })

  if (id) {
    test('says of what another company has what it says of nothing', async () => {
      const objectId = await id()
      const none = 'f'.repeat(24)
      const reply = await send(foreign, objectId)
      expect(reply.status).toBe(404)
      expect((await reply.text()).replaceAll(objectId, none)).toBe(await (await send(foreign, none)).text())
      expect((await send(own, objectId)).status).toBe(status)
    })
  } else {
    test('gives another company nothing of the first', async () => {
      const [userId, groupId] = [await aUserId(), await aGroupId()]
      const reply = await send(foreign, '')
      expect(reply.status).toBe(status)
      const text = await reply.text()
      for (const each of [userId, groupId, service.companyId]) expect(text).not.toContain(each)
    })
  }
})

test('a user of another company becomes no member of a group', async () => {
  const theirs = await aUserId()
  const body = aGroup(crypto.randomUUID(), [theirs])
  const reply = await world.call(foreign, 'POST', { path: `${scimPath}/Groups`, body })
  expect(reply.status).toBe(400)
  const { groups } = (await (
    await world.call(own, 'GET', { path: `${scimPath}/Users/${theirs}` })
  ).json()) as {
    groups: { display: string }[]
  }
  expect(groups.map(({ display }) => display)).not.toContain(body.displayName)
})

test('a token of an identity provider opens no operation of the interface', async () => {
  const opened = []
  for (const { id, method, url } of allOperations) {
    if (!(id in permissionRows)) continue
    const { status } = await world.call(own, method, { path: url.replaceAll(/:\w+/g, 'f'.repeat(24)) })
    if (status !== 401) opened.push(`${id} ${status}`)
  }
  expect(opened).toEqual([])
})
