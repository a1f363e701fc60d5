import { hostOf, pathOf, utmOf } from './address.ts'
import { column, deviceTypes, dimension, optionalColumn } from './dimensions.ts'
import { distinctCount } from './distinct-counts.ts'
import { identityColumns } from './identity-columns.ts'
import { type Dimension, type Measure, ratioOf, type Source } from './member.ts'

/** docs/statistics.md, events: what was collected. */
export const events: Source = {
  id: 'events',
  title: 'Events',
  table: 'events',
  replacing: false,
  labels: 'labels',
  columns: identityColumns,
}

const host = hostOf('url')
const path = pathOf('url')
const utm = (parameter: string) => utmOf('url', parameter)

export const eventMeasures: readonly Measure[] = [
  {
    kind: 'measure',
    id: 'events.count',
    source: 'events',
    virtual: false,
    over: 'rows',
    title: 'Events',
    description:
      'Events, each `eventId` of a datasource once. Grouped by `events.item`, events that hold the identifier.',
    format: 'integer',
    aggregate: { sql: 'count()', columns: [] },
  },
  {
    kind: 'measure',
    id: 'events.people',
    source: 'events',
    virtual: false,
    over: 'rows',
    title: 'People',
    description:
      'Distinct persons. A person is the `clientId` of an event, else the one that an `identify` bound to its ' +
      `\`tmpId\` at any time, earlier events included, else the \`tmpId\`.`,
    format: 'integer',
    ...distinctCount('person'),
  },
  {
    kind: 'measure',
    id: 'events.identifiedPeople',
    source: 'events',
    virtual: false,
    over: 'rows',
    title: 'Identified people',
    description: `Distinct persons known by a \`clientId\`, their own or one bound by an \`identify\`.`,
    format: 'integer',
    ...distinctCount('person', 'identified'),
  },
  {
    kind: 'measure',
    id: 'events.devices',
    source: 'events',
    virtual: false,
    over: 'rows',
    title: 'Devices',
    description: 'Distinct devices, by the `tmpId` of the events.',
    format: 'integer',
    ...distinctCount('device'),
  },
  {
    kind: 'measure',
    id: 'events.sessions',
    source: 'events',
    virtual: false,
    over: 'sessions',
    title: 'Sessions',
    description:
      "Runs of one person's events with no gap over 30 minutes. A session belongs to the bucket of time in which " +
      'it starts, and to a date range when it starts in it. Filters come first and dimensions divide: the events ' +
      'that pass the filters, of one value of each dimension, make the runs, so that grouping by a dimension and ' +
      'filtering by its values agree.',
    format: 'integer',
    aggregate: { sql: 'count()', columns: [] },
  },
  {
    kind: 'measure',
    id: 'events.items',
    source: 'events',
    virtual: false,
    over: 'rows',
    title: 'Items',
    description: 'Identifiers in `ids` of the events, repeated ones counted.',
    format: 'integer',
    aggregate: { sql: 'sum(length(items))', columns: ['items'] },
    perItem: { sql: 'sum(countEqual(items, item))', columns: ['items'] },
  },
  {
    kind: 'measure',
    id: 'events.perPerson',
    source: 'events',
    virtual: true,
    title: 'Events per person',
    format: 'decimal',
    ...ratioOf('events.count', 'events.people'),
  },
]

const fromUrl = 'Read from the `url` of the event; null where it has none.'

