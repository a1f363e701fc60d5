import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { migrateColumnar, migrateRelational } from './database/migrate.ts'
import { createAccountService } from './features/accounts/account-service.ts'
import { type AccountServices, createAccountServices } from './features/accounts/account-services.ts'
import { type Bootstrapped, bootstrap } from './features/accounts/bootstrap.ts'
import { createTimezoneStore } from './features/accounts/timezone-store.ts'
import { createUserLifecycle } from './features/accounts/user-lifecycle.ts'
import { createAuditRetention } from './features/audit/audit-retention.ts'
import { type AuditService, createAuditService } from './features/audit/audit-service.ts'
import { createAuditStore, recordAudit } from './features/audit/audit-store.ts'
import { createAccessCache } from './features/auth/access-cache.ts'
import { watchAccessChanges } from './features/auth/access-changes.ts'
import { createAccessStore } from './features/auth/access-store.ts'
import {
  type AuthenticatorService,
  createAuthenticatorService,
} from './features/auth/authenticator-service.ts'
import { type AuthorizationReader, createAuthorizationReader } from './features/auth/authorization-request.ts'
import { createBearerGuard } from './features/auth/bearer-guard.ts'
import { createClientService } from './features/auth/client-service.ts'
import { createClientStore } from './features/auth/client-store.ts'
import { createCodeStore } from './features/auth/code-store.ts'
import { createPasswordCheck } from './features/auth/password-check.ts'
import { createSecondFactor } from './features/auth/second-factor.ts'
import { createSignInService, type SignInService } from './features/auth/sign-in-service.ts'
import { createThrottleStore } from './features/auth/throttle-store.ts'
import { createTokenService, type TokenService } from './features/auth/token-service.ts'
import { createTokenStore } from './features/auth/token-store.ts'
import { type CollectorService, createCollectorService } from './features/collector/collector-service.ts'
import { createDatasourceLogStore } from './features/datasources/datasource-log-store.ts'
import {
  createDatasourceService,
  type DatasourceService,
  insertDatasource,
} from './features/datasources/datasource-service.ts'
import { createDatasourceStore } from './features/datasources/datasource-store.ts'
import { createKeyRegister } from './features/encryption/key-register.ts'
import {
  createLinkedAccountService,
  type LinkedAccountService,
} from './features/linked-accounts/linked-account-service.ts'
import { createCheckpointStore } from './features/loading/checkpoint-store.ts'
import { createLoaderService } from './features/loading/loader-service.ts'
import { createLoaderStore } from './features/loading/loader-store.ts'
import { createMailService } from './features/mail/mail-service.ts'
import { createMailQueue, createMailStore } from './features/mail/mail-store.ts'
import { createProvisioning, type Provisioning } from './features/provisioning/provisioning.ts'
import { createQueryGate } from './features/statistics/query/gate.ts'
import { defaultRunLimits } from './features/statistics/query/run.ts'
import { createStatisticsService, type StatisticsService } from './features/statistics/statistics-service.ts'
import { createStatisticsStore } from './features/statistics/statistics-store.ts'
import { measureMails, measureStores } from './measure-stores.ts'
import {
  type OpenedColumnar,
  type OpenedRelational,
  openColumnarStore,
  openRelationalStore,
} from './open-stores.ts'
import { type Clock, systemClock } from './platform/clock.ts'
import type { Config } from './platform/config/config.ts'
import { createArgon2Threads } from './platform/crypto/argon2-threads.ts'
import { readKeyFile } from './platform/crypto/encryption-key.ts'
import type { SecretBox } from './platform/crypto/secret-box.ts'
import type { DataDirectory } from './platform/data-directory.ts'
import { createReadiness, type Readiness } from './platform/http/operations-routes.ts'
import { newId } from './platform/ids.ts'
import type { Logger } from './platform/logger.ts'
import type { EnqueueMail } from './platform/mail/mail-queue.ts'
import { createDirectoryOutbox, type Outbox } from './platform/mail/outbox.ts'
import { createSmtpOutbox } from './platform/mail/smtp-outbox.ts'
import { createMetrics, type Metrics } from './platform/metrics.ts'
import { createOutgoingClient, type OutgoingClient } from './platform/outgoing/outgoing-client.ts'
import { rangesOf } from './platform/outgoing/public-addresses.ts'
import { createPasswords, type Passwords } from './platform/passwords.ts'
import type { EventLog } from './platform/stores/event-log.ts'
import type { Relational } from './platform/stores/relational.ts'
import { openSegmentLog } from './platform/stores/segment-log.ts'

