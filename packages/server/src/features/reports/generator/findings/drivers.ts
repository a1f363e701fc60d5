import type { Evidence } from '@millrace/contract/resources/evidence.ts'
import type { Window } from '@millrace/contract/resources/report.ts'
import type { CellReference } from '@millrace/contract/resources/report-section.ts'
import { discoveryRates } from '../../../../platform/distributions/discovery-rates.ts'
import { bucketColumn, type Row, rowsOf, rowsWithin, weekdayOf } from '../evidence/table.ts'
import {
  bucketsOf,
  type CourseGranularity,
  courseQuery,
  finestGranularity,
  maxRows,
  memberCourseQuery,
  memberFilter,
  membersQuery,
  type QueryScope,
  totalsQuery,
} from '../plans/queries.ts'
import { isAdditive, minBase, type Rate, type Subject, visitDimension } from '../plans/subject.ts'
import type { AnalysisContext } from './analysis-context.ts'
import { findChangePoint } from './change-point.ts'
import { type Bucket, compareLevels, comparePeriods } from './compare-periods.ts'
import { type DimensionRows, isPartition, type MemberRows, membersOf, wholeBuckets } from './members.ts'
import type { Driver, RateCells } from './subject-findings.ts'

/** Facts that a member needs, in both windows together. */
const minSample = 30
/** Share of false ones among the drivers of a report; where nothing has changed, the chance of any. */
const maxDiscoveryRate = 0.01
/** Smaller changes of a member, against its own level, are not told however certain they are. */
const minChange = 0.05
/** Members of a dimension that are tested, those whose measure changed most. */
const maxTested = 20
const minTested = 6
/** Drivers of which the day of their change is looked for. */
const maxDated = 3

export interface DriverQuestion {
  readonly subject: Subject
  readonly scope: QueryScope
  readonly dimensions: readonly DimensionRows[]
  /** Totals of both windows. */
  readonly now: Row | undefined
  readonly before: Row | undefined
  /** Both windows in one, where one follows the other. */
  readonly span: Window | undefined
}

/** Visits by the dimension that says of them what another says of purchases. */
interface Visits {
  readonly scope: QueryScope
  readonly dimension: string
  readonly rows: DimensionRows
  readonly total: { readonly now: Row; readonly before: Row }
}

/** What is tested of a member: its measure, a rate of its own rows, or its purchases over its visits. */
interface Candidate {
  readonly of: DimensionRows
  readonly member: MemberRows
  readonly rate?: Rate
  readonly visits?: Visits
  /** Its buckets of both windows, and the cells of their times. */
  readonly course: {
    readonly granularity: CourseGranularity
    readonly buckets: readonly Bucket[]
    readonly cells: readonly CellReference[]
  }
}

const conversion: Rate = { id: 'conversion', numerator: 'purchases.count', denominator: 'events.people' }

/**
 * Members of which the measure or a rate changed by more than it varies from bucket to bucket, of all dimensions together
 * (docs/reports.md, How findings are computed).
 */
export async function findDrivers(
  question: DriverQuestion,
  context: AnalysisContext,
): Promise<{ drivers: Driver[]; tested: number }> {
  const { subject, dimensions, now, before } = question
  if (!now || !before) return { drivers: [], tested: 0 }
  const visitTotals = await askVisitTotals(question, context)
  const perDimension = await Promise.all(
    dimensions.filter(isPartition).map((each) => testDimension(each, visitTotals, question, context)),
  )
  const tests = perDimension.flatMap(({ tests }) => tests)
  const possible = perDimension.reduce((sum, { possible }) => sum + possible, 0)
  const rates = discoveryRates(
    tests.map(({ pValue }) => pValue),
    possible,
  )
  const found = tests.flatMap(({ candidate, pValue }, i) => {
    const discoveryRate = rates[i] ?? 1
    if (discoveryRate > maxDiscoveryRate / context.subjects) return []
    const driver = driverOf(candidate, pValue, discoveryRate, subject, { now, before })
    return driver ? [{ driver, candidate }] : []
  })
  found.sort(
    (a, b) => Math.abs(b.driver.weight) - Math.abs(a.driver.weight) || a.driver.pValue - b.driver.pValue,
  )
  await Promise.all(
    found.slice(0, maxDated).map(async ({ driver, candidate }) => {
      const changedAt = await findDay(candidate, question, context)
      if (changedAt) driver.changedAt = changedAt
    }),
  )
  return { drivers: found.map(({ driver }) => driver), tested: tests.length }
}

