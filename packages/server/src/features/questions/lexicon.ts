import type { Catalogue } from '../../platform/i18n/language.ts'

/** A unit of time that a question can name. */
export type Unit = 'hour' | 'day' | 'week' | 'month' | 'quarter' | 'year'

export type Phrases = Catalogue<readonly string[]>

/** What a question measures. */
export interface MeasureWords extends Phrases {
  /** Measures that the words can mean, the first that fits what else is asked. */
  readonly ids: readonly string[]
  /** Measures that are shown beside each other, where the company has no one measure of that meaning. */
  readonly beside?: readonly string[]
  /** Names of the events that are meant. */
  readonly events?: readonly string[]
  /** Taken only where the question names no other measure: verbs, as in "products sold". */
  readonly weak?: true
}

/** What a question groups or filters by. */
export interface DimensionWords extends Phrases {
  readonly name: string
  /** Dimensions of each source that the words can mean. */
  readonly ids: readonly string[]
  /** Whether people are counted where they began a session, when both are possible. */
  readonly ofSessions?: true
  /** What is counted where the question names no measure. */
  readonly counts: readonly string[]
}

const listed = (text = '') => text.split(', ').filter((each) => each !== '')

/** Phrases in English, then in French. */
const words = ([text = '']: readonly string[]): Phrases => {
  const [en, fr] = text.split(' | ')
  return { en: listed(en), fr: listed(fr) }
}

/** Rows of a table whose last two columns are phrases in English and in French. */
const rowsOf = (table: string) =>
  table
    .trim()
    .split('\n')
    .map((row) => {
      const columns = row.trim().split(' | ')
      return { columns, en: listed(columns.at(-2)), fr: listed(columns.at(-1)) }
    })

/**
 * Words for the measures beside their titles in the metadata, which are understood too: a measure needs no row here. Of
 * several measures the first is meant that fits what else is asked, and with `+` all of them, beside each other.
 */
