// One place wires all features, a line for each port: it is as long as there are ports.

import type { OpenedColumnar } from '../boot/open-stores.ts'
import { type AnswerBodies, createAnswerBodies } from '../features/analytics/answer-body.ts'
import { createCohortListStore } from '../features/analytics/cohorts/cohort-list-store.ts'
import { createCohortPeople } from '../features/analytics/cohorts/cohort-people.ts'
import { type CohortService, createCohortService } from '../features/analytics/cohorts/cohort-service.ts'
import { createCohortStore } from '../features/analytics/cohorts/cohort-store.ts'
import { createDefinitionReader } from '../features/analytics/definitions/definition-reader.ts'
import { createDefinitionStore } from '../features/analytics/definitions/definition-store.ts'
import { createVisibleWorkflowsReader } from '../features/analytics/definitions/visible-workflows-store.ts'
import { createExperimentMeasure } from '../features/analytics/explorations/experiments/experiment-measure.ts'
import { createMembershipReader } from '../features/analytics/persons/cohort-membership-store.ts'
import { createBindingsReader } from '../features/analytics/persons/person-bindings-store.ts'
import { createPersonEventsStore } from '../features/analytics/persons/person-events-store.ts'
import { createPersonService } from '../features/analytics/persons/person-service.ts'
import type { CompiledQuery } from '../features/analytics/query/compile/compile.ts'
import { createQueryLimiter, type QueryLimiter } from '../features/analytics/query/query-limiter.ts'
import {
  defaultRunLimits,
  type EngineCell,
  type RunLimits,
  rowsOfCompiled,
} from '../features/analytics/query/run.ts'
import { add, startOf } from '../features/analytics/query/time/calendar.ts'
import { readRange } from '../features/analytics/query/time/dates.ts'
import { openZone } from '../features/analytics/query/time/zone.ts'
import {
  type AnalyticsSettingsService,
  createAnalyticsSettingsService,
} from '../features/analytics/settings/analytics-settings-service.ts'
import {
  createEventAliasService,
  type EventAliasService,
} from '../features/analytics/settings/event-alias-service.ts'
import { createStatisticsService, type StatisticsService } from '../features/analytics/statistics-service.ts'
import { createStatisticsStore } from '../features/analytics/statistics-store.ts'
import { type AuditService, createAuditService } from '../features/audit/audit-service.ts'
import { createAuditStore, recordAudit } from '../features/audit/audit-store.ts'
import { createDatasourceLogStore } from '../features/datasources/datasource-log-store.ts'
import { createDatasourceStore } from '../features/datasources/datasource-store.ts'
import {
  createDatasources,
  type DatasourceContents,
  type Datasources,
  type DatasourcesDependencies,
} from '../features/datasources/datasources.ts'
import { ensureWorkflowEvents } from '../features/datasources/workflow-events-store.ts'
import {
  type CollectorService,
  createCollectorService,
} from '../features/events/collector/collector-service.ts'
import { watchIngest } from '../features/events/collector/ingest-watch.ts'
import { createCountryDatabase } from '../features/events/collector/senders/country-database.ts'
import { createSenderReader, readSender } from '../features/events/collector/senders/senders.ts'
import type { HiddenDatasources } from '../features/events/loading/purges/hidden-datasource-store.ts'
import { requestPurge } from '../features/events/loading/purges/purge-ledger-store.ts'
import type { TrackerFilesDependencies } from '../features/events/tracker-files/tracker-routes.ts'
import {
  type AssignmentService,
  createAssignmentService,
} from '../features/experiments/assignment-service.ts'
import type { ReadResults } from '../features/experiments/decision.ts'
import {
  createExperimentService,
  type ExperimentService,
} from '../features/experiments/experiment-service.ts'
import { createExperimentStarter } from '../features/experiments/experiment-start.ts'
import { createExperimentStore } from '../features/experiments/experiment-store.ts'
import {
  createDecisionReader,
  createResultsReader,
  createResultsService,
  type ResultsService,
} from '../features/experiments/results/results-service.ts'
import { claimKey } from '../features/idempotency/idempotency-store.ts'
import { type AccountServices, createAccountServices } from '../features/identity/people/account-services.ts'
import { createTimezoneStore } from '../features/identity/people/company/timezone-store.ts'
import { createPeopleStore } from '../features/identity/people/people-store.ts'
import {
  requireMemberTeams,
  requireResourceGroups,
} from '../features/identity/people/teams/resource-groups.ts'
import { createProvisioning, type Provisioning } from '../features/identity/provisioning/provisioning.ts'
import { createBearerGuard } from '../features/identity/sessions/access/bearer-guard.ts'
import { createRefusalAudit } from '../features/identity/sessions/access/refusal-audit.ts'
import {
  type ApplicationService,
  createApplicationService,
} from '../features/identity/sessions/applications/application-service.ts'
import { redirectAddresses } from '../features/identity/sessions/clients/redirect-uri.ts'
import { createFamiliarStore } from '../features/identity/sessions/familiar-store.ts'
import {
  createOwnSessionService,
  type OwnSessionService,
} from '../features/identity/sessions/own-sessions/own-session-service.ts'
import { createTokenStore, type TokenStore } from '../features/identity/sessions/tokens/token-store.ts'
import {
  type AuthorizationReader,
  createAuthorizationReader,
} from '../features/identity/sign-in/authorization-request.ts'
import { createPasswordCheck } from '../features/identity/sign-in/passwords/password-check.ts'
import {
  defaultPolicy,
  type ThrottlePolicy,
} from '../features/identity/sign-in/passwords/sign-in-throttle.ts'
import {
  type AuthenticatorService,
  createAuthenticatorService,
} from '../features/identity/sign-in/second-factor/authenticator-service.ts'
import { createSecondFactor } from '../features/identity/sign-in/second-factor/second-factor.ts'
import { createSignInService, type SignInService } from '../features/identity/sign-in/sign-in-service.ts'
import { createTokenService, type TokenService } from '../features/identity/sign-in/tokens/token-service.ts'
import {
  type ResolveTxt,
  resolveTxtRecords,
} from '../features/identity/single-sign-on/domains/domain-service.ts'
import { createDomainStore } from '../features/identity/single-sign-on/domains/domain-store.ts'
import {
  createSingleSignOn,
  type SingleSignOn,
} from '../features/identity/single-sign-on/single-sign-on-service.ts'
import {
  createLinkedAccountService,
  type LinkedAccountService,
} from '../features/linked-accounts/linked-account-service.ts'
import {
  createPreviewService,
  type PreviewService,
} from '../features/personalisation/display/preview-service.ts'
import {
  createRunnerService,
  type RunnerService,
} from '../features/personalisation/display/runner-service.ts'
import { createRunnerStore } from '../features/personalisation/display/runner-store.ts'
import { createIntegrationReader } from '../features/personalisation/integrations/integration-reader.ts'
import {
  createPageIntegrationsService,
  type PageIntegrationsService,
} from '../features/personalisation/integrations/page-integrations-service.ts'
import { hasVariableProfile, settingSources } from '../features/personalisation/setting-sources.ts'
import {
  createWorkflowSettings,
  type WorkflowSettings,
} from '../features/personalisation/workflow-settings.ts'
import {
  createWorkflows,
  type Workflows,
  type WorkflowsDependencies,
} from '../features/personalisation/workflows.ts'
import { createReportSettingsStore } from '../features/reports/automatic/report-settings-store.ts'
import type { LanguageModel } from '../features/reports/language-model/language-model.ts'
import { createReports, type Reports, type ReportsDependencies } from '../features/reports/reports.ts'
import { createSavedQueries, type SavedQueries } from '../features/saved-queries/saved-queries.ts'
import { createSavedQueryStore } from '../features/saved-queries/saved-query-store.ts'
import { nextTimes } from '../features/saved-queries/schedule/planned-times.ts'
import { readCron } from '../features/saved-queries/schedule/read-cron.ts'
import { createStorageService, type StorageService } from '../features/storage/storage-service.ts'
import { createSystemTagKeys } from '../features/tag-keys/system-tag-keys.ts'
import {
  createTagKeyService,
  type ListUsesOfTag,
  type TagKeyService,
} from '../features/tag-keys/tag-key-service.ts'
import { type Clock, monotonicClock } from '../platform/clock.ts'
import type { Passwords } from '../platform/crypto/passwords.ts'
import type { SecretBox } from '../platform/crypto/secret-box.ts'
import type { DiskRoom } from '../platform/files/disk-reserve.ts'
import { normalizeId } from '../platform/ids.ts'
import { createSqlLeakyBuckets } from '../platform/limits/sql-leaky-bucket.ts'
import type { Logger } from '../platform/logger.ts'
import type { EnqueueMail } from '../platform/mail/mail-queue.ts'
import type { Metrics } from '../platform/metrics.ts'
import type { OutgoingClient } from '../platform/outgoing/outgoing-client.ts'
import type { EventLog } from '../platform/stores/event-log.ts'
import type { Queries, Relational } from '../platform/stores/relational.ts'

