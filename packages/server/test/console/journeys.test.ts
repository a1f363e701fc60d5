import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import { browserAbsent } from '../support/chromium.ts'
import { type ConsoleWorld, openConsole, type Tab } from '../support/console.ts'
import { until } from '../support/until.ts'

// One after the other in one company: the first is the one who started the service a minute ago.
let world: ConsoleWorld
let tab: Tab

beforeAll(async () => {
  if (browserAbsent) return
  world = await openConsole()
  tab = await world.openTab()
})

beforeEach((context) => {
  if (browserAbsent) context.skip(browserAbsent)
})

afterEach(async () => {
  if (browserAbsent) return
  await tab.page.unrouteAll({ behavior: 'ignoreErrors' })
  expect(tab.takeComplaints()).toEqual([])
})

afterAll(async () => {
  if (!browserAbsent) await world.close()
})

const main = () => tab.page.locator('main')
const button = (name: string | RegExp) => tab.page.getByRole('button', { name }).first()
/** One of several ways to look. */
const way = (name: string) => tab.page.getByText(name, { exact: true }).first()
const addressed = (pattern: RegExp) => tab.page.waitForURL((url) => pattern.test(url.pathname + url.search))

test('from the sign-in to the first own event in a chart, by what the screen says', async () => {
  await tab.open('/', world.admin)
  await addressed(/^\/console\/start$/)
  await way('Terminal').click()
  const command = await tab.page.getByRole('region', { name: 'Command for a terminal' }).textContent()
  const { stdout } = await promisify(execFile)('sh', ['-c', command ?? ''])
  expect(stdout).toContain('200')
  // An event, a known person, a purchase.
  await expect.poll(() => main().locator('li').getByText('Done', { exact: true }).count()).toBe(3)
  await main().getByRole('img', { name: 'Events of today by name' }).waitFor()
})

test('sample data comes by a press and fills the overview', async () => {
  await button('Fill in sample data').click()
  await addressed(/^\/console\/$/)
  await main()
    .getByRole('button', { name: /^Revenue/ })
    .click()
  await addressed(/measure=purchases.revenue/)
  await main().getByRole('img', { name: 'Revenue' }).waitFor()
  await tab.audit('the overview')
})

test('a question is built, saved, and the same in another window by its address', async () => {
  await tab.go('/explore')
  await main().getByRole('img').first().waitFor()
  await button('Add a grouping').click()
  const dialog = tab.page.getByRole('dialog')
  await dialog.locator('input').first().fill('events.deviceType')
  await dialog
    .getByRole('listitem')
    .filter({ hasText: /device/i })
    .first()
    .getByRole('button')
    .click()
  await addressed(/events\.deviceType/)
  await main().getByRole('radio', { name: 'Table' }).click()
  const table = () => main().getByRole('table').first()
  await table().waitFor()
  await button('Save').click()
  await dialog.getByRole('textbox').fill('Devices by day')
  await dialog.getByRole('button', { name: 'Save' }).click()
  await main().getByRole('link', { name: 'Saved query' }).waitFor()
  const other = await world.openTab(tab.context)
  await other.page.goto(tab.page.url())
  const same = other.page.locator('main').getByRole('table').first()
  await same.waitFor()
  expect(await same.textContent()).toBe(await table().textContent())
  expect(other.takeComplaints()).toEqual([])
  await other.page.close()
  await tab.audit('a table in Explore')
  const saved = tab.page.waitForEvent('download')
  await button('Download').click()
  await tab.page.getByRole('menuitem', { name: 'Download CSV' }).click()
  expect((await saved).suggestedFilename()).toMatch(/\.csv$/)
  const whole = tab.page.waitForEvent('download')
  await button('Download').click()
  await tab.page.getByRole('menuitem', { name: 'Download Parquet' }).click()
  expect((await whole).suggestedFilename()).toMatch(/\.parquet$/)
})

