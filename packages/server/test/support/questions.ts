import type { StatisticsMeta } from '@millrace/contract/resources/statistics-meta.ts'
import { add, startOf } from '../../src/features/analytics/query/time/calendar.ts'
import { readRange } from '../../src/features/analytics/query/time/dates.ts'
import { openZone } from '../../src/features/analytics/query/time/zone.ts'
import { describeStatistics } from '../../src/features/analytics/statistics-meta.ts'
import { createQuestionReader, type QuestionContext } from '../../src/features/questions/question-reader.ts'
import type { TimeRules } from '../../src/features/questions/time-rules.ts'

/** The calendar of statistics, as the service hands it in. */
export const calendar: TimeRules = { openZone, readRange, startOf, add }

/** What a company can ask whose orders carry these labels. */
export const metaWithLabels = (...purchases: string[]): StatisticsMeta =>
  describeStatistics({ events: ['storeName', 'plan_type', 'language'], purchases }, { exactCounts: false })

export const questionMeta = metaWithLabels('country', 'storeName', 'customer-group')

/** Wednesday, 18 March 2026, 15:30 in UTC. */
export const askedAt = Date.parse('2026-03-18T15:30:00Z')

export const { readQuestion } = createQuestionReader(calendar)

export function questionContext(more: Partial<QuestionContext> = {}): QuestionContext {
  return { meta: questionMeta, now: askedAt, timezone: 'Europe/Paris', locale: 'en', ...more }
}
