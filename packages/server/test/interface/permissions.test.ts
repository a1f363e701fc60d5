import { allOperations } from '@millrace/contract/operations/all.ts'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { permissionRows } from '../support/permission-rows.ts'
import { type Call, openPermissionWorld, type PermissionWorld } from '../support/permission-world.ts'
import { removeData, type Service, startService } from '../support/running-service.ts'

/** Every routed operation against every kind of caller; the rows are in support/permission-rows.ts. */

let service: Service
let world: PermissionWorld

beforeAll(async () => {
  service = await startService()
  world = await openPermissionWorld(service)
})

afterAll(async () => {
  await world.close()
  expect(await service.stop()).toBe(0)
  removeData(service)
})

const protectedOperations = allOperations.filter(({ scope }) => scope === 'authenticated')

test('every routed operation has a row, and every row is routed', async () => {
  const document = (await (await fetch(`${service.baseUrl}/openapi.json`)).json()) as {
    paths: Record<string, Record<string, { operationId?: string }>>
  }
  const routed = Object.values(document.paths)
    .flatMap((methods) => Object.values(methods).map(({ operationId }) => operationId ?? ''))
    .filter((id) => protectedOperations.some((operation) => operation.id === id))
  expect(Object.keys(permissionRows).toSorted()).toEqual(routed.toSorted())
})

const cases = protectedOperations.flatMap((operation) => {
  const row = permissionRows[operation.id]
  return row ? [[operation.id, operation, row] as const] : []
})

/** The same call for objects that nobody has. */
const absent = (call: Call): Call => ({ ...call, path: call.path.replace(/[0-9a-f]{24}/g, 'f'.repeat(24)) })

describe.each(cases)('%s', (_id, { method, permission, access, url }, row) => {
  const ask = (token: string | undefined, call: Call) => world.call(token, method, call)

  async function statusFor(token: string | undefined): Promise<number> {
    return (await ask(token, await row.call(world))).status
  }

  test('answers an administrator', async () => {
    expect(await statusFor(world.admin.token)).toBe(row.entitled ?? 200)
  })

  test('refuses a caller without a valid token', async () => {
    for (const token of [undefined, 'A'.repeat(43), 'x', world.revokedToken, world.stranger.token.slice(1)])
      expect(await statusFor(token)).toBe(401)
  })

  test('has cases where words say who may call it', () => {
    expect(row.access !== undefined).toBe(access !== undefined && permission === undefined)
  })

  if (permission) {
    test('refuses whoever holds every permission but the one it needs', async () => {
      const { token } = await world.person({ without: permission })
      const reply = await ask(token, await row.call(world))
      expect(reply.status).toBe(403)
      expect(await reply.json()).toMatchObject({ status: 'fail', error_code: 4, data: permission })
    })

    test('needs no other permission', async () => {
      const { token } = await world.person({ only: [permission] })
      expect(await statusFor(token)).toBe(row.entitled ?? 200)
    })

    test('says nothing of an object to whoever lacks the permission', async () => {
      const { token } = await world.person({ without: permission })
      expect((await ask(token, absent(await row.call(world)))).status).toBe(403)
    })
  }

  test.each(row.access ?? [])('answers %j with %i', async (rights, status) => {
    const { token } = await world.person(rights)
    expect(await statusFor(token)).toBe(status)
  })

  test('gives nothing to another company', async () => {
    const call = await row.call(world)
    const reply = await ask(world.stranger.token, call)
    expect(reply.status).toBe(row.stranger)
    if (url.includes(':')) expect(row.stranger).toBe(404)
    const text = await reply.text()
    expect(text).not.toContain(service.companyId)
    // Whoever asks for what does not exist is answered in the same words.
    if (row.stranger === 404) {
      const reply = await ask(world.stranger.token, absent(call))
      const none = (await reply.json()) as Record<string, unknown>
      const { message, error_code, code } = JSON.parse(text)
      expect({ message, error_code, code }).toEqual({
        message: none.message,
        error_code: none.error_code,
        code: none.code,
      })
    }
  })

  const { otherTeam } = row
  if (otherTeam !== undefined) {
    test('gives nothing of its team to another one', async () => {
      const reply = await ask(world.otherTeam.token, await row.call(world))
      expect(reply.status).toBe(otherTeam)
      if (reply.ok) expect(await reply.text()).not.toContain(service.datasourceId)
    })
  }
})
