import { membersOf, read } from './define-members.ts'
import { distinctCount } from './distinct-counts.ts'
import type { Measure } from './member.ts'

/**
 * Columns that the credits of purchases have beside those of the purchase (query/compile/compile-credits.ts), and which
 * interactions have a part in them.
 */
export const creditColumns: ReadonlyMap<string, 'all' | 'shares' | 'last' | 'click'> = new Map([
  /** 1 where the content of the interaction was individualised. */
  ['individualized', 'all'],
  /** Share of the purchase's value. */
  ['credited_value', 'shares'],
  /** Share of the purchase, in millionths. */
  ['credited', 'shares'],
  /** The whole value, at the last interaction. */
  ['direct_value', 'last'],
  /** 1 at the last click, and the time since then. */
  ['clicked', 'click'],
  ['click_milliseconds', 'click'],
])

const { measure } = membersOf('purchases')
const credits = { over: 'credits' } as const
const amount = { ...credits, format: 'amount' } as const
const seconds = { ...credits, format: 'seconds', mean: true } as const

const timeFromClick = 'if(sum(clicked) = 0, NULL, sum(click_milliseconds) / sum(clicked) / 1000)'
/** Of what is summed up: 0 where there is nothing. */
const money = (sum: string, ...columns: readonly string[]) =>
  read(`ifNull(${sum}, toDecimal128(0, 2))`, ...columns)
const individualizedValue = 'sumIf(credited_value, individualized = 1)'

const byWorkflow = 'Grouped by a dimension of `workflows`,'
const qualifying = 'an interaction with a workflow that qualifies by the window of its kind'

export const creditMeasures: readonly Measure[] = [
  measure('afterClick', 'Purchases after a click', read('sum(clicked)', 'clicked'), credits)`
    Purchases that a click of the same person on content of a workflow precedes, within the click window.
    ${byWorkflow} a purchase counts where the last such click does.`,
  measure(
    'buyersAfterClick',
    'Buyers after a click',
    distinctCount('person', 'clicked = 1', 'clicked'),
    credits,
  )`
    Distinct persons with a purchase that counts in \`purchases.afterClick\`.`,
  measure(
    'individualizedAfterClick',
    'Purchases after a click on individualised content',
    read('sumIf(clicked, individualized = 1)', 'clicked', 'individualized'),
    credits,
  )`Those of \`purchases.afterClick\` whose click was on individualised content.`,
  measure('timeFromClick', 'Time from click', read(timeFromClick, 'clicked', 'click_milliseconds'), seconds)`
    Mean seconds from that click to the purchase.`,
  measure('influencedRevenue', 'Influenced revenue', money('sum(credited_value)', 'credited_value'), amount)`
    Value of the purchases that follow ${qualifying}, exact in cents. ${byWorkflow} each of these interactions gets
    its part by the attribution model of the company.`,
  measure(
    'individualizedInfluencedRevenue',
    'Revenue influenced by individualised content',
    money(individualizedValue, 'credited_value', 'individualized'),
    amount,
  )`The parts of \`purchases.influencedRevenue\` that interactions with individualised content get.`,
  measure(
    'directRevenue',
    'Direct revenue',
    money('sum(toDecimal128(direct_value, 2))', 'direct_value'),
    amount,
  )`
    Value of the same purchases. ${byWorkflow} the last interaction gets all of it, whatever the model.`,
  measure(
    'influencedCount',
    'Influenced purchases',
    read('toDecimal128(sum(credited), 6) / 1000000', 'credited'),
    { ...credits, format: 'decimal' },
  )`
    Purchases that follow ${qualifying}. ${byWorkflow} each of these interactions gets its part of the purchase by the
    attribution model of the company, in millionths that add up to 1.`,
]
