import { randomBytes } from 'node:crypto'
import type { FastifyInstance, LightMyRequestResponse } from 'fastify'
import { recordAudit } from '../../src/features/audit/audit-store.ts'
import {
  createAccountService,
  insertCompany,
} from '../../src/features/identity/people/installation/operator-account-service.ts'
import {
  createUserLifecycle,
  type UserLifecycle,
} from '../../src/features/identity/people/users/user-lifecycle.ts'
import { createAccessCache } from '../../src/features/identity/sessions/access/access-cache.ts'
import { createAccessStore } from '../../src/features/identity/sessions/access/access-store.ts'
import { createBearerGuard } from '../../src/features/identity/sessions/access/bearer-guard.ts'
import { createRefusalAudit } from '../../src/features/identity/sessions/access/refusal-audit.ts'
import { registerApplicationRoutes } from '../../src/features/identity/sessions/applications/application-routes.ts'
import { createApplicationService } from '../../src/features/identity/sessions/applications/application-service.ts'
import { createApplicationStore } from '../../src/features/identity/sessions/applications/application-store.ts'
import { createClientService } from '../../src/features/identity/sessions/clients/client-service.ts'
import { createClientStore } from '../../src/features/identity/sessions/clients/client-store.ts'
import { isCrossOriginPath } from '../../src/features/identity/sessions/clients/cross-origin-paths.ts'
import { createOriginCache } from '../../src/features/identity/sessions/clients/origin-cache.ts'
import { createFamiliarStore } from '../../src/features/identity/sessions/familiar-store.ts'
import { createCodeStore } from '../../src/features/identity/sessions/tokens/code-store.ts'
import { createRotationStore } from '../../src/features/identity/sessions/tokens/rotation-store.ts'
import { createTokenStore } from '../../src/features/identity/sessions/tokens/token-store.ts'
import {
  type AuthorizationReader,
  createAuthorizationReader,
} from '../../src/features/identity/sign-in/authorization-request.ts'
import { registerSignInRoutes } from '../../src/features/identity/sign-in/pages/sign-in-routes.ts'
import {
  defaultPolicy,
  type ThrottlePolicy,
} from '../../src/features/identity/sign-in/passwords/login-throttle.ts'
import { createPasswordCheck } from '../../src/features/identity/sign-in/passwords/password-check.ts'
import { registerAuthenticatorRoutes } from '../../src/features/identity/sign-in/second-factor/authenticator-routes.ts'
import { createAuthenticatorService } from '../../src/features/identity/sign-in/second-factor/authenticator-service.ts'
import { createSecondFactor } from '../../src/features/identity/sign-in/second-factor/second-factor.ts'
import { createSignInService } from '../../src/features/identity/sign-in/sign-in-service.ts'
import { registerMetadataRoutes } from '../../src/features/identity/sign-in/tokens/metadata-routes.ts'
import { registerTokenRoutes } from '../../src/features/identity/sign-in/tokens/token-routes.ts'
import { createTokenService } from '../../src/features/identity/sign-in/tokens/token-service.ts'
import { createMailQueue, createMailStore } from '../../src/features/mail/mail-store.ts'
import { createPasswords, type Passwords } from '../../src/platform/crypto/passwords.ts'
import { createSecretBox, type SecretBox } from '../../src/platform/crypto/secret-box.ts'
import { createHttpServer } from '../../src/platform/http/server.ts'
import { createSqlLeakyBuckets } from '../../src/platform/limits/sql-leaky-bucket.ts'
import { type Logger, silentLogger } from '../../src/platform/logger.ts'
import type { EnqueueMail } from '../../src/platform/mail/mail-queue.ts'
import type { Mail } from '../../src/platform/mail/outbox.ts'
import type { Relational } from '../../src/platform/stores/relational.ts'
import { createFakeTime, type FakeTime } from './fake-time.ts'

/** Cheap enough for tests that are not about the cost. */
export const cheapPasswords = (): Passwords => createPasswords({ cost: { memory: 64, passes: 1, lanes: 1 } })

export const goodPassword = 'a field of 7 poppies'

/** What the routes of other features are built from, over the same database and the same time. */
export interface AuthParts {
  readonly relational: Relational
  readonly passwords: Passwords
  readonly time: FakeTime
  readonly box: SecretBox
  readonly lifecycle: UserLifecycle
  readonly guard: ReturnType<typeof createBearerGuard>
  readonly enqueueMail: EnqueueMail
  readonly readAuthorization: AuthorizationReader
}

/** Address of the service under test, as people reach it. */
export const testOrigin = 'https://millrace.example'
/** Where the test's client is returned to. */
export const testRedirectUri = 'https://app.example/signed-in?from=millrace'

export interface AuthOptions {
  readonly findSingleSignOn?: Parameters<typeof createSignInService>[0]['findSingleSignOn']
  /** Registers routes that need no token. */
  readonly open?: (scope: FastifyInstance, parts: AuthParts) => void
  /** Registers routes behind the bearer guard. */
  readonly authenticated?: (scope: FastifyInstance, parts: AuthParts) => void
  readonly time?: FakeTime
  readonly passwords?: Passwords
  readonly policy?: ThrottlePolicy
  readonly logger?: Logger
}

