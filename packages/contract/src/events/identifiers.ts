/**
 * An identifier as text; undefined where it is none. Numbers are taken over as long as JSON carries them
 * exactly: beyond that different numbers read alike, and different events would count as repeated.
 */
export function readIdentifierText(value: unknown): string | undefined {
  if (typeof value === 'string') return value
  return typeof value === 'number' && Math.abs(value) <= Number.MAX_SAFE_INTEGER ? String(value) : undefined
}
