import type { Query } from '@millrace/contract/resources/query.ts'
import { afterAll, beforeAll, beforeEach } from 'vitest'
import { openStatisticsApp, type StatisticsApp } from './statistics-app.ts'
import { openStatisticsEngine, type StatisticsEngine } from './statistics-engine.ts'
import { testCompany } from './statistics-events.ts'

/** A query of which unmentioned parts are empty. */
export const wholeQuery = (query: Partial<Query>): Query => ({
  measures: [],
  dimensions: [],
  filters: [],
  timeDimensions: [],
  ...query,
})

/** Statistics for the tests of a file: before each nothing is stored, and the caller is as at the beginning. */
export function useStatistics(
  keep: (opened: { readonly engine: StatisticsEngine; readonly app: StatisticsApp }) => void,
): void {
  let engine: StatisticsEngine
  let app: StatisticsApp

  beforeAll(async () => {
    engine = await openStatisticsEngine()
    app = await openStatisticsApp(engine.columnar)
    keep({ engine, app })
  })

  afterAll(async () => {
    await app.app.close()
    await engine.close()
  })

  beforeEach(async () => {
    await engine.empty()
    app.caller.permissions = ['statistics:access', 'statistics:export']
    app.caller.companyId = testCompany
  })
}
