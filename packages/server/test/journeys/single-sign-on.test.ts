import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Browser, BrowserContext, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { challengeOf, verifier } from '../support/authorization.ts'
import { browserAbsent, launchBrowser, look, screensByLanguage } from '../support/chromium.ts'
import { certificateOf, type IdentityProvider, startIdentityProvider } from '../support/identity-provider.ts'
import { removeData, type Service, startService } from '../support/running-service.ts'

const email = 'ada@corp.example'
const password = 'a harbour with 9 lanterns'

let service: Service
let idp: IdentityProvider
let browser: Browser
let application: Server
let redirectUri: string
let clientId: string
let origin: string

beforeAll(async () => {
  service = await startService()
  origin = new URL(service.baseUrl).origin
  idp = await startIdentityProvider()
  application = createServer((_request, response) => {
    response.setHeader('content-type', 'text/html')
    response.end('<!doctype html><title>Application</title><h1>Back in the application</h1>')
  })
  await new Promise<void>((resolve) => application.listen(0, '127.0.0.1', resolve))
  redirectUri = `http://127.0.0.1:${(application.address() as AddressInfo).port}/signed-in`
  const client = await service.operate(
    'client',
    'create',
    '--name',
    'Desk',
    '--redirect-uri',
    redirectUri,
    '--json',
  )
  clientId = (JSON.parse(client) as { id: string }).id
  await service.operate('user', 'create', '--email', email, '--role', 'viewer', '--password', password)
  if (!browserAbsent) browser = await launchBrowser()
})

afterAll(async () => {
  await browser?.close()
  await idp.close()
  application.close()
  expect(await service.stop()).toBe(0)
  removeData(service)
})

const parameters = (): Record<string, string> => ({
  client_id: clientId,
  redirect_uri: redirectUri,
  response_type: 'code',
  code_challenge: challengeOf(verifier),
  state: 's',
})

async function token(fields: Record<string, string>): Promise<Response> {
  return fetch(`${origin}/v2/auth/token`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ client_id: clientId, ...fields }),
  })
}

const signInWithPassword = () => token({ grant_type: 'password', username: email, password })

const readsDatasources = async (accessToken: string): Promise<number> =>
  (await fetch(`${origin}/v2/datasources`, { headers: { authorization: `Bearer ${accessToken}` } })).status

/** Where a program is told to go for this address. */
async function nextStep(): Promise<URL> {
  const reply = await fetch(`${origin}/v2/oauth/check-email`, {
    method: 'POST',
    body: new URLSearchParams({ ...parameters(), username: email }),
  })
  expect(reply.status).toBe(204)
  return new URL(reply.headers.get('location') ?? '')
}

/** A browser of its own, at the step after the address. */
async function enterAddress(context: BrowserContext): Promise<Page> {
  const page = await context.newPage()
  await page.goto(`${origin}/v2/oauth/authorize?${new URLSearchParams(parameters())}`)
  await page.fill('#username', email)
  await page.click('button')
  return page
}

/** The tokens of a browser that came back to the application. */
async function tokensOf(page: Page): Promise<{ access_token: string; refresh_token: string }> {
  await page.waitForURL(`${redirectUri}**`)
  const code = new URL(page.url()).searchParams.get('code') ?? ''
  const reply = await token({
    grant_type: 'authorization_code',
    code,
    redirect_uri: redirectUri,
    code_verifier: verifier,
  })
  expect(reply.status).toBe(200)
  return (await reply.json()) as { access_token: string; refresh_token: string }
}

