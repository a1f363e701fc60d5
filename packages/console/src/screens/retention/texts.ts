import { texts } from '../../texts/texts.ts'

const enUnit = { day: 'Day', week: 'Week', month: 'Month' }
const frUnit = { day: 'Jour', week: 'Semaine', month: 'Mois' }
const frShort = { day: 'J', week: 'S', month: 'M' }

export const words = texts(
  {
    title: 'Retention',
    lead: 'Who comes back, day by day, week by week or month by month.',
    question: 'Question',
    first: 'They began with',
    returning: 'They came back with',
    by: 'Period',
    units: enUnit,
    periods: 'Followed for',
    count: (n: number, unit: 'day' | 'week' | 'month') => `${n} ${unit}s`,
    belongs: 'A person belongs to',
    cohorts: { 'first-time': 'The period of their first time', recurring: 'Each period they did it in' },
    cohortHints: {
      'first-time': 'First ever, before the range too',
      recurring: 'A person may be in several',
    },
    counts: 'Counts who came back',
    returns: { on: 'In that period', 'on-or-after': 'In that period or later' },
    shows: 'Numbers',
    rate: 'Share',
    people: 'People',
    size: 'People',
    average: 'Average',
    period: (n: number, unit: 'day' | 'week' | 'month') => `${enUnit[unit][0]}${n}`,
    whole: (size: string) => `All ${size} of this period`,
    cell: (people: string, size: string, rate: string, isOver: boolean) =>
      `${people} of ${size}: ${rate}${isOver ? '' : ' so far'}`,
    legend:
      'Dashed: the period is not over. The average is of all people whose period is over. Press a number for its people as a cohort.',
    noneHint:
      'Nobody did the first event in this range. Choose a longer range, another event or fewer filters.',
  },
  {
    title: 'Rétention',
    lead: 'Qui revient, jour après jour, semaine après semaine ou mois après mois.',
    question: 'Question',
    first: 'Ils ont commencé par',
    returning: 'Ils sont revenus avec',
    by: 'Intervalle',
    units: frUnit,
    periods: 'Suivis pendant',
    count: (n, unit) => `${n} ${{ day: 'jours', week: 'semaines', month: 'mois' }[unit]}`,
    belongs: 'Une personne compte',
    cohorts: {
      'first-time': 'À l’intervalle de sa première fois',
      recurring: 'À chaque intervalle où elle l’a fait',
    },
    cohortHints: {
      'first-time': 'La toute première, même avant la période',
      recurring: 'Une personne peut être dans plusieurs',
    },
    counts: 'Compte qui est revenu',
    returns: { on: 'Dans cet intervalle', 'on-or-after': 'Dans cet intervalle ou plus tard' },
    shows: 'Nombres',
    rate: 'Part',
    people: 'Personnes',
    size: 'Personnes',
    average: 'Moyenne',
    period: (n, unit) => `${frShort[unit]}${n}`,
    whole: (size) => `Toutes les ${size} personnes de cet intervalle`,
    cell: (people, size, rate, isOver) => `${people} sur ${size} : ${rate}${isOver ? '' : ' pour l’instant'}`,
    legend:
      'En pointillés : l’intervalle n’est pas terminé. La moyenne porte sur les personnes dont l’intervalle est terminé. Appuyez sur un nombre pour en faire une cohorte.',
    noneHint:
      'Personne n’a fait le premier événement dans cette période. Choisissez une période plus longue, un autre événement ou moins de filtres.',
  },
)
