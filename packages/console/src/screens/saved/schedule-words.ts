import type { Language } from '../../texts/texts.ts'
import type { Schedule } from './saved-queries.ts'
import type { SavedWords } from './texts.ts'

/** Names of the days of the week, from Monday. */
export const weekdayNames = (language: Language, style: 'long' | 'short'): readonly string[] =>
  Array.from({ length: 7 }, (_, i) =>
    new Intl.DateTimeFormat(language, { weekday: style, timeZone: 'UTC' }).format(Date.UTC(2024, 0, i + 1)),
  )

/** When a schedule runs, as people say it. */
export function scheduleText(schedule: Schedule, language: Language, t: SavedWords): string {
  const { frequency, time = '', weekdays = [], days = [], cron = '' } = schedule
  const list = new Intl.ListFormat(language)
  switch (frequency) {
    case 'daily':
      return t.daily(time)
    case 'weekly': {
      const names = weekdayNames(language, 'long')
      return t.weekly(list.format(weekdays.map((day) => names[day - 1] ?? '')), time)
    }
    case 'monthly':
      return t.monthly(list.format(days.map(String)), time)
    case 'custom':
      return t.cronned(cron)
    default:
      return t.noSchedule
  }
}
