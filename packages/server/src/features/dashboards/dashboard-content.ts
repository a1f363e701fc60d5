import type { Fault } from '@millrace/contract/failure-data.ts'
import {
  type Dashboard,
  type DashboardTile,
  dashboardLimits,
  tileFields,
} from '@millrace/contract/resources/dashboard.ts'
import type { Query } from '@millrace/contract/resources/query.ts'
import { type ExplorationKind, explorationBodies } from '@millrace/contract/resources/saved-exploration.ts'
import { DomainError } from '../../platform/errors.ts'
import { faultOfShape } from '../../platform/http/validation.ts'
import { normalizeId } from '../../platform/ids.ts'
import { invalid, placed, refuseFaults } from '../../platform/invalid.ts'

/** What the tiles of a dashboard show, and what they share. */
export type Content = Pick<Dashboard, 'tiles' | 'filters' | 'range'>

interface Reader {
  readonly companyId: string
  readonly readerId: string
}

export interface ContentDependencies {
  /** Throws what running the query would, without running it. */
  readonly validateQuery: (query: Query, reader: Reader) => Promise<void>
  /** The same for an exploration whose body has the shape of its kind. */
  readonly validateExploration: (kind: ExplorationKind, body: unknown, reader: Reader) => Promise<void>
  /** Those of the ids that are experiments of the company. */
  readonly listExperiments: (companyId: string, ids: readonly string[]) => Promise<readonly string[]>
}

const everyField = Object.values(tileFields).flat()

const same = (a: unknown, b: unknown): boolean => JSON.stringify(a) === JSON.stringify(b)

/** A question with a part that queries share, so that it is read as a query reads it. */
const askedWith = (part: Pick<Query, 'filters'> | { readonly dateRange: Dashboard['range'] }): Query => ({
  measures: [],
  dimensions: [],
  filters: 'filters' in part ? part.filters : [],
  timeDimensions: [
    {
      dimension: 'events.time',
      granularity: 'year',
      ...('dateRange' in part && { dateRange: part.dateRange }),
    },
  ],
})

/** What is wrong with a tile beside its query: where it lies, and which fields it has. */
function faultsOfTile(tile: DashboardTile, ids: ReadonlySet<string>): Fault[] {
  const { id, x, w, kind, exploration, definition } = tile
  const needed: readonly string[] = tileFields[kind]
  const faults: Fault[] = []
  const add = (path: string, message: string) => faults.push({ path, message })
  if (ids.has(id)) add('id', 'must be another one than that of the tiles before')
  if (x + w > dashboardLimits.columns)
    add(
      'w',
      `must be at most ${dashboardLimits.columns - x}: the grid has ${dashboardLimits.columns} columns`,
    )
  for (const field of everyField) {
    const isGiven = tile[field] !== undefined
    if (isGiven === needed.includes(field)) continue
    add(field, isGiven ? `does not belong to a tile of the kind ${kind}` : `is required by the kind ${kind}`)
  }
  const shape = exploration && definition && faultOfShape(explorationBodies[exploration], definition)
  if (shape) add(['definition', shape.path].filter(Boolean).join('.'), shape.message)
  return faults
}

/** @throws {DomainError} `validation` naming the tile and its field */
function checkShape({ tiles, filters }: Content): void {
  const { length } = JSON.stringify([tiles, filters])
  const max = dashboardLimits.characters
  if (length > max)
    throw invalid('tiles', `must have, with filters, at most ${max} characters of JSON; they have ${length}`)
  const ids = new Set<string>()
  const faults = tiles.flatMap((tile, i) => {
    const found = faultsOfTile(tile, ids)
    ids.add(tile.id)
    return found.map(({ path, message }) => ({ path: `tiles.${i}.${path}`, message }))
  })
  refuseFaults(faults)
}

/**
 * Checks tiles, filters and range of a dashboard as if they were asked (docs/statistics.md, Dashboards). What is already saved is not
 * checked again.
 */
export function createContentCheck(dependencies: ContentDependencies) {
  const { validateQuery, validateExploration, listExperiments } = dependencies

  async function checkTile(tile: DashboardTile, reader: Reader): Promise<void> {
    if (tile.query) await at('query', validateQuery(tile.query, reader))
    if (tile.exploration)
      await at('definition', validateExploration(tile.exploration, tile.definition, reader))
  }

  /** @throws {DomainError} `validation` */
  async function requireExperiments(
    tiles: readonly { readonly tile: DashboardTile; readonly place: string }[],
    companyId: string,
  ): Promise<void> {
    const named = tiles.flatMap(({ tile: { experimentId }, place }) =>
      experimentId === undefined ? [] : [{ id: normalizeId(experimentId), path: `${place}.experimentId` }],
    )
    if (named.length === 0) return
    const known = await listExperiments(
      companyId,
      named.map(({ id }) => id),
    )
    refuseFaults(
      named
        .filter(({ id }) => !known.includes(id))
        .map(({ path }) => ({ path, message: 'must be an experiment of your company' })),
    )
  }

  /** @throws {DomainError} what the content is wrong about, with its place */
  return async function checkContent(content: Content, reader: Reader, saved?: Content): Promise<void> {
    checkShape(content)
    const { tiles, filters, range } = content
    const before = new Map(saved?.tiles.map((tile) => [tile.id, tile]))
    const contentOf = (tile: DashboardTile | undefined) => tile && everyField.map((field) => tile[field])
    const changed = tiles
      .map((tile, i) => ({ tile, place: `tiles.${i}` }))
      .filter(({ tile }) => !same(contentOf(tile), contentOf(before.get(tile.id))))
    await requireExperiments(changed, reader.companyId)
    for (const { tile, place } of changed) await at(place, checkTile(tile, reader))
    for (const [i, filter] of filters.entries()) {
      if (saved?.filters.some((each) => same(each, filter))) continue
      await validateQuery(askedWith({ filters: [filter] }), reader).catch((error: unknown) => {
        throw moved(error, 'filters.0', `filters.${i}`)
      })
    }
    if (range === null || same(range, saved?.range)) return
    await validateQuery(askedWith({ dateRange: range }), reader).catch((error: unknown) => {
      throw moved(error, 'timeDimensions.0.dateRange', 'range')
    })
  }
}

/** @throws {DomainError} what the work throws, with its place */
const at = (place: string, work: Promise<void>): Promise<void> =>
  work.catch((error: unknown) => {
    throw placed(error, place)
  })

/** A failure of the question that a part was asked with, as one of the part. */
function moved(error: unknown, from: string, to: string): unknown {
  if (!(error instanceof DomainError)) return error
  const { errors = [] } = error.data as { readonly errors?: readonly Fault[] }
  const data = {
    ...(error.data as object),
    errors: errors.map(({ path, ...fault }) => ({ ...fault, path: path.replace(from, to) })),
  }
  const message = error.message.replace(from, to)
  return new DomainError(error.errorName, data as typeof error.data, { message, cause: error })
}
