import { eventColumns } from './event-columns.ts'

/** Custom events that report an interaction with content of a workflow (docs/statistics.md, workflows). */
export const interactionNames = { click: 'workflow_click', display: 'workflow_display' } as const

/** Begin of the labels of an interaction that hold parameters of its address. */
export const parameterPrefix = 'parameter.'

/** Names of parameters that are listed of a company, those that came first. */
export const maxParameterNames = 200

/** Where an interaction is read from: SQL of what an event has there, by names of columns of `events`. */
interface InteractionRow {
  readonly labels: string
  readonly url: string
  readonly isClick: string
  /** SQL of a column that `workflow_events` has of the event as it is. */
  readonly own: (column: WorkflowEventColumn) => string
}

/** Columns that `workflow_events` has of the row of an event as they are. */
const ownColumns = [
  'company',
  'datasource',
  'time',
  'seq',
  'tmp_id',
  'client_id',
  'device',
  'client',
  'device_type',
  'os',
] as const
type WorkflowEventColumn = (typeof ownColumns)[number] | 'event_uuid' | 'event_text'

/** Characters of an identifier or another short text, of free text, and of the name of a parameter. */
const [shortText, longText, nameText] = [100, 500, 100]
const maxParameters = 50
const maxTags = 100

/** Generation times in milliseconds beyond this are no times. */
const maxGenerationMs = 86_400_000

/**
 * The columns of `workflow_events`, and the SQL that gives them: the one definition for the loader, and for events that
 * a company renames to interactions. Texts are bounded, since anyone can send them.
 */
function columnsOf({ labels, url, isClick, own }: InteractionRow): Readonly<Record<string, string>> {
  const label = (name: string, length = shortText) => `leftUTF8(${labels}['${name}'], ${length})`
  const message = label('message', longText)
  const generation = `toFloat64OrNull(${labels}['generationMs'])`
  const key = `arraySort(arrayFilter(key -> startsWith(key, '${parameterPrefix}')
    AND length(key) > ${parameterPrefix.length} AND length(key) <= ${parameterPrefix.length + nameText}, mapKeys(${labels})))`
  return {
    ...Object.fromEntries(ownColumns.map((name) => [name, own(name)])),
    // Of interactions of one millisecond it decides which is later, in whichever order they arrived.
    identity: `cityHash64(${own('datasource')}, ${own('event_uuid')}, ${own('event_text')})`,
    click: `toUInt8(${isClick})`,
    workflow_id: label('workflowId'),
    version_id: label('versionId'),
    branch_id: label('branchId'),
    entrypoint_id: label('entrypointId'),
    integration_id: label('integrationId'),
    zone: label('zone'),
    zone_type: label('zoneType'),
    format: label('format'),
    output_type: label('outputType'),
    message,
    language: label('language'),
    individualized: `toUInt8(${labels}['individualized'] = 'true')`,
    // Whole microseconds, so that a mean does not depend on the order in which they are added.
    generation_us: `if(ifNull(${generation} >= 0 AND ${generation} <= ${maxGenerationMs}, 0),
      toUInt64(round(${generation} * 1000)), NULL)`,
    return_code: label('returnCode'),
    category_id: label('categoryId'),
    // In the order of the branch; of one that is named twice the last place.
    tag_value_ids: `arrayReverse(arraySlice(arrayDistinct(arrayReverse(
      extractAll(${labels}['tagValueIds'], '[0-9a-f]{24}'))), 1, ${maxTags}))`,
    mail_client: label('mailClient'),
    parameters: `CAST(arrayMap(key -> (substring(key, ${parameterPrefix.length + 1}), leftUTF8(${labels}[key], ${longText})),
      arraySlice(${key}, 1, ${maxParameters})), 'Map(String, String)')`,
    // The message or page of which displays close together are one opening.
    place: `multiIf(${message} != '', sipHash64('message', ${message}), ${url} != '', sipHash64('page', ${url}),
      sipHash64('entrypoint', ${label('workflowId')}, ${label('entrypointId')}))`,
  }
}

/** Whether an event with these labels is an interaction: it names a workflow, and is no preview. */
function namesWorkflow(labels: string): string {
  return `${labels}['workflowId'] != '' AND ${labels}['preview'] != 'true'`
}

/** Of a staged event: whether it may be an interaction, by its name alone, which costs nothing for others. */
export const hasInteractionName = `n IN ('${interactionNames.click}', '${interactionNames.display}')`

/** Of a staged event: whether it is an interaction. */
export const isInteraction = `${hasInteractionName} AND ${namesWorkflow('l')}`

/** Columns of `workflow_events`, and the SQL over staging that gives them. */
export const workflowColumns = columnsOf({
  labels: 'l',
  url: eventColumns.url,
  isClick: `n = '${interactionNames.click}'`,
  own: (column) => eventColumns[column],
})

/** The same over stored events: their condition, and the columns. */
export function storedInteractions(isClick: string): {
  readonly condition: string
  readonly columns: Readonly<Record<string, string>>
} {
  return {
    condition: namesWorkflow('labels'),
    columns: columnsOf({ labels: 'labels', url: 'url', isClick, own: (column) => column }),
  }
}
