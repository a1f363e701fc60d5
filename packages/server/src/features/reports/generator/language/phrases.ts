import type { GuidedAnalysisName } from '@millrace/contract/resources/report.ts'
import type { Catalogue, Language } from '../../../../platform/i18n/language.ts'
import type { ComparedWindow, Variation } from '../findings/subject-findings.ts'
import type { CourseGranularity } from '../plans/queries.ts'
import { english } from './english.ts'
import { french } from './french.ts'
import type { Noun } from './nouns.ts'
import type { Part, Sentence } from './paragraph.ts'

export type Direction = 'up' | 'down' | 'same'

/** What was counted of a base. */
export interface SmallBase {
  readonly noun: Noun
  readonly count: Sentence
}

/** A value of a measure now and before, with how far they are apart. */
export interface ChangeParts {
  readonly noun: Noun
  readonly now: Sentence
  readonly before: Sentence
  readonly difference: Sentence
  /** In percent of what it was before; absent where that is not above 0. */
  readonly change?: Part
  /** What was counted before, where that is so little that the percentage misleads. */
  readonly smallBase?: SmallBase
  readonly direction: Direction
}

/**
 * By which words a sentence makes a claim, so that the checker finds claims that contradict each other. Figures stand in
 * the sentence as their number in pointed brackets; the groups of `rises` and `falls` are the subject, the figure of the
 * value before, what it is compared with, and the figure of the value now.
 */
export interface Claims {
  readonly rises: RegExp
  readonly falls: RegExp
  readonly isWithin: RegExp
  readonly isBeyond: RegExp
  readonly noDrivers: RegExp
  readonly highest: RegExp
  readonly lowest: RegExp
  readonly peakIsUsual: RegExp
  readonly outlier: RegExp
  readonly farBelow: RegExp
  readonly levelChange: RegExp
}

/** The member of a dimension: its name, or nothing for those without a value. */
export interface MemberParts {
  readonly dimension: string
  readonly name: Sentence
}

/** Everything that reports say, in one language. None of it holds a number in words or digits: figures do. */
export interface Phrases {
  readonly claims: Claims
  readonly titles: Readonly<Record<GuidedAnalysisName, string>>
  readonly sections: {
    readonly summary: string
    readonly change: string
    readonly drivers: string
    readonly course: string
    readonly season: string
    readonly outliers: string
    readonly limits: string
    readonly answer: string
    breakdown(measure: string, dimension: string): string
  }
  readonly withoutValue: string
  /** The unit of a difference between rates. */
  readonly points: string
  readonly isNew: Readonly<Record<'true' | 'false', string>>

  total(noun: Noun, value: Sentence, from: Part, to: Part): Sentence
  totalInRange(noun: Noun, value: Sentence, range: Part): Sentence
  alsoTotal(noun: Noun, value: Sentence): Sentence
  change(parts: ChangeParts): Sentence
  yearChange(parts: ChangeParts): Sentence
  variation(variation: Variation, granularity: CourseGranularity): Sentence
  driver(member: MemberParts, parts: ChangeParts): Sentence
  newMember(member: MemberParts, noun: Noun, now: Sentence): Sentence
  goneMember(member: MemberParts, noun: Noun, before: Sentence): Sentence
  contribution(share: Part, isWithAll: boolean): Sentence
  rateParts(rateEffect: Part, mixEffect: Part): Sentence
  changedAt(date: Part, granularity: CourseGranularity): Sentence
  noDrivers(variation: Variation | undefined): Sentence
  otherDrivers(): Sentence
  peak(granularity: CourseGranularity, noun: Noun, date: Part, value: Sentence): Sentence
  peakStandsOut(granularity: CourseGranularity, excess: Sentence): Sentence
  peakIsUsual(granularity: CourseGranularity): Sentence
  lowest(granularity: CourseGranularity, date: Part, value: Sentence): Sentence
  missingDays(window: ComparedWindow, days: Part): Sentence
  peakDriver(member: MemberParts, value: Sentence, share: Part): Sentence
  levelChange(rises: boolean, date: Part, granularity: CourseGranularity): Sentence
  season(
    noun: Noun,
    high: Part,
    highMedian: Sentence,
    low: Part,
    lowMedian: Sentence,
    median: Sentence,
  ): Sentence
  outlier(noun: Noun, date: Part, value: Sentence, isAbove: boolean, median: Sentence): Sentence
  members(members: readonly Sentence[]): Sentence
  rows(members: readonly Sentence[]): Sentence
  memberValue(name: Sentence, value: Sentence, share?: Part): Sentence
  presence(id: 'displays' | 'clicks' | 'exposures', count: Part, people: Part): Sentence
  absent(id: 'displays' | 'clicks' | 'exposures' | 'influence'): Sentence
  noFacts(noun: Noun): Sentence
  notCovered(window: 'before' | 'yearBefore', firstDay?: Part): Sentence
  /** Of a period of which no day is over. */
  begun(): Sentence
  /** Of an answer that holds the present day beside others. */
  todayIsBegun(): Sentence
  dataEnd(lastDay: Part): Sentence
  tooFewBuckets(): Sentence
  unfinished(): Sentence
  failed(what: string): Sentence
  cut(dimension: string): Sentence
  unread(parts: readonly string[], more: boolean): Sentence
  readonly noRows: Sentence
}

const phrases: Catalogue<Phrases> = { en: english, fr: french }

export function phrasesOf(locale: Language): Phrases {
  return phrases[locale]
}
