import { sourceOf } from '../../data/filters.ts'
import type { Meta } from '../../data/format.ts'
import { fitTogether, isKnown, readFilters } from '../../tiles/filters.ts'
import type { Tile, TileQuery } from '../../tiles/tile.ts'

/** A query that this page can edit: one measure, in total, over time or by one dimension. */
export interface Simple {
  readonly measure: string
  /** `total`, `time`, or the id of a dimension. */
  readonly by: string
}

/** Undefined for queries that say more than that. */
export function simpleOf({ measures, dimensions, timeDimensions }: TileQuery): Simple | undefined {
  const [measure, ...more] = measures
  const [dimension] = dimensions
  const isByTime = timeDimensions.some(({ granularity }) => granularity)
  if (measure === undefined || more.length > 0 || dimensions.length > 1 || timeDimensions.length > 1)
    return undefined
  if (dimension !== undefined) return isByTime ? undefined : { measure, by: dimension }
  return { measure, by: isByTime ? 'time' : 'total' }
}

/** The query with another measure or grouping; what else it says stays. */
export function withSimple(query: TileQuery, { measure, by }: Simple): TileQuery {
  const { order: _, fill: _fill, limit, ...rest } = query
  const isByDimension = by !== 'total' && by !== 'time'
  const granularity = query.timeDimensions[0]?.granularity ?? 'day'
  return {
    ...rest,
    measures: [measure],
    dimensions: isByDimension ? [by] : [],
    timeDimensions: by === 'time' ? [{ dimension: `${sourceOf(measure)}.time`, granularity }] : [],
    ...(isByDimension && { limit: limit ?? 10 }),
  }
}

export const emptyQuery: TileQuery = { measures: [], dimensions: [], filters: [], timeDimensions: [] }

/** Dimensions that rows of a measure can be grouped by. */
export const dimensionsFor = (meta: Meta, measure: string): string[] =>
  Object.keys(meta.dimensions).filter(
    (id) =>
      meta.dimensions[id]?.type !== 'time' &&
      !meta.dimensions[id]?.filterOnly &&
      fitTogether(meta, [measure, id]),
  )

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

type Added = Pick<Tile, 'kind'> & Partial<Tile>

/** What `?add=` of an address holds: a query of members that the model has, or an exploration with its definition. */
export function readAdded(value: unknown, meta: Meta): Added | undefined {
  if (!isObject(value)) return undefined
  const { exploration, definition } = value
  if (exploration === 'funnel' || exploration === 'retention' || exploration === 'paths')
    return isObject(definition) ? { kind: 'exploration', exploration, definition } : undefined
  const { measures = [], dimensions = [], timeDimensions = [], filters: asked = [] } = value
  if (
    !Array.isArray(measures) ||
    !Array.isArray(dimensions) ||
    !Array.isArray(timeDimensions) ||
    !Array.isArray(asked)
  )
    return undefined
  const times = timeDimensions.map((each) => (isObject(each) ? each.dimension : undefined))
  const isMember = (each: unknown) => typeof each === 'string' && isKnown(meta, each)
  if (![...measures, ...dimensions, ...times].every(isMember)) return undefined
  const filters = readFilters(asked, meta)?.filters ?? []
  if (filters.length !== asked.length || measures.length + dimensions.length === 0) return undefined
  return {
    kind: 'query',
    query: {
      ...emptyQuery,
      ...value,
      measures,
      dimensions,
      timeDimensions,
      filters: [...filters],
    } as TileQuery,
  }
}