/** The rules of every feature, over one set of stores. */
export interface Services extends Pick<Datasources, 'datasources' | 'workerDatasources' | 'datasourceRows'> {
  readonly tokens: TokenService
  readonly guard: ReturnType<typeof createBearerGuard>
  readonly signIn: SignInService
  readonly readAuthorization: AuthorizationReader
  readonly applications: ApplicationService
  readonly ownSessions: OwnSessionService
  readonly authenticators: AuthenticatorService
  readonly singleSignOn: SingleSignOn
  readonly collector: CollectorService
  readonly datasourceImports: Datasources['loops']
  readonly storage: StorageService
  readonly statistics: StatisticsService
  readonly analyticsSettings: AnalyticsSettingsService
  readonly eventAliases: EventAliasService
  readonly answerBodies: AnswerBodies
  readonly cohorts: CohortService
  readonly savedQueries: SavedQueries
  readonly reports: Reports
  readonly tagKeys: TagKeyService
  readonly workflows: Workflows
  readonly workflowSettings: WorkflowSettings
  readonly experiments: ExperimentService
  readonly assignments: AssignmentService
  readonly experimentResults: ResultsService
  readonly experimentStarter: ReturnType<typeof createExperimentStarter>
  readonly accounts: AccountServices
  readonly linkedAccounts: LinkedAccountService
  readonly audit: AuditService
  readonly provisioning: Provisioning
  readonly runner: RunnerService
  readonly previews: PreviewService
  readonly trackerFiles: Pick<TrackerFilesDependencies, 'findCompany'>
  readonly pageIntegrations: PageIntegrationsService
}

