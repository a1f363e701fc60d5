import type { Route } from 'playwright-core'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { browserAbsent } from '../support/chromium.ts'
import { type ConsoleWorld, openConsole, type Person, type Tab } from '../support/console.ts'

/** A screen, what it asks the service for, and what stands on it then. One row for each screen. */
interface ScreenRow {
  readonly path: string
  /** Of the answers without which it has nothing to show. */
  readonly asks: RegExp
  /** Once they are there, in a company where nothing has happened yet. */
  readonly empty: string
}

const query = /\/statistics\/query$/
const meta = /\/statistics\/meta$/
const noEvents = 'No event has arrived yet'

const screens: readonly ScreenRow[] = [
  { path: '/', asks: query, empty: 'First event' },
  { path: '/start', asks: /\/v2\/datasources(\?|$)/, empty: 'First event' },
  { path: '/live', asks: /\/v2\/datasources(\?|$)/, empty: 'Waiting for events' },
  { path: '/explore', asks: meta, empty: 'Add a measure' },
  { path: '/funnels', asks: meta, empty: noEvents },
  { path: '/retention', asks: query, empty: noEvents },
  { path: '/paths', asks: query, empty: noEvents },
  { path: '/cohorts', asks: /\/statistics\/cohorts\?/, empty: 'No cohort is saved yet' },
  { path: '/cohorts/new', asks: meta, empty: 'Who belongs to it' },
  { path: '/saved', asks: /\/statistics\/query\?/, empty: 'No query is saved yet' },
  {
    path: '/saved?kind=explorations',
    asks: /\/statistics\/explorations\?/,
    empty: 'No exploration is saved yet',
  },
  { path: '/dashboards', asks: /\/statistics\/dashboards\?/, empty: 'No dashboard of your own yet' },
  { path: '/dashboards/overview', asks: query, empty: 'People by day' },
  { path: '/account?tab=security', asks: /\/users\/me\/authenticator$/, empty: 'Turn on one-time codes' },
  { path: '/account?tab=sessions', asks: /\/users\/me\/sessions$/, empty: 'This one' },
  { path: '/account?tab=links', asks: /\/v2\/linked-accounts$/, empty: 'No linked accounts' },
  { path: '/account?tab=applications', asks: /\/users\/me\/applications$/, empty: 'Default client' },
]

/** Every address of the router that shows nothing of one thing alone. */
const places = [
  ...['/', '/start', '/live', '/explore', '/funnels', '/retention', '/paths', '/cohorts', '/saved'],
  ...['/dashboards', '/account', '/account?tab=security', '/account?tab=sessions', '/account?tab=links'],
  '/account?tab=applications',
]

/** Minutes of a browser: its place is the full length. */
const isLeftOut = Number(process.env.MILLRACE_TEST_LONG ?? 1) < 0

let world: ConsoleWorld
let tab: Tab
const others: Tab[] = []

beforeAll(async () => {
  if (browserAbsent || isLeftOut) return
  world = await openConsole()
  tab = await world.openTab()
  await tab.open('/account', world.admin)
})

beforeEach((context) => {
  if (isLeftOut) context.skip('not run here: runs in full length only (npm run test:long)')
  if (browserAbsent) context.skip(browserAbsent)
})

afterEach(async () => {
  if (browserAbsent || isLeftOut) return
  await tab.page.unrouteAll({ behavior: 'ignoreErrors' })
  const complaints = [tab, ...others].flatMap((each) => each.takeComplaints())
  for (const other of others.splice(0)) await other.context.close()
  expect(complaints).toEqual([])
})

afterAll(async () => {
  if (!browserAbsent && !isLeftOut) await world.close()
})

async function openAs(person: Person, path: string): Promise<Tab> {
  const other = await world.openTab()
  others.push(other)
  await other.open(path, person)
  return other
}

/** Its title is there and nothing is loading; a live feed never leaves the network idle. */
async function settled({ page }: Tab): Promise<void> {
  await page.locator('main h1, main h2').first().waitFor()
  await expect.poll(() => page.locator('main').getByRole('status', { name: 'Loading' }).count()).toBe(0)
}

