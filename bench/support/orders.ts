import type { Columnar } from '../../packages/server/src/platform/stores/columnar.ts'

/** The day that holds the last orders; ten thousand lie on each day before it. */
export const lastDayOfOrders = '2020-12-31'
const ordersPerDay = 10_000
/** Rows of one insert, so that there are parts as loading leaves them. */
const rowsPerInsert = 1_000_000

/** Writes orders of one event into the store directly: the n-th to the last, of as many days as that takes. */
export async function generateOrders(columnar: Columnar, company: string, from: number, to: number) {
  for (let first = from; first < to; first += rowsPerInsert) {
    await columnar.command({
      sql: `INSERT INTO orders (company, time, purchase, version, datasource, trans_id, device, tmp_id, ids, value, labels,
              device_type, os)
            SELECT {company: String}, toDateTime64('${lastDayOfOrders} 23:59:59', 3, 'UTC')
                - toIntervalMillisecond(number * ${Math.floor(86_400_000 / ordersPerDay)}),
              reinterpretAsUInt128(sipHash128(number)), 1, '65c8a1b2d3e4f5061728394a', toString(number),
              sipHash64(concat('d', toString(number % 500000)) AS device_text), device_text,
              [concat('SKU', toString(number % 5000))], toDecimal64(number % 200, 2),
              map('store', concat('store', toString(number % 20))), 'mobile', ['iOS', 'Android', ''][number % 3 + 1]
            FROM numbers({first: UInt64}, {count: UInt64})`,
      params: { company, first, count: Math.min(rowsPerInsert, to - first) },
      settings: { optimize_on_insert: 0, max_insert_threads: 1 },
    })
  }
}
