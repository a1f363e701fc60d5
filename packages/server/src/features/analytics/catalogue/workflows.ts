import {
  boolean,
  column,
  countRows,
  fromUserAgent,
  isId,
  membersOf,
  nullable,
  ofCredits,
  ofWorkflow,
  oneAxis,
  optionalColumn,
  read,
} from './define-members.ts'
import { distinctCount } from './distinct-counts.ts'
import { identityColumns } from './identity-columns.ts'
import type { Dimension, Expression, Lookup, Measure, Source } from './member.ts'

/** docs/statistics.md, workflows: interactions, which are displays of contents and clicks on them, one row each. */
export const workflows: Source = {
  id: 'workflows',
  title: 'Workflows',
  table: 'workflow_events',
  replacing: false,
  labels: 'parameters',
  columns: identityColumns,
}

const { measure, virtual, ratio, dimension, time, person, datasource, deviceType, os } =
  membersOf('workflows')

/**
 * What individualised contents brought beyond what default contents would have: a quantity of theirs, less the quantity
 * that default contents had for each of their displays, times the individualised displays.
 * @param individualized the quantity of individualised contents
 * @param all that of all contents
 */
function uplift(name: string, title: string, individualized: string, all: string): Measure {
  return virtual(name, title, 'decimal', {
    description:
      `\`${individualized}\` beyond what it would be had individualised contents the rate of default ones: minus ` +
      `(\`${all}\` - \`${individualized}\`) / (\`workflows.displays\` - \`workflows.individualizedDisplays\`) * ` +
      '`workflows.individualizedDisplays`. Null where no default content was displayed.',
    parts: [individualized, all, 'workflows.individualizedDisplays', 'workflows.displays'],
    compute: (own, whole, ownDisplays, displays) =>
      `if(${displays} = ${ownDisplays}, NULL, toFloat64(${own}) - ` +
      `toFloat64(${whole} - ${own}) / toFloat64(${displays} - ${ownDisplays}) * toFloat64(${ownDisplays}))`,
  })
}

const openings = { over: 'openings' } as const
const displayed = ['click = 0', 'click'] as const
const clicked = ['click = 1', 'click'] as const
const individualDisplay = ['click = 0 AND individualized = 1', 'click', 'individualized'] as const
const individualClick = ['click = 1 AND individualized = 1', 'click', 'individualized'] as const

const countWhere = (condition: string, ...columns: readonly string[]): Expression =>
  read(`countIf(${condition})`, ...columns)

const generationTime = read(
  'if(countIf(click = 0 AND isNotNull(generation_us)) = 0, NULL, ' +
    'sumIf(generation_us, click = 0) / countIf(click = 0 AND isNotNull(generation_us)) / 1000)',
  'click',
  'generation_us',
)

export const workflowMeasures: readonly Measure[] = [
  measure('count', 'Interactions', countRows)`Displays of contents of workflows and clicks on them.`,
  measure('displays', 'Displays', countWhere(...displayed))`Contents of workflows that were displayed.`,
  measure('clicks', 'Clicks', countWhere(...clicked))`Clicks on contents of workflows.`,
  measure('openings', 'Openings', countWhere('NOT is_marked'), openings)`
    Runs of displays to one person in one message, else on one page, with no gap over 30 seconds. An opening belongs
    to the bucket of time in which it starts, and to a date range when it starts in it. Filters come first and
    dimensions divide, so that grouping by a dimension and filtering by its values agree.`,
  measure('openers', 'Openers', distinctCount('person', ...displayed))`
    Distinct persons to whom a content was displayed.`,
  measure(
    'clickers',
    'Clickers',
    distinctCount('person', ...clicked),
  )`Distinct persons who clicked on a content.`,
  measure('individualizedDisplays', 'Individualised displays', countWhere(...individualDisplay))`
    Displays of individualised contents.`,
  measure('individualizedOpenings', 'Individualised openings', countWhere('is_marked'), openings)`
    Openings of individualised contents: \`workflows.openings\` of those displays alone.`,
  measure('individualizedOpeners', 'Individualised openers', distinctCount('person', ...individualDisplay))`
    Distinct persons to whom an individualised content was displayed.`,
  measure('individualizedClicks', 'Individualised clicks', countWhere(...individualClick))`
    Clicks on individualised contents.`,
  measure('generationTime', 'Generation time', generationTime, { format: 'milliseconds', mean: true })`
    Mean milliseconds to produce a content, over the displays for which it is known.`,
  ratio('openingsPerOpener', 'Openings per opener', 'decimal', 'openings', 'openers'),
  ratio('clicksPerClicker', 'Clicks per clicker', 'decimal', 'clicks', 'clickers'),
  ratio('clickToOpenRate', 'Click-to-open rate', 'ratio', 'clicks', 'openings'),
  ratio('clickerToOpenerRate', 'Clicker-to-opener rate', 'ratio', 'clickers', 'openers'),
  ratio(
    'individualizedDisplayRate',
    'Individualised display rate',
    'ratio',
    'individualizedDisplays',
    'displays',
  ),
  ratio(
    'individualizedOpenerRate',
    'Individualised opener rate',
    'ratio',
    'individualizedOpeners',
    'openers',
  ),
  ratio('conversionRate', 'Conversion rate of clicks', 'ratio', 'purchases.afterClick', 'clicks'),
  ratio(
    'uniqueConversionRate',
    'Conversion rate of clickers',
    'ratio',
    'purchases.buyersAfterClick',
    'clickers',
  ),
  uplift('clickUplift', 'Click uplift', 'workflows.individualizedClicks', 'workflows.clicks'),
  uplift(
    'conversionUplift',
    'Conversion uplift',
    'purchases.individualizedAfterClick',
    'purchases.afterClick',
  ),
  uplift(
    'revenueUplift',
    'Revenue uplift',
    'purchases.individualizedInfluencedRevenue',
    'purchases.influencedRevenue',
  ),
]

