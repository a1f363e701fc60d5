import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import * as oauth from 'oauth4webapi'
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { browserAbsent, launchBrowser, look, screens } from '../support/chromium.ts'
import { removeData, type Service, startService } from '../support/running-service.ts'

let service: Service
let browser: Browser
/** The application that people sign in to: it shows what it is returned with. */
let application: Server
let redirectUri: string
let clientId: string

beforeAll(async () => {
  service = await startService()
  application = createServer((_request, response) => {
    response.setHeader('content-type', 'text/html')
    response.end('<!doctype html><title>Application</title><h1>Back in the application</h1>')
  })
  await new Promise<void>((resolve) => application.listen(0, '127.0.0.1', resolve))
  redirectUri = `http://127.0.0.1:${(application.address() as AddressInfo).port}/signed-in`
  const made = await service.operate(
    'client',
    'create',
    '--name',
    'Shop desk',
    '--redirect-uri',
    redirectUri,
    '--json',
  )
  clientId = (JSON.parse(made) as { id: string }).id
  if (!browserAbsent) browser = await launchBrowser()
})

afterAll(async () => {
  await browser?.close()
  application.close()
  expect(await service.stop()).toBe(0)
  removeData(service)
})

test.for(screens.flatMap((screen) => (['en', 'fr'] as const).map((lang) => ({ ...screen, lang }))))(
  'somebody signs in on $name in $lang, without scripts, and the application gets tokens',
  async ({ width, height, colorScheme, name, lang }, context) => {
    if (browserAbsent) context.skip(browserAbsent)
    const issuer = new URL(service.baseUrl)
    const discovery = await oauth.discoveryRequest(new URL(issuer.origin), {
      algorithm: 'oauth2',
      [oauth.allowInsecureRequests]: true,
    })
    const server = await oauth.processDiscoveryResponse(new URL(issuer.origin), discovery)
    const verifier = oauth.generateRandomCodeVerifier()
    const address = new URL(server.authorization_endpoint ?? '')
    for (const [key, value] of Object.entries({
      client_id: clientId,
      redirect_uri: redirectUri,
      response_type: 'code',
      state: 'a state',
      lang,
      code_challenge: await oauth.calculatePKCECodeChallenge(verifier),
      code_challenge_method: 'S256',
    }))
      address.searchParams.set(key, value)

    const tab = await browser.newContext({
      viewport: { width, height },
      colorScheme,
      javaScriptEnabled: false,
    })
    const page = await tab.newPage()
    const complaints: string[] = []
    page.on('console', (message) => {
      if (message.type() === 'error') complaints.push(message.text())
    })
    const shot = (step: string) => look(page, `${step} ${lang} on ${name}`.replaceAll(' ', '-'))

    await page.goto(address.href)
    await shot('address')
    await page.fill('#username', service.admin.email)
    await page.click('button')
    await page.waitForSelector('#password')
    await shot('password')
    await page.fill('#password', 'not the password')
    await page.click('button')
    await page.waitForSelector('[role=alert]')
    await shot('wrong password')
    await page.fill('#password', service.admin.password)
    await page.click('button')
    await page.waitForURL(`${redirectUri}**`)
    expect(await page.textContent('h1')).toBe('Back in the application')
    // A refused password is a 401, of which browsers tell the console.
    expect(complaints.filter((text) => !text.includes('401'))).toEqual([])

    const client: oauth.Client = { client_id: clientId }
    const answer = oauth.validateAuthResponse(server, client, new URL(page.url()), 'a state')
    const granted = await oauth.processAuthorizationCodeResponse(
      server,
      client,
      await oauth.authorizationCodeGrantRequest(server, client, oauth.None(), answer, redirectUri, verifier, {
        [oauth.allowInsecureRequests]: true,
      }),
    )
    const reply = await fetch(`${service.baseUrl}/datasources`, {
      headers: { authorization: `Bearer ${granted.access_token}` },
    })
    expect(reply.status).toBe(200)
    await tab.close()
  },
)
