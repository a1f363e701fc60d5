import { dimensionIn } from '../../catalogue/catalogue.ts'
import { creditColumns } from '../../catalogue/credits.ts'
import type { Dimension } from '../../catalogue/member.ts'
import { workflows } from '../../catalogue/workflows.ts'
import { type DimensionFilter, type FilterTree, isGroup, leavesOf } from '../query.ts'
import { hullOf } from '../time/interval.ts'
import { hour } from '../time/zone.ts'
import { conditionOn, timeCondition, treeSql } from './compile-conditions.ts'
import { rowsOf } from './compile-rows.ts'
import { nested, select } from './parameters.ts'
import type { Rows, RowsOptions } from './rows.ts'

/** How a company credits its purchases to what was shown and clicked before (docs/statistics.md, Attribution). */
export interface Attribution {
  readonly model: 'last-touch' | 'linear' | 'decay'
  /** How long before a purchase an interaction of each kind qualifies. */
  readonly windows: { readonly clickHours: number; readonly displayHours: number }
}

/** Of a new company. */
export const defaultAttribution: Attribution = {
  model: 'last-touch',
  windows: { clickHours: 720, displayHours: 168 },
}

export interface CreditOptions extends RowsOptions {
  readonly attribution: Attribution
}

/**
 * What an interaction is sorted by: of those of one millisecond a click is later than a display, then the greater
 * identifier of a workflow, then the greater hash of what the event is known by. What is asked of it comes last.
 */
const interaction = '(at, click, workflow, identity, what)'

/** Earlier than every time. */
const never = -1

/**
 * For the i-th of n interactions, the parts of its credit and of those before it, and how many parts a whole has. Each
 * gets what the parts up to it have more than those before it, rounded toward zero: so credits add up to the whole, in
 * cents, and none is a cent from its share.
 */
const parts: Readonly<Record<Attribution['model'], { upTo: (i: string) => string; whole: string }>> = {
  'last-touch': { upTo: (i) => `toInt128(${i} = length(touches))`, whole: 'toInt128(1)' },
  linear: { upTo: (i) => `toInt128(${i})`, whole: 'toInt128(length(touches))' },
  decay: {
    upTo: (i) => `intDiv(toInt128(${i}) * (${i} + 1), 2)`,
    whole: 'intDiv(toInt128(length(touches)) * (length(touches) + 1), 2)',
  },
}

/** Hundredths of a value, and a millionth of a purchase, are what credits are made of. */
const wholePurchase = 1_000_000

/**
 * The credits of purchases as rows of a source: the columns of the purchase, and those of `creditColumns`. A purchase
 * without a qualifying interaction has none. Filters on dimensions of interactions choose among credits; all others
 * choose purchases.
 */
