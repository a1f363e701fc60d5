import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, test } from 'vitest'
import type { Columnar } from '../../src/platform/stores/columnar.ts'
import { createServerColumnar, createTestColumnar, type TestColumnar } from './columnar.ts'
import { until } from './until.ts'

const serverUrl = process.env.CLICKHOUSE_URL

const homes: { name: string; open: () => Promise<TestColumnar> }[] = [
  { name: 'chDB in a child process', open: () => createTestColumnar({ migrated: false }) },
]
if (serverUrl !== undefined) {
  homes.push({
    name: 'a ClickHouse server',
    open: () => createServerColumnar(serverUrl, { migrated: false }),
  })
}

/**
 * Defines the same tests for both homes of the columnar store; those on a server are not run here, and the closing
 * summary says so, unless CLICKHOUSE_URL names one. There is no package of a current server that CI could install.
 * @param define gets the store, which is there once tests run, with an empty table `facts (id UInt64, text String)`
 */
export function onBothHomes(what: string, define: (columnar: Columnar) => void): void {
  if (serverUrl === undefined) {
    test(`${what}: the same on a ClickHouse server`, ({ skip }) =>
      skip('not run here: CLICKHOUSE_URL names no server'))
  }
  describe.each(homes)(`${what}: on $name`, ({ open }) => {
    let opened: TestColumnar
    const columnar: Columnar = {
      query: (statement) => opened.query(statement),
      stream: (statement) => opened.stream(statement),
      command: (statement) => opened.command(statement),
      insert: (insert) => opened.insert(insert),
      ping: () => opened.ping(),
      close: () => opened.close(),
    }
    beforeAll(async () => {
      opened = await open()
      await opened.command({ sql: factsTable })
    })
    afterAll(() => opened?.close())
    define(columnar)
  })
}

export const factsTable = 'CREATE TABLE facts (id UInt64, text String) ENGINE = MergeTree ORDER BY id'

/** Computes for minutes in many blocks. */
export const endless = 'SELECT sum(sipHash64(number)) FROM numbers(1000000000000)'

/** What a promise was rejected with, or `no error`. */
export const outcome = (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    () => 'no error',
    (error) => error,
  )

export async function textOf(stream: AsyncIterable<Buffer>): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of stream) chunks.push(chunk)
  return Buffer.concat(chunks).toString()
}

/** NDJSON with a line feed at its end. */
export function lines(count: number, row: (i: number) => object): Buffer {
  return Buffer.from(`${Array.from({ length: count }, (_, i) => JSON.stringify(row(i))).join('\n')}\n`)
}

/** A statement that can be found among those that run. */
export function marked(sql: string): { sql: string; marker: string } {
  const marker = randomUUID()
  return { sql: `${sql} /* ${marker} */`, marker }
}

async function isRunning(columnar: Columnar, marker: string): Promise<boolean> {
  const [row] = await columnar.query<{ n: number }>({
    sql: `SELECT count() AS n FROM system.processes WHERE query LIKE {like: String} AND query NOT LIKE {own: String}`,
    params: { like: `%${marker}%`, own: '%system.processes%' },
    // A short statement: it does not wait behind those that it looks for.
    settings: { max_execution_time: 5 },
  })
  return row?.n !== 0
}

/** Resolves once the engine has let go of the statement. */
export async function endOf(columnar: Columnar, marker: string): Promise<void> {
  await until(async () => !(await isRunning(columnar, marker)))
}

export async function startOf(columnar: Columnar, marker: string): Promise<void> {
  await until(() => isRunning(columnar, marker))
}
