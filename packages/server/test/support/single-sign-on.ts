import type { LightMyRequestResponse } from 'fastify'
import { recordAudit } from '../../src/features/audit/audit-store.ts'
import {
  requireGrantableRole,
  requireGrantableTeams,
  requireNobodyAbove,
  requireUnprovisioned,
} from '../../src/features/identity/people/roles/grants.ts'
import { registerUserRoutes } from '../../src/features/identity/people/users/user-routes.ts'
import { createUserService } from '../../src/features/identity/people/users/user-service.ts'
import { createTokenStore } from '../../src/features/identity/sessions/tokens/token-store.ts'
import type { AuthorizationRequest } from '../../src/features/identity/sign-in/authorization-request.ts'
import type { FinishedSingleSignOn } from '../../src/features/identity/sign-in/sign-in-service.ts'
import { registerSamlRoutes } from '../../src/features/identity/single-sign-on/sign-in/saml-sign-in-routes.ts'
import { createSamlSignInStore } from '../../src/features/identity/single-sign-on/sign-in/saml-sign-in-store.ts'
import { registerSingleSignOnRoutes } from '../../src/features/identity/single-sign-on/single-sign-on-routes.ts'
import {
  createSingleSignOn,
  type SingleSignOn,
} from '../../src/features/identity/single-sign-on/single-sign-on-service.ts'
import { DomainError } from '../../src/platform/errors.ts'
import { negotiateLanguage } from '../../src/platform/i18n/language.ts'
import { silentLogger } from '../../src/platform/logger.ts'
import type { Relational } from '../../src/platform/stores/relational.ts'
import { type Auth, type AuthParts, type Body, createAuth } from './auth.ts'
import { second } from './fake-time.ts'
import {
  certificateOf,
  type IdentityProvider,
  type IdpPerson,
  startIdentityProvider,
} from './identity-provider.ts'
import { createTestDatabase, type TestDatabase } from './postgres.ts'
import { genuineResponse, requestIdOf } from './saml-forgery.ts'

export const redirectUri = 'https://app.example/signed-in'

/** Single sign-on over a database of the test's own, with what the other features would do seen by the test. */
export async function createSingleSignOnApp(relational: Relational) {
  const seen = {
    finished: [] as FinishedSingleSignOn[],
    resetMails: [] as string[],
    outcomes: [] as string[],
    fetched: [] as string[],
    documents: new Map<string, string>(),
    records: new Map<string, string[]>(),
    origin: 'https://millrace.example',
    /** Runs before a sign-in is handed over. */
    beforeFinish: undefined as (() => Promise<unknown>) | undefined,
  }
  let singleSignOn: SingleSignOn | undefined
  let auth: Auth | undefined

  const make = (parts: AuthParts): SingleSignOn => {
    singleSignOn ??= createSingleSignOn({
      relational,
      box: parts.box,
      lifecycle: parts.lifecycle,
      recordAudit,
      enqueueMail: parts.enqueueMail,
      origin: () => seen.origin,
      clock: parts.time.clock,
      signIns: (queries) => createSamlSignInStore(queries, parts.time.sqlNow),
      log: silentLogger,
      onOutcome: (outcome) => void seen.outcomes.push(outcome),
      async resolveTxt(name) {
        const values = seen.records.get(name)
        if (!values) throw Object.assign(new Error('no record'), { code: 'ENOTFOUND' })
        return values.map((value) => [value.slice(0, 10), value.slice(10)])
      },
      ports: {
        async readAuthorizationRequest(query, acceptLanguage): Promise<AuthorizationRequest> {
          if (query.redirect_uri !== redirectUri) throw new DomainError('invalidRedirectUri')
          return {
            clientId: query.client_id ?? '',
            redirectUri: query.redirect_uri,
            state: query.state,
            codeChallenge: query.code_challenge ?? '',
            language: negotiateLanguage(query.lang, acceptLanguage),
          }
        },
        async finishSignIn(finished) {
          await seen.beforeFinish?.()
          seen.finished.push(finished)
          return `${finished.request.redirectUri}?code=C${seen.finished.length}&state=${finished.request.state}`
        },
        findClient: (id) => createTokenStore(relational.db).findClient(id),
        keepSignIn: async (kept) => {
          if (!auth) throw new Error('nothing signs in yet')
          return auth.signInService.keepSingleSignOn(kept)
        },
        async fetchDocument(url) {
          seen.fetched.push(url)
          const document = seen.documents.get(url)
          if (document === undefined) throw new Error('the address is not public')
          return document
        },
        requireNobodyAbove,
        requireGrantableRole,
        requireGrantableTeams,
        requireUnprovisioned,
        async mailPasswordReset(_tx, userId) {
          seen.resetMails.push(userId)
        },
      },
    })
    return singleSignOn
  }

  auth = await createAuth(relational, {
    open: (scope, parts) => registerSamlRoutes(scope, make(parts)),
    authenticated(scope, parts) {
      registerSingleSignOnRoutes(scope, make(parts))
      const { lifecycle } = parts
      registerUserRoutes(scope, createUserService({ relational, lifecycle, recordAudit }))
    },
  })
  return { auth, seen, singleSignOn: make(auth.parts) }
}

