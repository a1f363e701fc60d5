import { createHash } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import type { FastifyInstance } from 'fastify'
import { buildApp } from '../../src/boot/app.ts'
import { type Context, type ContextOverrides, openContext } from '../../src/boot/context.ts'
import type { OpenedColumnar, OpenedRelational } from '../../src/boot/open-stores.ts'
import type { Clock } from '../../src/platform/clock.ts'
import { configFrom } from '../../src/platform/config/config.ts'
import { readEnvironment } from '../../src/platform/config/env.ts'
import { createPasswords, type Passwords } from '../../src/platform/crypto/passwords.ts'
import { createSecretBox } from '../../src/platform/crypto/secret-box.ts'
import { openDataDirectory } from '../../src/platform/files/data-directory.ts'
import { type Logger, silentLogger } from '../../src/platform/logger.ts'
import type { Columnar } from '../../src/platform/stores/columnar.ts'
import { openSegmentLog } from '../../src/platform/stores/segment-log.ts'
import { type ServiceOverrides, type Shared, shareParts } from '../../src/wiring/shared.ts'
import type { TestDatabase } from './postgres.ts'

/** Address of the service under test, as users reach it. */
export const testOrigin = 'https://millrace.example'

/** Cheap enough for tests that are not about the cost. */
export const cheapPasswords = (): Passwords => createPasswords({ cost: { memory: 64, passes: 1, lanes: 1 } })

/** The same for all services, which may share a database. */
const encryptionKey = createHash('sha256').update('services under test').digest()

/** Opens what a service under test has sealed. */
export const testBox = createSecretBox([encryptionKey])

/** A token for services with a `findPrincipal` of the test, which takes any. */
export const callerToken = { authorization: `Bearer ${'c'.repeat(43)}` }

/** An engine that answers every question with no row. */
const emptyColumnar: Columnar = {
  query: async () => [],
  stream: async () => Readable.from([]),
  command: async () => {},
  insert: async () => {},
  ping: async () => {},
  close: async () => {},
}

const stays = async () => {}

const givenRelational = (database: TestDatabase): OpenedRelational => ({
  relational: database,
  ownerAddress: database.owner,
  applicationRole: undefined,
  isMigrated: true,
  child: undefined,
  close: stays,
})

const givenColumnar = (columnar: Columnar, isMigrated: boolean): OpenedColumnar => ({
  columnar,
  isMigrated,
  child: undefined,
  serves: Promise.resolve(),
  close: stays,
})

export interface TestServiceOptions extends Omit<ContextOverrides, 'clock'> {
  /** Where users reach it. */
  readonly origin?: () => string
  readonly logger?: Logger
  /** A clock of the process alone; without it process and database share the time of the test. */
  readonly clock?: Clock
  /** Stays open; one without any row when it is not given. */
  readonly columnar?: Columnar
  /** Whether the service applies the migrations of the columnar store itself. */
  readonly migratesColumnar?: boolean
  /** Further variables of its environment. */
  readonly environment?: Readonly<Record<string, string>>
  /** What ends with the service. */
  readonly onClose?: () => Promise<void>
}

export interface TestService {
  /** The whole interface and the collector. Closing it closes the service, and leaves the stores open. */
  readonly app: FastifyInstance
  readonly context: Context
}

/**
 * The production composition over a migrated database of the test: cheap passwords, no work in the background, and a
 * time that stands still. Tests of the whole interface build their app here; `collector.ts` builds the collector alone,
 * with a clock, a store of datasources and limits in the test's hands.
 */
export async function openTestService(
  database: TestDatabase,
  options: TestServiceOptions = {},
): Promise<TestService> {
  const {
    origin = () => testOrigin,
    logger = silentLogger,
    columnar = emptyColumnar,
    migratesColumnar = false,
    environment = {},
    onClose,
    ...overrides
  } = options
  if (!options.clock) database.follow()
  const path = mkdtempSync(join(tmpdir(), 'millrace-service-'))
  const dataDirectory = await openDataDirectory(path)
  const readConfig = configFrom(
    readEnvironment({
      MILLRACE_DATA_DIR: path,
      MILLRACE_ENCRYPTION_KEY: encryptionKey.toString('base64'),
      MILLRACE_ADMIN_EMAIL: 'first@millrace.example',
      MILLRACE_ADMIN_PASSWORD: 'twelve grey herons',
      // Temporary files may be in memory, of which others take as much as they want.
      MILLRACE_DISK_RESERVE_MIB: '0',
      ...environment,
    }),
  )
  // What works in the background would come between the steps of a test.
  const config = { ...readConfig, roles: new Set(['interface', 'collector'] as const) }
  const context = await openContext({
    config,
    logger,
    dataDirectory,
    publicUrl: origin,
    stores: {
      relational: Promise.resolve(givenRelational(database)),
      columnar: givenColumnar(columnar, !migratesColumnar),
    },
    overrides: {
      clock: database.time.clock,
      passwords: cheapPasswords(),
      // One that watches the disk is the context's own.
      ...(overrides.freeBytes ? {} : { log: await openSegmentLog({ directory: join(path, 'log') }) }),
      ...overrides,
    },
  })
  await context.whenReady
  const app = await buildApp(context, () => ({ baseUrl: `${origin()}/v2`, collectorUrl: origin() }))
  app.addHook('onClose', async () => {
    await context.close()
    dataDirectory.release()
    rmSync(path, { recursive: true, force: true })
    await onClose?.()
  })
  await app.ready()
  return { app, context }
}

/** What services of another process on the same stores share, over connections of its own. */
export const sharedBeside = (
  { parts }: Context,
  relational: TestDatabase,
  overrides: ServiceOverrides = parts.overrides,
): Shared => shareParts({ ...parts, relational, overrides }, () => false)
