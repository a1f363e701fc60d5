import { createRootRoute, createRoute, createRouter, lazyRouteComponent } from '@tanstack/react-router'
import { BrokenScreen, UnknownScreen } from './layout/broken-screen.tsx'
import { Shell } from './layout/shell.tsx'

/** What stands behind `?` of a view is its whole state: it can be shared, and back works. */
export type View = Readonly<Record<string, unknown>>

const root = createRootRoute({ component: Shell, notFoundComponent: UnknownScreen })

/** A screen with its own chunk. Its search is validated by the screen, which says what it left out. */
function screen<const Path extends string>(
  path: Path,
  load: () => Promise<{ readonly Screen: React.ComponentType }>,
) {
  return createRoute({
    getParentRoute: () => root,
    path,
    validateSearch: (search: Record<string, unknown>): View => search,
    component: lazyRouteComponent(load, 'Screen'),
  })
}

const routeTree = root.addChildren([
  screen('/', () => import('./screens/overview/overview.tsx')),
  screen('/start', () => import('./screens/start/start.tsx')),
  screen('/live', () => import('./screens/live/live.tsx')),
  screen('/explore', () => import('./screens/explore/explore.tsx')),
  screen('/funnels', () => import('./screens/funnels/funnels.tsx')),
  screen('/retention', () => import('./screens/retention/retention.tsx')),
  screen('/paths', () => import('./screens/paths/paths.tsx')),
  screen('/cohorts', () => import('./screens/cohorts/cohorts.tsx')),
  screen('/cohorts/$id', () => import('./screens/cohorts/cohort.tsx')),
  screen('/saved', () => import('./screens/saved/saved-list.tsx')),
  screen('/saved/$id', () => import('./screens/saved/saved-query.tsx')),
  screen('/dashboards', () => import('./screens/dashboards/dashboards.tsx')),
  screen('/dashboards/$id', () => import('./screens/dashboards/dashboard.tsx')),
  screen('/data', () => import('./screens/data/data.tsx')),
  screen('/account', () => import('./screens/account/account.tsx')),
])

export const router = createRouter({
  routeTree,
  basepath: '/console',
  defaultPreload: 'intent',
  defaultErrorComponent: BrokenScreen,
  scrollRestoration: true,
})

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router
  }
}