test('a question is filtered, compared and given another range; saved, it is sent on a schedule', async () => {
  const { page } = tab
  const dialog = page.getByRole('dialog')
  const choose = async (shown: string, next: string) => {
    await main().getByRole('button', { name: shown }).click()
    await page.getByRole('option', { name: next }).click()
  }
  await tab.go('/explore')
  await button('Add a filter').click()
  await dialog.locator('input').first().fill('events.name')
  await page.keyboard.press('Enter')
  await dialog.getByRole('textbox', { name: 'Values' }).fill('purch')
  await dialog.getByRole('button', { name: /^purchase/ }).click()
  await dialog.getByRole('button', { name: 'Apply' }).click()
  await main().getByText('Event is purchase').waitFor()
  await choose('No comparison', 'Period before')
  await button('Last 30 days').click()
  await dialog.getByRole('button', { name: 'Last 7 days' }).click()
  await main().getByRole('button', { name: 'Events (before)' }).waitFor()
  await button('Save').click()
  await dialog.getByRole('textbox').fill('Purchases of the week')
  await dialog.getByRole('button', { name: 'Save' }).click()
  await main().getByRole('link', { name: 'Saved query' }).click()
  await addressed(/^\/console\/saved\/[0-9a-f]{24}$/)
  await main().getByText('Send the results on a schedule').click()
  await main().getByRole('listitem').filter({ hasText: '(UTC)' }).nth(4).waitFor()
  await button('Save the schedule').click()
  await page.getByText('The schedule is saved').waitFor()
  const id = new URL(page.url()).pathname.split('/').at(-1)
  expect(await world.service.dataOf('GET', `/statistics/query/${id}`)).toMatchObject({
    name: 'Purchases of the week',
    queries: [{ filters: [{ member: 'events.name', operator: 'equals', values: ['purchase'] }] }],
    schedule: { enabled: true },
  })
})

test('an address of yesterday opens with a word about what was left out', async () => {
  const query = {
    measures: ['events.count', 'events.gone'],
    dimensions: ['events.deviceType', 'sessions.gone'],
    filters: [{ member: 'events.alsoGone', operator: 'equals', values: ['x'] }],
    timeDimensions: [],
  }
  await tab.go(`/explore?query=${encodeURIComponent(JSON.stringify(query))}`)
  const word = main().getByText(/events\.gone.*sessions\.gone.*events\.alsoGone/)
  await word.waitFor()
  await main().getByText('As of').first().waitFor()
  await tab.go(`/funnels?breakdown=${encodeURIComponent('"events.gone"')}`)
  await main()
    .getByText(/Left out.*events\.gone/)
    .waitFor()
})

test('a bar of a funnel, a cell of retention, and a step of paths lead on', async () => {
  const asCohort = async () => {
    await addressed(/^\/console\/cohorts\/new\?rule=/)
    await main().getByText('Who belongs to it').waitFor()
    // The rule is counted.
    await main()
      .getByText(/of them are identified/)
      .waitFor()
  }
  await tab.go('/funnels')
  await main().getByRole('button', { name: /^1\. / }).first().waitFor()
  await tab.audit('a funnel')
  await main().getByRole('button', { name: /^1\. / }).first().click()
  await tab.page.getByRole('link', { name: 'These people as a cohort' }).click()
  await asCohort()
  await tab.go('/retention?by=week')
  await main().getByRole('row').nth(2).getByRole('link').first().click()
  await asCohort()
  await button('Create cohort').waitFor()
  await main().getByLabel('Name').fill('Who came back')
  await button('Create cohort').click()
  await addressed(/^\/console\/cohorts\/[0-9a-f]{24}$/)
  await main().getByRole('heading', { name: 'Who came back' }).waitFor()
  await tab.go('/paths')
  await main().getByRole('region', { name: 'Paths' }).waitFor()
  await tab.audit('paths')
  await main()
    .getByRole('button', { name: /^\/search/ })
    .first()
    .click()
  await tab.page.getByRole('menuitem', { name: 'Paths from here' }).click()
  await addressed(/from=.*search/)
  await main().getByRole('region', { name: 'Paths' }).waitFor()
})

