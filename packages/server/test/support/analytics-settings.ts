import { type AccountsApp, createAccountsApp, type Person, type Reply } from './accounts.ts'
import type { Body } from './auth.ts'
import { createTestDatabase, type TestDatabase } from './postgres.ts'

type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'

/** Two companies, each with an administrator, and calls below the address of the settings of statistics. */
export interface AnalyticsApp {
  readonly relational: TestDatabase
  readonly app: AccountsApp
  readonly admin: Person
  /** Administrator of the other company. */
  readonly stranger: Person
  /** Calls an operation, as the administrator unless a token is given. */
  call(method: Method, path: string, body?: unknown, token?: string): Promise<Reply>
  close(): Promise<void>
}

export async function openAnalyticsApp(
  options: Parameters<typeof createAccountsApp>[1] = {},
): Promise<AnalyticsApp> {
  const relational = await createTestDatabase()
  const app = await createAccountsApp(relational, options)
  const admin = await app.person('admin')
  const stranger = await app.person('admin', app.other.companyId)
  return {
    relational,
    app,
    admin,
    stranger,
    async call(method, path, body, token = admin.token) {
      const url = `/v2/statistics/analytics/settings${path}`
      const reply = await app.auth.call(token, method, url, body as Body)
      return { ...reply.json(), status: reply.statusCode }
    },
    async close() {
      await app.app.close()
      await relational.close()
    },
  }
}
