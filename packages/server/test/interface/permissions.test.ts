import { join } from 'node:path'
import { errorTable } from '@millrace/contract/errors.ts'
import { exportTypesOf, onlyTypeOf } from '@millrace/contract/export-types.ts'
import type { Operation } from '@millrace/contract/operation.ts'
import { allOperations } from '@millrace/contract/operations/all.ts'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { recordAudit } from '../../src/features/audit/audit-store.ts'
import { createOperatorAccountService } from '../../src/features/identity/people/installation/operator-account-service.ts'
import { embeddedAddresses } from '../../src/platform/stores/embedded-postgres.ts'
import { asOwner } from '../support/accounts.ts'
import { cheapPasswords } from '../support/auth.ts'
import { oneOfEach } from '../support/long.ts'
import { permissionRows } from '../support/permission-rows.ts'
import {
  type Call,
  openPermissionWorld,
  type PermissionWorld,
  type Person,
} from '../support/permission-world.ts'
import { removeData, type Service, startService } from '../support/running-service.ts'
import { until } from '../support/until.ts'

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

/** By hand, so that nothing is opened by accident. */
const publicOperations = [
  'collectEvents',
  'importSegmentBatch',
  'runWorkflow',
  'sendSegmentAlias',
  'sendSegmentBatch',
  'sendSegmentGroup',
  'sendSegmentIdentify',
  'sendSegmentPage',
  'sendSegmentScreen',
  'sendSegmentTrack',
]
const openOperations: readonly (readonly [id: string, call: (service: Service) => Call])[] = [
  ['checkEmail', () => ({ path: '/v2/oauth/check-email', body: { email: 'ada@example.com' } })],
  ['confirmSingleSignOn', ({ companyId }) => ({ path: `/v2/sso/saml/${companyId}/confirm` })],
  ['consumeSamlResponse', ({ companyId }) => ({ path: `/v2/sso/saml/${companyId}/acs` })],
  ['createToken', () => ({ path: '/v2/auth/token', body: {} })],
  ['finishSingleSignOn', ({ companyId }) => ({ path: `/v2/sso/saml/${companyId}/finish` })],
  ['readServiceProviderMetadata', ({ companyId }) => ({ path: `/v2/sso/saml/${companyId}/metadata` })],
  [
    'revokeToken',
    ({ clientId }) => ({ path: '/v2/oauth/revoke', body: { client_id: clientId, token: 'x' } }),
  ],
  ['startSingleSignOn', () => ({ path: '/v2/sso/saml/login?domain=nobody.example' })],
]

test('no operation is open but these', () => {
  const idsOf = (wanted: string) => allOperations.filter(({ scope }) => scope === wanted).map(({ id }) => id)
  expect(idsOf('open').toSorted()).toEqual(openOperations.map(([id]) => id))
  expect(idsOf('collector').toSorted()).toEqual(publicOperations)
  expect(protectedOperations).toHaveLength(
    allOperations.length - openOperations.length - publicOperations.length,
  )
})

test.each(openOperations)('%s is open: a token changes nothing', async (id, callOf) => {
  const call = callOf(service)
  const method = allOperations.find((operation) => operation.id === id)?.method ?? ''
  const replies = await Promise.all(
    [undefined, 'x', world.revokedToken, world.admin.token].map((token) => world.call(token, method, call)),
  )
  const statuses = new Set(replies.map(({ status }) => status))
  expect(statuses.size).toBe(1)
  expect([401, 405, 500]).not.toContain([...statuses][0])
})

test('who may call is a permission, or a sentence', () => {
  const unsaid = protectedOperations.filter(({ permission, access }) => !permission && !access)
  expect(unsaid.map(({ id }) => id)).toEqual([])
})

const cases = protectedOperations.flatMap((operation) => {
  const row = permissionRows[operation.id]
  return row ? [[operation.id, operation, row] as const] : []
})

/** Of operations with one permission the short form tries the first one with few and with no rights to an object. */
const triedClosely = new Set(
  oneOfEach(cases, ([, { permission }]: readonly [string, Operation, unknown]) =>
    JSON.stringify(permission),
  ).map(([id]) => id),
)

/** What a request says of the form of its answer: `Accept`, and what the address gets. */
type Asked = readonly [accept: string | undefined, search: string]

