import { sql } from 'drizzle-orm'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { recordAudit } from '../../src/features/audit/audit-store.ts'
import { insertCompany } from '../../src/features/identity/people/installation/operator-account-service.ts'
import { createUserLifecycle } from '../../src/features/identity/people/users/user-lifecycle.ts'
import { violatedConstraint } from '../../src/platform/stores/relational.ts'
import {
  type AccountsApp,
  createAccountsApp,
  linkIdentity,
  offerSingleSignOn,
  type Person,
} from '../support/accounts.ts'
import { createTestDatabase, type TestDatabase } from '../support/postgres.ts'

/** A company keeps an administrator, whatever is done to people and roles. */

let relational: TestDatabase
let app: AccountsApp
/** Of a company of the test's own. */
let companyId: string
let admin: Person
let viewerRole: string

beforeAll(async () => {
  relational = await createTestDatabase()
  app = await createAccountsApp(relational)
})

beforeEach(async () => {
  ;({ companyId } = await relational.transaction((tx) => insertCompany(tx, 'Keepers')))
  admin = await app.person('admin', companyId)
  viewerRole = await app.roleIdOf('viewer', companyId)
  await app.audit()
})

afterAll(async () => {
  await app.app.close()
  await relational.close()
})

const kept = { status: 409, error_code: 2023 }

const roleOf = async (id: string): Promise<string> =>
  (await relational.pool.query('select role_id from users where id = $1', [id])).rows[0].role_id

const administrators = async (): Promise<number> => {
  const { rowCount } = await relational.pool.query(
    `select 1 from users where company_id = $1 and status = 'active' and is_administrator_role(role_id)`,
    [companyId],
  )
  return rowCount ?? 0
}

test('the last one is not demoted, deactivated or deleted, and each try is recorded', async () => {
  const path = `/users/${admin.id}`
  expect(await app.call(admin.token, 'PATCH', path, { roleId: viewerRole })).toMatchObject(kept)
  expect(await app.call(admin.token, 'POST', `${path}/deactivate`)).toMatchObject(kept)
  expect(await app.call(admin.token, 'DELETE', path)).toMatchObject(kept)
  expect(await app.call(admin.token, 'GET', '/users/me')).toMatchObject({ status: 200 })
  expect(await app.audit()).toMatchObject(
    ['user-update', 'user-deactivate', 'user-delete'].map((action) => ({
      action,
      outcome: 'failure',
      error: 'lastAdministrator',
      target_id: admin.id,
    })),
  )
  const second = await app.person('admin', companyId)
  expect(await app.call(second.token, 'PATCH', path, { roleId: viewerRole })).toMatchObject({ status: 200 })
  expect(await app.call(second.token, 'DELETE', `/users/${second.id}`)).toMatchObject(kept)
})

test('a role of administrators keeps what makes them so, as long as no other user is one', async () => {
  const own = await app.role(['user:update', 'role:update', 'company:update', 'role:read'], companyId)
  const boss = await app.person(own.name, companyId)
  await app.call(admin.token, 'DELETE', `/users/${admin.id}`)
  expect(await app.call(boss.token, 'GET', '/roles')).toMatchObject({ status: 200 })
  for (const gone of ['user:update', 'role:update', 'company:update']) {
    const permissions = ['user:update', 'role:update', 'company:update'].filter((each) => each !== gone)
    expect(await app.call(boss.token, 'PATCH', `/roles/${own.id}`, { permissions })).toMatchObject(kept)
  }
  expect(
    await app.call(boss.token, 'PATCH', `/roles/${own.id}`, {
      permissions: ['user:update', 'role:update', 'company:update'],
    }),
  ).toMatchObject({ status: 200 })
})

test('the invited, the deactivated and programs do not count', async () => {
  const roleId = await app.roleIdOf('admin', companyId)
  for (const change of [`status = 'invited'`, `status = 'disabled'`, 'service_account = true']) {
    const other = await app.person('admin', companyId)
    await relational.pool.query(`update users set ${change} where id = $1`, [other.id])
    expect(await app.call(admin.token, 'DELETE', `/users/${admin.id}`)).toMatchObject(kept)
  }
  expect(await roleOf(admin.id)).toBe(roleId)
})

