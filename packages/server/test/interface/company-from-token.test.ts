import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { newId } from '../../src/platform/ids.ts'
import { requireByRows } from '../support/mandatory-domain.ts'
import { openPermissionWorld, type PermissionWorld } from '../support/permission-world.ts'
import { removeData, type Service, startService } from '../support/running-service.ts'

/**
 * docs/faults.md, Objects by operation, 14 to 18: the company is that of the token. The administrator of one
 * company, who may do everything there, names the other one in every way that a request has.
 */

let service: Service
let world: PermissionWorld
/** Of each company, in this order: the caller's and the other one. */
let companies: readonly [string, string]
let links: readonly [string, string]
let emails: readonly [string, string]

beforeAll(async () => {
  service = await startService()
  world = await openPermissionWorld(service)
  companies = [world.admin.companyId, world.stranger.companyId]
  const emailOf = async (userId: string): Promise<string> => {
    const { rows } = await world.relational.pool.query('select email from users where id = $1', [userId])
    return rows[0].email
  }
  emails = [service.admin.email, await emailOf(world.stranger.userId)]
})

beforeEach(async () => {
  const { pool } = world.relational
  for (const table of ['sso_domains', 'sso_configs', 'scim_configs', 'linked_accounts', 'user_links'])
    await pool.query(`delete from ${table}`)
  const made = [newId(), newId()] as const
  for (const [i, person] of [world.admin, world.stranger].entries()) {
    await requireByRows(world.relational, person.companyId, `company${i}.example`)
    await pool.query('insert into scim_configs (company_id, group_sync) values ($1, true)', [
      person.companyId,
    ])
    await pool.query(
      `insert into linked_accounts (id, company_id, user_id, provider, name, host, sealed_target)
       values ($1, $2, $3, 'webhook', 'n', 'h', '')`,
      [made[i], person.companyId, person.userId],
    )
  }
  links = made
})

afterAll(async () => {
  await world?.close()
  expect(await service?.stop()).toBe(0)
  if (service) removeData(service)
})

/** Everything of a company that operations 14 to 18 could touch. */
async function stateOf(companyId: string): Promise<unknown> {
  const { rows } = await world.relational.pool.query(
    `select t::text from sso_configs t where company_id = $1 union all
     select t::text from sso_domains t where company_id = $1 union all
     select t::text from scim_configs t where company_id = $1 union all
     select t::text from linked_accounts t where company_id = $1 union all
     select t::text from audit_entries t where company_id = $1 union all
     select l::text from user_links l join users u on u.id = l.user_id where u.company_id = $1 order by 1`,
    [companyId],
  )
  return rows
}

interface Row {
  readonly method: string
  readonly path: () => string
  readonly body?: () => Record<string, unknown>
  /** The same for the object of the other company, where the call names one. */
  readonly foreign?: { readonly path?: () => string; readonly body?: () => Record<string, unknown> }
}

const rows: Readonly<Record<string, Row>> = {
  '14, delete a linked account': {
    method: 'DELETE',
    path: () => `/linked-accounts/${links[0]}`,
    foreign: { path: () => `/linked-accounts/${links[1]}` },
  },
  '15, reset a password': {
    method: 'POST',
    path: () => '/entities/users/password-reset',
    body: () => ({ email: emails[0] }),
    foreign: { body: () => ({ email: emails[1] }) },
  },
  '16, delete single sign-on': { method: 'DELETE', path: () => '/entities/sso/config' },
  '17, read provisioning': { method: 'GET', path: () => '/entities/scim/config' },
  '18, change provisioning': {
    method: 'PATCH',
    path: () => '/entities/scim/config',
    body: () => ({ groupSync: false }),
  },
}

/** Ways to name a company beside the token, each with what it adds to a call. */
const disguises = (companyId: string): readonly Record<string, string>[] => [
  { 'x-company-id': companyId },
  { 'company-id': companyId },
  { companyid: companyId },
  { 'x-company': companyId },
  { 'x-tenant-id': companyId },
  { cookie: `companyId=${companyId}; company_id=${companyId}` },
]

const queries = ['companyId', 'company_id', 'company', 'CompanyId', 'companyId[]', 'tenantId']

describe.each(Object.entries(rows))('operation %s', (_name, { method, path, body, foreign }) => {
  async function ask(
    whole: { path?: () => string; body?: () => Record<string, unknown> } = {},
    headers: Record<string, string> = {},
    search = '',
  ): Promise<number> {
    const content = (whole.body ?? body)?.()
    const reply = await fetch(`${service.baseUrl}${(whole.path ?? path)()}${search}`, {
      method,
      headers: {
        authorization: `Bearer ${world.admin.token}`,
        ...(content === undefined ? {} : { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(content === undefined ? {} : { body: JSON.stringify(content) }),
    })
    await reply.arrayBuffer()
    return reply.status
  }

  /** Nothing of the other company is touched by the work. */
  async function leavingAlone(work: () => Promise<void>): Promise<void> {
    const before = await stateOf(companies[1])
    await work()
    expect(await stateOf(companies[1])).toEqual(before)
  }

  test.each(queries)('refuses ?%s=', async (name) => {
    await leavingAlone(async () => {
      const search = `?${encodeURIComponent(name)}=${companies[1]}`
      if (foreign) expect(await ask(foreign, {}, search)).toBe(400)
      expect(await ask({}, {}, search)).toBe(400)
    })
  })

  if (foreign) {
    test('takes no notice of headers and cookies: the object of the other company is none', async () => {
      await leavingAlone(async () => {
        for (const headers of disguises(companies[1])) expect(await ask(foreign, headers)).toBe(404)
      })
    })
  }

  test('takes no notice of headers and cookies: what is done is done to the company of the token', async () => {
    await leavingAlone(async () => {
      const headers = Object.assign({}, ...disguises(companies[1]))
      expect(await ask({}, headers)).toBe(200)
    })
  })
})

test('operations 15 and 18 take no company from the body', async () => {
  const before = await stateOf(companies[1])
  const asked = await service.call('POST', '/v2/entities/users/password-reset', {
    email: emails[1],
    companyId: companies[1],
  })
  expect([400, 404]).toContain(asked.status)
  const changed = await service.call('PATCH', '/v2/entities/scim/config', {
    groupSync: false,
    companyId: companies[1],
  })
  expect([200, 400]).toContain(changed.status)
  expect(await stateOf(companies[1])).toEqual(before)
})
