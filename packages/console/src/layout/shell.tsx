import { useQuery, useQueryClient } from '@tanstack/react-query'
import { Link, Outlet, useRouterState } from '@tanstack/react-router'
import { useEffect, useLayoutEffect, useState } from 'react'
import { placeOf, readFavourite } from '../data/favourites.ts'
import { profileQuery, useProfile } from '../data/profile.ts'
import { isPassing } from '../data/query-client.ts'
import { metaQuery } from '../data/statistics.ts'
import { session } from '../session/session.ts'
import { useSessionState } from '../session/use-session.ts'
import { common } from '../texts/common.ts'
import { LanguageContext, languageOfBrowser, useTexts } from '../texts/texts.ts'
import { Button, IconButton } from '../ui/button.tsx'
import { Icon } from '../ui/icon.tsx'
import { Page } from '../ui/page.tsx'
import { Empty, Loaded, Skeleton } from '../ui/state.tsx'
import { Toasts } from '../ui/toast.tsx'
import { destinations, places } from './destinations.ts'
import { Palette } from './palette.tsx'
import { PlaceLink } from './place-link.tsx'
import styles from './shell.module.css'
import { SignedOut } from './signed-out.tsx'
import { applyTheme, UserMenu } from './user-menu.tsx'

/** Around every screen: language, theme, navigation, what concerns the whole page. */
export function Shell() {
  const state = useSessionState()
  const profile = useProfile()
  const language = profile?.language ?? languageOfBrowser()
  const queries = useQueryClient()
  // Before the screens ask: requests say the language of the page.
  useLayoutEffect(() => {
    if (document.documentElement.lang === language) return
    document.documentElement.lang = language
    // Names of members come in the language of the request; one that is under way asked for the other.
    const { queryKey } = metaQuery
    void queries.cancelQueries({ queryKey }).then(() => queries.invalidateQueries({ queryKey }))
  }, [language, queries])
  useEffect(() => applyTheme(profile?.theme ?? 'system'), [profile?.theme])
  if (state === 'closed') return <SignedOut />
  return (
    <LanguageContext value={language}>
      <Frame />
      <Toasts />
    </LanguageContext>
  )
}

function Frame() {
  const t = useTexts(places)
  const [isMenuOpen, setMenuOpen] = useState(false)
  const [isPaletteOpen, setPaletteOpen] = useState(false)
  const path = useRouterState({ select: (state) => state.location.pathname })
  // biome-ignore lint/correctness/useExhaustiveDependencies: a new path closes the menu of a phone
  useEffect(() => setMenuOpen(false), [path])
  useEffect(() => {
    const open = (event: KeyboardEvent) => {
      if (event.key.toLowerCase() !== 'k' || !(event.metaKey || event.ctrlKey)) return
      event.preventDefault()
      setPaletteOpen(true)
    }
    addEventListener('keydown', open)
    return () => removeEventListener('keydown', open)
  }, [])
  return (
    <div className={styles.frame} data-menu={isMenuOpen}>
      <a className={styles.skip} href="#content">
        {t.skip}
      </a>
      <div className={styles.bar}>
        <IconButton
          icon={isMenuOpen ? 'close' : 'menu'}
          label={t.openMenu}
          aria-expanded={isMenuOpen}
          onPress={() => setMenuOpen(!isMenuOpen)}
        />
        <Link to="/" className={styles.brand}>
          Millrace
        </Link>
        <IconButton icon="search" label={t.palette} onPress={() => setPaletteOpen(true)} />
      </div>
      <aside className={styles.side}>
        <Link to="/" className={styles.brand}>
          <img src={logo} alt="" width="24" height="24" />
          Millrace
        </Link>
        <Button kind="plain" icon="search" onPress={() => setPaletteOpen(true)}>
          <span className={styles.paletteText}>{t.palette}</span>
          <kbd className={styles.key}>Ctrl K</kbd>
        </Button>
        <Navigation />
        <UserMenu />
      </aside>
      <div className={styles.main}>
        <Banners />
        <main id="content" tabIndex={-1} className={styles.content}>
          <Allowed />
        </main>
      </div>
      <Palette isOpen={isPaletteOpen} onClose={() => setPaletteOpen(false)} />
    </div>
  )
}

/** A screen whose answers the role would refuse is not asked for any, however its address was come by. */
function Allowed() {
  const t = useTexts(common)
  const names = useTexts(places)
  const profile = useQuery(profileQuery)
  // Of the screen that is shown: the address is ahead of it while the next one loads.
  const route: string = useRouterState({ select: ({ matches }) => matches.at(-1)?.routeId ?? '' })
  const place = destinations.find(({ to }) => to === route || (to !== '/' && route.startsWith(`${to}/`)))
  if (!place?.needs || profile.data?.permissions.includes(place.needs)) return <Outlet />
  if (profile.isPending) return <Skeleton lines={6} />
  return (
    <Page title={names[place.text]}>
      <Loaded query={profile}>
        {() => (
          <Empty icon="shield" title={t.forbidden}>
            {t.forbiddenHint}
          </Empty>
        )}
      </Loaded>
    </Page>
  )
}

function Favourites() {
  const t = useTexts(places)
  const favourites = useProfile()?.preferences.favourites ?? []
  const here = placeOf(useRouterState({ select: (state) => state.location.href }))
  if (favourites.length === 0) return null
  return (
    <div className={styles.group}>
      <h2 className={styles.groupTitle}>{t.favourites}</h2>
      <ul>
        {favourites.map(readFavourite).map(({ text, place, name }) => (
          <li key={text}>
            <PlaceLink
              place={place}
              className={styles.link}
              aria-current={place === here ? 'page' : undefined}
            >
              <Icon name="star" />
              <span className={styles.favourite} dir="auto" title={name}>
                {name}
              </span>
            </PlaceLink>
          </li>
        ))}
      </ul>
    </div>
  )
}

function Navigation() {
  const t = useTexts(places)
  const permissions = useProfile()?.permissions ?? []
  const shown = destinations.filter(({ needs }) => needs === undefined || permissions.includes(needs))
  return (
    <nav aria-label={t.navigation} className={styles.nav}>
      {(['top', 'analyse', 'data'] as const).map((group) => {
        const links = shown.filter((each) => each.group === group)
        if (links.length === 0) return null
        return (
          <div key={group} className={styles.group}>
            {group !== 'top' && <h2 className={styles.groupTitle}>{t[group]}</h2>}
            <ul>
              {links.map(({ to, text, icon }) => (
                <li key={to}>
                  <Link
                    to={to}
                    className={styles.link}
                    activeOptions={{ exact: to === '/', includeSearch: false }}
                  >
                    <Icon name={icon} />
                    {t[text]}
                  </Link>
                </li>
              ))}
            </ul>
          </div>
        )
      })}
      <Favourites />
      <a className={styles.link} href="/docs" target="_blank" rel="noreferrer">
        <Icon name="question" />
        {t.documents}
      </a>
    </nav>
  )
}

function Banners() {
  const t = useTexts(places)
  const state = useSessionState()
  const isOffline = isPassing(useQuery(profileQuery).failureReason)
  return (
    <div aria-live="polite">
      {state === 'ended' && (
        <div className={styles.banner}>
          {t.ended}
          <Button kind="main" onPress={() => void session.signInAgain()}>
            {t.signInAgain}
          </Button>
        </div>
      )}
      {isOffline && <div className={styles.banner}>{t.offline}</div>}
    </div>
  )
}

const logo = new URL('../icon.svg', import.meta.url).href
