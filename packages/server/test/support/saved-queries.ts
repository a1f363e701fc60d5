import { Readable } from 'node:stream'
import type { SavedQuery } from '@millrace/contract/resources/saved-query.ts'
import type { SavedQueryRun } from '@millrace/contract/resources/saved-query-run.ts'
import type { Columnar } from '../../src/platform/stores/columnar.ts'
import { type AccountsApp, createAccountsApp, createTimeTravel, type Reply } from './accounts.ts'
import { createTestDatabase } from './postgres.ts'
import { startWebhookServer } from './webhook-server.ts'

export const eventsQuery = { measures: ['events.count'], dimensions: [], filters: [], timeDimensions: [] }

/** An engine that answers each statement with the rows that a test wants, as lines of JSON. */
export interface StubEngine {
  readonly columnar: Columnar
  /** The statements that were sent. */
  readonly asked: { sql: string; params: Readonly<Record<string, unknown>> | undefined }[]
  /** What a statement is answered; throws where it fails. */
  answer: () => string | Promise<string>
}

export function createStubEngine(): StubEngine {
  const nothing = async () => {}
  const engine: StubEngine = {
    asked: [],
    answer: () => '["17"]\n',
    columnar: {
      query: async () => [],
      async stream({ sql, params }) {
        engine.asked.push({ sql, params })
        return Readable.from([Buffer.from(await engine.answer())])
      },
      command: nothing,
      insert: nothing,
      ping: nothing,
      close: nothing,
    },
  }
  return engine
}

/** Saved queries on a real server over a database of the test's own. */
export async function openSavedQueries() {
  const relational = await createTestDatabase()
  const engine = createStubEngine()
  const webhooks = await startWebhookServer()
  const app: AccountsApp = await createAccountsApp(relational, {
    columnar: engine.columnar,
    outgoing: webhooks.outgoing,
  })
  const { loops } = app.auth.services.savedQueries
  const people = {
    /** May do everything. */
    admin: await app.person('admin'),
    /** May save and export. */
    analyst: await app.personWith('statistics:access', 'statistics:export'),
    /** May save, change what others have saved, and not export. */
    reader: await app.personWith('statistics:access', 'statistics:manage'),
    /** Of another company, may do everything. */
    stranger: await app.person('admin', app.other.companyId, 'other.example'),
  }
  type Who = keyof typeof people
  const tokens = new Map<Who, string>((Object.keys(people) as Who[]).map((who) => [who, people[who].token]))

  async function call(
    who: Who,
    method: 'GET' | 'POST' | 'PATCH' | 'DELETE',
    path: string,
    body?: unknown,
  ): Promise<Reply & { data: Record<string, unknown> }> {
    app.auth.cache.forget()
    const reply = await app.auth.call(
      tokens.get(who) ?? '',
      method,
      `/v2/statistics/query${path}`,
      body as Record<string, unknown>,
    )
    return { ...reply.json(), status: reply.statusCode }
  }

  return {
    relational,
    engine,
    webhooks,
    app,
    loops,
    people,
    call,
    /** The reply to a download, which is no envelope. */
    download: (who: Who, path: string) =>
      app.auth.call(tokens.get(who) ?? '', 'GET', `/v2/statistics/query${path}`),
    /** Links an account. @returns its id */
    async linkAccount(who: Who, body: Record<string, unknown>): Promise<string> {
      const reply = await app.auth.call(tokens.get(who) ?? '', 'POST', '/v2/linked-accounts', body)
      if (reply.statusCode !== 200) throw new Error(reply.body)
      return reply.json().data.id
    },
    /** A schedule for the analyst's own address. */
    daily: (more: Record<string, unknown> = {}) => ({
      frequency: 'daily',
      time: '08:00',
      timezone: 'UTC',
      recipients: [people.analyst.email],
      ...more,
    }),
    async save(body: Record<string, unknown> = {}, who: Who = 'analyst'): Promise<SavedQuery> {
      const { status, data, message } = await call(who, 'POST', '/save', {
        name: 'Sales',
        queries: [eventsQuery],
        ...body,
      })
      if (status !== 200) throw new Error(`${status} ${message}`)
      return data as unknown as SavedQuery
    },
    async read(id: string): Promise<SavedQuery> {
      return (await call('analyst', 'GET', `/${id}`)).data as unknown as SavedQuery
    },
    async runs(id: string, who: Who = 'analyst'): Promise<SavedQueryRun[]> {
      return (await call(who, 'GET', `/${id}/runs?perPage=100`)).data as unknown as SavedQueryRun[]
    },
    ...createTimeTravel(app, people, tokens),
    /** Plans what is due, and runs and announces all of it. */
    async work(): Promise<void> {
      while (await loops.planner.plan());
      // Runs of a minute are spread.
      app.time.advance(9_000)
      while (await loops.worker.runOne());
      while (await loops.messages.sendOne());
    },
    async close(): Promise<void> {
      await app.app.close()
      webhooks.close()
      await relational.close()
    },
  }
}

export type SavedQueriesApp = Awaited<ReturnType<typeof openSavedQueries>>
