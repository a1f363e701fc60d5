// One table of words, longer than other files as a vocabulary is.

import { workflowDimensionWords, workflowMeasureWords } from './workflow-words.ts'

/** A unit of time that a question can name. */
export type Unit = 'hour' | 'day' | 'week' | 'month' | 'quarter' | 'year'

interface Phrases {
  readonly en: readonly string[]
  readonly fr: readonly string[]
}

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

/** A value that the words name, whatever is stored beside it. */
export interface ValueWords extends Phrases {
  readonly dimension: string
  readonly values: readonly string[]
}

const people = ['events.people', 'sessions.people']
const visits = ['sessions.count', 'events.sessions']
const orders = ['purchases.count']

/** Words for the measures. Titles in the metadata are understood too. */
export const measureWords: readonly MeasureWords[] = [
  {
    ids: ['purchases.revenue'],
    en: [
      'revenue',
      'sales',
      'turnover',
      'takings',
      'sales revenue',
      'income',
      'money',
      'sales volume',
      'spend',
      'spent',
      'spending',
    ],
    fr: [
      "chiffre d'affaires",
      'ca',
      'revenu',
      'recette',
      'vente',
      'montant des ventes',
      "chiffres d'affaires",
      'dépense',
      'dépensé',
      'dépensent',
    ],
  },
  {
    ids: orders,
    en: [
      'purchase',
      'order',
      'transaction',
      'number of sales',
      'count of sales',
      'how many sales',
      'conversion',
      'sale count',
    ],
    fr: ['achats', 'commande', 'transaction', 'nombre de ventes', 'combien de ventes', 'conversion'],
  },
  {
    ids: ['purchases.buyers'],
    en: ['buyer', 'customer', 'purchaser', 'shopper', 'paying customer', 'unique buyer'],
    fr: ['acheteurs', 'client', 'acheteur unique', 'client unique'],
  },
  {
    ids: ['purchases.references', 'events.items'],
    en: ['item', 'product', 'items sold', 'products sold', 'units sold', 'unit sold', 'product reference'],
    fr: ['articles', 'produit', 'articles vendus', 'produits vendus', 'unités vendues', 'référence'],
  },
  {
    ids: ['purchases.averageOrderValue'],
    en: [
      'average order value',
      'aov',
      'average order',
      'average basket',
      'basket value',
      'average basket value',
      'mean order value',
      'average purchase value',
      'average cart',
      'revenue per order',
      'average revenue per order',
      'revenue per purchase',
    ],
    fr: [
      'panier moyen',
      'valeur moyenne des commandes',
      'valeur moyenne de commande',
      'montant moyen des commandes',
      'commande moyenne',
      'achat moyen',
      'revenu par commande',
      "chiffre d'affaires par commande",
      'ca par commande',
    ],
  },
  {
    ids: ['purchases.revenuePerBuyer'],
    en: ['revenue per buyer', 'revenue per customer', 'sales per customer', 'spend per customer', 'arpu'],
    fr: [
      'revenu par client',
      'revenu par acheteur',
      "chiffre d'affaires par client",
      "chiffre d'affaires par acheteur",
      'ca par client',
      'dépense par client',
    ],
  },
  {
    ids: ['purchases.perBuyer'],
    en: [
      'orders per customer',
      'orders per buyer',
      'purchases per buyer',
      'purchases per customer',
      'purchase frequency',
    ],
    fr: ['commandes par client', 'achats par client', 'achats par acheteur', "fréquence d'achat"],
  },
  {
    ids: ['purchases.referencesPerPurchase'],
    en: [
      'items per order',
      'items per purchase',
      'products per order',
      'references per purchase',
      'basket size',
    ],
    fr: ['articles par commande', 'produits par commande', 'articles par panier', 'taille du panier'],
  },
  {
    ids: ['purchases.afterClick'],
    en: ['purchases after a click', 'orders after a click', 'purchases after click', 'orders after click'],
    fr: ['achats après un clic', 'commandes après un clic', 'achats après clic'],
  },
  {
    ids: ['purchases.timeFromClick'],
    en: ['time from click', 'time from click to purchase', 'time to purchase'],
    fr: ['délai après clic', 'temps entre clic et achat', "délai d'achat", 'temps depuis le clic'],
  },
  {
    ids: ['purchases.influencedRevenue'],
    en: ['influenced revenue', 'attributed revenue', 'influenced sales'],
    fr: ["chiffre d'affaires influencé", 'revenu influencé', 'ca influencé', "chiffre d'affaires attribué"],
  },
  {
    ids: ['purchases.directRevenue'],
    en: ['direct revenue', 'last touch revenue'],
    fr: ["chiffre d'affaires direct", 'revenu direct', 'ca direct'],
  },
  {
    ids: ['purchases.influencedCount'],
    en: ['influenced purchases', 'influenced orders', 'attributed orders'],
    fr: ['achats influencés', 'commandes influencées', 'commandes attribuées'],
  },
  {
    ids: [],
    beside: ['purchases.buyers', 'events.people'],
    en: ['conversion rate', 'rate of conversion'],
    fr: ['taux de conversion', 'taux de transformation'],
  },
  ...workflowMeasureWords,
  {
    ids: people,
    en: [
      'visitor',
      'people',
      'person',
      'user',
      'unique visitor',
      'unique user',
      'unique people',
      'audience',
      'active user',
    ],
    fr: [
      'visiteurs',
      'personne',
      'utilisateur',
      'internaute',
      'visiteur unique',
      'utilisateur unique',
      'utilisateur actif',
      'audience',
    ],
  },
  {
    ids: ['events.identifiedPeople'],
    en: ['identified people', 'identified visitor', 'identified user', 'known visitor', 'logged in user'],
    fr: [
      'personnes identifiées',
      'visiteurs identifiés',
      'utilisateurs identifiés',
      'visiteurs connus',
      'utilisateurs connectés',
    ],
  },
  { ids: ['events.devices'], en: ['device', 'number of devices'], fr: ['appareils', "nombre d'appareils"] },
  {
    ids: visits,
    en: ['session', 'visit', 'traffic', 'site traffic'],
    fr: ['sessions', 'visite', 'trafic'],
  },
  {
    ids: ['sessions.duration'],
    en: [
      'session duration',
      'visit duration',
      'average session duration',
      'time on site',
      'session length',
      'duration of sessions',
      'duration of visits',
      'length of visits',
    ],
    fr: [
      'durée des sessions',
      'durée de session',
      'durée des visites',
      'durée de visite',
      'durée moyenne des sessions',
      'durée moyenne des visites',
      'durée moyenne de session',
      'temps passé sur le site',
    ],
  },
  { ids: ['sessions.bounces'], en: ['bounce', 'bounced session'], fr: ['rebonds', 'nombre de rebonds'] },
  { ids: ['sessions.bounceRate'], en: ['bounce rate'], fr: ['taux de rebond'] },
  {
    ids: ['sessions.eventsPerSession'],
    en: ['events per session', 'events per visit'],
    fr: ['événements par session', 'événements par visite'],
  },
  {
    ids: ['sessions.perPerson'],
    en: [
      'sessions per person',
      'sessions per visitor',
      'sessions per user',
      'visits per person',
      'visits per visitor',
    ],
    fr: ['sessions par personne', 'sessions par visiteur', 'visites par personne', 'visites par visiteur'],
  },
  {
    ids: ['sessions.events'],
    en: ['events in sessions', 'events of sessions'],
    fr: ['événements des sessions'],
  },
  { ids: ['events.count'], en: ['event', 'hit', 'action'], fr: ['événements', 'hit', 'action'] },
  { ids: ['events.items'], en: ['items in events'], fr: ['articles des événements'] },
  {
    ids: ['events.perPerson'],
    en: ['events per person', 'events per visitor', 'events per user'],
    fr: ['événements par personne', 'événements par visiteur', 'événements par utilisateur'],
  },
  {
    ids: ['events.count'],
    events: ['page_view'],
    en: ['page view', 'pageview', 'views of pages'],
    fr: ['page vue', 'vue de page', 'pages consultées'],
  },
  {
    ids: ['events.count'],
    events: ['product_page'],
    en: ['product view', 'product page view', 'views of products'],
    fr: ['vue de produit', 'vues produit', 'produits vus', 'produits consultés', 'fiches produit vues'],
  },
  {
    ids: ['events.count'],
    events: ['add_cart'],
    en: ['add to cart', 'adds to cart', 'cart addition', 'cart additions', 'added to cart', 'add to basket'],
    fr: ['ajout au panier', 'mise au panier', 'ajouts panier'],
  },
  {
    ids: orders,
    weak: true,
    en: ['sold', 'bought', 'buy', 'ordered', 'purchased', 'selling', 'sell'],
    fr: [
      'vendu',
      'vendus',
      'vendue',
      'acheté',
      'achetée',
      'acheter',
      'achètent',
      'commandé',
      'commandée',
      'vendent',
    ],
  },
  {
    ids: ['events.count'],
    weak: true,
    en: ['viewed', 'seen', 'popular', 'used'],
    fr: ['vu', 'vus', 'vue', 'consulté', 'consultée', 'populaire', 'utilisé', 'utilisée'],
  },
  { ids: visits, weak: true, en: ['visited'], fr: ['visité', 'visitée'] },
]

