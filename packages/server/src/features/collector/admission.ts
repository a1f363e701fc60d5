/**
 * Bounds what requests to the collector hold in memory at once. Beyond it a sender is told at once to come back,
 * which keeps those who are in fast (a request that waits behind ten thousand others is of no use to anybody).
 */
export interface Admission {
  /** Lets a request in; false when there are too many. Every request let in leaves once. */
  enter(): boolean
  /** Counts bytes that a request holds; false when all together hold too many. They count until it leaves. */
  hold(bytes: number): boolean
  leave(heldBytes: number): void
}

export interface AdmissionLimits {
  /** Default 8,000. */
  readonly requests?: number
  /** Bytes of bodies; default 256 MiB. */
  readonly bytes?: number
}

export function createAdmission(limits: AdmissionLimits = {}): Admission {
  const { requests: mostRequests = 8000, bytes: mostBytes = 256 * 1024 * 1024 } = limits
  let requests = 0
  let bytes = 0
  return {
    enter() {
      if (requests >= mostRequests || bytes >= mostBytes) return false
      requests++
      return true
    },
    hold(more) {
      bytes += more
      return bytes <= mostBytes
    },
    leave(heldBytes) {
      requests--
      bytes -= heldBytes
    },
  }
}