const measureTable = rowsOf(`
  purchases.revenue | revenue, sales, turnover, takings, sales revenue, income, money, sales volume, spend, spent, spending | chiffre d'affaires, ca, revenu, recette, vente, montant des ventes, chiffres d'affaires, dépense, dépensé, dépensent
  purchases.count | purchase, order, transaction, number of sales, count of sales, how many sales, conversion, sale count | achats, commande, transaction, nombre de ventes, combien de ventes, conversion
  purchases.buyers | buyer, customer, purchaser, shopper, paying customer, unique buyer | acheteurs, client, acheteur unique, client unique
  purchases.references events.items | item, product, items sold, products sold, units sold, unit sold, product reference | articles, produit, articles vendus, produits vendus, unités vendues, référence
  purchases.averageOrderValue | average order value, aov, average order, average basket, basket value, average basket value, mean order value, average purchase value, average cart, revenue per order, average revenue per order, revenue per purchase | panier moyen, valeur moyenne des commandes, valeur moyenne de commande, montant moyen des commandes, commande moyenne, achat moyen, revenu par commande, chiffre d'affaires par commande, ca par commande
  purchases.revenuePerBuyer | revenue per buyer, revenue per customer, sales per customer, spend per customer, arpu | revenu par client, revenu par acheteur, chiffre d'affaires par client, chiffre d'affaires par acheteur, ca par client, dépense par client
  purchases.perBuyer | orders per customer, orders per buyer, purchases per buyer, purchases per customer, purchase frequency | commandes par client, achats par client, achats par acheteur, fréquence d'achat
  purchases.referencesPerPurchase | items per order, items per purchase, products per order, references per purchase, basket size | articles par commande, produits par commande, articles par panier, taille du panier
  purchases.afterClick | purchases after a click, orders after a click, purchases after click, orders after click | achats après un clic, commandes après un clic, achats après clic
  purchases.timeFromClick | time from click, time from click to purchase, time to purchase | délai après clic, temps entre clic et achat, délai d'achat, temps depuis le clic
  purchases.influencedRevenue | influenced revenue, attributed revenue, influenced sales | chiffre d'affaires influencé, revenu influencé, ca influencé, chiffre d'affaires attribué
  purchases.directRevenue | direct revenue, last touch revenue | chiffre d'affaires direct, revenu direct, ca direct
  purchases.influencedCount | influenced purchases, influenced orders, attributed orders | achats influencés, commandes influencées, commandes attribuées
  purchases.buyers + events.people | conversion rate, rate of conversion | taux de conversion, taux de transformation
  workflows.displays | display, impression, displayed content, contents displayed | affichages, impression, contenus affichés
  workflows.clicks | click, number of clicks | clics, nombre de clics
  workflows.count | interaction | interactions
  workflows.openings | opening, message openings | ouvertures, ouvertures de messages
  workflows.openers | opener, unique opener | ouvreurs, ouvreurs uniques
  workflows.clickers | clicker, unique clicker | cliqueurs, cliqueurs uniques
  workflows.individualizedDisplays | individualised displays, individualized displays, personalised displays, personalized displays | affichages individualisés, affichages personnalisés
  workflows.individualizedOpenings | individualised openings, individualized openings, personalised openings, personalized openings | ouvertures individualisées, ouvertures personnalisées
  workflows.individualizedOpeners | individualised openers, individualized openers, personalised openers, personalized openers | ouvreurs individualisés, ouvreurs personnalisés
  workflows.individualizedClicks | individualised clicks, individualized clicks, personalised clicks, personalized clicks | clics individualisés, clics personnalisés
  workflows.generationTime | generation time, time to produce a content | temps de génération, durée de génération
  workflows.openingsPerOpener | openings per opener | ouvertures par ouvreur
  workflows.clicksPerClicker | clicks per clicker | clics par cliqueur
  workflows.clickToOpenRate | click-to-open rate, click to open rate, click rate, click through rate, ctr | taux de réactivité, taux de clics, ctr
  workflows.clickerToOpenerRate | clicker-to-opener rate, clicker to opener rate | taux de cliqueurs
  workflows.individualizedDisplayRate | individualised display rate, individualized display rate, personalisation rate, personalization rate | taux d'affichages individualisés, taux de personnalisation
  workflows.individualizedOpenerRate | individualised opener rate, individualized opener rate | taux d'ouvreurs individualisés
  workflows.conversionRate | conversion rate of clicks, click conversion rate, workflow conversion rate | taux de conversion des clics, taux de conversion des workflows
  workflows.uniqueConversionRate | conversion rate of clickers, unique conversion rate, unique conversion rate of clickers | taux de conversion unique, taux de conversion des cliqueurs
  workflows.clickUplift | click uplift, uplift of clicks | clics additionnels, gain de clics
  workflows.conversionUplift | conversion uplift, uplift of conversions | conversions additionnelles, gain de conversions
  workflows.revenueUplift | revenue uplift, uplift of revenue, incremental revenue | chiffre d'affaires additionnel, gain de revenu, ca additionnel
  purchases.buyersAfterClick | buyers after a click, buyers after click, customers after a click | acheteurs après un clic, clients après un clic
  purchases.individualizedAfterClick | purchases after a click on individualised content, purchases after an individualised click | achats après un clic individualisé
  purchases.individualizedInfluencedRevenue | revenue influenced by individualised content, individualised influenced revenue | chiffre d'affaires influencé par les contenus individualisés, revenu influencé individualisé
  events.people sessions.people | visitor, people, person, user, unique visitor, unique user, unique people, audience, active user | visiteurs, personne, utilisateur, internaute, visiteur unique, utilisateur unique, utilisateur actif, audience
  events.identifiedPeople | identified people, identified visitor, identified user, known visitor, logged in user | personnes identifiées, visiteurs identifiés, utilisateurs identifiés, visiteurs connus, utilisateurs connectés
  events.devices | device, number of devices | appareils, nombre d'appareils
  sessions.count events.sessions | session, visit, traffic, site traffic | sessions, visite, trafic
  sessions.duration | session duration, visit duration, average session duration, time on site, session length, duration of sessions, duration of visits, length of visits | durée des sessions, durée de session, durée des visites, durée de visite, durée moyenne des sessions, durée moyenne des visites, durée moyenne de session, temps passé sur le site
  sessions.bounces | bounce, bounced session | rebonds, nombre de rebonds
  sessions.bounceRate | bounce rate | taux de rebond
  sessions.eventsPerSession | events per session, events per visit | événements par session, événements par visite
  sessions.perPerson | sessions per person, sessions per visitor, sessions per user, visits per person, visits per visitor | sessions par personne, sessions par visiteur, visites par personne, visites par visiteur
  sessions.events | events in sessions, events of sessions | événements des sessions
  events.count | event, hit, action | événements, hit, action
  events.items | items in events | articles des événements
  events.perPerson | events per person, events per visitor, events per user | événements par personne, événements par visiteur, événements par utilisateur
`)

