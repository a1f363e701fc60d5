import { existsSync } from 'node:fs'
import { type Browser, chromium } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { removeData, type Service, startService } from '../support/running-service.ts'

const executablePath = process.env.MILLRACE_TEST_CHROMIUM ?? '/usr/bin/chromium'
const absent = existsSync(executablePath)
  ? undefined
  : `no Chromium at ${executablePath} (Debian: apt-get install chromium)`

let service: Service
let browser: Browser

beforeAll(async () => {
  if (absent) return
  service = await startService()
  browser = await chromium.launch({
    executablePath,
    args: [
      '--no-sandbox',
      '--disable-gpu',
      '--disable-quic',
      '--no-first-run',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
    ],
  })
})

afterAll(async () => {
  if (absent) return
  await browser.close()
  await service.stop()
  removeData(service)
})

const screens = [
  { name: 'a phone', width: 360, height: 740, colorScheme: 'light' },
  { name: 'a desk in the dark', width: 1440, height: 900, colorScheme: 'dark' },
] as const

test.for(screens.flatMap((screen) => ['/', '/docs'].map((path) => ({ ...screen, path }))))(
  '$path on $name shows whole, without scripts, asking nobody else',
  async ({ path, width, height, colorScheme, name }, context) => {
    if (absent) context.skip(absent)
    const tab = await browser.newContext({
      viewport: { width, height },
      colorScheme,
      javaScriptEnabled: false,
    })
    const page = await tab.newPage()
    const origin = new URL(service.baseUrl).origin
    const foreign: string[] = []
    const complaints: string[] = []
    page.on('request', (request) => {
      if (!request.url().startsWith(origin) && !request.url().startsWith('data:')) foreign.push(request.url())
    })
    page.on('console', (message) => {
      if (message.type() === 'error') complaints.push(message.text())
    })
    const reply = await page.goto(`${origin}${path}`)
    expect(reply?.status()).toBe(200)
    expect(await page.title()).toMatch(/Millrace/)
    expect(foreign).toEqual([])
    expect(complaints).toEqual([])
    // Headings and text must not run out of the screen; only code may scroll inside its own box.
    const box = await page.locator('body').boundingBox()
    expect(box?.width ?? 0).toBeLessThanOrEqual(width)
    const shots = process.env.MILLRACE_TEST_SCREENSHOTS
    if (shots)
      await page.screenshot({
        path: `${shots}/${path === '/' ? 'first' : 'docs'}-${name.replaceAll(' ', '-')}.png`,
      })
    await tab.close()
  },
)