const failing = (status: number, errorCode: number, message: string) => (route: Route) =>
  route.fulfill({
    status,
    contentType: 'application/json',
    body: JSON.stringify({
      program: 'millrace',
      version: '0',
      datetime: new Date(0).toISOString(),
      code: status,
      status: 'fail',
      message,
      error_code: errorCode,
      data: { requestId: 'request-of-a-test' },
    }),
  })

describe.each(screens)('$path', ({ path, asks, empty }) => {
  test('is empty where nothing has happened, in both themes and on a phone', async () => {
    await tab.open(path)
    await tab.page.locator('main').getByText(empty).first().waitFor()
    await tab.audit(path)
  })

  test('says that it is loading, then shows what was answered', async () => {
    let release = () => {}
    const released = new Promise<void>((resolve) => {
      release = resolve
    })
    await tab.page.route(asks, async (route) => {
      await released
      await route.continue()
    })
    await tab.open(path)
    await tab.page.locator('main').getByRole('status', { name: 'Loading' }).first().waitFor()
    release()
    await tab.page.locator('main').getByText(empty).first().waitFor()
  })

  test('says that it failed, by which request, and asks again', async () => {
    await tab.page.route(asks, failing(500, 16, 'It is broken'))
    await tab.open(path)
    const main = tab.page.locator('main')
    await main.getByText('This could not be loaded').first().waitFor()
    await main.getByText('Request request-of-a-test').first().waitFor()
    await tab.audit(`${path} that failed`)
    await tab.page.unrouteAll({ behavior: 'wait' })
    // Each part that failed asks again by itself; some screens have several, of which equal ones ask once.
    const again = main.getByRole('button', { name: 'Try again' })
    for (let count = await again.count(); count > 0; count = await again.count()) {
      await again.first().click()
      await expect.poll(() => again.count()).toBeLessThan(count)
    }
    await main.getByText(empty).first().waitFor()
    expect(tab.takeComplaints().filter((each) => !each.startsWith('500 '))).toEqual([])
  })

  test('says that the role does not allow it', async () => {
    await tab.page.route(asks, failing(403, 4, 'You may not'))
    await tab.open(path)
    await tab.page.locator('main').getByText('Your role does not allow this').first().waitFor()
    expect(tab.takeComplaints().filter((each) => !each.startsWith('403 '))).toEqual([])
  })
})

test('a service that is not reached is asked again by itself', async () => {
  await tab.page.route(/\/users\/me\/sessions$/, (route) => route.abort('connectionrefused'))
  await tab.open('/account?tab=sessions')
  await tab.page.locator('main').getByText('The service does not answer').waitFor()
  await tab.page.unrouteAll({ behavior: 'wait' })
  await tab.page.getByText('This one').waitFor()
  expect(tab.takeComplaints().filter((each) => !each.includes('ERR_CONNECTION_REFUSED'))).toEqual([])
})

test.for(['viewer', 'nobody'])('a user with the role %s sees nothing that is refused', async (role) => {
  if (role === 'nobody')
    await world.service.dataOf('POST', '/entities/roles', { name: role, permissions: [] })
  const other = await openAs(await world.addUser(role), '/account')
  for (const path of places) {
    await other.open(path)
    await settled(other)
    expect(other.takeComplaints(), path).toEqual([])
  }
})

const addressOf = (path: string, view: Readonly<Record<string, unknown>>) =>
  `${path}?${new URLSearchParams(Object.entries(view).map(([name, value]) => [name, JSON.stringify(value)]))}`

const markup = `"><img src=x onerror="document.title='run'"><script>document.title='run'</script>`
const nested = (depth: number): unknown => (depth === 0 ? markup : [nested(depth - 1)])
const deep = nested(200)

