/**
 * Tables of the columnar store whose rows a datasource has told, each with the columns `company` and `datasource`:
 * statistics rest on the first ones, the others tell of loading. What a datasource told is hidden and removed by this
 * list alone, and a test compares it with the store's columns.
 */
export const statisticsTables = [
  'purchases',
  'orders',
  'events',
  'workflow_events',
  'person_events',
  'identities',
  'label_keys',
] as const

export const tablesOfEvents = [...statisticsTables, 'datasource_log', 'events_quarantine'] as const
export type TableOfEvents = (typeof tablesOfEvents)[number]

/**
 * The column that says when what a row tells happened; absent where a row stands for no moment. Orders are computed of
 * purchases, and expire with them.
 */
export const timeColumns = {
  purchases: 'time',
  events: 'time',
  workflow_events: 'time',
  person_events: 'time',
  identities: 'time',
  datasource_log: 'received',
  events_quarantine: 'quarantined',
} as const satisfies Partial<Record<TableOfEvents, string>>
