import { createHash } from 'node:crypto'
import { add, type Decimal, formatDecimal, multiply, parseDecimal, zero } from './decimal.ts'
import { ImportFault } from './import-fault.ts'
import type { Condition, Mapping, Source } from './mapping.ts'
import type { Peer } from './peers/peer.ts'
import type { InputRecord } from './read-records.ts'
import { parseTime } from './read-time.ts'

/** A collected event's envelope as it is sent (docs/interface.md, Collected event). */
export type Envelope = Record<string, unknown>

/** What reading and mapping met, for the closing table. */
export interface MappingCounts {
  records: number
  leftOut: number
  /** Why, where a peer's reader says it. */
  readonly leftOutBy: Map<string, number>
  events: number
  /** All events of the input, known once a grouped input is read to its end. */
  expected: number | undefined
}

/** Everything of a group that its event may need, kept small: a file's groups are all open until its end. */
interface Group {
  readonly first: InputRecord
  readonly lists: Map<string, Set<string>>
  readonly sums: Map<string, Decimal>
}

const sumKey = (columns: readonly string[]): string => columns.join('\0')

function textOf(record: InputRecord, column: string): string {
  const value = record.fields[column]
  if (value === undefined) {
    throw new ImportFault(
      `record ${record.number} has no column "${column}"; it has ${Object.keys(record.fields).join(', ')}`,
    )
  }
  if (value === null) return ''
  return typeof value === 'object' ? JSON.stringify(value) : String(value)
}

function numberOf(record: InputRecord, column: string): Decimal {
  const text = textOf(record, column)
  const number = parseDecimal(text)
  if (number === undefined)
    throw new ImportFault(`record ${record.number}: "${text}" in column "${column}" is not a number`)
  return number
}

function isMet(condition: Condition, record: InputRecord): boolean {
  if ('notPositive' in condition) return numberOf(record, condition.column).digits <= 0n
  const text = textOf(record, condition.column)
  if ('startsWith' in condition) return text.startsWith(condition.startsWith)
  if ('equals' in condition) return text === condition.equals
  return (text === '') === condition.empty
}

