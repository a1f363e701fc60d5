import type { Phrases } from './english.ts'
import { type ChangeParts, listed, type Part, type Sentence, say } from './paragraph.ts'

const singular = { day: 'jour', week: 'semaine', month: 'mois' } as const
const plural = { day: 'jours', week: 'semaines', month: 'mois' } as const

function change(parts: ChangeParts, than: string): Sentence {
  const { noun, now, before, direction } = parts
  if (direction === 'same') return say`${noun.text} reste à ${now}, comme pendant ${than}.`
  const verb = direction === 'up' ? 'a augmenté' : 'a baissé'
  return say`${noun.text} ${verb} de ${before} pendant ${than} à ${now}${extent(parts)}.`
}

/** How far both values are apart: of a small base in its own unit first. */
function extent({ difference, change, smallBase }: ChangeParts): Sentence {
  if (change === undefined) return say` (${difference})`
  if (!smallBase) return say` (${change})`
  const { noun, count } = smallBase
  return say` (${difference}, soit ${change} d’une petite base : ${noun.text} était alors de ${count})`
}

const windows = {
  period: 'la période',
  before: 'la période précédente',
  yearBefore: 'la même période de l’année précédente',
} as const

const presences = {
  displays: 'Affichages de contenus de workflows',
  clicks: 'Clics sur des contenus de workflows',
  exposures: 'Expositions à des expériences',
}

const absences = {
  displays: 'Aucun contenu de workflow n’a été affiché.',
  clicks: 'Aucun contenu de workflow n’a reçu de clic.',
  exposures: 'Aucune personne n’a été exposée à une expérience.',
  influence: 'Aucun achat ne suit un affichage ou un clic dans les fenêtres d’attribution.',
}

