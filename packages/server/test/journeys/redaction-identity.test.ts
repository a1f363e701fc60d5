import { randomBytes } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { stepOf, codeOf as totpOf } from '../../src/features/identity/sign-in/second-factor/totp.ts'
import { silentLogger } from '../../src/platform/logger.ts'
import { embeddedAddresses } from '../../src/platform/stores/embedded-postgres.ts'
import { openRelational, type Relational } from '../../src/platform/stores/relational.ts'
import { secretIn } from '../support/accounts.ts'
import { fromBase32 } from '../support/authenticator.ts'
import { challengeOf, verifier } from '../support/authorization.ts'
import { createFormBrowser, fetched, type Shown } from '../support/form-browser.ts'
import { certificateOf, type IdentityProvider, startIdentityProvider } from '../support/identity-provider.ts'
import { removeData, type Service, startService } from '../support/running-service.ts'
import { everyRow, expectNowhere } from '../support/secret-search.ts'

/**
 * One run through every way to sign in, with every line logged. A credential may stand in the one
 * answer or mail that gives it, and nowhere else: each step puts its secrets into `secrets`, and looks at the database
 * while they are good.
 */

const redirectUri = 'https://app.example/signed-in'
const metricsToken = 'a token for metrics'
const email = 'ada@corp.example'
const passwords = {
  first: `first ${randomBytes(12).toString('hex')}`,
  wrong: `wrong ${randomBytes(12).toString('hex')}`,
  invited: `invited ${randomBytes(12).toString('hex')}`,
  reset: `reset ${randomBytes(12).toString('hex')}`,
}

let service: Service
let relational: Relational
let idp: IdentityProvider
let origin: string
let clientId: string

/** An attribute that the identity provider sends and nobody asked for. */
const clearance = `clearance ${randomBytes(12).toString('hex')}`

const secrets: Record<string, string> = { ...passwords }
/** What refused calls were answered. */
const refusals: string[] = []
/** The database, after each step. */
const rows: string[] = []

beforeAll(async () => {
  service = await startService({
    env: { MILLRACE_LOG_LEVEL: 'trace', MILLRACE_METRICS_TOKEN: metricsToken },
  })
  origin = new URL(service.baseUrl).origin
  const { owner } = embeddedAddresses(join(service.dataDirectory, 'run'))
  relational = openRelational({ address: owner, logger: silentLogger, connections: 2 })
  idp = await startIdentityProvider()
  const made = await service.operate(
    'client',
    'create',
    '--name',
    'Desk',
    '--redirect-uri',
    redirectUri,
    '--json',
  )
  clientId = (JSON.parse(made) as { id: string }).id
  const user = ['--email', email, '--role', 'viewer', '--password', passwords.first]
  await service.operate('user', 'create', ...user)
})

afterAll(async () => {
  await relational?.close()
  await idp?.close()
  expect(await service?.stop()).toBe(0)
  if (service) removeData(service)
})

function keep(name: string, secret: string | null | undefined): string {
  if (!secret) throw new Error(`there is no ${name}`)
  secrets[name] = secret
  return secret
}

const lookAtRows = async () => void rows.push(await everyRow(relational))

interface Sent {
  readonly method?: string
  readonly token?: string
  readonly body?: unknown
  readonly type?: string
}

/** Sends a request. A refusal is kept; whether there is one is for the caller to say. */
async function send(path: string, status: number, sent: Sent = {}): Promise<string> {
  const { method = sent.body === undefined ? 'GET' : 'POST', token, body, type = 'application/json' } = sent
  const reply = await fetch(path.startsWith('http') ? path : `${origin}${path}`, {
    method,
    redirect: 'manual',
    headers: {
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
      ...(body === undefined ? {} : { 'content-type': type }),
    },
    ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  })
  const text = await reply.text()
  expect(reply.status, `${path} ${text}`).toBe(status)
  if (status >= 400) refusals.push(text, ...[...reply.headers].map((pair) => pair.join(': ')))
  return reply.headers.get('location') ?? text
}

/** What an operation answers. */
async function call<T>(path: string, status: number, sent: Sent = {}): Promise<T> {
  const text = await send(`/v2${path}`, status, { token: service.token, ...sent })
  return (JSON.parse(text) as { data: T }).data
}

const form = (fields: Record<string, string>): Sent => ({
  body: new URLSearchParams(fields).toString(),
  type: 'application/x-www-form-urlencoded',
})

const grant = (status: number, fields: Record<string, string>) =>
  send('/v2/auth/token', status, { body: { client_id: clientId, ...fields } })

function keepPair(name: string, text: string): string {
  const pair = JSON.parse(text) as { access_token: string; refresh_token: string }
  keep(`${name}: refresh token`, pair.refresh_token)
  return keep(`${name}: access token`, pair.access_token)
}

const parameters = (): Record<string, string> => ({
  client_id: clientId,
  redirect_uri: redirectUri,
  response_type: 'code',
  state: 's',
  code_challenge: challengeOf(verifier),
})

