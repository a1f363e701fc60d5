import type { Route } from 'playwright-core'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { browserAbsent } from '../support/chromium.ts'
import { type ConsoleWorld, openConsole, type Person, type Tab } from '../support/console.ts'
import { isFull, spread } from '../support/long.ts'

/** A screen, what it asks the service for, and what stands on it then. One row for each screen. */
interface ScreenRow {
  readonly path: string
  /** Of the answers without which it has nothing to show. */
  readonly asks: RegExp
  /** Once they are there, in a company where nothing has happened yet. */
  readonly empty: string
}

const noEvents = 'No event has arrived yet'
const noRows = 'Nothing happened here in this range'

const screens: readonly ScreenRow[] = [
  { path: '/', asks: /\/statistics\/query$/, empty: 'From nothing to your first chart' },
  { path: '/start', asks: /\/v2\/datasources\?/, empty: 'It appears with the first event' },
  { path: '/live', asks: /\/v2\/datasources\?/, empty: 'No rule was met' },
  { path: '/explore', asks: /\/statistics\/(meta|query)$/, empty: noRows },
  { path: '/explore?tab=json', asks: /\/statistics\/(meta|query)$/, empty: noRows },
  { path: '/funnels', asks: /\/statistics\/(meta$|values\?)/, empty: noEvents },
  { path: '/retention', asks: /\/statistics\/(meta|query)$/, empty: noEvents },
  { path: '/paths', asks: /\/statistics\/(meta|query)$/, empty: noEvents },
  { path: '/cohorts', asks: /\/statistics\/cohorts\?/, empty: 'No cohort is saved yet' },
  { path: '/cohorts/new', asks: /\/statistics\/meta$/, empty: 'Who belongs to it' },
  { path: '/saved', asks: /\/statistics\/query\?/, empty: 'No query is saved yet' },
  {
    path: '/saved?kind=explorations',
    asks: /\/statistics\/explorations\?/,
    empty: 'No exploration is saved yet',
  },
  { path: '/dashboards', asks: /\/statistics\/dashboards\?/, empty: 'No dashboard of your own yet' },
  { path: '/dashboards/overview', asks: /\/statistics\/query$/, empty: noRows },
  { path: '/data', asks: /\/entities\/company$/, empty: 'For ever' },
  { path: '/data?tab=consent', asks: /\/v2\/datasources\?/, empty: 'every event' },
  { path: '/data?tab=person', asks: /\/persons\/erasures\?/, empty: 'No person was erased yet' },
  { path: '/data?tab=exports', asks: /\/statistics\/exports\?/, empty: 'No export yet' },
  {
    path: '/data?tab=deleted',
    asks: /\/datasources\/deleted\?/,
    empty: 'Nothing that could be brought back',
  },
  { path: '/account', asks: /\/users\/me$/, empty: 'Job title' },
  { path: '/account?tab=security', asks: /\/users\/me\/authenticator$/, empty: 'Turn on one-time codes' },
  { path: '/account?tab=sessions', asks: /\/users\/me\/sessions$/, empty: 'This one' },
  { path: '/account?tab=links', asks: /\/v2\/linked-accounts$/, empty: 'No linked accounts' },
  { path: '/account?tab=applications', asks: /\/users\/me\/applications$/, empty: 'Default client' },
]

/** Those of one thing. `path` ends with its id, which `made` has by this name. */
const thingScreens: readonly ScreenRow[] = [
  {
    path: '/cohorts/:id',
    asks: /\/statistics\/cohorts\/[0-9a-f]{24}$/,
    empty: 'No person belongs to it at present.',
  },
  { path: '/saved/:id', asks: /\/statistics\/query\/[0-9a-f]{24}$/, empty: 'It has not run yet' },
  {
    path: '/dashboards/:id',
    asks: /\/v2\/statistics\/dashboards\/[0-9a-f]{24}$/,
    empty: 'This dashboard has no tiles yet',
  },
]

