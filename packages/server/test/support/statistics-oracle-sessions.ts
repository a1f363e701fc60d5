import type { Fact } from './statistics-oracle-facts.ts'

const gap = 30 * 60_000

/** Runs of one person's events, by walking through them: one fact for each, at the time of its first event. */
export function sessionFacts(events: readonly Fact[]): Fact[] {
  const sessions: Fact[] = []
  for (const own of Map.groupBy(events, ({ person }) => person).values()) {
    const ordered = own.toSorted((a, b) => a.time - b.time)
    let run: Fact[] = []
    for (const [i, event] of ordered.entries()) {
      run.push(event)
      const next = ordered[i + 1]
      if (next && next.time - event.time <= gap) continue
      sessions.push(sessionOf(run, run[0] === ordered[0]))
      run = []
    }
  }
  return sessions
}

function sessionOf(run: readonly Fact[], isNew: boolean): Fact {
  const [first] = run
  const last = run.at(-1)
  if (!first || !last) throw new Error('a session has events')
  const exit = run.findLast(({ texts }) => texts.get('url') !== '')
  const ofFirst = [
    ...['utmSource', 'utmMedium', 'utmCampaign'],
    ...['person', 'deviceType', 'os', 'browser', 'referrerHost', 'country'],
  ].map((name): [string, string | null] => [name, first.texts.get(name) ?? null])
  return {
    ...first,
    items: [],
    session: { seconds: (last.time - first.time) / 1000, events: run.length, isNew },
    texts: new Map<string, string | null>([
      ...ofFirst,
      ['channel', channelOf(new Map(ofFirst))],
      ['entryPath', first.texts.get('path') ?? null],
      ['entryHost', first.texts.get('host') ?? null],
      ['exitPath', exit?.texts.get('path') ?? null],
      ['exitHost', exit?.texts.get('host') ?? null],
    ]),
  }
}

/** Of the samples, whose referrers are neither search engines nor networks. */
function channelOf(first: ReadonlyMap<string, string | null>): string {
  if (first.get('utmMedium') === 'mail') return 'mail'
  if (['utmSource', 'utmMedium', 'utmCampaign'].some((name) => first.get(name) !== null)) return 'campaign'
  return first.get('referrerHost') === null ? 'direct' : 'referral'
}
