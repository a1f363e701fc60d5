import { join } from 'node:path'
import { migrateColumnar, migrateRelational } from './database/migrate.ts'
import { createAccountService } from './features/accounts/account-service.ts'
import { type Bootstrapped, bootstrap } from './features/accounts/bootstrap.ts'
import { createUserLifecycle } from './features/accounts/user-lifecycle.ts'
import { recordAudit } from './features/audit/audit-store.ts'
import { createAccessCache } from './features/auth/access-cache.ts'
import { watchAccessChanges } from './features/auth/access-changes.ts'
import { createAccessStore } from './features/auth/access-store.ts'
import { createBearerGuard } from './features/auth/bearer-guard.ts'
import { createClientService } from './features/auth/client-service.ts'
import { createClientStore } from './features/auth/client-store.ts'
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
import { createCheckpointStore } from './features/loading/checkpoint-store.ts'
import { createLoaderService } from './features/loading/loader-service.ts'
import { createLoaderStore } from './features/loading/loader-store.ts'
import { createMailService } from './features/mail/mail-service.ts'
import { createMailQueue, createMailStore } from './features/mail/mail-store.ts'
import { createCertificateWatch } from './features/single-sign-on/certificate-watch.ts'
import {
  createSingleSignOn,
  type SingleSignOn,
  type SingleSignOnPorts,
} from './features/single-sign-on/single-sign-on-service.ts'
import { createQueryGate } from './features/statistics/query/gate.ts'
import { defaultRunLimits } from './features/statistics/query/run.ts'
import { createStatisticsService, type StatisticsService } from './features/statistics/statistics-service.ts'
import { createStatisticsStore } from './features/statistics/statistics-store.ts'
import {
  type OpenedColumnar,
  type OpenedRelational,
  openColumnarStore,
  openRelationalStore,
} from './open-stores.ts'
import { type Clock, systemClock } from './platform/clock.ts'
import type { Config } from './platform/config/config.ts'
import { readKeyFile } from './platform/crypto/encryption-key.ts'
import { createSecretBox, type SecretBox } from './platform/crypto/secret-box.ts'
import type { DataDirectory } from './platform/data-directory.ts'
import { DomainError } from './platform/errors.ts'
import { createReadiness, type Readiness } from './platform/http/operations-routes.ts'
import { newId } from './platform/ids.ts'
import type { Logger } from './platform/logger.ts'
import { createDirectoryOutbox, createSmtpOutbox, type Outbox } from './platform/mail/outbox.ts'
import { createMetrics, type Metrics } from './platform/metrics.ts'
import { createPasswords, type Passwords } from './platform/passwords.ts'
import type { EventLog } from './platform/stores/event-log.ts'
import type { Relational } from './platform/stores/relational.ts'
import { openSegmentLog } from './platform/stores/segment-log.ts'

export interface Services {
  readonly tokens: TokenService
  readonly guard: ReturnType<typeof createBearerGuard>
  readonly collector: CollectorService
  readonly datasources: DatasourceService
  readonly singleSignOn: SingleSignOn
  readonly statistics: StatisticsService
}

