import { installation } from '../../../../database/tables/installation.ts'
import { columnsOf, type Row, sql } from '../../../../platform/stores/postgres/drizzle.ts'

import type { Queries } from '../../../../platform/stores/relational.ts'

const made = columnsOf(installation, ['companyId', 'clientId', 'datasourceId', 'adminEmail'])

/** What the first start made. */
export type Installation = Row<typeof made>

/** "MLRC", for everything that a first start does. */
const lockNumber = 0x4d4c_5243

export function createBootstrapStore(db: Queries) {
  return {
    async findInstallation(): Promise<Installation | undefined> {
      const [row] = await db.select(made).from(installation)
      return row
    },

    async insertInstallation(row: Installation): Promise<void> {
      await db.insert(installation).values(row)
    },

    /** Lets one first start at a time through, until the transaction ends. */
    async lockFirstStart(): Promise<void> {
      await db.execute(sql`select pg_advisory_xact_lock(${lockNumber})`)
    },
  }
}
