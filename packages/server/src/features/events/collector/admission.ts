import { DomainError } from '../../../platform/errors.ts'

/**
 * Bounds the memory that requests to the collector hold at once. Beyond it a request is refused immediately, with a
 * time to retry, so that the accepted ones stay fast.
 *
 * Only a request whose body is complete takes a place: one that is still arriving holds nothing but the bytes
 * received so far, so that slow senders block no others.
 */
export type Admission = ReturnType<typeof createAdmission>

export interface AdmissionLimits {
  /** Default 8,000. */
  readonly requests?: number
  /** Bytes of bodies; default 256 MiB. */
  readonly bytes?: number
}

export function createAdmission(limits: AdmissionLimits = {}) {
  const { requests: maxRequests = 8000, bytes: maxBytes = 256 * 1024 * 1024 } = limits
  let requests = 0
  let bytes = 0
  return {
    /** Whether a request that arrives now is refused. */
    isFull: (): boolean => requests >= maxRequests || bytes >= maxBytes,
    /** Gives a place to a request whose body is complete; false when there is none. Every place is left once. */
    enter(): boolean {
      if (requests >= maxRequests) return false
      requests++
      return true
    },
    leave(): void {
      requests--
    },
    /** Counts bytes that a request holds; false when all together hold too many. They count until released. */
    hold(more: number): boolean {
      bytes += more
      return bytes <= maxBytes
    },
    release(fewer: number): void {
      bytes -= fewer
    },
  }
}

/** Seconds after which a sender may retry: spread, so that a fleet does not retry at one instant. */
export function retryAfterSeconds(min: number): number {
  return Math.ceil(min) + Math.floor(Math.random() * 5)
}

/** For a request that is refused. */
export function overloaded(): DomainError {
  const retryAfter = retryAfterSeconds(1)
  return new DomainError('collectorOverloaded', { retryAfter }, { retryAfterSeconds: retryAfter })
}