test('a filter that tiles share changes what they show, and goes again', async () => {
  const { page } = tab
  const dialog = page.getByRole('dialog')
  await tab.go('/dashboards/overview')
  const people = () => main().getByRole('region', { name: 'People', exact: true })
  const shown = async () => (await people().textContent()) ?? ''
  await expect.poll(shown).toMatch(/\d/)
  const before = await shown()
  await button('Filter').click()
  await dialog.getByRole('searchbox').fill('Device type')
  await page.keyboard.press('Enter')
  await dialog.getByRole('option', { name: 'tablet' }).click()
  await dialog.getByRole('button', { name: 'Add' }).click()
  await addressed(/filters=.*tablet/)
  await expect.poll(shown).not.toBe(before)
  await tab.audit('a dashboard with a filter')
  await button('Remove the filter: Device type is tablet').click()
  await expect.poll(shown).toBe(before)
})

test('a funnel, a retention and paths are saved, opened again, and come back when their deletion is undone', async () => {
  for (const [path, name, shown] of [
    ['/funnels', 'My funnel', '1. page_view'],
    ['/retention', 'My retention', '100%'],
    ['/paths', 'My paths', 'Session begins'],
  ] as const) {
    await tab.go(path)
    const picture = () => main().getByText(shown).locator('visible=true').first()
    await picture().waitFor()
    await button('Save').click()
    const dialog = tab.page.getByRole('dialog')
    await dialog.getByRole('textbox').fill(name)
    await dialog.getByRole('button', { name: 'Save' }).click()
    await main().getByRole('link', { name }).waitFor()
    await tab.go('/saved?kind=explorations')
    await main().getByRole('link', { name }).click()
    await picture().waitFor()
    // What is asked is what was saved: the link says so in the place of the button.
    await main().getByRole('link', { name }).waitFor()
  }
  await tab.go('/saved?kind=explorations')
  await button('Delete: My paths').click()
  await button('Undo').click()
  await main().getByRole('link', { name: 'My paths' }).waitFor()
})

test('a dashboard of one’s own: a tile, moved by keys; the second who saves sees both', async () => {
  const { page } = tab
  await tab.go('/dashboards')
  await button('New dashboard').click()
  await page.getByRole('dialog').getByRole('textbox').fill('Two people')
  await page.getByRole('dialog').getByRole('button', { name: 'Create' }).click()
  await button('Add a tile').click()
  const dialog = page.getByRole('dialog')
  await dialog.getByText('Text', { exact: true }).first().click()
  await dialog.getByRole('textbox', { name: 'Text' }).fill('What this is about')
  await dialog.getByRole('textbox', { name: 'Title' }).fill('A note')
  await dialog.getByRole('button', { name: 'Add' }).click()
  await button('Move or size A note').focus()
  await page.keyboard.press('ArrowRight')
  await page.getByText(/A note: column 2, row 1/).waitFor({ state: 'attached' })
  await tab.audit('a dashboard that is edited')
  await button('Save').click()
  await button('Edit').click()
  const id = new URL(page.url()).pathname.split('/').at(-1)
  const { name, tiles, filters, range, comparison } = await world.service.dataOf<Record<string, unknown>>(
    'GET',
    `/statistics/dashboards/${id}`,
  )
  expect(tiles).toMatchObject([{ title: 'A note', x: 1 }])
  await world.service.dataOf('PUT', `/statistics/dashboards/${id}`, {
    ...{ tiles, filters, range, comparison },
    name: `${name} and a third`,
  })
  await page.getByLabel('Name', { exact: true }).fill('Mine')
  await button('Save').click()
  await dialog.getByText('Called Two people and a third').waitFor()
  await dialog.getByText('Called Mine').waitFor()
  await tab.audit('a conflict')
  await dialog.getByRole('button', { name: 'Save mine as a copy' }).click()
  await main().getByRole('heading', { name: 'Copy of Mine' }).waitFor()
  expect(tab.takeComplaints().filter((each) => !each.startsWith('412 '))).toEqual([])
  await page.getByRole('button', { name: 'More' }).first().click()
  await page.getByRole('menuitem', { name: 'Full screen' }).click()
  await button('Leave full screen').waitFor()
  await page.keyboard.press('Enter')
  await main().getByRole('heading', { name: 'Copy of Mine' }).waitFor()
})

