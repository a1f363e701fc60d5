import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import * as oauth from 'oauth4webapi'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { signInWords } from '../../src/features/identity/sign-in/pages/sign-in-words.ts'
import { codeAt, fromBase32 } from '../support/authenticator.ts'
import { browserAbsent, launchBrowser, look, screensByLanguage } from '../support/chromium.ts'
import { linkMailedTo } from '../support/outbox.ts'
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

test.for(screensByLanguage('en'))(
  'a user signs in on $name in $lang, without scripts, and the application gets tokens',
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

test.for(screensByLanguage('fr'))(
  'every other page shows whole on $name in $lang, without scripts',
  async (screen, context) => {
    if (browserAbsent) context.skip(browserAbsent)
    const { width, height, colorScheme, name, lang } = screen
    const words = signInWords[lang]
    const newTab = () =>
      browser.newContext({ viewport: { width, height }, colorScheme, javaScriptEnabled: false })
    const shot = (page: Page, step: string) => look(page, `${step} ${lang} on ${name}`.replaceAll(' ', '-'))
    const origin = new URL(service.baseUrl).origin
    const email = `lena-${lang}-${width}@example.com`
    const password = 'a harbour with 9 lanterns'
    await service.operate('user', 'create', '--email', email, '--role', 'viewer', '--password', password)
    const client = [
      'client',
      'create',
      '--name',
      'Reports of others',
      '--third-party',
      '--redirect-uri',
      redirectUri,
    ]
    const { id } = JSON.parse(await service.operate(...client, '--json')) as { id: string }
    const challenge = await oauth.calculatePKCECodeChallenge(oauth.generateRandomCodeVerifier())
    const parameters = {
      client_id: id,
      redirect_uri: redirectUri,
      response_type: 'code',
      code_challenge: challenge,
      lang,
    }
    const address = `${origin}/v2/oauth/authorize?${new URLSearchParams(parameters)}`

    // Forgotten, mailed, chosen anew; then the link has ended.
    const first = await newTab()
    const page = await first.newPage()
    await page.goto(address)
    await page.fill('#username', email)
    await page.click('button')
    await page.click(`text=${words.forgot}`)
    await shot(page, 'forgotten')
    await page.click('button')
    await page.waitForSelector(`text=${words.mailSentTitle}`)
    await shot(page, 'mail sent')
    const link = `${await linkMailedTo(service, email)}&lang=${lang}`
    await page.goto(link)
    await shot(page, 'new password')
    await page.fill('#password', 'short')
    await page.fill('#repeated', 'short')
    await page.click('button')
    await page.waitForSelector(`text=${words.passwordFaults.tooShort}`)
    await shot(page, 'new password refused')
    const chosen = 'another harbour with 9 boats'
    await page.fill('#password', chosen)
    await page.fill('#repeated', chosen)
    await page.click('button')
    await page.waitForSelector(`text=${words.passwordSetTitle}`)
    await shot(page, 'password set')
    await page.goto(link)
    await shot(page, 'link ended')
    await page.goto(`${origin}/v2/oauth/authorize?client_id=x&lang=${lang}`)
    await shot(page, 'refused')
    await page.goto(
      `${origin}/v2/oauth/authorize?client_id=${id}&redirect_uri=${encodeURIComponent(redirectUri)}&code_challenge=x&lang=${lang}`,
    )
    await shot(page, 'refused challenge')
    await first.close()

    // With one-time codes, and an application of others that has to be let in.
    const token = await tokenOf(service, email, chosen)
    const asPerson = async (path: string, body: unknown) => {
      const reply = await fetch(`${service.baseUrl}/entities/users/me/authenticator${path}`, {
        method: 'POST',
        headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
        body: JSON.stringify(body),
      })
      return ((await reply.json()) as { data: { secret: string } }).data
    }
    const { secret } = await asPerson('', { password: chosen })
    const key = fromBase32(secret)
    await asPerson('/confirm', { code: codeAt(key, Date.now()) })
    const second = await newTab()
    const tab = await second.newPage()
    await tab.goto(address)
    await tab.fill('#username', email)
    await tab.click('button')
    await tab.fill('#password', chosen)
    await tab.click('button')
    await tab.waitForSelector('#code')
    await shot(tab, 'one-time code')
    await tab.fill('#code', '000000')
    await tab.click('button')
    await tab.waitForSelector(`text=${words.wrongCode}`)
    await shot(tab, 'wrong one-time code')
    // The next one: each code is taken once, and the one before the present may end meanwhile.
    await tab.fill('#code', codeAt(key, Date.now(), 1))
    await tab.click('button')
    await tab.waitForSelector(`text=${words.consentTitle('Reports of others')}`)
    expect(await tab.textContent('.as')).toContain(email)
    await shot(tab, 'consent')
    await tab.click('button[value=allow]')
    await tab.waitForURL(`${redirectUri}**`)
    expect(new URL(tab.url()).searchParams.get('code')).toMatch(/^[\w-]{43}$/)
    await second.close()
  },
)

async function tokenOf({ baseUrl, clientId }: Service, username: string, password: string): Promise<string> {
  const reply = await fetch(`${baseUrl}/auth/token`, {
    method: 'POST',
    body: new URLSearchParams({ grant_type: 'password', client_id: clientId, username, password }),
  })
  return ((await reply.json()) as { access_token: string }).access_token
}
