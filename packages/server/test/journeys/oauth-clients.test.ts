import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import * as oauth from 'oauth4webapi'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import {
  type BrowserApplication,
  type Outcome,
  serveBrowserApplication,
} from '../support/browser-application.ts'
import { browserAbsent, launchBrowser } from '../support/chromium.ts'
import { createFormBrowser, fetched } from '../support/form-browser.ts'
import { removeData, type Service, startService } from '../support/running-service.ts'

/** Ordinary OAuth clients of each kind against a running service, which they know nothing of but its address. */

let service: Service
let issuer: URL
let browser: Browser
let application: BrowserApplication
let otherApplication: BrowserApplication

beforeAll(async () => {
  service = await startService()
  issuer = new URL(new URL(service.baseUrl).origin)
  application = await serveBrowserApplication()
  otherApplication = await serveBrowserApplication()
  if (!browserAbsent) browser = await launchBrowser()
})

afterAll(async () => {
  await browser?.close()
  application?.close()
  otherApplication?.close()
  expect(await service?.stop()).toBe(0)
  if (service) removeData(service)
})

const options = { [oauth.allowInsecureRequests]: true } as const

async function discover(): Promise<oauth.AuthorizationServer> {
  const reply = await oauth.discoveryRequest(issuer, { algorithm: 'oauth2', ...options })
  return oauth.processDiscoveryResponse(issuer, reply)
}

async function createClient(...more: string[]): Promise<oauth.Client> {
  const made = await service.operate('client', 'create', '--name', 'A client', '--json', ...more)
  return { client_id: (JSON.parse(made) as { id: string }).id }
}

/** An authorization request with what its answer is held against. */
async function request(server: oauth.AuthorizationServer, { client_id }: oauth.Client, redirect_uri: string) {
  const verifier = oauth.generateRandomCodeVerifier()
  const state = oauth.generateRandomState()
  const address = new URL(server.authorization_endpoint ?? '')
  address.search = new URLSearchParams({
    client_id,
    redirect_uri,
    response_type: 'code',
    state,
    code_challenge: await oauth.calculatePKCECodeChallenge(verifier),
    code_challenge_method: 'S256',
  }).toString()
  return { address, verifier, state }
}

/** Signs the administrator in through the pages. @returns where the last form is redirected to */
async function walk(address: URL): Promise<string> {
  const { email, password } = service.admin
  const pages = createFormBrowser(fetched(issuer.origin))
  const second = await pages.submit(await pages.open(address.href), { username: email })
  const last = await pages.submit(second, { password })
  expect(last.status).toBe(303)
  return String(last.reply.headers.location)
}

async function redeem(
  server: oauth.AuthorizationServer,
  client: oauth.Client,
  { verifier, state }: { verifier: string; state: string },
  returned: URL,
  redirectUri: string,
) {
  const answer = oauth.validateAuthResponse(server, client, returned, state)
  const none = oauth.None()
  return oauth.processAuthorizationCodeResponse(
    server,
    client,
    await oauth.authorizationCodeGrantRequest(server, client, none, answer, redirectUri, verifier, options),
  )
}

const statusWith = async (accessToken: string): Promise<number> => {
  const headers = { authorization: `Bearer ${accessToken}` }
  return (await fetch(`${service.baseUrl}/entities/users/me`, { headers })).status
}

test('a client library finds everything by itself: discovery, code, refresh, revocation and errors', async () => {
  const redirectUri = 'https://app.example/signed-in'
  const client = await createClient('--redirect-uri', redirectUri)
  const server = await discover()
  const asked = await request(server, client, redirectUri)
  const granted = await redeem(server, client, asked, new URL(await walk(asked.address)), redirectUri)
  expect(await statusWith(granted.access_token)).toBe(200)

  const token = granted.refresh_token ?? ''
  const refreshed = await oauth.processRefreshTokenResponse(
    server,
    client,
    await oauth.refreshTokenGrantRequest(server, client, oauth.None(), token, options),
  )
  expect(await statusWith(refreshed.access_token)).toBe(200)
  await oauth.processRevocationResponse(
    await oauth.revocationRequest(server, client, oauth.None(), token, options),
  )
  await expect.poll(() => statusWith(refreshed.access_token)).toBe(401)

  const wrong = await request(server, client, redirectUri)
  wrong.address.searchParams.set('response_type', 'token')
  const reply = await fetch(wrong.address, { redirect: 'manual' })
  const back = new URL(reply.headers.get('location') ?? '')
  expect(() => oauth.validateAuthResponse(server, client, back, wrong.state)).toThrow(
    expect.objectContaining({ error: 'unsupported_response_type' }),
  )
})

test('the metadata names only what there is', async () => {
  const server = await discover()
  expect(server).toEqual({
    issuer: issuer.origin,
    authorization_endpoint: `${issuer.origin}/v2/oauth/authorize`,
    token_endpoint: `${issuer.origin}/v2/auth/token`,
    revocation_endpoint: `${issuer.origin}/v2/oauth/revoke`,
    response_types_supported: ['code'],
    response_modes_supported: ['query'],
    grant_types_supported: ['password', 'refresh_token', 'authorization_code'],
    code_challenge_methods_supported: ['S256'],
    token_endpoint_auth_methods_supported: ['none'],
    revocation_endpoint_auth_methods_supported: ['none'],
    authorization_response_iss_parameter_supported: true,
    ui_locales_supported: ['en', 'fr'],
    service_documentation: `${issuer.origin}/docs`,
  })
})