const visitorsOrOrders = ['events.people', 'sessions.people', 'purchases.count', 'events.count']

/** Words for the dimensions. Titles in the metadata and keys of labels are understood too. */
export const dimensionWords: readonly DimensionWords[] = [
  {
    name: 'country',
    ids: ['events.country', 'sessions.country'],
    ofSessions: true,
    counts: visitorsOrOrders,
    en: ['country', 'nation'],
    fr: ['pays'],
  },
  {
    name: 'deviceType',
    ids: ['events.deviceType', 'sessions.deviceType', 'purchases.deviceType'],
    ofSessions: true,
    counts: visitorsOrOrders,
    en: ['device', 'device type', 'type of device', 'kind of device'],
    fr: ['appareil', "type d'appareil", 'terminal', 'type de terminal'],
  },
  {
    name: 'os',
    ids: ['events.os', 'sessions.os', 'purchases.os'],
    ofSessions: true,
    counts: visitorsOrOrders,
    en: ['operating system', 'os', 'platform'],
    fr: ["système d'exploitation", 'os', 'plateforme', 'plate-forme'],
  },
  {
    name: 'browser',
    ids: ['events.browser', 'sessions.browser'],
    ofSessions: true,
    counts: visitorsOrOrders,
    en: ['browser', 'web browser'],
    fr: ['navigateur'],
  },
  {
    name: 'channel',
    ids: ['sessions.channel'],
    counts: ['sessions.count'],
    en: [
      'channel',
      'traffic source',
      'acquisition channel',
      'source of traffic',
      'traffic channel',
      'come from',
    ],
    fr: ['canal', 'source de trafic', "canal d'acquisition", "d'où viennent", 'provenance du trafic'],
  },
  {
    name: 'referrer',
    ids: ['sessions.referrerHost', 'events.referrerHost'],
    ofSessions: true,
    counts: ['sessions.count', 'events.count'],
    en: ['referrer', 'referring site', 'referer', 'referring host'],
    fr: ['référent', 'site référent', 'site de provenance', 'provenance'],
  },
  {
    name: 'page',
    ids: ['events.path'],
    counts: ['events.count'],
    en: ['page', 'path', 'page path'],
    fr: ['page', 'chemin', 'chemin de page'],
  },
  {
    name: 'entryPage',
    ids: ['sessions.entryPath'],
    counts: ['sessions.count'],
    en: ['landing page', 'entry page', 'entry path', 'entrance page'],
    fr: ["page d'entrée", "page d'atterrissage", 'page de destination', "pages d'arrivée"],
  },
  {
    name: 'exitPage',
    ids: ['sessions.exitPath'],
    counts: ['sessions.count'],
    en: ['exit page', 'exit path', 'leaving page'],
    fr: ['page de sortie', 'dernière page'],
  },
  {
    name: 'url',
    ids: ['events.url'],
    counts: ['events.count'],
    en: ['url', 'address', 'screen'],
    fr: ['url', 'adresse', 'écran'],
  },
  {
    name: 'host',
    ids: ['events.host', 'sessions.entryHost'],
    counts: ['events.count', 'sessions.count'],
    en: ['host', 'site', 'website', 'domain', 'hostname'],
    fr: ['hôte', 'site', 'site web', 'domaine', "nom d'hôte"],
  },
  {
    name: 'utmSource',
    ids: ['sessions.utmSource', 'events.utmSource'],
    ofSessions: true,
    counts: ['sessions.count', 'events.count'],
    en: ['utm source', 'source', 'campaign source'],
    fr: ['source utm', 'source', 'source de campagne'],
  },
  {
    name: 'utmMedium',
    ids: ['sessions.utmMedium', 'events.utmMedium'],
    ofSessions: true,
    counts: ['sessions.count', 'events.count'],
    en: ['utm medium', 'medium'],
    fr: ['medium utm', 'medium', 'support'],
  },
  {
    name: 'utmCampaign',
    ids: ['sessions.utmCampaign', 'events.utmCampaign'],
    ofSessions: true,
    counts: ['sessions.count', 'events.count'],
    en: ['campaign', 'utm campaign', 'marketing campaign'],
    fr: ['campagne', 'campagne utm', 'campagne marketing'],
  },
  {
    name: 'utmTerm',
    ids: ['events.utmTerm'],
    counts: ['events.count'],
    en: ['utm term', 'keyword', 'search term'],
    fr: ['terme utm', 'mot clé', 'mot-clé'],
  },
  {
    name: 'utmContent',
    ids: ['events.utmContent'],
    counts: ['events.count'],
    en: ['utm content', 'ad content'],
    fr: ['contenu utm', "contenu de l'annonce"],
  },
  {
    name: 'event',
    ids: ['events.name'],
    counts: ['events.count'],
    en: ['event', 'event name', 'event type', 'type of event'],
    fr: ['événement', "nom d'événement", "type d'événement", "nom de l'événement"],
  },
  {
    name: 'product',
    ids: ['purchases.item', 'events.item'],
    counts: ['purchases.references', 'events.items'],
    en: ['product', 'item', 'article', 'sku', 'product reference', 'products sold', 'items sold'],
    fr: ['produit', 'article', 'sku', 'référence', 'produits vendus', 'articles vendus'],
  },
  {
    name: 'transaction',
    ids: ['purchases.transaction'],
    counts: ['purchases.revenue'],
    en: ['order number', 'order id', 'transaction id', 'transaction', 'order', 'invoice'],
    fr: ['numéro de commande', 'transaction', 'commande', 'facture'],
  },
  {
    name: 'person',
    ids: ['purchases.person', 'events.person', 'sessions.person'],
    counts: ['purchases.revenue', 'events.count'],
    en: ['person', 'customer', 'buyer', 'visitor', 'user', 'client'],
    fr: ['personne', 'client', 'acheteur', 'visiteur', 'utilisateur'],
  },
  {
    name: 'isNew',
    ids: ['sessions.isNew'],
    counts: ['sessions.count'],
    en: ['new and returning', 'new or returning', 'new vs returning', 'new versus returning', 'is new'],
    fr: ['nouveaux et récurrents', 'nouveaux ou récurrents', 'nouvelles et anciennes', 'nouveaux et anciens'],
  },
  {
    name: 'isIdentified',
    ids: ['events.isIdentified'],
    counts: ['events.people'],
    en: [
      'identified or not',
      'identified and anonymous',
      'identified or anonymous',
      'anonymous and identified',
      'anonymous vs identified',
      'identified vs anonymous',
      'is identified',
    ],
    fr: ['identifiés ou non', 'identifiés et anonymes', 'identifiés ou anonymes'],
  },
  {
    name: 'datasource',
    ids: ['events.datasource', 'purchases.datasource'],
    counts: ['events.count', 'purchases.count'],
    en: ['datasource', 'data source'],
    fr: ['source de données', 'sources de données'],
  },
  ...workflowDimensionWords,
]

