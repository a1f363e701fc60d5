const isoTime = /^(\d{4}-\d\d-\d\d)(?:[ T](\d\d:\d\d(?::\d\d(?:\.\d+)?)?) ?(Z|UTC|[+-]\d\d:?\d\d)?)?$/

/**
 * Epoch milliseconds of a number, or of a time; one without a zone is of UTC, as all that the collector stores.
 * @param unitMs milliseconds that a number counts
 */
export function parseTime(text: string, unitMs = 1): number | undefined {
  if (/^-?\d+(\.\d+)?$/.test(text)) return Math.floor(Number(text) * unitMs)
  const [, day, clock = '00:00', zone = 'Z'] = isoTime.exec(text) ?? []
  const time = Date.parse(`${day}T${clock}${zone === 'UTC' ? 'Z' : zone}`)
  return Number.isNaN(time) ? undefined : time
}
