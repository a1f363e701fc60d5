import type {
  ActivityMessages,
  ActivityOutcome,
  DatasourceActivity,
} from '@millrace/contract/resources/datasource-activity.ts'

/** Beside what it says, a number by which a list knows it. */
export interface Entry extends DatasourceActivity {
  readonly key: number
}

type Counts = Readonly<Partial<Record<ActivityOutcome, number>>>

/** What a live feed has told. */
export interface Activity {
  /** The newest first. */
  readonly entries: readonly Entry[]
  /** By whole seconds of the reception, the newest first, of the last minute. */
  readonly seconds: readonly (readonly [second: number, counts: Counts])[]
  /** Of the last busy second, which share is shown. */
  readonly share: { readonly second: number; readonly value: number } | undefined
  /** Events that this page was too slow for. */
  readonly skipped: number
  readonly lastKey: number
}

export const noActivity: Activity = {
  entries: [],
  seconds: [],
  share: undefined,
  skipped: 0,
  lastKey: 0,
}

export const maxEntries = 200
const minute = 60

export type Told = {
  readonly [N in keyof ActivityMessages]: readonly [N, ActivityMessages[N]]
}[keyof ActivityMessages]

const secondOf = (instant: string): number => Math.floor(Date.parse(instant) / 1_000)

function counted(seconds: Activity['seconds'], second: number, more: Counts): Activity['seconds'] {
  const known = seconds.find(([each]) => each === second)?.[1] ?? {}
  const sum: Partial<Record<ActivityOutcome, number>> = { ...known }
  for (const [outcome, count] of Object.entries(more) as [ActivityOutcome, number][])
    sum[outcome] = (sum[outcome] ?? 0) + count
  const newest = Math.max(second, ...seconds.map(([each]) => each))
  return [[second, sum] as const, ...seconds.filter(([each]) => each !== second)].filter(
    ([each]) => each > newest - minute,
  )
}

/** What is known after a message. */
export function heard(before: Activity, [name, data]: Told): Activity {
  switch (name) {
    case 'activity': {
      const key = before.lastKey + 1
      return {
        ...before,
        lastKey: key,
        entries: [{ ...data, key }, ...before.entries.slice(0, maxEntries - 1)],
        seconds: counted(before.seconds, secondOf(data.at), { [data.outcome]: 1 }),
      }
    }
    case 'sampled': {
      const second = secondOf(data.from)
      return {
        ...before,
        seconds: counted(before.seconds, second, data.missed),
        share: { second, value: data.share },
      }
    }
    case 'skipped':
      return { ...before, skipped: before.skipped + data.count }
    default:
      return before
  }
}

/** How many events of each outcome came in the minute before now, those too that are not shown. */
export function countsOfMinute({ seconds }: Activity, now: number): Required<Counts> {
  const from = Math.floor(now / 1_000) - minute
  const sum = { accepted: 0, changed: 0, dropped: 0, bot: 0, refused: 0 }
  for (const [second, counts] of seconds) {
    if (second <= from) continue
    for (const [outcome, count] of Object.entries(counts) as [ActivityOutcome, number][])
      sum[outcome] += count
  }
  return sum
}

/** A message as it is told, if it is one that this page knows. */
export function toldOf({ event, data }: { readonly event: string; readonly data: string }): Told | undefined {
  const isKnown = ['open', 'activity', 'sampled', 'skipped', 'end'].includes(event)
  try {
    return isKnown ? ([event, JSON.parse(data)] as unknown as Told) : undefined
  } catch {
    return undefined
  }
}
