import type { QueryInput } from '@millrace/sdk'
import { type Filter, sourceOf } from '../data/filters.ts'
import type { Granularity, Meta } from '../data/format.ts'
import { type Days, granularityFor, lengthOf } from '../data/ranges.ts'
import type { Asked } from '../data/result.ts'
import { fitted } from './filters.ts'
import type { Tile, TileQuery } from './tile.ts'

/** What all tiles of a dashboard are asked with. */
export interface Shared {
  readonly days: Days
  readonly compared: Days | undefined
  readonly filters: readonly Filter[]
}

/** A question of a tile, and the shared filters that do not fit it. */
export interface TileQuestion<T> {
  readonly body: T
  readonly left: readonly Filter[]
}

const daysIn: Readonly<Record<Granularity, number>> = {
  second: 1 / 86_400,
  minute: 1 / 1_440,
  hour: 1 / 24,
  day: 1,
  week: 7,
  month: 30,
  quarter: 91,
  year: 365,
}
/** Buckets that a chart of a tile can show. */
const maxBuckets = 400

/** The unit of the query, unless the range has too many or too few of it. */
export function fittingGranularity(wanted: Granularity, days: Days): Granularity {
  const buckets = lengthOf(days) / daysIn[wanted]
  return buckets < 2 || buckets > maxBuckets ? granularityFor(days) : wanted
}

const pair = ({ from, to }: Days): [string, string] => [from, to]

function filtersFor(
  { filters }: Shared,
  meta: Meta | undefined,
  source: string,
  chosen: readonly string[],
): { readonly taken: readonly Filter[]; readonly left: readonly Filter[] } {
  if (!meta) return { taken: filters, left: [] }
  const all = filters.map((filter) => ({ filter, taken: fitted(filter, meta, source, chosen) }))
  return {
    taken: all.flatMap(({ taken }) => taken ?? []),
    left: all.flatMap(({ filter, taken }) => (taken === undefined ? [filter] : [])),
  }
}

/** The query of a tile in the range, comparison and filters of its dashboard. */
export function queryOf(
  query: TileQuery,
  shared: Shared,
  meta: Meta | undefined,
): TileQuestion<QueryInput & Asked> {
  const { measures, dimensions, timeDimensions, filters } = query
  const source = sourceOf(measures[0] ?? dimensions[0] ?? timeDimensions[0]?.dimension ?? 'events.time')
  const { taken, left } = filtersFor(shared, meta, source, [...measures, ...dimensions])
  const { days, compared } = shared
  const ranges = compared ? { compareDateRange: [pair(days), pair(compared)] } : { dateRange: pair(days) }
  const [time = { dimension: `${source}.time` }, ...others] = timeDimensions
  const granularity = time.granularity ? fittingGranularity(time.granularity, days) : undefined
  const body = {
    ...query,
    filters: [...filters, ...taken],
    timeDimensions: [
      { dimension: time.dimension, ...ranges, ...(granularity && { granularity }) },
      ...others,
    ],
    ...(granularity && dimensions.length === 0 && others.length === 0 && { fill: query.fill ?? true }),
  }
  return { body: body as QueryInput & Asked, left }
}

export type ExplorationTile = Tile & Required<Pick<Tile, 'exploration' | 'definition'>>

/** The body of an exploration in the range and filters of its dashboard, without parts that its picture has no room for. */
export function explorationOf(
  { exploration, definition }: ExplorationTile,
  shared: Shared,
  meta: Meta | undefined,
): TileQuestion<Record<string, unknown>> {
  const { taken, left } = filtersFor(shared, meta, 'events', ['events.name'])
  const own = Array.isArray(definition.filters) ? definition.filters : []
  const {
    compareDateRange: _compared,
    granularity,
    breakdown: _breakdown,
    ...rest
  } = definition as Record<string, unknown>
  return {
    body: {
      ...rest,
      ...(exploration === 'retention' && { granularity }),
      dateRange: pair(shared.days),
      filters: [...own, ...taken],
    },
    left,
  }
}
