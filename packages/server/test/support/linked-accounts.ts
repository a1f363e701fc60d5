import { insertCompany } from '../../src/features/identity/people/installation/operator-account-service.ts'
import { type Auth, createAuth } from './auth.ts'
import { createTestDatabase, type TestDatabase } from './postgres.ts'
import { startWebhookServer, type WebhookServer } from './webhook-server.ts'

/** Linked accounts on a real server over a database of the test's own, with the people that tests need. */
export interface LinkedAccountsApp {
  readonly database: TestDatabase
  readonly auth: Auth
  readonly webhooks: WebhookServer
  /** Access tokens: two people without rights over others, an administrator, and one of another company. */
  readonly tokens: {
    readonly ada: string
    readonly bob: string
    readonly admin: string
    readonly stranger: string
  }
  readonly userIds: { readonly ada: string; readonly bob: string }
  /** Links a webhook; its id. */
  link(token: string, name?: string): Promise<string>
  close(): Promise<void>
}

export async function createLinkedAccountsApp(): Promise<LinkedAccountsApp> {
  const database = await createTestDatabase()
  const webhooks = await startWebhookServer()
  const auth = await createAuth(database, { outgoing: webhooks.outgoing })
  const tokenOf = async (email: string): Promise<string> => (await auth.signIn(email)).json().access_token
  const ada = await auth.addUser('ada@example.com')
  const bob = await auth.addUser('bob@example.com')
  await auth.addUser('admin@example.com', undefined, 'admin')
  const other = await database.transaction((tx) => insertCompany(tx, 'Other'))
  await auth.accounts.createUser({
    companyId: other.companyId,
    email: 'eve@other.example',
    password: 'a field of 7 poppies',
    roleName: 'admin',
    teamNames: [],
  })
  return {
    database,
    auth,
    webhooks,
    tokens: {
      ada: await tokenOf('ada@example.com'),
      bob: await tokenOf('bob@example.com'),
      admin: await tokenOf('admin@example.com'),
      stranger: await tokenOf('eve@other.example'),
    },
    userIds: { ada: ada.id, bob: bob.id },
    async link(token, name = 'Warehouse') {
      const url = `https://hooks.example.test:${webhooks.port}/inbox/top-secret-path`
      const reply = await auth.call(token, 'POST', '/v2/linked-accounts', { provider: 'webhook', name, url })
      if (reply.statusCode !== 200) throw new Error(reply.body)
      return reply.json().data.id
    },
    async close() {
      await auth.app.close()
      webhooks.close()
      await database.close()
    },
  }
}
