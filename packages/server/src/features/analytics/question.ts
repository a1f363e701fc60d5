import type { Lookup } from './catalogue/member.ts'
import type { Gathered } from './gathered-answers.ts'
import type { LabelUse } from './label-warnings.ts'
import type { CompiledQuery } from './query/compile/compile.ts'
import type { Attribution } from './query/compile/compile-credits.ts'
import type { Definitions } from './query/compile/compile-lookups.ts'
import type { VisibleWorkflows } from './query/compile/compile-workflows.ts'
import type { EventAliases } from './query/compile/event-name.ts'
import type { KnownCohorts } from './query/query.ts'
import type { Zone } from './query/time/zone.ts'

/** Settings of a company that statistics need. */
export interface StatisticsSettings {
  /** IANA name of the time zone in which dates are read and buckets begin. */
  readonly timezone: string
  /** How purchases are credited; windows in hours. */
  readonly attribution: Attribution
  /** Whether distinct counts are exact at any size. */
  readonly exactCounts: boolean
  readonly eventAliases: EventAliases
}

/** The same for the user who reads the answer. */
export interface AskedSettings extends StatisticsSettings {
  readonly visibleWorkflows: VisibleWorkflows
}

/** Of whom and when a question is asked. */
export interface Asked {
  readonly companyId: string
  /** Milliseconds since 1970. */
  readonly instant: number
  /** Whether the answer is streamed: then it has no bound of rows of its own. */
  readonly streamed: boolean
  readonly settings: AskedSettings
  /** Those that the question names, as they are at this instant. */
  readonly cohorts: KnownCohorts
  /** What its lookups need. */
  readonly definitions: Definitions
}

/** One statement, and the zone in which its times are shown. */
export interface Prepared {
  readonly compiled: CompiledQuery
  readonly zone: Zone
  /** As which it can be answered in one statement with others; undefined where it cannot. */
  readonly together?: Gathered | undefined
}

/** What can be asked of the stored facts: a query, or an exploration. Each is answered as one statement. */
export interface Question<P extends Prepared = Prepared> {
  /** What was asked, as it came: cohorts are found in it. */
  readonly body: unknown
  /** The labels that it names, to warn of those that nothing has. */
  readonly labels: readonly LabelUse[]
  /** Texts of definitions that it shows or compares; none when absent. */
  readonly lookups?: readonly Lookup[]
  /** @throws {DomainError} naming what is wrong with it */
  prepare(asked: Asked): P
}
