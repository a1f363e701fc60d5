import { afterAll, beforeAll, expect, test } from 'vitest'
import { createLinkedAccountsApp, type LinkedAccountsApp } from '../support/linked-accounts.ts'

let app: LinkedAccountsApp

beforeAll(async () => {
  app = await createLinkedAccountsApp()
})

afterAll(() => app.close())

const remove = (token: string, id: string) => app.auth.call(token, 'DELETE', `/v2/linked-accounts/${id}`)

const count = async (id: string): Promise<number> => {
  const { rows } = await app.database.pool.query('select 1 from linked_accounts where id = $1', [id])
  return rows.length
}

test('one’s own is deleted with its credentials, and the second time there is none (L02)', async () => {
  const id = await app.link(app.tokens.ada)
  const reply = await remove(app.tokens.ada, id)
  expect(reply.statusCode).toBe(200)
  expect(reply.json()).toMatchObject({ status: 'success', code: 200, data: {} })
  expect(await count(id)).toBe(0)
  expect((await remove(app.tokens.ada, id)).json()).toMatchObject({
    status: 'fail',
    code: 404,
    error_code: 2030,
    message: 'There is no such linked account',
    data: { id },
  })
})

test('an identifier in capitals is the same one', async () => {
  const id = await app.link(app.tokens.ada)
  expect((await remove(app.tokens.ada, id.toUpperCase())).statusCode).toBe(200)
})

test('of ten deletions at once one succeeds', async () => {
  const id = await app.link(app.tokens.ada)
  const replies = await Promise.all(Array.from({ length: 10 }, () => remove(app.tokens.ada, id)))
  expect(replies.map(({ statusCode }) => statusCode).sort()).toEqual([200, ...Array(9).fill(404)])
})

test('that of a colleague needs User: update, and is none for others', async () => {
  const id = await app.link(app.tokens.ada)
  const absent = (await remove(app.tokens.bob, 'f'.repeat(24))).json()
  const refused = (await remove(app.tokens.bob, id)).json()
  expect({ ...refused, datetime: '', data: {} }).toEqual({ ...absent, datetime: '', data: {} })
  expect(await count(id)).toBe(1)
  expect((await remove(app.tokens.admin, id)).statusCode).toBe(200)
  expect(await count(id)).toBe(0)
})

test('the administrator of another company finds none', async () => {
  const id = await app.link(app.tokens.ada)
  expect((await remove(app.tokens.stranger, id)).statusCode).toBe(404)
  expect(await count(id)).toBe(1)
})

test.each([
  ['24 hexadecimal characters', 'a'.repeat(24)],
  ['a UUID', '0b7e1d3c-8a54-4f0b-9d57-3f6a2c1e9b10'],
  ['128 characters', 'x'.repeat(128)],
  ['129 characters', 'x'.repeat(129)],
  ['1 KB', 'x'.repeat(1024)],
  ['a step upwards', '..%2F..'],
  ['a quote', "1'%20or%20'1'%3D'1"],
  ['a null byte', '%00'],
  ['a line feed behind an identifier', `${'a'.repeat(24)}%0a`],
  ['full-width digits', encodeURIComponent('１'.repeat(24))],
  ['a space', '%20'],
])('L01: %s is no linked account', async (_what, id) => {
  const reply = await remove(app.tokens.admin, id)
  expect(reply.statusCode).toBe(404)
  expect(reply.json()).toMatchObject({ status: 'fail', error_code: 2030 })
  expect(reply.json().data.id.length).toBeLessThanOrEqual(128)
})

test('L01: an empty identifier is an unknown address', async () => {
  expect((await remove(app.tokens.admin, '')).statusCode).toBe(404)
})

test('no token and a revoked token are 401', async () => {
  const id = await app.link(app.tokens.ada)
  expect((await app.auth.app.inject({ method: 'DELETE', url: `/v2/linked-accounts/${id}` })).statusCode).toBe(
    401,
  )
  expect((await remove('A'.repeat(43), id)).statusCode).toBe(401)
  expect(await count(id)).toBe(1)
})

test('a body is not looked at', async () => {
  const id = await app.link(app.tokens.ada)
  expect(
    (await app.auth.call(app.tokens.ada, 'DELETE', `/v2/linked-accounts/${id}`, { any: 1 })).statusCode,
  ).toBe(200)
})

test('each deletion and each refusal of one is in the audit log once, without the address', async () => {
  const id = await app.link(app.tokens.bob, 'Ledger')
  await remove(app.tokens.ada, id)
  await remove(app.tokens.admin, id)
  await remove(app.tokens.admin, id)
  const { rows } = await app.database.pool.query(
    `select action, actor_name, target_kind, target_id, target_name, outcome, error, details, company_id
     from audit_entries where target_id = $1 order by at, id`,
    [id],
  )
  const details = {
    provider: 'webhook',
    host: `hooks.example.test:${app.webhooks.port}`,
    userId: app.userIds.bob,
  }
  const common = {
    target_kind: 'linked-account',
    target_id: id,
    company_id: app.auth.companyId,
  }
  const done = { ...common, target_name: 'Ledger', outcome: 'success', error: null, details }
  const error = 'linkedAccountNotFound'
  const refused = { ...common, target_name: null, outcome: 'failure', error, details: {} }
  expect(rows).toEqual([
    { action: 'linked-account-create', actor_name: 'bob@example.com', ...done },
    { action: 'linked-account-delete', actor_name: 'ada@example.com', ...refused },
    { action: 'linked-account-delete', actor_name: 'admin@example.com', ...done },
    { action: 'linked-account-delete', actor_name: 'admin@example.com', ...refused },
  ])
})
