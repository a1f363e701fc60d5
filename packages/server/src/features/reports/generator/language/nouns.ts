import type { StatisticsMeta } from '@millrace/contract/resources/statistics-meta.ts'
import type { Language } from '../../../../platform/i18n/language.ts'
import { findNumberTokens } from '../checker/number-tokens.ts'

/** What a measure or dimension is called in the middle of a sentence, and at the head of a table. */
export interface Noun {
  /** With its article, so that a verb in the singular can follow. */
  readonly text: string
  /** Of French: participles and adjectives agree with it. */
  readonly feminine: boolean
  readonly title: string
}

type Row = readonly [en: string, enTitle: string, fr: string, frTitle: string]

const measures: Readonly<Record<string, Row>> = {
  'purchases.revenue': ['revenue', 'Revenue', 'le chiffre d’affaires', 'Chiffre d’affaires'],
  'purchases.count': ['the number of purchases', 'Purchases', 'le nombre d’achats', 'Achats'],
  'purchases.buyers': ['the number of buyers', 'Buyers', 'le nombre d’acheteurs', 'Acheteurs'],
  'purchases.references': ['the number of references', 'References', 'le nombre de références', 'Références'],
  'purchases.averageOrderValue': [
    'the average order value',
    'Average order value',
    'le panier moyen',
    'Panier moyen',
  ],
  'purchases.revenuePerBuyer': [
    'revenue per buyer',
    'Revenue per buyer',
    'le chiffre d’affaires par acheteur',
    'Chiffre d’affaires par acheteur',
  ],
  'purchases.perBuyer': [
    'the number of purchases per buyer',
    'Purchases per buyer',
    'le nombre d’achats par acheteur',
    'Achats par acheteur',
  ],
  'purchases.referencesPerPurchase': [
    'the number of references per purchase',
    'References per purchase',
    'le nombre de références par achat',
    'Références par achat',
  ],
  'purchases.afterClick': [
    'the number of purchases after a click',
    'Purchases after a click',
    'le nombre d’achats après un clic',
    'Achats après un clic',
  ],
  'purchases.timeFromClick': [
    'the mean time in seconds from click to purchase',
    'Seconds from click to purchase',
    'la durée moyenne en secondes entre clic et achat',
    'Secondes entre clic et achat',
  ],
  'purchases.influencedRevenue': [
    'influenced revenue',
    'Influenced revenue',
    'le chiffre d’affaires influencé',
    'Chiffre d’affaires influencé',
  ],
  'purchases.directRevenue': [
    'direct revenue',
    'Direct revenue',
    'le chiffre d’affaires direct',
    'Chiffre d’affaires direct',
  ],
  'purchases.influencedCount': [
    'the number of influenced purchases',
    'Influenced purchases',
    'le nombre d’achats influencés',
    'Achats influencés',
  ],
  'events.count': ['the number of events', 'Events', 'le nombre d’événements', 'Événements'],
  'events.people': ['the number of persons', 'Persons', 'le nombre de personnes', 'Personnes'],
  'events.identifiedPeople': [
    'the number of known persons',
    'Known persons',
    'le nombre de personnes connues',
    'Personnes connues',
  ],
  'events.devices': ['the number of devices', 'Devices', 'le nombre d’appareils', 'Appareils'],
  'events.sessions': ['the number of sessions', 'Sessions', 'le nombre de sessions', 'Sessions'],
  'events.items': ['the number of identifiers', 'Identifiers', 'le nombre d’identifiants', 'Identifiants'],
  'events.perPerson': [
    'the number of events per person',
    'Events per person',
    'le nombre d’événements par personne',
    'Événements par personne',
  ],
  'sessions.count': ['the number of sessions', 'Sessions', 'le nombre de sessions', 'Sessions'],
  'sessions.people': [
    'the number of persons with a session',
    'Persons',
    'le nombre de personnes avec une session',
    'Personnes',
  ],
  'sessions.duration': [
    'the mean duration of a session in seconds',
    'Seconds per session',
    'la durée moyenne d’une session en secondes',
    'Secondes par session',
  ],
  'sessions.events': [
    'the number of events in sessions',
    'Events in sessions',
    'le nombre d’événements des sessions',
    'Événements des sessions',
  ],
  'sessions.bounces': [
    'the number of sessions of a single event',
    'Bounces',
    'le nombre de sessions d’un seul événement',
    'Rebonds',
  ],
  'sessions.bounceRate': ['the bounce rate', 'Bounce rate', 'le taux de rebond', 'Taux de rebond'],
  'sessions.eventsPerSession': [
    'the number of events per session',
    'Events per session',
    'le nombre d’événements par session',
    'Événements par session',
  ],
  'sessions.perPerson': [
    'the number of sessions per person',
    'Sessions per person',
    'le nombre de sessions par personne',
    'Sessions par personne',
  ],
  returningSessions: [
    'the number of sessions of returning persons',
    'Sessions of returning persons',
    'le nombre de sessions de personnes déjà venues',
    'Sessions de personnes déjà venues',
  ],
  conversion: [
    'the conversion rate (purchases per person)',
    'Conversion rate',
    'le taux de conversion (achats par personne)',
    'Taux de conversion',
  ],
}

