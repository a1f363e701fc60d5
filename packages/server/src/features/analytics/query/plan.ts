import { dimensionIn, findDimension, findMeasure, isShared, sources } from '../catalogue/catalogue.ts'
import type { Dimension, Measure, PlainMeasure, Source, SourceId } from '../catalogue/member.ts'
import {
  type DimensionFilter,
  type FilterTree,
  type Grouping,
  leavesOf,
  mapTree,
  type ParsedQuery,
} from './query.ts'
import { createQueryFaults, type QueryFaults } from './query-faults.ts'
import { countUnits, instantsOfBuckets } from './time/calendar.ts'
import { describeRange } from './time/dates.ts'
import { hullOf, intersectionOf, isBounded, type TimeSet, unionOf } from './time/interval.ts'

/** One pass over one source: plain aggregates of its rows, or its sessions. */
export interface Branch {
  readonly source: Source
  readonly over: PlainMeasure['over']
  readonly measures: readonly PlainMeasure[]
  /** The groupings in their order, as this source knows their dimensions. */
  readonly groupings: readonly Grouping[]
  readonly filters: readonly FilterTree<DimensionFilter>[]
}

/** One answer of a comparison; a query without one has a single range without a label. */
export interface PlannedRange {
  readonly label?: string
  readonly times: TimeSet
  /** Instants of all buckets that have a row whether there is a fact in them or not. */
  readonly filled?: readonly number[]
}

/** What is computed: one column for each measure of `measures`, summed over branches, then ratios of them. */
export interface Plan
  extends Pick<
    ParsedQuery,
    'zone' | 'groupings' | 'measureFilters' | 'order' | 'limit' | 'offset' | 'total'
  > {
  readonly branches: readonly Branch[]
  readonly ranges: readonly PlannedRange[]
  /** Plain measures that are aggregated: those asked for, those that filters and ratios need. */
  readonly measures: readonly PlainMeasure[]
  /** What the rows show, in the order of the query. */
  readonly selected: readonly Measure[]
}

/** Buckets of time that one query may touch, and rows that may come of filling them. */
export const maxBuckets = 50_000
/** Separate stretches of time that filters may leave. */
const maxIntervals = 100

/**
 * Decides what each source computes and whether the members fit together (docs/statistics.md, Joining sources).
 * @throws {DomainError} `incompatibleMembers` naming them, or `tooComplex`
 */
export function planQuery(query: ParsedQuery): Plan {
  const faults = createQueryFaults()
  const measures = plainMeasures(query)
  const ids = sourcesOf(query, measures)
  rejectIncompatibleDimensions(query, measures, ids, faults)
  faults.throwAny()
  const ranges = rangesOf(query)
  for (const { times } of ranges) rejectTooManyBuckets(query, times, faults)
  if (query.fill) rejectOpenFill(ranges, faults)
  faults.throwAny()
  return Object.freeze({
    ...query,
    branches: ids.flatMap((id) => branchesOf(sources[id], query, measures)),
    ranges: query.fill ? ranges.map((range) => ({ ...range, filled: bucketsOf(query, range) })) : ranges,
    measures,
    selected: query.measures,
  })
}

function plainMeasures({ measures, measureFilters, order }: ParsedQuery): PlainMeasure[] {
  const needed = new Set<PlainMeasure>()
  for (const measure of [...measures, ...order.flatMap(({ unselected }) => unselected ?? [])]) {
    if (!measure.virtual) needed.add(measure)
    else for (const each of partsOf(measure)) needed.add(each)
  }
  for (const { measure } of leavesOf(measureFilters)) needed.add(measure)
  return [...needed]
}

/** The plain measures that a measure is made of. */
export function partsOf(measure: Measure): readonly PlainMeasure[] {
  if (!measure.virtual) return [measure]
  return measure.parts.flatMap((id) => {
    const part = findMeasure(id)
    if (!part) throw new Error(`the measure ${measure.id} is made of ${id}, which does not exist`)
    return partsOf(part)
  })
}

/**
 * The sources that a query reads: those of its measures; without any, those of dimensions that only one
 * source has; without any, those of its remaining dimensions that have all of them; else those that it names.
 */
function sourcesOf(query: ParsedQuery, measures: readonly PlainMeasure[]): SourceId[] {
  const named = [...query.groupings, ...leavesOf(query.filters)]
    .map(({ dimension }) => dimension)
    .filter(({ filterOnly }) => !filterOnly)
  const ofGroups = named.filter(({ type }) => type !== 'time')
  const candidates = [
    measures.map(({ source }) => source),
    ofGroups.filter((each) => !isShared(each)).map(({ source }) => source),
    // Sessions lack the datasource, which the others share.
    ofGroups.map(({ source }) => source).filter((id) => ofGroups.every((each) => knownTo(id, each))),
    [...named, ...query.times].map(({ source }) => source),
  ]
  const ids = new Set(candidates.find((each) => each.length > 0) ?? [])
  // Dimensions of both without a measure ask which purchases are credited to which interactions.
  if (measures.length === 0 && ids.has('purchases')) ids.delete('workflows')
  return [...ids].sort()
}