/** Words for values that are the same for every company. */
export const valueWords: readonly ValueWords[] = [
  {
    dimension: 'deviceType',
    values: ['mobile'],
    en: ['mobile', 'phone', 'smartphone', 'mobile phone', 'mobile device'],
    fr: ['mobile', 'téléphone', 'smartphone', 'téléphone mobile', 'portable'],
  },
  {
    dimension: 'deviceType',
    values: ['desktop'],
    en: ['desktop', 'computer', 'laptop', 'pc', 'desktop computer'],
    fr: ['ordinateur', 'desktop', 'pc', 'ordinateur de bureau'],
  },
  { dimension: 'deviceType', values: ['tablet'], en: ['tablet'], fr: ['tablette'] },
  {
    dimension: 'deviceType',
    values: ['app'],
    en: ['app', 'application', 'mobile app'],
    fr: ['appli', 'application', 'application mobile'],
  },
  { dimension: 'deviceType', values: ['server'], en: ['server'], fr: ['serveur'] },
  {
    dimension: 'channel',
    values: ['search'],
    en: ['search', 'organic search', 'search engine', 'organic'],
    fr: ['recherche', 'moteur de recherche', 'recherche organique', 'référencement naturel'],
  },
  {
    dimension: 'channel',
    values: ['social'],
    en: ['social', 'social network', 'social media'],
    fr: ['réseau social', 'réseaux sociaux', 'médias sociaux'],
  },
  {
    dimension: 'channel',
    values: ['mail'],
    en: ['mail', 'email', 'e-mail', 'newsletter'],
    fr: ['mail', 'email', 'e-mail', 'courriel', 'newsletter', "lettre d'information"],
  },
  {
    dimension: 'channel',
    values: ['direct'],
    en: ['direct', 'direct traffic'],
    fr: ['direct', 'accès direct'],
  },
  { dimension: 'channel', values: ['referral'], en: ['referral'], fr: ['sites référents'] },
  {
    dimension: 'channel',
    values: ['campaign'],
    en: ['paid campaign', 'campaign traffic'],
    fr: ['campagne payante', 'trafic de campagne'],
  },
  {
    dimension: 'isNew',
    values: ['true'],
    en: ['new', 'first time', 'new visitor session'],
    fr: ['nouveau', 'nouvel', 'nouvelle', 'première visite'],
  },
  {
    dimension: 'isNew',
    values: ['false'],
    en: ['returning', 'repeat', 'recurring'],
    fr: ['récurrent', 'récurrente', 'fidèle', 'revenant'],
  },
  {
    dimension: 'isIdentified',
    values: ['true'],
    en: ['identified', 'logged in'],
    fr: ['identifié', 'connecté'],
  },
  { dimension: 'isIdentified', values: ['false'], en: ['anonymous'], fr: ['anonyme'] },
  { dimension: 'browser', values: ['Chrome'], en: ['chrome'], fr: ['chrome'] },
  { dimension: 'browser', values: ['Safari'], en: ['safari'], fr: ['safari'] },
  { dimension: 'browser', values: ['Firefox'], en: ['firefox'], fr: ['firefox'] },
  {
    dimension: 'browser',
    values: ['Microsoft Edge'],
    en: ['edge', 'microsoft edge'],
    fr: ['edge', 'microsoft edge'],
  },
  { dimension: 'browser', values: ['Opera'], en: ['opera'], fr: ['opera'] },
  { dimension: 'os', values: ['Android'], en: ['android'], fr: ['android'] },
  { dimension: 'os', values: ['iOS'], en: ['ios', 'iphone', 'ipad'], fr: ['ios', 'iphone', 'ipad'] },
  { dimension: 'os', values: ['Windows'], en: ['windows'], fr: ['windows'] },
  { dimension: 'os', values: ['macOS'], en: ['macos', 'mac', 'mac os'], fr: ['macos', 'mac', 'mac os'] },
  { dimension: 'os', values: ['Linux'], en: ['linux'], fr: ['linux'] },
]

