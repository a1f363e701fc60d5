import { setTimeout as sleep } from 'node:timers/promises'
import { DomainError } from '../errors.ts'
import type { Logger } from '../logger.ts'
import { watchChannel } from '../stores/channel-watch.ts'
import { type SQL, sql } from '../stores/postgres/drizzle.ts'
import type { Relational } from '../stores/relational.ts'

/** Something that is done whenever it is due, by whichever process takes it. */
export interface Work {
  /** For the log, in the plural. */
  readonly name: string
  /** An expression: the instant at which there is something to do, or was; null while nothing waits. */
  readonly dueAt: SQL
  /**
   * Does one thing that is due.
   * @param onTaken called once it is known that there is one, so that the next one is looked for beside it
   * @returns whether there may be more
   */
  readonly run: (stopping: AbortSignal, onTaken: () => void) => Promise<boolean>
  /** How many at once in one process; default 1. */
  readonly lanes?: number
}

export interface BackgroundOptions {
  readonly relational: Pick<Relational, 'db' | 'pool'>
  readonly log: Pick<Logger, 'debug' | 'warn' | 'error'>
  /** Longest time between two looks for what is due, without notices; due times come earlier. */
  readonly pollMs?: number
  /** How long a stop waits for what runs. */
  readonly stopWithinMs?: number
}

/** Named by the triggers of the tables that hold work. */
const channel = 'millrace_work'
/** The same while notices come: there is nothing that neither one of them nor a due time tells. */
const pollBesideNoticesMs = 30_000
/** However many notices come, what is due is looked for only so often. */
const minPauseMs = 20

/** Logs why work failed: an outage of a store ends by itself, everything else is a fault of ours. */
export function logWorkFailure(log: Pick<Logger, 'warn' | 'error'>, work: string, err: unknown): void {
  const isOutage = err instanceof DomainError && err.errorName === 'unavailable'
  if (isOutage) log.warn({ err, work }, `${work} wait: a store does not answer`)
  else log.error({ err, work }, `${work} failed, and are tried again`)
}

/**
 * The work of one process beside its requests. One statement asks for all of it when something is due: at a notice of
 * the database, at the next due time, and from time to time in any case.
 */
export function createBackground(options: BackgroundOptions) {
  const { relational, log, pollMs = 5_000, stopWithinMs = 10_000 } = options
  const stopping = new AbortController()
  const started: { readonly work: Work; readonly turn: () => void }[] = []
  const running = new Set<Promise<void>>()
  let watch: { close(): Promise<void> } | undefined
  let isListening = false
  let isWoken = false
  let resume = (): void => {}

  function follow(promise: Promise<void>): void {
    running.add(promise)
    void promise.finally(() => running.delete(promise))
  }

  /** @returns what begins a run of the work where a lane is free; of several runs one at a time looks for its thing */
  function lanesOf({ name, run, lanes = 1 }: Work): () => void {
    let busy = 0
    let isTaking = false
    let isAskedAgain = false

    async function once(): Promise<void> {
      let hasTaken = false
      const onTaken = (): void => {
        if (hasTaken) return
        hasTaken = true
        isTaking = false
        turn()
      }
      let mayBeMore = false
      try {
        mayBeMore = await run(stopping.signal, onTaken)
      } catch (error) {
        if (error !== stopping.signal.reason) logWorkFailure(log, name, error)
      }
      busy--
      if (!hasTaken) {
        isTaking = false
        mayBeMore ||= isAskedAgain
      }
      if (mayBeMore) turn()
    }

    function turn(): void {
      isAskedAgain = isTaking
      if (isTaking || busy >= lanes || stopping.signal.aborted) return
      isTaking = true
      busy++
      follow(once())
    }
    return turn
  }

  /** Begins what is due. @returns milliseconds until the next look */
  async function look(): Promise<number> {
    const works = [...started]
    const columns = works.map(
      ({ work }, place) =>
        sql`(extract(epoch from (${work.dueAt}) - now()) * 1000)::float8 as ${sql.identifier(`${place}`)}`,
    )
    const { rows } = await relational.db.execute<Record<string, number | null>>(
      sql`select ${sql.join(columns, sql`, `)}`,
    )
    const waits = works.map((_, place) => rows[0]?.[place] ?? Number.POSITIVE_INFINITY)
    for (const [place, wait] of waits.entries()) if (wait <= 0) works[place]?.turn()
    return Math.min(isListening ? pollBesideNoticesMs : pollMs, ...waits.filter((wait) => wait > 0))
  }

  function wake(): void {
    isWoken = true
    resume()
  }

  async function watchWork(): Promise<void> {
    while (!stopping.signal.aborted) {
      isWoken = false
      const pauseMs = await look().catch((error: unknown) => {
        logWorkFailure(log, 'works in the background', error)
        return pollMs
      })
      await sleep(minPauseMs)
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, pauseMs - minPauseMs).unref()
        resume = () => {
          clearTimeout(timer)
          resolve()
        }
        if (isWoken) resume()
      })
    }
  }

  return {
    /** From now on these are done too. */
    start(works: readonly Work[]): void {
      started.push(...works.map((work) => ({ work, turn: lanesOf(work) })))
      if (watch) wake()
      else {
        watch = watchChannel({
          pool: relational.pool,
          channel,
          onNotice: wake,
          onListening(is) {
            isListening = is
            wake()
          },
          log,
        })
        follow(watchWork())
      }
    },

    /** Takes nothing further, gives back what runs, and waits for it a while. */
    async stop(): Promise<void> {
      stopping.abort(new Error('the service stops'))
      wake()
      const late = new AbortController()
      const wait = sleep(stopWithinMs, undefined, { signal: late.signal }).catch(() => {})
      await Promise.race([Promise.all(running), wait])
      late.abort()
      await watch?.close()
    },
  }
}
