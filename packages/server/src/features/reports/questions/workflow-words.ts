import type { DimensionWords, MeasureWords } from './lexicon.ts'

/** Words for displays and clicks of workflows, and for what they bring. */
export const workflowMeasureWords: readonly MeasureWords[] = [
  {
    ids: ['workflows.displays'],
    en: ['display', 'impression', 'displayed content', 'contents displayed'],
    fr: ['affichages', 'impression', 'contenus affichés'],
  },
  { ids: ['workflows.clicks'], en: ['click', 'number of clicks'], fr: ['clics', 'nombre de clics'] },
  { ids: ['workflows.count'], en: ['interaction'], fr: ['interactions'] },
  {
    ids: ['workflows.openings'],
    en: ['opening', 'message openings'],
    fr: ['ouvertures', 'ouvertures de messages'],
  },
  { ids: ['workflows.openers'], en: ['opener', 'unique opener'], fr: ['ouvreurs', 'ouvreurs uniques'] },
  { ids: ['workflows.clickers'], en: ['clicker', 'unique clicker'], fr: ['cliqueurs', 'cliqueurs uniques'] },
  {
    ids: ['workflows.individualizedDisplays'],
    en: [
      'individualised displays',
      'individualized displays',
      'personalised displays',
      'personalized displays',
    ],
    fr: ['affichages individualisés', 'affichages personnalisés'],
  },
  {
    ids: ['workflows.individualizedOpenings'],
    en: [
      'individualised openings',
      'individualized openings',
      'personalised openings',
      'personalized openings',
    ],
    fr: ['ouvertures individualisées', 'ouvertures personnalisées'],
  },
  {
    ids: ['workflows.individualizedOpeners'],
    en: ['individualised openers', 'individualized openers', 'personalised openers', 'personalized openers'],
    fr: ['ouvreurs individualisés', 'ouvreurs personnalisés'],
  },
  {
    ids: ['workflows.individualizedClicks'],
    en: ['individualised clicks', 'individualized clicks', 'personalised clicks', 'personalized clicks'],
    fr: ['clics individualisés', 'clics personnalisés'],
  },
  {
    ids: ['workflows.generationTime'],
    en: ['generation time', 'time to produce a content'],
    fr: ['temps de génération', 'durée de génération'],
  },
  {
    ids: ['workflows.openingsPerOpener'],
    en: ['openings per opener'],
    fr: ['ouvertures par ouvreur'],
  },
  { ids: ['workflows.clicksPerClicker'], en: ['clicks per clicker'], fr: ['clics par cliqueur'] },
  {
    ids: ['workflows.clickToOpenRate'],
    en: ['click-to-open rate', 'click to open rate', 'click rate', 'click through rate', 'ctr'],
    fr: ['taux de réactivité', 'taux de clics', 'ctr'],
  },
  {
    ids: ['workflows.clickerToOpenerRate'],
    en: ['clicker-to-opener rate', 'clicker to opener rate'],
    fr: ['taux de cliqueurs'],
  },
  {
    ids: ['workflows.individualizedDisplayRate'],
    en: [
      'individualised display rate',
      'individualized display rate',
      'personalisation rate',
      'personalization rate',
    ],
    fr: ["taux d'affichages individualisés", 'taux de personnalisation'],
  },
  {
    ids: ['workflows.individualizedOpenerRate'],
    en: ['individualised opener rate', 'individualized opener rate'],
    fr: ["taux d'ouvreurs individualisés"],
  },
  {
    ids: ['workflows.conversionRate'],
    en: ['conversion rate of clicks', 'click conversion rate', 'workflow conversion rate'],
    fr: ['taux de conversion des clics', 'taux de conversion des workflows'],
  },
  {
    ids: ['workflows.uniqueConversionRate'],
    en: ['conversion rate of clickers', 'unique conversion rate', 'unique conversion rate of clickers'],
    fr: ['taux de conversion unique', 'taux de conversion des cliqueurs'],
  },
  {
    ids: ['workflows.clickUplift'],
    en: ['click uplift', 'uplift of clicks'],
    fr: ['clics additionnels', 'gain de clics'],
  },
  {
    ids: ['workflows.conversionUplift'],
    en: ['conversion uplift', 'uplift of conversions'],
    fr: ['conversions additionnelles', 'gain de conversions'],
  },
  {
    ids: ['workflows.revenueUplift'],
    en: ['revenue uplift', 'uplift of revenue', 'incremental revenue'],
    fr: ["chiffre d'affaires additionnel", 'gain de revenu', 'ca additionnel'],
  },
  {
    ids: ['purchases.buyersAfterClick'],
    en: ['buyers after a click', 'buyers after click', 'customers after a click'],
    fr: ['acheteurs après un clic', 'clients après un clic'],
  },
  {
    ids: ['purchases.individualizedAfterClick'],
    en: ['purchases after a click on individualised content', 'purchases after an individualised click'],
    fr: ['achats après un clic individualisé'],
  },
  {
    ids: ['purchases.individualizedInfluencedRevenue'],
    en: ['revenue influenced by individualised content', 'individualised influenced revenue'],
    fr: ["chiffre d'affaires influencé par les contenus individualisés", 'revenu influencé individualisé'],
  },
]

export const workflowDimensionWords: readonly DimensionWords[] = [
  {
    name: 'workflow',
    ids: ['workflows.name'],
    counts: ['workflows.displays'],
    en: ['workflow', 'workflow name', 'scenario'],
    fr: ['workflow', 'scénario'],
  },
  {
    name: 'workflow id',
    ids: ['workflows.id'],
    counts: ['workflows.displays'],
    en: ['workflow id', 'workflow identifier'],
    fr: ['identifiant de workflow'],
  },
  {
    name: 'message',
    ids: ['workflows.message'],
    counts: ['workflows.openings'],
    en: ['message', 'email message'],
    fr: ['message'],
  },
  {
    name: 'branch',
    ids: ['workflows.branch'],
    counts: ['workflows.displays'],
    en: ['branch'],
    fr: ['branche'],
  },
  {
    name: 'zone',
    ids: ['workflows.zone'],
    counts: ['workflows.displays'],
    en: ['zone'],
    fr: ['zone'],
  },
]
