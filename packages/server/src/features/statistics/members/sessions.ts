import { hostOf, pathOf, utmOf } from './address.ts'
import { channelSql, channels } from './channels.ts'
import { column, deviceTypes, dimension, optionalColumn } from './dimensions.ts'
import { distinctCount } from './distinct-counts.ts'
import { identityColumns } from './identity-columns.ts'
import {
  type Dimension,
  type Expression,
  type Measure,
  type PlainMeasure,
  ratioOf,
  type Source,
} from './member.ts'

/**
 * docs/statistics.md, sessions: runs of one person's events. Its rows are made of `events` when a query runs
 * (query/compile/compile-sessions.ts).
 */
export const sessions: Source = {
  id: 'sessions',
  title: 'Sessions',
  table: 'events',
  replacing: false,
  labels: 'labels',
  columns: identityColumns,
}

/** Columns of a session that its first event has, and their names there. */
export const firstEventColumns: Readonly<Record<string, string>> = {
  entry_url: 'url',
  entry_shown: 'is_shown',
  device_type: 'device_type',
  os: 'os',
  browser: 'browser',
  referrer_host: 'referrer_host',
  country: 'country',
}

/** The same of its last event that has an address. */
export const lastEventColumns: Readonly<Record<string, string>> = { exit_url: 'url', exit_shown: 'is_shown' }

/** Columns of a session that are computed from `start` and `finish`, milliseconds since 1970. */
export const sessionColumns: Readonly<Record<string, string>> = {
  time: "fromUnixTimestamp64Milli(start, 'UTC')",
  duration: 'finish - start',
}

const { aggregate, estimate } = distinctCount('person')

function plain(
  name: string,
  title: string,
  description: string,
  aggregate: Expression,
  traits: Partial<Pick<PlainMeasure, 'format' | 'mean' | 'estimate'>> = {},
): PlainMeasure {
  const id = `sessions.${name}`
  const common = { kind: 'measure', id, source: 'sessions', virtual: false, over: 'rows' } as const
  return { ...common, title, description, format: 'integer', aggregate, ...traits }
}

function ratio(
  name: string,
  title: string,
  format: Measure['format'],
  numerator: string,
  denominator: string,
): Measure {
  return {
    ...{ kind: 'measure', id: `sessions.${name}`, source: 'sessions', virtual: true, title, format },
    ...ratioOf(`sessions.${numerator}`, `sessions.${denominator}`),
  }
}

export const sessionMeasures: readonly Measure[] = [
  plain(
    'count',
    'Sessions',
    "Runs of one person's events with no gap over 30 minutes. A session belongs to the bucket of time in which it " +
      'starts, and to a date range when it starts in it. Filters choose among whole sessions.',
    { sql: 'count()', columns: [] },
  ),
  plain('people', 'People', 'Distinct persons who started a session.', aggregate, { estimate }),
  plain(
    'duration',
    'Duration',
    'Mean seconds between the first and the last event of a session; 0 for one of a single event.',
    { sql: 'if(count() = 0, NULL, sum(duration) / count() / 1000)', columns: ['duration'] },
    { format: 'seconds', mean: true },
  ),
  plain('events', 'Events', 'Events in the sessions, those after the end of the date range included.', {
    sql: 'sum(event_count)',
    columns: ['event_count'],
  }),
  plain('bounces', 'Bounces', 'Sessions of one event.', {
    sql: 'countIf(event_count = 1)',
    columns: ['event_count'],
  }),
  ratio('bounceRate', 'Bounce rate', 'ratio', 'bounces', 'count'),
  ratio('eventsPerSession', 'Events per session', 'decimal', 'events', 'count'),
  ratio('perPerson', 'Sessions per person', 'decimal', 'count', 'people'),
]

const utmSql = (parameter: string) => utmOf('entry_url', parameter).sql

const ofFirst = 'Of the first event of the session'

function utm(name: string, parameter: string, title: string): Dimension {
  return dimension(
    'sessions',
    name,
    utmOf('entry_url', parameter),
    {
      title,
      description: `URL parameter \`${parameter}\`, decoded. ${ofFirst}; null where it has none.`,
    },
    { nullable: true, shownBy: 'entry_shown' },
  )
}