/** Names of events that are counted. */
const eventTable = rowsOf(`
  page_view | page view, pageview, views of pages | page vue, vue de page, pages consultées
  product_page | product view, product page view, views of products | vue de produit, vues produit, produits vus, produits consultés, fiches produit vues
  add_cart | add to cart, adds to cart, cart addition, cart additions, added to cart, add to basket | ajout au panier, mise au panier, ajouts panier
`)

/** Verbs, taken only where the question names no other measure. */
const verbTable = rowsOf(`
  purchases.count | sold, bought, buy, ordered, purchased, selling, sell | vendu, vendus, vendue, acheté, achetée, acheter, achètent, commandé, commandée, vendent
  events.count | viewed, seen, popular, used | vu, vus, vue, consulté, consultée, populaire, utilisé, utilisée
  sessions.count events.sessions | visited | visité, visitée
`)

export const measureWords: readonly MeasureWords[] = [
  ...measureTable.map(({ columns: [means = ''], en, fr }) =>
    means.includes('+') ? { ids: [], beside: means.split(' + '), en, fr } : { ids: means.split(' '), en, fr },
  ),
  ...eventTable.map(({ columns: [event = ''], en, fr }) => ({
    ids: ['events.count'],
    events: [event],
    en,
    fr,
  })),
  ...verbTable.map(({ columns: [means = ''], en, fr }) => ({
    ids: means.split(' '),
    weak: true as const,
    en,
    fr,
  })),
]

const visitorsOrOrders = 'events.people sessions.people purchases.count events.count'

/**
 * Words for the dimensions beside their titles and the keys of labels: a name, the dimensions that it can mean and what
 * is counted where the question names no measure. Of names with `*` people are counted where they began a session.
 */
export const dimensionWords: readonly DimensionWords[] = rowsOf(`
  country * | events.country sessions.country | ${visitorsOrOrders} | country, nation | pays
  deviceType * | events.deviceType sessions.deviceType purchases.deviceType | ${visitorsOrOrders} | device, device type, type of device, kind of device | appareil, type d'appareil, terminal, type de terminal
  os * | events.os sessions.os purchases.os | ${visitorsOrOrders} | operating system, os, platform | système d'exploitation, os, plateforme, plate-forme
  browser * | events.browser sessions.browser | ${visitorsOrOrders} | browser, web browser | navigateur
  channel | sessions.channel | sessions.count | channel, traffic source, acquisition channel, source of traffic, traffic channel, come from | canal, source de trafic, canal d'acquisition, d'où viennent, provenance du trafic
  referrer * | sessions.referrerHost events.referrerHost | sessions.count events.count | referrer, referring site, referer, referring host | référent, site référent, site de provenance, provenance
  page | events.path | events.count | page, path, page path | page, chemin, chemin de page
  entryPage | sessions.entryPath | sessions.count | landing page, entry page, entry path, entrance page | page d'entrée, page d'atterrissage, page de destination, pages d'arrivée
  exitPage | sessions.exitPath | sessions.count | exit page, exit path, leaving page | page de sortie, dernière page
  url | events.url | events.count | url, address, screen | url, adresse, écran
  host | events.host sessions.entryHost | events.count sessions.count | host, site, website, domain, hostname | hôte, site, site web, domaine, nom d'hôte
  utmSource * | sessions.utmSource events.utmSource | sessions.count events.count | utm source, source, campaign source | source utm, source, source de campagne
  utmMedium * | sessions.utmMedium events.utmMedium | sessions.count events.count | utm medium, medium | medium utm, medium, support
  utmCampaign * | sessions.utmCampaign events.utmCampaign | sessions.count events.count | campaign, utm campaign, marketing campaign | campagne, campagne utm, campagne marketing
  utmTerm | events.utmTerm | events.count | utm term, keyword, search term | terme utm, mot clé, mot-clé
  utmContent | events.utmContent | events.count | utm content, ad content | contenu utm, contenu de l'annonce
  event | events.name | events.count | event, event name, event type, type of event | événement, nom d'événement, type d'événement, nom de l'événement
  product | purchases.item events.item | purchases.references events.items | product, item, article, sku, product reference, products sold, items sold | produit, article, sku, référence, produits vendus, articles vendus
  transaction | purchases.transaction | purchases.revenue | order number, order id, transaction id, transaction, order, invoice | numéro de commande, transaction, commande, facture
  person | purchases.person events.person sessions.person | purchases.revenue events.count | person, customer, buyer, visitor, user, client | personne, client, acheteur, visiteur, utilisateur
  isNew | sessions.isNew | sessions.count | new and returning, new or returning, new vs returning, new versus returning, is new | nouveaux et récurrents, nouveaux ou récurrents, nouvelles et anciennes, nouveaux et anciens
  isIdentified | events.isIdentified | events.people | identified or not, identified and anonymous, identified or anonymous, anonymous and identified, anonymous vs identified, identified vs anonymous, is identified | identifiés ou non, identifiés et anonymes, identifiés ou anonymes
  datasource | events.datasource purchases.datasource | events.count purchases.count | datasource, data source | source de données, sources de données
  workflow | workflows.name | workflows.displays | workflow, workflow name, scenario | workflow, scénario
  workflow id | workflows.id | workflows.displays | workflow id, workflow identifier | identifiant de workflow
  message | workflows.message | workflows.openings | message, email message | message
  branch | workflows.branch | workflows.displays | branch | branche
  zone | workflows.zone | workflows.displays | zone | zone
`).map(({ columns: [name = '', ids = '', counts = ''], en, fr }) => ({
  name: name.replace(' *', ''),
  ids: ids.split(' '),
  ...(name.endsWith('*') && { ofSessions: true }),
  counts: counts.split(' '),
  en,
  fr,
}))

