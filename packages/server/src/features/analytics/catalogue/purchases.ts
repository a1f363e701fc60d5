import {
  countRows,
  fromUserAgent,
  membersOf,
  nullable,
  oneAxis,
  optionalColumn,
  read,
} from './define-members.ts'
import { distinctCount } from './distinct-counts.ts'
import type { Dimension, Measure, Source } from './member.ts'

/**
 * docs/statistics.md, purchases: completed orders, one row each. Loading merges the events `purchase` and
 * `purchase_references` of one company with the same `transId`; without it each event is its own.
 */
export const purchases: Source = {
  id: 'purchases',
  title: 'Purchases',
  table: 'orders',
  replacing: true,
  labels: 'labels',
  // An order has the person of its earliest event that tells one: of the devices in front of the first `clientId`
  // the first that is bound, else that `clientId`, else the first device.
  columns: {
    person: {
      sql: 'multiIf(bound != 0, bound, later_bound != 0, later_bound, client != 0, client, device)',
      columns: ['client', 'device'],
      identity: ['bound', 'later_bound'],
    },
    person_text: {
      sql: "multiIf(bound_id != '', bound_id, later_bound_id != '', later_bound_id, client_id != '', client_id, tmp_id)",
      columns: ['client_id', 'tmp_id'],
      identity: ['bound_id', 'later_bound_id'],
    },
  },
}

const { measure, ratio, dimension, time, person, datasource, deviceType, os } = membersOf('purchases')

const revenue = read('ifNull(sum(value), toDecimal128(0, 2))', 'value')
const references = {
  aggregate: read('sum(length(items))', 'items'),
  perItem: read('sum(countEqual(items, item))', 'items'),
}

export const purchaseMeasures: readonly Measure[] = [
  measure('count', 'Purchases', countRows)`
    Completed orders. Events \`purchase\` and \`purchase_references\` with the same \`transId\` are one, at the time of
    the earliest; an event without \`transId\` is its own. Grouped by \`purchases.item\`, purchases that hold it.`,
  measure('revenue', 'Revenue', revenue, { format: 'amount' })`
    Sum of the purchases’ values, exact in cents. The earliest event \`purchase\` of an order gives its value. Grouped
    by \`purchases.item\`, the whole value of each purchase that holds it.`,
  measure('buyers', 'Buyers', distinctCount('person'))`Distinct persons with a purchase.`,
  measure('references', 'References', references)`
    Identifiers over all purchases, repeated ones counted. The \`ids\` of \`purchase_references\` count where an order
    has them, else those of \`purchase\`; of several such events the earliest.`,
  ratio('averageOrderValue', 'Average order value', 'amount', 'revenue', 'count'),
  ratio('revenuePerBuyer', 'Revenue per buyer', 'amount', 'revenue', 'buyers'),
  ratio('perBuyer', 'Purchases per buyer', 'decimal', 'count', 'buyers'),
  ratio('referencesPerPurchase', 'References per purchase', 'decimal', 'references', 'count'),
]

const ofTheEarliest = 'The earliest event of the order gives it.'

export const purchaseDimensions: readonly Dimension[] = [
  time`When the earliest event of the order happened. ${oneAxis}`,
  dimension('transaction', 'Transaction', optionalColumn('trans_id'), nullable)`
    Order identifier: the \`transId\` of its events; null where they have none.`,
  person`
    Who bought: the \`clientId\` of the earliest event that has one, its own or one bound to its \`tmpId\`, else the
    \`tmpId\` of the earliest event.`,
  dimension('item', 'Item', read('item', 'items'), { perItem: true })`
    One row for each identifier of the purchase. A filter keeps the identifiers that pass it, and the purchases that
    hold one of them.`,
  deviceType`Kind of device that sent the order, from its user-agent. ${ofTheEarliest}`,
  os`Operating system, ${fromUserAgent} ${ofTheEarliest}`,
  datasource`Identifier of the datasource that collected the order. ${ofTheEarliest}`,
]
