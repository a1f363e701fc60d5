/**
 * Pictures of the console, filled with sample data. Run: `npm run pictures` for those that docs/console.md shows, or
 * `npm run pictures -- --out DIRECTORY [--size phone|desk] [--theme light|dark] [--language en|fr] [--only NAME,NAME]`
 * for every screen; what is not given is taken each way. Chromium is the one of the tests.
 */
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { type ConsoleWorld, openConsole, type Tab } from '../packages/server/test/support/console.ts'
import { until } from '../packages/server/test/support/until.ts'

const { values } = parseArgs({
  options: {
    out: { type: 'string' },
    size: { type: 'string' },
    theme: { type: 'string' },
    language: { type: 'string' },
    only: { type: 'string' },
  },
})

const sizes = {
  phone: { width: 390, height: 844 },
  desk: { width: 1440, height: 900 },
  /** The width of a text, so that what is written stays legible. */
  document: { width: 1180, height: 760 },
} as const

interface Screen {
  readonly name: string
  readonly path: string
  /** What is done on the screen before its picture is taken. */
  readonly before?: (tab: Tab) => Promise<unknown>
}

/** A value of the address as the router writes it. */
const search = (state: Readonly<Record<string, unknown>>): string =>
  new URLSearchParams(
    Object.entries(state).map(([key, value]) => [
      key,
      typeof value === 'string' ? value : JSON.stringify(value),
    ]),
  ).toString()

const query = (
  measure: string,
  dimensions: readonly string[] = [],
  granularity?: 'day' | 'week',
  more: object = {},
) => ({
  measures: [measure],
  dimensions: [...dimensions],
  filters: [],
  timeDimensions: [
    {
      dimension: `${measure.slice(0, measure.indexOf('.'))}.time`,
      dateRange: 'last 30 days',
      ...(granularity && { granularity }),
    },
  ],
  ...more,
})

const steps = ['product_view', 'add_cart', 'purchase'].map((name) => ({ events: [name] }))

const press = (name: string | RegExp) => (tab: Tab) =>
  tab.page.locator('main').getByRole('button', { name }).first().click()