/** Words for values that are the same for every company, with their dimension. */
export const valueWords = rowsOf(`
  deviceType | mobile | mobile, phone, smartphone, mobile phone, mobile device | mobile, téléphone, smartphone, téléphone mobile, portable
  deviceType | desktop | desktop, computer, laptop, pc, desktop computer | ordinateur, desktop, pc, ordinateur de bureau
  deviceType | tablet | tablet | tablette
  deviceType | app | app, application, mobile app | appli, application, application mobile
  deviceType | server | server | serveur
  channel | search | search, organic search, search engine, organic | recherche, moteur de recherche, recherche organique, référencement naturel
  channel | social | social, social network, social media | réseau social, réseaux sociaux, médias sociaux
  channel | mail | mail, email, e-mail, newsletter | mail, email, e-mail, courriel, newsletter, lettre d'information
  channel | direct | direct, direct traffic | direct, accès direct
  channel | referral | referral | sites référents
  channel | campaign | paid campaign, campaign traffic | campagne payante, trafic de campagne
  isNew | true | new, first time, new visitor session | nouveau, nouvel, nouvelle, première visite
  isNew | false | returning, repeat, recurring | récurrent, récurrente, fidèle, revenant
  isIdentified | true | identified, logged in | identifié, connecté
  isIdentified | false | anonymous | anonyme
  browser | Chrome | chrome | chrome
  browser | Safari | safari | safari
  browser | Firefox | firefox | firefox
  browser | Microsoft Edge | edge, microsoft edge | edge, microsoft edge
  browser | Opera | opera | opera
  os | Android | android | android
  os | iOS | ios, iphone, ipad | ios, iphone, ipad
  os | Windows | windows | windows
  os | macOS | macos, mac, mac os | macos, mac, mac os
  os | Linux | linux | linux
`).map(({ columns: [dimension = '', value = ''], en, fr }) => ({ dimension, values: [value], en, fr }))

