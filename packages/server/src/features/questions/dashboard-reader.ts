import type { Query } from '@millrace/contract/resources/query.ts'
import { DomainError } from '../../platform/errors.ts'
import { normalizeId } from '../../platform/ids.ts'
import { invalid } from '../../platform/invalid.ts'
import { type AbsoluteQuery, absoluteQuery } from './absolute-query.ts'
import { plannedQuery } from './describe-query.ts'
import { createPeriods, type Periods, windowOf } from './periods.ts'
import type { QuestionContext, ReadQuestion } from './question-reader.ts'
import type { TimeRules } from './time-rules.ts'

export interface DashboardDependencies {
  readonly calendar: TimeRules
  /** A saved query of the company; undefined when there is none of this id. */
  readonly findSavedQuery: (
    companyId: string,
    id: string,
  ) => Promise<{ readonly name: string; readonly queries: readonly Query[] } | undefined>
}

export interface DashboardAsked {
  readonly companyId: string
  /** `/v2/statistics/query/{id}`, or the id alone. */
  readonly path: string
  readonly title?: string
}

/** Days of a dashboard whose queries name no range. */
const defaultDays = 28

const pathForm = /^(?:\/?(?:v2\/)?statistics\/query\/)?([0-9a-fA-F]{24})$/

/** The id of the saved query that a path names. */
export function savedQueryIdOf(path: string): string | undefined {
  const id = pathForm.exec(path)?.[1]
  return id === undefined ? undefined : normalizeId(id)
}

export type DashboardReader = ReturnType<typeof createDashboardReader>

export function createDashboardReader({ calendar, findSavedQuery }: DashboardDependencies) {
  return {
    /**
     * The plan of a saved query: its queries as of now, each compared with the period before where it has one range and
     * compares none itself.
     * @throws {DomainError} `validation` for a path of another form, `savedQueryNotFound`
     */
    async readDashboard(
      { companyId, path, title }: DashboardAsked,
      { meta, now, timezone, locale }: Pick<QuestionContext, 'meta' | 'now' | 'timezone' | 'locale'>,
    ): Promise<ReadQuestion> {
      const id = savedQueryIdOf(path)
      if (id === undefined) {
        throw invalid('dashboardPath', 'must be /v2/statistics/query/ followed by the id of a saved query')
      }
      const found = await findSavedQuery(companyId, id)
      if (!found) throw new DomainError('savedQueryNotFound', { id })
      const company = createPeriods(calendar, now, timezone)
      const unread: string[] = []
      const absolutes = found.queries.flatMap((query, i) => {
        const read = readAbsolute(query)
        if (!read) unread.push(`queries.${i}`)
        return read ?? []
      })
      const ranged = absolutes.find(({ read }) => read.period)
      const period = ranged?.read.period ?? company.whole('day', -defaultDays, defaultDays)
      return {
        title: title ?? found.name,
        queries: absolutes.map(({ read, periods }) => plannedQuery(compared(read, periods), meta, locale)),
        period: windowOf(period),
        comparisonWindows: (ranged?.periods ?? company).comparisonsOf(period),
        unread,
      }

      function readAbsolute(query: Query): { read: AbsoluteQuery; periods: Periods } | undefined {
        const periods = periodsOf(query.timezone ?? timezone)
        const read = periods && absoluteQuery(query, meta, periods)
        return read && { read, periods }
      }

      function periodsOf(zone: string): Periods | undefined {
        try {
          return createPeriods(calendar, now, zone)
        } catch (error) {
          // A zone of a saved query that the runtime no longer knows.
          if (error instanceof RangeError) return undefined
          throw error
        }
      }
    },
  }
}

/** The query with the period before beside its range. */
function compared({ query, period }: AbsoluteQuery, periods: Periods): Query {
  const ranged = query.timeDimensions.filter(
    ({ dateRange, compareDateRange }) => dateRange || compareDateRange,
  )
  const [only] = ranged
  if (ranged.length !== 1 || !only?.dateRange || !period) return query
  const told = periods.ofWholeDays(period)
  const before = periods.before(told)
  if (!periods.isWithin(before)) return query
  return {
    ...query,
    timeDimensions: query.timeDimensions.map((each) => {
      if (each !== only) return each
      const { dateRange: _dateRange, ...rest } = each
      return { ...rest, compareDateRange: [periods.rangeOf(told), periods.rangeOf(before)] }
    }),
  }
}