test('events leave as files; a person is found and erased; a deleted datasource comes back', async () => {
  const { service } = world
  await tab.go('/data?tab=exports')
  await button('New export').click()
  const dialog = tab.page.locator('[role=dialog], [role=alertdialog]')
  await dialog.getByRole('button', { name: 'Export', exact: true }).click()
  await main().getByText('Done', { exact: true }).waitFor()
  await button('Show the files').click()
  const [file] = await Promise.all([
    tab.page.waitForEvent('download'),
    main()
      .getByRole('button', { name: /^Download .*parquet$/ })
      .first()
      .click(),
  ])
  expect(file.suggestedFilename()).toMatch(/^\d{4}-\d\d-\d\d\.parquet$/)
  await tab.audit('exports')

  const sent = await fetch(service.trackerUrl, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({
      ...{ key: service.companyId, name: 'page_view', v: 1, url: 'https://shop.example/', data: {} },
      ...{ tmpId: 'tablet', clientId: 'to-be-erased', eventId: 'to-be-erased' },
    }),
  })
  expect(sent.status).toBe(200)
  await service.loaded()
  await tab.go('/data?tab=person')
  await main().getByRole('textbox', { name: 'Identifier' }).fill('to-be-erased')
  await main().getByRole('button', { name: 'Search', exact: true }).click()
  await main().getByText('1 event', { exact: true }).waitFor()
  await main().getByRole('button', { name: 'Erase', exact: true }).click()
  await dialog.getByRole('button', { name: 'Erase' }).click()
  await main().getByText('Done', { exact: true }).waitFor()
  await main().getByRole('button', { name: 'Search', exact: true }).click()
  await main().getByText('Nothing is stored of this person').waitFor()
  await tab.audit('a person')

  const { id } = await service.dataOf<{ id: string }>('POST', '/datasources', { name: 'Former website' })
  await service.dataOf('DELETE', `/datasources/${id}`)
  await tab.go('/data?tab=deleted')
  await main().getByText('Former website').waitFor()
  await button('Bring back').click()
  await main().getByText('Nothing that could be brought back').waitFor()
  expect(await service.dataOf('GET', `/datasources/${id}`)).toMatchObject({ status: 'published' })

  // Without a code the company stays open.
  await button('Close the company').click()
  const { name } = await service.dataOf<{ name: string }>('GET', '/entities/company')
  const closing = dialog.getByRole('button', { name: 'Close the company' })
  expect(await closing.isDisabled()).toBe(true)
  await dialog.getByRole('textbox', { name: 'Type in the name of the company' }).fill(name)
  await dialog.getByRole('textbox', { name: 'One-time code' }).fill('123456')
  await closing.click()
  await dialog.getByText(/One-time codes are not turned on/).waitFor()
  await tab.audit('closing a company')
  expect(tab.takeComplaints()).toEqual(['409 POST /v2/entities/company/close'])
  await dialog.getByRole('button', { name: 'Cancel' }).click()

  await tab.go('/data?tab=consent')
  const required = main().getByRole('listitem').filter({ hasText: 'Former website' })
  await required.getByText('Require consent').click()
  await required.getByText('events with consent alone').waitFor()
  await until(
    async () =>
      (await service.dataOf<{ consent: string }>('GET', `/datasources/${id}`)).consent === 'require',
  )
  await tab.audit('consent')

  await tab.go('/data')
  await main().getByRole('radio', { name: 'For some days' }).click()
  await main().getByRole('spinbutton').fill('30')
  await button('See what would be removed').click()
  await main()
    .getByText(/events from before .* would be removed/)
    .waitFor()
  await tab.audit('a retention')
})

