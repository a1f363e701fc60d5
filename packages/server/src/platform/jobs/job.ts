import type { TObject } from 'typebox'

/** How a job that failed is tried again, if it is. */
export type JobRetry =
  | { readonly limit: 0 }
  | {
      /** Attempts after the first. */
      readonly limit: number
      /** Before the second attempt; about twice as long before each further one. */
      readonly delaySeconds: number
      readonly maxDelaySeconds: number
    }

/** A kind of job: its data and the guarantees of its runs. */
export interface Job<Schema extends TObject = TObject> {
  /** Lower case letters and dashes; never changes, because jobs wait under it. */
  readonly name: string
  /** Of the data, which is stored unencrypted: no secrets. */
  readonly schema: Schema
  readonly retry: JobRetry
  /** After it an attempt counts as failed even if it has not ended; default 900. */
  readonly expireSeconds?: number
  /** While one waits or runs, further ones are dropped. */
  readonly isExclusive?: boolean
  /** Five fields in UTC. All processes together send each occurrence once; after a stop, the latest missed one. */
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
  /** Aborts when the service stops or the attempt has expired. A handler that returns then counts as done. */
  readonly signal: AbortSignal
}

/** Records runs elsewhere. An error of it fails the attempt; that of one which failed already is logged beside its own. */
export interface RunLedger {
  onStart(run: JobRun): Promise<void>
  /** @param error why the attempt failed, if it did */
  onEnd(run: JobRun, error?: unknown): Promise<void>
}
