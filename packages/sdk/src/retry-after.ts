/** Milliseconds of a `Retry-After` header: seconds, or a date. Undefined for anything else. */
export function readRetryAfter(header: string | null, wallClock: number): number | undefined {
  if (header === null) return undefined
  if (/^\s*\d{1,9}\s*$/.test(header)) return Number(header) * 1000
  const date = Date.parse(header)
  return Number.isNaN(date) ? undefined : Math.max(0, date - wallClock)
}