/** Words with a task in the sentence. */
const markers = {
  by: words`by, per, for each, for every, each, every, split by, broken down by, grouped by, breakdown by, across | par, selon, pour chaque, chaque, ventilé par, réparti par, groupé par, en fonction de, en fonction du, répartition par`,
  top: words`top, best, biggest, largest, greatest, leading, strongest, peak, most popular, best selling, bestselling, most important | top, meilleur, meilleure, premier, première, principal, principale, principaux, plus grand, plus gros, plus grande, plus important, plus importante`,
  most: words`most, highest, the most, maximum | plus de, le plus, la plus, les plus, le plus de, plus élevé, plus élevée, le plus élevé, la plus élevée, les plus élevés, plus fort, plus forte`,
  bottom: words`bottom, worst, smallest, weakest, least popular | pire, plus petit, plus petite, moins bon, moins bonne`,
  least: words`least, lowest, fewest, the least, the fewest, minimum | moins de, le moins, la moins, les moins, le moins de, plus faible, plus bas, plus basse, le plus faible, la plus faible, le plus bas`,
  which: words`which, what, what are, what is, which are, list, list of | quel, quelle, quels sont, quelles sont, quel est, quelle est, liste des`,
  compare: words`compare, compared with, compared to, compared, versus, vs, against, relative to, in comparison with, in comparison to, comparison with, comparison to, than, comparing | comparer, compare, comparé, comparée, comparé à, par rapport à, par rapport au, par rapport aux, en comparaison de, en comparaison avec, contre, versus, vs, comparaison avec, comparaison à, comparé au, comparée à, comparée au, vis à vis de, comparaison`,
  between: words`between | entre`,
  from: words`from | du, de`,
  to: words`to, until, till, through, up to, - | au, à, jusqu'à, jusqu'au, jusqu'en`,
  and: words`and, or, &, as well as, nor | et, ou, ainsi que, ni`,
  since: words`since, starting, starting from, from the beginning of | depuis, à partir de, à partir du, à compter de, à compter du`,
  startOf: words`the beginning of, beginning of, the start of, start of | le début de, le début du, début de, début du, le début`,
  in: words`in, for, on, with, where, via, at, within, during, of, only, using, through, over, whose, when, coming from, named, called, among | en, dans, pour, sur, avec, via, chez, aux, où, pendant, durant, au cours de, au cours du, des, uniquement, seulement, dont, nommé, appelé, venant de, parmi, lors de, à, au, du, de, d, depuis, nommés, appelés`,
  not: words`not, except, excluding, without, other than, except for, not in, not from, but not, outside, is not, are not | sauf, hors, sans, à l exception de, excepté, autre que, autres que, en dehors de, hormis, à l'exclusion de, n'est pas, pas`,
  equals: words`is, are, equals, equal to, =, named, called, is equal to | est, sont, égale, égal à, vaut, =, nommé, appelé, nommés, appelés`,
  this: words`this, current, the current | ce, cet, cette, en cours, courant, courante, actuel, actuelle`,
  last: words`last, past | dernier, dernière, passé, passée, écoulé, écoulée`,
  previous: words`previous, prior, preceding | précédent, précédente`,
  before: words`before, earlier, prior, before that, previously | d'avant, avant, plus tôt, auparavant`,
  ago: words`ago | il y a`,
  period: words`period, time | période`,
  same: words`same, the same | même, la même, le même`,
} satisfies Record<string, Phrases>
export type Marker = keyof typeof markers

/** Ranges that have a name of their own. */
const named = {
  today: words`today, so far today | aujourd'hui`,
  yesterday: words`yesterday | hier`,
  dayBeforeYesterday: words`the day before yesterday, day before yesterday | avant-hier`,
  weekToDate: words`week to date, wtd | semaine à ce jour`,
  monthToDate: words`month to date, mtd | mois à ce jour`,
  quarterToDate: words`quarter to date, qtd | trimestre à ce jour`,
  yearToDate: words`year to date, ytd, so far this year | année à ce jour, depuis le début de l'année`,
} satisfies Record<string, Phrases>
export type NamedRange = keyof typeof named

/** Comparisons that name no range: by how much the range is moved. */
const shifts = {
  year: words`year over year, year on year, yoy, same period last year, the same period last year, same time last year, same period a year ago, the same period of the previous year, same period of last year | d'une année sur l'autre, sur un an, même période de l'année dernière, même période de l'année précédente, à la même période l'an dernier, même période l'an dernier, même période l'année dernière, en glissement annuel, la même période de l'année dernière, la même période l'an dernier, la même période de l'année précédente`,
  month: words`month over month, month on month, mom | d'un mois sur l'autre`,
  week: words`week over week, week on week, wow | d'une semaine sur l'autre`,
  day: words`day over day, day on day | d'un jour sur l'autre`,
  previous: words`previous period, the previous period, period before, the period before, preceding period, prior period, last period | période précédente, la période précédente, période d'avant, la période d'avant, période antérieure`,
  /** Words that ask for a comparison where nothing says with what: then it is the period before. */
  implied: words`growth, grow, grew, grown, increase, increased, decrease, decreased, go up, went up, gone up, go down, went down, gone down, drop, dropped, decline, declined, rise, rose, risen, change, changed, improve, improved | croissance, augmentation, augmenté, augmentée, augmentent, augmente, progression, progressé, hausse, baisse, baissé, baissée, diminution, diminué, diminuent, diminue, recul, reculé, changé, amélioré`,
} satisfies Record<string, Phrases>
export type Shift = keyof typeof shifts

/** Nouns for units of time. */
const units: Readonly<Record<Unit, Phrases>> = {
  hour: words`hour | heure`,
  day: words`day, date | jour, journée`,
  week: words`week | semaine`,
  month: words`month | mois`,
  quarter: words`quarter | trimestre`,
  year: words`year | année, an`,
}

