// One table of members, longer than other files as the model of workflows is.

import { column, deviceTypes, dimension, optionalColumn } from './dimensions.ts'
import { distinctCount } from './distinct-counts.ts'
import { identityColumns } from './identity-columns.ts'
import {
  type Dimension,
  type Expression,
  type Lookup,
  type Measure,
  type PlainMeasure,
  ratioOf,
  type Source,
  type VirtualMeasure,
} from './member.ts'

/** docs/statistics.md, workflows: interactions, which are displays of contents and clicks on them, one row each. */
export const workflows: Source = {
  id: 'workflows',
  title: 'Workflows',
  table: 'workflow_events',
  replacing: false,
  labels: 'parameters',
  columns: identityColumns,
}

function plain(
  name: string,
  title: string,
  description: string,
  aggregate: Expression,
  traits: Partial<Pick<PlainMeasure, 'over' | 'format' | 'mean' | 'estimate'>> = {},
): PlainMeasure {
  const id = `workflows.${name}`
  const common = { kind: 'measure', id, source: 'workflows', virtual: false, over: 'rows' } as const
  return { ...common, title, description, format: 'integer', aggregate, ...traits }
}

function countWhere(condition: string, columns: readonly string[]): Expression {
  return { sql: `countIf(${condition})`, columns }
}

function personsWhere(
  condition: string,
  columns: readonly string[],
): Required<Pick<PlainMeasure, 'aggregate' | 'estimate'>> {
  const { aggregate, estimate } = distinctCount('person', condition)
  const read = { columns: ['person', ...columns] }
  return { aggregate: { ...aggregate, ...read }, estimate: { ...estimate, ...read } }
}

function persons(
  name: string,
  title: string,
  description: string,
  condition: string,
  columns: readonly string[],
): PlainMeasure {
  const { aggregate, estimate } = personsWhere(condition, columns)
  return plain(name, title, description, aggregate, { estimate })
}

function virtual(
  name: string,
  title: string,
  format: Measure['format'],
  computed: Pick<VirtualMeasure, 'description' | 'parts' | 'compute'>,
): VirtualMeasure {
  return {
    ...{ kind: 'measure', id: `workflows.${name}`, source: 'workflows', virtual: true, title, format },
    ...computed,
  }
}

/** A ratio of measures, those of workflows by their names alone. */
function ratio(
  name: string,
  title: string,
  format: Measure['format'],
  numerator: string,
  denominator: string,
): VirtualMeasure {
  const idOf = (part: string) => (part.includes('.') ? part : `workflows.${part}`)
  return virtual(name, title, format, ratioOf(idOf(numerator), idOf(denominator)))
}

/**
 * What individualised contents brought beyond what default contents would have: a quantity of theirs, less the quantity
 * that default contents had for each of their displays, times the individualised displays.
 * @param of the quantity of individualised contents, and that of all contents
 */
