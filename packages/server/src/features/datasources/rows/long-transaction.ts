import type pg from 'pg'
import type { Queries } from '../../../platform/stores/relational.ts'
import { relationalDatabase } from '../../../platform/stores/relational-session.ts'

/**
 * A transaction on a connection of its own, for work that takes minutes and copies rows, which a transaction of
 * `Relational` does not. It is never begun again by itself.
 */
export async function withRelationalTransaction<T>(
  pool: Pick<pg.Pool, 'connect'>,
  work: (tx: Queries, client: pg.PoolClient) => Promise<T>,
): Promise<T> {
  const client = await pool.connect()
  let broken: Error | undefined
  try {
    await client.query('begin')
    const result = await work(relationalDatabase(client), client)
    await client.query('commit')
    return result
  } catch (error) {
    await client.query('rollback').catch((failure: Error) => {
      broken = failure
    })
    throw error
  } finally {
    client.release(broken)
  }
}