export const sessionDimensions: readonly Dimension[] = [
  dimension(
    'sessions',
    'time',
    column('time'),
    {
      title: 'Time',
      description:
        'When the session started. One axis with the times of the other sources: naming any of them buckets and ' +
        'ranges every source by its own time.',
    },
    { type: 'time' },
  ),
  dimension(
    'sessions',
    'entryPath',
    pathOf('entry_url'),
    {
      title: 'Entry path',
      description: `Path of the address, or the screen of an app, as in \`events.path\`. ${ofFirst}.`,
    },
    { nullable: true, shownBy: 'entry_shown' },
  ),
  dimension(
    'sessions',
    'entryHost',
    hostOf('entry_url'),
    { title: 'Entry host', description: `Host of the address, as in \`events.host\`. ${ofFirst}.` },
    { nullable: true, shownBy: 'entry_shown' },
  ),
  dimension(
    'sessions',
    'exitPath',
    pathOf('exit_url'),
    {
      title: 'Exit path',
      description:
        'Path of the address, or the screen of an app, as in `events.path`. Of the last event of the session that ' +
        'has an address.',
    },
    { nullable: true, shownBy: 'exit_shown' },
  ),
  dimension(
    'sessions',
    'exitHost',
    hostOf('exit_url'),
    {
      title: 'Exit host',
      description:
        'Host of the address, as in `events.host`. Of the last event of the session that has an address.',
    },
    { nullable: true, shownBy: 'exit_shown' },
  ),
  dimension(
    'sessions',
    'referrerHost',
    optionalColumn('referrer_host'),
    {
      title: 'Referrer',
      description: `Host of the page or app that led to the session, as in \`events.referrerHost\`. ${ofFirst}.`,
    },
    { nullable: true },
  ),
  dimension(
    'sessions',
    'channel',
    {
      sql: channelSql({
        referrerHost: 'referrer_host',
        utmSource: utmSql('utm_source'),
        utmMedium: utmSql('utm_medium'),
        utmCampaign: utmSql('utm_campaign'),
      }),
      columns: ['entry_url', 'referrer_host'],
    },
    {
      title: 'Channel',
      description:
        'How the person came, from UTM fields and referrer of the first event of the session: mail, campaign, search, ' +
        'social, referral or direct.',
      values: channels,
    },
  ),
  utm('utmSource', 'utm_source', 'UTM source'),
  utm('utmMedium', 'utm_medium', 'UTM medium'),
  utm('utmCampaign', 'utm_campaign', 'UTM campaign'),
  dimension(
    'sessions',
    'deviceType',
    column('device_type'),
    {
      title: 'Device type',
      description: `Kind of device, from its user-agent. ${ofFirst}.`,
      values: deviceTypes,
    },
    { shared: true },
  ),
  dimension(
    'sessions',
    'os',
    optionalColumn('os'),
    {
      title: 'Operating system',
      description: `Operating system, from the user-agent; null where it does not say. ${ofFirst}.`,
    },
    { shared: true, nullable: true },
  ),
  dimension(
    'sessions',
    'browser',
    optionalColumn('browser'),
    {
      title: 'Browser',
      description: `Browser, from the user-agent; null where it does not say. ${ofFirst}.`,
    },
    { nullable: true },
  ),
  dimension(
    'sessions',
    'country',
    optionalColumn('country'),
    {
      title: 'Country',
      description: `Country of the sender, as in \`events.country\`. ${ofFirst}.`,
    },
    { nullable: true },
  ),
  dimension(
    'sessions',
    'isNew',
    { sql: 'is_new', columns: ['is_new'] },
    {
      title: 'Is new',
      description:
        "Whether it is the person's first session: the person has no event before it, at any time.",
    },
    { type: 'boolean' },
  ),
  dimension(
    'sessions',
    'person',
    column('person_text'),
    {
      title: 'Person',
      description: 'Whose session it is: a `clientId`, or the `tmpId` of a device without one.',
    },
    { shared: true },
  ),
]
