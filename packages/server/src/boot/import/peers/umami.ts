import { addressOf, eventOf, labelsOf, type Peer, required, textOf, timeOf } from './peer.ts'

const pageView = '1'
const customEvent = '2'

/** Columns of `website_event` in db/clickhouse/schema.sql of umami-software/umami, and of the CSV that it exports. */
export const umami: Peer = {
  title: 'Umami',
  file: 'website_event.csv of a data export, or that table as CSV with a header',
  format: 'csv',
  lost: [
    'device, system, browser and country: they stand as labels umami.device and so on',
    'properties of events, which are in event_data.csv',
    'persons over more than one session, which Umami does not know',
  ],
  read(record) {
    const type = textOf(record.event_type) ?? pageView
    if (type !== pageView && type !== customEvent) return `event_type ${type}`
    const host = textOf(record.hostname)
    const query = textOf(record.url_query)
    const referrer = textOf(record.referrer_domain)
    return [
      eventOf({
        name: type === pageView ? 'page_view' : required(record, 'event_name'),
        url: addressOf(host, textOf(record.url_path), query),
        referrer:
          referrer && addressOf(referrer, textOf(record.referrer_path), textOf(record.referrer_query)),
        tmpId: required(record, 'session_id'),
        clientId: textOf(record.distinct_id),
        eventId: textOf(record.event_id),
        timestamp: timeOf(record, 'created_at'),
        data: labelsOf(record, {
          title: 'page_title',
          tag: 'tag',
          ...{ utm_source: 'utm_source', utm_medium: 'utm_medium', utm_campaign: 'utm_campaign' },
          ...{ utm_term: 'utm_term', utm_content: 'utm_content' },
          ...{ 'umami.device': 'device', 'umami.os': 'os', 'umami.browser': 'browser' },
          ...{ 'umami.country': 'country', 'umami.language': 'language', 'umami.screen': 'screen' },
        }),
      }),
    ]
  },
}