test('a company configures SAML, comes in through its provider, makes that mandatory and goes back to passwords', async (test) => {
  if (browserAbsent) test.skip(browserAbsent)
  const newContext = () => browser.newContext({ ignoreHTTPSErrors: true })

  await service.operate('domain', 'verify', '--domain', 'corp.example', '--company', service.companyId)
  const config = await service.dataOf<{ acsUrl: string; metadataUrl: string; mandatory: boolean }>(
    'PUT',
    '/entities/sso/config',
    {
      idpMetadataXml: await idp.metadata(),
      attributeMapping: { email: 'attributes.email' },
    },
  )
  expect(config.mandatory).toBe(false)
  idp.state.acsUrl = config.acsUrl
  idp.state.signingCert = certificateOf(await (await fetch(config.metadataUrl)).text())
  idp.state.person = { nameId: 'ada-1', attributes: { email } }

  // It cannot be made mandatory before anybody has come in by it.
  expect((await service.call('PATCH', '/v2/entities/sso/config', { mandatory: true })).status).toBe(409)
  expect((await nextStep()).pathname).toBe('/v2/oauth/authorize')
  const before = (await (await signInWithPassword()).json()) as {
    access_token: string
    refresh_token: string
  }

  const first = await newContext()
  const page = await enterAddress(first)
  await page.waitForSelector('#password')
  await page.click('text=Use single sign-on')
  const through = await tokensOf(page)
  expect(await page.textContent('h1')).toBe('Back in the application')
  expect(await readsDatasources(through.access_token)).toBe(200)
  await first.close()

  await service.dataOf('PATCH', '/entities/sso/config', { mandatory: true })
  expect((await nextStep()).pathname).toBe('/v2/sso/saml/login')
  expect((await signInWithPassword()).status).toBe(401)
  const refreshed = await token({ grant_type: 'refresh_token', refresh_token: before.refresh_token })
  expect(refreshed.status).toBe(400)
  expect(await readsDatasources(before.access_token)).toBe(401)
  expect(await readsDatasources(through.access_token)).toBe(200)

  const second = await newContext()
  const mandatory = await tokensOf(await enterAddress(second))
  expect(await readsDatasources(mandatory.access_token)).toBe(200)
  await second.close()

  expect(await service.dataOf('DELETE', '/entities/sso/config')).toEqual({})
  expect((await service.call('DELETE', '/v2/entities/sso/config')).status).toBe(404)
  expect((await nextStep()).pathname).toBe('/v2/oauth/authorize')
  expect((await signInWithPassword()).status).toBe(200)
  const third = await newContext()
  const again = await enterAddress(third)
  await again.fill('#password', password)
  await again.click('button')
  expect(await readsDatasources((await tokensOf(again)).access_token)).toBe(200)
  await third.close()

  const log = await service.dataOf<{ action: string; outcome: string }[]>(
    'GET',
    '/entities/audit-log?category=sso&perPage=100',
  )
  const said = log.map(({ action, outcome }) => `${action} ${outcome}`).toReversed()
  expect(said.filter((entry) => entry === 'sso-sign-in success')).toHaveLength(2)
  expect(said).toContain('sso-required failure')
  expect(said.at(-1)).toBe('sso-config-delete success')
})

test.for(screensByLanguage('fr'))(
  'the pages of single sign-on on $name in $lang: on the way, known and refused',
  async ({ width, height, colorScheme, name, lang }, test) => {
    if (browserAbsent) test.skip(browserAbsent)
    await service.operate('domain', 'verify', '--domain', 'corp.example', '--company', service.companyId)
    const idpMetadataXml = await idp.metadata()
    const config = await service.dataOf<{ acsUrl: string; metadataUrl: string }>(
      'PUT',
      '/entities/sso/config',
      {
        idpMetadataXml,
        attributeMapping: { email: 'attributes.email' },
      },
    )
    idp.state.acsUrl = config.acsUrl
    idp.state.signingCert = certificateOf(await (await fetch(config.metadataUrl)).text())
    const viewport = { width, height }
    const context = await browser.newContext({ ignoreHTTPSErrors: true, viewport, colorScheme, locale: 'en' })
    const page = await context.newPage()
    const shot = (step: string) =>
      look(page, `single-sign-on ${step} ${lang} on ${name}`.replaceAll(' ', '-'))
    const login = `${origin}/v2/sso/saml/login?domain=corp.example&lang=${lang}`

    // The page goes on by itself: it is looked at without that.
    const way = '**/sso/saml/login**'
    await page.route(way, async (route) => {
      const response = await route.fetch()
      const body = (await response.text()).replace(/<meta http-equiv="refresh"[^>]*>/, '')
      await route.fulfill({ response, body })
    })
    await page.goto(login)
    await shot('redirect')
    await page.unroute(way)

    idp.state.person = { nameId: 'ada-1', attributes: { email } }
    await page.goto(login)
    await page.waitForSelector('strong')
    expect(await page.textContent('strong')).toBe(email)
    expect(await page.getAttribute('html', 'lang')).toBe(lang)
    await shot('known')

    idp.state.person = { nameId: 'eve', attributes: { email: 'eve@corp.example' } }
    await page.goto(login)
    await page.waitForSelector('code')
    expect(await page.textContent('h1')).toBe(
      lang === 'fr' ? 'La connexion a échoué' : 'Signing in has failed',
    )
    await shot('failure')
    await context.close()
  },
)
