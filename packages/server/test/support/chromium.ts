import { existsSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { type Browser, chromium, type Page } from 'playwright-core'
import { expect } from 'vitest'
import { long } from './long.ts'

const executablePath = process.env.MILLRACE_TEST_CHROMIUM ?? '/usr/bin/chromium'

/** Why no browser can be had, if so. */
export const browserAbsent: string | undefined = existsSync(executablePath)
  ? undefined
  : `no Chromium at ${executablePath} (Debian: apt-get install chromium)`

export function launchBrowser(): Promise<Browser> {
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
    ],
  })
}

/** Screens that pages are looked at on. */
export const screens = [
  { name: 'a phone', width: 360, height: 740, colorScheme: 'light' },
  { name: 'a desk in the dark', width: 1440, height: 900, colorScheme: 'dark' },
] as const

/** Every screen in every language; each of both once in the short form. */
export const screensByLanguage = screens.flatMap((screen, i) =>
  (['en', 'fr'] as const).filter((_, j) => long || i === j).map((lang) => ({ ...screen, lang })),
)

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
