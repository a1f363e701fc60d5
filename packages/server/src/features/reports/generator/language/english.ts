import type { ComparedWindow, Variation } from '../findings/subject-findings.ts'
import type { Presence } from '../plans/guided.ts'
import type { CourseGranularity } from '../plans/queries.ts'
import type { Noun } from './nouns.ts'
import { type ChangeParts, listed, type MemberParts, type Part, type Sentence, say } from './paragraph.ts'

const singular = { day: 'day', week: 'week', month: 'month' } as const
const plural = { day: 'days', week: 'weeks', month: 'months' } as const

function change(parts: ChangeParts, than: string): Sentence {
  const { noun, now, before, direction } = parts
  if (direction === 'same') return say`${noun.text} stayed at ${now}, as in ${than}.`
  const verb = direction === 'up' ? 'rose' : 'fell'
  return say`${noun.text} ${verb} from ${before} in ${than} to ${now}${extent(parts)}.`
}

/** How far both values are apart: of a small base in its own unit first. */
function extent({ difference, change, smallBase }: ChangeParts): Sentence {
  if (change === undefined) return say` (${difference})`
  if (!smallBase) return say` (${change})`
  const { noun, count } = smallBase
  return say` (${difference}, which is ${change} of a small base: ${noun.text} was ${count} then)`
}

const windows = {
  period: 'the period',
  before: 'the period before',
  yearBefore: 'the same period of the year before',
} as const

const presences = {
  displays: 'contents of workflows were displayed',
  clicks: 'contents of workflows were clicked',
  exposures: 'persons were exposed to experiments',
}

const absences = {
  displays: 'No content of a workflow was displayed.',
  clicks: 'No content of a workflow was clicked.',
  exposures: 'No person was exposed to an experiment.',
  influence: 'No purchase follows a display or a click within the windows of attribution.',
}

export type Phrases = typeof english