/** Nouns for units of time. */
export const unitWords: Readonly<Record<Unit, Phrases>> = {
  hour: { en: ['hour'], fr: ['heure'] },
  day: { en: ['day', 'date'], fr: ['jour', 'journée'] },
  week: { en: ['week'], fr: ['semaine'] },
  month: { en: ['month'], fr: ['mois'] },
  quarter: { en: ['quarter'], fr: ['trimestre'] },
  year: { en: ['year'], fr: ['année', 'an'] },
}

/** Words for grouping by time without a word such as "by"; `auto` takes a unit by the length of the range. */
export const granularityWords: Readonly<Record<Unit | 'auto', Phrases>> = {
  hour: { en: ['hourly'], fr: ['horaire', 'toutes les heures'] },
  day: {
    en: ['daily'],
    fr: ['quotidien', 'quotidienne', 'journalier', 'journalière'],
  },
  week: { en: ['weekly'], fr: ['hebdomadaire'] },
  month: { en: ['monthly'], fr: ['mensuel', 'mensuelle'] },
  quarter: {
    en: ['quarterly'],
    fr: ['trimestriel', 'trimestrielle'],
  },
  year: {
    en: ['yearly', 'annual', 'annually'],
    fr: ['annuel', 'annuelle'],
  },
  auto: {
    en: [
      'over time',
      'trend',
      'evolution',
      'course',
      'time series',
      'timeline',
      'trending',
      'develop',
      'evolve',
      'development',
    ],
    fr: [
      'au fil du temps',
      'dans le temps',
      'tendance',
      'évolution',
      'courbe',
      'évolue',
      'évolué',
      'évoluent',
    ],
  },
}

