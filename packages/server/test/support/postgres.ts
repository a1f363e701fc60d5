import { createHash, randomBytes } from 'node:crypto'
import { connect } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { migrateRelational, relationalDirectory } from '../../src/database/migrate.ts'
import { withRelationalLock } from '../../src/database/relational-migrations.ts'
import { silentLogger } from '../../src/platform/logger.ts'
import { readMigrations } from '../../src/platform/migrations/migrations.ts'
import {
  applicationRole,
  databaseName,
  ownerRole,
  superuser,
} from '../../src/platform/stores/postgres/settings.ts'
import { openRelational, type Relational, type SocketAddress } from '../../src/platform/stores/relational.ts'
import { launchServer, serverVariable } from './postgres-server.ts'

/** A database of the test's own; its queries run as the service's role does, which may not create or drop tables. */
export interface TestDatabase extends Relational {
  /** As the service works. */
  readonly application: SocketAddress
  /** As migrations work. */
  readonly owner: SocketAddress
  /** Closes the connections and drops the database. */
  close(): Promise<void>
}

/** For `DATABASE_URL`. */
export const urlOf = ({ socketDirectory, user, database }: SocketAddress): string =>
  `postgresql://${user}@localhost/${database}?host=${encodeURIComponent(socketDirectory)}`

export interface TestDatabaseOptions {
  /** With all migrations (the default), or empty. */
  readonly migrated?: boolean
}

const templateLock = 7_311_099

/** Asks at the socket until its server listens. */
async function ask(socket: string): Promise<string> {
  const end = performance.now() + 60_000
  for (;;) {
    const answer = await new Promise<string | undefined>((resolve) => {
      let text = ''
      connect(socket)
        .on('data', (chunk) => {
          text += chunk
        })
        .on('end', () => resolve(text))
        .on('error', () => resolve(undefined))
    })
    if (answer) {
      const { socketDirectory, error } = JSON.parse(answer) as { socketDirectory?: string; error?: string }
      if (socketDirectory === undefined) throw new Error(`The PostgreSQL for tests does not start: ${error}`)
      return socketDirectory
    }
    if (performance.now() > end) throw new Error('The PostgreSQL for tests does not answer')
    await sleep(10)
  }
}

let server: Promise<string> | undefined

/** The server of the run; of this process alone where the run was started without the global set-up. */
function socketDirectory(): Promise<string> {
  server ??= ask(process.env[serverVariable] ?? launchServer().socket)
  return server
}

async function asSuperuser<T>(socket: string, work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({ host: socket, user: superuser, database: 'postgres' })
  await client.connect()
  try {
    return await work(client)
  } finally {
    await client.end()
  }
}

/** The database that holds all migrations as they are now, made by whichever test file needs it first. */
async function migratedTemplate(socket: string): Promise<string> {
  const hash = createHash('sha256')
  for (const { file, checksum } of readMigrations(relationalDirectory)) hash.update(`${file} ${checksum}\n`)
  const name = `template_${hash.digest('hex').slice(0, 16)}`
  const admin = { socketDirectory: socket, user: superuser, database: 'postgres' }
  await asSuperuser(socket, async (client) => {
    const exists = async (): Promise<boolean> =>
      ((await client.query('select 1 from pg_database where datname = $1', [name])).rowCount ?? 0) > 0
    if (await exists()) return
    await withRelationalLock(admin, templateLock, silentLogger, async () => {
      if (await exists()) return
      const draft = `${name}_new`
      await client.query(`drop database if exists ${draft} with (force)`)
      await client.query(`create database ${draft} template ${databaseName} owner ${ownerRole}`)
      await migrateRelational({
        address: { socketDirectory: socket, user: ownerRole, database: draft },
        applicationRole,
        logger: silentLogger,
      })
      await client.query(`alter database ${draft} rename to ${name}`)
    })
  })
  return name
}

/**
 * A database for a test file, in about a tenth of a second; the first one of a run starts the server.
 * Call it in `beforeAll` and `close` in `afterAll`.
 */
export async function createTestDatabase(options: TestDatabaseOptions = {}): Promise<TestDatabase> {
  const socket = await socketDirectory()
  const template = options.migrated === false ? databaseName : await migratedTemplate(socket)
  const database = `test_${randomBytes(6).toString('hex')}`
  await asSuperuser(socket, (client) =>
    client.query(`create database ${database} template ${template} owner ${ownerRole}`),
  )
  const application = { socketDirectory: socket, user: applicationRole, database }
  const relational = openRelational({ address: application, logger: silentLogger, connections: 8 })
  return {
    ...relational,
    application,
    owner: { ...application, user: ownerRole },
    async close() {
      await relational.close()
      await asSuperuser(socket, (client) => client.query(`drop database if exists ${database} with (force)`))
    },
  }
}