function uplift(name: string, title: string, of: readonly [individualized: string, all: string]): Measure {
  const [individualized, all] = of
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

const isDisplay = 'click = 0'
const isClick = 'click = 1'
const isOwnDisplay = 'click = 0 AND individualized = 1'

export const workflowMeasures: readonly Measure[] = [
  plain('count', 'Interactions', 'Displays of contents of workflows and clicks on them.', {
    sql: 'count()',
    columns: [],
  }),
  plain(
    'displays',
    'Displays',
    'Contents of workflows that were displayed.',
    countWhere(isDisplay, ['click']),
  ),
  plain('clicks', 'Clicks', 'Clicks on contents of workflows.', countWhere(isClick, ['click'])),
  plain(
    'openings',
    'Openings',
    'Runs of displays to one person in one message, else on one page, with no gap over 30 seconds. An opening belongs ' +
      'to the bucket of time in which it starts, and to a date range when it starts in it. Filters come first and ' +
      'dimensions divide, so that grouping by a dimension and filtering by its values agree.',
    countWhere('NOT is_marked', []),
    { over: 'openings' },
  ),
  persons('openers', 'Openers', 'Distinct persons to whom a content was displayed.', isDisplay, ['click']),
  persons('clickers', 'Clickers', 'Distinct persons who clicked on a content.', isClick, ['click']),
  plain(
    'individualizedDisplays',
    'Individualised displays',
    'Displays of individualised contents.',
    countWhere(isOwnDisplay, ['click', 'individualized']),
  ),
  plain(
    'individualizedOpenings',
    'Individualised openings',
    'Openings of individualised contents: `workflows.openings` of those displays alone.',
    countWhere('is_marked', []),
    { over: 'openings' },
  ),
  persons(
    'individualizedOpeners',
    'Individualised openers',
    'Distinct persons to whom an individualised content was displayed.',
    isOwnDisplay,
    ['click', 'individualized'],
  ),
  plain(
    'individualizedClicks',
    'Individualised clicks',
    'Clicks on individualised contents.',
    countWhere('click = 1 AND individualized = 1', ['click', 'individualized']),
  ),
  plain(
    'generationTime',
    'Generation time',
    'Mean milliseconds to produce a content, over the displays for which it is known.',
    {
      sql:
        'if(countIf(click = 0 AND isNotNull(generation_us)) = 0, NULL, ' +
        'sumIf(generation_us, click = 0) / countIf(click = 0 AND isNotNull(generation_us)) / 1000)',
      columns: ['click', 'generation_us'],
    },
    { format: 'milliseconds', mean: true },
  ),
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
  uplift('clickUplift', 'Click uplift', ['workflows.individualizedClicks', 'workflows.clicks']),
  uplift('conversionUplift', 'Conversion uplift', [
    'purchases.individualizedAfterClick',
    'purchases.afterClick',
  ]),
  uplift('revenueUplift', 'Revenue uplift', [
    'purchases.individualizedInfluencedRevenue',
    'purchases.influencedRevenue',
  ]),
]

/** A text of the interaction that it may lack. */
function optional(name: string, from: string, title: string, description: string): Dimension {
  return dimension(
    'workflows',
    name,
    optionalColumn(from),
    { title, description },
    { nullable: true, ofCredits: true },
  )
}

/** The same, of what one workflow alone has. */
function own(name: string, from: string, title: string, description: string, format?: string): Dimension {
  return {
    ...optional(name, from, title, description),
    ...(format === undefined ? {} : { format }),
    shownBy: 'is_shown',
  }
}

/** A text that a definition has now, for an identifier that the interaction has. */
function lookedUp(
  name: string,
  from: string,
  lookup: Lookup,
  title: string,
  description: string,
  nullable = true,
): Dimension {
  return dimension(
    'workflows',
    name,
    column(from),
    { title, description },
    {
      nullable,
      lookup,
      ofCredits: true,
      // Categories are the company's, and of no team.
      ...(from === 'workflow_id' && { shownBy: 'is_shown' }),
    },
  )
}

function utm(name: string, parameter: string, title: string): Dimension {
  return dimension(
    'workflows',
    name,
    { sql: `nullIf(parameters['${parameter}'], '')`, columns: ['parameters'] },
    {
      title,
      description: `Parameter \`${parameter}\` of the address of the content; null where it has none.`,
    },
    { nullable: true, ofCredits: true, shownBy: 'is_shown' },
  )
}

function level(which: 1 | 2 | 3): Dimension {
  return lookedUp(
    `categoryLevel${which}`,
    'category_id',
    { of: 'categoryLevel', level: which },
    `Category, level ${which}`,
    `Name that the category of the branch has now on level ${which} of the tree of categories: its own, or that of the ` +
      'one above it there; null where the tree does not reach so deep, and without a category.',
  )
}

/** Values of the tag key that the branch of the interaction has. */
export function tagDimension(keyId: string, name?: string): Dimension {
  return {
    ...dimension(
      'workflows',
      `tags.${keyId}`,
      column('tag_value_ids'),
      {
        title: name ?? 'Tag',
        description:
          'Value of the tag key that the branch has, by its name now; of a key with several values for one branch all of ' +
          'them, sorted by name, with ", " in between. Null without any.',
      },
      { nullable: true, lookup: { of: 'tag', keyId }, ofCredits: true },
    ),
    id: `tags.${keyId}`,
  }
}

export const workflowDimensions: readonly Dimension[] = [
  dimension(
    'workflows',
    'time',
    column('time'),
    {
      title: 'Time',
      description:
        'When the content was displayed or clicked. One axis with the times of the other sources: naming any of them ' +
        'buckets and ranges every source by its own time.',
    },
    { type: 'time' },
  ),
  dimension(
    'workflows',
    'id',
    column('workflow_id'),
    {
      title: 'Workflow identifier',
      description:
        'Identifier of the workflow. As all dimensions of an interaction, it also groups what purchases are credited ' +
        'to: `purchases.afterClick`, `purchases.influencedRevenue` and the others of attribution.',
      format: 'id',
    },
    { ofCredits: true, shownBy: 'is_shown' },
  ),
  lookedUp(
    'name',
    'workflow_id',
    { of: 'workflowName' },
    'Workflow',
    'Name that the workflow has now; workflows of one name are one. The identifier of one that no longer exists.',
    false,
  ),
  own(
    'version',
    'version_id',
    'Version',
    'Identifier of the version of the workflow that was running.',
    'id',
  ),
  own('branch', 'branch_id', 'Branch', 'Identifier of the branch that gave the content.'),
  dimension(
    'workflows',
    'isIndividualized',
    { sql: 'toBool(individualized)', columns: ['individualized'] },
    { title: 'Is individualised', description: 'Whether the branch gives individualised content.' },
    { type: 'boolean', ofCredits: true },
  ),
  own('entrypoint', 'entrypoint_id', 'Entrypoint', 'Identifier of the entrypoint.'),
  own('integration', 'integration_id', 'Integration', 'Identifier of the integration.', 'id'),
  optional('zone', 'zone', 'Zone', 'Number of the zone: the place of the entrypoint, from 0.'),
  optional('zoneType', 'zone_type', 'Zone type', 'Channel of the entrypoint, as `email` or `web`.'),
  optional('format', 'format', 'Format', 'What the channel embeds, as `embed-image`.'),
  optional('outputType', 'output_type', 'Output type', 'Kind of content, as `image` or `json`.'),
  own('message', 'message', 'Message', 'Message that carries the content: the parameter `trk-m`.'),
  dimension(
    'workflows',
    'person',
    column('person_text'),
    {
      title: 'Person',
      description: 'The `clientId` of the interaction, else the one bound to its `tmpId`, else the `tmpId`.',
    },
    { shared: true },
  ),
  dimension(
    'workflows',
    'isAnonymous',
    { sql: 'toBool(NOT identified)', columns: ['identified'] },
    {
      title: 'Is anonymous',
      description:
        'Whether the person is known by no `clientId`, neither its own nor one bound by an `identify`.',
    },
    { type: 'boolean', ofCredits: true },
  ),
  dimension(
    'workflows',
    'deviceType',
    column('device_type'),
    {
      title: 'Device type',
      description: 'Kind of device that asked for the content, from its user-agent.',
      values: deviceTypes,
    },
    { shared: true },
  ),
  dimension(
    'workflows',
    'os',
    optionalColumn('os'),
    {
      title: 'Operating system',
      description: 'Operating system, from the user-agent; null where it does not say.',
    },
    { shared: true, nullable: true },
  ),
  dimension(
    'workflows',
    'datasource',
    column('datasource'),
    {
      title: 'Datasource',
      description: 'Identifier of the datasource that keeps the interaction.',
      format: 'id',
    },
    { shared: true },
  ),
  optional('mailClient', 'mail_client', 'Mail client', 'Program in which a message was opened.'),
  optional('language', 'language', 'Language', 'Language of the content: the parameter `trk-l`.'),
  optional(
    'returnCode',
    'return_code',
    'Return code',
    'Why a run was degraded, as 3501; null for one that succeeded.',
  ),
  lookedUp(
    'team',
    'workflow_id',
    { of: 'workflowTeams' },
    'Team',
    'Team that the workflow is shared with now; of several all names, sorted, with ", " in between. Null without any, ' +
      'and for a workflow that no longer exists.',
  ),
  lookedUp(
    'category',
    'category_id',
    { of: 'categoryName' },
    'Category',
    'Name that the category of the branch has now; null without one. The identifier of one that no longer exists.',
  ),
  level(1),
  level(2),
  level(3),
  utm('utmSource', 'utm_source', 'UTM source'),
  utm('utmMedium', 'utm_medium', 'UTM medium'),
  utm('utmCampaign', 'utm_campaign', 'UTM campaign'),
]
