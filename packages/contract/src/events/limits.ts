/** Bounds of one collected event. Lengths are counted in UTF-16 code units, as `String.length` gives them. */
export const eventLimits = {
  name: 256,
  url: 8192,
  referrer: 8192,
  eventId: 256,
  tmpId: 512,
  clientId: 512,
  transId: 512,
  /** One entry of `data.ids`. */
  id: 512,
  /** Entries of `data.ids`: a wholesale order of a thousand references is real. */
  ids: 10_000,
  /** Keys of `data` other than the reserved ones. */
  labels: 500,
  labelKey: 256,
  label: 8192,
  /** Levels of objects and arrays inside one label. */
  labelDepth: 32,
  /** Bytes of one event as it is stored. */
  storedBytes: 1_048_576,
} as const

/** Bounds of one request to the collector (docs/interface.md, Collector). */
export const requestLimits = {
  /** Bytes of the body, inflated. */
  bodyBytes: 5 * 1024 * 1024,
  events: 2000,
  /** Fields of a form: twice as many as one event has identifiers. */
  fields: 20_000,
  /** Values of JSON, in all events together: ten bytes of a full body for each. */
  values: 500_000,
} as const