export function creditRowsOf(options: CreditOptions): Rows {
  const { filters, parameters } = options
  const needed = new Set<string>()
  const late = filters.filter(namesCredits)
  const bought = rowsOf({ ...options, filters: filters.filter((each) => !namesCredits(each)) })
  const interactions = interactionsOf(options)
  /** What credits show of their interaction: their columns, with the SQL over interactions. */
  const traits = new Map<string, string>()

  function dimensionSql(dimension: Dimension): string {
    if (!dimension.ofCredits) return bought.dimension(dimension)
    const sql = interactions.dimension(dimension)
    const known = [...traits].find(([, each]) => each === sql)?.[0]
    const name = known ?? `trait_${traits.size + 1}`
    traits.set(name, sql)
    return name
  }

  // Before the relation is written, so that it has the columns.
  const lateConditions = late.map((filter) =>
    treeSql(filter, (leaf) => {
      const { dimension, operator, values } = leaf
      return dimension.ofCredits
        ? conditionOn(dimensionSql(dimension), dimension, operator, values, parameters)
        : bought.condition([leaf])
    }),
  )

  function relation(): string {
    const asked = [...creditColumns].filter(([name]) => needed.has(name)).map(([, of]) => of)
    const givesCredit = asked.includes('shares') || asked.every((of) => of === 'all')
    const { model, windows } = options.attribution
    // Which interaction a credit goes to makes no difference where they are not distinguished.
    const shared = traits.size > 0 && model !== 'last-touch' && givesCredit
    bought.need(['time', 'person', 'value', 'purchase'])
    const purchase = select(['*', 'toUnixTimestamp64Milli(time) AS bought_at'], bought.relation())
    const seen = interactionsSql(options, interactions, [...traits.values()], purchase)
    const touched = shared
      ? sharedSql(purchase, seen, windows)
      : lastSql(purchase, seen, windows, traits.size > 0)
    const { upTo, whole } = parts[shared ? model : 'last-touch']
    const share = (of: string) =>
      `intDiv(${of} * ${upTo('i')}, ${whole}) - intDiv(${of} * ${upTo('(i - 1)')}, ${whole})`
    const values: Readonly<Record<string, string>> = {
      ...Object.fromEntries(
        [...traits.keys()].map((name, at) => [name, `tupleElement(tupleElement(touch, 3), ${at + 1})`]),
      ),
      credited_value: `toDecimal128(${share('cents')}, 2) / 100`,
      credited: `toInt64(${share(`toInt128(${wholePurchase})`)})`,
      direct_value: 'if(i = length(touches), ifNull(value, 0), toDecimal64(0, 2))',
      clicked: 'toUInt64(i = last_click)',
      click_milliseconds: 'if(i = last_click, bought_at - touch.1, 0)',
    }
    const counted = [
      '*',
      'toInt128(toDecimal128(ifNull(value, 0), 2) * 100) AS cents',
      'arrayLastIndex(touch -> touch.2 = 1, touches) AS last_click',
    ]
    const credits = select(
      ['*', ...Object.entries(values).map(([name, sql]) => `${sql} AS ${name}`)],
      `${nested(select(counted, nested(touched)))}\nARRAY JOIN touches AS touch, arrayEnumerate(touches) AS i`,
      // An interaction that gets nothing of what was asked for is not shown.
      [
        [
          givesCredit || asked.includes('last') ? (shared ? '1' : 'i = length(touches)') : '0',
          asked.includes('click') ? 'i = last_click' : '0',
        ].join(' OR '),
      ],
    )
    return nested(lateConditions.length > 0 ? select(['*'], nested(credits), lateConditions) : credits)
  }

  return {
    dimension: dimensionSql,
    need(columns) {
      for (const name of columns) {
        if (!creditColumns.has(name)) bought.need([name])
        else needed.add(name)
      }
      if (columns.includes('individualized')) {
        interactions.need(['individualized'])
        traits.set('individualized', 'individualized')
      }
    },
    relation,
  }
}

function namesCredits(filter: FilterTree<DimensionFilter>): boolean {
  return leavesOf([filter]).some(({ dimension }) => dimension.ofCredits)
}

function windowSql({ clickHours, displayHours }: Attribution['windows'], click: string): string {
  return `if(${click}, ${clickHours * hour}, ${displayHours * hour})`
}

/** The interactions that purchases of the times may be credited to. */
function interactionsOf(options: CreditOptions): Rows {
  const { filters, times } = options
  const { clickHours, displayHours } = options.attribution.windows
  const hull = hullOf(times)
  const window = Math.max(clickHours, displayHours) * hour
  const ofPerson = filters.flatMap((filter) => {
    if (isGroup(filter) || !filter.dimension.columns.includes('person_text')) return []
    const dimension = dimensionIn('workflows', filter.dimension)
    return dimension ? [{ ...filter, dimension }] : []
  })
  return rowsOf({
    ...options,
    source: workflows,
    filters: ofPerson,
    times: hull ? [{ from: hull.from - window, to: hull.to }] : [],
  })
}

/**
 * The interactions of those who buy, by `by_person`, `at`, `click`, `workflow`, `identity` and `what`.
 * @param traits what credits show of them, SQL over the rows
 */