/** Dimensions that a query groups or filters by, and where. */
function usesOf({ groupings, filters }: ParsedQuery): { path: string; dimension: Dimension }[] {
  return [
    ...groupings.map(({ dimension }) => ({ path: 'dimensions', dimension })),
    ...leavesOf(filters).map(({ dimension }) => ({ path: 'filters', dimension })),
  ]
}

/** The dimension as a source knows it, or nothing; purchases know those of the interactions that they are credited to. */
function knownTo(id: SourceId, dimension: Dimension): Dimension | undefined {
  return dimensionIn(id, dimension) ?? (id === 'purchases' && dimension.ofCredits ? dimension : undefined)
}

function isOfCredits({ dimension }: { dimension: Dimension }): boolean {
  return dimension.ofCredits === true
}

function rejectIncompatibleDimensions(
  query: ParsedQuery,
  measures: readonly PlainMeasure[],
  ids: readonly SourceId[],
  faults: QueryFaults,
): void {
  const uses = usesOf(query)
  for (const { path, dimension } of uses) {
    const other =
      dimension.ofCredits && measures.find(({ source, over }) => source === 'purchases' && over !== 'credits')
    if (other) {
      const message = `${dimension.id} does not fit together with ${other.id}: it groups what purchases are credited to, as in purchases.influencedRevenue`
      faults.add('incompatibleMembers', path, message, dimension.id, other.id)
    }
    for (const id of ids) {
      if (knownTo(id, dimension)) continue
      const other =
        measures.find(({ source }) => source === id)?.id ??
        uses.find((use) => use.dimension.source === id)?.dimension.id
      const own = findDimension(`${id}.${dimension.name}`)
      faults.add(
        'incompatibleMembers',
        path,
        `${dimension.id} does not fit together with ${other ?? id}: ${id} do not have this dimension. ` +
          (own
            ? `They have their own, ${own.id}`
            : 'Sources share time, person, deviceType and os, all but sessions datasource too'),
        dimension.id,
        other,
      )
    }
  }
}

function branchesOf(source: Source, query: ParsedQuery, measures: readonly PlainMeasure[]): Branch[] {
  const own = measures.filter((measure) => measure.source === source.id)
  const here = <T extends { readonly dimension: Dimension }>(use: T): T => ({
    ...use,
    dimension: knownTo(source.id, use.dimension) ?? use.dimension,
  })
  const shared = {
    source,
    groupings: query.groupings.map(here),
    filters: query.filters.map((filter) => mapTree(filter, here)),
  }
  const branches = (['rows', 'sessions', 'openings', 'credits'] as const).flatMap((over): Branch[] => {
    const ofPass = own.filter((measure) => measure.over === over)
    return ofPass.length > 0 ? [{ ...shared, over, measures: ofPass }] : []
  })
  if (branches.length > 0) return branches
  const ofCredits = source.id === 'purchases' && usesOf(query).some(isOfCredits)
  return [{ ...shared, over: ofCredits ? 'credits' : 'rows', measures: [] }]
}

function rangesOf({ comparison, when, zone }: ParsedQuery): PlannedRange[] {
  if (!comparison) return [{ times: when }]
  return comparison.map((range) => ({
    label: describeRange(range, zone),
    times: intersectionOf(when, unionOf([range])),
  }))
}

/** Estimates the buckets before anything is read: an axis in seconds over years would fill the memory. */
export function rejectTooManyBuckets(
  { groupings, zone }: Pick<ParsedQuery, 'groupings' | 'zone'>,
  times: TimeSet,
  faults: QueryFaults,
): void {
  if (times.length > maxIntervals) {
    faults.add('tooComplex', 'filters', `Filters on time may leave ${maxIntervals} separate ranges, not more`)
  }
  const hull = hullOf(times)
  if (!hull) return
  for (const { key, granularity } of groupings) {
    if (granularity === undefined) continue
    const open = !Number.isFinite(hull.from) || !Number.isFinite(hull.to)
    if (open && granularity !== 'second' && granularity !== 'minute') continue
    const buckets = open
      ? Infinity
      : times.reduce((sum, { from, to }) => sum + countUnits(zone, from, to, granularity), 0)
    if (buckets <= maxBuckets) continue
    faults.add(
      'tooComplex',
      'timeDimensions',
      open
        ? `Rows grouped by ${key} need a dateRange with a begin and an end, of at most ${maxBuckets} ${granularity}s`
        : `${key} divides this range into ${buckets} buckets; at most ${maxBuckets} are possible: ` +
            'choose a coarser granularity or a shorter dateRange',
    )
  }
}

function rejectOpenFill(ranges: readonly PlannedRange[], faults: QueryFaults): void {
  if (ranges.every(({ times }) => times.every(isBounded))) return
  faults.invalid('fill', 'buckets are filled within a dateRange that has a begin and an end: give one')
}

function bucketsOf({ groupings, zone }: ParsedQuery, { times }: PlannedRange): number[] {
  const granularity = groupings.find((each) => each.granularity !== undefined)?.granularity
  return granularity === undefined ? [] : instantsOfBuckets(zone, times, granularity)
}