/** Words for grouping by time without a word such as "by"; `auto` takes a unit by the length of the range. */
const granularities: Readonly<Record<Unit | 'auto', Phrases>> = {
  hour: words`hourly | horaire, toutes les heures`,
  day: words`daily | quotidien, quotidienne, journalier, journalière`,
  week: words`weekly | hebdomadaire`,
  month: words`monthly | mensuel, mensuelle`,
  quarter: words`quarterly | trimestriel, trimestrielle`,
  year: words`yearly, annual, annually | annuel, annuelle`,
  auto: words`over time, trend, evolution, course, time series, timeline, trending, develop, evolve, development | au fil du temps, dans le temps, tendance, évolution, courbe, évolue, évolué, évoluent`,
}

const months = {
  1: words`january, jan | janvier, janv`,
  2: words`february, feb | février, févr, fév`,
  3: words`march, mar | mars`,
  4: words`april, apr | avril, avr`,
  5: words`may | mai`,
  6: words`june, jun | juin`,
  7: words`july, jul | juillet, juil`,
  8: words`august, aug | août`,
  9: words`september, sept, sep | septembre`,
  10: words`october, oct | octobre`,
  11: words`november, nov | novembre`,
  12: words`december, dec | décembre, déc`,
}

/** Numbers in words, for counts. */
const numbers = {
  1: words`one | `,
  2: words`two | deux`,
  3: words`three | trois`,
  4: words`four | quatre`,
  5: words`five | cinq`,
  6: words`six | six`,
  7: words`seven | sept`,
  8: words`eight | huit`,
  9: words`nine | neuf`,
  10: words`ten | dix`,
  12: words`twelve | douze`,
  20: words`twenty | vingt`,
  30: words`thirty | trente`,
  90: words`ninety | quatre-vingt-dix`,
}

/** Ordinals of quarters, halves and days. */
const ordinals = {
  1: words`first, 1st | premier, première, 1er, 1re, 1ère`,
  2: words`second, 2nd | deuxième, second, seconde, 2e, 2ème`,
  3: words`third, 3rd | troisième, 3e, 3ème`,
  4: words`fourth, 4th | quatrième, 4e, 4ème`,
}

const half = words`half, half year | semestre`

/** What a question can be asked for and the grammar knows that it cannot answer. */
const unanswered = words`day of the week, day of week, days of the week, weekday, weekend, hour of the day, hour of day, time of day, percentage, share, percent, median, average, mean, forecast, predict, why, cohort, funnel, retention, all time, ever | jour de la semaine, jours de la semaine, week-end, heure de la journée, heures de la journée, pourcentage, part, médiane, moyenne, moyen, prévision, prévoir, pourquoi, cohorte, entonnoir, rétention, depuis toujours`

/** Words without a meaning for the query. */
const ignored = {
  en: 'a an the i we our my your their its it me us you show give tell display plot chart graph table report please can could would do did does was were be been being has have had is are am will there here how many much number total sum count amount of overall all and s t re ve ll so far that those these who whom want need know see get find look let make made generate bring brought came come go went want like in on at to me about happened happen perform performed performing performance doing about which what when where then also more any some just now had mostly going go goes gone referred referring something anything did something generated figures figure numbers data value values result results breakdown group split up down analysis analyse analyze overview summary with respect regard most occur occurred occurs'.split(
    ' ',
  ),
  fr: 'le la les l un une des du de d ce cet cette ces c on nous notre nos vous votre mon ma mes je j tu il elle ils elles leur leurs son sa ses se s qu que qui quoi est sont a ont avons etait etaient etre ete fait faire faites montre montrez montrer donne donnez donner moi affiche affichez afficher combien nombre total somme quantite y t ci la dans en et ou par pour sur avec aux au comment tout tous toute toutes veux voudrais peux pouvez voir savoir connaitre generer genere generes realise realisee realises realisees obtenu obtenus liste tableau graphique courbes rapport chiffres resultats resultat valeurs valeur repartition ventilation analyse apercu resume viennent vient pendant m n ne pas plus donc alors aussi puis eu s il te plait svp merci eu eus eue cumule cumulee ont elle elles frequent frequente'.split(
    ' ',
  ),
}

/** Words that are the same for every company: by kind of meaning, then by what they mean. */
export const fixedWords = {
  unit: units,
  granularity: granularities,
  marker: markers,
  named,
  shift: shifts,
  month: months,
  number: numbers,
  ordinal: ordinals,
  half: { true: half },
  unanswered: { true: unanswered },
  ignored: { true: ignored },
}
