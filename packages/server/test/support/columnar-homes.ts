import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe } from 'vitest'
import type { Columnar } from '../../src/platform/stores/columnar.ts'
import {
  createServerColumnar,
  createTestColumnar,
  startColumnarServer,
  type TestColumnar,
} from './columnar.ts'
import { until } from './until.ts'

const serverUrl = process.env.CLICKHOUSE_URL

/** A database at an address: of a server where CLICKHOUSE_URL names one, else of an engine that has an address. */
async function openServer(): Promise<TestColumnar> {
  const server = serverUrl === undefined ? await startColumnarServer() : undefined
  const columnar = await createServerColumnar(serverUrl ?? server?.url ?? '', { migrated: false })
  return {
    ...columnar,
    async close() {
      await columnar.close()
      await server?.close()
    },
  }
}

const homes: { name: string; open: () => Promise<TestColumnar> }[] = [
  { name: 'a socket', open: () => createTestColumnar({ migrated: false }) },
  { name: 'an address', open: openServer },
]

/**
 * Defines the same tests for both ways to the columnar store.
 * @param define gets the store, which is there once tests run, with an empty table `facts (id UInt64, text String)`
 */
export function onBothHomes(what: string, define: (columnar: Columnar) => void): void {
  describe.each(homes)(`${what}: at $name`, ({ open }) => {
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
