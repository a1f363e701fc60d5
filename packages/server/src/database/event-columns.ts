/** One column of an event's row. */
interface RowColumn {
  /** In staging. */
  readonly type: string
  /** What writes it into a line of the event log; absent where staging computes it. */
  readonly line?: 'request' | 'sender' | 'address' | 'event' | 'note'
  /** Which field of the sender it is. */
  readonly field?: string
  /** Staging reads it from the line for its computed columns, and does not keep it. */
  readonly ephemeral?: true
  /** SQL over other columns of staging. */
  readonly computed?: string
  /** Its name in `events` and `purchases`; absent where it is not stored there. */
  readonly column?: string
  /** Its type there, where it is another one. */
  readonly stored?: string
  /** `orders` has a column of the same name, of the earliest event of an order; others are the order store's. */
  readonly ofOrder?: 'earliest'
}

/** Texts of which there are few: tables keep a dictionary of them. */
const dictionary = 'LowCardinality(String)'
const instant = "DateTime64(3, 'UTC')"

/** Values of tags that a display names: one, or several in any writing of a list; so many count. */
const tagValues = `arraySlice(arrayDistinct(extractAll(l['tagValueIds'], '[0-9a-f]{24}')), 1, 100)`

/** Years after 2099 are clamped by the engine. */
const endOfTime = Date.UTC(2100, 0, 1)

/**
 * The row of an event: the one definition of a line of the event log, of staging, and of the columns that `events`
 * and `purchases` have of it. Keys are columns of staging; those of a line are short because a row is written, read
 * and loaded as text. A column is one entry here and one migration (CONTRIBUTING.md, How to change things).
 */
export const rowColumns = {
  /** Sequence number in the event log. */
  q: { type: 'UInt64', line: 'request', column: 'seq' },
  /** `e` for an event, else the kind of a row of the datasource log. */
  z: { type: 'String', line: 'request' },
  k: { type: 'String', line: 'request', column: 'company', stored: dictionary },
  d: { type: 'String', line: 'request', column: 'datasource', stored: dictionary, ofOrder: 'earliest' },
  r: { type: 'Int64', line: 'request', ephemeral: true },

  t: { type: 'Int64', line: 'event', ephemeral: true },
  e: { type: 'String', line: 'event', ephemeral: true },
  n: { type: 'String', line: 'event', column: 'name', stored: dictionary },
  u: { type: 'String', line: 'event', column: 'url' },
  rh: { type: 'String', line: 'event', column: 'referrer_host', stored: dictionary },
  p: { type: 'String', line: 'event', column: 'tmp_id' },
  c: { type: 'String', line: 'event', column: 'client_id' },
  i: { type: 'Array(String)', line: 'event', column: 'ids' },
  v: { type: 'String', line: 'event', ephemeral: true },
  x: { type: 'String', line: 'event', column: 'trans_id' },
  l: {
    type: 'Map(String, String)',
    line: 'event',
    column: 'labels',
    stored: 'Map(LowCardinality(String), String)',
  },
  /** 1 where a rule has changed something. */
  g: { type: 'UInt8', line: 'event' },

  dt: {
    type: 'String',
    line: 'sender',
    field: 'deviceType',
    column: 'device_type',
    stored: dictionary,
    ofOrder: 'earliest',
  },
  os: { type: 'String', line: 'sender', field: 'os', column: 'os', stored: dictionary, ofOrder: 'earliest' },
  br: { type: 'String', line: 'sender', field: 'browser', column: 'browser', stored: dictionary },
  /** Of the sender's address, which goes nowhere. */
  co: { type: 'String', line: 'address', column: 'country', stored: dictionary },

  /** Of the datasource log: events or fields that the row stands for. */
  m: { type: 'UInt64', line: 'note' },
  rule: { type: 'String', line: 'note' },
  path: { type: 'String', line: 'note' },
  sample: { type: 'String', line: 'note' },

  time: { type: instant, computed: "fromUnixTimestamp64Milli(t, 'UTC')", column: 'time' },
  received: { type: instant, computed: "fromUnixTimestamp64Milli(r, 'UTC')", column: 'received' },
  // A UUID in its canonical form takes 16 bytes, any other text stands in event_text.
  event_uuid: { type: 'UUID', computed: 'toUUIDOrZero(e)', column: 'event_uuid' },
  event_text: { type: 'String', computed: "if(toString(event_uuid) = e, '', e)", column: 'event_text' },
  device: { type: 'UInt64', computed: 'sipHash64(p)', column: 'device' },
  client: { type: 'UInt64', computed: "if(c = '', 0, sipHash64(c))", column: 'client' },
  value: { type: 'Nullable(Decimal(18, 2))', computed: 'toDecimal64OrNull(v, 2)', column: 'value' },
  hash: { type: 'UInt128', computed: 'reinterpretAsUInt128(sipHash128(d, e))' },
  /**
   * What the event tells of experiments, as numbers that a query compares without reading labels (docs/experiments.md,
   * Exposures): of `experiment_exposure` the experiment, and the experiment with the variant; of `workflow_display` each
   * value of a tag. Of a preview the same numbers behind the word, so that they are never taken for others.
   */
  exposures: {
    type: 'Array(UInt64)',
    computed: `multiIf(
      n = 'experiment_exposure' AND l['preview'] = 'true', [sipHash64('preview', l['experimentId'])],
      n = 'experiment_exposure', [sipHash64(l['experimentId']), sipHash64(l['experimentId'], l['variantId'])],
      n = 'workflow_display' AND l['preview'] = 'true',
        arrayMap(tag -> sipHash64('preview', tag), ${tagValues}),
      n = 'workflow_display', arrayMap(tag -> sipHash64(tag), ${tagValues}),
      [])`,
    column: 'exposures',
  },
  /** What the engine would wrap, clamp or drop silently; empty for a sound row. */
  fault: {
    type: 'String',
    computed: `multiIf(
      q = 0, 'no sequence number',
      length(k) != 24 or length(d) != 24, 'no company or datasource',
      r < 0 or r >= ${endOfTime}, 'reception time out of range',
      z != 'e', '',
      t < 0 or t >= ${endOfTime}, 'time out of range',
      e = '', 'no eventId',
      v != '' and isNull(value), 'value out of range',
      '')`,
  },
  /** Whether a row is an event that can be stored, computed once for all the statements that ask. */
  sound: { type: 'Bool', computed: "z = 'e' and fault = ''" },
} as const satisfies Readonly<Record<string, RowColumn>>