const exchange = (status: number, code: string, codeVerifier = verifier) =>
  grant(status, {
    grant_type: 'authorization_code',
    code,
    redirect_uri: redirectUri,
    code_verifier: codeVerifier,
  })

const codeIn = (page: Shown): string | null =>
  new URL(String(page.reply.headers.location)).searchParams.get('code')

/** The last mail to an address, once there are so many. */
async function mailTo(address: string, count = 1): Promise<string> {
  const outbox = join(service.dataDirectory, 'outbox')
  const mails = () =>
    readdirSync(outbox)
      .filter((name) => name.endsWith('.eml'))
      .toSorted()
      .map((name) => readFileSync(join(outbox, name), 'utf8'))
      .filter((text) => text.includes(`To: ${address}`))
  await expect.poll(() => mails().length).toBe(count)
  return mails().at(-1)?.replaceAll('=\n', '').replaceAll('=3D', '=') ?? ''
}

async function passAuthorizationCodes(): Promise<void> {
  const browser = createFormBrowser(fetched(origin))
  const first = await browser.open(`/v2/oauth/authorize?${new URLSearchParams(parameters())}`)
  const second = await browser.submit(first, { username: email })
  keep('code: form token', second.hidden.form_token)
  const refused = await browser.submit(second, { password: passwords.wrong })
  expect(refused.status).toBe(401)
  const code = keep('code', codeIn(await browser.submit(refused, { password: passwords.first })))
  await lookAtRows()
  await exchange(400, code, 'x'.repeat(43))
  keepPair('code', await exchange(200, code))
  await exchange(400, code)
  await grant(400, { grant_type: 'authorization_code', code, redirect_uri: redirectUri })
  await send(`/v2/nothing?code=${code}`, 404)
}

async function passSecondSteps(): Promise<void> {
  const fields = { grant_type: 'password', username: email, password: passwords.first }
  const token = keepPair('authenticator', await grant(200, fields))
  const url = '/entities/users/me/authenticator'
  await call(url, 403, { token, body: { password: passwords.wrong } })
  const offer = await call<{ secret: string; address: string }>(url, 200, {
    token,
    body: { password: passwords.first },
  })
  const secret = fromBase32(keep('authenticator: secret', offer.secret))
  keep('authenticator: bytes of the secret', secret.toString('hex'))
  keep('authenticator: address', offer.address)
  await lookAtRows()
  await call(`${url}/confirm`, 400, { token, body: { code: offer.secret } })
  const code = totpOf(secret, stepOf(Date.now()))
  const { recoveryCodes } = await call<{ recoveryCodes: string[] }>(`${url}/confirm`, 200, {
    token,
    body: { code },
  })
  for (const [i, each] of recoveryCodes.entries()) {
    keep(`recovery code ${i}`, each)
    keep(`recovery code ${i} without dashes`, each.replaceAll('-', ''))
  }
  await lookAtRows()

  const browser = createFormBrowser(fetched(origin))
  const first = await browser.open(`/v2/oauth/authorize?${new URLSearchParams(parameters())}`)
  const second = await browser.submit(first, { username: email })
  const asked = await browser.submit(second, { password: passwords.first })
  keep('second step: sign-in', asked.hidden.sign_in)
  await lookAtRows()
  const again = await browser.submit(asked, { code: `${recoveryCodes[0]}x` })
  const done = await browser.submit(again, { code: recoveryCodes[1] ?? '' })
  keepPair('second step', await exchange(200, keep('second step: code', codeIn(done))))

  await grant(401, fields)
  await grant(401, { ...fields, 'x-otp-code': recoveryCodes[1] ?? '' })
  await grant(401, { ...fields, 'x-otp-code': offer.secret })
  keepPair('recovery code', await grant(200, { ...fields, 'x-otp-code': recoveryCodes[2] ?? '' }))
}

/** A link: looked at, bent, used with a password that is too short, used, used again. */
async function passLink(name: string, url: string, password: string): Promise<void> {
  const secret = keep(`${name}: link`, secretIn(url))
  await lookAtRows()
  await send(`/v2/oauth/set-password?token=${secret}x`, 400)
  await send(`/v2/oauth/set-password/?token=${secret}`, 404)
  const browser = createFormBrowser(fetched(origin))
  const page = await browser.open(`/v2/oauth/set-password?token=${secret}`)
  // The page with the form again carries the secret, as it has to.
  const short = await browser.submit(page, { password: 'short', repeated: 'short' })
  expect(short.status).toBe(400)
  expect((await browser.submit(short, { password, repeated: password })).status).toBe(200)
  const late = await browser.submit(short, { password, repeated: password })
  expect(late.status).toBeGreaterThanOrEqual(400)
  refusals.push(late.text)
  await lookAtRows()
}

