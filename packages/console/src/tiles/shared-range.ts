import { type Preset, presets, type Range, readRange } from '../data/ranges.ts'
import type { Dashboard } from './tile.ts'

/** What the query language calls the ranges that have names here: it reads them anew each day, as the names are. */
const words: Readonly<Record<Preset, string>> = {
  today: 'today',
  yesterday: 'yesterday',
  '7d': 'from 6 days ago to now',
  '30d': 'from 29 days ago to now',
  '90d': 'from 89 days ago to now',
  month: 'month to date',
  'last-month': 'last month',
  year: 'year to date',
  '12m': 'from 364 days ago to now',
}

/** A range as a dashboard keeps it. */
export const savedRangeOf = (range: Range): NonNullable<Dashboard['range']> =>
  typeof range === 'string' ? (words[range as Preset] ?? range) : [...range]

/** The range of a dashboard by its name here or its days; undefined where it has none that this page knows. */
export function rangeOfSaved(saved: Dashboard['range']): Range | undefined {
  if (typeof saved === 'string') return presets.find((each) => words[each] === saved)
  return saved === null ? undefined : readRange(saved)
}
