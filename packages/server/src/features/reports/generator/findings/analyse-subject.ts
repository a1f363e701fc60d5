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
import { type ChangePoint, findLevels } from './change-point.ts'
import { type Bucket, compareRobustly } from './compare-periods.ts'
import { findDrivers } from './drivers.ts'
import { type DimensionRows, wholeBuckets } from './members.ts'
import { askMissingDays, type MissingDay, missingIn } from './missing-days.ts'
import { findOutliers, type Outlier } from './outliers.ts'
import { findPeak } from './peak.ts'
import { findPeakDrivers } from './peak-drivers.ts'
import { type Day, findSeason, weekdayFactors } from './season.ts'
import type { Breakdown, Course, Driver, SubjectFindings, Uncovered, Variation } from './subject-findings.ts'

/** Below this chance a change is told as more than the usual variation. */
const maxPValue = 0.01

/** Asks what a report tells of a subject, and finds what is to be told. */
export async function analyseSubject(subject: Subject, context: AnalysisContext): Promise<SubjectFindings> {
  const { ask, windows, timezone, meta, isBegun } = context
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

  const missingOf = (window: Window | undefined) => {
    const isDaily = window && finestGranularity([window], 1) === 'day'
    const events: QueryScope = { source: 'events', filters: [], timezone }
    return askMissingDays(isDaily ? courseQuery(events, ['events.count'], window, 'day') : undefined, ask)
  }
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
  const [courseEvidence, toldEvidence, beforeEvidence, ...missingDays] = await Promise.all([
    askCourse(both ?? period, fine),
    askCourse(coarse === fine ? (both ?? period) : period, coarse),
    askCourse(both ?? before, both ? fine : finestGranularity([before], 1)),
    ...(hasFacts ? [period, before, yearBefore] : []).map(missingOf),
  ])

  const firstRow = first ? rowsOf(first)[0] : undefined
  const firstDay = firstRow?.key(firstDayColumn(subject)) ?? undefined
  const coverageOf = (window: Window) => (isBegun ? 'begun' : coverage(window, firstDay, timezone))
  const uncoveredBefore = coverageOf(before)
  const uncoveredYear = yearBefore && coverageOf(yearBefore)
  const [missing = [], missingBefore = [], missingYear = []] = missingDays
  const course = courseOf(courseEvidence, subject, fine, period, missing)
  const told = withoutMissing(courseOf(toldEvidence, subject, coarse, period, missing))
  const fineBefore = both ? fine : finestGranularity([before], 1)
  const courseBefore = courseOf(beforeEvidence, subject, fineBefore, before, missingBefore)

  const known = hasFacts ? await askMembers(subject, scope, context) : []
  const comparable = uncoveredBefore === undefined
  const beforeRow = rowOf(before)
  const dimensions = comparable ? known : []
  const found = await findDrivers({ subject, scope, dimensions, now, before: beforeRow, span }, context)

  const isCount = meta.measures[measure]?.format === 'integer'
  const covered = course && coveredPart(course)
  const seasonal = comparable ? joined(courseBefore, covered) : covered
  const days = seasonal?.granularity === 'day' ? daysIn(seasonal) : []
  const offset = (seasonal?.rows.length ?? 0) - (covered?.rows.length ?? 0)
  const levels =
    hasFacts && seasonal && seasonal.granularity !== 'month' ? findLevels(bucketsIn(seasonal)) : []
  const firsts = levels.map(({ index }) => index)
  const extraordinary = findOutliers(days, isCount, firsts)
  const outliers = extraordinary.filter(({ index }) => index >= offset)
  const levelChange = levelChangeOf(seasonal, levels, offset, outliers)
  const peak = told && peakOf(told, isCount, seasonal, outliers)
  const peakDrivers =
    peak?.standsOut && told ? await findPeakDrivers({ subject, scope, told, peak, known }, context) : []
  const change = (now?.number(measure) ?? 0) - (beforeRow?.number(measure) ?? 0)
  const hasExceptions = extraordinary.length + missing.length + missingBefore.length > 0
  const parts = { drivers: found.drivers, levelChange, hasExceptions }
  return {
    ...{ subject, totals, now, before: beforeRow, yearBefore: rowOf(yearBefore), course, told, peak },
    ...{ peakDrivers, drivers: found.drivers, testedMembers: found.tested, levelChange, seasonal, outliers },
    uncovered: { before: uncoveredBefore, yearBefore: uncoveredYear },
    firstDay: firstRow?.cell(firstDayColumn(subject)),
    lowest: told && lowestOf(told, missing),
    missing: {
      period: missing.map(({ cell }) => cell),
      before: missingBefore.map(({ cell }) => cell),
      yearBefore: missingYear.map(({ cell }) => cell),
    },
    variation: comparable ? variationOf(course, courseBefore, change, parts) : undefined,
    season: findSeason(days),
    lastDay: lastDayOf(course, covered),
    breakdowns: known.flatMap(breakdownOf),
  }
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
  missing: readonly MissingDay[],
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
    lacking: rows.map((row) => missingIn(row, column, granularity, missing).all),
    weekdays: granularity === 'day' ? rows.map((row) => weekdayOf(row.key(column) ?? '')) : undefined,
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
  return bucketsWhere(course, (i) => i <= last)
}