export type Body = Record<string, unknown>

export interface TokenCall {
  readonly from?: string
  readonly headers?: Record<string, string>
}

/**
 * The token service and a protected address on a real server, over a database of the test's own: one company
 * with a client, to which `addUser` adds people.
 */
export async function createAuth(relational: Relational, options: AuthOptions = {}) {
  const time = options.time ?? createFakeTime()
  const passwords = options.passwords ?? cheapPasswords()
  const box = createSecretBox([randomBytes(32)])
  const tokens = createTokenStore(relational.db, time.sqlNow)
  const familiar = createFamiliarStore(relational.db, time.sqlNow)
  const passwordCheck = createPasswordCheck({
    relational,
    tokens,
    familiar,
    throttle: createSqlLeakyBuckets(relational.db, time.sqlNow),
    passwords,
    secondFactor: createSecondFactor({ box, clock: time.clock }),
    recordAudit,
    log: options.logger ?? silentLogger,
    policy: options.policy ?? defaultPolicy,
    clock: time.clock,
  })
  const service = createTokenService({
    relational,
    tokens,
    rotation: createRotationStore(relational.db, time.sqlNow),
    storesIn: (tx) => ({
      tokens: createTokenStore(tx, time.sqlNow),
      codes: createCodeStore(tx, time.sqlNow),
      rotation: createRotationStore(tx, time.sqlNow),
      familiar: createFamiliarStore(tx, time.sqlNow),
    }),
    passwordCheck,
    recordAudit,
  })
  const cache = createAccessCache(createAccessStore(relational, time.sqlNow).findAccess, time.clock)
  const recordRefusal = createRefusalAudit({ relational, recordAudit, clock: time.clock })
  const guard = createBearerGuard({ findPrincipal: cache.find, recordRefusal })
  const accounts = createAccountService({ relational, passwords, recordAudit })
  const lifecycle = createUserLifecycle({ relational, recordAudit })
  const readAuthorization = createAuthorizationReader(tokens)
  const parts: AuthParts = {
    relational,
    passwords,
    time,
    box,
    lifecycle,
    guard,
    enqueueMail: createMailQueue(box),
    readAuthorization,
  }
  const clients = createClientService(createClientStore(relational.db))

  const origins = createOriginCache(createClientStore(relational.db).listOrigins, silentLogger, time.clock)
  const app: FastifyInstance = createHttpServer({
    logger: silentLogger,
    trustedProxies: [],
    crossOrigin: { allows: origins.has, covers: isCrossOriginPath },
  })
  registerTokenRoutes(app, service)
  const signIn = createSignInService({
    relational,
    codesIn: (queries) => createCodeStore(queries, time.sqlNow),
    tokens,
    familiar,
    passwordCheck,
    recordAudit,
    findSingleSignOn: options.findSingleSignOn ?? (async () => undefined),
    origin: () => testOrigin,
  })
  registerSignInRoutes(app, { signIn, readAuthorization, origin: () => testOrigin })
  registerMetadataRoutes(app, () => testOrigin)
  options.open?.(app, parts)
  app.register(async (scope) => {
    guard.protect(scope)
    registerApplicationRoutes(
      scope,
      createApplicationService({
        relational,
        applicationsIn: (queries) => createApplicationStore(queries, time.sqlNow),
        recordAudit,
      }),
    )
    registerAuthenticatorRoutes(
      scope,
      createAuthenticatorService({
        relational,
        passwordCheck,
        box,
        recordAudit,
        endSessions: lifecycle.endSessions,
        clock: time.clock,
      }),
    )
    options.authenticated?.(scope, parts)
    scope.get('/v2/me', async (request) => ({ ...request.principal }))
    const needed = { permission: { resource: 'company', action: 'update' } }
    scope.route({ ...needed, method: 'GET', url: '/v2/company', handler: async () => ({ allowed: true }) })
  })
  await app.ready()

  const { companyId } = await relational.transaction((tx) => insertCompany(tx, 'Acme'))
  const client = await clients.createClient({ name: 'web', grants: [], redirectUris: [testRedirectUri] })

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
    time,
    cache,
    accounts,
    clients,
    companyId,
    clientId: client.id,
    parts,
    signInService: signIn,
    post,

    /** Takes what is on its way out of the mail queue, oldest first. */
    async takeMails(): Promise<Mail[]> {
      const store = createMailStore(relational.db, box)
      const mails: Mail[] = []
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
      post({ grant_type: 'password', client_id: client.id, username, password }, call),

    refresh: (refreshToken: string, clientId = client.id, call: TokenCall = {}) =>
      post({ grant_type: 'refresh_token', client_id: clientId, refresh_token: refreshToken }, call),

    get: (accessToken: string, url = '/v2/me') =>
      app.inject({ url, headers: { authorization: `Bearer ${accessToken}` } }),
  }
}

export type Auth = Awaited<ReturnType<typeof createAuth>>
