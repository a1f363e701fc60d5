import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import { browserAbsent } from '../support/chromium.ts'
import { type ConsoleWorld, openConsole, signIn, type Tab } from '../support/console.ts'

/** The overview leads on to the first steps while nothing is stored. */
const home = /^\/console\/(start)?$/

let world: ConsoleWorld
let tab: Tab

beforeAll(async () => {
  if (browserAbsent) return
  world = await openConsole()
})

beforeEach(async (context) => {
  if (browserAbsent) context.skip(browserAbsent)
  tab = await world.openTab()
})

afterEach(async () => {
  if (browserAbsent) return
  const complaints = tab.takeComplaints()
  await tab.context.close()
  expect(complaints).toEqual([])
})

afterAll(async () => {
  if (!browserAbsent) await world.close()
})

const signedOut = (page = tab.page) => page.getByRole('heading', { name: 'You are signed out' })

test('a user signs in by the service’s pages, comes to the view that was asked for, and a reload keeps the session', async () => {
  await tab.open('/account?tab=sessions', world.admin)
  expect(tab.page.url()).toBe(`${world.origin}/console/account?tab=sessions`)
  await tab.page.reload()
  await tab.page.getByRole('heading', { name: 'Sessions' }).waitFor()
  // Where the router was scrolled to is all that scripts of the page could read again.
  expect(
    await tab.evaluate<string[]>(
      '[...Object.keys(localStorage), ...Object.keys(sessionStorage), document.cookie]',
    ),
  ).toEqual([expect.stringMatching(/^tsr-scroll-restoration/), ''])
})

test('a browser that asks for the service gets the console, a program its text', async () => {
  await tab.page.goto(world.origin)
  await tab.page.locator('input[name=username]').waitFor()
  await signIn(tab.page, world.admin)
  await tab.page.getByRole('navigation').first().waitFor()
  expect(new URL(tab.page.url()).pathname).toMatch(home)
  const reply = await fetch(world.origin, { headers: { accept: '*/*' }, redirect: 'manual' })
  expect([reply.status, reply.headers.get('content-type')]).toEqual([200, 'text/plain; charset=utf-8'])
})

test('an address that is no screen says so, with a way back', async () => {
  await tab.open('/nowhere/at/all', world.admin)
  await tab.page.getByText('There is nothing here').waitFor()
  await tab.page.getByRole('link', { name: 'Overview' }).click()
  await tab.page.waitForURL(({ pathname }) => home.test(pathname))
})

test('a link that claims a failed sign-in shows none of its words, and ends no session', async () => {
  await tab.open('/account', world.admin)
  const claim = new URLSearchParams({
    state: 'x',
    error: 'access_denied',
    error_description: 'Call 555-0100',
  })
  await tab.page.goto(`${world.origin}/console/?${claim}`)
  await tab.page.getByRole('navigation').first().waitFor()
  expect(await tab.page.getByText('Call 555-0100').count()).toBe(0)
  const { pathname, search } = new URL(tab.page.url())
  expect(pathname).toMatch(home)
  expect(search).toBe('')
})

test('a sign-out in one window ends the session in the other', async () => {
  await tab.open('/account', world.admin)
  const other = await world.openTab(tab.context)
  await other.open('/account?tab=links')
  await other.page.getByRole('button', { name: 'Sign out' }).click()
  await signedOut(other.page).waitFor()
  await signedOut().waitFor()
  await tab.page.reload()
  await tab.page.locator('input[name=username]').waitFor()
  expect(other.takeComplaints()).toEqual([])
})

test('a session that ends in mid-work keeps what was typed, and signing in again beside it goes on', async () => {
  const person = await world.addUser('editor')
  await tab.open('/account', person)
  await tab.page.getByLabel('Job title').fill('Keeper of the mill')
  const { page } = tab
  // Elsewhere, as by an administrator: the page learns of it by its next request.
  const changed = await world.service.operate('user', 'password', '--email', person.email, '--json')
  const { password } = JSON.parse(changed) as { password: string }
  await page.getByRole('button', { name: 'Save' }).click()
  const again = page.getByRole('button', { name: 'Sign in again' })
  await again.waitFor()
  expect(await page.getByLabel('Job title').inputValue()).toBe('Keeper of the mill')
  const opened = page.waitForEvent('popup')
  await again.click()
  const popup = await opened
  await signIn(popup, { email: person.email, password })
  if (!popup.isClosed()) await popup.waitForEvent('close')
  await again.waitFor({ state: 'hidden' })
  expect(await page.getByLabel('Job title').inputValue()).toBe('Keeper of the mill')
  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByRole('status').getByText('Saved', { exact: true }).waitFor()
  // The refused requests are what the page learned it from.
  expect(tab.takeComplaints().filter((each) => !/^(400|401) /.test(each))).toEqual([])
})
