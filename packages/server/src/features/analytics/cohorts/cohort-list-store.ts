import type { Columnar } from '../../../platform/stores/columnar.ts'

/** Which list of which cohort. */
export interface ListReference {
  readonly companyId: string
  readonly cohortId: string
  readonly listId: string
}

/** Lists of persons that users gave, in the columnar store. */
export function createCohortListStore({
  columnar,
}: {
  readonly columnar: Pick<Columnar, 'insert' | 'command'>
}) {
  return {
    /** @param persons each once */
    async insert({ companyId, cohortId, listId }: ListReference, persons: readonly string[]): Promise<void> {
      if (persons.length === 0) return
      const lines = persons.map((person) =>
        JSON.stringify({ company: companyId, cohort: cohortId, list: listId, person_id: person }),
      )
      await columnar.insert({
        table: 'cohort_persons',
        columns: ['company', 'cohort', 'list', 'person_id'],
        format: 'JSONEachRow',
        body: Buffer.from(lines.join('\n')),
      })
    },

    /**
     * Removes the lists of a cohort, but the one that counts and those that are not older than `before`, an id of its
     * time: a query that has read the cohort before may be about to read one of these.
     */
    async deleteReplaced({ companyId, cohortId, listId }: ListReference, before: string): Promise<void> {
      await columnar.command({
        sql: `DELETE FROM cohort_persons WHERE company = {company:String} AND cohort = {cohort:String}
              AND list != {list:String} AND list < {before:String}`,
        params: { company: companyId, cohort: cohortId, list: listId, before },
      })
    },

    /** Removes every list of a cohort that no longer exists. */
    async deleteAll({ companyId, cohortId }: Omit<ListReference, 'listId'>): Promise<void> {
      await columnar.command({
        sql: 'DELETE FROM cohort_persons WHERE company = {company:String} AND cohort = {cohort:String}',
        params: { company: companyId, cohort: cohortId },
      })
    },
  }
}

export type CohortListStore = ReturnType<typeof createCohortListStore>
