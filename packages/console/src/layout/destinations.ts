import type { LinkProps } from '@tanstack/react-router'
import type { Permission } from '../data/profile.ts'
import { texts } from '../texts/texts.ts'
import type { IconName } from '../ui/icon.tsx'

export const places = texts(
  {
    overview: 'Overview',
    start: 'Get started',
    live: 'Live',
    dashboards: 'Dashboards',
    explore: 'Explore',
    funnels: 'Funnels',
    retention: 'Retention',
    paths: 'Paths',
    cohorts: 'Cohorts',
    saved: 'Saved',
    privacy: 'Data and privacy',
    account: 'Your account',
    analyse: 'Analyse',
    data: 'Data',
    navigation: 'Navigation',
    skip: 'Skip to the content',
    openMenu: 'Menu',
    palette: 'Go to or search',
    paletteHint: 'A screen, a query, a dashboard',
    noMatch: 'Nothing has this name',
    theme: 'Theme',
    light: 'Light',
    dark: 'Dark',
    system: 'As the system',
    signOut: 'Sign out',
    ended: 'Your session has ended. What you typed is still here.',
    signInAgain: 'Sign in again',
    offline: 'The service does not answer. It is asked again by itself; nothing you typed is lost.',
    documents: 'Documents',
    favourites: 'Favourites',
  },
  {
    overview: 'Vue d’ensemble',
    start: 'Premiers pas',
    live: 'En direct',
    dashboards: 'Tableaux de bord',
    explore: 'Explorer',
    funnels: 'Entonnoirs',
    retention: 'Rétention',
    paths: 'Parcours',
    cohorts: 'Cohortes',
    saved: 'Enregistrés',
    privacy: 'Données et vie privée',
    account: 'Votre compte',
    analyse: 'Analyser',
    data: 'Données',
    navigation: 'Navigation',
    skip: 'Aller au contenu',
    openMenu: 'Menu',
    palette: 'Aller à ou chercher',
    paletteHint: 'Un écran, une requête, un tableau de bord',
    noMatch: 'Rien ne porte ce nom',
    theme: 'Thème',
    light: 'Clair',
    dark: 'Sombre',
    system: 'Comme le système',
    signOut: 'Se déconnecter',
    ended: 'Votre session est terminée. Votre saisie est toujours là.',
    signInAgain: 'Se reconnecter',
    offline:
      'Le service ne répond pas. Une nouvelle tentative est faite automatiquement ; rien de votre saisie n’est perdu.',
    documents: 'Documentation',
    favourites: 'Favoris',
  },
)

export interface Destination {
  readonly to: LinkProps['to']
  readonly text: keyof (typeof places)['en']
  readonly icon: IconName
  readonly group: 'top' | 'analyse' | 'data'
  /** Without it the place is not shown. */
  readonly needs?: Permission
}

/** The places of the navigation and of the palette, in their order. */
export const destinations: readonly Destination[] = [
  { to: '/', text: 'overview', icon: 'home', group: 'top', needs: 'statistics:access' },
  { to: '/dashboards', text: 'dashboards', icon: 'dashboard', group: 'top', needs: 'statistics:access' },
  { to: '/explore', text: 'explore', icon: 'chart', group: 'analyse', needs: 'statistics:access' },
  { to: '/funnels', text: 'funnels', icon: 'funnel', group: 'analyse', needs: 'statistics:access' },
  { to: '/retention', text: 'retention', icon: 'retention', group: 'analyse', needs: 'statistics:access' },
  { to: '/paths', text: 'paths', icon: 'paths', group: 'analyse', needs: 'statistics:access' },
  { to: '/cohorts', text: 'cohorts', icon: 'people', group: 'analyse', needs: 'statistics:access' },
  { to: '/saved', text: 'saved', icon: 'saved', group: 'analyse', needs: 'statistics:access' },
  { to: '/live', text: 'live', icon: 'pulse', group: 'data', needs: 'datasource:read' },
  { to: '/data', text: 'privacy', icon: 'shield', group: 'data', needs: 'company:read' },
  { to: '/start', text: 'start', icon: 'start', group: 'data', needs: 'datasource:read' },
]
