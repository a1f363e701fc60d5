import { type RetentionQuery, retentionLimits } from '@millrace/contract/resources/retention.ts'
import type { DimensionFilter, FilterTree, Reading } from '../../query/query.ts'
import { createQueryFaults } from '../../query/query-faults.ts'
import type { Interval } from '../../query/time/interval.ts'
import { parseRanges } from '../ranges.ts'
import { parseEventFilters, parseSelection } from '../selection.ts'
import { createPeriods, type Periods, type PeriodUnit } from './periods.ts'

/** A question about retention with its names resolved, its values read, its dates made instants. Frozen. */
export interface ParsedRetention {
  readonly now: Reading
  readonly unit: PeriodUnit
  readonly calendar: Periods
  /** Filters that select the events of each kind, joined by and. */
  readonly first: readonly FilterTree<DimensionFilter>[]
  readonly returning: readonly FilterTree<DimensionFilter>[]
  /** What events of both kinds pass. */
  readonly filters: readonly FilterTree<DimensionFilter>[]
  /** When first events count; not empty. */
  readonly range: Interval
  /** Numbers of the periods of the first and the last cohort. */
  readonly firstCohort: number
  readonly lastCohort: number
  /** How many periods are shown of each cohort. */
  readonly periods: number
  readonly isFirstTime: boolean
  /** Whether any later return counts too. */
  readonly isUnbounded: boolean
}

/**
 * Reads a question that the contract's schema has accepted (docs/statistics.md, Retention).
 * @throws {DomainError} `unknownMember`, `invalidQuery` or `tooComplex`, naming every fault
 */
export function parseRetention(query: RetentionQuery, now: Reading): ParsedRetention {
  const faults = createQueryFaults()
  const first = parseSelection(query.firstEvent, 'firstEvent', now, faults)
  const returning = parseSelection(query.returnEvent, 'returnEvent', now, faults)
  const filters = parseEventFilters(query.filters ?? [], 'filters', now, faults)
  const [range] = parseRanges({ dateRange: query.dateRange }, now, faults)
  if (range && !(Number.isFinite(range.interval.from) && Number.isFinite(range.interval.to))) {
    faults.invalid('dateRange', 'needs a begin and an end: each period in it is a cohort')
  }
  faults.throwAny()
  const { from, to } = range?.interval ?? { from: 0, to: 0 }
  const unit = query.granularity
  const calendar = createPeriods(unit, now.zone)
  const firstCohort = calendar.numberAt(from)
  const lastCohort = calendar.numberAt(Math.max(from, to - 1))
  const cohorts = lastCohort - firstCohort + 1
  if (cohorts > retentionLimits.cohorts) {
    faults.add(
      'tooComplex',
      'dateRange',
      `dateRange has ${cohorts} ${unit}s, each of them a cohort; at most ${retentionLimits.cohorts} are possible: ` +
        'choose a coarser granularity or a shorter range',
    )
    faults.throwAny()
  }
  return Object.freeze({
    now,
    unit,
    calendar,
    first,
    returning,
    filters,
    range: { from, to },
    firstCohort,
    lastCohort,
    periods: query.periods ?? retentionLimits.defaultPeriods,
    isFirstTime: (query.cohorts ?? 'first-time') === 'first-time',
    isUnbounded: query.returns === 'on-or-after',
  })
}
