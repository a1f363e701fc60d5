/** What a process works on while no other does. */
export interface Lease {
  /** Aborts when the service stops, and when another process has the work. */
  readonly signal: AbortSignal
  /** Whether another process has the work. */
  isLost(): boolean
  end(): void
}

export interface LeaseOptions {
  /** Extends the lease; false when another process has the work. */
  readonly keep: () => Promise<boolean>
  readonly everyMs: number
  /** The lease is longer than a short outage, and what the process no longer has it does not finish. */
  readonly onError: (error: unknown) => void
  readonly stopping?: AbortSignal | undefined
}

/** Says again and again that the process still works, until `end`. */
export function holdLease({ keep, everyMs, onError, stopping }: LeaseOptions): Lease {
  const lost = new AbortController()
  const timer = setInterval(() => {
    keep().then((kept) => {
      if (!kept) lost.abort(new Error('another process has this work'))
    }, onError)
  }, everyMs).unref()
  return {
    signal: stopping ? AbortSignal.any([stopping, lost.signal]) : lost.signal,
    isLost: () => lost.signal.aborted,
    end: () => clearInterval(timer),
  }
}
