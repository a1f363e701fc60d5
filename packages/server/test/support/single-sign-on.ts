import type { LightMyRequestResponse } from 'fastify'
import { type Auth, type Body, createAuth, testOrigin, testRedirectUri } from './auth.ts'
import { challengeOf, verifier } from './authorization.ts'
import { second } from './fake-time.ts'
import {
  certificateOf,
  type IdentityProvider,
  type IdpPerson,
  startIdentityProvider,
} from './identity-provider.ts'
import { createTestDatabase, type TestDatabase } from './postgres.ts'
import { genuineResponse, requestIdOf } from './saml-forgery.ts'

/** Where sign-ins of `createBrowser` end. */
export const redirectUri = testRedirectUri

/** Single sign-on over a database of the test's own, with what goes out of the service in the hands of the test. */
export async function createSingleSignOnApp(relational: TestDatabase) {
  const seen = {
    /** What became of sign-ins, as the metrics count it. */
    outcomes: [] as string[],
    fetched: [] as string[],
    documents: new Map<string, string>(),
    records: new Map<string, string[]>(),
    origin: testOrigin,
  }
  const auth = await createAuth(relational, {
    origin: () => seen.origin,
    outgoing: {
      async fetchDocument(url) {
        seen.fetched.push(url)
        const document = seen.documents.get(url)
        if (document === undefined) throw new Error('the address is not public')
        return document
      },
      async postJson() {
        throw new Error('nothing is posted')
      },
      async askJson() {
        throw new Error('nothing is asked')
      },
      async send() {
        throw new Error('nothing is sent')
      },
      validate() {},
      async download() {
        throw new Error('nothing is downloaded')
      },
    },
    async resolveTxt(name) {
      const values = seen.records.get(name)
      if (!values) throw Object.assign(new Error('no record'), { code: 'ENOTFOUND' })
      return values.map((value) => [value.slice(0, 10), value.slice(10)])
    },
  })
  let since = auth.time.clock.now()
  const { singleSignOns } = auth.context.metrics
  const count = singleSignOns.inc.bind(singleSignOns) as (labels: { outcome: string }) => void
  singleSignOns.inc = ((labels: { outcome: string }) => {
    seen.outcomes.push(labels.outcome)
    count(labels)
  }) as typeof singleSignOns.inc

  return {
    auth,
    seen,
    singleSignOn: auth.services.singleSignOn,

    /** Users who were returned to the application with a code, oldest first, since `forget`. */
    async finished(): Promise<string[]> {
      const { rows } = await relational.pool.query<{ id: string }>(
        `select actor_id as id from audit_entries
         where action = 'application-authorize' and at >= $1 order by at, id`,
        [new Date(since)],
      )
      return rows.map(({ id }) => id)
    },

    forget(): void {
      seen.outcomes.length = 0
      auth.time.advance(second)
      since = auth.time.clock.now()
    },
  }
}

export type SingleSignOnApp = Awaited<ReturnType<typeof createSingleSignOnApp>>

const query = {
  redirect_uri: redirectUri,
  response_type: 'code',
  state: 's t&te',
  code_challenge: challengeOf(verifier),
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
      const reply = await get(
        `/v2/sso/saml/login?${new URLSearchParams({ client_id: app.auth.clientId, ...query, ...wanted })}`,
      )
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

/** A user of the domain whose name at the identity provider is that of the address. */
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
      app.forget()
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
