import type { Logger } from '../logger.ts'
import type { Queries, Relational } from '../stores/relational.ts'
import type { Work } from './background.ts'
import { holdLease, leaseSeconds } from './lease.ts'
import type { Held, Ledger } from './ledger.ts'

/** What becomes of a row whose attempt failed. */
export interface Verdict<Row, Failure> {
  /** Ends the row, unless another attempt follows. */
  readonly failure: Failure
  /** Whether another attempt may succeed. */
  readonly mayPass?: boolean
  /** For the log: something of our own is wrong. */
  readonly isFault?: boolean
  /** It waits so long, and this attempt does not count. */
  readonly waitSeconds?: number
  /** What the row says until the next attempt. */
  readonly columns?: Partial<Row>
}

export interface LedgerWorkOptions<Row extends Held, Failure> {
  /** For the log: one of the ledger, and all of them. */
  readonly names: readonly [one: string, all: string]
  readonly relational: Pick<Relational, 'db' | 'transaction'>
  readonly log: Pick<Logger, 'warn' | 'error'>
  readonly ledgerOf: (db: Queries) => Pick<Ledger<Row>, 'take' | 'keep' | 'requeue' | 'dueAt'>
  /** At once in one process. */
  readonly lanes: number
  /** Of one company in all processes; default `maxPerCompany`. */
  readonly perCompany?: number
  /** Seconds before each further attempt. */
  readonly pauses: readonly number[]
  /** What a row fails with during whose attempts the process ended every time. */
  readonly interrupted: Failure
  readonly attempt: (row: Row, signal: AbortSignal) => Promise<void>
  /** @returns undefined where the row is no longer this process's */
  readonly judge: (error: unknown, row: Row) => Verdict<Row, Failure> | undefined
  /** Ends the row for good. */
  readonly fail: (row: Row, failure: Failure) => Promise<void>
}

export interface LedgerWork extends Work {
  /**
   * Runs what is due longest.
   * @param stopping ends the attempt; the row is given back as if it had not begun
   * @param onTaken called once there is one
   * @returns false when nothing is due
   */
  runOne(stopping?: AbortSignal, onTaken?: () => void): Promise<boolean>
}

/** Rows of a ledger that one company may have at work at once, in all processes. */
export const maxPerCompany = 2

/** Attempts of what a ledger holds: each row is one process's at a time, is tried again with pauses, and ends once. */
export function createLedgerWork<Row extends Held, Failure>(
  options: LedgerWorkOptions<Row, Failure>,
): LedgerWork {
  const { names, relational, log, ledgerOf, lanes, pauses, interrupted, attempt, judge, fail } = options
  const { perCompany = maxPerCompany } = options
  const [one, name] = names
  const ledger = ledgerOf(relational.db)

  async function settle(row: Row, error: unknown): Promise<void> {
    const verdict = judge(error, row)
    if (!verdict) return
    const { id, attempts } = row
    const { failure, mayPass, isFault, waitSeconds, columns } = verdict
    if (isFault) log.error({ id, attempt: attempts, err: error }, `${one} failed`)
    const seconds = mayPass ? pauses[attempts - 1] : undefined
    if (waitSeconds !== undefined) await ledger.requeue(row, waitSeconds, { attempts: attempts - 1 } as never)
    else if (seconds === undefined) await fail(row, failure)
    else {
      if (!isFault) log.warn({ id, attempt: attempts, err: error }, `${one} failed and is tried again later`)
      await ledger.requeue(row, seconds, columns as never)
    }
  }

  async function runOne(stopping?: AbortSignal, onTaken?: () => void): Promise<boolean> {
    const row = await relational.transaction((tx) => ledgerOf(tx).take(leaseSeconds, perCompany))
    if (!row) return false
    onTaken?.()
    const lease = holdLease({
      keep: (seconds) => ledger.keep(row, seconds),
      onError: (err) => log.warn({ err }, `the lease of ${one} was not extended`),
      stopping,
    })
    try {
      if (row.attempts > pauses.length + 1) await fail(row, interrupted)
      else await attempt(row, lease.signal)
    } catch (error) {
      if (lease.isLost()) return true
      if (stopping?.aborted) await ledger.requeue(row, 0, { attempts: row.attempts - 1 } as never)
      else await settle(row, error)
    } finally {
      lease.end()
    }
    return true
  }

  return { name, dueAt: ledger.dueAt, run: runOne, lanes, runOne }
}