export interface Services {
  readonly tokens: TokenService
  readonly guard: ReturnType<typeof createBearerGuard>
  readonly signIn: SignInService
  readonly readAuthorization: AuthorizationReader
  readonly authenticators: AuthenticatorService
  readonly collector: CollectorService
  readonly datasources: DatasourceService
  readonly statistics: StatisticsService
  readonly accounts: AccountServices
  readonly linkedAccounts: LinkedAccountService
  readonly audit: AuditService
  readonly provisioning: Provisioning
}

/** More would only wait for each other: a hash is memory and one core. */
const hashingThreads = Math.min(4, availableParallelism())

/** Everything that runs, wired together. */
export interface Context {
  readonly config: Config
  readonly logger: Logger
  readonly metrics: Metrics
  readonly outbox: Outbox
  readonly origin: () => string
  readonly installation: Bootstrapped
  readonly services: Services
  readonly readiness: () => Promise<Readiness>
  /** Resolves once events can be accepted and queries answered for the first time. */
  readonly whenReady: Promise<void>
  /** From now on the service says that it is not ready; requests are still answered. */
  announceStop(): void
  /** Makes durable what waits, stops the work in the background, then the stores. */
  close(): Promise<void>
}

export interface ContextOptions {
  readonly config: Config
  readonly logger: Logger
  readonly dataDirectory: DataDirectory
  /** Address under which people reach the service, without a path; known once it listens. */
  readonly origin: () => string
  /** Tests move it. */
  readonly clock?: Clock
  /** Tests read what it was given. */
  readonly outbox?: Outbox
  readonly passwords?: Passwords
}

/** The relational store, up to date, for the service and for operator commands. */
export async function openMigratedRelational(
  config: Config,
  dataDirectory: DataDirectory,
  logger: Logger,
): Promise<OpenedRelational> {
  const opened = await openRelationalStore(config, dataDirectory, logger)
  try {
    await migrateRelational({
      address: opened.ownerAddress,
      ...(opened.applicationRole === undefined ? {} : { applicationRole: opened.applicationRole }),
      logger,
    })
    return opened
  } catch (error) {
    await opened.close()
    throw error
  }
}

function installOnce(relational: Relational, passwords: Passwords, config: Config): Promise<Bootstrapped> {
  const clientOf = (queries: Parameters<typeof createClientStore>[0], name: string) =>
    createClientService(createClientStore(queries)).createClient({ name, grants: [], redirectUris: [] })
  return bootstrap(
    {
      relational,
      passwords,
      createClient: (queries, { name }) => clientOf(queries, name),
      createDatasource: insertDatasource,
    },
    config.firstAdmin,
  )
}

async function openOutbox(config: Config, dataDirectory: DataDirectory): Promise<Outbox> {
  const { smtpUrl, from } = config.mail
  if (smtpUrl !== undefined) return createSmtpOutbox({ url: smtpUrl, from })
  return createDirectoryOutbox({ directory: join(dataDirectory.path, 'outbox'), from, newId })
}

