import type pg from 'pg'
import type { Queries } from '../../../platform/stores/relational.ts'
import { relationalDatabase } from '../../../platform/stores/relational-session.ts'

/**
 * A transaction on a connection of its own, for work that takes minutes and copies rows, which a transaction of
 * `Relational` does not. It is never begun again by itself.
 * @param signal closes the connection when it aborts, and with it the statement that runs there
 */
export async function withRelationalTransaction<T>(
  pool: Pick<pg.Pool, 'connect'>,
  work: (tx: Queries, client: pg.PoolClient) => Promise<T>,
  signal?: AbortSignal,
): Promise<T> {
  signal?.throwIfAborted()
  const client = await pool.connect()
  const close = () => void client.end()
  let broken: Error | undefined
  try {
    signal?.addEventListener('abort', close)
    signal?.throwIfAborted()
    await client.query('begin')
    const result = await work(relationalDatabase(client), client)
    await client.query('commit')
    return result
  } catch (error) {
    await client.query('rollback').catch((failure: Error) => {
      broken = failure
    })
    throw signal?.aborted ? signal.reason : error
  } finally {
    signal?.removeEventListener('abort', close)
    client.release(broken)
  }
}
