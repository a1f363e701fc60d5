import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Browser } from 'playwright-core'
import { visitorUserAgent } from '../chromium.ts'

/**
 * Opens the HTML of a page as a site of its own, presses every button of it once, and leaves.
 * @returns what failed in it, a line each
 */
export async function openExample(browser: Browser, code: string, service: string): Promise<string[]> {
  const body = /<html[\s>]/i.test(code) ? code : `<!doctype html><title>Example</title><body>${code}</body>`
  const server = createServer((_, response) => {
    response.setHeader('content-type', 'text/html; charset=utf-8')
    response.end(body)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const context = await browser.newContext({ userAgent: visitorUserAgent })
  try {
    const site = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
    const page = await context.newPage()
    const faults: string[] = []
    page.on('pageerror', (error) => faults.push(error.message))
    page.on('response', (reply) => {
      if (reply.url().startsWith(service) && reply.status() >= 400)
        faults.push(`${reply.status()} ${reply.url()}`)
    })
    // Nothing outside is asked.
    await context.route(
      (url) => url.origin !== service && !site.startsWith(url.origin),
      (route) => route.fulfill({ status: 200, body: '' }),
    )
    await page.goto(site, { waitUntil: 'networkidle' })
    for (const button of await page.locator('button').all()) await button.click()
    await page.waitForLoadState('networkidle')
    await page.close({ runBeforeUnload: true })
    return faults
  } finally {
    await context.close()
    server.closeAllConnections()
    server.close()
  }
}