/** States of addresses that no screen writes: markup, other types, names of prototypes, depth, numbers without end. */
const hostileAddresses = [
  addressOf('/', { measure: markup, only: { member: '__proto__', value: markup }, range: [markup, markup] }),
  addressOf('/explore', { query: { measures: [markup, 'constructor'], dimensions: deep, filters: [deep] } }),
  addressOf('/explore', { query: { __proto__: { measures: 1 }, timeDimensions: [{ dateRange: markup }] } }),
  addressOf('/funnels', { steps: [{ events: [markup] }, deep], breakdown: 'constructor', window: deep }),
  addressOf('/retention', { first: deep, returning: { events: [markup] }, periods: 1e99, by: '__proto__' }),
  addressOf('/paths', { from: markup, depth: -1, filters: [{ member: markup, operator: 'toString' }] }),
  addressOf('/cohorts/new', { rule: { and: [deep, { member: markup }] } }),
  addressOf('/saved', { q: markup, page: 1e99, sort: 'constructor', order: deep }),
  addressOf('/saved', { kind: 'explorations', page: -3, sort: '__proto__' }),
  addressOf('/dashboards/overview', { filters: [deep], range: markup, compare: 'constructor' }),
  addressOf('/funnels', { saved: markup }),
  '/cohorts/%3Cimg%20src=x%3E',
  '/saved/__proto__',
  '/dashboards/constructor',
]

test.for(hostileAddresses)('the address %s breaks no screen', async (address) => {
  await tab.open(address)
  await settled(tab)
  expect(await tab.evaluate<number>("document.querySelectorAll('img[src=x], main script').length")).toBe(0)
  expect(await tab.page.title()).not.toBe('run')
  expect(await tab.page.getByText('This screen has failed').count()).toBe(0)
  // What such an address names is not there, and some of it is no question.
  expect(tab.takeComplaints().filter((each) => !/^(400|404) /.test(each))).toEqual([])
})

test('an address of yesterday opens, and says what it left out', async () => {
  await tab.open(
    addressOf('/funnels', {
      steps: [
        { events: ['view'], filters: [{ member: 'events.gone', operator: 'equals', values: ['a'] }] },
        { events: ['purchase'] },
      ],
      breakdown: 'events.alsoGone',
    }),
  )
  const notice = tab.page.getByText(/Left out of what the address says/)
  await notice.waitFor()
  expect(await notice.textContent()).toContain('events.gone, events.alsoGone')
})

test('a role that changes while a screen is open counts from the next request', async () => {
  const person = await world.addUser('viewer')
  const other = await openAs(person, '/saved')
  await other.page.locator('main').getByText('No query is saved yet').waitFor()
  const users = await world.service.dataOf<{ id: string; email: string }[]>(
    'GET',
    '/entities/users?perPage=100',
  )
  const user = users.find(({ email }) => email === person.email)
  await world.service.dataOf('PATCH', `/entities/users/${user?.id}`, { role: 'nobody' })
  await other.page.getByRole('radio', { name: 'Explorations' }).click()
  await other.page.locator('main').getByText('Your role does not allow this').waitFor()
  expect(other.takeComplaints().filter((each) => !each.startsWith('403 '))).toEqual([])
})

test('names that are markup are text', async () => {
  const hostile = `<img src=x onerror="document.title='run'">`
  const { service } = world
  const { id } = await service.dataOf<{ id: string }>('POST', '/statistics/query/save', {
    name: hostile,
    queries: [{ measures: ['events.count'], dimensions: [], filters: [], timeDimensions: [] }],
  })
  expect(id).toBeTruthy()
  await service.dataOf('PATCH', '/entities/company', { name: hostile })
  await service.dataOf('PATCH', '/entities/users/me', {
    firstName: hostile,
    preferences: { favourites: [`/saved#${hostile}`, '/saved?x=<script>#<b>x'] },
  })
  for (const path of places) {
    await tab.open(path)
    await settled(tab)
    expect(await tab.evaluate<number>("document.querySelectorAll('img[src=x], main script').length")).toBe(0)
    expect(await tab.page.title()).not.toBe('run')
  }
  await tab.page.keyboard.press('Control+k')
  await tab.page.getByRole('dialog').getByRole('textbox').fill('<img')
  await tab.page.getByRole('dialog').getByText('Saved', { exact: true }).first().waitFor()
  await tab.audit('the palette')
})
