import { setTimeout as sleep } from 'node:timers/promises'
import { unlessAborted } from '../../platform/limits/unless-aborted.ts'
import type { QueryLimiter } from './query/query-limiter.ts'
import type { AskedSettings } from './question.ts'
import { formOf, type Member, type RunTogether, type SharedAnswer } from './shared-answers.ts'

/** The tiles of a page come to this point within so many milliseconds; later ones join while the first waits for its place. */
const gatherMs = 15
/** Queries of one statement. */
const maxMembers = 8
/** Rows of a query that may be gathered: answers of one statement are written at once, and longer ones row by row. */
const maxRows = 1_000

/** A query that others of its form may be answered with. */
export interface Gathered extends Member {
  /** What they have in common (shared-answers.ts, formOf). */
  readonly form: string
  readonly settings: AskedSettings
}

/** The query as one that may be gathered; undefined where it is to be asked alone. */
export function gatheredOf(member: Member, settings: AskedSettings): Gathered | undefined {
  const { limit } = member.plan
  if (limit === undefined || limit > maxRows) return undefined
  const form = formOf(member, settings)
  return form === undefined ? undefined : { ...member, form, settings }
}

interface Asked {
  readonly companyId: string
  readonly userId?: string
  readonly signal?: AbortSignal
}

/** The answer; else the query is to be computed alone, at a place that it has or still has to find. */
type Outcome = { readonly answer: SharedAnswer } | { readonly leave: (() => void) | undefined }

interface Waiting {
  readonly member: Gathered
  readonly outcome: PromiseWithResolvers<Outcome>
  /** Gives back the place that it was given. */
  leave?: () => void
  hasLeft: boolean
}

interface Gathering {
  readonly waiting: Waiting[]
  /** Aborted when all who waited have left. */
  readonly abandoned: AbortController
}

/**
 * Gathers queries that are asked at the same moment and differ in nothing but the dimension that they group by, as the
 * tiles of a dashboard do: one pass over the facts answers them.
 */
export function createGatheredAnswers({
  limiter,
  runTogether,
}: {
  readonly limiter: QueryLimiter
  readonly runTogether: RunTogether
}) {
  /** Those that have not begun, by what their queries have in common. */
  const open = new Map<string, Gathering>()

  /** Waits for a place, then answers all who have joined. Never rejects. */
  async function serve(key: string, gathering: Gathering, { companyId, userId }: Asked): Promise<void> {
    const { waiting, abandoned } = gathering
    const { signal } = abandoned
    const close = () => {
      if (open.get(key) === gathering) open.delete(key)
    }
    try {
      await sleep(gatherMs)
      const leave = await limiter.enter(companyId, signal, userId)
      close()
      const [first, ...others] = waiting.filter(({ hasLeft }) => !hasLeft)
      if (!first) leave()
      else if (others.length === 0) {
        first.leave = leave
        first.outcome.resolve({ leave })
      } else await answer([first, ...others], first.member.settings, companyId, signal).finally(leave)
    } catch {
      close()
      // Each is told when its own turn comes.
      for (const { outcome } of waiting) outcome.resolve({ leave: undefined })
    }
  }

  async function answer(
    waiting: readonly Waiting[],
    settings: AskedSettings,
    companyId: string,
    signal: AbortSignal,
  ): Promise<void> {
    const members = waiting.map(({ member }) => member)
    // What is too much for one statement may be possible in several.
    const answers = await runTogether({ companyId, settings, members, signal }).catch(() => [])
    for (const [i, { outcome }] of waiting.entries()) {
      const found = answers[i]
      outcome.resolve(found ? { answer: found } : { leave: undefined })
    }
  }

  function gatheringFor(key: string, asked: Asked): Gathering {
    const known = open.get(key)
    if (known && known.waiting.length < maxMembers) return known
    const gathering = { waiting: [], abandoned: new AbortController() }
    open.set(key, gathering)
    void serve(key, gathering, asked)
    return gathering
  }

  return {
    /** @throws the signal's reason when it is aborted */
    async ask(member: Gathered, asked: Asked): Promise<Outcome> {
      asked.signal?.throwIfAborted()
      const { settings, form } = member
      const told = { ...settings, eventAliases: [...settings.eventAliases] }
      // Users take turns, so that each waits for a place of their own.
      const key = JSON.stringify([asked.companyId, asked.userId, form, told])
      const { waiting, abandoned } = gatheringFor(key, asked)
      const own: Waiting = { member, outcome: Promise.withResolvers(), hasLeft: false }
      waiting.push(own)
      return unlessAborted(own.outcome.promise, asked.signal, () => {
        own.hasLeft = true
        own.leave?.()
        if (waiting.every(({ hasLeft }) => hasLeft)) abandoned.abort(asked.signal?.reason)
      })
    },
  }
}
