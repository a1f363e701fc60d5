import { randomBytes } from 'node:crypto'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { createKeyRegister, type KeyRegister } from '../../src/features/encryption/key-register.ts'
import { createMailQueue } from '../../src/features/mail/mail-store.ts'
import { createSecretBox } from '../../src/platform/crypto/secret-box.ts'
import { StartRefused } from '../../src/platform/start-refused.ts'
import { createTestDatabase, type TestDatabase } from '../support/postgres.ts'

let database: TestDatabase
let register: KeyRegister

beforeEach(async () => {
  database = await createTestDatabase()
  register = createKeyRegister({ relational: database })
})

afterEach(() => database.close())

const [first, second, third] = [randomBytes(32), randomBytes(32), randomBytes(32)]
const idOf = (key: Buffer): string => createSecretBox([key]).keyIds[0] ?? ''

const never = (): Buffer => {
  throw new Error('the file must not be read')
}
const start = (...keys: Buffer[]) => register.open({ given: keys, readOwn: never })

const seal = (key: Buffer) =>
  createMailQueue(createSecretBox([key]))(database.db, undefined, {
    to: 'ada@example.com',
    subject: 'x',
    text: 'y',
  })

const known = async (): Promise<string[]> => {
  const { rows } = await database.pool.query<{ key_id: string }>(
    'select key_id from encryption_keys order by first_used_at',
  )
  return rows.map(({ key_id }) => key_id)
}

test('the first key is registered, and the same one starts again', async () => {
  await start(first)
  await start(first)
  expect(await known()).toEqual([idOf(first)])
})

test('L04, U05: a key under which something is sealed must be given, or the start is refused', async () => {
  await start(first)
  await seal(first)
  const refused = await start(second).catch((error: unknown) => error)
  expect(refused).toBeInstanceOf(StartRefused)
  expect((refused as Error).message).toContain(
    `sealed under a key that is not given: ${idOf(first)}. Given: ${idOf(second)}.`,
  )
  expect((refused as Error).message).not.toContain(first.toString('base64'))
  expect(await known()).toEqual([idOf(first)])
})

test('L04: after a rotation both open, and the older one can go once nothing is sealed under it', async () => {
  await start(first)
  await seal(first)
  await start(second, first)
  await seal(second)
  expect(await known()).toEqual([idOf(first), idOf(second)])
  await expect(start(second)).rejects.toThrow(idOf(first))
  await database.pool.query(`update outgoing_mails set sealed_content = null, sent_at = now() where id in (
    select id from outgoing_mails order by created_at limit 1)`)
  await start(second)
  expect(await known()).toEqual([idOf(second)])
})

test('secrets of every sealed column count', async () => {
  await start(first)
  await database.pool.query(`insert into companies (id, name) values ('aaaaaaaaaaaaaaaaaaaaaaaa', 'A')`)
  await database.pool.query(
    `insert into roles (id, company_id, name) values ('aaaaaaaaaaaaaaaaaaaaaaab', 'aaaaaaaaaaaaaaaaaaaaaaaa', 'r')`,
  )
  await database.pool.query(
    `insert into users (id, company_id, email, status, role_id)
     values ('aaaaaaaaaaaaaaaaaaaaaaac', 'aaaaaaaaaaaaaaaaaaaaaaaa', 'a@b.example', 'active', 'aaaaaaaaaaaaaaaaaaaaaaab')`,
  )
  const sealed = createSecretBox([third]).seal('x', 'c')
  await database.pool.query(
    `insert into user_authenticators (user_id, sealed_secret) values ('aaaaaaaaaaaaaaaaaaaaaaac', $1)`,
    [sealed],
  )
  await expect(start(first)).rejects.toThrow(idOf(third))
  await database.pool.query('delete from user_authenticators')
  await database.pool.query(
    `insert into linked_accounts (id, company_id, user_id, provider, name, host, sealed_target)
     values ('aaaaaaaaaaaaaaaaaaaaaaad', 'aaaaaaaaaaaaaaaaaaaaaaaa', 'aaaaaaaaaaaaaaaaaaaaaaac', 'webhook', 'n', 'h', $1)`,
    [sealed],
  )
  await expect(start(first)).rejects.toThrow(idOf(third))
  await start(first, third)
})

test('a second process with a key of its own is refused, also before anything is sealed', async () => {
  await start(first)
  await expect(start(second)).rejects.toThrow(/All processes on one database need the same one/)
  expect(await register.forgetIdle()).toEqual({ forgotten: [idOf(first)], kept: [] })
  await start(second)
  await seal(second)
  expect(await register.forgetIdle()).toEqual({ forgotten: [], kept: [idOf(second)] })
})

test('of processes that start at once with different keys one starts', async () => {
  const outcomes = await Promise.allSettled([start(first), start(second), start(third)])
  expect(outcomes.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected', 'rejected'])
})

test('the own key is made for an empty database only', async () => {
  const asked: boolean[] = []
  const readOwn = (mayMake: boolean): Buffer => {
    asked.push(mayMake)
    return first
  }
  await register.open({ given: undefined, readOwn })
  await register.open({ given: undefined, readOwn })
  await database.pool.query('delete from encryption_keys')
  await seal(first)
  await register.open({ given: undefined, readOwn })
  expect(asked).toEqual([true, false, false])
})
