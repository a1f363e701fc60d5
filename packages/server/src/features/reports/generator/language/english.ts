import { type Part, type Sentence, say } from './paragraph.ts'
import type { ChangeParts, Phrases } from './phrases.ts'

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

const listed = (parts: readonly Sentence[]): Sentence =>
  parts.flatMap((part, i) => (i === 0 ? part : [i === parts.length - 1 ? ' and ' : ', ', ...part]))

export const english: Phrases = {
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
    breakdown: (measure, dimension) => `${measure} by ${dimension}`,
  },
  withoutValue: 'rows without a value',
  points: ' points',
  isNew: { true: 'new persons', false: 'returning persons' },

  total: (noun, value, from, to) => say`${noun.text} came to ${value} from ${from} to ${to}.`,
  totalInRange: (noun, value, range) => say`${noun.text} came to ${value} (${range}).`,
  alsoTotal: (noun, value) => say`${noun.text} was ${value}.`,
  change: (parts) => change(parts, windows.before),
  yearChange: (parts) => change(parts, windows.yearBefore),
  variation: (variation, granularity) => {
    switch (variation) {
      case 'within':
        return say`That lies within what ${plural[granularity]} usually vary by.`
      case 'beyond':
        return say`That is more than what ${plural[granularity]} usually vary by.`
      case 'otherwise':
        return say`Apart from days that are extraordinary or lack data, that lies within what ${plural[granularity]} usually vary by.`
      case 'mixed':
        return say`Days that are extraordinary or lack data have a part in it, and parts of it changed by more than what ${plural[granularity]} usually vary by.`
      case 'partly':
        return say`As a whole this is no more than what ${plural[granularity]} usually vary by, but parts of it changed by more.`
    }
  },
  driver: ({ dimension, name }, parts) => {
    const { noun, now, before, direction } = parts
    const verb = direction === 'up' ? 'rose' : 'fell'
    return say`${dimension} ${name}: ${noun.text} ${verb} from ${before} to ${now}${extent(parts)}.`
  },
  newMember: ({ dimension, name }, noun, now) =>
    say`${dimension} ${name} is new: ${noun.text} came to ${now}, with nothing in the period before.`,
  goneMember: ({ dimension, name }, noun, before) =>
    say`${dimension} ${name} is gone: ${noun.text} came to ${before} in the period before, with nothing now.`,
  contribution: (share, isWithAll) =>
    isWithAll
      ? say`That is ${share} of the change of all.`
      : say`That is ${share} of the change of all, so against its direction.`,
  rateParts: (rateEffect, mixEffect) =>
    say`For all, its own rate makes ${rateEffect} points of difference and its weight among the others ${mixEffect}.`,
  changedAt: (date, granularity) =>
    granularity === 'day'
      ? say`The level changed on ${date}.`
      : say`The level changed in the week that holds ${date}.`,
  noDrivers: (variation) =>
    variation === 'beyond'
      ? say`No single member of any dimension drove the change: none changed by more than it usually varies.`
      : say`No member of any dimension changed by more than it usually varies.`,
  otherDrivers: () => say`Further members changed by more than they usually vary, with a smaller part in it.`,
  peak: (granularity, noun, date, value) =>
    say`The ${singular[granularity]} with the highest ${bare(noun.text)} is ${of(granularity, date)}, with ${value}.`,
  peakStandsOut: (granularity, excess) =>
    say`Its difference from the mean of the other ${plural[granularity]} is ${excess}, more than these usually vary by.`,
  peakIsUsual: (granularity) => say`It lies within what ${plural[granularity]} usually vary by.`,
  lowest: (granularity, date, value) =>
    say`The lowest ${singular[granularity]} is ${of(granularity, date)}, with ${value}.`,
  missingDays: (window, days) => say`Days of ${windows[window]} without any data: ${days}.`,
  peakDriver: ({ dimension, name }, value, share) =>
    say`By ${dimension}, ${name} drove it: with ${value} there, it makes ${share} of the excess over the mean of the others.`,
  levelChange: (rises, date, granularity) =>
    say`Within the period the level ${rises ? 'rises' : 'falls'} ${granularity === 'day' ? 'on' : 'in the week that holds'} ${date} and stays there on the whole.`,
  season: (noun, high, highMedian, low, lowMedian, median) =>
    say`${noun.text} depends on the day of the week: the highest is ${high} with a median of ${highMedian}, the lowest ${low} with ${lowMedian}, against ${median} over all days.`,
  outlier: (noun, date, value, isAbove, median) =>
    say`On ${date} ${noun.text} was ${value}, far ${isAbove ? 'above' : 'below'} what the days around it and the day of the week let expect; the median of the days around it is ${median}.`,
  members: (members) => say`The greatest are ${listed(members)}.`,
  rows: (members) => say`the rows of the answer begin with ${listed(members)}.`,
  memberValue: (name, value, share) =>
    share === undefined ? say`${name} (${value})` : say`${name} (${value}, ${share} of all)`,
  presence: (id, count, people) => {
    const words = {
      displays: 'contents of workflows were displayed',
      clicks: 'contents of workflows were clicked',
      exposures: 'persons were exposed to experiments',
    }
    return say`${count} times ${words[id]}, with ${people} persons.`
  },
  absent: (id) => {
    const words = {
      displays: 'No content of a workflow was displayed.',
      clicks: 'No content of a workflow was clicked.',
      exposures: 'No person was exposed to an experiment.',
      influence: 'No purchase follows a display or a click within the windows of attribution.',
    }
    return [words[id]]
  },
  noFacts: (noun) => say`There is nothing in the period that ${noun.text} could be computed from.`,
  notCovered: (window, firstDay) => {
    const which = windows[window]
    return firstDay === undefined
      ? say`Nothing is compared with ${which}: there are no data of it.`
      : say`Nothing is compared with ${which}: the data begin on ${firstDay}.`
  },
  begun: () => say`Nothing is compared: no day of the period is over.`,
  todayIsBegun: () =>
    say`The present day is not over: what the answer tells of it is not to be set against whole days.`,
  dataEnd: (lastDay) => say`After ${lastDay} there are no data: the end of the period is empty.`,
  tooFewBuckets: () => say`The periods are too short, or have too few values, to say what is usual.`,
  unfinished: () =>
    say`The period is not over: it is told up to the last whole day, and compared with as many days of the periods before.`,
  failed: (what) => say`A query failed, so nothing is said of this: ${what}.`,
  cut: (dimension) => say`There are more members by ${dimension} than were compared.`,
  unread: (parts, more) => {
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