function fillTemplate(template: string, record: InputRecord): string {
  return template.replace(/\{\{|\{([^}]*)\}/g, (whole, column: string | undefined) =>
    column === undefined ? whole.slice(1) : textOf(record, column),
  )
}

/** Every `list` and `sumOf` that the mapping asks of a group. */
function aggregatesOf(mapping: Mapping): { lists: string[]; sums: (readonly string[])[] } {
  const lists: string[] = []
  const sums: (readonly string[])[] = []
  const visit = (source: Source): void => {
    if (typeof source === 'string') return
    if ('list' in source) lists.push(source.list)
    else if ('sumOf' in source) sums.push(source.sumOf)
  }
  const { data, timestamp: _, ...rest } = mapping.event
  for (const source of [...Object.values(rest), ...Object.values(data)])
    if (source !== undefined) visit(source)
  return { lists, sums }
}

function readSource(source: Source, group: Group): unknown {
  if (typeof source === 'string') return fillTemplate(source, group.first)
  if ('column' in source) {
    const text = textOf(group.first, source.column)
    const suffix = source.removeSuffix
    return suffix && text.endsWith(suffix) ? text.slice(0, -suffix.length) : text
  }
  if ('firstOf' in source) {
    return source.firstOf
      .map((each) => readSource(each, group))
      .find((value) => value !== '' && value !== undefined)
  }
  if ('list' in source) return [...(group.lists.get(source.list) ?? [])]
  if ('sumOf' in source) return formatDecimal(group.sums.get(sumKey(source.sumOf)) ?? zero)
  return source.constant
}

function timeOf(record: InputRecord, { column, unit }: NonNullable<Mapping['event']['timestamp']>): number {
  const text = textOf(record, column).trim()
  const time = parseTime(text, unit === 's' ? 1000 : 1)
  if (time === undefined) {
    throw new ImportFault(
      `record ${record.number}: "${text}" in column "${column}" is no time; write 2011-12-09 12:50:00, ISO 8601 or a number of milliseconds`,
    )
  }
  return time
}

function toEnvelope(mapping: Mapping, group: Group, key: string): Envelope {
  const { event } = mapping
  const data: Record<string, unknown> = {}
  for (const [name, source] of Object.entries(event.data)) {
    const value = readSource(source, group)
    if (value !== '' && value !== undefined) data[name] = value
  }
  const referrer = event.referrer === undefined ? undefined : readSource(event.referrer, group)
  const clientId = event.clientId === undefined ? undefined : readSource(event.clientId, group)
  const envelope: Envelope = {
    key,
    name: readSource(event.name, group),
    url: readSource(event.url, group),
    ...(referrer === undefined || referrer === '' ? {} : { referrer }),
    tmpId: readSource(event.tmpId, group),
    ...(clientId === undefined || clientId === '' ? {} : { clientId }),
    data,
    v: 1,
    ...(event.timestamp === undefined ? {} : { timestamp: timeOf(group.first, event.timestamp) }),
  }
  envelope.eventId =
    event.eventId === undefined ? contentId(group.first, envelope) : readSource(event.eventId, group)
  return envelope
}

/** The same record of the same file gives the same id, so that a file sent twice counts once. */
function contentId(record: InputRecord, envelope: Envelope): string {
  const digest = createHash('sha256')
    .update(`${record.number}\n${JSON.stringify(envelope)}`)
    .digest('hex')
  return `im-${digest.slice(0, 40)}`
}

/** Without a mapping a record is an envelope already; what it lacks is filled in where that is safe. */
function completeEnvelope(record: InputRecord, key: string): Envelope {
  const envelope: Envelope = { key, v: 1, ...record.fields }
  envelope.eventId ??= contentId(record, envelope)
  return envelope
}

/** What a peer's reader makes of records. */
async function* readPeer(
  records: AsyncIterable<InputRecord>,
  peer: Peer,
  key: string,
  counts: MappingCounts,
): AsyncIterable<Envelope> {
  for await (const record of records) {
    counts.records++
    let read: ReturnType<Peer['read']>
    try {
      read = peer.read(record.fields)
    } catch (error) {
      if (error instanceof ImportFault)
        throw new ImportFault(`record ${record.number} is none of ${peer.title}: ${error.message}`)
      throw error
    }
    if (typeof read === 'string') {
      counts.leftOut++
      counts.leftOutBy.set(read, (counts.leftOutBy.get(read) ?? 0) + 1)
      continue
    }
    for (const event of read) {
      counts.events++
      const envelope: Envelope = { key, v: 1, ...event }
      envelope.eventId ??= contentId(record, envelope)
      yield envelope
    }
  }
}

/**
 * Turns records into envelopes, in the order in which their first records stand in the input.
 * Groups stay open until the input ends: lines of one invoice need not stand together.
 * @param key company identifier that every envelope carries
 */
export async function* mapRecords(
  records: AsyncIterable<InputRecord>,
  { mapping, peer }: { readonly mapping?: Mapping | undefined; readonly peer?: Peer | undefined },
  key: string,
  counts: MappingCounts,
): AsyncIterable<Envelope> {
  if (peer) {
    yield* readPeer(records, peer, key, counts)
    return
  }
  if (mapping === undefined) {
    for await (const record of records) {
      counts.records++
      counts.events++
      yield completeEnvelope(record, key)
    }
    return
  }
  const { lists, sums } = aggregatesOf(mapping)
  const newGroup = (first: InputRecord): Group => ({
    first,
    lists: new Map(lists.map((column) => [column, new Set<string>()])),
    sums: new Map(sums.map((columns) => [sumKey(columns), zero])),
  })
  const addTo = (group: Group, record: InputRecord): void => {
    for (const [column, values] of group.lists) values.add(textOf(record, column))
    for (const columns of sums) {
      const product = columns.map((column) => numberOf(record, column)).reduce(multiply)
      group.sums.set(sumKey(columns), add(group.sums.get(sumKey(columns)) ?? zero, product))
    }
  }
  const groups = new Map<string, Group>()
  for await (const record of records) {
    counts.records++
    if (mapping.leaveOut?.some((condition) => isMet(condition, record))) {
      counts.leftOut++
      continue
    }
    if (mapping.groupBy === undefined) {
      const group = newGroup(record)
      addTo(group, record)
      counts.events++
      yield toEnvelope(mapping, group, key)
      continue
    }
    const name = textOf(record, mapping.groupBy)
    let group = groups.get(name)
    if (group === undefined) {
      group = newGroup(record)
      groups.set(name, group)
    }
    addTo(group, record)
  }
  counts.expected = groups.size
  for (const [name, group] of groups) {
    groups.delete(name)
    counts.events++
    yield toEnvelope(mapping, group, key)
  }
}
