import { expect, it } from 'vitest'
import { sharedColumnar } from '../../../test/support/columnar.ts'
import { openBulkRows } from './bulk-rows.ts'
import { defaultRunLimits } from './query/run.ts'
import { openZone } from './query/time/zone.ts'

it.each(['csv', 'parquet'] as const)(
  'rows of more bytes than a usual result are whole as %s',
  async (format) => {
    const columns = [{ key: 'events.name', form: 'text' }] as const
    const sql = "SELECT concat(repeat('x', 3000), toString(number)) AS g0 FROM numbers(200000)"
    const compiled = { sql, params: {}, columns, rangeLabels: [] }
    const question = { compiled, zone: openZone('UTC') }
    const { signal } = new AbortController()
    const rows = await openBulkRows(await sharedColumnar(), question, format, defaultRunLimits, signal)
    let bytes = 0
    for await (const piece of rows) bytes += (piece as Buffer).length
    // Parquet packs what is all the same.
    expect(bytes).toBeGreaterThan(format === 'csv' ? 600_000_000 : 1_000)
  },
)
