import { expect, test } from 'vitest'
import { splitStatements, whyNotRepeatable } from './sql-statements.ts'

const texts = (sql: string): string[] => splitStatements(sql).map(({ text }) => text)

test('splits at semicolons and leaves out what is empty or only comments', () => {
  expect(texts('select 1; select 2;\n\n-- the end;\n; /* nothing; here */ ;')).toEqual([
    'select 1',
    'select 2',
  ])
  expect(texts('')).toEqual([])
})

test('finds no end inside strings, names, comments and here-documents', () => {
  const statements = [
    `select ';', 'it''s;', 'a\\';b'`,
    'select `a;b`, "c;d"',
    'select 1 -- one; two\n+ 1',
    'select /* ; */ 2 # three; four',
    'select $x$ ; $y$ ; $x$, $$;$$',
    'select 5 - -1',
  ]
  expect(texts(statements.join('\n;\n'))).toEqual(statements)
})

test('knows the line of the first word of each statement', () => {
  const sql = '-- a file\n\ncreate table a;\n-- about b\ncreate table b;'
  expect(splitStatements(sql).map(({ line }) => line)).toEqual([3, 5])
})

test('keeps the comments of a statement with it', () => {
  expect(texts('-- about a\nselect 1;\n-- about b\nselect 2')).toEqual([
    '-- about a\nselect 1',
    '-- about b\nselect 2',
  ])
})

test.each([
  'create table if not exists a (x UInt8) engine = MergeTree order by x',
  'CREATE OR REPLACE VIEW v AS SELECT 1',
  'create materialized view if not exists v to t as select 1',
  'drop table if exists a',
  'alter table a add column if not exists b String, add column if not exists c String',
  `alter table a modify column b String comment 'add column c'`,
  'alter table a drop column if exists b',
  '-- repeatable: the table is empty before\ninsert into a select 1',
])('lets a statement run again that can: %s', (text) => {
  expect(whyNotRepeatable(text)).toBeUndefined()
})

test.each([
  ['create table a (x UInt8) engine = Memory', /CREATE \.\.\. IF NOT EXISTS/],
  ['create /* if not exists */ table a (x UInt8)', /CREATE \.\.\. IF NOT EXISTS/],
  [`create table a (x String default 'if not exists')`, /CREATE \.\.\. IF NOT EXISTS/],
  ['drop table a', /DROP \.\.\. IF EXISTS/],
  ['alter table a add column if not exists b String, add column c String', /ADD \.\.\. IF NOT EXISTS/],
  ['alter table a rename column b to c', /RENAME \.\.\. IF EXISTS/],
  ['insert into a values (1)', /INSERT may do its work twice/],
  ['rename table a to b', /RENAME may do its work twice/],
])('refuses a statement that could do its work twice: %s', (text, why) => {
  expect(whyNotRepeatable(text)).toMatch(why)
})
