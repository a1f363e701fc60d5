import type { Evidence } from '@millrace/contract/resources/evidence.ts'
import type { Window } from '@millrace/contract/resources/report.ts'
import type { CellReference } from '@millrace/contract/resources/report-section.ts'
import { bucketColumn, localDay, rowsOf, rowsWithin, weekdayOf } from '../evidence/table.ts'
import {
  type CourseGranularity,
  courseGranularity,
  courseQuery,
  finestGranularity,
  firstDayColumn,
  firstDayQuery,
  isCut,
  membersQuery,
  type QueryScope,
  spanOf,
  totalsQuery,
} from '../plans/queries.ts'
import { isMultiValued, type Subject } from '../plans/subject.ts'
import type { AnalysisContext } from './analysis-context.ts'
import { findChangePoint } from './change-point.ts'
import { type Bucket, compareRobustly } from './compare-periods.ts'
import { findDrivers } from './drivers.ts'
import { type DimensionRows, wholeBuckets } from './members.ts'
import { findOutliers } from './outliers.ts'
import { findPeak } from './peak.ts'
import { findPeakDrivers } from './peak-drivers.ts'
import { type Day, findSeason, weekdayFactors } from './season.ts'
import type { Breakdown, Course, SubjectFindings, Uncovered } from './subject-findings.ts'

/** Below this chance a change is told as more than the usual variation. */
const maxPValue = 0.01

/** Asks what a report tells of a subject, and finds what is to be told. */
export async function analyseSubject(subject: Subject, context: AnalysisContext): Promise<SubjectFindings> {
  const { ask, windows, timezone } = context
  const { period, before, yearBefore } = windows
  const { source, measure, filters } = subject
  const scope: QueryScope = { source, filters, timezone }
  const asked = [measure, subject.sample]
  const compared = [period, before, ...(yearBefore ? [yearBefore] : [])]
  const fine = finestGranularity([period], 1)
  const coarse = courseGranularity(period)
  const span = spanOf(before, period)
  // Both windows in one range where it is possible: the facts are gone through once.
  const both = span && fine !== undefined && finestGranularity([span], 1) === fine ? span : undefined

  const [totals, first] = await Promise.all([
    ask(totalsQuery(scope, [...subject.totals, ...asked], compared)),
    ask(firstDayQuery(scope, period)),
  ])
  const rowOf = (window: Window | undefined) =>
    totals && window ? rowsWithin(totals, window, timezone)[0] : undefined
  const now = rowOf(period)
  const hasFacts = (now?.number(subject.sample) ?? 0) > 0
  const askCourse = (window: Window, granularity: CourseGranularity | undefined) =>
    granularity === undefined || !hasFacts ? undefined : ask(courseQuery(scope, asked, window, granularity))
  const [courseEvidence, toldEvidence, beforeEvidence] = await Promise.all([
    askCourse(both ?? period, fine),
    askCourse(coarse === fine ? (both ?? period) : period, coarse),
    askCourse(both ?? before, both ? fine : finestGranularity([before], 1)),
  ])

  const firstRow = first ? rowsOf(first)[0] : undefined
  const firstDay = firstRow?.key(firstDayColumn(subject)) ?? undefined
  const uncoveredBefore = coverage(before, firstDay, timezone)
  const uncoveredYear = yearBefore && coverage(yearBefore, firstDay, timezone)
  const course = courseOf(courseEvidence, subject, fine, period)
  const told = courseOf(toldEvidence, subject, coarse, period)
  const courseBefore = courseOf(beforeEvidence, subject, both ? fine : finestGranularity([before], 1), before)

  const known = hasFacts ? await askMembers(subject, scope, context) : []
  const comparable = uncoveredBefore === undefined
  const beforeRow = rowOf(before)
  const found = await findDrivers(
    {
      subject,
      scope,
      dimensions: comparable ? known : [],
      now,
      before: beforeRow,
      span,
    },
    context,
  )

  const peak = told && findPeak(told.values, levelledOf(told))
  const peakDrivers =
    peak?.standsOut && told ? await findPeakDrivers({ subject, scope, told, peak, known }, context) : []
  const covered = course && coveredPart(course)
  const seasonal = comparable ? joined(courseBefore, covered) : covered
  const days = seasonal?.granularity === 'day' ? daysIn(seasonal) : []
  const offset = (seasonal?.rows.length ?? 0) - (covered?.rows.length ?? 0)
  return {
    subject,
    ...(totals ? { totals } : {}),
    ...(now ? { now } : {}),
    ...(beforeRow ? { before: beforeRow } : {}),
    ...present('yearBefore', rowOf(yearBefore)),
    uncovered: { ...present('before', uncoveredBefore), ...present('yearBefore', uncoveredYear) },
    ...present('firstDay', firstRow?.cell(firstDayColumn(subject))),
    ...present('course', course),
    ...present('told', told),
    ...present('peak', peak),
    peakDrivers,
    ...present('unusual', comparable ? isUnusual(course, courseBefore) : undefined),
    drivers: found.drivers,
    testedMembers: found.tested,
    ...present('levelChange', hasFacts ? levelChangeOf(covered) : undefined),
    ...present('season', findSeason(days)),
    ...present('seasonal', seasonal),
    ...present('lastDay', lastDayOf(course, covered)),
    outliers: findOutliers(days).filter(({ index }) => index >= offset),
    breakdowns: known.flatMap((each) => breakdownOf(each)),
  }
}