/** Everything that reports say, in one language. None of it holds a number in words or digits: figures do. */
export const english = {
  /**
   * By which words a sentence makes a claim, so that the checker finds claims that contradict each other. Figures stand
   * in the sentence as their number in pointed brackets; the groups of `rises` and `falls` are the subject, the figure of
   * the value before, what it is compared with, and the figure of the value now.
   */
  claims: {
    rises: /^(.*) rose from [^⟦]*⟦(\d+)⟧(.*?) to [^⟦]*⟦(\d+)⟧/u,
    falls: /^(.*) fell from [^⟦]*⟦(\d+)⟧(.*?) to [^⟦]*⟦(\d+)⟧/u,
    isWithin: /^That lies within what /,
    isBeyond: /^That is more than what /,
    noDrivers: /^No (?:single )?member of any dimension /,
    highest: /^The (?:day|week|month) with the highest .* is [^⟦]*⟦(\d+)⟧/u,
    lowest: /^The lowest (?:day|week|month) is [^⟦]*⟦(\d+)⟧/,
    peakIsUsual: /^It lies within what /,
    outlier: /^On ⟦(\d+)⟧ .* far (?:above|below) what /u,
    farBelow: /^On ⟦(\d+)⟧ .* far below what /u,
    levelChange: /^Within the period the level (?:rises|falls) [^⟦]*⟦(\d+)⟧/,
  },
  titles: {
    impact: 'Impact of contents',
    revenue: 'Revenue',
    engagement: 'Engagement',
    retention: 'Retention',
  },
  sections: {
    summary: 'Summary',
    change: 'What changed',
    drivers: 'What drove the change',
    course: 'Course',
    season: 'Days of the week',
    outliers: 'Extraordinary days',
    limits: 'What cannot be said',
    answer: 'Answer',
    breakdown: (measure: string, dimension: string) => `${measure} by ${dimension}`,
  },
  withoutValue: 'rows without a value',
  points: ' points',
  isNew: { true: 'new persons', false: 'returning persons' },

  total: (noun: Noun, value: Sentence, from: Part, to: Part) =>
    say`${noun.text} came to ${value} from ${from} to ${to}.`,
  totalInRange: (noun: Noun, value: Sentence, range: Part) => say`${noun.text} came to ${value} (${range}).`,
  alsoTotal: (noun: Noun, value: Sentence) => say`${noun.text} was ${value}.`,
  change: (parts: ChangeParts) => change(parts, windows.before),
  yearChange: (parts: ChangeParts) => change(parts, windows.yearBefore),
  variation: (variation: Variation, granularity: CourseGranularity) =>
    ({
      within: say`That lies within what ${plural[granularity]} usually vary by.`,
      beyond: say`That is more than what ${plural[granularity]} usually vary by.`,
      otherwise: say`Apart from days that are extraordinary or lack data, that lies within what ${plural[granularity]} usually vary by.`,
      mixed: say`Days that are extraordinary or lack data have a part in it, and parts of it changed by more than what ${plural[granularity]} usually vary by.`,
      partly: say`As a whole this is no more than what ${plural[granularity]} usually vary by, but parts of it changed by more.`,
    })[variation],
  driver: ({ dimension, name }: MemberParts, parts: ChangeParts) => {
    const { noun, now, before, direction } = parts
    const verb = direction === 'up' ? 'rose' : 'fell'
    return say`${dimension} ${name}: ${noun.text} ${verb} from ${before} to ${now}${extent(parts)}.`
  },
  newMember: ({ dimension, name }: MemberParts, noun: Noun, now: Sentence) =>
    say`${dimension} ${name} is new: ${noun.text} came to ${now}, with nothing in the period before.`,
  goneMember: ({ dimension, name }: MemberParts, noun: Noun, before: Sentence) =>
    say`${dimension} ${name} is gone: ${noun.text} came to ${before} in the period before, with nothing now.`,
  contribution: (share: Part, isWithAll: boolean) =>
    isWithAll
      ? say`That is ${share} of the change of all.`
      : say`That is ${share} of the change of all, so against its direction.`,
  rateParts: (rateEffect: Part, mixEffect: Part) =>
    say`For all, its own rate makes ${rateEffect} points of difference and its weight among the others ${mixEffect}.`,
  changedAt: (date: Part, granularity: CourseGranularity) =>
    granularity === 'day'
      ? say`The level changed on ${date}.`
      : say`The level changed in the week that holds ${date}.`,
  noDrivers: (variation: Variation | undefined) =>
    variation === 'beyond'
      ? say`No single member of any dimension drove the change: none changed by more than it usually varies.`
      : say`No member of any dimension changed by more than it usually varies.`,
  otherDrivers: () => say`Further members changed by more than they usually vary, with a smaller part in it.`,
  peak: (granularity: CourseGranularity, noun: Noun, date: Part, value: Sentence) =>
    say`The ${singular[granularity]} with the highest ${bare(noun.text)} is ${of(granularity, date)}, with ${value}.`,
  peakStandsOut: (granularity: CourseGranularity, excess: Sentence) =>
    say`Its difference from the mean of the other ${plural[granularity]} is ${excess}, more than these usually vary by.`,
  peakIsUsual: (granularity: CourseGranularity) =>
    say`It lies within what ${plural[granularity]} usually vary by.`,
  lowest: (granularity: CourseGranularity, date: Part, value: Sentence) =>
    say`The lowest ${singular[granularity]} is ${of(granularity, date)}, with ${value}.`,
  missingDays: (window: ComparedWindow, days: Part) =>
    say`Days of ${windows[window]} without any data: ${days}.`,
  peakDriver: ({ dimension, name }: MemberParts, value: Sentence, share: Part) =>
    say`By ${dimension}, ${name} drove it: with ${value} there, it makes ${share} of the excess over the mean of the others.`,
  levelChange: (rises: boolean, date: Part, granularity: CourseGranularity) =>
    say`Within the period the level ${rises ? 'rises' : 'falls'} ${granularity === 'day' ? 'on' : 'in the week that holds'} ${date} and stays there on the whole.`,
  season: (noun: Noun, high: Part, highMedian: Sentence, low: Part, lowMedian: Sentence, median: Sentence) =>
    say`${noun.text} depends on the day of the week: the highest is ${high} with a median of ${highMedian}, the lowest ${low} with ${lowMedian}, against ${median} over all days.`,
  outlier: (noun: Noun, date: Part, value: Sentence, isAbove: boolean, median: Sentence) =>
    say`On ${date} ${noun.text} was ${value}, far ${isAbove ? 'above' : 'below'} what the days around it and the day of the week let expect; the median of the days around it is ${median}.`,
  members: (members: readonly Sentence[]) => say`The greatest are ${listed(members, 'and')}.`,
  rows: (members: readonly Sentence[]) => say`the rows of the answer begin with ${listed(members, 'and')}.`,
  memberValue: (name: Sentence, value: Sentence, share?: Part) =>
    share === undefined ? say`${name} (${value})` : say`${name} (${value}, ${share} of all)`,
  presence: (id: Presence['id'], count: Part, people: Part) =>
    say`${count} times ${presences[id]}, with ${people} persons.`,
  absent: (id: keyof typeof absences) => [absences[id]],
  noFacts: (noun: Noun) => say`There is nothing in the period that ${noun.text} could be computed from.`,
  notCovered: (window: ComparedWindow, firstDay?: Part) =>
    firstDay === undefined
      ? say`Nothing is compared with ${windows[window]}: there are no data of it.`
      : say`Nothing is compared with ${windows[window]}: the data begin on ${firstDay}.`,
  begun: () => say`Nothing is compared: no day of the period is over.`,
  todayIsBegun: () =>
    say`The present day is not over: what the answer tells of it is not to be set against whole days.`,
  dataEnd: (lastDay: Part) => say`After ${lastDay} there are no data: the end of the period is empty.`,
  tooFewBuckets: () => say`The periods are too short, or have too few values, to say what is usual.`,
  unfinished: () =>
    say`The period is not over: it is told up to the last whole day, and compared with as many days of the periods before.`,
  failed: (what: string) => say`A query failed, so nothing is said of this: ${what}.`,
  cut: (dimension: string) => say`There are more members by ${dimension} than were compared.`,
  unread: (parts: readonly string[], more: boolean) => {
    const quoted = parts.map((part) => `“${part}”`).join(', ')
    if (quoted === '') return say`A part of the question was not understood.`
    return more
      ? say`These parts of the question were not understood: ${quoted}, and others.`
      : say`This was not understood in the question: ${quoted}.`
  },
  noRows: ['There are no data for this.'],
}

function of(granularity: keyof typeof singular, date: Part): Sentence {
  return granularity === 'week' ? say`that which holds ${date}` : [date]
}

/** Without its article. */
function bare(noun: string): string {
  return noun.replace(/^the /, '')
}
