import { ImportFault } from '../import-fault.ts'
import type { InputFormat } from '../read-records.ts'
import { parseTime } from '../read-time.ts'

export type Fields = Readonly<Record<string, unknown>>

/** The fields of a collected event that differ between events. */
export interface PeerEvent {
  readonly name: string
  readonly url: string
  readonly referrer?: string
  readonly tmpId: string
  readonly clientId?: string
  /** Absent where the peer has none: then its content makes one. */
  readonly eventId?: string
  /** Epoch milliseconds. */
  readonly timestamp: number
  readonly data: Fields
}

/** How another product's export becomes events. */
export interface Peer {
  readonly title: string
  /** Which file it is, and how it is made. */
  readonly file: string
  readonly format: InputFormat
  /** What the file has, or the product, that has no counterpart here. */
  readonly lost: readonly string[]
  /**
   * The events of one record; a text says why it has none.
   * @throws ImportFault where a field is missing that every record of such a file has
   */
  read(record: Fields): readonly PeerEvent[] | string
}

/** A text that is not empty. */
export function textOf(value: unknown): string | undefined {
  if (typeof value === 'number') return String(value)
  return typeof value === 'string' && value !== '' && value !== '\\N' ? value : undefined
}

/** @throws ImportFault */
export function required(record: Fields, field: string): string {
  const text = textOf(record[field])
  if (text === undefined) throw new ImportFault(`it has no "${field}": is it the file that --help names?`)
  return text
}

/** @throws ImportFault */
export function timeOf(record: Fields, field: string, unitMs = 1): number {
  const text = required(record, field)
  const time = parseTime(text, unitMs)
  if (time === undefined) throw new ImportFault(`"${text}" in "${field}" is no time`)
  return time
}

export const fieldsOf = (value: unknown): Fields =>
  value !== null && typeof value === 'object' && !Array.isArray(value) ? (value as Fields) : {}

export const listOf = (value: unknown): readonly Fields[] =>
  Array.isArray(value) ? value.map((each) => fieldsOf(each)) : []

/** The fields that have a value, under the names that they get. */
export function labelsOf(record: Fields, names: Readonly<Record<string, string>>): Record<string, unknown> {
  const labels: Record<string, unknown> = {}
  for (const [name, field] of Object.entries(names)) {
    const text = textOf(record[field])
    if (text !== undefined) labels[name] = text
  }
  return labels
}

/** Fields of `data` that have a meaning of their own here, which fields of the same name in a peer do not have. */
const reserved = new Set(['ids', 'value', 'transId'])

/** All fields but those that are left out, as labels. */
export function remaining(record: Fields, isLeftOut: (name: string) => boolean): Record<string, unknown> {
  const kept = Object.entries(record).filter(
    ([name, value]) => !isLeftOut(name) && value !== null && value !== undefined && value !== '',
  )
  return Object.fromEntries(
    kept.map(([name, value]) => [reserved.has(name) ? `properties.${name}` : name, value]),
  )
}

/** An address of its parts, as peers keep them; the path alone where there is no host. */
export function addressOf(host: string | undefined, path = '/', query?: string): string {
  const search = query === undefined ? '' : `?${query.replace(/^\?/, '')}`
  return `${host === undefined ? '' : `https://${host}`}${path.startsWith('/') ? path : `/${path}`}${search}`
}

/** Without what is absent. */
export function eventOf(
  event: {
    readonly [K in keyof PeerEvent]: PeerEvent[K] | (undefined extends PeerEvent[K] ? undefined : never)
  },
): PeerEvent {
  return Object.fromEntries(
    Object.entries(event).filter(([, value]) => value !== undefined),
  ) as unknown as PeerEvent
}
