import { describe, expect, test } from 'vitest'
import { type InspectionRules, inspect } from './inspect.ts'

const rules = (readonly: boolean): InspectionRules => ({
  readonly,
  outside: new Set(['file', 'url', 's3']),
  formats: new Set(['csv', 'json', 'jsoneachrow', 'tabseparated']),
})
const reading = (sql: string): ReturnType<typeof inspect> => inspect(sql, rules(true))
const writing = (sql: string): ReturnType<typeof inspect> => inspect(sql, rules(false))

describe('the shape of a statement', () => {
  test('has a verb and an end without semicolon and comments', () => {
    expect(reading(' /* x */ select 1 ; -- done\n')).toMatchObject({ verb: 'SELECT', end: 17 })
    expect(reading('((SELECT 1)) UNION ALL (SELECT 2)')).toMatchObject({ verb: 'SELECT' })
    expect(reading('FROM t SELECT a')).toMatchObject({ verb: 'FROM' })
  })

  test('has a FORMAT clause only where it is one', () => {
    expect(reading('SELECT 1 FORMAT CSV')).toMatchObject({ format: { name: 'CSV', start: 9 } })
    expect(reading('SELECT 1 format json SETTINGS max_threads = 1').format).toMatchObject({ name: 'json' })
    expect(reading('SELECT 1 ORDER BY format DESC').format).toBeUndefined()
    expect(reading('SELECT format FROM t').format).toBeUndefined()
    expect(reading("SELECT 'x FORMAT CSV'").format).toBeUndefined()
    expect(reading('SELECT 1 -- FORMAT CSV').format).toBeUndefined()
  })

  test('of an insert with rows ends before the rows', () => {
    expect(writing('INSERT INTO t (a, b) SETTINGS x = 1 FORMAT JSONEachRow {"a":"\'"}')).toMatchObject({
      rows: { head: 'INSERT INTO t (a, b) SETTINGS x = 1 ', format: 'JSONEachRow', start: 54 },
    })
    expect(writing('insert into db.`t t` format CSV').rows).toMatchObject({ head: 'insert into db.`t t` ' })
    expect(writing('INSERT INTO t SELECT 1').rows).toBeUndefined()
    expect(writing('INSERT INTO t VALUES (1)').rows).toBeUndefined()
    expect(writing('INSERT INTO t SELECT 1 FORMAT CSV').rows).toBeUndefined()
  })

  test('of KILL QUERY says where query_id stands', () => {
    const sql = "KILL QUERY WHERE query_id = 'query_id' OR `query_id` IN ('a')"
    expect(writing(sql).queryIds?.map(({ start, end }) => sql.slice(start, end))).toEqual([
      'query_id',
      '`query_id`',
    ])
  })
})

describe('a statement is refused', () => {
  const codeOf = (work: () => unknown): unknown => {
    try {
      work()
    } catch (error) {
      return (error as { code?: number }).code
    }
    return undefined
  }

  test.each([
    '',
    ' ; ',
    '-- nothing',
    "SELECT 'open",
    'SELECT 1; SELECT 2',
    'SELECT 1;; x',
    'SELECT "a\0"; x',
  ])('when it is no single statement: %j', (sql) => {
    expect(codeOf(() => writing(sql))).toBe(62)
    expect(codeOf(() => reading(sql))).toBe(62)
  })

  test.each([
    "SELECT 1 INTO OUTFILE 'x'",
    "SELECT 1 into/**/outfile 'x' FORMAT CSV",
    "SELECT 1 INTO // x\nOUTFILE 'x'",
    "INSERT INTO t FROM INFILE 'x' FORMAT CSV",
  ])('when it uses files of the client: %s', (sql) => {
    expect(codeOf(() => writing(sql))).toBe(48)
  })

  test.each([
    'INSERT INTO t VALUES (1)',
    'DROP TABLE t',
    'SET x = 1',
    'USE db',
    '(DROP TABLE t)',
    'SYSTEM SHUTDOWN',
  ])('on a reading lane when it writes: %s', (sql) => {
    expect(codeOf(() => reading(sql))).toBe(164)
    expect(codeOf(() => writing(sql))).toBeUndefined()
  })

  test.each(["SELECT FILE ('x')", "SELECT * FROM `url`('x')", 'DESCRIBE s3(x)', 'SELECT x."file"\n(\'a\')'])(
    'on a reading lane when it reaches outside: %s',
    (sql) => {
      expect(codeOf(() => reading(sql))).toBe(164)
    },
  )

  test('but not for a column of such a name', () => {
    expect(codeOf(() => reading('SELECT url, file AS url FROM t WHERE s3 = 1'))).toBeUndefined()
    expect(codeOf(() => reading("SELECT 'file(', domain(url)"))).toBeUndefined()
  })
})