function present<Key extends string, Value>(key: Key, value: Value | undefined): { [K in Key]?: Value } {
  return value === undefined ? {} : ({ [key]: value } as { [K in Key]?: Value })
}

/** The part of a window without facts that is no window to compare with. */
const maxMissing = 0.05

/** Whether facts of a window are missing, since the first of all came after its beginning. */
function coverage(window: Window, firstDay: string | undefined, timezone: string): Uncovered | undefined {
  if (firstDay === undefined) return 'empty'
  const first = Date.parse(firstDay)
  if (first >= Date.parse(window.end)) return 'empty'
  if (firstDay.slice(0, 10) <= localDay(Date.parse(window.start), timezone)) return undefined
  const length = Date.parse(window.end) - Date.parse(window.start)
  return first - Date.parse(window.start) > length * maxMissing ? 'partial' : undefined
}

/** The buckets of a window, without those that its ends cut. */
function courseOf(
  evidence: Evidence | undefined,
  { source, measure }: Subject,
  granularity: CourseGranularity | undefined,
  window: Window,
): Course | undefined {
  if (!evidence || granularity === undefined) return undefined
  const column = bucketColumn(`${source}.time`, granularity)
  const all = rowsOf(evidence).filter((row) => row.key(column) !== null && row.number(measure) !== undefined)
  const keys = all.map((row) => row.key(column) ?? '')
  const whole = new Set(wholeBuckets(keys, window, granularity))
  const rows = all.filter((row) => whole.has(row.key(column) ?? ''))
  if (rows.length === 0) return undefined
  return {
    evidence,
    granularity,
    column,
    rows,
    values: rows.map((row) => row.number(measure) ?? 0),
    ...(granularity === 'day' ? { weekdays: rows.map((row) => weekdayOf(row.key(column) ?? '')) } : {}),
  }
}

/** Buckets at an end of a course without facts that are taken for the end of the data. */
const minEmptyEnd = 7

/**
 * The part of a course that has data: without a long run of zeros at its end that is longer than any within it, after
 * which nothing was collected.
 */
function coveredPart(course: Course): Course {
  const last = course.values.findLastIndex((value) => value !== 0)
  const empty = course.values.length - 1 - last
  let longest = 0
  let run = 0
  for (const value of course.values.slice(0, last + 1)) {
    run = value === 0 ? run + 1 : 0
    longest = Math.max(longest, run)
  }
  if (last === -1 || empty < minEmptyEnd || empty <= longest) return course
  return sliced(course, last + 1)
}

function sliced(course: Course, end: number): Course {
  const { rows, values, weekdays } = course
  return {
    ...course,
    rows: rows.slice(0, end),
    values: values.slice(0, end),
    ...(weekdays ? { weekdays: weekdays.slice(0, end) } : {}),
  }
}

