import { expect, test } from 'vitest'
import { describeMigration } from './describe-migration.ts'
import { checksumOf } from './migrations.ts'

const described = (sql: string) =>
  describeMigration({ number: 7, file: '0007-some-words.sql', sql, checksum: checksumOf(sql) })

test.each([
  ['update users set name = trim(name)', ['users']],
  ['delete from tokens where true', ['tokens']],
  ['create unique index a on users (email)', ['users']],
  ['alter table files alter column day type text using day::text', ['files']],
  ['alter table files add column a text, add check (a is not null)', ['files']],
  ['alter table label_keys delete where datasource = 1 settings mutations_sync = 1', ['label_keys']],
  ['insert into a (x) select b.x from b join c on c.x = b.x', ['b', 'c']],
  ['alter table files add column a text', []],
  ['create table fresh (x text); create index on fresh (x); insert into fresh values (1)', []],
  [`comment on table files is 'update files'`, []],
])('knows of which tables every row counts: %s', (sql, tables) => {
  expect(described(sql).tables).toEqual(tables)
})

test('says what the file says of itself, or its name', () => {
  expect(described('-- Exports of events\n-- and orders: two tables. More.\nselect 1').about).toBe(
    'Exports of events and orders',
  )
  expect(described('select 1').about).toBe('some-words')
})
