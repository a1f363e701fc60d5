/** Where time comes from; tests hand in a clock that they move. */
export interface Clock {
  /** Milliseconds since 1970-01-01T00:00:00Z. */
  now(): number
}

export const systemClock: Clock = Object.freeze({ now: () => Date.now() })

/** Time that passes evenly whatever is done to the system's clock; milliseconds since some moment. */
export const monotonicClock: Clock = Object.freeze({ now: () => performance.now() })
