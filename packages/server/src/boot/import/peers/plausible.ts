import { addressOf, eventOf, labelsOf, type Peer, required, textOf, timeOf } from './peer.ts'

function propertiesOf(keys: unknown, values: unknown): Record<string, unknown> {
  if (!Array.isArray(keys) || !Array.isArray(values)) return {}
  return Object.fromEntries(keys.map((key, i) => [`properties.${key}`, values[i]]))
}

/** Columns of `events_v2` in priv/ingest_repo/structure.sql of plausible/analytics. */
export const plausible: Peer = {
  title: 'Plausible',
  file: 'the table events_v2 of a Community Edition: clickhouse-client --query "SELECT * FROM events_v2 WHERE site_id = 1 FORMAT JSONEachRow"',
  format: 'ndjson',
  lost: [
    'the CSV files that its settings export: they have totals of days, and no events',
    'device, system, browser and country: they stand as labels plausible.device and so on',
    'persons over more than a day, which Plausible does not know',
    'engagement: how far and how long pages were read',
  ],
  read(record) {
    const name = required(record, 'name')
    if (name === 'engagement') return 'engagement'
    const value = textOf(record.revenue_source_amount)
    return [
      eventOf({
        name: name === 'pageview' ? 'page_view' : name,
        url: addressOf(textOf(record.hostname), textOf(record.pathname)),
        referrer: textOf(record.referrer)?.replace(/^(?!https?:\/\/)/, 'https://'),
        tmpId: required(record, 'user_id'),
        timestamp: timeOf(record, 'timestamp'),
        data: {
          ...labelsOf(record, {
            ...{ utm_source: 'utm_source', utm_medium: 'utm_medium', utm_campaign: 'utm_campaign' },
            ...{ utm_term: 'utm_term', utm_content: 'utm_content' },
            ...{ 'plausible.source': 'referrer_source', 'plausible.device': 'screen_size' },
            ...{ 'plausible.os': 'operating_system', 'plausible.browser': 'browser' },
            ...{ 'plausible.country': 'country_code', currency: 'revenue_source_currency' },
          }),
          ...propertiesOf(record['meta.key'], record['meta.value']),
          ...(value !== undefined && { value }),
        },
      }),
    ]
  },
}
