import { hostOf, pathOf, utmOf } from './address.ts'
import { channelSql, channels } from './channels.ts'
import {
  boolean,
  column,
  countRows,
  fromUserAgent,
  membersOf,
  nullable,
  oneAxis,
  optionalColumn,
  read,
} from './define-members.ts'
import { distinctCount } from './distinct-counts.ts'
import { identityColumns } from './identity-columns.ts'
import type { Dimension, Measure, Source } from './member.ts'

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

const { measure, ratio, dimension, time, person, deviceType, os } = membersOf('sessions')

const duration = read('if(count() = 0, NULL, sum(duration) / count() / 1000)', 'duration')

export const sessionMeasures: readonly Measure[] = [
  measure('count', 'Sessions', countRows)`
    Runs of one person's events with no gap over 30 minutes. A session belongs to the bucket of time in which it
    starts, and to a date range when it starts in it. Filters choose among whole sessions.`,
  measure('people', 'People', distinctCount('person'))`Distinct persons who started a session.`,
  measure('duration', 'Duration', duration, { format: 'seconds', mean: true })`
    Mean seconds between the first and the last event of a session; 0 for one of a single event.`,
  measure('events', 'Events', read('sum(event_count)', 'event_count'))`
    Events in the sessions, those after the end of the date range included.`,
  measure('bounces', 'Bounces', read('countIf(event_count = 1)', 'event_count'))`Sessions of one event.`,
  ratio('bounceRate', 'Bounce rate', 'ratio', 'bounces', 'count'),
  ratio('eventsPerSession', 'Events per session', 'decimal', 'events', 'count'),
  ratio('perPerson', 'Sessions per person', 'decimal', 'count', 'people'),
]

const utmSql = (parameter: string) => utmOf('entry_url', parameter).sql

const channel = channelSql({
  referrerHost: 'referrer_host',
  utmSource: utmSql('utm_source'),
  utmMedium: utmSql('utm_medium'),
  utmCampaign: utmSql('utm_campaign'),
})

const ofFirst = 'Of the first event of the session'
const ofLast = 'Of the last event of the session that has an address.'
const entry = { nullable: true, shownBy: 'entry_shown' } as const
const exit = { nullable: true, shownBy: 'exit_shown' } as const

const utm = (name: string, parameter: string, title: string): Dimension =>
  dimension(name, title, utmOf('entry_url', parameter), entry)`
    URL parameter \`${parameter}\`, decoded. ${ofFirst}; null where it has none.`

export const sessionDimensions: readonly Dimension[] = [
  time`When the session started. ${oneAxis}`,
  dimension('entryPath', 'Entry path', pathOf('entry_url'), entry)`
    Path of the address, or the screen of an app, as in \`events.path\`. ${ofFirst}.`,
  dimension('entryHost', 'Entry host', hostOf('entry_url'), entry)`
    Host of the address, as in \`events.host\`. ${ofFirst}.`,
  dimension('exitPath', 'Exit path', pathOf('exit_url'), exit)`
    Path of the address, or the screen of an app, as in \`events.path\`. ${ofLast}`,
  dimension('exitHost', 'Exit host', hostOf('exit_url'), exit)`
    Host of the address, as in \`events.host\`. ${ofLast}`,
  dimension('referrerHost', 'Referrer', optionalColumn('referrer_host'), nullable)`
    Host of the page or app that led to the session, as in \`events.referrerHost\`. ${ofFirst}.`,
  dimension('channel', 'Channel', read(channel, 'entry_url', 'referrer_host'), { values: channels })`
    How the person came, from UTM fields and referrer of the first event of the session: mail, campaign, search,
    social, referral or direct.`,
  utm('utmSource', 'utm_source', 'UTM source'),
  utm('utmMedium', 'utm_medium', 'UTM medium'),
  utm('utmCampaign', 'utm_campaign', 'UTM campaign'),
  deviceType`Kind of device, from its user-agent. ${ofFirst}.`,
  os`Operating system, ${fromUserAgent} ${ofFirst}.`,
  dimension('browser', 'Browser', optionalColumn('browser'), nullable)`
    Browser, ${fromUserAgent} ${ofFirst}.`,
  dimension('country', 'Country', optionalColumn('country'), nullable)`
    Country of the sender, as in \`events.country\`. ${ofFirst}.`,
  dimension('isNew', 'Is new', column('is_new'), boolean)`
    Whether it is the person's first session: the person has no event before it, at any time.`,
  person`Whose session it is: a \`clientId\`, or the \`tmpId\` of a device without one.`,
]
