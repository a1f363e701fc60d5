import type { TObject } from 'typebox'

/** How a job that failed is tried again. */
export interface JobRetry {
  /** Attempts after the first. */
  readonly limit: number
  /** Before the second attempt; about twice as long before each further one. */
  readonly delaySeconds: number
  readonly maxDelaySeconds: number
}

/** A kind of job: its data, and what is promised of its runs. */
export interface Job<Schema extends TObject = TObject> {
  /** Lower case letters and dashes; never changes, because jobs wait under it. */
  readonly name: string
  /** Of the data, which is kept in the database as it is: no secrets. */
  readonly schema: Schema
  readonly retry: JobRetry
  /** After it an attempt counts as failed, whether it has ended or not; default 900. */
  readonly expireSeconds?: number
  /** While one waits or runs, further ones are dropped. */
  readonly isExclusive?: boolean
  /** Five fields in UTC; each occurrence is one job of all processes, and of those missed during a stop one is made up for. */
  readonly cron?: string
}

/** A job declared beside the feature that handles it. */
export const defineJob = <Schema extends TObject>(job: Job<Schema>): Job<Schema> => Object.freeze(job)

/** One attempt of a job. */
export interface JobRun {
  readonly id: string
  readonly job: string
  /** From 1. */
  readonly attempt: number
  /** Aborts when the service stops or the attempt has expired. What returns then counts as done. */
  readonly signal: AbortSignal
}

/** Keeps a record of runs elsewhere. What it throws fails the attempt. */
export interface RunLedger {
  onStart(run: JobRun): Promise<void>
  /** @param error why the attempt failed, if it did */
  onEnd(run: JobRun, error?: unknown): Promise<void>
}