function createServices(parts: {
  relational: Relational
  columnar: OpenedColumnar['columnar']
  log: EventLog
  passwords: Passwords
  box: SecretBox
  origin: () => string
  outgoing: OutgoingClient
  findPrincipal: Parameters<typeof createBearerGuard>[0]['findPrincipal']
  clock: Clock
  logger: Logger
  metrics: Metrics
  enqueueMail: EnqueueMail
  ending: AbortSignal
}): Services {
  const { relational, columnar, log, passwords, findPrincipal, clock, logger, metrics, ending } = parts
  const { box, outgoing, enqueueMail, origin } = parts
  // One for everything that asks the engine: what one company asks does not hold up another.
  const gate = createQueryGate()
  const accounts = createAccountService({ relational, passwords, recordAudit })
  const tokens = createTokenStore(relational.db)
  const passwordCheck = createPasswordCheck({
    relational,
    tokens,
    throttle: createThrottleStore(relational),
    passwords,
    secondFactor: createSecondFactor({ box, clock }),
    recordAudit,
    log: logger,
  })
  const lifecycle = createUserLifecycle({ relational, recordAudit })
  const datasourceStates = createDatasourceStore(relational.db)
  const collector = createCollectorService({
    log,
    async findDatasource(id) {
      const found = await datasourceStates.findState(id)
      return found && { id: found.id, companyId: found.companyId, active: found.status === 'active' }
    },
    clock,
    logger,
    metrics,
  })
  return {
    tokens: createTokenService({
      relational,
      tokens,
      storesIn: (tx) => ({ tokens: createTokenStore(tx), codes: createCodeStore(tx) }),
      passwordCheck,
      recordAudit,
    }),
    guard: createBearerGuard({ findPrincipal }),
    signIn: createSignInService({
      relational,
      codesIn: createCodeStore,
      passwordCheck,
      recordAudit,
      findSingleSignOn: async () => undefined,
      origin,
    }),
    readAuthorization: createAuthorizationReader(tokens),
    authenticators: createAuthenticatorService({
      relational,
      passwordCheck,
      box,
      recordAudit,
      endSessions: lifecycle.endSessions,
      clock,
    }),
    collector,
    datasources: createDatasourceService({
      relational,
      log: createDatasourceLogStore({ columnar }),
      enter: gate.enter,
    }),
    statistics: createStatisticsService({
      gate,
      columnar,
      store: createStatisticsStore({ columnar }),
      readSettings: (companyId) => accounts.getSettings(companyId),
      clock,
      limits: { ...defaultRunLimits, threads: oneThreadWhileIngesting(collector, ending) },
      onAnswered: (outcome, seconds) => metrics.querySeconds.observe({ outcome }, seconds),
    }),
    accounts: createAccountServices({
      relational,
      passwords,
      recordAudit,
      enqueueMail,
      origin,
      knowsTimezone: createTimezoneStore({ columnar }).knowsTimezone,
    }),
    audit: createAuditService({ store: createAuditStore(relational.db) }),
    linkedAccounts: createLinkedAccountService({
      relational,
      box,
      outgoing,
      recordAudit,
      clock,
      enter: createQueryGate({ running: 2, waiting: 4, what: 'test messages' }).enter,
    }),
    provisioning: createProvisioning({ relational, lifecycle, recordAudit, origin }),
  }
}