describe('however many lose a role in one transaction', () => {
  const take = (ids: readonly string[]) =>
    sql`update users set role_id = ${viewerRole} where id = any(${sql.param([...ids])}::text[])`

  const attempt = async (...statements: ReturnType<typeof sql>[]): Promise<string> =>
    relational
      .transaction(async (tx) => {
        for (const statement of statements) await tx.execute(statement)
      })
      .then(
        () => 'done',
        (error) => violatedConstraint(error) ?? String(error),
      )

  test('one administrator is left, whichever roles make them so and in whichever order they lose them', async () => {
    const own = await app.role(['user:update', 'role:update', 'company:update'], companyId)
    const viewer = await app.person('viewer', companyId)
    const second = await app.person('admin', companyId)
    const third = await app.person(own.name, companyId)
    const all = [viewer.id, second.id, third.id, admin.id]
    for (const order of [all, all.toReversed()])
      expect(await attempt(...order.map((id) => take([id])))).toBe('companies_keep_administrator')
    expect(await attempt(take(all))).toBe('companies_keep_administrator')
    expect(await administrators()).toBe(3)
    expect(await attempt(take([viewer.id, second.id, admin.id]))).toBe('done')
    expect(await administrators()).toBe(1)
  })

  test('each company keeps one of its own', async () => {
    const other = await relational.transaction((tx) => insertCompany(tx, 'Others'))
    const [theirs, second] = [
      await app.person('admin', other.companyId),
      await app.person('admin', companyId),
    ]
    const theirViewer = await app.roleIdOf('viewer', other.companyId)
    const takeTheirs = sql`update users set role_id = ${theirViewer} where id = ${theirs.id}`
    expect(await attempt(take([second.id]), takeTheirs)).toBe('companies_keep_administrator')
    expect(await attempt(takeTheirs, take([second.id]))).toBe('companies_keep_administrator')
    expect(await administrators()).toBe(2)
  })

  test('what one transaction or statement has decided is no answer for the next one', async () => {
    const second = await app.person('admin', companyId)
    const pool = await relational.pool.connect()
    try {
      const run = (statement: string, ...values: unknown[]) => pool.query(statement, values)
      const demote = (id: string) => run('update users set role_id = $1 where id = $2', viewerRole, id)
      await run('begin')
      await run('set constraints all immediate')
      await demote(second.id)
      await expect(demote(admin.id)).rejects.toMatchObject({ constraint: 'companies_keep_administrator' })
      await run('rollback')
      await demote(second.id)
      await expect(demote(admin.id)).rejects.toMatchObject({ constraint: 'companies_keep_administrator' })
    } finally {
      pool.release()
    }
    expect(await administrators()).toBe(1)
  })
})

describe('only people who have a way in count', () => {
  const leave = () => app.call(admin.token, 'DELETE', `/users/${admin.id}`)
  const withoutPassword = (id: string) =>
    relational.pool.query('update users set password_hash = null where id = $1', [id])

  test('not a user who has neither a password nor an identity', async () => {
    const other = await app.person('admin', companyId)
    await withoutPassword(other.id)
    expect(await leave()).toMatchObject(kept)
    await offerSingleSignOn(relational, companyId, 'neither.example')
    expect(await leave()).toMatchObject(kept)
  })

  test('whomever the present identity provider has named', async () => {
    const other = await app.person('admin', companyId, 'named.example')
    await withoutPassword(other.id)
    await offerSingleSignOn(relational, companyId, 'named.example')
    await linkIdentity(relational, other.id, 'https://former.example')
    expect(await leave()).toMatchObject(kept)
    await linkIdentity(relational, other.id)
    expect(await leave()).toMatchObject({ status: 200 })
  })

  test('not a user who has a password and must use single sign-on', async () => {
    const other = await app.person('admin', companyId, 'bound.example')
    await offerSingleSignOn(relational, companyId, 'bound.example', true)
    expect(await leave()).toMatchObject(kept)
    await linkIdentity(relational, other.id)
    expect(await leave()).toMatchObject({ status: 200 })
  })

  test('not a phantom: invited, deactivated and reactivated', async () => {
    const roleId = await app.roleIdOf('admin', companyId)
    const { rows } = await relational.pool.query('select id from teams where company_id = $1', [companyId])
    const invited = await app.call(admin.token, 'POST', '/invitations', {
      email: `typo-${companyId}@nowhere.example`,
      roleId,
      resourceGroupIds: [rows[0].id],
    })
    const { id } = invited.data.user as unknown as { id: string }
    await app.call(admin.token, 'POST', `/users/${id}/deactivate`)
    await app.call(admin.token, 'POST', `/users/${id}/reactivate`)
    expect(await leave()).toMatchObject(kept)
    expect(await administrators()).toBe(1)
  })

  test('a transaction that takes the last way in away can ask before it ends', async () => {
    const bind = (mandatory: boolean) =>
      createUserLifecycle({ relational, recordAudit }).transact(async (tx) => {
        await tx.execute(sql`update sso_configs set mandatory = ${mandatory} where company_id = ${companyId}`)
        await tx.execute(sql`select require_administrator(${companyId})`)
      })
    await relational.pool.query('update users set email = $2 where id = $1', [
      admin.id,
      `${admin.id}@asked.example`,
    ])
    await offerSingleSignOn(relational, companyId, 'asked.example')
    await expect(bind(true)).rejects.toMatchObject({ errorName: 'lastAdministrator' })
    await linkIdentity(relational, admin.id)
    await bind(true)
  })
})

