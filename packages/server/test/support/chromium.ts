import { existsSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core'
import { expect } from 'vitest'
import { isFull } from './long.ts'

const executablePath = process.env.MILLRACE_TEST_CHROMIUM ?? '/usr/bin/chromium'

/** Why no browser can be had, if so. */
export const browserAbsent: string | undefined = existsSync(executablePath)
  ? undefined
  : `no Chromium at ${executablePath} (Debian: apt-get install chromium)`

/** Of a visitor: the one that a headless browser sends is a crawler's, whose events are not counted. */
export const visitorUserAgent =
  'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Safari/537.36'

/** @param args further switches */
export function launchBrowser(args: readonly string[] = []): Promise<Browser> {
  return chromium.launch({
    executablePath,
    args: [
      '--no-sandbox',
      '--disable-gpu',
      '--disable-quic',
      '--no-first-run',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
      ...args,
    ],
  })
}

/** Visitors of one browser, each of whom has never been anywhere. */
export interface Visits {
  readonly context: BrowserContext
  /**
   * Closes the pages of the visitor before and forgets cookies, storage and cache. What was added to the context itself
   * stays, as `addInitScript`: add that to the page.
   */
  begin(): Promise<Page>
}

/**
 * One window for the tests of a file: a context of each test opens a window of its own, which computes for longer than
 * most of the tests.
 */
export async function openVisits(browser: Browser): Promise<Visits> {
  const context = await browser.newContext({ userAgent: visitorUserAgent })
  const keepsWindow = await context.newPage()
  const devtools = await context.newCDPSession(keepsWindow)
  return {
    context,
    async begin() {
      for (const page of context.pages()) if (page !== keepsWindow) await page.close()
      await context.setOffline(false)
      await context.clearCookies()
      await devtools.send('Storage.clearDataForOrigin', { origin: '*', storageTypes: 'all' })
      await devtools.send('Network.clearBrowserCache')
      return context.newPage()
    },
  }
}

/** Screens that pages are looked at on. */
export const screens = [
  { name: 'a phone', width: 360, height: 740, colorScheme: 'light' },
  { name: 'a desk in the dark', width: 1440, height: 900, colorScheme: 'dark' },
] as const

/**
 * Every screen in every language. In the short form it is the phone in English or the desk in French: a file whose
 * tests take both in turn has looked at each.
 */
export function screensByLanguage(shortly: 'en' | 'fr') {
  const pairs = screens.flatMap((screen, i) =>
    (['en', 'fr'] as const).map((lang, j) => ({ ...screen, lang, isShort: i === j && lang === shortly })),
  )
  return pairs.filter(({ isShort, name, lang }) => isShort || isFull(`${name} ${lang}`))
}

const shots = process.env.MILLRACE_TEST_SCREENSHOTS

/** Holds the page against what every page promises; keeps a picture of it where MILLRACE_TEST_SCREENSHOTS names a directory. */
export async function look(page: Page, name: string): Promise<void> {
  if (shots) {
    mkdirSync(shots, { recursive: true })
    await page.screenshot({ path: join(shots, `${name}.png`) })
  }
  const sizes = await page.evaluate('[document.documentElement.scrollWidth, innerWidth]')
  const [width = 0, inner = 0] = sizes as number[]
  expect(width, `${name} is not wider than the screen`).toBeLessThanOrEqual(inner)
}
