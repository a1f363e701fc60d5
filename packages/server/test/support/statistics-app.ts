import type { Query } from '@millrace/contract/resources/query.ts'
import type { FastifyInstance } from 'fastify'
import {
  type Attribution,
  defaultAttribution,
} from '../../src/features/analytics/query/compile/compile-credits.ts'
import type { StatisticsService } from '../../src/features/analytics/statistics-service.ts'
import { createPrincipal } from '../../src/features/identity/sessions/principal.ts'
import type { Columnar } from '../../src/platform/stores/columnar.ts'
import { createTestDatabase } from './postgres.ts'
import { callerToken, openTestService, type TestServiceOptions } from './service.ts'
import { testCompany } from './statistics-events.ts'

export { callerToken } from './service.ts'

export interface TestCaller {
  companyId: string
  permissions: string[]
}

/** The service for one caller, who can be changed, with a time zone and a clock to set. */
export interface StatisticsApp {
  readonly app: FastifyInstance
  readonly service: StatisticsService
  readonly caller: TestCaller
  /** Whose teams decide which workflows the answers name. */
  readonly readerId: string
  /** Makes the caller's company as this says, as a query does first. */
  makeCompany(): Promise<void>
  /** Makes the caller's company, as the first query does, and runs a statement in the relational store. */
  sql(statement: string, values?: readonly unknown[]): Promise<void>
  /** How queries ended, as the metrics count them. */
  readonly outcomes: string[]
  /** Of the caller's company; works with the next query that `post` sends. */
  timezone: string
  /** Also of the caller's company. */
  attribution: Attribution
  exactCounts: boolean
  now: number
  /** Posts a query of which unmentioned parts are empty, and gives the rows of its answer. */
  rows(query: Partial<Query>): Promise<Record<string, unknown>[]>
  /** Posts anything as a query, or as an exploration at its own path. */
  post(
    query: unknown,
    options?: { path?: string; search?: string; accept?: string },
  ): Promise<{ status: number; headers: Record<string, unknown>; text: string; body: Envelope }>
}

export interface Envelope {
  code?: number
  data?: unknown
  error_code?: number
  message?: string
  warnings?: { path: string; message: string }[]
}

/** The id of the caller, or of their role, in a company. */
const withinCompany = (prefix: string, companyId: string) => prefix + companyId.slice(prefix.length)

export async function openStatisticsApp(
  columnar: Columnar,
  overrides: Pick<TestServiceOptions, 'queryLimiter' | 'queryLimits'> = {},
): Promise<StatisticsApp> {
  const database = await createTestDatabase()
  const { pool } = database
  const caller = { companyId: testCompany, permissions: ['statistics:access', 'statistics:export'] }
  const settable = {
    timezone: 'UTC',
    attribution: defaultAttribution,
    exactCounts: false,
    now: Date.parse('2026-03-20T15:30:00Z'),
  }
  const { app, context } = await openTestService(database, {
    ...overrides,
    onClose: () => database.close(),
    columnar,
    clock: { now: () => settable.now },
    async findPrincipal() {
      const { companyId, permissions } = caller
      return createPrincipal({
        email: 'ada@example.com',
        roleId: withinCompany('72', companyId),
        userId: withinCompany('75', companyId),
        companyId,
        clientId: '65f0c0ffee5ca1ab1e0ddba2',
        tokenId: '65f0c0ffee5ca1ab1e0ddba3',
        teamIds: [],
        permissions,
      })
    },
  })
  const outcomes: string[] = []
  const { querySeconds } = context.metrics
  const observe = querySeconds.observe.bind(querySeconds) as (
    labels: { outcome: string },
    seconds: number,
  ) => void
  querySeconds.observe = ((labels: { outcome: string }, seconds: number) => {
    outcomes.push(labels.outcome)
    observe(labels, seconds)
  }) as typeof querySeconds.observe

  let settings = ''
  async function makeCompany(): Promise<void> {
    const { timezone, attribution, exactCounts } = settable
    const { clickHours, displayHours } = attribution.windows
    const wanted = JSON.stringify([caller.companyId, timezone, attribution, exactCounts])
    if (settings === wanted) return
    settings = wanted
    await pool.query(
      `insert into companies (id, name, timezone, attribution_model, click_window_hours, display_window_hours,
         exact_counts)
       values ($1, 'A company', $2, $3, $4, $5, $6)
       on conflict (id) do update set timezone = excluded.timezone, attribution_model = excluded.attribution_model,
         click_window_hours = excluded.click_window_hours, display_window_hours = excluded.display_window_hours,
         exact_counts = excluded.exact_counts`,
      [caller.companyId, timezone, attribution.model, clickHours, displayHours, exactCounts],
    )
    const { companyId } = caller
    const [roleId, userId] = [withinCompany('72', companyId), withinCompany('75', companyId)]
    await pool.query(
      `insert into roles (id, company_id, name) values ($1, $2, 'A role') on conflict do nothing`,
      [roleId, companyId],
    )
    await pool.query(
      `insert into users (id, company_id, role_id, email, status, holds_email)
       values ($1, $2, $3, 'ada@example.com', 'active', false) on conflict do nothing`,
      [userId, companyId, roleId],
    )
  }

  const testApp: StatisticsApp = Object.assign(settable, {
    app,
    service: context.services.statistics,
    caller,
    get readerId() {
      return withinCompany('75', caller.companyId)
    },
    outcomes,
    makeCompany,
    async sql(statement: string, values: readonly unknown[] = []) {
      await makeCompany()
      await pool.query(statement, [...values])
    },
    async post(
      query: unknown,
      {
        path = '/v2/statistics/query',
        search = '',
        accept,
      }: { path?: string; search?: string; accept?: string } = {},
    ) {
      await makeCompany()
      const response = await app.inject({
        method: 'POST',
        url: `${path}${search}`,
        headers: {
          'content-type': 'application/json',
          ...callerToken,
          ...(accept === undefined ? {} : { accept }),
        },
        payload: JSON.stringify(query),
      })
      const isJson = String(response.headers['content-type']).startsWith('application/json')
      return {
        status: response.statusCode,
        headers: response.headers,
        text: response.body,
        body: isJson ? response.json() : {},
      }
    },
    async rows(query: Partial<Query>) {
      const { status, body } = await testApp.post({
        measures: [],
        dimensions: [],
        filters: [],
        timeDimensions: [],
        ...query,
      })
      if (status !== 200) throw new Error(`${status} ${body.message}`)
      return JSON.parse(String(body.data))
    },
  })
  await makeCompany()
  return testApp
}
