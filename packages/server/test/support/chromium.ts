import { existsSync, mkdirSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Browser, chromium, type Page } from 'playwright-core'
import { expect } from 'vitest'

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

const shots = process.env.MILLRACE_TEST_SCREENSHOTS ?? join(tmpdir(), 'millrace-screenshots')

/** Keeps what the page looks like, and holds it against what every page promises. */
export async function look(page: Page, name: string): Promise<void> {
  mkdirSync(shots, { recursive: true })
  await page.screenshot({ path: join(shots, `${name}.png`) })
  const sizes = await page.evaluate('[document.documentElement.scrollWidth, innerWidth]')
  const [width = 0, inner = 0] = sizes as number[]
  expect(width, `${name} is not wider than the screen`).toBeLessThanOrEqual(inner)
}
