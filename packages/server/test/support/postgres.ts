import { createHash, randomBytes } from 'node:crypto'
import { connect } from 'node:net'
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
import { createFakeTime, type FakeTime } from './fake-time.ts'
import { launchServer, serverVariable } from './postgres-server.ts'
import { until } from './until.ts'

/** Runs before a statement; what it throws is what the statement fails with. */
export type BeforeStatement = (text: string, values: readonly unknown[]) => Promise<unknown> | undefined

/** A database of the test's own; its queries run as the service's role does, which may not create or drop tables. */
export interface TestDatabase extends Relational {
  /** Stands still until it is moved; statements see it as `now()` once `follow` was called. */
  readonly time: FakeTime
  /** From now on the present of this store's statements is `time`; until then it is the system's. */
  follow(): void
  /** A fault, or another's step, for the statements that are told by their text and values. */
  beforeStatement: BeforeStatement | undefined
  /** As the service works. */
  readonly application: SocketAddress
  /** As migrations work. */
  readonly owner: SocketAddress
  /** The same database and time over connections of its own, as another process has them; `close` closes these alone. */
  reopen(): TestDatabase
  /** Drops the database and closes the connections. */
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
const patientMs = 600_000

/**
 * In front of PostgreSQL's own `now()`: the instant of the session where a test has set one. Defaults of columns and
 * triggers are bound to it too, because the migrations see it.
 */
const presentFunction = `create schema test_present;
  grant usage on schema test_present to public;
  create function test_present.now() returns timestamptz language sql stable parallel safe as $$
    select coalesce(nullif(current_setting('test.present', true), '')::timestamptz, pg_catalog.now()) $$`

/** Not copied from a template. */
const usePresent = (database: string): string =>
  `alter database ${database} set search_path = public, test_present, pg_catalog`

type Query = (...args: unknown[]) => unknown

/**
 * Comes before statements of any sender: the pool, Drizzle or a transaction. The first one after a connection
 * is handed out is preceded by the present of the test, when the session holds another.
 */
function precedeStatements(
  { pool }: Relational,
  presentOf: () => string,
  hookOf: () => BeforeStatement | undefined,
): void {
  const held = new WeakMap<pg.PoolClient, string>()
  const due = new WeakMap<pg.PoolClient, string>()
  pool.on('acquire', (client) => {
    const present = presentOf()
    if ((held.get(client) ?? '') !== present) due.set(client, present)
  })
  pool.on('connect', (client) => {
    const query = client.query.bind(client) as Query
    async function setPresent(present: string): Promise<void> {
      due.delete(client)
      held.set(client, present)
      await query('select set_config($1, $2, false)', ['test.present', present])
    }
    const preceded: Query = (...args) => {
      const [statement, given] = args as [string | { text: string; values?: unknown[] }, unknown]
      const text = typeof statement === 'string' ? statement : statement.text
      const values = Array.isArray(given) ? given : typeof statement === 'string' ? [] : statement.values
      const hook = () => hookOf()?.(text, values ?? [])
      const present = due.get(client)
      const before = present === undefined ? hook() : setPresent(present).then(hook)
      if (!before) return query(...args)
      const callback = args.at(-1)
      if (typeof callback !== 'function') return before.then(() => query(...args))
      before.then(
        () => query(...args),
        (error: unknown) => callback(error),
      )
      return undefined
    }
    client.query = preceded as typeof client.query
  })
}

/** Asks at the socket until its server listens. */
async function ask(socket: string): Promise<string> {
  const answer = await until(
    () =>
      new Promise<string | undefined>((resolve) => {
        let text = ''
        connect(socket)
          .on('data', (chunk) => {
            text += chunk
          })
          .on('end', () => resolve(text === '' ? undefined : text))
          .on('error', () => resolve(undefined))
      }),
  )
  const { socketDirectory, error } = JSON.parse(answer) as { socketDirectory?: string; error?: string }
  if (socketDirectory === undefined) throw new Error(`The PostgreSQL for tests does not start: ${error}`)
  return socketDirectory
}

let server: Promise<string> | undefined

/** The server of the run; of this process alone where the run was started without the global set-up. */
function socketDirectory(): Promise<string> {
  server ??= ask(process.env[serverVariable] ?? launchServer().socket)
  return server
}

async function asSuperuser<T>(
  socket: string,
  work: (client: pg.Client) => Promise<T>,
  database = 'postgres',
): Promise<T> {
  const client = new pg.Client({ host: socket, user: superuser, database })
  await client.connect()
  try {
    return await work(client)
  } finally {
    await client.end()
  }
}

let template: Promise<string> | undefined

/** The database that holds all migrations as they are now, made by whichever test file needs it first. */
function migratedTemplate(socket: string): Promise<string> {
  template ??= makeTemplate(socket)
  return template
}

async function makeTemplate(socket: string): Promise<string> {
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
      await asSuperuser(socket, (inside) => inside.query(presentFunction), draft)
      await client.query(usePresent(draft))
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
  await asSuperuser(socket, async (client) => {
    await client.query(`create database ${database} template ${template} owner ${ownerRole}`)
    if (options.migrated !== false) await client.query(usePresent(database))
  })
  const application = { socketDirectory: socket, user: applicationRole, database }
  const drop = () =>
    asSuperuser(socket, async (client) => {
      await client.query(`drop database if exists ${database} with (force)`)
    })
  return openTestDatabase(application, { time: createFakeTime(), isFollowed: false }, drop)
}

function openTestDatabase(
  application: SocketAddress,
  present: { readonly time: FakeTime; isFollowed: boolean },
  drop = async () => {},
): TestDatabase {
  const relational = openRelational({
    address: application,
    logger: silentLogger,
    connections: 10,
    // However busy the machine is: what has to be given up is told to give up by its test.
    connectWithinMs: patientMs,
    statementTimeoutMs: patientMs,
  })
  const { time } = present
  const presentText = () => (present.isFollowed ? new Date(time.clock.now()).toISOString() : '')
  precedeStatements(relational, presentText, () => testDatabase.beforeStatement)
  const testDatabase: TestDatabase = {
    ...relational,
    time,
    follow() {
      present.isFollowed = true
    },
    beforeStatement: undefined,
    application,
    owner: { ...application, user: ownerRole },
    reopen: () => openTestDatabase(application, present),
    async close() {
      // Connections that are held end with the database: nobody waits for them.
      await Promise.all([relational.close(), drop()])
    },
  }
  return testDatabase
}
