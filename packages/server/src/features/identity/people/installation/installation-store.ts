import pg from 'pg'
import { StartRefused } from '../../../../platform/start-refused.ts'
import { connectionConfig, type PostgresAddress } from '../../../../platform/stores/relational.ts'

/**
 * Whether a first start was completed on a database. Changes nothing, and needs no table to be there or up to date.
 * @param address of the role that owns the tables, which may read them whatever the service's role may
 * @throws {StartRefused} the server cannot be asked
 */
export async function holdsInstallation(address: PostgresAddress): Promise<boolean> {
  const client = new pg.Client({ ...connectionConfig(address), connectionTimeoutMillis: 10_000 })
  client.on('error', () => {})
  try {
    await client.connect().catch((error: Error) => {
      throw new StartRefused('inUse', `PostgreSQL cannot be used: ${error.message}`, error)
    })
    const table = await client.query(`select to_regclass('installation') is not null as known`)
    if (table.rows[0].known !== true) return false
    return (await client.query('select from installation')).rowCount === 1
  } finally {
    await client.end().catch(() => {})
  }
}
