import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { openToApplication } from '../database/application-role.ts'
import { upgradeColumnar } from '../database/columnar-upgrade.ts'
import { migrateColumnar, migrateRelational } from '../database/migrate.ts'
import { insertDatasource } from '../features/datasources/datasource-service.ts'
import { createKeyRegister } from '../features/encryption/key-register.ts'
import { createFilterFile } from '../features/events/loading/keys/filter-file.ts'
import {
  watchHiddenDatasources,
  withoutDatasources,
} from '../features/events/loading/removals/hidden-datasource-store.ts'
import { createPurgeLedger } from '../features/events/loading/removals/purge-ledger-store.ts'
import { watchErasedPersons } from '../features/events/persons/erased-persons.ts'
import { createErasureStore } from '../features/events/persons/erasure-store.ts'
import { type Bootstrapped, bootstrap } from '../features/identity/people/installation/bootstrap.ts'
import { type AccessCache, createAccessCache } from '../features/identity/sessions/access/access-cache.ts'
import { watchAccessChanges } from '../features/identity/sessions/access/access-changes.ts'
import { createAccessStore } from '../features/identity/sessions/access/access-store.ts'
import { createClientService } from '../features/identity/sessions/clients/client-service.ts'
import { createClientStore } from '../features/identity/sessions/clients/client-store.ts'
import { createOriginCache } from '../features/identity/sessions/clients/origin-cache.ts'
import { createCertificateWatch } from '../features/identity/single-sign-on/certificates/certificate-watch.ts'
import { createMailService } from '../features/mail/mail-service.ts'
import { createMailQueue, createMailStore } from '../features/mail/mail-store.ts'
import { openConfiguredModel } from '../features/reports/language-model/configured-model.ts'
import type { LanguageModel } from '../features/reports/language-model/language-model.ts'
import { createAttachmentReader } from '../features/saved-queries/runs/read-attachment.ts'
import { type Clock, monotonicClock, systemClock } from '../platform/clock.ts'
import type { Config } from '../platform/config/config.ts'
import { createArgon2Threads } from '../platform/crypto/argon2-threads.ts'
import { readKeyFile } from '../platform/crypto/encryption-key.ts'
import { createPasswords, type Passwords } from '../platform/crypto/passwords.ts'
import type { DataDirectory } from '../platform/files/data-directory.ts'
import type { FreeBytes } from '../platform/files/disk-reserve.ts'
import { createReadiness, type Readiness } from '../platform/http/health-routes.ts'
import { type InterfaceUse, watchInterfaceUse } from '../platform/http/interface-use.ts'
import { newId } from '../platform/ids.ts'
import type { Logger } from '../platform/logger.ts'
import { createDirectoryOutbox, type Outbox } from '../platform/mail/outbox.ts'
import { createSmtpOutbox } from '../platform/mail/smtp-outbox.ts'
import { createMetrics, type Metrics } from '../platform/metrics.ts'
import { openObjectStore } from '../platform/outgoing/object-store.ts'
import { createOutgoingClient, type OutgoingClient } from '../platform/outgoing/outgoing-client.ts'
import { rangesOf } from '../platform/outgoing/public-addresses.ts'
import { watchChannel } from '../platform/stores/channel-watch.ts'
import { requireCurrentColumnar } from '../platform/stores/current-columnar.ts'
import type { EventLog } from '../platform/stores/event-log.ts'
import type { Relational } from '../platform/stores/relational.ts'
import { openSegmentLog } from '../platform/stores/segment-log.ts'
import { createBackground } from '../platform/work/background.ts'
import { createPeriodicWork } from '../platform/work/periodic-work.ts'
import { wireLoader } from '../wiring/events.ts'
import { createServices, type Services } from '../wiring/services.ts'
import type { FindPrincipal, ServiceOverrides, ServiceParts } from '../wiring/shared.ts'
import { openBackupCopies } from './backup/backup-copies.ts'
import { recordErasure } from './backup/erasure-records.ts'
import { scheduledBackups } from './backup/scheduled-backups.ts'
import { measureDelays, measureMails, measureStorage, measureStores } from './measure-stores.ts'
import { type OpenedRelational, openReserves, type Stores } from './open-stores.ts'
import { periodicWorks } from './periodic-works.ts'