test('administrators of another company do not count', async () => {
  await app.person('admin', app.other.companyId)
  expect(await app.call(admin.token, 'DELETE', `/users/${admin.id}`)).toMatchObject(kept)
})

test('two who demote each other at once: exactly one succeeds', async () => {
  for (let round = 0; round < 5; round++) {
    const second = await app.person('admin', companyId)
    const demote = (by: Person, whom: Person) =>
      app.auth.call(by.token, 'PATCH', `/v2/entities/users/${whom.id}`, { roleId: viewerRole })
    app.cache.forget()
    await Promise.all([app.get(admin.token), app.get(second.token)])
    const replies = await Promise.all([demote(admin, second), demote(second, admin)])
    const statuses = replies.map(({ statusCode }) => statusCode)
    // The second one is no longer an administrator, or would be the last one.
    expect(statuses.filter((status) => status === 200)).toHaveLength(1)
    expect(await administrators()).toBe(1)
    if (statuses[1] === 200) admin = second
  }
})

test('three who leave at once in different ways: one stays', async () => {
  const own = await app.role(['user:update', 'role:update', 'company:update', 'user:delete'], companyId)
  const [second, third] = [await app.person('admin', companyId), await app.person(own.name, companyId)]
  await Promise.all([
    app.call(admin.token, 'DELETE', `/users/${admin.id}`),
    app.call(second.token, 'POST', `/users/${second.id}/deactivate`),
    app.call(third.token, 'PATCH', `/roles/${own.id}`, { permissions: [] }),
  ])
  expect(await administrators()).toBe(1)
})

test('the operator’s way is no way around', async () => {
  await expect(app.accounts.disableUser(admin.email)).rejects.toMatchObject({
    errorName: 'lastAdministrator',
  })
  expect(await administrators()).toBe(1)
})

test.each([
  ['a role', `update users set role_id = $2 where id = $1`],
  ['a state', `update users set status = 'disabled', role_id = coalesce(role_id, $2) where id = $1`],
  ['a kind', 'update users set service_account = true, role_id = coalesce(role_id, $2) where id = $1'],
  ['a person', 'delete from users where id = $1 and $2::text is not null'],
])('the database itself refuses what takes the last one: %s', async (_, statement) => {
  const failure = await relational.pool
    .query(statement, [admin.id, viewerRole])
    .catch((error: unknown) => error)
  expect(violatedConstraint(failure)).toBe('companies_keep_administrator')
  expect(await administrators()).toBe(1)
})

test('transactions that each leave the other’s administrator wait for each other', async () => {
  const second = await app.person('admin', companyId)
  const demote = async (id: string) => {
    const client = await relational.pool.connect()
    try {
      await client.query('begin')
      await client.query('update users set role_id = $2 where id = $1', [id, viewerRole])
      await new Promise((resolve) => setTimeout(resolve, 50))
      await client.query('commit')
      return 'done'
    } catch (error) {
      await client.query('rollback')
      return violatedConstraint(error)
    } finally {
      client.release()
    }
  }
  const results = await Promise.all([demote(admin.id), demote(second.id)])
  expect(results.sort()).toEqual(['companies_keep_administrator', 'done'])
})

test('within one transaction the last one may hand over', async () => {
  const heir = await app.person('viewer', companyId)
  await relational.transaction(async (tx) => {
    await tx.execute(sql`update users set role_id = ${viewerRole} where id = ${admin.id}`)
    await tx.execute(
      sql`update users set role_id = ${await app.roleIdOf('admin', companyId)} where id = ${heir.id}`,
    )
  })
  expect(await administrators()).toBe(1)
})