test('an application on a device listens on any free port of the loopback address', async () => {
  const client = await createClient('--native', '--redirect-uri', 'http://127.0.0.1/callback')
  const server = await discover()
  for (let start = 0; start < 2; start++) {
    const { promise: returned, resolve } = Promise.withResolvers<URL>()
    const listener = createServer(({ url }, response) => {
      response.end('You can close this window.')
      resolve(new URL(url ?? '', 'http://127.0.0.1'))
    })
    await new Promise<void>((done) => listener.listen(0, '127.0.0.1', done))
    const redirectUri = `http://127.0.0.1:${(listener.address() as AddressInfo).port}/callback`
    try {
      const asked = await request(server, client, redirectUri)
      const location = await walk(asked.address)
      expect(location.startsWith(`${redirectUri}?`)).toBe(true)
      await fetch(location)
      const granted = await redeem(server, client, asked, await returned, redirectUri)
      expect(await statusWith(granted.access_token)).toBe(200)
    } finally {
      listener.close()
      listener.closeAllConnections()
    }
  }
})

/** Signs the administrator in on the pages of the service, in the browser. */
async function signIn(page: Page): Promise<void> {
  await page.fill('#username', service.admin.email)
  await page.click('button')
  await page.fill('#password', service.admin.password)
  await page.click('button')
}

async function outcomeOf(page: Page): Promise<Outcome> {
  await page.waitForSelector('#outcome:not(:empty)')
  return JSON.parse((await page.textContent('#outcome')) ?? '')
}

/** What a page of this origin can read, by calls that need a preflight and calls that need none. */
async function readFrom(page: Page, { origin }: BrowserApplication, accessToken: string) {
  await page.goto(`${origin}/blank`)
  return page.evaluate(
    async ([base, token]) => {
      const outcome = async (path: string, init: RequestInit): Promise<number | string> => {
        try {
          return (await fetch(`${base}${path}`, init)).status
        } catch (error) {
          return (error as Error).name
        }
      }
      const body = new URLSearchParams({ grant_type: 'refresh_token', client_id: 'x', refresh_token: 'x' })
      return [
        await outcome('/entities/users/me', { headers: { authorization: `Bearer ${token}` } }),
        await outcome('/entities/users/me', {}),
        await outcome('/auth/token', { method: 'POST', body }),
        await outcome('/nothing', {}),
      ]
    },
    [service.baseUrl, accessToken] as const,
  )
}

const unreadable = ['TypeError', 'TypeError', 'TypeError', 'TypeError']

test('a page of a registered origin signs in and calls the interface, and a page of another one reads nothing', async (context) => {
  if (browserAbsent) context.skip(browserAbsent)
  const [redirectUri, origin] = [`${application.origin}/signed-in`, application.origin]
  const client = await createClient('--redirect-uri', redirectUri, '--origin', origin)
  application.configure({ issuer: issuer.origin, clientId: client.client_id })
  const tab = await browser.newContext()
  try {
    const page = await tab.newPage()
    await page.goto(application.origin)
    await page.waitForSelector('#username')
    await signIn(page)
    await page.waitForURL(`${redirectUri}**`)
    const { accessToken = '', ...outcome } = await outcomeOf(page)
    expect(outcome).toEqual({
      status: 200,
      measures: expect.any(Number),
      refused: { status: 401, challenge: 'Bearer' },
      refreshed: true,
    })
    expect(outcome.measures).toBeGreaterThan(0)

    expect(await readFrom(page, otherApplication, accessToken)).toEqual(unreadable)
    expect(await readFrom(page, application, accessToken)).toEqual([200, 401, 401, 404])
    await service.operate('client', 'update', '--client', client.client_id, '--remove-origin', origin)
    await expect.poll(() => readFrom(page, application, accessToken)).toEqual(unreadable)
  } finally {
    await tab.close()
  }
})

test('a browser goes on to an application on the same device, by every kind of address', async (context) => {
  if (browserAbsent) context.skip(browserAbsent)
  const listener = createServer((_request, response) => response.end('You can close this window.'))
  await new Promise<void>((done) => listener.listen(0, '::1', done))
  const { port } = listener.address() as AddressInfo
  const uris = ['com.example.millrace-test:/signed-in', 'http://[::1]/callback']
  const client = await createClient('--native', ...uris.flatMap((uri) => ['--redirect-uri', uri]))
  const server = await discover()
  try {
    for (const redirectUri of [uris[0] ?? '', `http://[::1]:${port}/callback`]) {
      const tab = await browser.newContext()
      const page = await tab.newPage()
      const asked: string[] = []
      const complaints: string[] = []
      page.on('request', (each) => asked.push(each.url()))
      page.on('console', (message) => complaints.push(message.text()))
      await page.goto((await request(server, client, redirectUri)).address.href)
      await signIn(page)
      await expect.poll(() => asked.find((url) => url.startsWith(`${redirectUri}?code=`))).toBeDefined()
      expect(complaints.filter((text) => text.includes('Content Security Policy'))).toEqual([])
      await tab.close()
    }
  } finally {
    listener.close()
    listener.closeAllConnections()
  }
})
