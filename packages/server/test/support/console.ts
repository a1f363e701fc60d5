import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Browser, BrowserContext, BrowserContextOptions, Page } from 'playwright-core'
import { expect } from 'vitest'
import { launchBrowser } from './chromium.ts'
import { prepareBuild, removeData, type Service, startService } from './running-service.ts'

const packages = fileURLToPath(new URL('../../../', import.meta.url))
export const consoleBuild = join(packages, 'console/dist')

/** What is built into the console. */
const sources = ['console/src', 'console/index.html', 'console/vite.config.ts', 'console/build.ts'].concat(
  'sdk/src',
  'contract/src',
)

function newest(path: string): number {
  const { mtimeMs } = statSync(path)
  // A folder is newer where a file of it was deleted.
  if (!statSync(path).isDirectory()) return mtimeMs
  return readdirSync(path).reduce((time, name) => Math.max(time, newest(join(path, name))), mtimeMs)
}

/** Whether `packages/console/dist` is what its sources say. */
export function isConsoleBuilt(): boolean {
  const built = statSync(join(consoleBuild, 'index.html'), { throwIfNoEntry: false })?.mtimeMs ?? 0
  return sources.every((path) => newest(join(packages, path)) <= built)
}

export interface Person {
  readonly email: string
  readonly password: string
}

/** A window of the console. What goes wrong in it is kept until `settle` asks. */
export interface Tab {
  readonly page: Page
  readonly context: BrowserContext
  /** Opens a screen, `/explore?x=1`; signs in through the service's own pages where they are shown. */
  open(path: string, person?: Person): Promise<void>
  /** Goes to a screen as the links of the page do, without loading it again. */
  go(path: string): Promise<void>
  /** Evaluates in the page; not by `page.evaluate`, whose texts the console's policy refuses. */
  evaluate<T>(expression: string): Promise<T>
  /** What went wrong since the last time. */
  takeComplaints(): string[]
  /** Holds the screen against what every screen promises: in both themes and 360 pixels wide. */
  audit(name: string): Promise<void>
}

export interface ConsoleWorld {
  readonly service: Service
  readonly origin: string
  readonly admin: Person
  /** A user with the role of this name. */
  addUser(role: string): Promise<Person>
  /** In a context of its own, or as another window of one. */
  openTab(options?: BrowserContextOptions | BrowserContext): Promise<Tab>
  close(): Promise<void>
}

/**
 * One service and one browser for all journeys of a file.
 * @param dataDirectory of the service, which is kept; a new one by default
 */
export async function openConsole(dataDirectory?: string): Promise<ConsoleWorld> {
  await prepareBuild('console', 'packages/console/build.ts', isConsoleBuilt)
  const service = await startService(dataDirectory === undefined ? {} : { dataDirectory })
  const browser: Browser = await launchBrowser()
  const origin = new URL(service.baseUrl).origin
  return {
    service,
    origin,
    admin: service.admin,
    async addUser(role) {
      const email = `${crypto.randomUUID()}@console.example`
      const made = await service.operate('user', 'create', '--email', email, '--role', role, '--json')
      const { password } = JSON.parse(made) as { password: string }
      return { email, password }
    },
    async openTab(options = {}) {
      const context =
        'newPage' in options ? options : await browser.newContext({ locale: 'en-GB', ...options })
      return openTab(context, origin)
    },
    async close() {
      await browser.close()
      await service.stop()
      if (dataDirectory === undefined) removeData(service)
    },
  }
}

const axe = readFileSync(fileURLToPath(import.meta.resolve('axe-core/axe.min.js')), 'utf8')

/** The first request of a browser without a session. */
const isFirstToken = (url: string, status: number) => url.endsWith('/v2/auth/token') && status === 400

async function openTab(context: BrowserContext, origin: string): Promise<Tab> {
  const page = await context.newPage()
  const devtools = await context.newCDPSession(page)
  let complaints: string[] = []
  page.on('console', (message) => {
    const isRequest = message.text().startsWith('Failed to load resource')
    // Failed requests are kept with their status below. A violation of the policy is an error here.
    if (message.type() === 'error' && !isRequest) complaints.push(message.text())
  })
  page.on('pageerror', (error) => complaints.push(`${error.name}: ${error.message}`))
  page.on('response', (response) => {
    const [url, status] = [response.url(), response.status()]
    if (status >= 400 && !isFirstToken(url, status))
      complaints.push(`${status} ${response.request().method()} ${url.slice(origin.length)}`)
  })
  page.on('requestfailed', (request) => {
    const reason = request.failure()?.errorText ?? ''
    // What a screen asked for that was left meanwhile.
    if (reason !== 'net::ERR_ABORTED') complaints.push(`${reason} ${request.url().slice(origin.length)}`)
  })
  page.on('dialog', (dialog) => {
    if (dialog.type() !== 'beforeunload') complaints.push(`a dialog said ${dialog.message()}`)
    void dialog.accept()
  })

  async function evaluate<T>(expression: string): Promise<T> {
    const { result, exceptionDetails } = await devtools.send('Runtime.evaluate', {
      expression,
      awaitPromise: true,
      returnByValue: true,
    })
    if (exceptionDetails) throw new Error(exceptionDetails.exception?.description ?? exceptionDetails.text)
    return result.value as T
  }

  async function open(path: string, person?: Person): Promise<void> {
    await page.goto(`${origin}/console${path}`)
    if (person) await signIn(page, person)
    await page.locator('main').getByRole('heading').first().waitFor()
  }

  async function findings(): Promise<string[]> {
    await evaluate(`${axe};undefined`)
    const found = await evaluate<{ impact: string; id: string; nodes: { html: string }[] }[]>(
      // React Aria says there for seconds what a button was that is gone since.
      'axe.run({ exclude: ["[data-live-announcer]"] }, { resultTypes: ["violations"] }).then(({ violations }) => violations)',
    )
    return found
      .filter(({ impact }) => impact === 'serious' || impact === 'critical')
      .map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(' ')}`)
  }

  return {
    page,
    context,
    open,
    go: (path) => evaluate(`history.pushState({}, '', ${JSON.stringify(`/console${path}`)})`),
    evaluate,
    takeComplaints() {
      const taken = complaints
      complaints = []
      return taken
    },
    async audit(name) {
      const size = page.viewportSize()
      for (const colorScheme of ['light', 'dark'] as const) {
        await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' })
        // Colours that are on their way are those of neither theme. A way that is broken off ends too.
        await evaluate(
          'Promise.allSettled(document.getAnimations().filter((each) => each instanceof CSSTransition).map(({ finished }) => finished)).then(() => undefined)',
        )
        expect(await findings(), `${name}, ${colorScheme}`).toEqual([])
      }
      await page.setViewportSize({ width: 360, height: 740 })
      // What is drawn for its width is drawn anew.
      await expect
        .poll(() => evaluate('document.documentElement.scrollWidth - innerWidth'), {
          message: `${name} is not wider than a phone`,
        })
        .toBeLessThanOrEqual(0)
      if (size) await page.setViewportSize(size)
    },
  }
}

/** Through the service's own pages, until the browser is back in the console. */
export async function signIn(page: Page, { email, password }: Person): Promise<void> {
  await page.locator('input[name=username]').fill(email)
  await page.locator('form button').first().click()
  await page.locator('input[name=password]').fill(password)
  await page.locator('form button').first().click()
}