/** One core is left to the collector: with hashes on all of them each waits for some milliseconds. */
const hashingThreads = Math.max(1, Math.min(4, availableParallelism() - 1))

/** Where the web application is, below the address of the service. */
const consolePath = '/console/'

/** Everything that runs, wired together. */
export interface Context {
  readonly config: Config
  readonly logger: Logger
  readonly metrics: Metrics
  readonly publicUrl: () => string
  readonly installation: Bootstrapped
  /** What the services are made of: tests make others of it, as another process would. */
  readonly parts: ServiceParts
  readonly services: Services
  /** Whether pages of this origin may read what the interface answers. */
  readonly allowsOrigin: (origin: string) => Promise<boolean>
  /** What this process remembers of tokens. */
  readonly access: AccessCache
  readonly interfaceUse: InterfaceUse
  readonly readiness: () => Promise<Readiness>
  /** Resolves once events can be accepted, and queries answered unless the columnar store has a fault. */
  readonly whenReady: Promise<void>
  /** Why queries are not answered, for the operator; undefined when they are. */
  readonly columnarFault: () => string | undefined
  /** From now on the service says that it is not ready; requests are still answered. */
  announceStop(): void
  /** Makes durable what waits, stops the work in the background, then the stores. */
  close(): Promise<void>
}

export interface ContextOptions {
  readonly config: Config
  readonly logger: Logger
  readonly dataDirectory: DataDirectory
  /** Closed with the context, also when it cannot be opened. */
  readonly stores: Stores
  /** Address under which users reach the service, without a path; known once it listens. */
  readonly publicUrl: () => string
  readonly overrides?: ContextOverrides
}

/** What tests put in the place of what the service opens or makes itself. */
export interface ContextOverrides extends ServiceOverrides {
  /** For the times that the process decides; what tokens, codes and links live is decided by the database. */
  readonly clock?: Clock
  readonly outbox?: Outbox
  readonly passwords?: Passwords
  readonly outgoing?: OutgoingClient
  readonly languageModel?: LanguageModel
  readonly findPrincipal?: FindPrincipal
  readonly log?: EventLog
  readonly freeBytes?: FreeBytes
}

/** Applies what migrations a relational store lacks, for the service and for operator commands. */
export async function bringUpToDate(opened: OpenedRelational, logger: Logger): Promise<void> {
  const { ownerAddress, applicationRole } = opened
  await migrateRelational({
    address: ownerAddress,
    ...(applicationRole === undefined ? {} : { applicationRole }),
    logger,
  })
  if (applicationRole !== undefined) {
    await openToApplication({ owner: ownerAddress, role: applicationRole, logger })
  }
}