export const eventDimensions: readonly Dimension[] = [
  dimension(
    'events',
    'time',
    column('time'),
    {
      title: 'Time',
      description:
        'When the event happened. One axis with the times of the other sources: naming any of them buckets and ' +
        'ranges every source by its own time.',
    },
    { type: 'time' },
  ),
  dimension(
    'events',
    'name',
    column('name'),
    {
      title: 'Event',
      description:
        'Name of the event, as `page_view`, `add_cart`, `purchase` or a custom one. A renamed custom event answers ' +
        'under its new name.',
    },
    { eventName: true },
  ),
  dimension(
    'events',
    'datasource',
    column('datasource'),
    {
      title: 'Datasource',
      description: 'Identifier of the datasource that collected the event.',
      format: 'id',
    },
    { shared: true },
  ),
  dimension(
    'events',
    'url',
    column('url'),
    {
      title: 'Address',
      description: 'Page address or app screen, as it was sent.',
      format: 'url',
    },
    { shownBy: 'is_shown' },
  ),
  dimension(
    'events',
    'host',
    host,
    {
      title: 'Host',
      description: `Host name in lower case, without port; an app screen has none. ${fromUrl}`,
    },
    { nullable: true, shownBy: 'is_shown' },
  ),
  dimension(
    'events',
    'path',
    path,
    {
      title: 'Path',
      description:
        'Path without query and fragment; `/` for an address without one. Of an app screen, which has no `//`, its ' +
        `whole identifier without query and fragment, as \`screen/home\`. ${fromUrl}`,
    },
    { nullable: true, shownBy: 'is_shown' },
  ),
  dimension(
    'events',
    'utmSource',
    utm('utm_source'),
    {
      title: 'UTM source',
      description: `URL parameter \`utm_source\`, from the query string, decoded. ${fromUrl}`,
    },
    { nullable: true, shownBy: 'is_shown' },
  ),
  dimension(
    'events',
    'utmMedium',
    utm('utm_medium'),
    {
      title: 'UTM medium',
      description: `URL parameter \`utm_medium\`, from the query string, decoded. ${fromUrl}`,
    },
    { nullable: true, shownBy: 'is_shown' },
  ),
  dimension(
    'events',
    'utmCampaign',
    utm('utm_campaign'),
    {
      title: 'UTM campaign',
      description: `URL parameter \`utm_campaign\`, from the query string, decoded. ${fromUrl}`,
    },
    { nullable: true, shownBy: 'is_shown' },
  ),
  dimension(
    'events',
    'utmTerm',
    utm('utm_term'),
    {
      title: 'UTM term',
      description: `URL parameter \`utm_term\`, from the query string, decoded. ${fromUrl}`,
    },
    { nullable: true, shownBy: 'is_shown' },
  ),
  dimension(
    'events',
    'utmContent',
    utm('utm_content'),
    {
      title: 'UTM content',
      description: `URL parameter \`utm_content\`, from the query string, decoded. ${fromUrl}`,
    },
    { nullable: true, shownBy: 'is_shown' },
  ),
  dimension(
    'events',
    'referrerHost',
    optionalColumn('referrer_host'),
    {
      title: 'Referrer',
      description:
        'Host of the page or app that led to the event, in lower case; null where none was sent, and where it is the ' +
        "page's own.",
    },
    { nullable: true },
  ),
  dimension(
    'events',
    'person',
    column('person_text'),
    {
      title: 'Person',
      description: 'The `clientId` of the event, else the one bound to its `tmpId`, else the `tmpId`.',
    },
    { shared: true },
  ),
  dimension('events', 'device', column('tmp_id'), {
    title: 'Device',
    description: 'Anonymous device identity: the `tmpId` of the event.',
  }),
  dimension(
    'events',
    'isIdentified',
    { sql: 'toBool(identified)', columns: ['identified'] },
    {
      title: 'Is identified',
      description: 'Whether the person is known by a `clientId`, its own or one bound by an `identify`.',
    },
    { type: 'boolean' },
  ),
  dimension(
    'events',
    'item',
    { sql: 'item', columns: ['items'] },
    {
      title: 'Item',
      description:
        'One row for each identifier in `ids`; an event without any has none. A filter keeps the identifiers that ' +
        'pass it, and the events that hold one of them.',
    },
    { perItem: true },
  ),
  dimension(
    'events',
    'deviceType',
    column('device_type'),
    {
      title: 'Device type',
      description: 'Kind of device that sent the event, from its user-agent.',
      values: deviceTypes,
    },
    { shared: true },
  ),
  dimension(
    'events',
    'os',
    optionalColumn('os'),
    {
      title: 'Operating system',
      description: 'Operating system, from the user-agent; null where it does not say.',
    },
    { shared: true, nullable: true },
  ),
  dimension(
    'events',
    'browser',
    optionalColumn('browser'),
    {
      title: 'Browser',
      description: 'Browser, from the user-agent; null where it does not say.',
    },
    { nullable: true },
  ),
  dimension(
    'events',
    'country',
    optionalColumn('country'),
    {
      title: 'Country',
      description:
        "Country of the sender's address (ISO 3166-1 alpha-2) when the event was collected; the address is not kept. " +
        'Null where it is not known, for events that servers sent, and while the setting `countries` is off.',
    },
    { nullable: true },
  ),
]