test('by keys alone: skip the navigation, go somewhere, keep it as a favourite, come back to where a dialog was opened', async () => {
  const { page } = tab
  await tab.open('/account')
  await page.keyboard.press('Tab')
  await page.keyboard.press('Enter')
  expect(await tab.evaluate('document.activeElement.id')).toBe('content')
  await page.keyboard.press('Control+k')
  await page.getByRole('dialog').getByRole('textbox').waitFor()
  // Keys go to where the focus is, which comes a moment after the dialog.
  await expect.poll(() => tab.evaluate('document.activeElement.tagName')).toBe('INPUT')
  await page.keyboard.type('Retention')
  await page.keyboard.press('Enter')
  await addressed(/^\/console\/retention$/)
  await main().getByRole('heading', { name: 'Retention' }).waitFor()
  await button('Add to favourites').focus()
  await page.keyboard.press('Enter')
  await page.getByRole('dialog').getByLabel('Name').waitFor()
  await page.keyboard.press('Enter')
  await page.getByRole('navigation').getByRole('heading', { name: 'Favourites' }).waitFor()
  await tab.go('/dashboards')
  await button('New dashboard').focus()
  await page.keyboard.press('Enter')
  await page.getByRole('dialog').getByRole('textbox').waitFor()
  await page.keyboard.press('Escape')
  await page.getByRole('dialog').waitFor({ state: 'detached' })
  await expect.poll(() => tab.evaluate('document.activeElement.textContent')).toBe('New dashboard')
})

test('a service that is gone is said in a banner, and what was typed is saved once it is back', async () => {
  const { page } = tab
  await tab.go('/account')
  await page.getByLabel('Job title').fill('Keeper of the mill')
  await page.route(/\/v2\//, (route) => route.abort('connectionrefused'))
  await button('Save').click()
  const banner = page.getByText(
    'The service does not answer. It is asked again by itself; nothing you typed is lost.',
  )
  await banner.waitFor()
  expect(await page.getByLabel('Job title').inputValue()).toBe('Keeper of the mill')
  await page.unrouteAll({ behavior: 'wait' })
  await banner.waitFor({ state: 'detached' })
  expect(await page.getByLabel('Job title').inputValue()).toBe('Keeper of the mill')
  await button('Save').click()
  await expect
    .poll(
      async () => (await world.service.dataOf<{ jobTitle?: string }>('GET', '/entities/users/me')).jobTitle,
    )
    .toBe('Keeper of the mill')
  expect(tab.takeComplaints().filter((each) => !each.includes('ERR_CONNECTION_REFUSED'))).toEqual([])
})

test('a role that is changed while a page is open takes effect at the next request', async () => {
  const permissions = ['statistics:access', 'datasource:read']
  const role = await world.service.dataOf<{ id: string }>('POST', '/entities/roles', {
    name: 'looks',
    permissions,
  })
  const person = await world.addUser('looks')
  const other = await world.openTab()
  const links = other.page.getByRole('navigation').getByRole('link')
  await other.open('/explore', person)
  await links.getByText('Funnels').waitFor()
  await world.service.dataOf('PATCH', `/entities/roles/${role.id}`, { permissions: ['datasource:read'] })
  const again = other.page.getByRole('button', { name: 'Ask again' })
  await expect
    .poll(async () => {
      // The window may have asked by itself.
      if (await again.isVisible()) await again.click({ timeout: 2_000 }).catch(() => undefined)
      return other.page.locator('main').getByText('Your role does not allow this').isVisible()
    })
    .toBe(true)
  await links.getByText('Funnels').waitFor({ state: 'detached' })
  await links.getByText('Live').click()
  await other.page.locator('main').getByText('As they come').waitFor()
  expect(other.takeComplaints().filter((each) => !each.startsWith('403 '))).toEqual([])
  await other.context.close()
})

test('sample data goes by a press, and one’s own events stay', async () => {
  await tab.go('/start')
  await button('Remove the sample data').click()
  await button('Fill in sample data').waitFor()
  await expect
    .poll(() =>
      world.service.query({
        measures: ['events.count'],
        dimensions: ['events.name'],
        filters: [],
        timeDimensions: [],
      }),
    )
    .toMatchObject([{ 'events.name': 'purchase', 'events.count': 1 }])
})