function lastDayOf(course: Course | undefined, covered: Course | undefined): CellReference | undefined {
  if (!course || !covered || covered.rows.length === course.rows.length) return undefined
  return covered.rows.at(-1)?.cell(course.column)
}

/** Buckets of a figure (packages/contract, `Figure`). */
const maxJoined = 500

/** Two courses as one, where the days of one follow those of the other. */
function joined(before: Course | undefined, course: Course | undefined): Course | undefined {
  if (!before?.weekdays || !course?.weekdays) return course
  const [last, first] = [before.weekdays.at(-1), course.weekdays[0]]
  const follows = last !== undefined && first === (last + 1) % 7
  if (!follows || before.rows.length + course.rows.length > maxJoined) return course
  return {
    ...course,
    rows: [...before.rows, ...course.rows],
    values: [...before.values, ...course.values],
    weekdays: [...before.weekdays, ...course.weekdays],
  }
}

function bucketsIn({ values, weekdays }: Course): Bucket[] {
  return values.map((value, i) => {
    const weekday = weekdays?.[i]
    return { value, base: 1, ...(weekday === undefined ? {} : { weekday }) }
  })
}

function daysIn({ values, weekdays = [] }: Course): Day[] {
  return values.map((value, i) => ({ value, weekday: weekdays[i] ?? 0 }))
}

/** Values with the days of the week at one level. */
function levelledOf(course: Course): readonly number[] {
  if (course.granularity !== 'day') return course.values
  const days = daysIn(course)
  const factors = weekdayFactors(days)
  return days.map(({ value, weekday }) => {
    const factor = factors[weekday] ?? 1
    return factor > 0.05 ? value / factor : value
  })
}

function isUnusual(course: Course | undefined, before: Course | undefined): boolean | undefined {
  if (!course || !before || course.granularity !== before.granularity) return undefined
  if (Math.min(course.rows.length, before.rows.length) < 6) return undefined
  return compareRobustly(bucketsIn(course), bucketsIn(before)).pValue <= maxPValue
}

function levelChangeOf(course: Course | undefined): SubjectFindings['levelChange'] {
  if (!course || course.granularity === 'month') return undefined
  const found = findChangePoint(bucketsIn(course))
  const row = found && course.rows[found.index]
  if (!found || !row) return undefined
  const mean = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / values.length
  const rises = mean(course.values.slice(found.index)) > mean(course.values.slice(0, found.index))
  return { cell: row.cell(course.column), rises }
}

/** The members of each dimension in both windows, without dimensions of which the query failed. */
async function askMembers(
  { measure, sample, rates, dimensions }: Subject,
  scope: QueryScope,
  { ask, askTogether, windows, timezone }: AnalysisContext,
): Promise<DimensionRows[]> {
  const measures = [measure, sample, ...rates.flatMap((rate) => [rate.numerator, rate.denominator])]
  const { period, before } = windows
  const queryOf = (dimension: string) => membersQuery(scope, measures, dimension, [period, before])
  const [apart, shared] = [true, false].map((isApart) =>
    dimensions.filter((dimension) => isMultiValued(dimension) === isApart),
  )
  // What has several values multiplies the facts that the others count: it is asked at the same time.
  const answers = await Promise.all([
    askTogether((shared ?? []).map(queryOf)),
    ...(apart ?? []).map((dimension) => ask(queryOf(dimension))),
  ])
  const evidences = answers.flat()
  const found = [...(shared ?? []), ...(apart ?? [])].flatMap((dimension, i): DimensionRows[] => {
    const evidence = evidences[i]
    if (!evidence) return []
    const now = rowsWithin(evidence, period, timezone)
    return [{ dimension, evidence, now, before: rowsWithin(evidence, before, timezone) }]
  })
  return found.sort((a, b) => dimensions.indexOf(a.dimension) - dimensions.indexOf(b.dimension))
}

/** A dimension of one member, or without any value, tells nothing. */
function breakdownOf({ dimension, evidence, now }: DimensionRows): Breakdown[] {
  const named = now.filter((row) => row.key(dimension) !== null)
  if (now.length < 2 || named.length === 0) return []
  return [{ dimension, evidence, rows: now, isCut: isCut(now.length) }]
}