const made = new Map<string, string>()
const addressOf = (path: string) => made.get(path) ?? path
/** Every address, once the things are made. */
const places = [...screens, ...thingScreens].map(({ path }) => path)

async function makeThings(name: string): Promise<void> {
  const query = { measures: ['events.count'], dimensions: [], filters: [], timeDimensions: [] }
  for (const [place, path, body] of [
    ['/saved', '/statistics/query/save', { queries: [query] }],
    ['/cohorts', '/statistics/cohorts', { rule: { event: { events: ['purchase'] } } }],
    ['/dashboards', '/statistics/dashboards', { tiles: [] }],
  ] as const) {
    const { id } = await world.service.dataOf<{ id: string }>('POST', path, { name, ...body })
    made.set(`${place}/:id`, `${place}/${id}`)
  }
}

let world: ConsoleWorld
let tab: Tab
const others: Tab[] = []

beforeAll(async () => {
  if (browserAbsent) return
  world = await openConsole()
  tab = await world.openTab()
  await tab.open('/account', world.admin)
})

beforeEach((context) => {
  if (browserAbsent) context.skip(browserAbsent)
})

afterEach(async () => {
  if (browserAbsent) return
  await tab.page.unrouteAll({ behavior: 'ignoreErrors' })
  const complaints = [tab, ...others].flatMap((each) => each.takeComplaints())
  for (const other of others.splice(0)) await other.context.close()
  expect(complaints).toEqual([])
})

