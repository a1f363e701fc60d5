/** Where time comes from; tests hand in a clock that they move. */
export interface Clock {
  /** Milliseconds since 1970-01-01T00:00:00Z. */
  now(): number
}

export const systemClock: Clock = Object.freeze({ now: () => Date.now() })
