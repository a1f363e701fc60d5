import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { type AddressInfo, connect, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { columnarDirectory } from '../../src/database/migrate.ts'
import { type Logger, silentLogger } from '../../src/platform/logger.ts'
import { readMigrations } from '../../src/platform/migrations/migrations.ts'
import { splitStatements } from '../../src/platform/migrations/sql-statements.ts'
import { engineSocketPath } from '../../src/platform/stores/chdb/socket.ts'
import type { Columnar } from '../../src/platform/stores/columnar.ts'
import { openColumnar } from '../../src/platform/stores/columnar-client.ts'
import { type EmbeddedColumnar, embeddedColumnar } from '../../src/platform/stores/columnar-embedded.ts'

/** A columnar store of the test's own. */
export interface TestColumnar extends Columnar {
  /** Ends the engine and removes its files. */
  close(): Promise<void>
}

export interface TestEngine extends TestColumnar, Pick<EmbeddedColumnar, 'child' | 'status'> {
  /** The data directory of a service whose only store this is. */
  readonly directory: string
}

export interface TestColumnarOptions {
  /** With all migrations (the default), or empty. */
  readonly migrated?: boolean
  readonly memoryBytes?: number
  readonly logger?: Logger
}

/** Nobody else sees a store of a test: no lock, and no record of what was applied. */
async function applyMigrations(columnar: Columnar): Promise<void> {
  if (!existsSync(columnarDirectory)) return
  for (const { sql } of readMigrations(columnarDirectory)) {
    for (const { text } of splitStatements(sql)) await columnar.command({ sql: text })
  }
}

/**
 * An engine for a test file, in about half a second. Call it in `beforeAll` and `close` in `afterAll`.
 */
export async function createTestColumnar(options: TestColumnarOptions = {}): Promise<TestEngine> {
  const directory = mkdtempSync(join(tmpdir(), 'millrace-columnar-'))
  const { logger = silentLogger, memoryBytes = 4 * 1024 ** 3 } = options
  // Tests compute in the same session: an engine that yields to them would starve.
  const home = { dataDirectory: directory, logger, memoryBytes, yields: false }
  const { columnar, child, status } = embeddedColumnar(home)
  async function close(): Promise<void> {
    await columnar.close()
    await child.stop()
    rmSync(directory, { recursive: true, force: true, maxRetries: 5 })
  }
  try {
    await child.start()
    if (options.migrated !== false) await applyMigrations(columnar)
  } catch (error) {
    await close()
    throw error
  }
  return { ...columnar, child, status, directory, close }
}

let shared: Promise<TestEngine> | undefined

/**
 * The migrated engine of this worker, which its files have one after the other: starting one takes as long as many of
 * their tests. It ends with the process. A file that kills it, or changes its tables, starts one of its own.
 */
export function sharedColumnar(): Promise<TestEngine> {
  shared ??= createTestColumnar()
  return shared
}

/** A database of the test's own on a ClickHouse server. */
export async function createServerColumnar(
  url: string,
  options: TestColumnarOptions = {},
): Promise<TestColumnar> {
  const database = `test_${randomBytes(6).toString('hex')}`
  const admin = openColumnar({ address: { url } })
  await admin.command({ sql: `CREATE DATABASE ${database}` })
  const address = new URL(url)
  address.pathname = `/${database}`
  const columnar = openColumnar({ address: { url: address.href } })
  if (options.migrated !== false) await applyMigrations(columnar)
  return {
    ...columnar,
    async close() {
      await columnar.close()
      await admin.command({ sql: `DROP DATABASE ${database} SYNC` })
      await admin.close()
    },
  }
}

/**
 * An engine behind an address, as a server of ClickHouse is; it has no database but `default`.
 * There is no package of a current server that tests could install.
 */
export async function startColumnarServer(): Promise<TestEngine & { readonly url: string }> {
  const engine = await createTestColumnar({ migrated: false })
  const socketPath = engineSocketPath(join(engine.directory, 'run'))
  const server = createServer((from) => {
    const to = connect(socketPath)
    from.on('error', () => to.destroy()).pipe(to)
    to.on('error', () => from.destroy()).pipe(from)
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    ...engine,
    url: `http://default:secret@127.0.0.1:${(server.address() as AddressInfo).port}/default`,
    async close() {
      server.close()
      await engine.close()
    },
  }
}
