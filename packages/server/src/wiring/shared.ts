import { createVisibleWorkflowsReader } from '../features/analytics/definitions/visible-workflows-store.ts'
import type { CompiledQuery } from '../features/analytics/query/compile/compile.ts'
import { createQueryLimiter, type QueryLimiter } from '../features/analytics/query/query-limiter.ts'
import {
  defaultRunLimits,
  type EngineCell,
  type RunLimits,
  rowsOfCompiled,
} from '../features/analytics/query/run.ts'
import { openZone } from '../features/analytics/query/time/zone.ts'
import { createAnalyticsSettingsService } from '../features/analytics/settings/analytics-settings-service.ts'
import { recordAudit } from '../features/audit/audit-store.ts'
import type { DatasourceContents, DatasourcesDependencies } from '../features/datasources/datasources.ts'
import type { HiddenDatasources } from '../features/events/loading/removals/hidden-datasource-store.ts'
import type { ErasedPersons } from '../features/events/persons/erased-persons.ts'
import type { ReadResults } from '../features/experiments/decision.ts'
import type { ExportFilesOptions } from '../features/exports/export-files.ts'
import { claimKey } from '../features/idempotency/idempotency-store.ts'
import { createTimezoneStore } from '../features/identity/people/company/timezone-store.ts'
import { createPeopleStore } from '../features/identity/people/people-store.ts'
import {
  requireMemberTeams,
  requireResourceGroups,
} from '../features/identity/people/teams/resource-groups.ts'
import type { createBearerGuard } from '../features/identity/sessions/access/bearer-guard.ts'
import type { ThrottlePolicy } from '../features/identity/sign-in/passwords/sign-in-throttle.ts'
import type { ResolveTxt } from '../features/identity/single-sign-on/domains/domain-service.ts'
import type { VersionServiceDependencies } from '../features/personalisation/versions/version-service.ts'
import type { LanguageModel } from '../features/reports/language-model/language-model.ts'
import type { ReportsDependencies } from '../features/reports/reports.ts'
import { createStorageService } from '../features/storage/storage-service.ts'
import type { ListUsesOfTag } from '../features/tag-keys/tag-key-service.ts'
import type { Clock } from '../platform/clock.ts'
import type { DiskRoom } from '../platform/files/disk-reserve.ts'
import type { Logger } from '../platform/logger.ts'
import type { Metrics } from '../platform/metrics.ts'
import type { OutgoingClient } from '../platform/outgoing/outgoing-client.ts'
import type { ServiceContext } from '../platform/service-context.ts'
import type { Columnar } from '../platform/stores/columnar.ts'
import type { EventLog } from '../platform/stores/event-log.ts'
import type { Queries, Relational } from '../platform/stores/relational.ts'

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
  readonly validateDefinition?: VersionServiceDependencies['validateDefinition']
  readonly readResults?: ReadResults
  readonly reportWriting?: ReportsDependencies['writing']
}

/** What the process opens and is told. */
export interface ServiceParts extends Omit<ServiceContext, 'recordAudit' | 'lockCompany'> {
  readonly relational: Relational
  readonly columnar: Columnar
  readonly hidden: Pick<HiddenDatasources, 'ids' | 'refresh'>
  readonly erased: Pick<ErasedPersons, 'refusedBy'>
  readonly eventLog: EventLog
  readonly outgoing: OutgoingClient
  /** Undefined when none is configured. */
  readonly languageModel: LanguageModel | undefined
  /** Where answers that are too large for the memory are held. */
  readonly spools: { readonly directory: string; readonly room: DiskRoom }
  /** Where the content of datasources is. */
  readonly contents: DatasourceContents
  /** Where exports are. */
  readonly exports: ExportFilesOptions
  /** Of one company. */
  readonly maxStoredBytes: number
  /** File of the country of each address; undefined for the one that the service brings. */
  readonly countryDatabase: string | undefined
  readonly findPrincipal: FindPrincipal
  /** Threads beside the main one that validate events. */
  readonly collectorThreads: number
  /** Milliseconds that a run of a workflow may wait for its data. */
  readonly runnerTimeLimitMs: number
  /** For ages. */
  readonly steadyClock: Clock
  readonly log: Logger
  readonly metrics: Metrics
  readonly ending: AbortSignal
  readonly overrides: ServiceOverrides
}

/** The parts, with what many features ask of a few. */
export type Shared = ReturnType<typeof shareParts>

export function shareParts(parts: ServiceParts, isIngesting: () => boolean) {
  const { relational, columnar, overrides } = parts
  const storage = createStorageService({ ...parts, maxBytes: parts.maxStoredBytes })
  const analyticsSettings = createAnalyticsSettingsService({ relational, recordAudit })
  // One for everything that asks the engine: what one company asks does not hold up another.
  const limiter = overrides.queryLimiter ?? createQueryLimiter()
  const queryLimits: RunLimits = overrides.queryLimits ?? {
    ...defaultRunLimits,
    // With all of them a query halves what the collector can take.
    threads: () => (isIngesting() ? 1 : undefined),
  }
  return {
    ...parts,
    recordAudit,
    lockCompany: (tx: Queries, companyId: string) => createPeopleStore(tx).lockCompany(companyId),
    requireMemberTeams,
    requireResourceGroups,
    claimKey,
    openZone,
    knowsTimezone: createTimezoneStore(parts).knowsTimezone,
    isIngesting,
    storage,
    holdStorage: storage.hold,
    analyticsSettings,
    readSettings: analyticsSettings.getForQuery,
    readVisibleWorkflows: createVisibleWorkflowsReader(relational.db),
    limiter,
    queryLimits,
    /** Under the limits of queries; the users of a company take turns. */
    async runStatement(
      asked: { readonly companyId: string; readonly userId: string; readonly signal: AbortSignal },
      statement: Pick<CompiledQuery, 'sql' | 'params'>,
    ): Promise<readonly EngineCell[][]> {
      const leave = await limiter.enter(asked.companyId, asked.signal, asked.userId)
      try {
        return await rowsOfCompiled(columnar, statement, queryLimits, asked.signal)
      } finally {
        leave()
      }
    },
  }
}
