/** Why a request to an address that a user gave failed. */
export type OutgoingFault =
  /** The address itself may not be asked: scheme, port, user information, or a place that is not public. */
  | 'refused'
  /** No such name, a name that leads to no public address, no program that listens, or the connection broke. */
  | 'unreachable'
  | 'timeout'
  /** The certificate is not valid for the name, or no TLS was spoken. */
  | 'tls'
  /** An answer other than 2xx; `status` says which. */
  | 'status'
  /** The answer is larger, or otherwise encoded, than what was asked for. */
  | 'reply'

/** One message for all of these, so that it discloses nothing about names in our network. */
export const unreachable = (host: string, cause: unknown): OutgoingError =>
  new OutgoingError(
    'unreachable',
    `${host} cannot be reached: there is no such name, or no public address answers there`,
    { cause },
  )

/**
 * The message is for the user who gave the address. It names at most the host: the rest of an address
 * may be a secret, and nothing of what the other side wrote is repeated.
 */
export class OutgoingError extends Error {
  readonly fault: OutgoingFault
  /** HTTP status of the answer, where there was one. */
  readonly status: number | undefined

  constructor(fault: OutgoingFault, message: string, options: { status?: number; cause?: unknown } = {}) {
    super(message, { cause: options.cause })
    this.name = 'OutgoingError'
    this.fault = fault
    this.status = options.status
  }
}