/** Words with a task in the sentence. */
export const markerWords = {
  by: {
    en: [
      'by',
      'per',
      'for each',
      'for every',
      'each',
      'every',
      'split by',
      'broken down by',
      'grouped by',
      'breakdown by',
      'across',
    ],
    fr: [
      'par',
      'selon',
      'pour chaque',
      'chaque',
      'ventilé par',
      'réparti par',
      'groupé par',
      'en fonction de',
      'en fonction du',
      'répartition par',
    ],
  },
  top: {
    en: [
      'top',
      'best',
      'biggest',
      'largest',
      'greatest',
      'leading',
      'strongest',
      'peak',
      'most popular',
      'best selling',
      'bestselling',
      'most important',
    ],
    fr: [
      'top',
      'meilleur',
      'meilleure',
      'premier',
      'première',
      'principal',
      'principale',
      'principaux',
      'plus grand',
      'plus gros',
      'plus grande',
      'plus important',
      'plus importante',
    ],
  },
  most: {
    en: ['most', 'highest', 'the most', 'maximum'],
    fr: [
      'plus de',
      'le plus',
      'la plus',
      'les plus',
      'le plus de',
      'plus élevé',
      'plus élevée',
      'le plus élevé',
      'la plus élevée',
      'les plus élevés',
      'plus fort',
      'plus forte',
    ],
  },
  bottom: {
    en: ['bottom', 'worst', 'smallest', 'weakest', 'least popular'],
    fr: ['pire', 'plus petit', 'plus petite', 'moins bon', 'moins bonne'],
  },
  least: {
    en: ['least', 'lowest', 'fewest', 'the least', 'the fewest', 'minimum'],
    fr: [
      'moins de',
      'le moins',
      'la moins',
      'les moins',
      'le moins de',
      'plus faible',
      'plus bas',
      'plus basse',
      'le plus faible',
      'la plus faible',
      'le plus bas',
    ],
  },
  which: {
    en: ['which', 'what', 'what are', 'what is', 'which are', 'list', 'list of'],
    fr: ['quel', 'quelle', 'quels sont', 'quelles sont', 'quel est', 'quelle est', 'liste des'],
  },
  compare: {
    en: [
      'compare',
      'compared with',
      'compared to',
      'compared',
      'versus',
      'vs',
      'against',
      'relative to',
      'in comparison with',
      'in comparison to',
      'comparison with',
      'comparison to',
      'than',
      'comparing',
    ],
    fr: [
      'comparer',
      'compare',
      'comparé',
      'comparée',
      'comparé à',
      'par rapport à',
      'par rapport au',
      'par rapport aux',
      'en comparaison de',
      'en comparaison avec',
      'contre',
      'versus',
      'vs',
      'comparaison avec',
      'comparaison à',
      'comparé au',
      'comparée à',
      'comparée au',
      'vis à vis de',
      'comparaison',
    ],
  },
  between: { en: ['between'], fr: ['entre'] },
  from: { en: ['from'], fr: ['du', 'de'] },
  to: {
    en: ['to', 'until', 'till', 'through', 'up to', '-'],
    fr: ['au', 'à', "jusqu'à", "jusqu'au", "jusqu'en"],
  },
  and: { en: ['and', 'or', '&', 'as well as', 'nor'], fr: ['et', 'ou', 'ainsi que', 'ni'] },
  since: {
    en: ['since', 'starting', 'starting from', 'from the beginning of'],
    fr: ['depuis', 'à partir de', 'à partir du', 'à compter de', 'à compter du'],
  },
  startOf: {
    en: ['the beginning of', 'beginning of', 'the start of', 'start of'],
    fr: ['le début de', 'le début du', 'début de', 'début du', 'le début'],
  },
  in: {
    en: [
      'in',
      'for',
      'on',
      'with',
      'where',
      'via',
      'at',
      'within',
      'during',
      'of',
      'only',
      'using',
      'through',
      'over',
      'whose',
      'when',
      'coming from',
      'named',
      'called',
      'among',
    ],
    fr: [
      'en',
      'dans',
      'pour',
      'sur',
      'avec',
      'via',
      'chez',
      'aux',
      'où',
      'pendant',
      'durant',
      'au cours de',
      'au cours du',
      'des',
      'uniquement',
      'seulement',
      'dont',
      'nommé',
      'appelé',
      'venant de',
      'parmi',
      'lors de',
      'à',
      'au',
      'du',
      'de',
      'd',
      'depuis',
      'nommés',
      'appelés',
    ],
  },
  not: {
    en: [
      'not',
      'except',
      'excluding',
      'without',
      'other than',
      'except for',
      'not in',
      'not from',
      'but not',
      'outside',
      'is not',
      'are not',
    ],
    fr: [
      'sauf',
      'hors',
      'sans',
      'à l exception de',
      'excepté',
      'autre que',
      'autres que',
      'en dehors de',
      'hormis',
      "à l'exclusion de",
      "n'est pas",
      'pas',
    ],
  },
  equals: {
    en: ['is', 'are', 'equals', 'equal to', '=', 'named', 'called', 'is equal to'],
    fr: ['est', 'sont', 'égale', 'égal à', 'vaut', '=', 'nommé', 'appelé', 'nommés', 'appelés'],
  },
  this: {
    en: ['this', 'current', 'the current'],
    fr: ['ce', 'cet', 'cette', 'en cours', 'courant', 'courante', 'actuel', 'actuelle'],
  },
  last: { en: ['last', 'past'], fr: ['dernier', 'dernière', 'passé', 'passée', 'écoulé', 'écoulée'] },
  previous: { en: ['previous', 'prior', 'preceding'], fr: ['précédent', 'précédente'] },
  before: {
    en: ['before', 'earlier', 'prior', 'before that', 'previously'],
    fr: ["d'avant", 'avant', 'plus tôt', 'auparavant'],
  },
  ago: { en: ['ago'], fr: ['il y a'] },
  period: { en: ['period', 'time'], fr: ['période'] },
  same: { en: ['same', 'the same'], fr: ['même', 'la même', 'le même'] },
} as const satisfies Record<string, Phrases>
export type Marker = keyof typeof markerWords