export type FindPrincipal = Parameters<typeof createBearerGuard>[0]['findPrincipal']

/** What tests put in the place of what the service decides itself. */
export interface ServiceOverrides {
  readonly throttlePolicy?: ThrottlePolicy
  readonly resolveTxt?: ResolveTxt
  readonly queryLimiter?: QueryLimiter
  readonly queryLimits?: RunLimits
  readonly listUsesOfTag?: ListUsesOfTag
  readonly listUsesOfDatasource?: DatasourcesDependencies['listUsesOfDatasource']
  readonly contentProcesses?: DatasourcesDependencies['processes']
  readonly validateDefinition?: WorkflowsDependencies['validateDefinition']
  readonly readResults?: ReadResults
  readonly reportWriting?: ReportsDependencies['writing']
}

export interface ServiceParts {
  readonly relational: Relational
  readonly columnar: OpenedColumnar['columnar']
  readonly hidden: Pick<HiddenDatasources, 'ids' | 'refresh'>
  readonly log: EventLog
  readonly passwords: Passwords
  readonly box: SecretBox
  readonly outgoing: OutgoingClient
  /** Undefined when none is configured. */
  readonly languageModel: LanguageModel | undefined
  readonly enqueueMail: EnqueueMail
  /** Address under which users reach the service, without a path. */
  readonly publicUrl: () => string
  /** Where answers that are too large for the memory are held. */
  readonly spools: { readonly directory: string; readonly room: DiskRoom }
  /** Where the content of datasources is. */
  readonly contents: DatasourceContents
  /** Of one company. */
  readonly maxStoredBytes: number
  /** File of the country of each address; undefined for the one that the service brings. */
  readonly countryDatabase: string | undefined
  readonly findPrincipal: FindPrincipal
  /** Milliseconds that a run of a workflow may wait for its data. */
  readonly runnerTimeLimitMs: number
  readonly clock: Clock
  /** For ages. */
  readonly steadyClock: Clock
  readonly logger: Logger
  readonly metrics: Metrics
  readonly ending: AbortSignal
  readonly overrides: ServiceOverrides
}

/** Metadata of an identity provider is some kilobytes; federations of thousands are not for one company. */
const metadataLimits = { limitBytes: 1024 * 1024, timeoutMs: 20_000 }