export type SingleSignOnApp = Awaited<ReturnType<typeof createSingleSignOnApp>>

const query = {
  client_id: '65f0c0ffee5ca1ab1e0ddba1',
  redirect_uri: redirectUri,
  response_type: 'code',
  state: 's t&te',
  code_challenge: 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM',
  code_challenge_method: 'S256',
}

/** A browser with a cookie jar of its own that knows one way: to the identity provider and back. */
export function createBrowser(app: SingleSignOnApp, address = '192.0.2.7') {
  const cookies = new Map<string, string>()
  const headers = (): Record<string, string> => ({
    accept: 'text/html',
    ...(cookies.size > 0 ? { cookie: [...cookies].map(([k, v]) => `${k}=${v}`).join('; ') } : {}),
  })

  function keep(reply: LightMyRequestResponse): LightMyRequestResponse {
    for (const line of [reply.headers['set-cookie'] ?? []].flat()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? []
      if (/Max-Age=0/.test(line)) cookies.delete(name)
      else cookies.set(name, value)
    }
    return reply
  }

  const get = async (url: string) =>
    keep(await app.auth.app.inject({ url, headers: headers(), remoteAddress: address }))

  return {
    cookies,
    get,

    /** Begins a sign-in. @returns the reply, and where its page leads */
    async start(wanted: Record<string, string>): Promise<{ reply: LightMyRequestResponse; url: string }> {
      const reply = await get(`/v2/sso/saml/login?${new URLSearchParams({ ...query, ...wanted })}`)
      const link = /<a href="([^"]*)">/.exec(reply.body)?.[1] ?? ''
      return { reply, url: link.replaceAll('&amp;', '&') }
    },

    /** Cross-site, so that no cookie comes along (SameSite=Lax). */
    post: (companyId: string, fields: Record<string, string>) =>
      app.auth.app.inject({
        method: 'POST',
        url: `/v2/sso/saml/${companyId}/acs`,
        remoteAddress: address,
        headers: { 'content-type': 'application/x-www-form-urlencoded', accept: 'text/html' },
        payload: new URLSearchParams(fields).toString(),
      }),

    /** Goes where the response of the service leads, when it leads to the service. */
    async follow(reply: LightMyRequestResponse): Promise<LightMyRequestResponse> {
      const location = reply.headers.location ?? ''
      return location.startsWith(`${app.seen.origin}/`) ? get(location.slice(app.seen.origin.length)) : reply
    },
  }
}

export type Browser = ReturnType<typeof createBrowser>

/** The whole way. @returns the last reply */
export async function signInThrough(
  app: SingleSignOnApp,
  idp: IdentityProvider,
  domain: string,
  browser: Browser = createBrowser(app),
): Promise<LightMyRequestResponse> {
  const { reply, url } = await browser.start({ domain })
  if (reply.statusCode !== 200) return reply
  const { samlResponse, body } = await idp.answer(url)
  if (samlResponse === '') throw new Error(`the identity provider refuses: ${body}`)
  return browser.follow(await browser.post(app.auth.companyId, { SAMLResponse: samlResponse }))
}

export const mapping = {
  email: 'attributes.email',
  firstName: 'attributes.firstName',
  lastName: 'attributes.lastName',
  language: 'attributes.language',
}

/** An access token of an administrator. */
export async function tokenOf(auth: Auth, email: string, roleName = 'admin'): Promise<string> {
  await auth.addUser(email, undefined, roleName)
  return (await auth.signIn(email)).json().access_token
}

