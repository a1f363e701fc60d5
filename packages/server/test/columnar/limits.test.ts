import { randomUUID } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { ColumnarTimeout } from '../../src/platform/stores/columnar.ts'
import { endless, endOf, marked, onBothHomes, outcome, startOf, textOf } from '../support/columnar-homes.ts'

onBothHomes('limits and cancellation', (columnar) => {
  describe('limits', () => {
    test('of time end a statement', async () => {
      const { sql, marker } = marked(endless)
      const error = await outcome(columnar.query({ sql, settings: { max_execution_time: 1 } }))
      expect(error).toBeInstanceOf(ColumnarTimeout)
      expect(error).toMatchObject({ code: 159, passing: true })
      await endOf(columnar, marker)
    })

    test('of time end a stream that is not read', async () => {
      // Wide rows fill what lies between before there are as many as a result may have.
      const { sql, marker } = marked("SELECT repeat('x', 1000) FROM numbers(1000000000000)")
      const settings = { max_execution_time: 1, max_result_rows: 0, max_result_bytes: 0 }
      const unread = columnar.stream({ sql, format: 'CSV', settings }).then(async (stream) => {
        await endOf(columnar, marker)
        return textOf(stream)
      })
      expect(await outcome(unread)).toBeInstanceOf(ColumnarTimeout)
    })

    test('of memory fail with the name of the limit', async () => {
      const error = await outcome(
        columnar.query({
          sql: 'SELECT count() FROM (SELECT sipHash64(number) AS k FROM numbers(30000000) GROUP BY k)',
          settings: { max_memory_usage: 50_000_000 },
        }),
      )
      expect(error).toMatchObject({ code: 241, type: 'MEMORY_LIMIT_EXCEEDED', passing: true })
    })

    test('of rows fail with the name of the limit', async () => {
      const sql = 'SELECT number FROM numbers(11)'
      expect(await outcome(columnar.query({ sql, settings: { max_result_rows: 10 } }))).toMatchObject({
        code: 396,
      })
      expect(await columnar.query({ sql, settings: { max_result_rows: 11 } })).toHaveLength(11)
    })
  })

  describe('cancellation', () => {
    test('by the signal ends the statement in the engine', async () => {
      const { sql, marker } = marked(endless)
      const abort = new AbortController()
      const query = outcome(columnar.query({ sql, signal: abort.signal }))
      await startOf(columnar, marker)
      abort.abort(new Error('changed my mind'))
      expect(await query).toMatchObject({ message: 'changed my mind' })
      await endOf(columnar, marker)
    })

    test('by a signal that aborted before sends nothing', async () => {
      const signal = AbortSignal.abort(new Error('too late'))
      expect(await outcome(columnar.query({ sql: 'SELECT 1', signal }))).toMatchObject({
        message: 'too late',
      })
    })

    test('by leaving a stream ends the statement in the engine', async () => {
      const { sql, marker } = marked('SELECT number FROM numbers(1000000000000)')
      const settings = { max_result_rows: 0, max_result_bytes: 0 }
      const stream = await columnar.stream({ sql, format: 'CSV', settings })
      for await (const chunk of stream) if ((chunk as Buffer).length > 0) break
      await endOf(columnar, marker)
    })

    test('by the signal destroys a stream with its reason', async () => {
      const { sql, marker } = marked('SELECT number FROM numbers(1000000000000)')
      const abort = new AbortController()
      const settings = { max_result_rows: 0, max_result_bytes: 0 }
      const stream = await columnar.stream({ sql, format: 'CSV', settings, signal: abort.signal })
      const readOn = async () => {
        for await (const _ of stream) abort.abort(new Error('enough'))
      }
      expect(await outcome(readOn())).toMatchObject({ message: 'enough' })
      await endOf(columnar, marker)
    })

    test('by KILL QUERY names the query id', async () => {
      const { sql, marker } = marked(endless)
      const queryId = `kill-${marker}`
      const query = outcome(columnar.query({ sql, queryId }))
      await startOf(columnar, marker)
      await columnar.command({
        sql: 'KILL QUERY WHERE query_id = {id: String} ASYNC',
        params: { id: queryId },
      })
      expect(await query).toMatchObject({ code: 394, passing: true })
      await endOf(columnar, marker)
    })

    test('of a write ends it in the engine', async () => {
      const { sql, marker } = marked(
        'INSERT INTO facts SELECT number, toString(number) FROM numbers(1000000000000)',
      )
      const abort = new AbortController()
      // One block that never fills: nothing is stored before it ends.
      const settings = { min_insert_block_size_rows: 1e12, min_insert_block_size_bytes: 1e12 }
      const command = outcome(columnar.command({ sql, settings, signal: abort.signal }))
      await startOf(columnar, marker)
      abort.abort(new Error('enough'))
      expect(await command).toMatchObject({ message: 'enough' })
      await endOf(columnar, marker)
      expect(await columnar.query({ sql: 'SELECT count() AS n FROM facts' })).toEqual([{ n: 0 }])
    })
  })

  test('a query id can be used again, but not twice at once', async () => {
    const queryId = randomUUID()
    const abort = new AbortController()
    const { sql, marker } = marked(endless)
    const first = outcome(columnar.query({ sql, queryId, signal: abort.signal }))
    await startOf(columnar, marker)
    expect(await outcome(columnar.query({ sql: 'SELECT 1', queryId }))).toMatchObject({ code: 216 })
    abort.abort()
    await first
    await endOf(columnar, marker)
    expect(await columnar.query({ sql: 'SELECT 1 AS n', queryId })).toEqual([{ n: 1 }])
  })

  test('a short statement does not wait behind 8 long ones', async () => {
    const abort = new AbortController()
    const statements = Array.from({ length: 8 }, () => marked(endless))
    const long = statements.map(({ sql }) =>
      outcome(columnar.query({ sql, signal: abort.signal, settings: { max_threads: 1 } })),
    )
    for (const { marker } of statements) await startOf(columnar, marker)
    await columnar.ping()
    await columnar.query({ sql: 'SELECT 1', settings: { max_execution_time: 5 } })
    expect(await Promise.race([...long, 'still running'])).toBe('still running')
    abort.abort()
    await Promise.all(long)
  })
})
