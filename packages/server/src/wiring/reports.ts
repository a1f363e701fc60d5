import { add, startOf } from '../features/analytics/query/time/calendar.ts'
import { readRange } from '../features/analytics/query/time/dates.ts'
import { createReports } from '../features/reports/reports.ts'
import { createSavedQueryStore } from '../features/saved-queries/saved-query-store.ts'
import type { Analytics } from './analytics.ts'
import type { Shared } from './shared.ts'

export function wireReports(
  shared: Shared,
  statistics: Pick<Analytics['statistics'], 'validate' | 'answer' | 'answerTogether' | 'describe'>,
) {
  const { relational, openZone, overrides } = shared
  return createReports({
    ...shared,
    ...statistics,
    validateQuery: statistics.validate,
    findSavedQuery: (companyId, id) => createSavedQueryStore(relational.db).find(companyId, id),
    model: shared.languageModel,
    time: { openZone, startOf, add, readRange },
    writing: overrides.reportWriting,
    rowsRoom: shared.contents.rowsRoom,
    findReader: (db, companyId, userId) => createSavedQueryStore(db).findRunner(companyId, userId),
    listReaders: (db, companyId, addresses) => createSavedQueryStore(db).listReaders(companyId, addresses),
  })
}