/** Requests that get each of these from an operation that offers it beside JSON. */
const requestsFor: Readonly<Record<'text/csv' | 'application/x-ndjson', readonly Asked[]>> = {
  'text/csv': [
    [undefined, 'format=csv'],
    ['application/json', 'format=csv'],
    ['text/html, */*;q=0.8', 'format=csv'],
    ['text/csv', ''],
    ['TEXT/CSV; header=present', ''],
    ['text/*;q=0.2', ''],
    ['text/csv;q=0.9, application/json;q=0.8', ''],
    ['application/json;q=0, */*', ''],
    ['application/json;q=0.4, text/csv;q=0.5', ''],
  ],
  'application/x-ndjson': [
    ['application/x-ndjson', ''],
    ['application/json;q=0.9, application/x-ndjson', ''],
    ['text/csv;q=0.5, application/x-ndjson;q=0.6, application/json;q=0.1', ''],
    ['application/*;q=0.5, application/json;q=0.1', ''],
    ['application/x-ndjson', 'format=csv'],
  ],
}

/** Requests that get JSON in the envelope. */
const requestsForJson: readonly Asked[] = [
  [undefined, ''],
  ['*/*', ''],
  ['application/json, text/csv, application/x-ndjson', ''],
  ['text/csv;q=0.1, application/*', ''],
]

const asking = ({ path, body }: Call, [accept, search]: Asked): Call => ({
  path: search === '' ? path : `${path}${path.includes('?') ? '&' : '?'}${search}`,
  ...(body !== undefined && { body }),
  ...(accept !== undefined && { accept }),
})

/** The same call for objects that nobody has. */
const absent = (call: Call): Call => ({ ...call, path: call.path.replace(/[0-9a-f]{24}/g, 'f'.repeat(24)) })

/** How often the audit log says that a user was refused for a reason. */
async function refusalsOf({ userId, companyId }: Person, error: string | undefined): Promise<number> {
  const { rows } = await world.relational.pool.query<{ id: string }>(
    'select id from audit_entries where company_id = $1 and actor_id = $2 and error = $3',
    [companyId, userId, error],
  )
  return rows.length
}

describe.each(cases)('%s', (id, operation: Operation, row) => {
  const { method, permission, access, url, audit } = operation
  const exported = exportTypesOf(operation)
  const ask = (token: string | undefined, call: Call) => world.call(token, method, call)

  /** The person, or another user just like them whom the call may change. */
  const callerLike = async (person: Person) => (row.ofCaller ? world.twin(person) : person)

  async function statusFor(person: Person): Promise<number> {
    const caller = await callerLike(person)
    return (await ask(caller.token, await row.call(world, caller))).status
  }

  test('answers an administrator', async () => {
    expect(await statusFor(world.admin)).toBe(row.entitled ?? 200)
  })

  test('refuses a caller without a valid token', async () => {
    const call = await row.call(world, await callerLike(world.admin))
    for (const token of [undefined, 'A'.repeat(43), 'x', world.revokedToken, world.stranger.token.slice(1)])
      expect((await ask(token, call)).status).toBe(401)
  })

  test('asks for the permission of its row', () => {
    expect(permission && `${permission.resource} ${permission.action}`).toBe(row.needs)
  })

  test('has cases where words say who may call it', () => {
    expect(row.access !== undefined).toBe(access !== undefined && permission === undefined)
    if (permission) expect(row.further !== undefined || exported.length > 0).toBe(access !== undefined)
  })

  if (permission) {
    test('refuses a user who holds every permission but the one it needs', async () => {
      const caller = await world.person({ without: permission })
      const reply = await ask(caller.token, await row.call(world, caller))
      expect(reply.status).toBe(403)
      expect(await reply.json()).toMatchObject({ status: 'fail', error_code: 4, data: permission })
    })
  }

  if (permission && triedClosely.has(id)) {
    test('needs no other permission, unless it is about people above the caller', async () => {
      const status = await statusFor(await world.person({ only: [permission] }))
      expect(status).toBe(row.alone ?? row.entitled ?? 200)
    })

    test('says nothing of an object to a user who lacks the permission', async () => {
      const caller = await world.person({ without: permission })
      expect((await ask(caller.token, absent(await row.call(world, caller)))).status).toBe(403)
    })
  }

  test.each(row.access ?? [])('answers %j with %i', async (rights, status) => {
    expect(await statusFor(await world.person(rights))).toBe(status)
  })

  test.each(row.further ?? [])('$says', async ({ rights, call, refusal }) => {
    const caller = await world.person(rights)
    const made = await call(world, caller)
    const before = await refusalsOf(caller, refusal)
    const reply = await ask(caller.token, made)
    if (!refusal) return expect(reply.status).toBe(200)
    const { status, errorCode } = errorTable[refusal]
    expect(reply.status).toBe(status)
    expect(await reply.json()).toMatchObject({ error_code: errorCode })
    if (!audit) return
    expect(await refusalsOf(caller, refusal)).toBe(before + 1)
  })

  if (exported.length > 0) {
    const isJsonOffered = onlyTypeOf(operation) === undefined
    const forms = isJsonOffered ? exported.flatMap((type) => requestsFor[type]) : requestsForJson
    const right = { resource: 'statistics', action: 'export' } as const

    test('gives CSV and NDJSON to nobody without Statistics: export, however they are asked for', async () => {
      const caller = await world.person({ without: right })
      const call = await row.call(world, caller)
      for (const asked of forms) {
        const reply = await ask(caller.token, asking(call, asked))
        expect([asked, reply.status, await reply.json()]).toMatchObject([asked, 403, { data: right }])
      }
    })

    test('gives the type that is asked for with it', async () => {
      const call = await row.call(world, world.admin)
      for (const type of exported) {
        for (const asked of isJsonOffered ? requestsFor[type] : forms) {
          const reply = await ask(world.admin.token, asking(call, asked))
          const [given] = (reply.headers.get('content-type') ?? '').split(';')
          await reply.text()
          const types = asked[1] === '' || asked[0] === type ? [type] : [type, 'application/json']
          expect([asked, reply.status, types]).toEqual([asked, 200, expect.arrayContaining([given])])
        }
      }
    })

    if (isJsonOffered) {
      test('gives JSON without it', async () => {
        const caller = await world.person({ without: right })
        const call = await row.call(world, caller)
        for (const asked of requestsForJson) {
          const reply = await ask(caller.token, asking(call, asked))
          expect([asked, reply.status]).toEqual([asked, 200])
          expect(reply.headers.get('content-type')).toMatch(/^application\/json/)
          expect(await reply.json()).toHaveProperty('status', 'success')
        }
      })
    }
  }

  test('gives nothing to another company', async () => {
    const stranger = await callerLike(world.stranger)
    const call = await row.call(world, stranger)
    const reply = await ask(stranger.token, call)
    expect(reply.status).toBe(row.stranger)
    if (url.includes(':') && !row.makesNamed) expect(row.stranger).toBe(404)
    const text = await reply.text()
    expect(text).not.toContain(service.companyId)
    // A request for what does not exist is answered in the same words.
    if (row.stranger === 404) {
      const reply = await ask(stranger.token, absent(call))
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
      const reply = await ask(world.otherTeam.token, await row.call(world, world.otherTeam))
      expect(reply.status).toBe(otherTeam)
      if (reply.ok) expect(await reply.text()).not.toContain(service.datasourceId)
    })
  }
})

