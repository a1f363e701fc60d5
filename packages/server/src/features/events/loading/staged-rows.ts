/** How many threads a batch may use: `small` ones use one. */
export type BatchSize = 'small' | 'large'

/** Where a batch is staged: two tables, so that one batch can be staged while another is stored. */
export interface Staging {
  readonly table: 'staging' | 'staging_ahead'
  readonly size: BatchSize
}

/** Of a row of staging: whether it is an event that may be stored, and its key in event_keys. */
export const isEvent = 'sound'
export const eventKey = 'toUInt64(hash)'
/** Of an event: whether it is one of an order. */
export const isPurchase = "n IN ('purchase', 'purchase_references')"
/** The order of a purchase event: its `transId` in the company, else the event itself. */
export const orderOf =
  "reinterpretAsUInt128(if(x = '', sipHash128('event', d, event_uuid, event_text), sipHash128('order', k, x)))"

/** What stands in staging of one datasource. */
export interface StagedGroup {
  readonly company: string
  readonly datasource: string
  /** All rows, those of the datasource log included. */
  readonly rows: number
  /** Sound events, duplicates included. */
  readonly events: number
  /** Of these, with different keys; at least. */
  readonly distinct: number
  readonly changed: number
  readonly logRows: number
  readonly dropped: number
  readonly bot: number
  readonly identifies: number
  readonly purchases: number
  /** Events whose name is that of an interaction with a workflow. */
  readonly interactions: number
  /** Why the engine would clamp or wrap something of a row; empty when all rows are sound. */
  readonly reason: string
  readonly firstSequence: number
  readonly lastSequence: number
  /** Epoch milliseconds, of sound rows. */
  readonly earliestReceived: number
  readonly latestReceived: number
  /** Months of sound events as year * 100 + month; 0 without events. */
  readonly firstMonth: number
  readonly lastMonth: number
}

export interface StagedBatch {
  readonly groups: readonly StagedGroup[]
  /** Of all events, 8 bytes each in the order of little-endian processors. */
  readonly keys: AsyncIterable<Buffer> | Iterable<Buffer>
  /** How many keys are stored. */
  readonly stored: number
}

export interface DuplicateGroup {
  readonly company: string
  readonly datasource: string
  readonly duplicate: number
  /** Duplicates with a changed field; they are not stored, so they do not count as changed. */
  readonly changed: number
}

/** Duplicates of one datasource that differ from the event that was stored. */
export interface ReusedIds {
  readonly company: string
  readonly datasource: string
  /** Sequence number of the first of them. */
  readonly sequence: number
  /** Epoch milliseconds. */
  readonly receivedAt: number
  readonly eventId: string
  readonly count: number
}

export interface QuarantinedEvent {
  readonly company: string
  readonly datasource: string
  readonly sequence: number
  /** Epoch milliseconds. */
  readonly receivedAt: number
  readonly error: string
  readonly line: string
}

/** Which rows of staging an insert takes. */
export interface Selection {
  readonly staging: Staging
  /** Leaves out what markDuplicates has marked. */
  readonly withoutDuplicates: boolean
  /**
   * Leaves out rows that the table has already: for sequence numbers that an earlier, interrupted load may have
   * stored. Needed only then, because it reads the table.
   */
  readonly unlessStored: { readonly firstSequence: number; readonly lastSequence: number } | undefined
  /** Datasources of which nothing is stored any more. */
  readonly purged: readonly string[]
  /** Datasources without whose events orders are computed; those among them. */
  readonly uncounted: readonly string[]
}

/** The condition that a datasource is none of `purged`; nothing where there is none. `name` is its column. */
export function unlessPurged(name: string, purged: readonly string[]): string {
  return purged.length === 0 ? '' : ` AND ${name} NOT IN {purged: Array(String)}`
}
