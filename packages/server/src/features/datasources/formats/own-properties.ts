import type { RawRow } from './source-options.ts'

/** Sets a key that comes from outside as an own property: assigning to `__proto__` would set the prototype instead. */
export function setOwn(row: RawRow, key: string, value: unknown): void {
  if (key === '__proto__') {
    Object.defineProperty(row, key, { value, enumerable: true, writable: true, configurable: true })
  } else row[key] = value
}

/** The value of an own property, undefined for what is only inherited. */
export function getOwn(row: object, key: string): unknown {
  return Object.hasOwn(row, key) ? (row as RawRow)[key] : undefined
}