type Entries = typeof rowColumns
type Stored = Extract<Entries[keyof Entries], { readonly column: string }>

/** Keys of a line of the event log, of those that `Writer` writes. */
export type LineKey<Writer = RowColumn['line'] & string> = {
  [Key in keyof Entries]: Entries[Key] extends { readonly line: Writer } ? Key : never
}[keyof Entries]
/** Columns that `events` and `purchases` have of a row. */
export type EventColumn = Stored['column']
/** Fields of a sender. */
export type SenderField = Extract<Entries[keyof Entries], { readonly field: string }>['field']

const entries: readonly (readonly [string, RowColumn])[] = Object.entries(rowColumns)

/** Keys of a line of the event log. */
export const lineKeys = entries.filter(([, { line }]) => line !== undefined).map(([key]) => key as LineKey)

/** The fields of a sender, each with its key in a line. */
export const senderKeys = entries.flatMap(([key, { field }]) =>
  field === undefined ? [] : [[field as SenderField, key] as const],
)

/** Columns of `events` and `purchases`, and the columns of staging that they are made of. */
export const eventColumns = Object.fromEntries(
  entries.flatMap(([key, { column }]) => (column === undefined ? [] : [[column, key]])),
) as Readonly<Record<EventColumn, string>>

/** Columns that `orders` takes from the earliest event of each order. */
export const earliestColumns: readonly string[] = entries.flatMap(([, { column, ofOrder }]) =>
  ofOrder === 'earliest' && column !== undefined ? [column] : [],
)

/** The columns of a staging table, as CREATE TABLE takes them. */
export const stagingColumns: string = entries
  .map(([key, { type, computed, ephemeral }]) =>
    [key, type, ephemeral && 'EPHEMERAL', computed && `DEFAULT ${computed}`].filter(Boolean).join(' '),
  )
  .join(', ')
