import type { Warning } from '@millrace/contract/envelope.ts'
import type { Query } from '@millrace/contract/resources/query.ts'
import type { Columnar } from '../../platform/stores/columnar.ts'
import { findDimension } from './catalogue/catalogue.ts'
import type { ReadCohorts } from './cohorts/cohort-reader.ts'
import type { Reader } from './definitions/visible-workflows-store.ts'
import { membersIn } from './label-warnings.ts'
import { compileTogether, sharedForm } from './query/compile/compile-together.ts'
import { parseQuery } from './query/parse/parse.ts'
import { type Plan, planQuery } from './query/plan.ts'
import type { QueryLimiter } from './query/query-limiter.ts'
import { createResultWriter } from './query/result-writer.ts'
import { createRowLimit } from './query/row-limit.ts'
import { type EngineCell, type RunLimits, runCompiled } from './query/run.ts'
import { openZone } from './query/time/zone.ts'
import type { AskedSettings } from './question.ts'

export interface SharedAnswersDependencies {
  readonly readSettings: (reader: Reader) => Promise<AskedSettings>
  readonly readCohorts: ReadCohorts
  readonly limiter: QueryLimiter
  /** Tells the metrics how the work of a statement ended. */
  readonly observe: <T>(work: () => Promise<T>, signal?: AbortSignal) => Promise<T>
  readonly runTogether: RunTogether
}

export interface SharedRequest {
  readonly companyId: string
  /** Whose teams decide which workflows the answer names. */
  readonly readerId: string | null
  readonly queries: readonly Query[]
  /** The instant that relative ranges are read as of, in milliseconds since 1970. */
  readonly at: number
  readonly signal?: AbortSignal
}

/** A whole answer as JSON. */
export interface SharedAnswer {
  readonly text: string
  readonly warnings: readonly Warning[]
}

/** A query of a statement that answers several. */
export interface Member {
  readonly query: Query
  readonly plan: Plan
}

/** Answers queries of one form (`formOf`) in one statement, at a place that the caller holds. */
export type RunTogether = (work: {
  readonly companyId: string
  readonly settings: AskedSettings
  readonly members: readonly Member[]
  readonly signal: AbortSignal | undefined
}) => Promise<SharedAnswer[]>

export interface RunTogetherDependencies {
  readonly columnar: Columnar
  readonly limits: RunLimits
  /** Warnings about the labels that a query names. */
  readonly warnOfLabels: (query: Query, companyId: string) => Promise<readonly Warning[]>
}

/** What a query has in common with those that one statement can answer with it; undefined where it is asked alone. */
export function formOf({ query, plan }: Member, settings: AskedSettings): string | undefined {
  // Which texts a look-up needs is found for one question.
  if (membersIn(query).some(({ id }) => findDimension(id)?.lookup !== undefined)) return undefined
  return sharedForm(plan, settings)
}

export function createRunTogether({ columnar, limits, warnOfLabels }: RunTogetherDependencies): RunTogether {
  return async ({ companyId, settings, members, signal }) => {
    const plans = members.map(({ plan }) => plan)
    const statement = compileTogether(plans, companyId, settings)
    const rows = plans.map((): EngineCell[][] => [])
    for await (const some of runCompiled(columnar, statement, limits, signal)) {
      for (const row of some) {
        const { part, cells } = statement.read(row)
        rows[part]?.push(cells)
      }
    }
    return Promise.all(
      members.map(async ({ query, plan }, i) => {
        const part = statement.parts[i]
        if (!part) throw new Error('the statement lacks a part')
        const rowLimit = createRowLimit(part)
        const writer = createResultWriter('json', part, plan.zone)
        const text = writer.begin() + writer.rows(rowLimit.keep(rows[i] ?? [])) + writer.end()
        const ofLabels = await warnOfLabels(query, companyId)
        return { text, warnings: [...ofLabels, ...rowLimit.warnings(), ...writer.warnings()] }
      }),
    )
  }
}

/**
 * Answers those of the queries that differ in nothing but the dimension that they group by: sessions and credits are then
 * computed once for all of them. In the place of each other query is nothing: it has to be answered by itself.
 * @throws {DomainError} what a query by itself throws
 */
export type AnswerTogether = (request: SharedRequest) => Promise<readonly (SharedAnswer | undefined)[]>

export function createSharedAnswers({
  readSettings,
  readCohorts,
  limiter,
  observe,
  runTogether,
}: SharedAnswersDependencies): AnswerTogether {
  return async ({ companyId, readerId, queries, at, signal }) => {
    const settings = await readSettings({ companyId, readerId })
    const now = { instant: at, zone: openZone(settings.timezone) }

    const asked = await Promise.all(
      queries.map(async (query, place) => {
        const cohorts = await readCohorts(companyId, query, now)
        const plan = planQuery(parseQuery(query, { ...now, cohorts }))
        const member = { query, plan }
        return { ...member, place, form: formOf(member, settings) }
      }),
    )
    const answers: (SharedAnswer | undefined)[] = queries.map(() => undefined)
    for (const [form, members] of Map.groupBy(asked, (each) => each.form)) {
      if (form === undefined || members.length < 2) continue
      const found = await observe(async () => {
        const leave = await limiter.enter(companyId, signal)
        try {
          return await runTogether({ companyId, settings, members, signal })
        } finally {
          leave()
        }
      }, signal)
      for (const [i, { place }] of members.entries()) answers[place] = found[i]
    }
    return answers
  }
}
