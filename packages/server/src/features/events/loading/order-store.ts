import { earliestColumns } from '../../../database/event-columns.ts'
import type { Statement } from '../../../platform/stores/columnar.ts'
import { isEvent, isPurchase, orderOf, type Selection, type Staging, unlessPurged } from './staged-rows.ts'

/** Events of one order whose labels it takes: the earliest ones that have any. A row of one order stays bounded. */
const labelledEvents = 16
/** Anonymous events of one order by which its buyer may be found: the earliest ones. */
const anonymousEvents = 100
/** Beyond this the engine sorts groups on disk. */
const groupsInMemory = 256 * 1024 * 1024

/** A total order of events by time that does not depend on when or where they arrived, as one number. */
const rankOfEvent =
  'bitOr(bitShiftLeft(toUInt128(toUnixTimestamp64Milli(time)), 64), sipHash64(datasource, event_uuid, event_text))'

/** The rank of an event, behind those of all events for which the number is smaller. */
const behind = (number: string): string => `bitOr(bitShiftLeft(toUInt128(${number}), 120), piece.rank)`

const earliest = (name: string): string => `argMin(piece.${name}, piece.rank)`
const earliestIf = (name: string, condition: string): string =>
  `argMinIf(piece.${name}, piece.rank, ${condition})`

const noLabels = "CAST(map(), 'Map(String, String)')"

/** What is computed of the events of one order. */
const merged: Readonly<Record<string, string>> = {
  ...Object.fromEntries(earliestColumns.map((name) => [name, earliest(name)])),
  version: 'count()',
  first_time: 'min(piece.time)',
  trans_id: 'any(piece.trans_id)',
  client: earliestIf('client', 'piece.client != 0'),
  client_id: earliestIf('client_id', 'piece.client != 0'),
  known: 'countIf(piece.client != 0)',
  known_rank: 'minIf(piece.rank, piece.client != 0)',
  before: `arrayFilter(each -> known = 0 OR each.1 < known_rank,
    groupArraySortedIf(${anonymousEvents})((piece.rank, piece.device, piece.tmp_id), piece.client = 0))`,
  devices: 'arrayDistinct(arrayMap(each -> each.2, before))',
  // Catalogue references replace product identifiers: an order that sends both is not counted twice.
  ids: `argMin(piece.ids, ${behind("2 * empty(piece.ids) + (piece.name = 'purchase')")})`,
  value: earliestIf('value', "piece.name = 'purchase' AND piece.value IS NOT NULL"),
  labels: `arrayFold((all, each) -> mapUpdate(all, each.2),
    arrayReverse(groupArraySortedIf(${labelledEvents})((piece.rank, piece.labels), notEmpty(piece.labels))),
    ${noLabels})`,
}

/** Columns of `orders`, and what they are of the merged events and of the places that the order had before. */
export const orderColumns: Readonly<Record<string, string>> = {
  company: 'company',
  // An order that an earlier event moves leaves a row behind that takes its former place.
  time: 'arrayJoin(arrayDistinct(arrayPushFront(places, first_time))) AS place',
  purchase: 'purchase',
  version: 'version',
  gone: 'place != first_time AS is_gone',
  ...Object.fromEntries(earliestColumns.map((name) => [name, name])),
  trans_id: 'trans_id',
  client: 'client',
  client_id: 'client_id',
  device: 'devices[1]',
  tmp_id: 'before[1].3',
  later_devices: 'arraySlice(devices, 2)',
  ids: 'if(is_gone, [], ids)',
  value: 'value',
  labels: `if(is_gone, ${noLabels}, labels)`,
}

/**
 * Stores orders as they are with all of their events.
 * @param purchases condition on `purchases`: which events these are
 * @param orders condition on `orders`: their rows, which may stand where no event is any more
 */
export function ordersOf({
  purchases,
  orders,
}: {
  readonly purchases: string
  readonly orders: string
}): string {
  const aggregates = Object.entries(merged).map(([name, sql]) => `${sql} AS ${name}`)
  return `INSERT INTO orders (${Object.keys(orderColumns).join(', ')})
    SELECT ${Object.values(orderColumns).join(', ')}
    FROM (
      SELECT piece.company AS company, piece.purchase AS purchase, ${aggregates.join(', ')}
      FROM (SELECT *, ${rankOfEvent} AS rank FROM purchases WHERE ${purchases}) AS piece
      GROUP BY piece.company, piece.purchase
    ) AS merged
    LEFT ANY JOIN (
      SELECT purchase, groupUniqArray(time) AS places FROM orders FINAL WHERE ${orders} GROUP BY purchase
    ) AS stored ON merged.purchase = stored.purchase`
}

export interface OrderStoreDependencies {
  readonly run: (statement: Statement) => Promise<void>
  /** Empties a table that may hold rows of an earlier batch. */
  readonly empty: (table: string) => Promise<void>
  readonly settingsOf: (staging: Staging) => Readonly<Record<string, number>>
}

/** Maintains the orders of purchase events: one row for each, whatever the batches in which its events arrive. */
export function createOrderStore({ run, empty, settingsOf }: OrderStoreDependencies) {
  return {
    /** Notes where staged purchase events lie, and finds the places of all events of their orders. */
    async findOrderEvents(staging: Staging): Promise<void> {
      const settings = settingsOf(staging)
      const staged = `FROM ${staging.table} WHERE ${isEvent} AND ${isPurchase}`
      await run({
        sql: `INSERT INTO order_events (key, company, time)
              SELECT DISTINCT toUInt64(${orderOf}), k, time ${staged}`,
        settings,
      })
      await empty('staging_places')
      await run({
        sql: `INSERT INTO staging_places (company, time)
              SELECT company, time FROM order_events WHERE key IN (SELECT toUInt64(${orderOf}) ${staged})`,
        settings,
      })
    },

    /**
     * Recomputes the orders of staged purchase events: `findOrderEvents` has found their events, and `purchases`
     * holds them. It is idempotent, and completes an interrupted load.
     */
    async insertOrders({ staging, uncounted }: Pick<Selection, 'staging' | 'uncounted'>): Promise<void> {
      const orders = `(company, time) IN (SELECT company, time FROM staging_places)
        AND purchase IN (SELECT ${orderOf} FROM ${staging.table} WHERE ${isEvent} AND ${isPurchase})`
      await run({
        sql: ordersOf({ purchases: `${orders}${unlessPurged('datasource', uncounted)}`, orders }),
        params: { purged: uncounted },
        settings: {
          ...settingsOf(staging),
          max_bytes_before_external_group_by: groupsInMemory,
          // Few rows: compiling their expressions to machine code takes longer than computing them.
          compile_expressions: 0,
          compile_aggregate_expressions: 0,
        },
      })
    },
  }
}
