import { DomainError } from '../../platform/errors.ts'

/**
 * Bounds what requests to the collector hold in memory at once. Beyond it a sender is told at once to come back,
 * which keeps those who are in fast (a request that waits behind ten thousand others is of no use to anybody).
 *
 * Only a request whose body is whole takes a place: those that are still arriving hold nothing but the bytes that
 * came, so that senders who dawdle keep nobody out.
 */
export interface Admission {
  /** Whether a request that comes now is turned away. */
  isFull(): boolean
  /** Gives a place to a request whose body is whole; false when there is none. Every place is left once. */
  enter(): boolean
  leave(): void
  /** Counts bytes that a request holds; false when all together hold too many. They count until released. */
  hold(bytes: number): boolean
  release(bytes: number): void
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
    isFull: () => requests >= mostRequests || bytes >= mostBytes,
    enter() {
      if (requests >= mostRequests) return false
      requests++
      return true
    },
    leave() {
      requests--
    },
    hold(more) {
      bytes += more
      return bytes <= mostBytes
    },
    release(fewer) {
      bytes -= fewer
    },
  }
}

/** Seconds after which a sender may try again: spread, so that a fleet does not come back at one instant. */
export function retryAfterSeconds(least: number): number {
  return Math.ceil(least) + Math.floor(Math.random() * 5)
}

/** For a request that is turned away. */
export function overloaded(): DomainError {
  const retryAfter = retryAfterSeconds(1)
  return new DomainError('collectorOverloaded', { retryAfter }, { retryAfterSeconds: retryAfter })
}