/** A company with a configuration, the verified domain `acme.example` and an administrator of that domain. */
export async function configureSingleSignOn(
  app: SingleSignOnApp,
  idp: IdentityProvider,
  fields: Record<string, unknown> = {},
): Promise<{ token: string; acsUrl: string; entityId: string }> {
  const { auth, singleSignOn } = app
  const token = await tokenOf(auth, 'root@acme.example')
  const body = { idpMetadataXml: await idp.metadata(), attributeMapping: mapping, ...fields }
  const saved = (await auth.call(token, 'PUT', '/v2/entities/sso/config', body)).json()
  if (saved.code !== 200) throw new Error(saved.message)
  await singleSignOn.domains.verifyByOperator(auth.companyId, 'acme.example')
  idp.state.acsUrl = saved.data.acsUrl
  const metadata = await auth.app.inject(`/v2/sso/saml/${auth.companyId}/metadata`)
  idp.state.signingCert = certificateOf(metadata.body)
  return { token, acsUrl: saved.data.acsUrl, entityId: saved.data.entityId }
}

/** A session that began in this way. */
export async function openSession(
  { auth }: SingleSignOnApp,
  email: string,
  method: 'password' | 'sso',
): Promise<void> {
  await auth.parts.relational.pool.query(
    `insert into refresh_tokens (id, token_hash, user_id, client_id, address, expires_at, method)
     select substr(md5($1 || $2), 1, 24), sha256(convert_to($1 || $2, 'UTF8')), id, $3, '192.0.2.1', now() + interval '1 day', $2
     from users where email = $1`,
    [email, method, auth.clientId],
  )
}

/** What an operation answered. */
export interface Envelope {
  code: number
  error_code?: number
  message: string
  data: Record<string, unknown> & { id: string }
}

type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'

/** Somebody of the domain whose name at the identity provider is that of the address. */
export const personOf = (name: string, attributes: IdpPerson['attributes'] = {}): IdpPerson => ({
  nameId: name,
  attributes: { email: `${name}@acme.example`, ...attributes },
})

export interface OpenedSingleSignOn {
  readonly relational: TestDatabase
  readonly app: SingleSignOnApp
  readonly idp: IdentityProvider
  /** Of the administrator of the verified domain. */
  readonly token: string
  readonly acsUrl: string
  readonly entityId: string
  /** Calls an operation, as that administrator unless another token is given. */
  call(method: Method, url: string, body?: Body, as?: string): Promise<Envelope>
  /** A second later nothing was seen yet: before each test, because responses are counted by the second. */
  forget(): void
  /** A whole sign-in in a new browser. @returns what became of it */
  signIn(who: IdpPerson, browser?: Browser): Promise<string | undefined>
  /** A sign-in that waits for its response, which is made and not yet posted. */
  begin(who: IdpPerson): Promise<BegunSignIn>
  close(): Promise<void>
}

export interface BegunSignIn {
  readonly browser: Browser
  readonly requestId: string
  /** XML. */
  readonly response: string
  readonly SAMLResponse: string
  post(): Promise<LightMyRequestResponse>
}

/** A database, the service over it, an identity provider and a company that is configured with it. */
export async function openSingleSignOn(): Promise<OpenedSingleSignOn> {
  const relational = await createTestDatabase()
  const app = await createSingleSignOnApp(relational)
  const idp = await startIdentityProvider()
  const configured = await configureSingleSignOn(app, idp)
  const { auth, seen } = app
  return {
    relational,
    app,
    idp,
    ...configured,
    call: async (method, url, body, as = configured.token) => (await auth.call(as, method, url, body)).json(),
    forget() {
      seen.outcomes.length = 0
      seen.finished.length = 0
      seen.beforeFinish = undefined
      auth.time.advance(second)
      idp.state.options = {}
    },
    async signIn(who, browser) {
      auth.time.advance(second)
      idp.state.person = who
      await signInThrough(app, idp, 'acme.example', browser)
      return seen.outcomes.at(-1)
    },
    async begin(who) {
      const browser = createBrowser(app)
      const requestId = requestIdOf((await browser.start({ domain: 'acme.example' })).url)
      const audience = configured.entityId
      const response = await genuineResponse(idp, who, { audience, inResponseTo: requestId })
      const SAMLResponse = Buffer.from(response).toString('base64')
      const post = () => browser.post(auth.companyId, { SAMLResponse })
      return { browser, requestId, response, SAMLResponse, post }
    },
    async close() {
      await auth.app.close()
      await idp.close()
      await relational.close()
    },
  }
}
