import type { CounterChange } from './checkpoint-store.ts'

/** What became of the rows of a batch. */
export interface Outcome {
  readonly changes: ReadonlyMap<string, CounterChange>
  readonly quarantined: number
  /** When the sound rows were received; undefined when there were none. */
  readonly received: Received | undefined
}

/** Epoch milliseconds. */
export interface Received {
  readonly earliest: number
  readonly latest: number
}

type Counts = Partial<Omit<CounterChange, 'company' | 'datasource'>>

export const nothing: Outcome = { changes: new Map(), quarantined: 0, received: undefined }

const none = { accepted: 0, changed: 0, dropped: 0, bot: 0, duplicate: 0 }

/** Names a datasource of a company in `changes`. */
export function datasourceKey({ company, datasource }: { company: string; datasource: string }): string {
  return `${company} ${datasource}`
}

/** The outcome of rows of one datasource. */
export function outcomeOf(
  of: { readonly company: string; readonly datasource: string },
  counts: Counts,
  quarantined = 0,
): Outcome {
  const { company, datasource } = of
  const change = { company, datasource, ...none, ...counts }
  return {
    changes: new Map([[datasourceKey(of), change]]),
    quarantined,
    received: undefined,
  }
}

export function together(a: Outcome, b: Outcome): Outcome {
  const changes = new Map(a.changes)
  for (const [key, change] of b.changes) {
    const before = changes.get(key)
    changes.set(
      key,
      before
        ? {
            ...change,
            accepted: before.accepted + change.accepted,
            changed: before.changed + change.changed,
            dropped: before.dropped + change.dropped,
            bot: before.bot + change.bot,
            duplicate: before.duplicate + change.duplicate,
          }
        : change,
    )
  }
  return {
    changes,
    quarantined: a.quarantined + b.quarantined,
    received:
      a.received && b.received
        ? {
            earliest: Math.min(a.received.earliest, b.received.earliest),
            latest: Math.max(a.received.latest, b.received.latest),
          }
        : (a.received ?? b.received),
  }
}

/** The counts over all datasources. */
export function totalsOf({ changes }: Outcome): Omit<CounterChange, 'company' | 'datasource'> {
  const totals = { ...none }
  for (const change of changes.values()) {
    totals.accepted += change.accepted
    totals.changed += change.changed
    totals.dropped += change.dropped
    totals.bot += change.bot
    totals.duplicate += change.duplicate
  }
  return totals
}

/** The changes that a counter has to make: those of rows whose datasource could be read. */
export function changesOf({ changes }: Outcome): CounterChange[] {
  return [...changes.values()].filter(
    ({ datasource, accepted, changed, dropped, bot, duplicate }) =>
      datasource !== '' && accepted + changed + dropped + bot + duplicate > 0,
  )
}