/** Of dimensions by their name within a source: they follow `by` and `par`, so they have no article. */
const dimensions: Readonly<Record<string, readonly [en: string, fr: string]>> = {
  name: ['event', 'événement'],
  country: ['country', 'pays'],
  deviceType: ['device type', 'type d’appareil'],
  os: ['operating system', 'système d’exploitation'],
  browser: ['browser', 'navigateur'],
  channel: ['channel', 'canal'],
  referrerHost: ['referrer', 'site référent'],
  utmSource: ['campaign source', 'source de campagne'],
  utmMedium: ['campaign medium', 'support de campagne'],
  utmCampaign: ['campaign', 'campagne'],
  utmTerm: ['campaign term', 'terme de campagne'],
  utmContent: ['campaign content', 'contenu de campagne'],
  path: ['path', 'page'],
  host: ['host', 'site'],
  entryPath: ['entry page', 'page d’entrée'],
  exitPath: ['exit page', 'page de sortie'],
  item: ['item', 'article'],
  isNew: ['kind of visitor', 'type de visiteur'],
  datasource: ['datasource', 'source de données'],
  id: ['workflow', 'workflow'],
  category: ['category', 'catégorie'],
  brand: ['brand', 'marque'],
  city: ['city', 'ville'],
  region: ['region', 'région'],
  language: ['language', 'langue'],
  gender: ['gender', 'genre'],
  plan: ['plan', 'offre'],
}

export function measureNoun(id: string, locale: Language, meta: StatisticsMeta): Noun {
  const row = Object.hasOwn(measures, id) ? measures[id] : undefined
  if (row) {
    const [en, enTitle, fr, frTitle] = row
    return locale === 'en'
      ? { text: en, feminine: false, title: enTitle }
      : { text: fr, feminine: fr.startsWith('la '), title: frTitle }
  }
  const title = Object.hasOwn(meta.measures, id) ? (meta.measures[id]?.title ?? '') : ''
  return locale === 'en'
    ? {
        text: named('the measure', title, '“', '”'),
        feminine: false,
        title: named('Measure', title, '“', '”'),
      }
    : {
        text: named('la mesure', title, '« ', ' »'),
        feminine: true,
        title: named('Mesure', title, '« ', ' »'),
      }
}

/** A dimension as it follows `by`. */
export function dimensionNoun(id: string, locale: Language): string {
  const name = id.slice(id.lastIndexOf('.') + 1)
  const row = Object.hasOwn(dimensions, name) ? dimensions[name] : undefined
  if (row) return locale === 'en' ? row[0] : row[1]
  const label = /^[a-z]+\.label\.(.*)$/su.exec(id)?.[1]
  const words = label === undefined ? name : label
  return locale === 'en' ? named('label', words, '“', '”') : named('étiquette', words, '« ', ' »')
}

const maxNameLength = 60

/** A name in quotation marks; left out where it has a number, which no cell could prove. */
function named(noun: string, name: string, open: string, close: string): string {
  const isPlain = name !== '' && name.length <= maxNameLength && findNumberTokens(name).length === 0
  return isPlain ? `${noun} ${open}${name}${close}` : noun
}
