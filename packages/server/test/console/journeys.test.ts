import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import type { Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import { browserAbsent } from '../support/chromium.ts'
import { type ConsoleWorld, openConsole, type Tab } from '../support/console.ts'

// What a person does, by the words of the screens alone. One service; each journey stands on those before it.

let world: ConsoleWorld
let tab: Tab
let page: Page

beforeAll(async () => {
  if (browserAbsent) return
  world = await openConsole()
  tab = await world.openTab({ acceptDownloads: true, viewport: { width: 1280, height: 900 } })
  page = tab.page
  await tab.open('/start', world.admin)
})

beforeEach((context) => {
  if (browserAbsent) context.skip(browserAbsent)
})

afterEach(() => {
  if (!browserAbsent) expect(tab.takeComplaints()).toEqual([])
})

afterAll(async () => {
  if (!browserAbsent) await world.close()
})

const main = () => page.locator('main')
const button = (name: string | RegExp, within = main()) => within.getByRole('button', { name }).first()
const heading = (name: string) => main().getByRole('heading', { name, exact: true }).first()

test('the first minutes: the command of the screen is run, and its event is seen, ticked off and drawn', async () => {
  await page.getByRole('radio', { name: 'Terminal' }).click()
  const command = await main().locator('pre').first().textContent()
  const { stdout } = await promisify(execFile)('sh', ['-c', command ?? ''])
  expect(stdout).toContain('200')
  await main().getByText('purchase', { exact: true }).first().waitFor()
  for (const step of ['First event', 'First known person', 'First purchase'])
    await main().getByRole('listitem').filter({ hasText: step }).getByText('Done').waitFor()
  await main()
    .getByRole('img', { name: /Events/ })
    .or(main().locator('canvas'))
    .first()
    .waitFor()
})

test('the sample data comes by one button', async () => {
  await button('Fill in sample data').click()
  // It leads there by itself once the events are in the statistics.
  await heading('Overview').waitFor({ timeout: 120_000 })
  await main().getByText('People').first().waitFor()
  await main().locator('canvas').first().waitFor()
})

test('a question is built, saved, shared by its address, explained and taken away', async () => {
  await tab.open('/explore')
  await button('Add a measure').click()
  const dialog = page.getByRole('dialog')
  await dialog
    .getByRole('searchbox')
    .or(dialog.getByRole('combobox'))
    .or(dialog.getByRole('textbox'))
    .first()
    .fill('events.people')
  await page.keyboard.press('Enter')
  await page.keyboard.press('Escape')
  await button('Add a grouping').click()
  await dialog
    .getByRole('searchbox')
    .or(dialog.getByRole('combobox'))
    .or(dialog.getByRole('textbox'))
    .first()
    .fill('events.name')
  await page.keyboard.press('Enter')
  await page.keyboard.press('Escape')
  const title = 'Events, People · Event'
  await heading(title).waitFor()
  await main().locator('canvas').first().waitFor()

  const shared = await world.openTab(tab.context)
  await shared.page.goto(page.url())
  await shared.page.locator('main').getByRole('heading', { name: title }).waitFor()
  await shared.page.close()

  const downloading = page.waitForEvent('download')
  await button(/Download/).click()
  await page.getByRole('menuitem', { name: /CSV/ }).click()
  expect((await downloading).suggestedFilename()).toMatch(/\.csv$/)

  await button('Save').click()
  await dialog.getByLabel('Name', { exact: true }).fill('People by event')
  await dialog.getByRole('button', { name: 'Save' }).click()
  await main().getByRole('link', { name: 'Saved query' }).click()
  await heading('People by event').waitFor()
})

test('a funnel, a retention and paths are drawn, saved and opened again', async () => {
  for (const [path, name, picture] of [
    ['/funnels', 'My funnel', '68'],
    ['/retention', 'My retention', '100%'],
    ['/paths', 'My paths', 'Session begins'],
  ] as const) {
    await tab.open(path)
    await main().getByText(picture).locator('visible=true').first().waitFor()
    await button('Save').click()
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('Name', { exact: true }).fill(name)
    await dialog.getByRole('button', { name: 'Save' }).click()
    await main().getByRole('link', { name }).waitFor()
    await tab.open('/saved?kind=explorations')
    await main().getByRole('link', { name }).click()
    await main().getByText(picture).locator('visible=true').first().waitFor()
    await main().getByRole('link', { name }).waitFor()
  }
  await tab.open('/saved?kind=explorations')
  await button('Delete: My paths').click()
  await page.getByRole('button', { name: 'Undo' }).click()
  await main().getByRole('link', { name: 'My paths' }).waitFor()
})

test('the people of a step become a cohort, whose size is shown as it is made', async () => {
  await tab.open('/funnels')
  await main().getByText('As a cohort').first().click()
  await heading('New cohort').waitFor()
  await main()
    .getByText(/of them are identified/)
    .waitFor()
  await main().getByLabel('Name', { exact: true }).fill('Visitors')
  await button('Create cohort').click()
  await heading('Visitors').waitFor()
  await tab.open('/cohorts')
  await main().getByRole('link', { name: 'Visitors' }).waitFor()
})

test('a dashboard is made one’s own, its tiles move by keyboard, and a second save sees both versions', async () => {
  await tab.open('/dashboards/overview')
  await main().getByText('People by day').first().waitFor()
  await button('Make it your own').click()
  await page.waitForURL(/dashboards\/[0-9a-f]{24}/)
  const second = await world.openTab(tab.context)
  await second.page.goto(page.url().split('?')[0] ?? '')
  await second.page.getByRole('button', { name: 'Edit', exact: true }).click()
  await second.page.getByLabel('Name', { exact: true }).fill('Theirs')

  const edit = button('Edit').or(button('Save'))
  await edit.waitFor()
  if ((await button('Edit').count()) > 0) await button('Edit').click()
  const handle = main()
    .getByRole('button', { name: /^Move or size/ })
    .first()
  await handle.focus()
  await page.keyboard.press('ArrowDown')
  await main()
    .getByText(/: column \d+, row \d+, \d+ wide, \d+ high/)
    .waitFor({ state: 'attached' })
  await main().getByLabel('Name', { exact: true }).fill('Mine')
  await button('Save').click()
  await heading('Mine').waitFor()

  await second.page.getByRole('button', { name: 'Save', exact: true }).click()
  const conflict = second.page.getByRole('dialog')
  await conflict.getByText('Mine').first().waitFor()
  await conflict.getByText('Theirs').first().waitFor()
  await conflict.getByRole('button', { name: /copy/i }).click()
  await second.page.getByRole('heading', { name: 'Copy of Theirs' }).waitFor()
  expect(second.takeComplaints().filter((each) => !each.startsWith('412 '))).toEqual([])
  await second.page.close()
})

test('what is typed outlives a service that is gone', async () => {
  await tab.open('/account')
  await main().getByLabel('Job title').fill('Miller')
  let refused = 0
  await page.route(/\/users\/me$/, async (route) => {
    await route.abort('connectionrefused')
    refused += 1
  })
  await button('Save').click()
  await expect.poll(() => refused).toBeGreaterThan(0)
  await expect.poll(() => button('Save').isEnabled()).toBe(true)
  expect(await main().getByLabel('Job title').inputValue()).toBe('Miller')
  await page.unrouteAll({ behavior: 'wait' })
  await button('Save').click()
  await page.getByText('Saved', { exact: true }).first().waitFor()
  expect(tab.takeComplaints().filter((each) => !each.includes('ERR_CONNECTION_REFUSED'))).toEqual([])
})

test('everything is reached by keyboard: the palette opens a screen, and a dialog gives the focus back', async () => {
  await tab.open('/live')
  await page.keyboard.press('Control+k')
  await page.keyboard.type('Retention')
  await page.keyboard.press('Enter')
  await heading('Retention').waitFor()
  await button('Save').focus()
  await page.keyboard.press('Enter')
  await page.getByRole('dialog').waitFor()
  await page.keyboard.press('Escape')
  await page.getByRole('dialog').waitFor({ state: 'detached' })
  expect(await tab.evaluate<string>('document.activeElement.textContent')).toBe('Save')
})

test('the sample data leaves by one button', async () => {
  await tab.open('/start')
  await button('Remove the sample data').click()
  await button('Fill in sample data').waitFor({ timeout: 60_000 })
})
