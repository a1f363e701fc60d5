import { hostOf, pathOf, utmOf } from './address.ts'
import {
  boolean,
  column,
  countRows,
  fromUserAgent,
  membersOf,
  nullable,
  ofWorkflow,
  oneAxis,
  optionalColumn,
  read,
} from './define-members.ts'
import { distinctCount } from './distinct-counts.ts'
import { identityColumns } from './identity-columns.ts'
import type { Dimension, Measure, Source } from './member.ts'

/** docs/statistics.md, events: what was collected. */
export const events: Source = {
  id: 'events',
  title: 'Events',
  table: 'events',
  replacing: false,
  labels: 'labels',
  columns: identityColumns,
}

const { measure, ratio, dimension, time, person, datasource, deviceType, os } = membersOf('events')

const items = {
  aggregate: read('sum(length(items))', 'items'),
  perItem: read('sum(countEqual(items, item))', 'items'),
}

export const eventMeasures: readonly Measure[] = [
  measure('count', 'Events', countRows)`
    Events, each \`eventId\` of a datasource once. Grouped by \`events.item\`, events that hold the identifier.`,
  measure('people', 'People', distinctCount('person'))`
    Distinct persons. A person is the \`clientId\` of an event, else the one that an \`identify\` bound to its
    \`tmpId\` at any time, earlier events included, else the \`tmpId\`.`,
  measure('identifiedPeople', 'Identified people', distinctCount('person', 'identified', 'identified'))`
    Distinct persons known by a \`clientId\`, their own or one bound by an \`identify\`.`,
  measure('devices', 'Devices', distinctCount('device'))`Distinct devices, by the \`tmpId\` of the events.`,
  measure('sessions', 'Sessions', countRows, { over: 'sessions' })`
    Runs of one person's events with no gap over 30 minutes. A session belongs to the bucket of time in which it
    starts, and to a date range when it starts in it. Filters come first and dimensions divide: the events that pass
    the filters, of one value of each dimension, make the runs, so that grouping by a dimension and filtering by its
    values agree.`,
  measure('items', 'Items', items)`Identifiers in \`ids\` of the events, repeated ones counted.`,
  ratio('perPerson', 'Events per person', 'decimal', 'count', 'people'),
]

const fromUrl = 'Read from the `url` of the event; null where it has none.'

const utm = (name: string, parameter: string, title: string): Dimension =>
  dimension(name, title, utmOf('url', parameter), nullable, ofWorkflow)`
    URL parameter \`${parameter}\`, from the query string, decoded. ${fromUrl}`

export const eventDimensions: readonly Dimension[] = [
  time`When the event happened. ${oneAxis}`,
  dimension('name', 'Event', column('name'), { eventName: true })`
    Name of the event, as \`page_view\`, \`add_cart\`, \`purchase\` or a custom one. A renamed custom event answers
    under its new name.`,
  datasource`Identifier of the datasource that collected the event.`,
  dimension('url', 'Address', column('url'), { format: 'url' }, ofWorkflow)`
    Page address or app screen, as it was sent.`,
  dimension('host', 'Host', hostOf('url'), nullable, ofWorkflow)`
    Host name in lower case, without port; an app screen has none. ${fromUrl}`,
  dimension('path', 'Path', pathOf('url'), nullable, ofWorkflow)`
    Path without query and fragment; \`/\` for an address without one. Of an app screen, which has no \`//\`, its
    whole identifier without query and fragment, as \`screen/home\`. ${fromUrl}`,
  utm('utmSource', 'utm_source', 'UTM source'),
  utm('utmMedium', 'utm_medium', 'UTM medium'),
  utm('utmCampaign', 'utm_campaign', 'UTM campaign'),
  utm('utmTerm', 'utm_term', 'UTM term'),
  utm('utmContent', 'utm_content', 'UTM content'),
  dimension('referrerHost', 'Referrer', optionalColumn('referrer_host'), nullable)`
    Host of the page or app that led to the event, in lower case; null where none was sent, and where it is the
    page's own.`,
  person`The \`clientId\` of the event, else the one bound to its \`tmpId\`, else the \`tmpId\`.`,
  dimension('device', 'Device', column('tmp_id'))`Anonymous device identity: the \`tmpId\` of the event.`,
  dimension('isIdentified', 'Is identified', read('toBool(identified)', 'identified'), boolean)`
    Whether the person is known by a \`clientId\`, its own or one bound by an \`identify\`.`,
  dimension('item', 'Item', read('item', 'items'), { perItem: true })`
    One row for each identifier in \`ids\`; an event without any has none. A filter keeps the identifiers that pass
    it, and the events that hold one of them.`,
  deviceType`Kind of device that sent the event, from its user-agent.`,
  os`Operating system, ${fromUserAgent}`,
  dimension('browser', 'Browser', optionalColumn('browser'), nullable)`Browser, ${fromUserAgent}`,
  dimension('country', 'Country', optionalColumn('country'), nullable)`
    Country of the sender's address (ISO 3166-1 alpha-2) when the event was collected; the address is not kept.
    Null where it is not known, for events that servers sent, and while the setting \`countries\` is off.`,
]