// The last one: the first company has something of everything now.
test('a company that was closed 7 days ago is removed with everything it has', async () => {
  const { relational } = world
  const { companyId } = service
  const tables = await relational.pool.query<{ name: string }>(
    `select table_name as name from information_schema.columns
     where table_schema = 'public' and column_name = 'company_id' and table_name <> 'event_purges'`,
  )
  const counts = async () => {
    const found: Record<string, number> = {}
    for (const { name } of tables.rows) {
      const { rows } = await relational.pool.query(
        `select count(*)::integer as n from ${name} where company_id = $1`,
        [companyId],
      )
      if (rows[0].n > 0) found[name] = rows[0].n
    }
    return found
  }
  expect(Object.keys(await counts()).length).toBeGreaterThan(30)

  const accounts = createOperatorAccountService({ relational, passwords: cheapPasswords(), recordAudit })
  const { name = '' } = (await accounts.listCompanies()).find(({ id }) => id === companyId) ?? {}
  await accounts.closeCompany(companyId, name)
  await until(
    async () => (await world.call(world.admin.token, 'GET', { path: '/v2/entities/company' })).status === 401,
  )
  await asOwner(
    embeddedAddresses(join(service.dataDirectory, 'run')).owner,
    `alter table companies disable trigger companies_closed;
     update companies set closed_at = now() - interval '8 days' where id = '${companyId}';
     alter table companies enable trigger companies_closed`,
  )
  await until(async () => {
    await relational.pool.query(
      `update periodic_work set due_at = now() where name = 'removals of closed companies' and due_at > now() + interval '1 second'`,
    )
    await relational.pool.query(`select pg_notify('millrace_work', '')`)
    return !(await accounts.listCompanies()).some(({ id }) => id === companyId)
  })
  expect(await counts()).toEqual({})
  expect((await world.call(world.stranger.token, 'GET', { path: '/v2/entities/company' })).status).toBe(200)
}, 180_000)
