import type { ServiceContext } from '../../../platform/service-context.ts'
import { sql } from '../../../platform/stores/postgres/drizzle.ts'
import type { ContentFiles } from '../contents/content-files.ts'
import { createWorkerStore } from '../refreshes/worker-store.ts'
import { createImportStore } from './import-store.ts'

const importDays = 90
const logDays = 30
/** A reader that has found a version asks for its rows within seconds. */
const retiredSeconds = 60
const tablesAtOnce = 20

export interface ImportSweepDependencies extends Pick<ServiceContext, 'relational' | 'clock'> {
  readonly files: Pick<ContentFiles, 'sweep'>
}

/** Removes what nothing needs: rows of former versions, files without a datasource, old entries. */
export function createImportSweep({ relational, files, clock }: ImportSweepDependencies) {
  return {
    /** Drops tables of rows that no version has. @returns whether there may be more */
    async dropRows(): Promise<boolean> {
      const workers = createWorkerStore(relational.db)
      await workers.forgetRetired(retiredSeconds)
      const orphans = await workers.listOrphans(tablesAtOnce)
      for (const id of orphans) await relational.db.execute(sql`select datasource_rows.remove(${id})`)
      return orphans.length === tablesAtOnce
    },

    async sweep(signal?: AbortSignal): Promise<void> {
      const imports = createImportStore(relational.db)
      while (!signal?.aborted && (await imports.sweep(importDays, logDays)) > 0);
      await files.sweep((names) => createWorkerStore(relational.db).listContents(names), clock.now())
    },
  }
}