/** Everything that runs, wired together. */
export interface Context {
  readonly config: Config
  readonly logger: Logger
  readonly metrics: Metrics
  readonly outbox: Outbox
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

/** Without a way to sign in by browser, to mail links and to fetch documents, single sign-on refuses what needs them. */
function portsOfSingleSignOn(): SingleSignOnPorts {
  const refuse = async (): Promise<never> => {
    const message = 'Single sign-on is not possible here: this service has no sign-in by browser'
    throw new DomainError('unavailable', {}, { message })
  }
  return {
    readAuthorizationRequest: refuse,
    finishSignIn: refuse,
    fetchDocument: refuse,
    mailPasswordReset: refuse,
  }
}

function createServices(parts: {
  relational: Relational
  box: SecretBox
  origin: () => string
  columnar: OpenedColumnar['columnar']
  log: EventLog
  passwords: Passwords
  findPrincipal: Parameters<typeof createBearerGuard>[0]['findPrincipal']
  clock: Clock
  logger: Logger
  metrics: Metrics
  ending: AbortSignal
}): Services {
  const { relational, box, origin, columnar, log, passwords } = parts
  const { findPrincipal, clock, logger, metrics, ending } = parts
  // One for everything that asks the engine: what one company asks does not hold up another.
  const gate = createQueryGate()
  const accounts = createAccountService({ relational, passwords, recordAudit })
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
      tokens: createTokenStore(relational),
      throttle: createThrottleStore(relational),
      passwords,
      log: logger,
    }),
    guard: createBearerGuard({ findPrincipal }),
    collector,
    datasources: createDatasourceService({
      relational,
      log: createDatasourceLogStore({ columnar }),
      enter: gate.enter,
    }),
    singleSignOn: createSingleSignOn({
      relational,
      box,
      lifecycle: createUserLifecycle({ relational, recordAudit }),
      recordAudit,
      origin,
      ports: portsOfSingleSignOn(),
      onOutcome: (outcome) => metrics.singleSignOns.inc({ outcome }),
      clock,
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
  }
}

/** Opens the stores, brings them up to date, wires the services and starts the work in the background. */
export async function openContext(options: ContextOptions): Promise<Context> {
  const { config, logger, dataDirectory, clock = systemClock, passwords = createPasswords() } = options
  const metrics = createMetrics()
  const ending = new AbortController()
  const closers: (() => Promise<unknown> | undefined)[] = []
  const close = async (): Promise<void> => {
    ending.abort()
    for (const closer of closers.splice(0).toReversed()) await closer()
  }
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
    const box = createSecretBox(config.encryptionKeys ?? [readKeyFile(dataDirectory.path)])
    const mails = createMailService({ store: createMailStore(relational.db, box), outbox, log: logger })
    closers.push(mails.stop)
    if (config.roles.has('worker')) mails.start()
    const enqueueMail = createMailQueue(box)
    const certificates = createCertificateWatch({ relational, box, enqueueMail, clock, log: logger })
    closers.push(certificates.stop)
    if (config.roles.has('worker')) certificates.start()
    metrics.gauge(
      'millrace_sso_certificate_days',
      'Days until the first certificate ends without which the single sign-on of a company ends',
      certificates.leastDays,
    )
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
    const services = createServices({
      relational,
      box,
      origin: options.origin,
      columnar,
      log,
      passwords,
      findPrincipal: cache.find,
      clock,
      logger,
      metrics,
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

function measureStores(
  metrics: Metrics,
  log: EventLog,
  clock: Clock,
  children: readonly OpenedRelational['child'][],
): void {
  metrics.gauge(
    'millrace_log_bytes',
    'Bytes of the event log that wait to be loaded',
    () => log.state().bytes,
  )
  metrics.gauge(
    'millrace_log_events',
    'Rows of the event log that wait to be loaded',
    () => log.state().events,
  )
  metrics.gauge('millrace_log_age_seconds', 'Age of the oldest row that waits to be loaded', () => {
    const { oldestAt } = log.state()
    return oldestAt === undefined ? 0 : Math.max(0, clock.now() - oldestAt) / 1000
  })
  metrics.gauge(
    'millrace_log_damages',
    'Stretches of the event log that could not be read',
    () => log.state().damage.length,
  )
  metrics.counter(
    'millrace_log_events_total',
    'Rows made durable in the event log',
    () => log.state().totals.events,
  )
  metrics.counter(
    'millrace_log_groups_total',
    'Groups made durable at once in the event log',
    () => log.state().totals.groups,
  )
  metrics.counter(
    'millrace_log_failures_total',
    'Groups that the file system refused',
    () => log.state().totals.failures,
  )
  for (const child of children) {
    if (!child) continue
    const { name } = child.status()
    metrics.gauge(`millrace_child_${name}_up`, `Whether the child process ${name} serves`, () =>
      child.status().state === 'ready' ? 1 : 0,
    )
    metrics.counter(
      `millrace_child_${name}_restarts_total`,
      `Restarts of the child process ${name}`,
      () => child.status().restarts,
    )
  }
}