/** Ranges that have a name of their own. */
export const namedRanges = {
  today: { en: ['today', 'so far today'], fr: ["aujourd'hui"] },
  yesterday: { en: ['yesterday'], fr: ['hier'] },
  dayBeforeYesterday: { en: ['the day before yesterday', 'day before yesterday'], fr: ['avant-hier'] },
  weekToDate: { en: ['week to date', 'wtd'], fr: ['semaine à ce jour'] },
  monthToDate: { en: ['month to date', 'mtd'], fr: ['mois à ce jour'] },
  quarterToDate: { en: ['quarter to date', 'qtd'], fr: ['trimestre à ce jour'] },
  yearToDate: {
    en: ['year to date', 'ytd', 'so far this year'],
    fr: ['année à ce jour', "depuis le début de l'année"],
  },
} as const satisfies Record<string, Phrases>
export type NamedRange = keyof typeof namedRanges

/** Comparisons that name no range: by how much the range is moved. */
export const comparisonWords: Readonly<
  Record<'year' | 'month' | 'week' | 'day' | 'previous' | 'implied', Phrases>
> = {
  year: {
    en: [
      'year over year',
      'year on year',
      'yoy',
      'same period last year',
      'the same period last year',
      'same time last year',
      'same period a year ago',
      'the same period of the previous year',
      'same period of last year',
    ],
    fr: [
      "d'une année sur l'autre",
      'sur un an',
      "même période de l'année dernière",
      "même période de l'année précédente",
      "à la même période l'an dernier",
      "même période l'an dernier",
      "même période l'année dernière",
      'en glissement annuel',
      "la même période de l'année dernière",
      "la même période l'an dernier",
      "la même période de l'année précédente",
    ],
  },
  month: { en: ['month over month', 'month on month', 'mom'], fr: ["d'un mois sur l'autre"] },
  week: { en: ['week over week', 'week on week', 'wow'], fr: ["d'une semaine sur l'autre"] },
  day: { en: ['day over day', 'day on day'], fr: ["d'un jour sur l'autre"] },
  previous: {
    en: [
      'previous period',
      'the previous period',
      'period before',
      'the period before',
      'preceding period',
      'prior period',
      'last period',
    ],
    fr: [
      'période précédente',
      'la période précédente',
      "période d'avant",
      "la période d'avant",
      'période antérieure',
    ],
  },
  /** Words that ask for a comparison where nothing says with what: then it is the period before. */
  implied: {
    en: 'growth|grow|grew|grown|increase|increased|decrease|decreased|go up|went up|gone up|go down|went down|gone down|drop|dropped|decline|declined|rise|rose|risen|change|changed|improve|improved'.split(
      '|',
    ),
    fr: 'croissance|augmentation|augmenté|augmentée|augmentent|augmente|progression|progressé|hausse|baisse|baissé|baissée|diminution|diminué|diminuent|diminue|recul|reculé|changé|amélioré'.split(
      '|',
    ),
  },
}

