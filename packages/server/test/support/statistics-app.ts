import { tmpdir } from 'node:os'
import type { Query } from '@millrace/contract/resources/query.ts'
import type { FastifyInstance } from 'fastify'
import { createPrincipal } from '../../src/features/identity/sessions/principal.ts'
import { type AnswerBodies, createAnswerBodies } from '../../src/features/statistics/answer-body.ts'
import { registerStatisticsRoutes } from '../../src/features/statistics/statistics-routes.ts'
import {
  createStatisticsService,
  type StatisticsDependencies,
  type StatisticsService,
} from '../../src/features/statistics/statistics-service.ts'
import { createStatisticsStore } from '../../src/features/statistics/statistics-store.ts'
import { createHttpServer } from '../../src/platform/http/server.ts'
import { silentLogger } from '../../src/platform/logger.ts'
import type { Columnar } from '../../src/platform/stores/columnar.ts'
import { testCompany } from './statistics-events.ts'

export interface TestCaller {
  companyId: string
  permissions: string[]
}

/** Statistics behind HTTP for one caller, who can be changed, with a time zone and a clock to set. */
export interface StatisticsApp {
  readonly app: FastifyInstance
  readonly service: StatisticsService
  readonly caller: TestCaller
  timezone: string
  now: number
  /** Posts a query of which unmentioned parts are empty, and gives the rows of its answer. */
  rows(query: Partial<Query>): Promise<Record<string, unknown>[]>
  /** Posts anything as a query. */
  post(
    query: unknown,
    options?: { search?: string; accept?: string },
  ): Promise<{ status: number; headers: Record<string, unknown>; text: string; body: Envelope }>
}

export interface Envelope {
  code?: number
  data?: unknown
  error_code?: number
  message?: string
  warnings?: { path: string; message: string }[]
}

export async function openStatisticsApp(
  columnar: Columnar,
  { bodies, ...overrides }: Partial<StatisticsDependencies> & { bodies?: AnswerBodies } = {},
): Promise<StatisticsApp> {
  const app = createHttpServer({ logger: silentLogger, trustedProxies: [] })
  const caller = { companyId: testCompany, permissions: ['statistics:access', 'statistics:export'] }
  app.decorateRequest('principal')
  app.addHook('onRequest', async (request) => {
    const { companyId, permissions } = caller
    request.principal = createPrincipal({
      email: 'ada@example.com',
      roleId: '65f0c0ffee5ca1ab1e0ddba4',
      userId: '65f0c0ffee5ca1ab1e0ddba1',
      companyId,
      clientId: '65f0c0ffee5ca1ab1e0ddba2',
      tokenId: '65f0c0ffee5ca1ab1e0ddba3',
      teamIds: [],
      permissions,
    })
  })
  const service = createStatisticsService({
    columnar,
    store: createStatisticsStore({ columnar }),
    readSettings: async () => ({ timezone: testApp.timezone }),
    clock: { now: () => testApp.now },
    ...overrides,
  })
  registerStatisticsRoutes(app, service, bodies ?? createAnswerBodies({ directory: tmpdir() }))
  await app.ready()

  const testApp: StatisticsApp = {
    app,
    service,
    caller,
    timezone: 'UTC',
    now: Date.parse('2026-03-20T15:30:00Z'),
    async post(query, { search = '', accept } = {}) {
      const response = await app.inject({
        method: 'POST',
        url: `/v2/statistics/query${search}`,
        headers: { 'content-type': 'application/json', ...(accept === undefined ? {} : { accept }) },
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
    async rows(query) {
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
  }
  return testApp
}
