import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { browserAbsent, launchBrowser, screens } from '../support/chromium.ts'
import { oneOfEach } from '../support/long.ts'
import { removeData, type Service, startService } from '../support/running-service.ts'

let service: Service
let browser: Browser

beforeAll(async () => {
  if (browserAbsent) return
  service = await startService()
  browser = await launchBrowser()
})

afterAll(async () => {
  if (browserAbsent) return
  await browser.close()
  await service.stop()
  removeData(service)
})

const paths = ['/docs', '/docs/quick-start', '/docs/workflows', '/docs/nothing']
/** In the short form each page on one screen, and on each screen two pages. */
const looks = oneOfEach(
  screens.flatMap((_, turn) =>
    paths.flatMap((path, i) => {
      const screen = screens[(i + turn) % screens.length]
      return screen === undefined ? [] : [{ ...screen, path }]
    }),
  ),
  ({ path }) => path,
)

test.for(looks)(
  '$path on $name shows whole, without scripts, asking nobody else',
  async ({ path, width, height, colorScheme, name }, context) => {
    if (browserAbsent) context.skip(browserAbsent)
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
    expect(reply?.status()).toBe(path.endsWith('nothing') ? 404 : 200)
    expect(await page.title()).toMatch(/Millrace/)
    expect(foreign).toEqual([])
    // Chromium itself says that the answer was 404.
    expect(complaints.filter((text) => !text.includes('404'))).toEqual([])
    // Headings and text must not run out of the screen; only code may scroll inside its own box.
    const box = await page.locator('body').boundingBox()
    expect(box?.width ?? 0).toBeLessThanOrEqual(width)
    const shots = process.env.MILLRACE_TEST_SCREENSHOTS
    if (shots)
      await page.screenshot({
        path: `${shots}/docs-${name.replaceAll(' ', '-')}.png`,
      })
    await tab.close()
  },
)
