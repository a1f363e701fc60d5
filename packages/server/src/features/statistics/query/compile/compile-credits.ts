import { findDimension, labelDimension } from '../../members/catalogue.ts'
import { creditColumns, interactionNames, workflowLabel } from '../../members/credits.ts'
import { events } from '../../members/events.ts'
import type { Dimension } from '../../members/member.ts'
import { type DimensionFilter, type FilterTree, isGroup, leavesOf } from '../query.ts'
import { hullOf } from '../time/interval.ts'
import { hour } from '../time/zone.ts'
import { conditionOn, timeCondition, treeSql } from './compile-conditions.ts'
import { type Rows, type RowsOptions, rowsOf } from './compile-rows.ts'
import { storedNamesOf } from './event-name.ts'
import { nested, select } from './sql-text.ts'

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

/** What an interaction is sorted by and known by: of those of one millisecond a click is later than a display. */
const interaction = '(at, click, workflow)'

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
 * without a qualifying interaction has none. Filters on the workflow choose among credits; all others choose purchases.
 */
export function creditRowsOf(options: CreditOptions): Rows {
  const { filters, parameters } = options
  const needed = new Set<string>()
  const late = filters.filter(namesCredits)
  const bought = rowsOf({ ...options, filters: filters.filter((each) => !namesCredits(each)) })

  function dimensionSql(dimension: Dimension): string {
    if (!dimension.ofCredits) return bought.dimension(dimension)
    for (const name of dimension.columns) needed.add(name)
    return dimension.sql
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
    const byWorkflow = needed.has('workflow')
    const asked = [...creditColumns].filter(([name]) => needed.has(name)).map(([, of]) => of)
    const givesCredit = asked.includes('shares') || asked.every((of) => of === 'all')
    const { model, windows } = options.attribution
    // Whom a credit goes to makes no difference where workflows are not told apart.
    const shared = byWorkflow && model !== 'last-touch' && givesCredit
    bought.need(['time', 'person', 'value', 'purchase'])
    const purchase = select(['*', 'toUnixTimestamp64Milli(time) AS bought_at'], bought.relation())
    const interactions = interactionsSql(options, byWorkflow, purchase)
    const touched = shared
      ? sharedSql(purchase, interactions, windows)
      : lastSql(purchase, interactions, windows, byWorkflow)
    const { upTo, whole } = parts[shared ? model : 'last-touch']
    const share = (of: string) =>
      `intDiv(${of} * ${upTo('i')}, ${whole}) - intDiv(${of} * ${upTo('(i - 1)')}, ${whole})`
    const values: Readonly<Record<string, string>> = {
      workflow: 'touch.3',
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
      // A workflow that gets nothing of what was asked for is not shown.
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
        if (creditColumns.has(name)) needed.add(name)
        else bought.need([name])
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

/** Interactions that a purchase of the times may be credited to: `by_person`, `at`, `click`, `workflow`. */
function interactionsSql(options: CreditOptions, byWorkflow: boolean, purchase: string): string {
  const { filters, times, eventAliases, parameters } = options
  const { clickHours, displayHours } = options.attribution.windows
  const hull = hullOf(times)
  const window = Math.max(clickHours, displayHours) * hour
  const named = (values: readonly string[]): DimensionFilter => ({
    dimension: eventDimension('name'),
    operator: 'equals',
    values,
  })
  const ofPerson = filters.flatMap((filter) =>
    !isGroup(filter) && filter.dimension.columns.includes('person_text')
      ? [{ ...filter, dimension: eventDimension('person') }]
      : [],
  )
  const rows = rowsOf({
    ...options,
    source: events,
    filters: [named(Object.values(interactionNames)), ...ofPerson],
    times: hull ? [{ from: hull.from - window, to: hull.to }] : [],
  })
  rows.need(['time', 'person', 'name'])
  const workflow = rows.dimension(labelDimension('events', workflowLabel))
  const clicks = parameters.bind('Array(String)', storedNamesOf([interactionNames.click], eventAliases))
  const columns = [
    'person AS by_person',
    'toUnixTimestamp64Milli(time) AS at',
    `name IN ${clicks} AS click`,
    byWorkflow ? `assumeNotNull(${workflow}) AS workflow` : "'' AS workflow",
  ]
  // Few people buy: of the others nothing is kept.
  const conditions = [`${workflow} != ''`, `person IN ${nested(select(['person'], nested(purchase)))}`]
  if (hull && Number.isFinite(hull.from)) {
    const shortest = { from: hull.from - Math.min(clickHours, displayHours) * hour, to: Infinity }
    const recent = timeCondition('time', [shortest], 'time', parameters)
    const longer = clickHours >= displayHours ? `name IN ${clicks}` : `name NOT IN ${clicks}`
    conditions.push(`(${recent} OR ${longer})`)
  }
  return select(columns, rows.relation(), conditions)
}

function eventDimension(name: string): Dimension {
  const dimension = findDimension(`events.${name}`)
  if (dimension === undefined) throw new Error(`events have no dimension ${name}`)
  return dimension
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
  byWorkflow: boolean,
): string {
  // Numbers sort faster than tuples, of which only workflows are a reason.
  const key = 'toUInt64(at) * 2 + click'
  const sorted = byWorkflow
    ? [`arraySort(groupArray((${key}, workflow))) AS seen`, 'seen.1 AS keys', 'seen.2 AS workflows']
    : [`arraySort(groupArray(${key})) AS keys`]
  const seen = select(['by_person', ...sorted], nested(interactions), [], '\nGROUP BY by_person')
  const kinds = { click: 'key % 2 = 1', display: 'key % 2 = 0' }
  const columns = Object.entries(kinds).flatMap(([kind, isKind]) => [
    `arrayFill(at -> at != ${never}, arrayMap(key -> if(${isKind}, toInt64(intDiv(key, 2)), ${never}), keys)) AS ${kind}_at`,
    ...(byWorkflow ? [`arrayFill((workflow, key) -> ${isKind}, workflows, keys) AS ${kind}_workflow`] : []),
  ])
  const shown = ['click', 'display'].flatMap((kind) => [
    `${kind}_at`,
    ...(byWorkflow ? [`${kind}_workflow`] : []),
  ])
  const last = 'arrayMap((key, next) -> intDiv(key, 2) != intDiv(next, 2), keys, arrayShiftLeft(keys, 1, 0))'
  const lasts = select(
    ['by_person', ...shown, 'toInt64(intDiv(last_key, 2)) AS seen_at'],
    `${nested(seen)}\nARRAY JOIN\n  ${[...columns, 'keys AS last_key', `${last} AS is_last`].join(',\n  ')}`,
    // Of those of one millisecond the last knows them all.
    ['is_last'],
  )
  const touch = (kind: string, click: number) =>
    `(${kind}_at, toUInt8(${click}), ${byWorkflow ? `${kind}_workflow` : "''"})`
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
    ['purchase AS of_purchase', `arraySort(groupArray(${interaction})) AS touches`],
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
