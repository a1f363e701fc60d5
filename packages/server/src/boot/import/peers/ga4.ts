import {
  eventOf,
  type Fields,
  fieldsOf,
  labelsOf,
  listOf,
  type Peer,
  remaining,
  required,
  textOf,
  timeOf,
} from './peer.ts'

const names: Readonly<Record<string, string>> = {
  page_view: 'page_view',
  screen_view: 'page_view',
  purchase: 'purchase',
  view_item: 'product_page',
  add_to_cart: 'add_cart',
  view_item_list: 'category_view',
}
/** Collected by itself: sessions are computed here. */
const computed = new Set(['session_start', 'first_visit', 'first_open', 'user_engagement'])
const products = new Set(['purchase', 'product_page', 'add_cart'])
const internal =
  /^(ga_session_|page_location$|page_referrer$|engag|entrances$|session_engaged$|value$|transaction_id$|debug_mode$|batch_)/

function paramsOf(record: Fields): Record<string, unknown> {
  return Object.fromEntries(
    listOf(record.event_params).map(({ key, value }) => {
      const { string_value, int_value, float_value, double_value } = fieldsOf(value)
      return [String(key), string_value ?? int_value ?? float_value ?? double_value]
    }),
  )
}

/** The rows of `events_YYYYMMDD` of the BigQuery export (support.google.com/analytics/answer/7029846). */
export const ga4: Peer = {
  title: 'Google Analytics 4',
  file: 'rows of events_* as JSON lines: bq extract --destination_format NEWLINE_DELIMITED_JSON',
  format: 'ndjson',
  lost: [
    'session_start, first_visit and user_engagement: sessions and new persons are computed anew',
    'device, system, browser and country: they stand as labels ga4.device and so on',
    'properties of users, audiences, refunds, and numbers that Google models',
  ],
  read(record) {
    const event = required(record, 'event_name')
    if (computed.has(event)) return event
    const person = textOf(record.user_pseudo_id)
    if (person === undefined) return 'events without user_pseudo_id, of visitors who did not consent'
    const name = names[event] ?? event
    const params = paramsOf(record)
    const { transaction_id, purchase_revenue } = fieldsOf(record.ecommerce)
    const ids = listOf(record.items).flatMap(
      ({ item_id, item_name }) => textOf(item_id) ?? textOf(item_name) ?? [],
    )
    const device = fieldsOf(record.device)
    const transId = textOf(transaction_id) ?? textOf(params.transaction_id)
    return [
      eventOf({
        name,
        url: textOf(params.page_location) ?? textOf(params.firebase_screen) ?? '',
        referrer: textOf(params.page_referrer),
        tmpId: person,
        clientId: textOf(record.user_id),
        timestamp: timeOf(record, 'event_timestamp', 0.001),
        data: {
          ...remaining(params, (key) => internal.test(key)),
          ...labelsOf(device, { 'ga4.device': 'category', 'ga4.os': 'operating_system' }),
          ...labelsOf(fieldsOf(device.web_info), { 'ga4.browser': 'browser' }),
          ...labelsOf(fieldsOf(record.geo), { 'ga4.country': 'country' }),
          ...(name === 'category_view' && labelsOf(params, { ids: 'item_list_name' })),
          ...(products.has(name) && ids.length > 0 && { ids }),
          ...(name === 'purchase' && {
            ...labelsOf({ value: purchase_revenue ?? params.value }, { value: 'value' }),
            ...(transId !== undefined && transId !== '(not set)' && { transId }),
          }),
        },
      }),
    ]
  },
}
