import type { Evidence } from '@millrace/contract/resources/evidence.ts'
import type { CellReference } from '@millrace/contract/resources/report-section.ts'
import type { Row } from '../evidence/table.ts'
import type { CourseGranularity } from '../plans/queries.ts'
import type { Rate, Subject } from '../plans/subject.ts'
import type { Outlier } from './outliers.ts'
import type { Season } from './season.ts'

/** A measure by buckets of time. */
export interface Course {
  readonly evidence: Evidence
  readonly granularity: CourseGranularity
  /** The column of the buckets. */
  readonly column: string
  /** One for each bucket, in the order of time. */
  readonly rows: readonly Row[]
  readonly values: readonly number[]
  /** Whether nothing at all was collected in the bucket. */
  readonly lacking: readonly boolean[]
  /** Of days: 0 to 6 from Monday on. */
  readonly weekdays: readonly number[] | undefined
}

/** A member of a dimension. */
export interface Member {
  readonly dimension: string
  /** Null for rows without a value. */
  readonly key: string | null
  /** The cell that names it. */
  readonly cell: CellReference
}

/** A rate or a measure of which a member changed by more than it varies. */
export interface Driver {
  readonly member: Member
  /** Absent for the measure itself. */
  readonly rate?: Rate | undefined
  readonly pValue: number
  /** The rate at which such findings are false, all tests of the report together. */
  discoveryRate: number
  /** Numerator and, for a rate, denominator: of the member now and before, and of all now and before. */
  readonly now?: RateCells | undefined
  /** One of both is absent where the member was not there. */
  readonly before?: RateCells | undefined
  readonly allNow: RateCells
  readonly allBefore: RateCells
  /** The change of the member over that of all, or 0 where it cannot be said. */
  readonly weight: number
  readonly rises: boolean
  /** What was counted before, where that is so little that a percentage misleads. */
  readonly smallBase?: { readonly measure: string; readonly cell: CellReference } | undefined
  /** Where the level changed. */
  changedAt?: { readonly cell: CellReference; readonly granularity: CourseGranularity }
}

export interface RateCells {
  readonly value: CellReference
  readonly base?: CellReference
}

/** What contributes most to the excess of a peak, in one dimension. */
export interface PeakDriver {
  readonly member: Member
  /** Of the member, the peak first, then the other buckets. */
  readonly cells: readonly CellReference[]
  /** Of all, in the same order. */
  readonly allCells: readonly CellReference[]
}

export interface Breakdown {
  readonly dimension: string
  readonly evidence: Evidence
  /** Of the period, the greatest first. */
  readonly rows: readonly Row[]
  /** Whether there are more members than rows. */
  readonly isCut: boolean
}

/** Why a comparison cannot be made: data are missing, or no day of the period is over. */
export type Uncovered = 'empty' | 'partial' | 'begun'

/**
 * Whether the change of the whole lies within what buckets usually vary by or beyond it; `partly` where it does not lie
 * beyond, though members or the level within the period changed; `otherwise` where extraordinary days, or days without
 * any data, may have made it, and the others lie within; `mixed` where both may have.
 */
export type Variation = 'within' | 'beyond' | 'partly' | 'otherwise' | 'mixed'

export type ComparedWindow = 'period' | 'before' | 'yearBefore'

export interface SubjectFindings {
  readonly subject: Subject
  readonly totals: Evidence | undefined
  readonly now: Row | undefined
  readonly before: Row | undefined
  readonly yearBefore: Row | undefined
  /** Where facts of the windows before are missing: nothing is compared with them then. */
  readonly uncovered: Readonly<Record<'before' | 'yearBefore', Uncovered | undefined>>
  /** The day of the earliest facts. */
  readonly firstDay: CellReference | undefined
  /** By days, or the finest buckets that evidence can hold. */
  readonly course: Course | undefined
  /** In which the period is told, without buckets of no data: its peak is the greatest bucket of it. */
  readonly told: Course | undefined
  /** The one lowest bucket of `told` that lacks no day. */
  readonly lowest: Row | undefined
  /** Days without any data, by their cells. */
  readonly missing: Readonly<Record<ComparedWindow, readonly CellReference[]>>
  readonly peak: { readonly index: number; readonly standsOut: boolean } | undefined
  readonly peakDrivers: readonly PeakDriver[]
  /** Absent where the buckets are too few to say. */
  readonly variation: Variation | undefined
  readonly drivers: readonly Driver[]
  /** Members that were held against their variation. */
  readonly testedMembers: number
  readonly levelChange: { readonly cell: CellReference; readonly rises: boolean } | undefined
  readonly season: Season | undefined
  /** The days in which season and outliers are found: those of the period, and before it those of the window before. */
  readonly seasonal: Course | undefined
  /** The last day with data, where they end before the period does. */
  readonly lastDay: CellReference | undefined
  /** By their index in `seasonal`. */
  readonly outliers: readonly Outlier[]
  readonly breakdowns: readonly Breakdown[]
}
