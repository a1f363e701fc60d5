import type { readyMadeWords } from './ready-made-texts.ts'
import type { Tile, TileQuery } from './tile.ts'

type Words = (typeof readyMadeWords)['en']
export type ReadyMadeId = keyof Words['dashboards']

/** A tile whose title is a text of this page. */
type ReadyTile = Omit<Tile, 'id' | 'title'> & { readonly title: keyof Words['tiles'] }

interface ReadyMade {
  readonly id: ReadyMadeId
  readonly tiles: readonly ReadyTile[]
}

const timeOf = (member: string): string => `${member.slice(0, member.indexOf('.'))}.time`

function asked(measures: readonly string[], more: Partial<TileQuery> = {}): TileQuery {
  return { measures: [...measures], dimensions: [], filters: [], timeDimensions: [], ...more }
}

type Spot = readonly [x: number, y: number, w: number, h: number]

const placed = ([x, y, w, h]: Spot) => ({ x, y, w, h })

const figure = (title: ReadyTile['title'], spot: Spot, measure: string): ReadyTile => ({
  title,
  ...placed(spot),
  kind: 'query',
  view: 'number',
  query: asked([measure]),
})

const chart = (
  title: ReadyTile['title'],
  spot: Spot,
  measure: string,
  view: Tile['view'] = 'area',
  dimensions: readonly string[] = [],
): ReadyTile => ({
  title,
  ...placed(spot),
  kind: 'query',
  view,
  query: asked([measure], {
    dimensions: [...dimensions],
    timeDimensions: [{ dimension: timeOf(measure), granularity: 'day' }],
  }),
})

const list = (
  title: ReadyTile['title'],
  spot: Spot,
  measure: string,
  dimension: string,
  view: Tile['view'] = 'list',
): ReadyTile => ({
  title,
  ...placed(spot),
  kind: 'query',
  view,
  // As many rows as are seen at once.
  query: asked([measure], { dimensions: [dimension], limit: spot[3] >= 5 ? 9 : 7 }),
})

const table = (
  title: ReadyTile['title'],
  spot: Spot,
  measures: readonly string[],
  dimension: string,
): ReadyTile => ({
  title,
  ...placed(spot),
  kind: 'query',
  view: 'table',
  query: asked(measures, { dimensions: [dimension], limit: 20 }),
})

/** Figures beside each other in the first rows. */
const figures = (...all: readonly (readonly [ReadyTile['title'], measure: string])[]): ReadyTile[] =>
  all.map(([title, measure], i) => figure(title, [i * (12 / all.length), 0, 12 / all.length, 2], measure))

