import { dimension } from './dimensions.ts'
import type { Dimension, Expression, Measure } from './member.ts'

/** Custom events that tell of an interaction, until workflows do themselves (docs/statistics.md, Attribution). */
export const interactionNames = { click: 'workflow_click', display: 'workflow_display' } as const

/** Their label that names the workflow; without it an event is no interaction. */
export const workflowLabel = 'workflowId'

/**
 * Columns that the credits of purchases have beside those of the purchase (query/compile/compile-credits.ts), and which
 * interactions have a part in them.
 */
export const creditColumns: ReadonlyMap<string, 'all' | 'shares' | 'last' | 'click'> = new Map([
  ['workflow', 'all'],
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
  traits: { readonly format?: Measure['format']; readonly mean?: true } = {},
): Measure {
  const id = `purchases.${name}`
  const common = { kind: 'measure', id, source: 'purchases', virtual: false, over: 'credits' } as const
  return { ...common, title, description, format: 'integer', aggregate, ...traits }
}

const byWorkflow = 'Grouped by `workflows.id`,'
const qualifying = 'an interaction with a workflow that qualifies by the window of its kind'

export const creditMeasures: readonly Measure[] = [
  credit(
    'afterClick',
    'Purchases after a click',
    'Purchases that a click of the same person on content of a workflow precedes, within the click window. ' +
      `${byWorkflow} a purchase counts for the workflow of the last such click.`,
    { sql: 'sum(clicked)', columns: ['clicked'] },
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

export const creditDimensions: readonly Dimension[] = [
  {
    ...dimension(
      'purchases',
      'workflow',
      { sql: 'workflow', columns: ['workflow'] },
      {
        title: 'Workflow',
        description:
          'Identifier of the workflow whose interaction a purchase is credited to. Fits the measures of purchases ' +
          'that are credited: `purchases.afterClick`, `purchases.timeFromClick`, `purchases.influencedRevenue`, ' +
          '`purchases.directRevenue` and `purchases.influencedCount`.',
        format: 'id',
      },
      { ofCredits: true },
    ),
    id: 'workflows.id',
  },
]
