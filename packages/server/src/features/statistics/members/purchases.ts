import { column, deviceTypes, dimension, optionalColumn } from './dimensions.ts'
import { distinctCount } from './distinct-counts.ts'
import { type Dimension, type Measure, ratioOf, type Source } from './member.ts'

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

export const purchaseMeasures: readonly Measure[] = [
  {
    kind: 'measure',
    id: 'purchases.count',
    source: 'purchases',
    virtual: false,
    over: 'rows',
    title: 'Purchases',
    description:
      'Completed orders. Events `purchase` and `purchase_references` with the same `transId` are one, at the time ' +
      'of the earliest; an event without `transId` is its own. Grouped by `purchases.item`, purchases that hold it.',
    format: 'integer',
    aggregate: { sql: 'count()', columns: [] },
  },
  {
    kind: 'measure',
    id: 'purchases.revenue',
    source: 'purchases',
    virtual: false,
    over: 'rows',
    title: 'Revenue',
    description:
      'Sum of the purchases’ values, exact in cents. The earliest event `purchase` of an order gives its value. ' +
      'Grouped by `purchases.item`, the whole value of each purchase that holds it.',
    format: 'amount',
    aggregate: { sql: 'ifNull(sum(value), toDecimal128(0, 2))', columns: ['value'] },
  },
  {
    kind: 'measure',
    id: 'purchases.buyers',
    source: 'purchases',
    virtual: false,
    over: 'rows',
    title: 'Buyers',
    description: 'Distinct persons with a purchase.',
    format: 'integer',
    ...distinctCount('person'),
  },
  {
    kind: 'measure',
    id: 'purchases.references',
    source: 'purchases',
    virtual: false,
    over: 'rows',
    title: 'References',
    description:
      'Identifiers over all purchases, repeated ones counted. The `ids` of `purchase_references` count where an ' +
      'order has them, else those of `purchase`; of several such events the earliest.',
    format: 'integer',
    aggregate: { sql: 'sum(length(items))', columns: ['items'] },
    perItem: { sql: 'sum(countEqual(items, item))', columns: ['items'] },
  },
  {
    kind: 'measure',
    id: 'purchases.averageOrderValue',
    source: 'purchases',
    virtual: true,
    title: 'Average order value',
    format: 'decimal',
    ...ratioOf('purchases.revenue', 'purchases.count'),
  },
  {
    kind: 'measure',
    id: 'purchases.revenuePerBuyer',
    source: 'purchases',
    virtual: true,
    title: 'Revenue per buyer',
    format: 'decimal',
    ...ratioOf('purchases.revenue', 'purchases.buyers'),
  },
  {
    kind: 'measure',
    id: 'purchases.perBuyer',
    source: 'purchases',
    virtual: true,
    title: 'Purchases per buyer',
    format: 'decimal',
    ...ratioOf('purchases.count', 'purchases.buyers'),
  },
  {
    kind: 'measure',
    id: 'purchases.referencesPerPurchase',
    source: 'purchases',
    virtual: true,
    title: 'References per purchase',
    format: 'decimal',
    ...ratioOf('purchases.references', 'purchases.count'),
  },
]

const ofTheEarliest = 'The earliest event of the order gives it.'

export const purchaseDimensions: readonly Dimension[] = [
  dimension(
    'purchases',
    'time',
    column('time'),
    {
      title: 'Time',
      description:
        'When the earliest event of the order happened. One axis with the times of the other sources: naming any of ' +
        'them buckets and ranges every source by its own time.',
    },
    { type: 'time' },
  ),
  dimension(
    'purchases',
    'transaction',
    optionalColumn('trans_id'),
    {
      title: 'Transaction',
      description: 'Order identifier: the `transId` of its events; null where they have none.',
    },
    { nullable: true },
  ),
  dimension(
    'purchases',
    'person',
    column('person_text'),
    {
      title: 'Person',
      description:
        'Who bought: the `clientId` of the earliest event that has one, its own or one bound to its `tmpId`, else ' +
        'the `tmpId` of the earliest event.',
    },
    { shared: true },
  ),
  dimension(
    'purchases',
    'item',
    { sql: 'item', columns: ['items'] },
    {
      title: 'Item',
      description:
        'One row for each identifier of the purchase. A filter keeps the identifiers that pass it, and the purchases ' +
        'that hold one of them.',
    },
    { perItem: true },
  ),
  dimension(
    'purchases',
    'deviceType',
    column('device_type'),
    {
      title: 'Device type',
      description: `Kind of device that sent the order, from its user-agent. ${ofTheEarliest}`,
      values: deviceTypes,
    },
    { shared: true },
  ),
  dimension(
    'purchases',
    'os',
    optionalColumn('os'),
    {
      title: 'Operating system',
      description: `Operating system, from the user-agent; null where it does not say. ${ofTheEarliest}`,
    },
    { shared: true, nullable: true },
  ),
  dimension(
    'purchases',
    'datasource',
    column('datasource'),
    {
      title: 'Datasource',
      description: `Identifier of the datasource that collected the order. ${ofTheEarliest}`,
      format: 'id',
    },
    { shared: true },
  ),
]