export const french: Phrases = {
  claims: {
    rises: /^(.*) a augmenté de [^⟦]*⟦(\d+)⟧(.*?) à [^⟦]*⟦(\d+)⟧/u,
    falls: /^(.*) a baissé de [^⟦]*⟦(\d+)⟧(.*?) à [^⟦]*⟦(\d+)⟧/u,
    isWithin: /^Cela reste dans la variation /,
    isBeyond: /^C’est plus que la variation /,
    noDrivers: /^Aucun membre d’aucune dimension /,
    highest: /^(?:Le jour|La semaine|Le mois) où .* est l[ea] plus haute? est [^⟦]*⟦(\d+)⟧/u,
    lowest: /^(?:Le (?:jour|mois) le plus bas|La semaine la plus basse) est [^⟦]*⟦(\d+)⟧/,
    peakIsUsual: /^(?:Ce jour|Cette semaine|Ce mois) reste dans la variation /,
    outlier: /^Le ⟦(\d+)⟧, .* loin au-dess(?:us|ous) de ce que /u,
    farBelow: /^Le ⟦(\d+)⟧, .* loin au-dessous de ce que /u,
    levelChange: /^Au cours de la période, le niveau (?:monte|descend) [^⟦]*⟦(\d+)⟧/,
  },
  titles: {
    impact: 'Impact des contenus',
    revenue: 'Chiffre d’affaires',
    engagement: 'Engagement',
    retention: 'Fidélité',
  },
  sections: {
    summary: 'Résumé',
    change: 'Ce qui a changé',
    drivers: 'Ce qui explique le changement',
    course: 'Évolution',
    season: 'Jours de la semaine',
    outliers: 'Jours exceptionnels',
    limits: 'Ce qui ne peut être dit',
    answer: 'Réponse',
    breakdown: (measure, dimension) => `${measure} par ${dimension}`,
  },
  withoutValue: 'lignes sans valeur',
  points: ' points',
  isNew: { true: 'nouvelles personnes', false: 'personnes déjà venues' },

  total: (noun, value, from, to) => say`${noun.text} s’élève à ${value} du ${from} au ${to}.`,
  totalInRange: (noun, value, range) => say`${noun.text} s’élève à ${value} (${range}).`,
  alsoTotal: (noun, value) => say`${noun.text} est de ${value}.`,
  change: (parts) => change(parts, windows.before),
  yearChange: (parts) => change(parts, windows.yearBefore),
  variation: (variation, granularity) =>
    ({
      within: say`Cela reste dans la variation habituelle des ${plural[granularity]}.`,
      beyond: say`C’est plus que la variation habituelle des ${plural[granularity]}.`,
      otherwise: say`Hormis les jours exceptionnels ou sans données, cela reste dans la variation habituelle des ${plural[granularity]}.`,
      mixed: say`Des jours exceptionnels ou sans données y ont une part, et une partie a changé plus que la variation habituelle des ${plural[granularity]}.`,
      partly: say`Dans l’ensemble, cela ne dépasse pas la variation habituelle des ${plural[granularity]}, mais une partie a changé davantage.`,
    })[variation],
  driver: ({ dimension, name }, parts) => {
    const { noun, now, before, direction } = parts
    const verb = direction === 'up' ? 'a augmenté' : 'a baissé'
    return say`${dimension} ${name} : ${noun.text} ${verb} de ${before} à ${now}${extent(parts)}.`
  },
  newMember: ({ dimension, name }, noun, now) =>
    say`${dimension} ${name} n’existait pas pendant la période précédente : ${noun.text} s’élève maintenant à ${now}.`,
  goneMember: ({ dimension, name }, noun, before) =>
    say`${dimension} ${name} n’existe plus : ${noun.text} s’élevait à ${before} pendant la période précédente.`,
  contribution: (share, isWithAll) =>
    isWithAll
      ? say`Cela fait ${share} du changement de l’ensemble.`
      : say`Cela fait ${share} du changement de l’ensemble, donc en sens contraire.`,
  rateParts: (rateEffect, mixEffect) =>
    say`Sur l’ensemble, son propre taux fait ${rateEffect} points de différence, et son poids parmi les autres ${mixEffect}.`,
  changedAt: (date, granularity) =>
    granularity === 'day'
      ? say`Le niveau a changé le ${date}.`
      : say`Le niveau a changé la semaine du ${date}.`,
  noDrivers: (variation) =>
    variation === 'beyond'
      ? say`Aucun membre d’aucune dimension n’explique à lui seul le changement : aucun n’a changé plus qu’il ne varie d’habitude.`
      : say`Aucun membre d’aucune dimension n’a changé plus qu’il ne varie d’habitude.`,
  otherDrivers: () =>
    say`D’autres membres ont changé plus qu’ils ne varient d’habitude, avec une part plus petite.`,
  peak: (granularity, noun, date, value) =>
    say`${granularity === 'week' ? 'La' : 'Le'} ${singular[granularity]} où ${noun.text} est ${high(noun.feminine)} est ${of(granularity, date)}, avec ${value}.`,
  peakStandsOut: (granularity, excess) =>
    say`L’écart à la moyenne des autres ${plural[granularity]} est de ${excess}, plus que leur variation habituelle.`,
  peakIsUsual: (granularity) =>
    say`${granularity === 'week' ? 'Cette' : 'Ce'} ${singular[granularity]} reste dans la variation habituelle des ${plural[granularity]}.`,
  lowest: (granularity, date, value) =>
    say`${granularity === 'week' ? 'La semaine la plus basse' : `Le ${singular[granularity]} le plus bas`} est ${of(granularity, date)}, avec ${value}.`,
  missingDays: (window, days) => say`Jours de ${windows[window]} sans aucune donnée : ${days}.`,
  peakDriver: ({ dimension, name }, value, share) =>
    say`Par ${dimension}, c’est ${name} qui l’explique : avec ${value}, cela fait ${share} de l’écart à la moyenne des autres.`,
  levelChange: (rises, date, granularity) =>
    say`Au cours de la période, le niveau ${rises ? 'monte' : 'descend'} ${granularity === 'day' ? 'le' : 'la semaine du'} ${date} et s’y maintient dans l’ensemble.`,
  season: (noun, high, highMedian, low, lowMedian, median) =>
    say`${noun.text} dépend du jour de la semaine : le plus haut est le ${high} avec une médiane de ${highMedian}, le plus bas le ${low} avec ${lowMedian}, contre ${median} tous jours confondus.`,
  outlier: (noun, date, value, isAbove, median) =>
    say`Le ${date}, ${noun.text} est de ${value}, loin ${isAbove ? 'au-dessus' : 'au-dessous'} de ce que les jours voisins et le jour de la semaine laissent attendre ; la médiane des jours voisins est de ${median}.`,
  members: (members) => say`En tête viennent ${listed(members, 'et')}.`,
  rows: (members) => say`la réponse commence par ${listed(members, 'et')}.`,
  memberValue: (name, value, share) =>
    share === undefined ? say`${name} (${value})` : say`${name} (${value}, soit ${share} de l’ensemble)`,
  presence: (id, count, people) => say`${presences[id]} : ${count}, pour ${people} personnes.`,
  absent: (id) => [absences[id]],
  noFacts: (noun) => say`Rien dans la période ne permet de calculer ${noun.text}.`,
  notCovered: (window, firstDay) =>
    firstDay === undefined
      ? say`Rien n’est comparé avec ${windows[window]} : il n’y en a pas de données.`
      : say`Rien n’est comparé avec ${windows[window]} : les données commencent le ${firstDay}.`,
  begun: () => say`Rien n’est comparé : aucun jour de la période n’est terminé.`,
  todayIsBegun: () =>
    say`Le jour présent n’est pas terminé : ce que la réponse en dit ne se compare pas à des jours entiers.`,
  dataEnd: (lastDay) => say`Après le ${lastDay}, il n’y a plus de données : la fin de la période est vide.`,
  tooFewBuckets: () =>
    say`Les périodes sont trop courtes, ou ont trop peu de valeurs, pour dire ce qui est habituel.`,
  unfinished: () =>
    say`La période n’est pas terminée : elle est décrite jusqu’au dernier jour entier, et comparée avec autant de jours des périodes précédentes.`,
  failed: (what) => say`Une requête a échoué, rien n’est donc dit à ce sujet : ${what}.`,
  cut: (dimension) => say`Il y a plus de membres par ${dimension} que ceux qui ont été comparés.`,
  unread: (parts, more) => {
    const quoted = parts.map((part) => `« ${part} »`).join(', ')
    if (quoted === '') return say`Une partie de la question n’a pas été comprise.`
    return more
      ? say`Ces parties de la question n’ont pas été comprises : ${quoted}, et d’autres.`
      : say`Ceci n’a pas été compris dans la question : ${quoted}.`
  },
  noRows: ['Il n’y a pas de données à ce sujet.'],
}

function high(feminine: boolean): string {
  return feminine ? 'la plus haute' : 'le plus haut'
}

function of(granularity: keyof typeof singular, date: Part): Sentence {
  switch (granularity) {
    case 'day':
      return say`le ${date}`
    case 'week':
      return say`celle du ${date}`
    case 'month':
      return [date]
  }
}
