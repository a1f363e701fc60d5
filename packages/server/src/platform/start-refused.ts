/** Exit codes of a start that was refused, after BSD's sysexits. */
export const exitCodes = {
  /** Something on disk is damaged or of another version; nothing was changed. */
  damaged: 74,
  /** Another process holds what is needed; trying again later may help. */
  inUse: 75,
  /** The machine lacks something that the operator has to provide. */
  unsuitable: 78,
} as const

/**
 * The service cannot start until an operator does something. The message says what is wrong and what to do, over
 * several lines where needed; it is printed without a stack.
 */
export class StartRefused extends Error {
  override readonly name: string = 'StartRefused'
  readonly exitCode: number

  constructor(kind: keyof typeof exitCodes, message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause })
    this.exitCode = exitCodes[kind]
  }
}
