import { useNavigate, useSearch } from '@tanstack/react-router'
import { useCallback } from 'react'
import { useLanguage } from '../texts/texts.ts'
import { formatInstant, type InstantStyle } from './format.ts'
import { useProfile } from './profile.ts'
import {
  type Comparison,
  comparedDays,
  comparisons,
  type Days,
  daysOf,
  type Range,
  readRange,
  todayIn,
} from './ranges.ts'

/** Changes the address of a view: what is undefined leaves it. A change that is typed replaces, so that back is short. */
export function useSetView(): (change: Readonly<Record<string, unknown>>, replaces?: boolean) => void {
  const navigate = useNavigate()
  return useCallback(
    (change, replaces = false) => {
      void navigate({
        to: '.',
        replace: replaces,
        resetScroll: false,
        search: ((before: Record<string, unknown>) =>
          Object.fromEntries(
            Object.entries({ ...before, ...change }).filter(([, value]) => value !== undefined),
          )) as never,
      })
    },
    [navigate],
  )
}

export const useView = (): Readonly<Record<string, unknown>> => useSearch({ strict: false })

/** The time zone in which screens show times: the user's, else the company's. */
export function useTimezone(): string | undefined {
  const profile = useProfile()
  return profile?.preferences.timezone ?? profile?.company.timezone
}

/** Shows an instant in that zone and in the user's language. */
export function useInstant(): (instant: string | number | Date, style?: InstantStyle) => string {
  const language = useLanguage()
  const timezone = useTimezone()
  return (instant, style) => formatInstant(language, instant, timezone, style)
}

export interface RangeState {
  readonly range: Range
  readonly days: Days
  readonly comparison: Comparison
  readonly compared: Days | undefined
  readonly today: string
  /** As a query has it: `dateRange`, or `compareDateRange` with two ranges. */
  readonly ranges:
    | { readonly dateRange: [string, string] }
    | { readonly compareDateRange: [string, string][] }
  readonly includesToday: boolean
}

/** The range and comparison in the address of a view, else the initial ones. */
export function useRange(initial: Range = '30d', initialComparison: Comparison = 'none'): RangeState {
  const view = useView()
  const today = todayIn(useTimezone())
  const range = readRange(view.range) ?? initial
  const comparison = comparisons.find((each) => each === view.compare) ?? initialComparison
  const days = daysOf(range, today)
  const compared = comparedDays(days, comparison)
  const pair = ({ from, to }: Days): [string, string] => [from, to]
  return {
    range,
    days,
    comparison,
    compared,
    today,
    ranges: compared ? { compareDateRange: [pair(days), pair(compared)] } : { dateRange: pair(days) },
    includesToday: days.to >= today,
  }
}
