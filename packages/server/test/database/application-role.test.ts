import { randomBytes } from 'node:crypto'
import pg from 'pg'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { openToApplication } from '../../src/database/application-role.ts'
import { migrateRelational } from '../../src/database/migrate.ts'
import { silentLogger } from '../../src/platform/logger.ts'
import { StartRefused } from '../../src/platform/start-refused.ts'
import { superuser } from '../../src/platform/stores/postgres/settings.ts'
import { createTestDatabase, type TestDatabase, urlOf } from '../support/postgres.ts'
import { removeData, startService } from '../support/running-service.ts'

/** A database that had one role for everything, and a role of the operator's that the service is to work as. */

let database: TestDatabase
let role: string

async function as<T>(user: string, work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({
    host: database.owner.socketDirectory,
    user,
    database: database.owner.database,
  })
  await client.connect()
  try {
    return await work(client)
  } finally {
    await client.end()
  }
}

const ask = (user: string, statement: string) => as(user, (client) => client.query(statement))

const open = (to = role) => openToApplication({ owner: database.owner, role: to, logger: silentLogger })

async function refusal(to = role): Promise<StartRefused> {
  const error = await open(to).then(
    () => undefined,
    (cause: unknown) => cause,
  )
  expect(error).toBeInstanceOf(StartRefused)
  return error as StartRefused
}

beforeEach(async () => {
  database = await createTestDatabase({ migrated: false })
  role = `service_${randomBytes(4).toString('hex')}`
  await ask(
    superuser,
    `create role ${role} login; grant connect on database ${database.owner.database} to ${role}`,
  )
  await migrateRelational({ address: database.owner, logger: silentLogger })
})

afterEach(async () => {
  await ask(superuser, `drop owned by ${role}; drop role ${role}`)
  await database.close()
})

test('the role reads and writes rows, and makes nothing', async () => {
  await expect(ask(role, 'select 1 from companies')).rejects.toThrow(/permission denied/)
  await open()
  await ask(role, `insert into companies (id, name) values ('${'a'.repeat(24)}', 'Acme')`)
  await ask(role, `update companies set name = 'Other'`)
  expect((await ask(role, 'delete from companies')).rowCount).toBe(1)
  await expect(ask(role, 'create table other (id int)')).rejects.toThrow(/permission denied/)
  await expect(ask(role, 'truncate companies')).rejects.toThrow(/permission denied/)
  await expect(ask(role, 'drop table companies')).rejects.toThrow(/must be owner/)
})

test('it adds to the audit log and can neither change it nor switch its guard off', async () => {
  await open()
  await ask(
    role,
    `insert into audit_entries (id, at, category, action, actor_kind, outcome)
     values ('${'b'.repeat(24)}', now(), 'authentication', 'sign-in', 'user', 'success')`,
  )
  for (const statement of [
    `update audit_entries set action = 'sign-out'`,
    'delete from audit_entries',
    'truncate audit_entries',
    'alter table audit_entries disable trigger all',
  ]) {
    await expect(ask(role, statement)).rejects.toThrow(/permission denied|must be owner/)
  }
  expect((await ask(role, 'select 1 from audit_entries')).rowCount).toBe(1)
})

test('again at the next start: new tables are opened, rights beyond are taken back', async () => {
  await open()
  await ask(
    database.owner.user,
    `create table later (id int); grant update, delete on audit_entries to ${role}; grant insert on schema_migrations to ${role}`,
  )
  await open()
  await ask(role, 'insert into later values (1)')
  await expect(ask(role, 'delete from audit_entries')).rejects.toThrow(/permission denied/)
  await expect(ask(role, 'insert into schema_migrations values (1)')).rejects.toThrow(/permission denied/)
})

test('with the address of that role alone the start says which address is missing', async () => {
  await open()
  const migrating = migrateRelational({ address: { ...database.owner, user: role }, logger: silentLogger })
  await expect(migrating).rejects.toThrow(/may not create tables.*DATABASE_OWNER_URL/)
})

describe('a role that could do more all the same is refused', () => {
  test('a superuser', async () => {
    await ask(superuser, `alter role ${role} superuser`)
    expect((await refusal()).message).toMatch(/superuser or a member.*role of its own/)
  })

  test('a member of the owner', async () => {
    await ask(superuser, `grant ${database.owner.user} to ${role}`)
    expect((await refusal()).message).toMatch(/a member of the role of DATABASE_OWNER_URL/)
  })

  test('the owner', async () => {
    expect((await refusal(database.owner.user)).message).toContain('"millrace_owner"')
  })

  test('rights of PUBLIC', async () => {
    await ask(database.owner.user, 'grant delete on audit_entries to public')
    expect((await refusal()).message).toMatch(/cannot take back \(audit_entries: delete\).*PUBLIC/)
  })
})

test('a service with both addresses works as the role that reads and writes rows', async () => {
  const service = await startService({
    env: {
      DATABASE_URL: urlOf({ ...database.owner, user: role }),
      DATABASE_OWNER_URL: urlOf(database.owner),
      MILLRACE_ENCRYPTION_KEY: randomBytes(32).toString('base64'),
    },
  })
  try {
    const entries = await service.dataOf<unknown>('GET', '/entities/audit-log')
    expect(entries).toEqual([expect.objectContaining({ action: 'sign-in' })])
    const { rows } = await ask(
      superuser,
      `select distinct usename from pg_stat_activity where datname = '${database.owner.database}' and usename <> '${superuser}'`,
    )
    expect(rows).toEqual([{ usename: role }])
  } finally {
    await service.stop()
    removeData(service)
  }
})
