export interface LeaseOptions {
  /** Extends the lease by so many seconds; false when another process has the work. */
  readonly keep: (leaseSeconds: number) => Promise<boolean>
  /** The lease is longer than a short outage, and what the process no longer has it does not finish. */
  readonly onError: (error: unknown) => void
  readonly stopping?: AbortSignal | undefined
}

/** A process that does not say for so long that it still works has ended. */
export const leaseSeconds = 60
const keepEveryMs = 20_000

/** Says again and again that the process still works on what no other does, until `end`. */
export function holdLease({ keep, onError, stopping }: LeaseOptions) {
  const lost = new AbortController()
  const timer = setInterval(() => {
    keep(leaseSeconds).then((kept) => {
      if (!kept) lost.abort(new Error('another process has this work'))
    }, onError)
  }, keepEveryMs).unref()
  return {
    /** Aborts when the service stops, and when another process has the work. */
    signal: stopping ? AbortSignal.any([stopping, lost.signal]) : lost.signal,
    /** Whether another process has the work. */
    isLost: (): boolean => lost.signal.aborted,
    end: (): void => clearInterval(timer),
  }
}
