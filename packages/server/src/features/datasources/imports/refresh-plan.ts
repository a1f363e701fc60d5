import type { Fault } from '@millrace/contract/failure-data.ts'
import type { RefreshSchedule } from '@millrace/contract/resources/datasource-source.ts'

/** Planned times by the local calendar; the parts of `saved-queries/schedule` that reading one needs. */
export interface CronTimes {
  /** The planned times around an instant, or what is wrong with the expression. */
  read(
    cron: string,
    timezone: string,
  ): { readonly next: (after: number) => number | undefined } | { readonly fault: string }
  /** Whether this is exactly the name of a zone. */
  readonly knowsTimezone: (name: string) => Promise<boolean>
  readonly readSettings: (companyId: string) => Promise<{ readonly timezone: string }>
}

const minute = 60_000

/** Holds a schedule against the rules. @returns the first planned time after `now`, in milliseconds since 1970 */
export async function planRefresh(
  schedule: RefreshSchedule,
  companyId: string,
  now: number,
  times: CronTimes,
): Promise<{ readonly next: number | undefined } | { readonly faults: readonly Fault[] }> {
  const { cron, everyMinutes, timezone } = schedule
  if ((cron === undefined) === (everyMinutes === undefined)) {
    return { faults: [{ path: 'schedule', message: 'must have one of cron and everyMinutes' }] }
  }
  if (everyMinutes !== undefined) {
    if (timezone !== undefined) {
      return {
        faults: [{ path: 'schedule.timezone', message: 'has no meaning for everyMinutes: leave it out' }],
      }
    }
    return { next: now + everyMinutes * minute }
  }
  if (timezone !== undefined && !(await times.knowsTimezone(timezone))) {
    const message = `must be the IANA name of a time zone, as Europe/Paris; "${timezone}" is none`
    return { faults: [{ path: 'schedule.timezone', message }] }
  }
  const zone = timezone ?? (await times.readSettings(companyId)).timezone
  const reading = times.read(cron ?? '', zone)
  if ('fault' in reading) return { faults: [{ path: 'schedule.cron', message: reading.fault }] }
  const next = reading.next(now)
  if (next === undefined)
    return { faults: [{ path: 'schedule.cron', message: 'never runs: no month has such a day' }] }
  return { next }
}
