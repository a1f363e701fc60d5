import { existsSync } from 'node:fs'
import { type Browser, chromium } from 'playwright-core'

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