export const monthWords: readonly Phrases[] = [
  { en: ['january', 'jan'], fr: ['janvier', 'janv'] },
  { en: ['february', 'feb'], fr: ['février', 'févr', 'fév'] },
  { en: ['march', 'mar'], fr: ['mars'] },
  { en: ['april', 'apr'], fr: ['avril', 'avr'] },
  { en: ['may'], fr: ['mai'] },
  { en: ['june', 'jun'], fr: ['juin'] },
  { en: ['july', 'jul'], fr: ['juillet', 'juil'] },
  { en: ['august', 'aug'], fr: ['août'] },
  { en: ['september', 'sept', 'sep'], fr: ['septembre'] },
  { en: ['october', 'oct'], fr: ['octobre'] },
  { en: ['november', 'nov'], fr: ['novembre'] },
  { en: ['december', 'dec'], fr: ['décembre', 'déc'] },
]

/** Numbers in words, for counts. */
export const numberWords: ReadonlyMap<number, Phrases> = new Map([
  [1, { en: ['one'], fr: [] }],
  [2, { en: ['two'], fr: ['deux'] }],
  [3, { en: ['three'], fr: ['trois'] }],
  [4, { en: ['four'], fr: ['quatre'] }],
  [5, { en: ['five'], fr: ['cinq'] }],
  [6, { en: ['six'], fr: ['six'] }],
  [7, { en: ['seven'], fr: ['sept'] }],
  [8, { en: ['eight'], fr: ['huit'] }],
  [9, { en: ['nine'], fr: ['neuf'] }],
  [10, { en: ['ten'], fr: ['dix'] }],
  [12, { en: ['twelve'], fr: ['douze'] }],
  [20, { en: ['twenty'], fr: ['vingt'] }],
  [30, { en: ['thirty'], fr: ['trente'] }],
  [90, { en: ['ninety'], fr: ['quatre-vingt-dix'] }],
])

