import type { Schedule } from './saved-queries.ts'

/** A schedule as a form has it: what is typed stays as it was typed. */
export interface ScheduleDraft {
  readonly enabled: boolean
  readonly frequency: 'daily' | 'weekly' | 'monthly' | 'custom'
  readonly time: string
  readonly weekdays: readonly number[]
  /** Days of the month, as `1, 15`. */
  readonly days: string
  readonly cron: string
  readonly timezone: string
  /** Addresses, separated by anything. */
  readonly recipients: string
  readonly linkedAccounts: readonly string[]
}

/** What a form begins with: off, and mornings of Mondays to the user. */
export function draftOf(schedule: Schedule, email = ''): ScheduleDraft {
  const isNone = Object.keys(schedule).length === 0
  return {
    enabled: !isNone && schedule.enabled !== false,
    frequency: schedule.frequency ?? 'weekly',
    time: schedule.time ?? '07:30',
    weekdays: schedule.weekdays ?? [1],
    days: (schedule.days ?? [1]).join(', '),
    cron: schedule.cron ?? '0 7 * * 1-5',
    timezone: schedule.timezone ?? '',
    recipients: (schedule.recipients ?? (isNone && email !== '' ? [email] : [])).join('\n'),
    linkedAccounts: schedule.linkedAccounts ?? [],
  }
}

const listed = (text: string): string[] => [...new Set(text.split(/[\s,;]+/).filter((each) => each !== ''))]

/** Texts that are no day are sent as they are, so that the interface says what is wrong with them. */
const daysOf = (text: string): number[] => listed(text).map((each) => (/^\d+$/.test(each) ? Number(each) : 0))

/** The schedule that a form says, with the fields that its frequency has. */
export function scheduleOf(draft: ScheduleDraft): Schedule {
  const { frequency, timezone, linkedAccounts } = draft
  const recipients = listed(draft.recipients)
  return {
    enabled: draft.enabled,
    frequency,
    ...(frequency === 'custom' ? { cron: draft.cron.trim() } : { time: draft.time }),
    ...(frequency === 'weekly' ? { weekdays: [...draft.weekdays].sort((a, b) => a - b) } : {}),
    ...(frequency === 'monthly' ? { days: daysOf(draft.days) } : {}),
    ...(timezone.trim() === '' ? {} : { timezone: timezone.trim() }),
    ...(recipients.length > 0 ? { recipients } : {}),
    ...(linkedAccounts.length > 0 ? { linkedAccounts: [...linkedAccounts] } : {}),
    format: 'csv',
  }
}

/** The field that a fault of the interface is about: `schedule.recipients.1` is about the recipients. */
export function faultOf(
  faults: readonly { readonly path?: string; readonly message: string }[],
  field: keyof ScheduleDraft,
): string | undefined {
  const found = faults.filter(({ path = '' }) => {
    const [first, second] = path.split('.')
    return (first === 'schedule' ? second : first) === field
  })
  return found.length > 0 ? found.map(({ message }) => message).join('; ') : undefined
}
