import { type Static, Type } from 'typebox'
import { revisionFields } from '../revision.ts'
import {
  bodyOf,
  count,
  id,
  integer,
  keyPattern,
  lineText,
  listOf,
  longText,
  named,
  nameText,
  nullable,
  oneOf,
  text,
  times,
} from './formats.ts'
import { DateRange, Filters, Query } from './query.ts'
import { explorationDefinition, explorationKind } from './saved-exploration.ts'

/** Bounds of dashboards (docs/statistics.md, Dashboards). */
export const dashboardLimits = {
  perCompany: 1_000,
  tiles: 40,
  teams: 100,
  columns: 12,
  rows: 1_000,
  tileRows: 24,
  text: 5_000,
  /** Characters of tiles and filters as JSON. */
  characters: 100_000,
} as const

export const tileViews = ['line', 'area', 'bar', 'list', 'number', 'pie', 'table', 'map'] as const

/** Fields of a tile that its kind needs; it takes none of the others. */
export const tileFields = {
  query: ['query', 'view'],
  exploration: ['exploration', 'definition'],
  experiment: ['experimentId'],
  text: ['text'],
} as const
export type TileKind = keyof typeof tileFields

export const DashboardTile = named(
  'DashboardTile',
  {
    id: text('Tells the tiles of a dashboard apart; the client chooses it', 'revenue', {
      pattern: keyPattern,
    }),
    title: lineText('What stands above it; empty for a title made of its content', 200),
    x: integer(0, dashboardLimits.columns - 1, 'Its first column, from 0', 0),
    y: integer(0, dashboardLimits.rows, 'Its first row, from 0', 0),
    w: integer(1, dashboardLimits.columns, 'Columns that it takes; `x` and `w` are 12 at most together', 6),
    h: integer(1, dashboardLimits.tileRows, 'Rows that it takes', 4),
    kind: oneOf(Object.keys(tileFields) as TileKind[], {
      description:
        'What it shows: a `query` has `query` and `view`, an `exploration` has `exploration` and `definition`, an `experiment` has `experimentId`, a `text` has `text`; other fields of these it has not',
      examples: ['query'],
    }),
    query: Type.Optional(Query),
    view: Type.Optional(oneOf(tileViews, 'How the result of the query is drawn')),
    exploration: Type.Optional(explorationKind),
    definition: Type.Optional(explorationDefinition),
    experimentId: Type.Optional(id('The experiment whose results it shows')),
    text: Type.Optional(longText('Plain text', dashboardLimits.text)),
  },
  'A part of a dashboard, on a grid of 12 columns',
)
export type DashboardTile = Static<typeof DashboardTile>

const summary = {
  id: id('Identifier of the dashboard'),
  companyId: id('Company that owns it'),
  name: Type.String(),
  description: Type.String(),
  resourceGroupIds: listOf(
    Type.String(),
    'Teams that see it, beside its owner and those with Statistics: manage; every user where none is named',
  ),
  ownerId: nullable(id('User who made it'), 'User who made it and may change it; null once the user is gone'),
  ...revisionFields,
  ...times,
}

/** What shares the tiles of a dashboard. */
const shared = {
  filters: Filters,
  range: nullable(DateRange, {
    description:
      'The range of time in which its tiles are shown first, as a query has it; null leaves it to who looks',
    examples: ['last 30 days'],
  }),
  comparison: oneOf(['none', 'previous', 'year'], {
    description:
      'What the range is compared with: nothing, the time before it, or the same time a year before',
    examples: ['none'],
  }),
}

export const Dashboard = named(
  'Dashboard',
  { ...summary, tiles: listOf(DashboardTile), ...shared },
  'Tiles of queries, explorations, experiments and text',
)
export type Dashboard = Static<typeof Dashboard>

export const DashboardSummary = named(
  'DashboardSummary',
  { ...summary, tiles: count('How many tiles it has') },
  'A dashboard in a list',
)
export type DashboardSummary = Static<typeof DashboardSummary>

/** Of a new dashboard, and of one that is replaced: a field that is absent is not kept. */
export const DashboardInput = bodyOf('DashboardInput', Dashboard, {
  name: nameText('Name of the dashboard', 200, { examples: ['Sales'] }),
  description: Type.Optional(longText('What it is for; empty when absent', 2_000)),
  resourceGroupIds: Type.Optional(
    Type.Array(id('A team that you are a member of'), {
      maxItems: dashboardLimits.teams,
      uniqueItems: true,
      description: 'Teams that see it; every user when absent or empty',
    }),
  ),
  tiles: Type.Array(DashboardTile, { maxItems: dashboardLimits.tiles }),
  filters: Type.Optional(Filters),
  range: Type.Optional(shared.range),
  comparison: Type.Optional(shared.comparison),
})
export type DashboardInput = Static<typeof DashboardInput>