/** Fills in what the screens show, by the interface. */
async function fill({ service }: ConsoleWorld): Promise<readonly Screen[]> {
  await service.dataOf('PATCH', '/entities/users/me', { firstName: 'Ada', lastName: 'Byron' })
  await service.dataOf('PATCH', '/entities/company', { currency: 'EUR' })
  await service.dataOf('POST', '/entities/company/sample-data')
  await service.loaded()
  const { id: board } = await service.dataOf<{ id: string }>('POST', '/statistics/dashboards', {
    name: 'Shop of the week',
    description: 'What the team looks at on Mondays',
    range: 'from 29 days ago to now',
    comparison: 'previous',
    tiles: [
      {
        ...{ id: 'people', title: '', x: 0, y: 0, w: 3, h: 2, kind: 'query', view: 'number' },
        query: query('events.people'),
      },
      {
        ...{ id: 'revenue', title: '', x: 3, y: 0, w: 3, h: 2, kind: 'query', view: 'number' },
        query: query('purchases.revenue'),
      },
      {
        ...{ id: 'note', title: 'Note', x: 6, y: 0, w: 6, h: 2, kind: 'text' },
        text: 'The autumn campaign began on Monday. Compare with the month before.',
      },
      {
        ...{ id: 'days', title: 'Revenue by day', x: 0, y: 2, w: 8, h: 4, kind: 'query', view: 'area' },
        query: query('purchases.revenue', [], 'day'),
      },
      {
        ...{ id: 'channels', title: '', x: 8, y: 2, w: 4, h: 4, kind: 'query', view: 'list' },
        query: query('sessions.count', ['sessions.channel']),
      },
      {
        ...{ id: 'funnel', title: 'From page to purchase', x: 0, y: 6, w: 7, h: 4 },
        ...{ kind: 'exploration', exploration: 'funnel', definition: { steps, dateRange: 'last 30 days' } },
      },
      {
        ...{ id: 'devices', title: '', x: 7, y: 6, w: 5, h: 4, kind: 'query', view: 'pie' },
        query: query('sessions.count', ['sessions.deviceType']),
      },
    ],
  })
  const { id: saved } = await service.dataOf<{ id: string }>('POST', '/statistics/query/save', {
    name: 'Purchases by day',
    queries: [query('purchases.count', [], 'day')],
    schedule: {
      ...{ enabled: true, frequency: 'weekly', weekdays: [1], time: '07:30', timezone: 'Europe/Paris' },
      ...{ recipients: [service.admin.email], format: 'csv' },
    },
  })
  await service.dataOf('POST', '/statistics/query/save', {
    name: 'Sessions by channel',
    queries: [query('sessions.count', ['sessions.channel'])],
  })
  await service.dataOf('POST', `/statistics/query/${saved}/run`)
  const { id: cohort } = await service.dataOf<{ id: string }>('POST', '/statistics/cohorts', {
    name: 'Buyers of the month',
    description: 'At least one purchase in 30 days',
    rule: { event: { events: ['purchase'] }, atLeast: 1, dateRange: 'last 30 days' },
  })
  await service.dataOf('POST', '/statistics/exports', { table: 'events', from: '2026-01-01', everyHours: 24 })
  await service.dataOf('POST', '/statistics/exports', { table: 'orders', format: 'csv', from: '2026-01-01' })
  await service.dataOf('POST', '/entities/persons/erase', { clientIds: ['former-client'] })
  const { id: former } = await service.dataOf<{ id: string }>('POST', '/datasources', {
    name: 'Former website',
  })
  await service.dataOf('DELETE', `/datasources/${former}`)
  return [
    { name: 'overview', path: '/' },
    { name: 'start', path: '/start' },
    { name: 'live', path: '/live' },
    { name: 'dashboards', path: '/dashboards' },
    ...['overview', 'acquisition', 'sessions', 'purchases', 'conversions', 'workflows'].map((id) => ({
      name: `ready-${id}`,
      path: `/dashboards/${id}`,
    })),
    { name: 'dashboard', path: `/dashboards/${board}` },
    { name: 'dashboard-edit', path: `/dashboards/${board}`, before: press(/^(Edit|Modifier)$/) },
    { name: 'explore', path: `/explore?${search({ query: query('events.count', ['events.name'], 'day') })}` },
    { name: 'explore-empty', path: '/explore' },
    {
      name: 'explore-map',
      path: `/explore?${search({ query: query('sessions.count', ['sessions.country']), show: 'map' })}`,
    },
    {
      name: 'explore-table',
      path: `/explore?${search({ query: query('purchases.revenue', ['purchases.os']), show: 'table' })}`,
    },
    { name: 'funnels', path: `/funnels?${search({ steps })}` },
    { name: 'retention', path: '/retention' },
    { name: 'paths', path: '/paths' },
    { name: 'cohorts', path: '/cohorts' },
    { name: 'cohort', path: `/cohorts/${cohort}` },
    { name: 'cohort-new', path: '/cohorts/new' },
    { name: 'saved', path: '/saved' },
    { name: 'saved-query', path: `/saved/${saved}` },
    ...['profile', 'security', 'sessions', 'links', 'applications'].map((id) => ({
      name: `account-${id}`,
      path: `/account?tab=${id}`,
    })),
    {
      name: 'data-retention',
      path: '/data',
      async before(tab) {
        await tab.page.getByRole('radio', { name: /^(For some days|Quelques jours)$/ }).click()
        await tab.page.getByRole('spinbutton').fill('30')
        await press(/^(See what|Voir ce)/)(tab)
      },
    },
    { name: 'data-consent', path: '/data?tab=consent' },
    { name: 'data-person', path: '/data?tab=person' },
    { name: 'data-exports', path: '/data?tab=exports' },
    { name: 'data-export-new', path: '/data?tab=exports', before: press(/^(New export|Nouvel export)$/) },
    { name: 'data-deleted', path: '/data?tab=deleted' },
    {
      name: 'data-close',
      path: '/data?tab=deleted',
      before: press(/^(Close the company|Fermer l’entreprise)$/),
    },
    {
      name: 'palette',
      path: '/cohorts',
      before: async ({ page }) => {
        await page.keyboard.press('Control+k')
        await page.getByRole('dialog').waitFor()
      },
    },
  ]
}