/** Opens the stores, brings them up to date, wires the services and starts the work in the background. */
export async function openContext(options: ContextOptions): Promise<Context> {
  const { config, logger, dataDirectory, clock = systemClock } = options
  const metrics = createMetrics()
  const ending = new AbortController()
  const closers: (() => Promise<unknown> | undefined)[] = []
  const close = async (): Promise<void> => {
    ending.abort()
    for (const closer of closers.splice(0).toReversed()) await closer()
  }
  const hashing = createArgon2Threads(hashingThreads)
  closers.push(hashing.close)
  const passwords = options.passwords ?? createPasswords({ derive: hashing.derive })
  try {
    const columnarHome = openColumnarStore(config, dataDirectory, logger)
    closers.push(columnarHome.close)
    // The engines start side by side: a start takes as long as the slower one.
    const columnarServes = columnarHome.start(ending.signal)
    const relationalHome = await openMigratedRelational(config, dataDirectory, logger)
    const { relational } = relationalHome
    closers.push(relationalHome.close)
    const { columnar } = columnarHome

    const outbox = options.outbox ?? (await openOutbox(config, dataDirectory))
    closers.push(async () => outbox.close())
    const box = await createKeyRegister({ relational }).open({
      given: config.encryptionKeys,
      readOwn: (mayMake) => readKeyFile(dataDirectory.path, mayMake),
    })
    const mailStore = createMailStore(relational.db, box)
    const mails = createMailService({ store: mailStore, outbox, log: logger })
    measureMails(metrics, mailStore)
    closers.push(mails.stop)
    const retention = createAuditRetention({ store: createAuditStore(relational.db), log: logger })
    closers.push(retention.stop)
    if (config.roles.has('worker')) {
      mails.start()
      retention.start()
    }
    const installation = await installOnce(relational, passwords, config)

    const log = await openSegmentLog({
      directory: join(dataDirectory.path, 'log'),
      preparesSegments: true,
      reserveBytes: config.diskReserveBytes,
      clock,
      onDamage: (damage) => logger.error({ damage }, damage.message),
    })
    closers.push(log.close.bind(log))

    const cache = createAccessCache(createAccessStore(relational).findAccess)
    const watch = watchAccessChanges({ pool: relational.pool, onChange: cache.forget, log: logger })
    closers.push(watch.close)
    const outgoing = createOutgoingClient({
      allow: rangesOf(config.outgoingAllow),
      ownHosts: () => [new URL(options.origin()).hostname],
    })
    const services = createServices({
      relational,
      columnar,
      log,
      passwords,
      box,
      origin: options.origin,
      outgoing,
      findPrincipal: cache.find,
      clock,
      logger,
      metrics,
      enqueueMail: createMailQueue(box),
      ending: ending.signal,
    })
    closers.push(services.collector.close)

    const loader = createLoaderService({
      log,
      store: createLoaderStore({ columnar, threads: 2 }),
      checkpoints: createCheckpointStore({ relational, log: log.id }),
      clock,
      logger,
      metrics,
    })
    closers.push(loader.stop)
    let columnarState = 'is starting'
    const whenReady = columnarServes.then(async () => {
      if (ending.signal.aborted) return
      await migrateColumnar({ columnar, lockAt: relationalHome.ownerAddress, logger })
      columnarState = ''
      if (config.roles.has('worker')) loader.start()
    })
    // A failure to bring the engine up to date is final for queries, not for events.
    whenReady.catch((error: unknown) => {
      columnarState = `cannot be brought up to date: ${(error as Error).message}`
      logger.error({ err: error }, 'the columnar store cannot be brought up to date')
    })

    let stopping = false
    measureStores(metrics, log, clock, [relationalHome.child, columnarHome.child])
    return {
      config,
      logger,
      metrics,
      outbox,
      origin: options.origin,
      installation,
      services,
      whenReady,
      readiness: createReadiness([
        { name: 'service', check: async () => refuseIf(stopping, 'is stopping') },
        { name: 'relational store', check: () => relational.ping() },
        {
          name: 'columnar store',
          async check() {
            refuseIf(columnarState !== '', columnarState)
            await columnar.ping()
          },
        },
        {
          name: 'loader',
          // The staging tables are shared: of the processes on one store one loads, and the others must not collect.
          async check() {
            const { condition } = loader.state()
            refuseIf(condition === 'waiting', 'another process on this database loads events')
            refuseIf(condition === 'stopped' && config.roles.has('worker'), 'is starting')
          },
        },
        {
          name: 'event log',
          async check() {
            const { refusing } = log.state()
            refuseIf(refusing !== undefined, `refuses events: ${refusing}`)
          },
        },
      ]),
      announceStop() {
        stopping = true
      },
      close,
    }
  } catch (error) {
    await close()
    throw error
  }
}

/** Events per second from which queries leave a core to whoever accepts events, and over how long it is taken. */
const busyRate = 1_000
const busyWindowMs = 500

/** While many events arrive a query computes with one thread: with all of them it halves what the collector can take. */
function oneThreadWhileIngesting(collector: CollectorService, ending: AbortSignal): () => number | undefined {
  let kept = 0
  let busy = false
  const timer = setInterval(() => {
    busy = ((collector.totals.kept - kept) * 1000) / busyWindowMs > busyRate
    kept = collector.totals.kept
  }, busyWindowMs).unref()
  ending.addEventListener('abort', () => clearInterval(timer))
  return () => (busy ? 1 : undefined)
}

function refuseIf(condition: boolean, reason: string): void {
  if (condition) throw new Error(reason)
}
