import type { FilterOperator, Query } from '@millrace/contract/resources/query.ts'
import { operatorMeanings } from '@millrace/contract/resources/query.ts'
import type { QueryExplanation } from '@millrace/contract/resources/query-explanation.ts'
import type { ColumnarParam } from '../../platform/stores/columnar.ts'
import { findDimension, findMeasure } from './catalogue/catalogue.ts'
import { exactUpTo, relativeError } from './catalogue/distinct-counts.ts'
import type { Dimension, Measure } from './catalogue/member.ts'
import type { CompiledQuery } from './query/compile/compile.ts'
import { listFilters, nameOf } from './query/parse/parse-filters.ts'
import type { Plan } from './query/plan.ts'
import type { Grouping } from './query/query.ts'
import type { EngineCell } from './query/run.ts'
import type { Interval } from './query/time/interval.ts'
import type { Zone } from './query/time/zone.ts'
import type { StatisticsSettings } from './question.ts'

/** What a statement was made of. */
export interface Explained {
  readonly query: Query
  readonly plan: Plan
  readonly settings: StatisticsSettings
  /** Relative ranges are read as of it, in milliseconds since 1970. */
  readonly instant: number
}

type ExplainedMeasure = QueryExplanation['measures'][number]
type ExplainedDimension = QueryExplanation['dimensions'][number]
type ExplainedFilter = QueryExplanation['filters'][number]

const documentOf = (source: string) => `/docs/measures#${source}`

const memberOf = ({ id, title, description, source }: Measure | Dimension) => ({
  id,
  title,
  description,
  source,
  document: documentOf(source),
})

/** What a plan computes, of what, and when. */
export function explainPlan({
  query,
  plan,
  settings,
}: Explained): Omit<QueryExplanation, 'freshness' | 'warnings' | 'statement'> {
  const isCredited = plan.branches.some(({ over }) => over === 'credits')
  const measures = plan.selected.map((each) => explainMeasure(each, settings))
  const sources = new Map(plan.branches.map(({ source }) => [source.id, source.title]))
  return {
    sources: [...sources].map(([id, title]) => ({ id, title })),
    measures,
    dimensions: plan.groupings.map(explainGrouping),
    filters: listFilters(query.filters).map(([filter, path]) =>
      explainFilter(nameOf(filter), filter.operator, filter.values ?? [], path),
    ),
    timezone: plan.zone.name,
    ranges: plan.ranges.map(({ label, times }) => ({
      ...(label === undefined ? {} : { label }),
      stretches: times.map((each) => explainStretch(each, plan.zone)),
    })),
    ...(plan.limit === undefined ? {} : { limit: plan.limit }),
    ...(isCredited && { attribution: explainAttribution(settings) }),
    mayEstimate: plan.measures.some(({ estimate }) => estimate !== undefined) && !settings.exactCounts,
  }
}

function explainMeasure(measure: Measure, { exactCounts }: StatisticsSettings): ExplainedMeasure {
  const parts = measure.virtual ? measure.parts.flatMap((id) => findMeasure(id) ?? []) : []
  const isEstimated = !measure.virtual && measure.estimate !== undefined && !exactCounts
  return {
    ...memberOf(measure),
    format: measure.format,
    ...(measure.virtual ? {} : { counted: measure.over }),
    parts: parts.map(({ id, title }) => ({ id, title })),
    ...(isEstimated && { exactUpTo, relativeError }),
  }
}

function explainGrouping({ dimension, granularity }: Grouping): ExplainedDimension {
  return {
    ...memberOf(dimension),
    type: dimension.type,
    ...(granularity === undefined ? {} : { granularity }),
  }
}

function explainFilter(
  id: string,
  operator: FilterOperator,
  values: readonly string[],
  path: string,
): ExplainedFilter {
  const measure = findMeasure(id)
  const dimension = findDimension(id)
  return {
    path,
    member: id,
    title: (measure ?? dimension)?.title ?? id,
    operator,
    meaning: operatorMeanings[operator].description,
    values: [...values],
    keeps: measure ? 'groups' : dimension?.type === 'time' ? 'times' : 'rows',
  }
}

function explainStretch(
  { from, to }: Interval,
  zone: Zone,
): QueryExplanation['ranges'][number]['stretches'][number] {
  const isoOf = (instant: number) => (Number.isFinite(instant) ? new Date(instant).toISOString() : null)
  return {
    from: isoOf(from),
    to: isoOf(to),
    ...(Number.isFinite(from) && { localFrom: zone.format(from) }),
    ...(Number.isFinite(to) && { localTo: zone.format(to) }),
  }
}

function explainAttribution({
  attribution: { model, windows },
}: StatisticsSettings): NonNullable<QueryExplanation['attribution']> {
  return { model, clickHours: windows.clickHours, displayHours: windows.displayHours }
}

/** The statement that asks how new the newest events of a company are. */
export function newestEvents(companyId: string): Pick<CompiledQuery, 'sql' | 'params'> {
  return {
    sql: `SELECT toUnixTimestamp64Milli(max(received)), toUnixTimestamp64Milli(max(time)), count()
          FROM events WHERE company = {company:String}`,
    params: { company: companyId },
  }
}

export function freshnessOf(
  instant: number,
  [row]: readonly (readonly EngineCell[])[],
): QueryExplanation['freshness'] {
  const [received, happened, events] = (row ?? []).map(Number)
  const isoOf = (ms: number | undefined) =>
    events !== undefined && events > 0 && ms !== undefined ? new Date(ms).toISOString() : null
  return {
    at: new Date(instant).toISOString(),
    lastReceivedAt: isoOf(received),
    lastEventAt: isoOf(happened),
  }
}

export const statementOf = ({
  sql,
  params,
}: Pick<CompiledQuery, 'sql' | 'params'>): NonNullable<QueryExplanation['statement']> => ({
  sql,
  params: params as Record<string, ColumnarParam>,
})