function bucketsWhere(course: Course, isWanted: (index: number) => boolean): Course {
  const some = <T>(all: readonly T[]) => all.filter((_, i) => isWanted(i))
  const { rows, values, lacking, weekdays } = course
  return {
    ...course,
    rows: some(rows),
    values: some(values),
    lacking: some(lacking),
    weekdays: weekdays && some(weekdays),
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
    lacking: [...before.lacking, ...course.lacking],
    weekdays: [...before.weekdays, ...course.weekdays],
  }
}

/** Buckets of no data have no base: nothing is divided by them. */
function bucketsIn({ values, lacking, weekdays }: Course): Bucket[] {
  return values.map((value, i) => ({ value, base: lacking[i] ? 0 : 1, weekday: weekdays?.[i] }))
}

/** A day on which all stood still may be a holiday, which is extraordinary. */
function daysIn({ values, weekdays = [] }: Course): Day[] {
  return values.map((value, i) => ({ value, weekday: weekdays[i] ?? 0 }))
}

function withoutMissing(course: Course | undefined): Course | undefined {
  return course?.lacking.includes(true) ? bucketsWhere(course, (i) => !course.lacking[i]) : course
}

/** The lowest bucket, where it is the only one and no day of it is missing. */
function lowestOf({ rows, values, column, granularity }: Course, missing: readonly MissingDay[]) {
  const whole = rows.flatMap((row, i) =>
    missingIn(row, column, granularity, missing).some ? [] : [{ row, value: values[i] ?? 0 }],
  )
  const least = Math.min(...whole.map(({ value }) => value))
  const [lowest, ...others] = whole.filter(({ value }) => value === least)
  return others.length === 0 && whole.length > 1 ? lowest?.row : undefined
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

/** The peak; an extraordinary day stands out whatever the others vary by, and is none where it is far below them. */
function peakOf(told: Course, isCount: boolean, seasonal: Course | undefined, outliers: readonly Outlier[]) {
  const peak = findPeak(told.values, levelledOf(told), isCount)
  if (!peak || told.granularity !== 'day') return peak
  const key = told.rows[peak.index]?.key(told.column)
  const outlier = outliers.find(({ index }) => seasonal?.rows[index]?.key(seasonal.column) === key)
  if (!outlier) return peak
  return (told.values[peak.index] ?? 0) > outlier.expected ? { ...peak, standsOut: true } : undefined
}

/** Buckets that each window needs to say what is usual, and buckets of both that are not empty. */
const minVaried = 6

/**
 * One judgement for all that is told of a change, so that its parts agree: the change of the whole is unusual where its
 * buckets say so, in its own direction.
 */
function variationOf(
  course: Course | undefined,
  before: Course | undefined,
  change: number,
  {
    drivers,
    levelChange,
    hasExceptions,
  }: {
    drivers: readonly Driver[]
    levelChange: SubjectFindings['levelChange']
    hasExceptions: boolean
  },
): Variation | undefined {
  if (!course || !before || course.granularity !== before.granularity) return undefined
  const [own, earlier] = [course, before].map((each) => bucketsIn(each).filter(({ base }) => base > 0))
  if (!own || !earlier || Math.min(own.length, earlier.length) < minVaried) return undefined
  const { pValue, statistic } = compareRobustly(own, earlier)
  if (pValue <= maxPValue && Math.sign(statistic) === Math.sign(change)) return 'beyond'
  if (pValue <= maxPValue || drivers.length > 0 || levelChange) return hasExceptions ? 'mixed' : 'partly'
  const filled = [own, earlier].map((buckets) => buckets.filter(({ value }) => value !== 0).length)
  const [filledNow = 0, filledBefore = 0] = filled
  // What never sold, or on a day or two, has no usual variation.
  const isKnown = filledNow > 0 && filledBefore > 0 && filledNow + filledBefore >= minVaried
  if (!isKnown) return undefined
  return hasExceptions ? 'otherwise' : 'within'
}

/** The last change of level within the period, which holds to its end; its first day is an ordinary one. */
function levelChangeOf(
  course: Course | undefined,
  levels: readonly ChangePoint[],
  offset: number,
  outliers: readonly Outlier[],
): SubjectFindings['levelChange'] {
  const found = levels.at(-1)
  if (!course || !found || found.index < offset) return undefined
  const isOrdinary = (i: number) => !course.lacking[i] && !outliers.some(({ index }) => index === i)
  const row = course.rows.find((_, i) => i >= found.index && isOrdinary(i))
  return row && { cell: row.cell(course.column), rises: found.rises }
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