/** Persons beside buyers that make visits worth a rate of conversion. */
const minVisitors = 1.2

async function askVisitTotals(
  { subject, scope, now }: DriverQuestion,
  { ask, windows, timezone }: AnalysisContext,
): Promise<{ now: Row; before: Row } | undefined> {
  if (subject.source !== 'purchases' || subject.sample !== 'purchases.count' || scope.filters.length > 0)
    return undefined
  const { period, before } = windows
  const evidence = await ask(totalsQuery({ ...scope, source: 'events' }, ['events.people'], [period, before]))
  const [own, earlier] = [period, before].map((window) => rowsWithin(evidence, window, timezone)[0])
  const buyers = now?.number('purchases.buyers') ?? now?.number('purchases.count') ?? 0
  if (!own || !earlier || (own.number('events.people') ?? 0) < buyers * minVisitors) return undefined
  return { now: own, before: earlier }
}

interface Tested {
  readonly tests: readonly { readonly candidate: Candidate; readonly pValue: number }[]
  /** Tests that the sample of members would allow: the correction counts them all. */
  readonly possible: number
}

async function testDimension(
  of: DimensionRows,
  visitTotals: { now: Row; before: Row } | undefined,
  { subject, scope, span }: DriverQuestion,
  context: AnalysisContext,
): Promise<Tested> {
  const { ask, windows, timezone } = context
  const { measure, sample, rates } = subject
  const large = membersOf(of).filter(
    ({ now, before }) => (now?.number(sample) ?? 0) + (before?.number(sample) ?? 0) >= minSample,
  )
  if (large.length === 0) return { tests: [], possible: 0 }
  // Both windows in one range where it is possible: the facts are gone through once.
  const windowsOf = span ? [span] : [windows.period, windows.before]
  const granularity = finestGranularity(windowsOf, Math.min(large.length, minTested))
  if (granularity === undefined) return { tests: [], possible: 0 }
  const perWindow = Math.max(...windowsOf.map((window) => bucketsOf(window, granularity)))
  const members = large
    .toSorted((a, b) => Math.abs(changeOf(b, measure)) - Math.abs(changeOf(a, measure)))
    .slice(0, Math.min(maxTested, Math.floor(maxRows / windowsOf.length / perWindow)))
  const keys = members.map(({ key }) => key)

  const measures = [measure, ...rates.flatMap(({ numerator, denominator }) => [numerator, denominator])]
  const ownMeasures = visitTotals ? [...measures, conversion.numerator] : measures
  const visits = visitTotals && (await askVisits(of.dimension, visitTotals, scope, context))
  const [course, visitCourse] = await Promise.all([
    ask(memberCourseQuery(scope, ownMeasures, of.dimension, keys, windowsOf, granularity)),
    visits &&
      ask(memberCourseQuery(visits.scope, ['events.people'], visits.dimension, keys, windowsOf, granularity)),
  ])
  const own = seriesReader(course, scope.source, of.dimension, granularity, windows, timezone)
  const seen = visits && seriesReader(visitCourse, 'events', visits.dimension, granularity, windows, timezone)
  const possible = large.length * (1 + rates.length + (visits ? 1 : 0))
  if (!own) return { tests: [], possible }

  const tests = members.flatMap((member) => {
    const test = (tested: Omit<Candidate, 'course'>, value: string, base?: Base) => {
      const { now, before, cells } = own(member.key, value, base)
      const candidate: Candidate = { ...tested, course: { granularity, buckets: [...before, ...now], cells } }
      const periods = comparePeriods(now, before).pValue
      if (!span) return { candidate, pValue: periods }
      // Half of the chance of an error each: a change within the period is diluted by the days before it.
      const levels = compareLevels(now, before).pValue
      return { candidate, pValue: Math.min(1, 2 * Math.min(periods, levels)) }
    }
    return [
      test({ of, member }, measure),
      ...rates.map((rate) => test({ of, member, rate }, rate.numerator, own.column(rate.denominator))),
      ...(visits && seen
        ? [test({ of, member, rate: conversion, visits }, conversion.numerator, seen.column('events.people'))]
        : []),
    ]
  })
  return { tests, possible }
}