async function passLinks(): Promise<void> {
  const [roles, teams] = [
    await call<{ id: string; name: string }[]>('/entities/roles', 200),
    await call<{ id: string }[]>('/entities/teams', 200),
  ]
  const guest = {
    email: 'guest@free.example',
    roleId: roles.find(({ name }) => name === 'viewer')?.id,
    resourceGroupIds: teams.map(({ id }) => id),
  }
  const { url } = await call<{ url: string }>('/entities/invitations', 200, { body: guest })
  await call('/entities/invitations', 409, { body: guest })
  await passLink('invitation', url, passwords.invited)
  await call('/entities/users/password-reset', 200, { body: { email: guest.email } })
  await passLink('reset', await mailTo(guest.email, 2), passwords.reset)
}

async function passProvisioning(): Promise<void> {
  await call('/entities/scim/config', 200, { method: 'PATCH', body: { enabled: true } })
  const { token } = await call<{ token: string }>('/entities/scim/tokens', 200, { body: { label: 'One' } })
  keep('SCIM token', token)
  keep('SCIM token without its prefix', token.replace('scim_', ''))
  await lookAtRows()
  const type = 'application/scim+json'
  await send('/v2/scim/v2/Users?count=1', 200, { token })
  await send(`/v2/scim/v2/Users?filter=${encodeURIComponent(`userName like "${token}"`)}`, 400, { token })
  await send('/v2/scim/v2/Users', 400, { token, type, body: `{"token":"${token}` })
  await send(`/v2/scim/v2/Users?access_token=${token}`, 401)
  await send('/v2/scim/v2/Users', 401, { token: `${token}x` })
  await send('/v2/datasources', 401, { token })
}

async function passSingleSignOn(): Promise<void> {
  await service.operate('domain', 'verify', '--domain', 'corp.example', '--company', service.companyId)
  const config = await call<{ acsUrl: string; metadataUrl: string }>('/entities/sso/config', 200, {
    method: 'PUT',
    body: { idpMetadataXml: await idp.metadata(), attributeMapping: { email: 'attributes.email' } },
  })
  idp.state.acsUrl = config.acsUrl
  idp.state.signingCert = certificateOf(await (await fetch(config.metadataUrl)).text())
  idp.state.person = { nameId: 'ada-1', attributes: { email, clearance } }

  const browser = createFormBrowser(fetched(origin))
  const login = new URLSearchParams({ ...parameters(), domain: 'corp.example' })
  const page = await browser.open(`/v2/sso/saml/login?${login}`)
  expect(page.status).toBe(200)
  const url = /<a href="([^"]*)">/.exec(page.text)?.[1]?.replaceAll('&amp;', '&') ?? ''
  keep('SAML request', new URL(url).searchParams.get('SAMLRequest'))
  keep('signature of the SAML request', new URL(url).searchParams.get('Signature'))
  for (const [name, value] of browser.cookies) if (name.startsWith('sso_')) keep('SAML: cookie', value)
  const { samlResponse } = await idp.answer(url)
  const xml = Buffer.from(samlResponse, 'base64').toString()
  keep('SAML response', samlResponse.slice(0, 200))
  keep('SAML response in XML', xml.slice(0, 100))
  const [, signature] = /<(?:ds:)?SignatureValue>([^<]{40,})</.exec(xml) ?? []
  keep('signature of the assertion', signature)
  const [assertion] = /<saml:Assertion[^>]*>/.exec(xml) ?? []
  keep('assertion', assertion)

  const acs = (status: number, message: string) =>
    send(config.acsUrl, status, form({ SAMLResponse: message, RelayState: '' }))
  await acs(403, Buffer.from(xml.replace('ada-1', 'eve-1')).toString('base64'))
  await acs(403, samlResponse.slice(0, -40))
  const finish = await acs(303, samlResponse)
  const result = keep('SAML: result', new URL(finish).searchParams.get('result'))
  await lookAtRows()
  await acs(403, samlResponse)
  const back = await browser.open(finish)
  expect(back.status).toBe(303)
  keepPair('SAML', await exchange(200, keep('SAML: code', codeIn(back))))
  await send(`${new URL(finish).pathname}?result=${result}`, 403)
}

test('U06: nothing that lets a user in stands in the log, the metrics, the audit log, a refusal or a row', async () => {
  await passAuthorizationCodes()
  await passSecondSteps()
  await passLinks()
  await passProvisioning()
  await passSingleSignOn()
  await lookAtRows()

  const metrics = await send('/metrics', 200, { token: metricsToken })
  const audit = await send('/v2/entities/audit-log?format=csv', 200, { token: service.token })
  for (const action of ['sso-sign-in', 'scim-token-create', 'password-reset', 'recovery-code-use'])
    expect(audit).toContain(action)
  const log = service.output()
  for (const path of ['/v2/entities/scim/tokens', '/v2/entities/invitations', '/v2/scim/v2/Users'])
    expect(log).toContain(path)
  expect(rows.at(-1)).toContain(email)
  expect(refusals.length).toBeGreaterThan(20)
  expect(Object.keys(secrets).length).toBeGreaterThan(45)
  const places = { log, metrics, audit, refusals: refusals.join('\n') }
  expectNowhere(secrets, { ...places, rows: rows.join('\n') })
  // What a response says is kept until the browser comes for it.
  expectNowhere({ clearance }, { ...places, rowsAfterwards: rows.at(-1) ?? '' })
})
