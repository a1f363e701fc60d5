import { expect, it } from 'vitest'
import { createTestColumnar } from '../../../../test/support/columnar.ts'
import { createPersonRowsStore } from './person-rows-store.ts'

it('a person of more than a million events is exported whole', async () => {
  const columnar = await createTestColumnar()
  try {
    const [companyId, events] = ['65f0c0ffee5ca1ab1e0ddba1', 1_000_001]
    await columnar.command({
      sql: `INSERT INTO events (company, datasource, time, received, seq, name, tmp_id, device)
            SELECT {company: String}, 'till', toDateTime64('2026-09-01 12:00:00', 3, 'UTC') AS time, time, number, 'sale',
              'tablet', sipHash64('tablet') FROM numbers({events: UInt64})`,
      params: { company: companyId, events },
    })
    const rows = createPersonRowsStore({ columnar })
    const { signal } = new AbortController()
    const person = await rows.resolve(companyId, { tmpIds: ['tablet'] }, signal)
    let lines = 0
    for await (const piece of await rows.stream('event', person, signal))
      lines += (piece as Buffer).toString('latin1').split('\n').length - 1
    expect(lines).toBe(events)
  } finally {
    await columnar.close()
  }
})
