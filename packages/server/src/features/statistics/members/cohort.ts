import { dimension } from './dimensions.ts'

/** Whether the person of a row belongs to a cohort (docs/statistics.md, Cohorts). It stands for no column. */
export const cohort = {
  ...dimension(
    'events',
    'cohort',
    { sql: '', columns: [] },
    {
      title: 'Cohort',
      description:
        'Saved groups of persons, by their identifiers: `equals` keeps the rows of persons in one of them, ' +
        '`notEquals` those of all others. A filter of every source; rows are not grouped by it.',
      format: 'id',
    },
    { shared: true, filterOnly: true },
  ),
  id: 'persons.cohort',
}