function interactionsSql(
  { times, attribution, parameters }: CreditOptions,
  rows: Rows,
  traits: readonly string[],
  purchase: string,
): string {
  const { clickHours, displayHours } = attribution.windows
  const hull = hullOf(times)
  rows.need(['time', 'person', 'click', ...(traits.length > 0 ? ['workflow_id', 'identity'] : [])])
  const columns = ['person AS by_person', 'toUnixTimestamp64Milli(time) AS at', 'click']
  if (traits.length > 0)
    columns.push('workflow_id AS workflow', 'identity', `tuple(${traits.join(', ')}) AS what`)
  // Few people buy: of the others nothing is kept.
  const conditions = [`person IN ${nested(select(['person'], nested(purchase)))}`]
  if (hull && Number.isFinite(hull.from)) {
    const shortest = { from: hull.from - Math.min(clickHours, displayHours) * hour, to: Infinity }
    const recent = timeCondition('time', [shortest], 'time', parameters)
    conditions.push(`(${recent} OR click = ${clickHours >= displayHours ? 1 : 0})`)
  }
  return select(columns, rows.relation(), conditions)
}

/**
 * The purchases with the last display and the last click before them that qualify, as `touches` in their order. Each
 * interaction knows the last of either kind, so that a purchase has to find one of them: the work grows with purchases
 * and interactions, also where a person has many of both.
 */
function lastSql(
  purchase: string,
  interactions: string,
  windows: Attribution['windows'],
  withTraits: boolean,
): string {
  // Numbers sort faster than tuples, for which only traits are a reason.
  const key = 'toUInt64(at) * 2 + click'
  const sorted = withTraits
    ? [
        `arraySort(groupArray((${key}, workflow, identity, what))) AS seen`,
        'seen.1 AS keys',
        'seen.4 AS whats',
      ]
    : [`arraySort(groupArray(${key})) AS keys`]
  const seen = select(['by_person', ...sorted], nested(interactions), [], '\nGROUP BY by_person')
  const kinds = { click: 'key % 2 = 1', display: 'key % 2 = 0' }
  const columns = Object.entries(kinds).flatMap(([kind, isKind]) => [
    `arrayFill(at -> at != ${never}, arrayMap(key -> if(${isKind}, toInt64(intDiv(key, 2)), ${never}), keys)) AS ${kind}_at`,
    ...(withTraits ? [`arrayFill((what, key) -> ${isKind}, whats, keys) AS ${kind}_what`] : []),
  ])
  const shown = ['click', 'display'].flatMap((kind) => [
    `${kind}_at`,
    ...(withTraits ? [`${kind}_what`] : []),
  ])
  const last = 'arrayMap((key, next) -> intDiv(key, 2) != intDiv(next, 2), keys, arrayShiftLeft(keys, 1, 0))'
  const lasts = select(
    ['by_person', ...shown, 'toInt64(intDiv(last_key, 2)) AS seen_at'],
    `${nested(seen)}\nARRAY JOIN\n  ${[...columns, 'keys AS last_key', `${last} AS is_last`].join(',\n  ')}`,
    // Of those of one millisecond the last knows them all.
    ['is_last'],
  )
  const touch = (kind: string, click: number) =>
    `(${kind}_at, toUInt8(${click}), ${withTraits ? `${kind}_what` : "''"})`
  const qualifies = `touch.1 != ${never} AND bought_at - touch.1 <= ${windowSql(windows, 'touch.2 = 1')}`
  const touches = `arrayFilter(touch -> ${qualifies}, arraySort([${touch('display', 0)}, ${touch('click', 1)}]))`
  return select(
    ['bought.*', `${touches} AS touches`],
    `${nested(purchase)} AS bought
ASOF JOIN ${nested(lasts)} AS last ON bought.person = last.by_person AND bought.bought_at >= last.seen_at`,
  )
}

/** The purchases with all their qualifying interactions, as `touches` in their order. */
function sharedSql(purchase: string, interactions: string, windows: Attribution['windows']): string {
  const qualifies = ['at <= bought_at', `bought_at - at <= ${windowSql(windows, 'click')}`]
  const pairs = select(
    [
      'purchase AS of_purchase',
      `arrayMap(each -> (each.1, each.2, each.5), arraySort(groupArray(${interaction}))) AS touches`,
    ],
    `${nested(select(['DISTINCT purchase', 'person', 'bought_at'], nested(purchase)))} AS pair
INNER JOIN ${nested(interactions)} AS seen ON pair.person = seen.by_person`,
    qualifies,
    '\nGROUP BY purchase',
  )
  return select(
    ['bought.*', 'touches'],
    `${nested(purchase)} AS bought\nINNER JOIN ${nested(pairs)} AS touched ON bought.purchase = touched.of_purchase`,
  )
}