/** Wires the features together: what one needs of another it gets here. */
export function createServices(parts: ServiceParts): Services {
  const {
    relational,
    columnar,
    hidden,
    log,
    passwords,
    findPrincipal,
    clock,
    steadyClock,
    logger,
    metrics,
    ending,
  } = parts
  const { box, outgoing, enqueueMail, publicUrl, overrides } = parts
  // One for everything that asks the engine: what one company asks does not hold up another.
  const limiter = overrides.queryLimiter ?? createQueryLimiter()
  const storedTokens = createTokenStore(relational.db)
  const tokens: TokenStore = {
    ...storedTokens,
    async findClient(id) {
      const client = await storedTokens.findClient(id)
      return client && { ...client, redirectUris: redirectAddresses(client.redirectUris, publicUrl()) }
    },
  }
  const identity = { relational, recordAudit, passwords, box, enqueueMail, publicUrl, clock, log: logger }
  const familiar = createFamiliarStore(relational.db)
  const readAuthorization = createAuthorizationReader(tokens)
  const passwordCheck = createPasswordCheck({
    ...identity,
    tokens,
    familiar,
    throttle: createSqlLeakyBuckets(relational.db),
    secondFactor: createSecondFactor(identity),
    policy: overrides.throttlePolicy ?? defaultPolicy,
  })
  const datasourceStates = createDatasourceStore(relational.db)
  const collector = createCollectorService({
    log,
    async findDatasource(id) {
      const found = await datasourceStates.findState(id)
      // Displays and clicks of workflows are written by the service alone, and rows come another way.
      return found?.kind === 'tracking' ? { ...found, active: found.status === 'active' } : undefined
    },
    countries: createCountryDatabase({ file: parts.countryDatabase, logger }),
    clock,
    steadyClock,
    logger,
    metrics,
  })
  const provisioning = createProvisioning(identity)
  const { knowsTimezone } = createTimezoneStore({ columnar })
  const accounts = createAccountServices({
    ...identity,
    knowsTimezone,
    settingsNaming: provisioning.settingsNaming,
    async onTimezoneChanged(tx, companyId) {
      await createSavedQueryStore(tx).replan(companyId)
      await createReportSettingsStore(tx).replan(companyId)
    },
  })
  const signIn = createSignInService({
    ...identity,
    tokens,
    familiar,
    passwordCheck,
    findSingleSignOn: createDomainStore(relational.db).findSingleSignOn,
  })
  const lockCompany = (tx: Queries, companyId: string) => createPeopleStore(tx).lockCompany(companyId)
  const analyticsSettings = createAnalyticsSettingsService({ relational, recordAudit })
  const isIngesting = watchIngest(collector, ending)
  const queryLimits: RunLimits = overrides.queryLimits ?? {
    ...defaultRunLimits,
    // With all of them a query halves what the collector can take.
    threads: () => (isIngesting() ? 1 : undefined),
  }
  /** Under the limits of queries; the users of a company take turns. */
  async function runStatement(
    { companyId, userId }: { readonly companyId: string; readonly userId: string },
    statement: CompiledQuery,
    signal: AbortSignal,
  ): Promise<readonly EngineCell[][]> {
    const leave = await limiter.enter(companyId, signal, userId)
    try {
      return await rowsOfCompiled(columnar, statement, queryLimits, signal)
    } finally {
      leave()
    }
  }
  const integrations = createIntegrationReader({ relational, publicUrl })
  const workflowChanged = (workflowId: string) => runner.drop(workflowId)
  const workflows = createWorkflows({
    relational,
    recordAudit,
    lockCompany,
    requireMemberTeams,
    claimKey,
    ensureEventsDatasource: (tx, companyId) =>
      ensureWorkflowEvents(tx, companyId, createPeopleStore(tx).getDefaultTeam),
    listIntegrations: integrations.list,
    hasVariableProfile,
    findIntegration: integrations.findRunnable,
    sources: settingSources,
    readVisibleWorkflows: (tx, reader) => createVisibleWorkflowsReader(tx)(reader),
    validateDefinition: overrides.validateDefinition,
    workflowChanged,
    clock,
  })
  const workflowSettings = createWorkflowSettings({
    relational,
    recordAudit,
    lockCompany,
    requireMemberTeams,
    integrations,
    uses: workflows.uses,
    workflowChanged,
    runStatement: ({ companyId, userId, signal }, statement) =>
      runStatement({ companyId, userId }, { ...statement, columns: [], rangeLabels: [] }, signal),
    clock,
  })
  const readVisibleWorkflows = createVisibleWorkflowsReader(relational.db)
  const cohorts = createCohortService({
    relational,
    lockCompany,
    requireUnused: (tx, reader, resourceId) =>
      workflows.uses.requireUnused(tx, reader, { kind: 'cohort', resourceId }),
    lists: createCohortListStore({ columnar }),
    people: createCohortPeople(({ company, signal }, statement) => runStatement(company, statement, signal)),
    recordAudit,
    readSettings: analyticsSettings.getForQuery,
    readVisibleWorkflows,
    clock,
  })
  const statisticsStore = createStatisticsStore({ columnar, hidden })
  const statistics = createStatisticsService({
    limiter,
    columnar,
    store: statisticsStore,
    readSettings: analyticsSettings.getForQuery,
    readVisibleWorkflows,
    readCohorts: cohorts.readCohorts,
    definitions: createDefinitionReader(createDefinitionStore(relational.db)),
    clock,
    steadyClock,
    limits: queryLimits,
    onAnswered: (outcome, seconds) => metrics.querySeconds.observe({ outcome }, seconds),
  })
  const readResults = createResultsReader(
    createExperimentMeasure({
      readSettings: analyticsSettings.getForQuery,
      readVersion: statisticsStore.readVersion,
      run: ({ signal, ...asked }, statement) => runStatement(asked, statement, signal),
      clock,
    }),
  )
  const experiments = createExperimentService({
    relational,
    recordAudit,
    lockCompany,
    requireResourceGroups,
    tagKeys: createSystemTagKeys(),
    requireWorkflows: workflows.uses.requireWorkflows,
    readResults: overrides.readResults ?? createDecisionReader(readResults),
    clock,
  })
  const storage = createStorageService({ relational, maxBytes: parts.maxStoredBytes, log: logger })
  const { loops: datasourceImports, ...datasourceParts } = createDatasources({
    relational,
    recordAudit,
    listTeams: createPeopleStore(relational.db).listTeams,
    log: createDatasourceLogStore({ columnar }),
    listUsesOfDatasource:
      overrides.listUsesOfDatasource ??
      ((tx, { datasourceId: resourceId, ...reader }, outsideTeams) =>
        workflows.uses.listPublished(tx, reader, { kind: 'datasource', resourceId }, outsideTeams)),
    enter: limiter.enter,
    requestPurge,
    refreshHidden: hidden.refresh,
    box,
    outgoing,
    times: {
      read(cron, timezone) {
        const reading = readCron(cron)
        if ('fault' in reading) return reading
        const zone = openZone(timezone)
        return { next: (after) => nextTimes(reading.recurrence, zone, after, 1)[0] }
      },
      knowsTimezone,
      readSettings: analyticsSettings.getForQuery,
    },
    enqueueMail,
    publicUrl,
    contents: parts.contents,
    holdStorage: storage.hold,
    clock,
    steadyClock,
    logger,
    processes: overrides.contentProcesses,
  })
  const linkedAccounts = createLinkedAccountService({
    relational,
    box,
    outgoing,
    recordAudit,
    clock,
    enter: createQueryLimiter({ running: 2, waiting: 4, what: 'test messages' }).enter,
  })
  const resolvePersons = createBindingsReader({ columnar })
  const persons = createPersonService({
    events: createPersonEventsStore({ columnar, resolvePersons }),
    readMembership: createMembershipReader({ columnar, resolvePersons }),
    findCohort: (companyId, id) => createCohortStore(relational.db).find({ companyId, id: normalizeId(id) }),
    readSettings: analyticsSettings.getForQuery,
    clock,
    steadyClock: monotonicClock,
  })
  const openRunner = {
    persons,
    findZone: workflows.findZone,
    readVersion: workflows.readPreviewable,
    rows: datasourceParts.datasourceRows,
    readCompany: createRunnerStore(relational.db, box).findCompany,
    async listExperiments(companyId: string, ids: readonly string[]) {
      const store = createExperimentStore(relational.db)
      const found = await Promise.all(ids.map((id) => store.find({ companyId, id })))
      return found.flatMap((each) =>
        each ? [{ ...each, routingVariantId: each.outcome?.routingVariantId }] : [],
      )
    },
    listSeenDatasources: datasourceStates.listSeen,
    readSender: createSenderReader(),
    openZone,
    publicUrl,
    timeLimitMs: parts.runnerTimeLimitMs,
    clock,
  }
  const runner = createRunnerService({
    ...openRunner,
    async record({ companyId, datasourceId, countries, fixed, data, userAgent, address, ...event }) {
      const datasource = { id: datasourceId, companyId, countries, active: true }
      const envelope = { ...event, key: companyId, data, v: 1 }
      await collector.collect(datasource, { events: [envelope], dropped: [] }, userAgent, address, fixed)
    },
    steadyClock: monotonicClock,
    log: logger,
    metrics,
  })
  return {
    runner,
    trackerFiles: {
      findCompany: async (datasourceId, address) => (await collector.find(datasourceId, address))?.companyId,
    },
    pageIntegrations: createPageIntegrationsService({
      ...integrations,
      clock: monotonicClock,
      log: logger,
    }),
    previews: createPreviewService({
      ...openRunner,
      environmentOf: runner.environmentOf,
    }),
    tokens: createTokenService({ ...identity, tokens, passwordCheck }),
    guard: createBearerGuard({
      findPrincipal,
      recordRefusal: createRefusalAudit(identity),
    }),
    signIn,
    readAuthorization,
    applications: createApplicationService(identity),
    ownSessions: createOwnSessionService({ ...identity, readUserAgent: readSender }),
    authenticators: createAuthenticatorService({ ...identity, passwordCheck }),
    collector,
    storage,
    ...datasourceParts,
    datasourceImports,
    singleSignOn: createSingleSignOn({
      ...identity,
      readAuthorizationRequest: async (query, acceptLanguage) =>
        (await readAuthorization(new Map(Object.entries(query)), acceptLanguage)).request,
      finishSignIn: signIn.finishSingleSignOn,
      keepSignIn: signIn.keepSingleSignOn,
      findClient: tokens.findClient,
      fetchDocument: (url) => outgoing.fetchDocument(url, metadataLimits),
      mailPasswordReset: accounts.passwordLinks.mailResetTo,
      onOutcome: (outcome) => metrics.singleSignOns.inc({ outcome }),
      resolveTxt: overrides.resolveTxt ?? resolveTxtRecords,
    }),
    analyticsSettings,
    eventAliases: createEventAliasService({ relational, recordAudit, lockCompany }),
    statistics,
    answerBodies: createAnswerBodies(parts.spools),
    cohorts,
    tagKeys: createTagKeyService({
      relational,
      recordAudit,
      lockCompany,
      requireResourceGroups,
      listUsesOfTag:
        overrides.listUsesOfTag ??
        (async (tx, tag) => {
          const uses = await createExperimentStore(tx).listUsesOfTag(tag)
          const experimentUses = uses.map((use) => ({ kind: 'experiment' as const, ...use }))
          if (tag.valueId !== undefined) return experimentUses
          const reference = { kind: 'tag-key', resourceId: tag.tagKeyId } as const
          const published = await workflows.uses.listPublished(tx, tag, reference)
          return [...experimentUses, ...published.map((use) => ({ kind: 'workflow' as const, ...use }))]
        }),
      forgetTag: workflows.uses.forgetTag,
    }),
    workflows,
    workflowSettings,
    experiments,
    experimentResults: createResultsService({ readMeasured: experiments.readMeasured, readResults }),
    assignments: createAssignmentService({
      relational,
      runStatement: ({ companyId, userId, signal }, statement) =>
        runStatement({ companyId, userId }, { ...statement, columns: [], rangeLabels: [] }, signal),
      log: logger,
    }),
    experimentStarter: createExperimentStarter({ relational, recordAudit, clock, log: logger }),
    accounts,
    audit: createAuditService({ store: createAuditStore(relational.db) }),
    linkedAccounts,
    savedQueries: createSavedQueries({
      relational,
      validateQuery: statistics.validate,
      answer: statistics.answer,
      readSettings: analyticsSettings.getForQuery,
      openZone,
      knowsTimezone,
      listLinkedAccounts: linkedAccounts.listIds,
      claimKey,
      sendMessage: linkedAccounts.deliver,
      holdStorage: storage.hold,
      rowsRoom: parts.contents.rowsRoom,
      recordAudit,
      enqueueMail,
      publicUrl,
      clock,
      log: logger,
    }),
    reports: createReports({
      relational,
      answer: statistics.answer,
      answerTogether: statistics.answerTogether,
      validateQuery: statistics.validate,
      readSettings: analyticsSettings.getForQuery,
      describe: statistics.describe,
      findSavedQuery: (companyId, id) => createSavedQueryStore(relational.db).find(companyId, id),
      model: parts.languageModel,
      time: { openZone, startOf, add, readRange },
      writing: overrides.reportWriting,
      isIngesting,
      rowsRoom: parts.contents.rowsRoom,
      findReader: (db, companyId, userId) => createSavedQueryStore(db).findRunner(companyId, userId),
      listReaders: (db, companyId, addresses) => createSavedQueryStore(db).listReaders(companyId, addresses),
      recordAudit,
      enqueueMail,
      publicUrl,
      clock,
      log: logger,
    }),
    provisioning,
  }
}