function changeOf({ now, before }: MemberRows, measure: string): number {
  return (now?.number(measure) ?? 0) - (before?.number(measure) ?? 0)
}

async function askVisits(
  dimension: string,
  total: Visits['total'],
  scope: QueryScope,
  { ask, meta, windows, timezone }: AnalysisContext,
): Promise<Visits | undefined> {
  const twin = visitDimension(dimension, meta)
  if (twin === undefined) return undefined
  const visitScope = { ...scope, source: 'events' }
  const { period, before } = windows
  const evidence = await ask(membersQuery(visitScope, ['events.people'], twin, [period, before]))
  if (!evidence) return undefined
  const [now, earlier] = [period, before].map((window) => rowsWithin(evidence, window, timezone))
  // Events that name no member of the dimension say nothing of it.
  if (!now || !earlier || !now.some((row) => row.key(twin) !== null)) return undefined
  return {
    scope: visitScope,
    dimension: twin,
    total,
    rows: { dimension: twin, evidence, now, before: earlier },
  }
}

/** What the buckets of a member are divided by. */
type Base = (key: string | null, window: Window, bucket: string) => number

/** Reads the buckets of a member in the period and in the one before, and the cells of the times of both, in order. */
function seriesReader(
  evidence: Evidence | undefined,
  source: string,
  dimension: string,
  granularity: CourseGranularity,
  { period, before }: AnalysisContext['windows'],
  timezone: string,
) {
  if (!evidence) return undefined
  const column = bucketColumn(`${source}.time`, granularity)
  const read = (window: Window) => {
    const isCompared = evidence.query.timeDimensions.some(({ compareDateRange }) => compareDateRange)
    const rows = isCompared ? rowsWithin(evidence, window, timezone) : rowsOf(evidence)
    const byBucket = new Map(rows.map((row) => [placeOf(row.key(column), row.key(dimension)), row]))
    const times = rows.map((row) => row.key(column) ?? '')
    return { rows: byBucket, buckets: wholeBuckets(times, window, granularity) }
  }
  const placeOf = (bucket: string | null, key: string | null) => `${bucket} ${JSON.stringify(key)}`
  const byWindow = new Map([period, before].map((window) => [window, read(window)]))
  const bucketsIn = (window: Window) => byWindow.get(window)?.buckets ?? []
  const rowAt = (key: string | null, window: Window, bucket: string) =>
    byWindow.get(window)?.rows.get(placeOf(bucket, key))
  const valueAt =
    (measure: string): Base =>
    (...place) =>
      rowAt(...place)?.number(measure) ?? 0
  const reader = (key: string | null, value: string, base?: Base) => {
    const series = (window: Window): Bucket[] =>
      bucketsIn(window).map((bucket) => ({
        value: valueAt(value)(key, window, bucket),
        base: base ? base(key, window, bucket) : 1,
        weekday: granularity === 'day' ? weekdayOf(bucket) : undefined,
      }))
    const cellsIn = (window: Window) =>
      bucketsIn(window).flatMap((bucket) => rowAt(key, window, bucket)?.cell(column) ?? [])
    return { now: series(period), before: series(before), cells: [...cellsIn(before), ...cellsIn(period)] }
  }
  return Object.assign(reader, { column: valueAt })
}