/** A text of the interaction that it may lack. */
const optional = (name: string, from: string, title: string) =>
  dimension(name, title, optionalColumn(from), nullable, ofCredits)

/** The same, of what one workflow alone has. */
const own = (name: string, from: string, title: string, traits: { readonly format?: string } = {}) =>
  dimension(name, title, optionalColumn(from), nullable, ofCredits, ofWorkflow, traits)

/** A text that a definition has now, for an identifier that the interaction has. Categories are of no team. */
const lookedUp = (name: string, from: string, title: string, lookup: Lookup, isNullable = true) =>
  dimension(name, title, column(from), { lookup }, ofCredits, from === 'workflow_id' ? ofWorkflow : {}, {
    nullable: isNullable,
  })

const utm = (name: string, parameter: string, title: string): Dimension =>
  dimension(
    name,
    title,
    read(`nullIf(parameters['${parameter}'], '')`, 'parameters'),
    nullable,
    ofCredits,
    ofWorkflow,
  )`
    Parameter \`${parameter}\` of the address of the content; null where it has none.`

const level = (which: 1 | 2 | 3): Dimension =>
  lookedUp(`categoryLevel${which}`, 'category_id', `Category, level ${which}`, {
    of: 'categoryLevel',
    level: which,
  })`
    Name that the category of the branch has now on level ${String(which)} of the tree of categories: its own, or that
    of the one above it there; null where the tree does not reach so deep, and without a category.`

/** Values of the tag key that the branch of the interaction has. */
export function tagDimension(keyId: string, name = 'Tag'): Dimension {
  const id = `tags.${keyId}`
  const dimension = lookedUp(id, 'tag_value_ids', name, { of: 'tag', keyId })`
    Value of the tag key that the branch has, by its name now; of a key with several values for one branch all of
    them, sorted by name, with ", " in between. Null without any.`
  return { ...dimension, id }
}

export const workflowDimensions: readonly Dimension[] = [
  time`When the content was displayed or clicked. ${oneAxis}`,
  dimension('id', 'Workflow identifier', column('workflow_id'), isId, ofCredits, ofWorkflow)`
    Identifier of the workflow. As all dimensions of an interaction, it also groups what purchases are credited to:
    \`purchases.afterClick\`, \`purchases.influencedRevenue\` and the others of attribution.`,
  lookedUp('name', 'workflow_id', 'Workflow', { of: 'workflowName' }, false)`
    Name that the workflow has now; workflows of one name are one. The identifier of one that no longer exists.`,
  own('version', 'version_id', 'Version', isId)`
    Identifier of the version of the workflow that was running.`,
  own('branch', 'branch_id', 'Branch')`Identifier of the branch that gave the content.`,
  dimension(
    'isIndividualized',
    'Is individualised',
    read('toBool(individualized)', 'individualized'),
    boolean,
    ofCredits,
  )`
    Whether the branch gives individualised content.`,
  own('entrypoint', 'entrypoint_id', 'Entrypoint')`Identifier of the entrypoint.`,
  own('integration', 'integration_id', 'Integration', isId)`Identifier of the integration.`,
  optional('zone', 'zone', 'Zone')`Number of the zone: the place of the entrypoint, from 0.`,
  optional('zoneType', 'zone_type', 'Zone type')`Channel of the entrypoint, as \`email\` or \`web\`.`,
  optional('format', 'format', 'Format')`What the channel embeds, as \`embed-image\`.`,
  optional('outputType', 'output_type', 'Output type')`Kind of content, as \`image\` or \`json\`.`,
  own('message', 'message', 'Message')`Message that carries the content: the parameter \`trk-m\`.`,
  person`The \`clientId\` of the interaction, else the one bound to its \`tmpId\`, else the \`tmpId\`.`,
  dimension('isAnonymous', 'Is anonymous', read('toBool(NOT identified)', 'identified'), boolean, ofCredits)`
    Whether the person is known by no \`clientId\`, neither its own nor one bound by an \`identify\`.`,
  deviceType`Kind of device that asked for the content, from its user-agent.`,
  os`Operating system, ${fromUserAgent}`,
  datasource`Identifier of the datasource that keeps the interaction.`,
  optional('mailClient', 'mail_client', 'Mail client')`Program in which a message was opened.`,
  optional('language', 'language', 'Language')`Language of the content: the parameter \`trk-l\`.`,
  optional('returnCode', 'return_code', 'Return code')`
    Why a run was degraded, as 3501; null for one that succeeded.`,
  lookedUp('team', 'workflow_id', 'Team', { of: 'workflowTeams' })`
    Team that the workflow is shared with now; of several all names, sorted, with ", " in between. Null without any,
    and for a workflow that no longer exists.`,
  lookedUp('category', 'category_id', 'Category', { of: 'categoryName' })`
    Name that the category of the branch has now; null without one. The identifier of one that no longer exists.`,
  level(1),
  level(2),
  level(3),
  utm('utmSource', 'utm_source', 'UTM source'),
  utm('utmMedium', 'utm_medium', 'UTM medium'),
  utm('utmCampaign', 'utm_campaign', 'UTM campaign'),
]
