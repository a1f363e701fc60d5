import { installation } from '../../../../database/tables/installation.ts'
import { sql } from '../../../../platform/stores/postgres/drizzle.ts'

import type { Queries } from '../../../../platform/stores/relational.ts'

/** What the first start made. */
export interface Installation {
  readonly companyId: string
  readonly clientId: string
  readonly datasourceId: string
  readonly adminEmail: string
}

/** "MLRC", for everything that a first start does. */
const lockNumber = 0x4d4c_5243

export function createBootstrapStore(db: Queries) {
  return {
    async findInstallation(): Promise<Installation | undefined> {
      const [row] = await db
        .select({
          companyId: installation.companyId,
          clientId: installation.clientId,
          datasourceId: installation.datasourceId,
          adminEmail: installation.adminEmail,
        })
        .from(installation)
      return row
    },

    async insertInstallation(made: Installation): Promise<void> {
      await db.insert(installation).values(made)
    },

    /** Lets one first start at a time through, until the transaction ends. */
    async lockFirstStart(): Promise<void> {
      await db.execute(sql`select pg_advisory_xact_lock(${lockNumber})`)
    },
  }
}
