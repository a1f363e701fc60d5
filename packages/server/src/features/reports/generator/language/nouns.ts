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

type Row = readonly [en: string, fr: string]

const measures: Readonly<Record<string, Row>> = {
  'purchases.revenue': ['revenue', 'le chiffre d’affaires'],
  'purchases.count': ['the number of purchases', 'le nombre d’achats'],
  'purchases.buyers': ['the number of buyers', 'le nombre d’acheteurs'],
  'purchases.references': ['the number of references', 'le nombre de références'],
  'purchases.averageOrderValue': ['the average order value', 'le panier moyen'],
  'purchases.revenuePerBuyer': ['revenue per buyer', 'le chiffre d’affaires par acheteur'],
  'purchases.perBuyer': ['the number of purchases per buyer', 'le nombre d’achats par acheteur'],
  'purchases.referencesPerPurchase': [
    'the number of references per purchase',
    'le nombre de références par achat',
  ],
  'purchases.afterClick': ['the number of purchases after a click', 'le nombre d’achats après un clic'],
  'purchases.timeFromClick': [
    'the mean time in seconds from click to purchase',
    'la durée moyenne en secondes entre clic et achat',
  ],
  'purchases.influencedRevenue': ['influenced revenue', 'le chiffre d’affaires influencé'],
  'purchases.directRevenue': ['direct revenue', 'le chiffre d’affaires direct'],
  'purchases.influencedCount': ['the number of influenced purchases', 'le nombre d’achats influencés'],
  'events.count': ['the number of events', 'le nombre d’événements'],
  'events.people': ['the number of persons', 'le nombre de personnes'],
  'events.identifiedPeople': ['the number of known persons', 'le nombre de personnes connues'],
  'events.devices': ['the number of devices', 'le nombre d’appareils'],
  'events.sessions': ['the number of sessions', 'le nombre de sessions'],
  'events.items': ['the number of identifiers', 'le nombre d’identifiants'],
  'events.perPerson': ['the number of events per person', 'le nombre d’événements par personne'],
  'sessions.count': ['the number of sessions', 'le nombre de sessions'],
  'sessions.people': ['the number of persons with a session', 'le nombre de personnes avec une session'],
  'sessions.duration': [
    'the mean duration of a session in seconds',
    'la durée moyenne d’une session en secondes',
  ],
  'sessions.events': ['the number of events in sessions', 'le nombre d’événements des sessions'],
  'sessions.bounces': [
    'the number of sessions of a single event',
    'le nombre de sessions d’un seul événement',
  ],
  'sessions.bounceRate': ['the bounce rate', 'le taux de rebond'],
  'sessions.eventsPerSession': ['the number of events per session', 'le nombre d’événements par session'],
  'sessions.perPerson': ['the number of sessions per person', 'le nombre de sessions par personne'],
  returningSessions: [
    'the number of sessions of returning persons',
    'le nombre de sessions de personnes déjà venues',
  ],
  conversion: ['the conversion rate (purchases per person)', 'le taux de conversion (achats par personne)'],
}

/** Titles that are not the beginning of their noun. */
const titles: Readonly<Record<string, Row>> = {
  'purchases.timeFromClick': ['Seconds from click to purchase', 'Secondes entre clic et achat'],
  'sessions.people': ['Persons', 'Personnes'],
  'sessions.duration': ['Seconds per session', 'Secondes par session'],
  'sessions.bounces': ['Bounces', 'Rebonds'],
}

/** What a noun counts, without its article and what stands in brackets. */
function titleOf(noun: string): string {
  const bare = noun.replace(/^(?:the number of |the |le nombre d[’e] ?|l[ea] )/, '').replace(/ \(.*\)$/, '')
  return bare.charAt(0).toUpperCase() + bare.slice(1)
}

/** Of dimensions by their name within a source: they follow `by` and `par`, so they have no article. */
const dimensions: Readonly<Record<string, Row>> = {
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

/** The text of a row in a language; undefined where there is no such row. */
function textIn(rows: Readonly<Record<string, Row>>, key: string, locale: Language): string | undefined {
  return Object.hasOwn(rows, key) ? rows[key]?.[locale === 'en' ? 0 : 1] : undefined
}

/** A measure without a row here has its title in quotation marks. */
export function measureNoun(id: string, locale: Language, meta: StatisticsMeta): Noun {
  const text = textIn(measures, id, locale)
  if (text !== undefined) {
    return { text, feminine: text.startsWith('la '), title: textIn(titles, id, locale) ?? titleOf(text) }
  }
  const name = Object.hasOwn(meta.measures, id) ? (meta.measures[id]?.title ?? '') : ''
  return locale === 'en'
    ? { text: named('the measure', name, locale), feminine: false, title: named('Measure', name, locale) }
    : { text: named('la mesure', name, locale), feminine: true, title: named('Mesure', name, locale) }
}

/** A dimension as it follows `by`. */
export function dimensionNoun(id: string, locale: Language): string {
  const name = id.slice(id.lastIndexOf('.') + 1)
  const text = textIn(dimensions, name, locale)
  if (text !== undefined) return text
  const label = /^[a-z]+\.label\.(.*)$/su.exec(id)?.[1] ?? name
  return named(locale === 'en' ? 'label' : 'étiquette', label, locale)
}

const maxNameLength = 60

/** A name in quotation marks; left out where it has a number, which no cell could prove. */
function named(noun: string, name: string, locale: Language): string {
  const isPlain = name !== '' && name.length <= maxNameLength && findNumberTokens(name).length === 0
  if (!isPlain) return noun
  return locale === 'en' ? `${noun} “${name}”` : `${noun} « ${name} »`
}