afterAll(async () => {
  if (!browserAbsent) await world.close()
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

function statesOf({ path, asks, empty }: ScreenRow): void {
  test('is loading, failed by which request, and after another try shows that nothing is there', async () => {
    const main = tab.page.locator('main')
    const held = Promise.withResolvers<void>()
    await tab.page.route(asks, async (route) => {
      await held.promise
      await failing(500, 16, 'It is broken')(route)
    })
    await tab.open(addressOf(path))
    await main.getByRole('status', { name: 'Loading' }).first().waitFor()
    held.resolve()
    await main.getByText('This could not be loaded').first().waitFor()
    await main.getByText('Request request-of-a-test').first().waitFor()
    if (isFull(path)) await tab.audit(`${path} that failed`)
    await tab.page.unrouteAll({ behavior: 'wait' })
    const again = main.getByRole('button', { name: 'Try again' })
    await expect
      .poll(async () => {
        // One that another press has answered is gone.
        if ((await again.count()) > 0)
          await again
            .first()
            .click({ timeout: 2_000 })
            .catch(() => undefined)
        return main.getByText(empty).first().isVisible()
      })
      .toBe(true)
    await settled(tab)
    await tab.audit(path)
    expect(tab.takeComplaints().filter((each) => !each.startsWith('500 '))).toEqual([])
  })

  test('says that the role does not allow it', async () => {
    await tab.page.route(asks, failing(403, 4, 'You may not'))
    await tab.open(addressOf(path))
    await tab.page.locator('main').getByText('Your role does not allow this').first().waitFor()
    expect(tab.takeComplaints().filter((each) => !each.startsWith('403 '))).toEqual([])
  })
}

describe.each(screens)('$path', statesOf)

describe('what is saved', () => {
  beforeAll(async () => {
    if (!browserAbsent) await makeThings('Made by a test')
  })

  describe.each(thingScreens)('$path', (row) => {
    statesOf(row)

    test('says that it is gone', async () => {
      await tab.open(row.path.replace(':id', '0'.repeat(24)))
      await tab.page.locator('main').getByText('There is nothing here').waitFor()
      expect(tab.takeComplaints().filter((each) => !each.startsWith('404 '))).toEqual([])
    })
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
    await other.go(addressOf(path))
    await settled(other)
    expect(other.takeComplaints(), path).toEqual([])
  }
})

/** Explorations show what an address says of them once there is an event. */
async function sendEvent(name: string): Promise<void> {
  const { trackerUrl, companyId } = world.service
  const body = JSON.stringify({
    key: companyId,
    name,
    v: 1,
    url: 'https://shop.example/',
    tmpId: 'visitor-1',
  })
  const reply = await fetch(trackerUrl, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body,
  })
  expect(reply.status).toBe(200)
  await world.service.loaded()
}

test('names that are markup are text', async () => {
  const hostile = `<img src=x onerror="document.title='run'">`
  const { service } = world
  await makeThings(hostile)
  await sendEvent(hostile)
  await service.dataOf('POST', '/statistics/explorations', {
    name: hostile,
    exploration: 'paths',
    definition: { by: 'path', dateRange: 'last 30 days' },
  })
  await service.dataOf('PATCH', '/entities/company', { name: hostile })
  await service.dataOf('PATCH', '/entities/users/me', {
    firstName: hostile,
    preferences: { favourites: [`/saved#${hostile}`, '/saved?x=<script>#<b>x'] },
  })
  await tab.open('/account')
  for (const path of places) {
    await tab.go(addressOf(path))
    await settled(tab)
    expect(await tab.evaluate<number>("document.querySelectorAll('img[src=x], main script').length")).toBe(0)
    expect(await tab.page.title()).not.toBe('run')
  }
  await tab.page.keyboard.press('Control+k')
  await tab.page.getByRole('dialog').getByRole('textbox').fill('<img')
  await tab.page.getByRole('dialog').getByText('Cohorts').first().waitFor()
  await tab.audit('the palette')
})

/** Everything that a screen reads of its address. */
const searchKeys = [
  ...[
    'add',
    'at',
    'belongs',
    'breakdown',
    'by',
    'cohorts',
    'compare',
    'datasource',
    'depth',
    'edit',
    'filters',
  ],
  ...['first', 'from', 'kind', 'measure', 'members', 'only', 'order', 'page', 'per', 'periods', 'q', 'query'],
  ...['range', 'repeats', 'returning', 'returns', 'rule', 'runs', 'saved', 'show', 'shows', 'sort', 'steps'],
  ...['tab', 'to', 'trend', 'way', 'window'],
]

const member = 'events.label.<script>'
const deep = (depth: number): unknown =>
  depth === 0 ? { member, operator: 'set' } : { and: [deep(depth - 1)] }
const hostileStates: readonly unknown[] = [
  '<img src=x onerror="document.title=\'run\'">',
  'javascript:document.title="run"',
  '__proto__',
  '\u202Etxt.exe\u0000',
  'x'.repeat(3_000),
  -1,
  1e308,
  null,
  [],
  {},
  [[[['<svg onload=1>']]]],
  ['2026-13-45', '0000-00-00'],
  [{}, null, 7, { events: [null, {}], filters: [{ member, operator: 'equals', values: [{}] }] }],
  { measures: 'events.count', dimensions: [null], filters: { and: 1 }, timeDimensions: [{ dimension: 7 }] },
  {
    measures: ['constructor'],
    filters: [deep(60)],
    timeDimensions: [{ dimension: 'events.time', dateRange: {} }],
  },
  { and: [{ not: { not: {} } }, { event: { events: 1 }, atLeast: 'x' }, deep(60)] },
]

test.for(spread(hostileStates, 4).map((state) => [JSON.stringify(state).slice(0, 40), state] as const))(
  'no screen breaks of an address where everything is %s',
  async ([, state]) => {
    const search = searchKeys.map((key) => `${key}=${encodeURIComponent(JSON.stringify(state))}`).join('&')
    await tab.open('/account')
    for (const path of places) {
      const address = addressOf(path)
      await tab.go(`${address}${address.includes('?') ? '&' : '?'}${search}`)
      await settled(tab)
      expect(await tab.page.title(), path).not.toBe('run')
      expect(await tab.page.getByText('This screen has failed').count(), path).toBe(0)
      expect(await tab.evaluate<number>("document.querySelectorAll('img[src=x], main script').length")).toBe(
        0,
      )
      // A screen that is left at once may leave so many statements that the next ones are asked again.
      expect(
        tab.takeComplaints().filter((each) => !each.startsWith('503 ')),
        path,
      ).toEqual([])
    }
  },
)
