import { expect, test } from 'vitest'
import { createTestDatabase } from '../support/postgres.ts'

const tables = `select count(*)::int as count from information_schema.tables where table_schema = 'public'`

test('databases of tests are migrated and do not see each other', async () => {
  const one = await createTestDatabase()
  const other = await createTestDatabase()
  await one.pool.query(`insert into companies (id, name) values ('${'0'.repeat(24)}', 'Acme')`)
  expect((await one.pool.query('select name from companies')).rows).toEqual([{ name: 'Acme' }])
  expect((await other.pool.query('select name from companies')).rows).toEqual([])
  await Promise.all([one.close(), other.close()])
})

test('an empty database of a test has no tables', async () => {
  const empty = await createTestDatabase({ migrated: false })
  expect((await empty.pool.query(tables)).rows[0].count).toBe(0)
  await empty.close()
})

test('the role of the service reads the record of migrations and cannot forge it', async () => {
  const database = await createTestDatabase()
  await database.pool.query('select * from schema_migrations')
  await expect(database.pool.query('delete from schema_migrations')).rejects.toThrow('permission denied')
  await expect(database.pool.query('create table mine (id int)')).rejects.toThrow('permission denied')
  await database.close()
})