/** Dashboards that every company has: data of this page, to look at and to make one's own of. */
export const readyMade: readonly ReadyMade[] = [
  {
    id: 'overview',
    tiles: [
      ...figures(
        ['people', 'events.people'],
        ['sessions', 'sessions.count'],
        ['bounceRate', 'sessions.bounceRate'],
        ['events', 'events.count'],
        ['purchases', 'purchases.count'],
        ['revenue', 'purchases.revenue'],
      ),
      chart('peopleByDay', [0, 2, 8, 5], 'events.people'),
      list('channels', [8, 2, 4, 5], 'sessions.count', 'sessions.channel'),
      list('pages', [0, 7, 4, 5], 'events.people', 'events.path'),
      list('countries', [4, 7, 4, 5], 'sessions.count', 'sessions.country'),
      list('eventNames', [8, 7, 4, 5], 'events.count', 'events.name'),
    ],
  },
  {
    id: 'acquisition',
    tiles: [
      chart('sessionsByChannel', [0, 0, 8, 5], 'sessions.count', 'bar', ['sessions.channel']),
      list('newSessions', [8, 0, 4, 5], 'sessions.count', 'sessions.isNew', 'pie'),
      list('referrers', [0, 5, 4, 5], 'sessions.count', 'sessions.referrerHost'),
      list('campaigns', [4, 5, 4, 5], 'sessions.count', 'sessions.utmCampaign'),
      list('entryPages', [8, 5, 4, 5], 'sessions.count', 'sessions.entryPath'),
      table(
        'channelQuality',
        [0, 10, 12, 5],
        [
          'sessions.count',
          'sessions.people',
          'sessions.bounceRate',
          'sessions.duration',
          'sessions.perPerson',
        ],
        'sessions.channel',
      ),
    ],
  },
  {
    id: 'sessions',
    tiles: [
      ...figures(
        ['sessions', 'sessions.count'],
        ['people', 'sessions.people'],
        ['duration', 'sessions.duration'],
        ['eventsPerSession', 'sessions.eventsPerSession'],
        ['bounceRate', 'sessions.bounceRate'],
        ['perPerson', 'sessions.perPerson'],
      ),
      chart('sessionsByDay', [0, 2, 6, 5], 'sessions.count'),
      chart('durationByDay', [6, 2, 6, 5], 'sessions.duration', 'line'),
      list('entryPages', [0, 7, 6, 5], 'sessions.count', 'sessions.entryPath'),
      list('exitPages', [6, 7, 6, 5], 'sessions.count', 'sessions.exitPath'),
      list('devices', [0, 12, 4, 4], 'sessions.count', 'sessions.deviceType'),
      list('browsers', [4, 12, 4, 4], 'sessions.count', 'sessions.browser'),
      list('systems', [8, 12, 4, 4], 'sessions.count', 'sessions.os'),
    ],
  },
  {
    id: 'purchases',
    tiles: [
      ...figures(
        ['revenue', 'purchases.revenue'],
        ['purchases', 'purchases.count'],
        ['orderValue', 'purchases.averageOrderValue'],
        ['buyers', 'purchases.buyers'],
        ['revenuePerBuyer', 'purchases.revenuePerBuyer'],
        ['purchasesPerBuyer', 'purchases.perBuyer'],
      ),
      chart('revenueByDay', [0, 2, 8, 5], 'purchases.revenue'),
      list('topItems', [8, 2, 4, 5], 'purchases.count', 'purchases.item'),
      chart('purchasesByDevice', [0, 7, 8, 5], 'purchases.count', 'bar', ['purchases.deviceType']),
      chart('orderValueByDay', [8, 7, 4, 5], 'purchases.averageOrderValue', 'line'),
    ],
  },
  {
    id: 'conversions',
    tiles: [
      {
        title: 'funnel',
        ...placed([0, 0, 7, 4]),
        kind: 'exploration',
        exploration: 'funnel',
        definition: {
          dateRange: 'last 30 days',
          steps: [
            { events: ['page_view'] },
            { name: 'product', events: ['product_page', 'product_view'] },
            { events: ['add_cart'] },
            { events: ['purchase'] },
          ],
        },
      },
      chart('buyersByDay', [7, 0, 5, 4], 'purchases.buyers', 'bar'),
      {
        title: 'retention',
        ...placed([0, 4, 7, 5]),
        kind: 'exploration',
        exploration: 'retention',
        definition: { firstEvent: {}, returnEvent: {}, granularity: 'week', dateRange: 'last 8 weeks' },
      },
      {
        title: 'ways',
        ...placed([7, 4, 5, 5]),
        kind: 'exploration',
        exploration: 'paths',
        definition: { by: 'event', dateRange: 'last 30 days', depth: 3 },
      },
    ],
  },
  {
    id: 'workflows',
    tiles: [
      ...figures(
        ['displays', 'workflows.displays'],
        ['clicks', 'workflows.clicks'],
        ['clickRate', 'workflows.clickToOpenRate'],
        ['conversionRate', 'workflows.conversionRate'],
        ['influencedRevenue', 'purchases.influencedRevenue'],
        ['directRevenue', 'purchases.directRevenue'],
      ),
      chart('displaysByDay', [0, 2, 6, 5], 'workflows.displays'),
      chart('clicksByDay', [6, 2, 6, 5], 'workflows.clicks'),
      table(
        'byWorkflow',
        [0, 7, 12, 6],
        ['workflows.displays', 'workflows.openers', 'workflows.clicks', 'workflows.clickToOpenRate'],
        'workflows.name',
      ),
    ],
  },
]

/** The tiles of a ready-made dashboard, as a dashboard has them. */
export const tilesOf = ({ tiles }: ReadyMade, titles: Words['tiles']): Tile[] =>
  tiles.map((tile, i) => ({ ...tile, id: `tile-${i + 1}`, title: titles[tile.title] }) as Tile)

export const findReadyMade = (id: string): ReadyMade | undefined => readyMade.find((each) => each.id === id)