/** Nothing in sight is loading, nothing moves, and what was drawn is on the screen. */
async function settle(tab: Tab): Promise<void> {
  await until(
    () =>
      tab.evaluate<boolean>(`(async () => {
        await document.fonts.ready
        await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))
        const moves = document.getAnimations().some((each) => each instanceof CSSTransition)
        const loads = [...document.querySelectorAll('[role=status][aria-label], [aria-busy=true]')]
        return !moves && performance.now() > 1500 && !loads.some((each) => each.getBoundingClientRect().top < innerHeight)
      })()`),
    50,
  )
}

/**
 * @param file its ending says the format
 * @param isWhole the whole screen, not only what is in sight
 */
async function shoot(tab: Tab, file: string, isWhole: boolean): Promise<void> {
  const { page, context } = tab
  const devtools = await context.newCDPSession(page)
  const size = page.viewportSize()
  const { cssContentSize } = await devtools.send('Page.getLayoutMetrics')
  if (isWhole && size && cssContentSize.height > size.height) {
    // What is out of sight is not asked for.
    await page.setViewportSize({ width: size.width, height: Math.ceil(cssContentSize.height) })
    await settle(tab)
  }
  const { data } = await devtools.send(
    'Page.captureScreenshot',
    file.endsWith('.webp') ? { format: 'webp', quality: 60 } : { format: 'png' },
  )
  await devtools.detach()
  if (size) await page.setViewportSize(size)
  writeFileSync(file, Buffer.from(data, 'base64'))
}

interface Look {
  readonly size: keyof typeof sizes
  readonly theme: 'light' | 'dark'
  readonly language: 'en' | 'fr'
}

async function takeAll(
  world: ConsoleWorld,
  tab: Tab,
  screens: readonly Screen[],
  { size, theme, language }: Look,
  fileOf: (name: string) => string,
): Promise<void> {
  await world.service.dataOf('PATCH', '/entities/users/me', { theme, language })
  await tab.page.emulateMedia({ reducedMotion: 'reduce', colorScheme: theme })
  await tab.page.setViewportSize(sizes[size])
  for (const { name, path, before } of screens) {
    await tab.open(path)
    await settle(tab)
    await before?.(tab)
    if (before) await settle(tab)
    await shoot(tab, fileOf(name), size !== 'document')
    for (const complaint of tab.takeComplaints()) console.error(`${name}: ${complaint}`)
  }
}

/** What docs/console.md shows, and how. */
const documented = {
  light: ['overview', 'start', 'live', 'dashboard', 'explore', 'funnels', 'retention', 'paths', 'cohort'],
  dark: ['overview'],
} as const

const chosen = <T extends string>(value: string | undefined, all: readonly T[]): readonly T[] =>
  value === undefined ? all : all.filter((each) => value.split(',').includes(each))

const world = await openConsole()
try {
  const tab = await world.openTab()
  await tab.open('/account', world.admin)
  const screens = await fill(world)
  const { out } = values
  if (out === undefined) {
    const directory = fileURLToPath(new URL('../docs/pictures/', import.meta.url))
    mkdirSync(directory, { recursive: true })
    for (const theme of ['light', 'dark'] as const) {
      const names: readonly string[] = documented[theme]
      const shown = screens.filter(({ name }) => names.includes(name))
      await takeAll(world, tab, shown, { size: 'document', theme, language: 'en' }, (name) =>
        join(directory, theme === 'light' ? `${name}.webp` : `${name}-${theme}.webp`),
      )
    }
  } else {
    mkdirSync(out, { recursive: true })
    const taken = screens.filter(({ name }) => values.only?.split(',').includes(name) ?? true)
    for (const size of chosen(values.size, ['desk', 'phone']))
      for (const language of chosen(values.language, ['en', 'fr']))
        for (const theme of chosen(values.theme, ['light', 'dark']))
          await takeAll(world, tab, taken, { size, theme, language }, (name) =>
            join(out, `${name}-${size}-${theme}-${language}.png`),
          )
  }
} finally {
  await world.close()
}