function installOnce(relational: Relational, passwords: Passwords, config: Config): Promise<Bootstrapped> {
  const clientOf = (queries: Parameters<typeof createClientStore>[0], name: string) =>
    createClientService(createClientStore(queries)).createClient({
      name,
      grants: [],
      redirectUris: [consolePath],
    })
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

/**
 * Brings the stores up to date, wires the services and starts the work in the background. Each step needs what those
 * before it have opened, and undoes it where it fails: hence the length.
 */
export async function openContext(options: ContextOptions): Promise<Context> {
  const { config, logger, dataDirectory, stores, overrides = {} } = options
  const { clock = systemClock } = overrides
  const steadyClock = overrides.clock ?? monotonicClock
  const metrics = createMetrics()
  const ending = new AbortController()
  const closers: (() => Promise<unknown> | undefined)[] = []
  const close = async (): Promise<void> => {
    ending.abort()
    for (const closer of closers.splice(0).toReversed()) await closer()
  }
  const hashing = createArgon2Threads(hashingThreads)
  closers.push(hashing.close)
  const passwords = overrides.passwords ?? createPasswords({ derive: hashing.derive })
  try {
    const { columnar: columnarHome } = stores
    closers.push(columnarHome.close)
    const relationalHome = await stores.relational
    const { relational } = relationalHome
    closers.push(relationalHome.close)
    if (!relationalHome.isMigrated) await bringUpToDate(relationalHome, logger)
    const upgrade = upgradeColumnar({
      serves: columnarHome.serves,
      async migrate() {
        if (columnarHome.isMigrated) return
        await migrateColumnar({
          columnar: columnarHome.columnar,
          lockAt: relationalHome.ownerAddress,
          logger,
        })
      },
      logger,
      signal: ending.signal,
    })
    const columnar = requireCurrentColumnar(columnarHome.columnar, () => upgrade.fault() === undefined)

    const outbox = overrides.outbox ?? (await openOutbox(config, dataDirectory))
    closers.push(async () => outbox.close())
    const box = await createKeyRegister({ relational }).open({
      given: config.encryptionKeys,
      readOwn: (mayMake) => readKeyFile(dataDirectory.path, mayMake),
    })
    const mailStore = createMailStore(relational.db, box)
    const readAttachment = createAttachmentReader(relational.db)
    const mails = createMailService({ store: mailStore, outbox, readAttachment, log: logger })
    measureMails(metrics, mailStore)
    const enqueueMail = createMailQueue(box)
    const certificates = createCertificateWatch({ relational, box, enqueueMail, clock })
    metrics.gauge(
      'millrace_sso_certificate_days',
      'Days until the first certificate ends without which the single sign-on of a company ends',
      // Not known while the store is away.
      () => certificates.minDaysLeft().catch(() => Number.NaN),
    )
    const installation = await installOnce(relational, passwords, config)

    const reserves = await openReserves(config, dataDirectory, clock, overrides.freeBytes)
    closers.push(async () => {
      for (const reserve of Object.values(reserves)) reserve.stop()
    })
    const log =
      overrides.log ??
      (await openSegmentLog({
        directory: join(dataDirectory.path, 'log'),
        preparesSegments: true,
        reserve: reserves.data,
        clock,
        onDamage: (damage) => logger.error({ damage }, damage.message),
      }))
    closers.push(log.close.bind(log))

    const interfaceUse = watchInterfaceUse(steadyClock)
    const access = createAccessCache(createAccessStore(relational).findAccess, steadyClock)
    const origins = createOriginCache(createClientStore(relational.db).listOrigins, logger, steadyClock)
    const forget = () => {
      access.forget()
      origins.forget()
    }
    const watch = watchAccessChanges({ pool: relational.pool, onChange: forget, log: logger })
    closers.push(watch.close)
    const outgoing =
      overrides.outgoing ??
      createOutgoingClient({
        allow: rangesOf(config.outgoingAllow),
        log: logger,
        ownHosts: () => [new URL(options.publicUrl()).hostname],
      })
    const ledger = createPurgeLedger(relational.db)
    const hidden = await watchHiddenDatasources({ ledger, pool: relational.pool, log: logger })
    closers.push(hidden.close)
    const erasures = createErasureStore(relational.db)
    metrics.gauge('millrace_person_erasures_open', 'Erasures of persons that are not done yet', () =>
      // Not known while the store is away.
      erasures.countAllOpen().catch(() => Number.NaN),
    )
    const erased = await watchErasedPersons({
      store: erasures,
      pool: relational.pool,
      log: logger,
    })
    closers.push(erased.close)
    metrics.gauge(
      'millrace_event_purges_open',
      'Deleted datasources whose events are not removed from the disk yet',
      () => hidden.ids().length,
    )
    const parts: ServiceParts = {
      spools: { directory: dataDirectory.runPath, room: reserves.data },
      contents: {
        directory: config.contentDirectory,
        room: reserves.contents,
        downloads: join(dataDirectory.runPath, 'downloads'),
        downloadsRoom: reserves.data,
        rowsRoom: reserves.rows,
        limitBytes: config.maxUploadBytes,
      },
      exports: {
        directory: config.exportDirectory,
        room: reserves.exports,
        copies: config.exportPlace && openObjectStore(config.exportPlace, { ...config, clock }),
      },
      maxStoredBytes: config.maxStoredBytes,
      countryDatabase: config.countryDatabase,
      relational,
      box,
      publicUrl: options.publicUrl,
      columnar: withoutDatasources(columnar, hidden),
      hidden,
      erased,
      eventLog: log,
      passwords,
      outgoing,
      languageModel: overrides.languageModel ?? openConfiguredModel(config.languageModel, logger),
      findPrincipal: overrides.findPrincipal ?? access.find,
      collectorThreads: config.collectorThreads,
      runnerTimeLimitMs: config.runnerTimeLimitMs,
      clock,
      steadyClock,
      log: logger,
      metrics,
      enqueueMail,
      ending: ending.signal,
      overrides,
    }
    const services = createServices(parts)
    closers.push(services.collector.close)
    if (config.roles.has('collector')) {
      const changes = watchChannel({
        pool: relational.pool,
        channel: 'workflow_changes',
        onNotice(workflowId) {
          services.runner.drop(workflowId)
          services.pageIntegrations.drop(workflowId)
        },
        onListening(is) {
          services.runner.setListening(is)
          services.pageIntegrations.setListening(is)
        },
        heartbeatMs: 300,
        log: logger,
      })
      closers.push(changes.close)
    }
    const { savedQueries, reports, datasourceImports } = services
    await datasourceImports.prepare()
    measureDelays(metrics, {
      runs: ['the run of a saved query', savedQueries.loops.findDelay],
      reports: ['the report', reports.loops.findDelay],
      imports: ['the import of a datasource', datasourceImports.findDelay],
    })
    const periodicWork = createPeriodicWork(relational.db, logger, [
      ...periodicWorks({ relational, services, mails: mailStore, certificates, logger }),
      ...scheduledBackups({
        config,
        relational: relationalHome.ownerAddress,
        columnar,
        served: upgrade.done,
        clock,
        logger,
        metrics,
      }),
    ])
    const background = createBackground({ relational, log: logger })
    closers.push(background.stop)

    const loader = wireLoader({
      ...{ relational, columnar, log, hidden, erased, box, clock, logger, metrics },
      // With a database that others may share, another process may have the requests.
      ...(config.relational.url === undefined && { isInUse: interfaceUse.isNow }),
      filterFile: createFilterFile(join(dataDirectory.path, 'known-keys')),
      recordErasure: async (record) => {
        await recordErasure(config.backups.directory, record)
        // Otherwise the next backup copies it.
        await openBackupCopies(config, config.backups.directory, clock)
          ?.copyErasures()
          .catch((error) => logger.warn({ err: error }, 'the list of erasures is not in the bucket yet'))
      },
    })
    closers.push(loader.stop)
    // Mails and rows of datasources do not wait for the columnar store.
    if (config.roles.has('worker')) {
      background.start([...mails.works, ...datasourceImports.works, periodicWork])
    }
    const ready = upgrade.done.then((isUpToDate) => {
      if (!isUpToDate || !config.roles.has('worker')) return
      loader.start()
      background.start([...savedQueries.loops.works, ...reports.loops.works, ...services.exportWorks])
    })

    let stopping = false
    measureStores(metrics, log, clock, [relationalHome.child, columnarHome.child])
    measureStorage(metrics, services.storage, reserves.data)
    return {
      config,
      logger,
      metrics,
      publicUrl: options.publicUrl,
      installation,
      parts,
      services,
      allowsOrigin: origins.has,
      access,
      whenReady: Promise.race([ready, upgrade.firstTry]),
      columnarFault: upgrade.fault,
      interfaceUse,
      readiness: createReadiness([
        { name: 'service', check: async () => refuseIf(stopping, 'is stopping') },
        { name: 'relational store', check: () => relational.ping() },
        {
          name: 'columnar store',
          async check() {
            refuseIf(upgrade.fault() !== undefined, upgrade.fault())
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

function refuseIf(condition: boolean, reason?: string): void {
  if (condition) throw new Error(reason)
}