/** Ordinals of quarters, halves and days. */
export const ordinalWords: ReadonlyMap<number, Phrases> = new Map([
  [1, { en: ['first', '1st'], fr: ['premier', 'première', '1er', '1re', '1ère'] }],
  [2, { en: ['second', '2nd'], fr: ['deuxième', 'second', 'seconde', '2e', '2ème'] }],
  [3, { en: ['third', '3rd'], fr: ['troisième', '3e', '3ème'] }],
  [4, { en: ['fourth', '4th'], fr: ['quatrième', '4e', '4ème'] }],
])

export const halfWords: Phrases = { en: ['half', 'half year'], fr: ['semestre'] }

/** What a question can be asked for and the grammar knows that it cannot answer. */
export const unansweredWords: Phrases = {
  en: [
    'day of the week',
    'day of week',
    'days of the week',
    'weekday',
    'weekend',
    'hour of the day',
    'hour of day',
    'time of day',
    'percentage',
    'share',
    'percent',
    'median',
    'average',
    'mean',
    'forecast',
    'predict',
    'why',
    'cohort',
    'funnel',
    'retention',
    'all time',
    'ever',
  ],
  fr: [
    'jour de la semaine',
    'jours de la semaine',
    'week-end',
    'heure de la journée',
    'heures de la journée',
    'pourcentage',
    'part',
    'médiane',
    'moyenne',
    'moyen',
    'prévision',
    'prévoir',
    'pourquoi',
    'cohorte',
    'entonnoir',
    'rétention',
    'depuis toujours',
  ],
}

/** Words without a meaning for the query. */
export const ignoredWords: Phrases = {
  en: 'a an the i we our my your their its it me us you show give tell display plot chart graph table report please can could would do did does was were be been being has have had is are am will there here how many much number total sum count amount of overall all and s t re ve ll so far that those these who whom want need know see get find look let make made generate bring brought came come go went want like in on at to me about happened happen perform performed performing performance doing about which what when where then also more any some just now had mostly going go goes gone referred referring something anything did something generated figures figure numbers data value values result results breakdown group split up down analysis analyse analyze overview summary with respect regard most occur occurred occurs'.split(
    ' ',
  ),
  fr: 'le la les l un une des du de d ce cet cette ces c on nous notre nos vous votre mon ma mes je j tu il elle ils elles leur leurs son sa ses se s qu que qui quoi est sont a ont avons etait etaient etre ete fait faire faites montre montrez montrer donne donnez donner moi affiche affichez afficher combien nombre total somme quantite y t ci la dans en et ou par pour sur avec aux au comment tout tous toute toutes veux voudrais peux pouvez voir savoir connaitre generer genere generes realise realisee realises realisees obtenu obtenus liste tableau graphique courbes rapport chiffres resultats resultat valeurs valeur repartition ventilation analyse apercu resume viennent vient pendant m n ne pas plus donc alors aussi puis eu s il te plait svp merci eu eus eue cumule cumulee ont elle elles frequent frequente'.split(
    ' ',
  ),
}
