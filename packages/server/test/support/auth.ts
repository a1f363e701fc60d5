import type { LightMyRequestResponse } from 'fastify'
import { createOperatorServices } from '../../src/boot/commands/operator-services.ts'
import { recordAudit } from '../../src/features/audit/audit-store.ts'
import { insertDatasource } from '../../src/features/datasources/datasource-service.ts'
import { createBootstrapStore } from '../../src/features/identity/people/installation/bootstrap-store.ts'
import { insertCompany } from '../../src/features/identity/people/installation/operator-account-service.ts'
import { createUserLifecycle } from '../../src/features/identity/people/users/user-lifecycle.ts'
import { createClientService } from '../../src/features/identity/sessions/clients/client-service.ts'
import { createClientStore } from '../../src/features/identity/sessions/clients/client-store.ts'
import { createMailStore } from '../../src/features/mail/mail-store.ts'
import type { QueuedMail } from '../../src/platform/mail/mail-queue.ts'
import type { TestDatabase } from './postgres.ts'
import { cheapPasswords, openTestService, type TestServiceOptions, testBox } from './service.ts'

export { cheapPasswords, testOrigin } from './service.ts'

export const goodPassword = 'a field of 7 poppies'

/** Where the test's client is returned to. */
export const testRedirectUri = 'https://app.example/signed-in?from=millrace'

export type AuthOptions = TestServiceOptions

export type Body = Record<string, unknown>

export interface TokenCall {
  readonly from?: string
  readonly headers?: Record<string, string>
}

/**
 * A company without users and a client that returns to `testRedirectUri`. The first of a database are what the service
 * begins with, which adds no administrator of its own then.
 */
function install(relational: TestDatabase): Promise<{ companyId: string; clientId: string }> {
  return relational.transaction(async (tx) => {
    const { companyId, teamId } = await insertCompany(tx, 'Acme')
    const { id: clientId } = await createClientService(createClientStore(tx)).createClient({
      name: 'web',
      grants: [],
      redirectUris: [testRedirectUri],
    })
    const installations = createBootstrapStore(tx)
    if (!(await installations.findInstallation())) {
      const { id: datasourceId } = await insertDatasource(tx, {
        companyId,
        name: 'Website',
        teamIds: [teamId],
      })
      const adminEmail = 'nobody@millrace.example'
      await installations.insertInstallation({ companyId, clientId, datasourceId, adminEmail })
    }
    return { companyId, clientId }
  })
}

/** The service over a database of the test's own, with a company and a client, to which `addUser` adds users. */
export async function createAuth(relational: TestDatabase, options: AuthOptions = {}) {
  const { passwords = cheapPasswords() } = options
  const { companyId, clientId } = await install(relational)
  const { app, context } = await openTestService(relational, { ...options, passwords })
  const { time } = relational
  const { accounts, clients } = createOperatorServices({ relational, passwords, openBox: () => testBox })
  const parts = {
    ...context.parts,
    relational,
    time,
    lifecycle: createUserLifecycle({ relational, recordAudit }),
  }

  function post(body: Body | string | Buffer, call: TokenCall = {}): Promise<LightMyRequestResponse> {
    return app.inject({
      method: 'POST',
      url: '/v2/auth/token',
      remoteAddress: call.from ?? '192.0.2.1',
      headers: { 'content-type': 'application/json', ...call.headers },
      payload: body,
    })
  }

  return {
    app,
    context,
    services: context.services,
    time,
    cache: context.access,
    accounts,
    clients,
    companyId,
    clientId,
    parts,
    post,

    /** Takes what is on its way out of the mail queue, oldest first. */
    async takeMails(): Promise<QueuedMail[]> {
      const store = createMailStore(relational.db, testBox)
      const mails: QueuedMail[] = []
      for (let due = await store.takeDue(60); due; due = await store.takeDue(60)) {
        mails.push(due.read())
        await store.markSent(due.id)
      }
      return mails
    },

    /** What the audit log holds, oldest first, as `action outcome`. */
    async auditTrail(): Promise<string[]> {
      const { rows } = await relational.pool.query<{ entry: string }>(
        `select action || ' ' || outcome as entry from audit_entries order by at, id`,
      )
      return rows.map(({ entry }) => entry)
    },

    /** Calls an operation with an access token. */
    call: (
      accessToken: string,
      method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE',
      url: string,
      body?: Body,
    ) =>
      app.inject({
        method,
        url,
        headers: { authorization: `Bearer ${accessToken}` },
        ...(body === undefined ? {} : { payload: body }),
      }),

    addUser: (email: string, password: string | undefined = goodPassword, roleName = 'viewer') =>
      accounts.createUser({ companyId, email, password, roleName, teamNames: [] }),

    signIn: (username: string, password = goodPassword, call: TokenCall = {}) =>
      post({ grant_type: 'password', client_id: clientId, username, password }, call),

    refresh: (refreshToken: string, client = clientId, call: TokenCall = {}) =>
      post({ grant_type: 'refresh_token', client_id: client, refresh_token: refreshToken }, call),

    get: (accessToken: string, url = '/v2/entities/users/me') =>
      app.inject({ url, headers: { authorization: `Bearer ${accessToken}` } }),
  }
}

export type Auth = Awaited<ReturnType<typeof createAuth>>
