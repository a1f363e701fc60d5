import { distinctCount } from './distinct-counts.ts'
import type { Expression, Measure, PlainMeasure } from './member.ts'

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

function credit(
  name: string,
  title: string,
  description: string,
  aggregate: Expression,
  traits: Partial<Pick<PlainMeasure, 'format' | 'mean' | 'estimate'>> = {},
): Measure {
  const id = `purchases.${name}`
  const common = { kind: 'measure', id, source: 'purchases', virtual: false, over: 'credits' } as const
  return { ...common, title, description, format: 'integer', aggregate, ...traits }
}

const byWorkflow = 'Grouped by a dimension of `workflows`,'
const qualifying = 'an interaction with a workflow that qualifies by the window of its kind'

const buyers = distinctCount('person', 'clicked = 1')
const ofBuyers = { columns: ['person', 'clicked'] }

export const creditMeasures: readonly Measure[] = [
  credit(
    'afterClick',
    'Purchases after a click',
    'Purchases that a click of the same person on content of a workflow precedes, within the click window. ' +
      `${byWorkflow} a purchase counts where the last such click does.`,
    { sql: 'sum(clicked)', columns: ['clicked'] },
  ),
  credit(
    'buyersAfterClick',
    'Buyers after a click',
    'Distinct persons with a purchase that counts in `purchases.afterClick`.',
    { ...buyers.aggregate, ...ofBuyers },
    { estimate: { ...buyers.estimate, ...ofBuyers } },
  ),
  credit(
    'individualizedAfterClick',
    'Purchases after a click on individualised content',
    'Those of `purchases.afterClick` whose click was on individualised content.',
    { sql: 'sumIf(clicked, individualized = 1)', columns: ['clicked', 'individualized'] },
  ),
  credit(
    'timeFromClick',
    'Time from click',
    'Mean seconds from that click to the purchase.',
    {
      sql: 'if(sum(clicked) = 0, NULL, sum(click_milliseconds) / sum(clicked) / 1000)',
      columns: ['clicked', 'click_milliseconds'],
    },
    { format: 'seconds', mean: true },
  ),
  credit(
    'influencedRevenue',
    'Influenced revenue',
    `Value of the purchases that follow ${qualifying}, exact in cents. ${byWorkflow} each of these interactions ` +
      'gets its part by the attribution model of the company.',
    { sql: 'ifNull(sum(credited_value), toDecimal128(0, 2))', columns: ['credited_value'] },
    { format: 'amount' },
  ),
  credit(
    'individualizedInfluencedRevenue',
    'Revenue influenced by individualised content',
    'The parts of `purchases.influencedRevenue` that interactions with individualised content get.',
    {
      sql: 'ifNull(sumIf(credited_value, individualized = 1), toDecimal128(0, 2))',
      columns: ['credited_value', 'individualized'],
    },
    { format: 'amount' },
  ),
  credit(
    'directRevenue',
    'Direct revenue',
    `Value of the same purchases. ${byWorkflow} the last interaction gets all of it, whatever the model.`,
    { sql: 'ifNull(sum(toDecimal128(direct_value, 2)), toDecimal128(0, 2))', columns: ['direct_value'] },
    { format: 'amount' },
  ),
  credit(
    'influencedCount',
    'Influenced purchases',
    `Purchases that follow ${qualifying}. ${byWorkflow} each of these interactions gets its part of the purchase by ` +
      'the attribution model of the company, in millionths that add up to 1.',
    { sql: 'toDecimal128(sum(credited), 6) / 1000000', columns: ['credited'] },
    { format: 'decimal' },
  ),
]
