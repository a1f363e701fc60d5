import type { Queries, Relational } from '../../../platform/stores/relational.ts'
import { createImportStore } from '../imports/import-store.ts'
import { personFieldsOf } from '../refreshes/worker-fields.ts'
import { createWorkerStore } from '../refreshes/worker-store.ts'
import { withRelationalTransaction } from './long-transaction.ts'
import { createRowTables, type NamedPersons } from './row-tables.ts'

type Asked = Omit<NamedPersons, 'fields'>

export interface RowOfPerson {
  readonly datasource: string
  readonly row: object
}

/** Live rows of worker datasources that name persons in a field with `isPerson`. */
export function createRowsOfPersons({ db, pool }: Pick<Relational, 'db' | 'pool'>) {
  async function listPlaces(companyId: string) {
    const versions = await createWorkerStore(db).listLive(companyId)
    return versions
      .map(({ worker, live }) => ({ worker, live, fields: personFieldsOf(worker.fields, live.fields) }))
      .filter(({ fields }) => fields.length > 0)
  }

  /** All rows are read, which takes longer than users wait for a statement. */
  const withTables = <T>(
    signal: AbortSignal,
    work: (tables: ReturnType<typeof createRowTables>, tx: Queries) => Promise<T>,
  ): Promise<T> =>
    withRelationalTransaction(
      pool,
      async (tx, client) => {
        const tables = createRowTables(client)
        await tables.allowTime()
        return work(tables, tx)
      },
      signal,
    )

  /** The stored file goes too: where in it they are named is not known. */
  const removeFrom = (
    datasourceId: string,
    { companyId, digests }: Asked,
    signal: AbortSignal,
  ): Promise<void> =>
    withTables(signal, async (tables, tx) => {
      const within = createWorkerStore(tx)
      const worker = await within.lock(companyId, datasourceId)
      const live = worker && (await within.findLive(companyId, datasourceId))
      if (!live) return
      const fields = personFieldsOf(worker.fields, live.fields)
      const removed = await tables.removeOfPersons(live.id, { companyId, digests, fields })
      if (removed === 0) return
      await within.noteMerged(live.id, -removed, await tables.countBytes(live.id))
      await within.update(companyId, datasourceId, { content: null })
      const noted = { kind: 'noted', rule: 'person_erased', path: '', sample: '', count: removed } as const
      await createImportStore(tx).insertLog([{ companyId, datasourceId, ...noted }])
    })

  return {
    name: 'datasource_rows',

    async count(persons: Asked, signal: AbortSignal): Promise<number> {
      let rows = 0
      for (const { live, fields } of await listPlaces(persons.companyId)) {
        rows += await withTables(signal, (tables) => tables.countOfPersons(live.id, { ...persons, fields }))
      }
      return rows
    },

    async remove(persons: Asked, signal: AbortSignal): Promise<void> {
      for (const { worker } of await listPlaces(persons.companyId)) {
        await removeFrom(worker.datasourceId, persons, signal)
      }
    },

    async *list(persons: Asked, signal: AbortSignal): AsyncGenerator<RowOfPerson> {
      for (const { worker, live, fields } of await listPlaces(persons.companyId)) {
        let after: string | undefined = '0'
        while (after !== undefined) {
          const from: string = after
          const { rows, last } = await withTables(signal, (tables) =>
            tables.readOfPersons(live.id, { ...persons, fields }, from),
          )
          for (const row of rows) yield { datasource: worker.datasourceId, row }
          after = last
        }
      }
    },
  }
}