/** The driver that a passed test tells of; undefined where its change is small. */
function driverOf(
  candidate: Candidate,
  pValue: number,
  discoveryRate: number,
  { measure, sample }: Subject,
  total: { readonly now: Row; readonly before: Row },
): Driver | undefined {
  const { of, member, rate, visits } = candidate
  const nameRow = member.now ?? member.before
  if (!nameRow) return undefined
  const value = rate?.numerator ?? measure
  const visitRow = (rows: readonly Row[] | undefined) =>
    visits && rows?.find((row) => row.key(visits.dimension) === member.key)
  const ownBase = (row: Row | undefined, visited: Row | undefined) => (visits ? visited : row)
  const memberCells = (row: Row | undefined, visited: Row | undefined) =>
    cellsOf(row, value, ownBase(row, visited), rate?.denominator)
  const now = memberCells(member.now, visitRow(visits?.rows.now))
  const before = memberCells(member.before, visitRow(visits?.rows.before))
  const allNow = cellsOf(total.now, value, ownBase(total.now, visits?.total.now), rate?.denominator)
  const allBefore = cellsOf(
    total.before,
    value,
    ownBase(total.before, visits?.total.before),
    rate?.denominator,
  )
  // A rate of nothing is none; a member that was not there, or no longer is, has a measure of nothing.
  if (!allNow || !allBefore || (rate ? !now || !before : !now && !before)) return undefined
  const change = (now?.amount ?? 0) - (before?.amount ?? 0)
  if (change === 0 || Math.abs(change) < minChange * Math.abs(before?.amount ?? 0)) return undefined
  const isSummed = rate === undefined && isAdditive(measure)
  const whole = allNow.amount - allBefore.amount
  const weight = isSummed && whole !== 0 ? change / whole : 0
  const baseRow = rate ? ownBase(member.before, visitRow(visits?.rows.before)) : member.before
  const counted = rate?.denominator ?? sample
  const isSmall = (baseRow?.number(counted) ?? minBase) < minBase
  return {
    member: { dimension: of.dimension, key: member.key, cell: nameRow.cell(of.dimension) },
    ...{ rate, pValue, discoveryRate, weight },
    now: now?.cells,
    before: before?.cells,
    allNow: allNow.cells,
    allBefore: allBefore.cells,
    rises: change > 0,
    smallBase: baseRow && isSmall ? { measure: counted, cell: baseRow.cell(counted) } : undefined,
  }
}

function cellsOf(
  row: Row | undefined,
  value: string,
  baseRow: Row | undefined,
  base: string | undefined,
): { cells: RateCells; amount: number } | undefined {
  const amount = row?.number(value)
  if (!row || amount === undefined) return undefined
  if (base === undefined) return { cells: { value: row.cell(value) }, amount }
  const divisor = baseRow?.number(base)
  if (!baseRow || divisor === undefined || divisor === 0) return undefined
  return { cells: { value: row.cell(value), base: baseRow.cell(base) }, amount: amount / divisor }
}

/** The bucket at which a driver's level changed, over both windows. */
async function findDay(
  { of, member, rate, visits, course: known }: Candidate,
  { subject, scope, span }: DriverQuestion,
  { ask }: AnalysisContext,
): Promise<Driver['changedAt']> {
  const granularity = span && finestGranularity([span], 1)
  if (!span || granularity === undefined || granularity === 'month') return undefined
  if (known.granularity === granularity && known.cells.length === known.buckets.length) {
    const found = findChangePoint(known.buckets)
    const cell = found && known.cells[found.index]
    return cell && { cell, granularity }
  }
  const within = (one: QueryScope, dimension: string): QueryScope => ({
    ...one,
    filters: [...one.filters, memberFilter(dimension, [member.key])],
  })
  const value = rate?.numerator ?? subject.measure
  const measures = [value, ...(rate && !visits ? [rate.denominator] : [])]
  const [course, visitCourse] = await Promise.all([
    ask(courseQuery(within(scope, of.dimension), measures, span, granularity)),
    visits && ask(courseQuery(within(visits.scope, visits.dimension), ['events.people'], span, granularity)),
  ])
  if (!course || (visits && !visitCourse)) return undefined
  const column = bucketColumn(`${subject.source}.time`, granularity)
  const rows = rowsOf(course)
  const visitColumn = bucketColumn('events.time', granularity)
  const bases = new Map(
    visitCourse
      ? rowsOf(visitCourse).map((row) => [row.key(visitColumn), row.number('events.people') ?? 0])
      : [],
  )
  const found = findChangePoint(
    rows.map((row) => ({
      value: row.number(value) ?? 0,
      base: visits ? (bases.get(row.key(column)) ?? 0) : rate ? (row.number(rate.denominator) ?? 0) : 1,
      weekday: granularity === 'day' ? weekdayOf(row.key(column) ?? '') : undefined,
    })),
  )
  const row = found && rows[found.index]
  return row && { cell: row.cell(column), granularity }
}
