import { createHmac, randomBytes } from 'node:crypto'
import type { Finding } from '@millrace/contract/events/rules.ts'
import { cleanText, cutText } from '@millrace/contract/events/texts.ts'
import type { KeptEvent } from '@millrace/contract/events/validate.ts'
import type {
  ActivityMessages,
  ActivityOutcome,
  DatasourceActivity,
} from '@millrace/contract/resources/datasource-activity.ts'
import type { Clock } from '../../../platform/clock.ts'
import type { CollectorDatasource } from '../collector/datasource-cache.ts'

/** Shown of one datasource within a second. */
export const maxPerSecond = 50

const secondMs = 1_000
const [maxName, maxUrl] = [256, 512]

export interface ActivityListener {
  /** @param events how many events the message stands for */
  send<Name extends keyof ActivityMessages>(name: Name, data: ActivityMessages[Name], events: number): void
}

/** Hears what becomes of the events of one request, and tells it once they are on disk. */
export interface RequestWitness {
  kept(event: KeptEvent): void
  dropped(reason: Finding, event?: unknown): void
  bots(events: readonly unknown[], crawler: string): void
  tell(): void
}

export interface ActivityFeed {
  /** Undefined while nobody listens, which is all that the collector then pays. */
  witness(
    datasource: CollectorDatasource,
    sender: { readonly deviceType: string },
    country: string,
  ): RequestWitness | undefined
  /** A whole request was refused by this rule. */
  refused(datasource: CollectorDatasource, rule: string, message: string): void
  /** @returns the end of listening */
  listen(datasourceId: string, listener: ActivityListener): () => void
  /** To be called about once a second: tells what a second that is over has not shown. */
  tick(): void
}

/** One second of a datasource that somebody listens to. */
interface Second {
  readonly from: number
  seen: number
  shown: number
  readonly missed: Map<ActivityOutcome, number>
}

/** What events of one request have in common. */
type Common = Pick<DatasourceActivity, 'at' | 'deviceType' | 'country'>
type Seen = () => DatasourceActivity

export function createActivityFeed({ clock }: { readonly clock: Clock }): ActivityFeed {
  const channels = new Map<string, ReturnType<typeof createChannel>>()
  // Nobody who guesses an address can look it up here, and tomorrow it is another one.
  const key = randomBytes(32)

  const personOf = (companyId: string, { clientId, tmpId }: KeptEvent): string =>
    createHmac('sha256', key)
      .update(`${companyId} ${clientId === '' ? `device ${tmpId}` : `user ${clientId}`}`)
      .digest('hex')
      .slice(0, 8)

  function keptEntry(common: Common, companyId: string, event: KeptEvent): DatasourceActivity {
    const { changes } = event
    return {
      ...common,
      outcome: changes.length > 0 ? 'changed' : 'accepted',
      name: event.name,
      ...urlOf(event.url),
      person: personOf(companyId, event),
      ...(changes.length > 0 && { changes: changes.slice(0, 10).map(({ rule, path }) => ({ rule, path })) }),
    }
  }

  return {
    witness({ id, companyId }, { deviceType }, country) {
      const channel = channels.get(id)
      if (channel === undefined) return undefined
      const at = new Date(clock.now()).toISOString()
      const common: Common = { at, deviceType, ...(country !== '' && { country }) }
      const seen: [ActivityOutcome, Seen][] = []
      return {
        kept(event) {
          const outcome = event.changes.length > 0 ? 'changed' : 'accepted'
          seen.push([outcome, () => keptEntry(common, companyId, event)])
        },
        dropped({ rule, path, sample }, event) {
          const entry = () =>
            ({
              ...common,
              outcome: 'dropped',
              // What was meant for another company is nothing for the users of this one.
              ...(rule === 'key-mismatch' ? {} : sentOf(event)),
              ...{ rule, path, sample },
            }) as const
          seen.push(['dropped', entry])
        },
        bots(events, crawler) {
          for (const event of events)
            seen.push(['bot', () => ({ ...common, outcome: 'bot', ...sentOf(event), sample: crawler })])
        },
        tell() {
          for (const [outcome, entry] of seen) channel.show(outcome, entry)
        },
      }
    },

    refused({ id }, rule, message) {
      const at = new Date(clock.now()).toISOString()
      const sample = cutText(message, maxUrl)
      channels.get(id)?.show('refused', () => ({ at, outcome: 'refused', rule, path: '', sample }))
    },

    listen(datasourceId, listener) {
      const channel = channels.get(datasourceId) ?? createChannel(clock)
      channels.set(datasourceId, channel)
      channel.listeners.add(listener)
      return () => {
        channel.listeners.delete(listener)
        if (channel.listeners.size === 0 && channels.get(datasourceId) === channel)
          channels.delete(datasourceId)
      }
    },

    tick() {
      for (const channel of channels.values()) channel.turn()
    },
  }
}

/** What listeners to one datasource are shown: all of a quiet second, of a busy one every n-th. */
function createChannel(clock: Clock) {
  const listeners = new Set<ActivityListener>()
  let second: Second = { from: clock.now(), seen: 0, shown: 0, missed: new Map() }
  /** Of the events of this second; by how many came in the one before. */
  let share = 1
  let due = 0

  function turn(): void {
    const now = clock.now()
    if (now - second.from < secondMs) return
    const { from, seen, shown, missed } = second
    share = now - from < 2 * secondMs ? Math.min(1, maxPerSecond / Math.max(seen, 1)) : 1
    second = { from: now, seen: 0, shown: 0, missed: new Map() }
    if (missed.size === 0) return
    const message = {
      from: new Date(from).toISOString(),
      ...{ shown, seen, share: shown / seen },
      missed: Object.fromEntries(missed),
    }
    for (const listener of listeners) listener.send('sampled', message, seen - shown)
  }

  return {
    listeners,
    turn,
    show(outcome: ActivityOutcome, entry: Seen): void {
      turn()
      second.seen++
      due += share
      if (due < 1 || second.shown >= maxPerSecond) {
        second.missed.set(outcome, (second.missed.get(outcome) ?? 0) + 1)
        return
      }
      due = Math.min(due - 1, 1)
      second.shown++
      const shown = entry()
      for (const listener of listeners) listener.send('activity', shown, 1)
    },
  }
}

/** Name and address of an event that no rule has read. */
function sentOf(event: unknown): Pick<DatasourceActivity, 'name' | 'url'> {
  const { name, url } = (event ?? {}) as { readonly name?: unknown; readonly url?: unknown }
  return {
    ...(typeof name === 'string' && { name: cutText(cleanText(name.slice(0, maxName + 1)), maxName) }),
    ...(typeof url === 'string' && urlOf(cleanText(url.slice(0, 4 * maxUrl)))),
  }
}

/** Without what senders put into addresses beside the place: query, fragment, credentials. */
function urlOf(url: string): Pick<DatasourceActivity, 'url'> {
  if (url === '') return {}
  const place = url.replace(/[?#].*$/s, '').replace(/^([a-z][a-z\d+.-]*:)?\/\/[^/]*@/i, '$1//')
  return { url: cutText(place, maxUrl) }
}
