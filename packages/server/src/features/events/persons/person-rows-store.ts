import type { Readable } from 'node:stream'
import type { PersonReference } from '@millrace/contract/resources/person-data.ts'
import { DomainError } from '../../../platform/errors.ts'
import type { Columnar } from '../../../platform/stores/columnar.ts'
import { unboundedResult } from '../../../platform/stores/columnar-settings.ts'
import type { RowCondition } from '../loading/removals/removal-store.ts'
import { digestSql, type Kind } from './person-digests.ts'

/** Who is meant, by all identifiers that are known. */
export interface Person {
  readonly companyId: string
  readonly clientIds: readonly string[]
  /** Devices all of whose events are meant. */
  readonly tmpIds: readonly string[]
  /** Devices of which events without a `clientId` are meant. */
  readonly anonymous: readonly string[]
  /** Addresses by which rows of datasources know the person. */
  readonly emails: readonly string[]
  /** The same as the numbers that rows have of them. */
  readonly numbers: Readonly<Record<'clients' | 'devices' | 'anonymous', readonly string[]>>
}

/** What is stored of a person. */
export interface PersonCounts {
  readonly events: number
  readonly purchases: number
  readonly persons: number
  readonly devices: number
  /** Epoch milliseconds; 0 without events. */
  readonly earliest: number
  readonly latest: number
}

/** Of all identifiers of one kind, so that they fit into the parameters of a statement. */
const maxIdentifiers = 5_000
/** Of all of them together, for the same reason. */
const maxBytes = 256 * 1024

const settings = { max_execution_time: 60 }

const ofCompany = 'company = {company: String}'
const isClient = (column: string) => `${column} IN {clients: Array(UInt64)}`
const isDevice = (column: string) =>
  `${column} IN {devices: Array(UInt64)} OR ${column} IN {anonymous: Array(UInt64)}`

/** Rows of events and of facts that are made of them. */
const sent = `${ofCompany} AND (${isClient('client')} OR device IN {devices: Array(UInt64)}
  OR client = 0 AND device IN {anonymous: Array(UInt64)})`

/**
 * Of each table the rows that belong to a person. The engine keeps the text of what it was told to remove, so no identifier
 * stands in it.
 */
const conditions = {
  events: sent,
  purchases: sent,
  workflow_events: sent,
  // What a device sent for a client is known by its event alone.
  person_events: `${ofCompany} AND (named = 1 AND ${isClient('owner')} OR named = 0 AND (${isDevice('owner')})
    OR notEmpty({devices: Array(UInt64)}) AND seq IN (SELECT seq FROM events WHERE ${sent}))`,
  identities: `${ofCompany} AND (${isClient('client')} OR ${isDevice('device')})`,
  cohort_persons: `${ofCompany} AND (${isClient('person')} OR ${isDevice('person')})`,
} as const

export type PersonTable = keyof typeof conditions

/** Characters from which on an identifier that is a part of a text names the person for certain. */
export const longIdentifier = 6

/** Tables of texts that may name a person, and the column that does. */
const texts = { datasource_log: 'sample', events_quarantine: 'line' } as const

export type TextTable = keyof typeof texts
export const textTables = Object.keys(texts) as readonly TextTable[]

/** All texts that name the person. */
export const identifiersOf = ({ clientIds, tmpIds, anonymous, emails }: Person): string[] =>
  unique([...clientIds, ...tmpIds, ...anonymous, ...emails])

const paramsOf = ({ companyId, numbers }: Person) => ({
  company: companyId,
  clients: numbers.clients.map(BigInt),
  devices: numbers.devices.map(BigInt),
  anonymous: numbers.anonymous.map(BigInt),
})

/** The rows of a table that belong to a person. */
export const rowsOfPerson = (table: PersonTable, person: Person): RowCondition => ({
  sql: conditions[table],
  params: paramsOf(person),
})

/** What an export writes, and the SQL that gives it. */
const exported: Readonly<Record<string, string>> = {
  event: `SELECT 'event' AS \`table\`, event_id, * EXCEPT (company, seq, event_uuid, event_text, device, client, exposures)
    FROM events WHERE ${conditions.events} ORDER BY time`,
  order: `SELECT 'order' AS \`table\`, * EXCEPT (company, purchase, version, gone, client, device, later_devices)
    FROM orders FINAL WHERE ${ofCompany}
      AND purchase IN (SELECT purchase FROM purchases WHERE ${conditions.purchases}) ORDER BY time`,
  binding: `SELECT 'binding' AS \`table\`, datasource, tmp_id, client_id, time FROM identities FINAL
    WHERE ${conditions.identities} ORDER BY time`,
  cohort: `SELECT 'cohort' AS \`table\`, cohort, list, person_id FROM cohort_persons
    WHERE ${conditions.cohort_persons} ORDER BY cohort, list, person_id`,
}

export const exportedTables = Object.keys(exported)

const noNumbers: Person['numbers'] = { clients: [], devices: [], anonymous: [] }

/** @throws {DomainError} personTooLarge */
function requireRoomFor(...identifiers: readonly (readonly string[])[]): void {
  const bytes = identifiers.flat().reduce((sum, each) => sum + Buffer.byteLength(each) + 3, 0)
  if (bytes > maxBytes) throw new DomainError('personTooLarge', { limit: maxIdentifiers })
}

const unique = (values: readonly string[]): string[] => [...new Set(values)]

export type PersonRowsStore = ReturnType<typeof createPersonRowsStore>

/** What the columnar store has of a person. */
export function createPersonRowsStore({
  columnar,
}: {
  readonly columnar: Pick<Columnar, 'query' | 'stream'>
}) {
  async function identifiers(
    companyId: string,
    sql: string,
    params: Readonly<Record<string, string | readonly string[]>>,
    signal?: AbortSignal,
  ): Promise<string[]> {
    const rows = await columnar.query<{ id: string }>({
      sql: `${sql} LIMIT ${maxIdentifiers + 1}`,
      params: { ...params, company: companyId },
      settings,
      ...(signal && { signal }),
    })
    if (rows.length > maxIdentifiers) throw new DomainError('personTooLarge', { limit: maxIdentifiers })
    return rows.map(({ id }) => id)
  }

  async function named(
    companyId: string,
    clientIds: readonly string[],
    tmpIds: readonly string[],
    anonymous: readonly string[],
    emails: readonly string[] = [],
  ): Promise<Person> {
    const [numbers] = await columnar.query<Person['numbers']>({
      sql: `SELECT ${['clients', 'devices', 'anonymous']
        .map((name) => `arrayMap(id -> toString(sipHash64(id)), {${name}: Array(String)}) AS ${name}`)
        .join(', ')}`,
      params: { clients: clientIds, devices: tmpIds, anonymous },
    })
    return { companyId, clientIds, tmpIds, anonymous, emails, numbers: numbers ?? noNumbers }
  }

  return {
    /**
     * Adds to the identifiers that are given those that belong to the same person: who placed an order, and devices
     * that were bound to it and to no other.
     * @throws {DomainError} personTooLarge
     */
    async resolve(companyId: string, reference: PersonReference, signal?: AbortSignal): Promise<Person> {
      const { clientIds = [], tmpIds = [], orders = [], emails = [] } = reference
      const buying = `FROM purchases WHERE ${ofCompany} AND (trans_id != '' AND trans_id IN {orders: Array(String)}
        OR hasAny(mapValues(labels), {emails: Array(String)}))`
      const ask = (sql: string, params: Readonly<Record<string, readonly string[]>>) =>
        identifiers(companyId, sql, params, signal)
      requireRoomFor(clientIds, tmpIds, orders, emails)
      const isByOrder = orders.length + emails.length > 0
      const bought = { orders, emails }
      const buyers = isByOrder
        ? await ask(`SELECT DISTINCT client_id AS id ${buying} AND client != 0`, bought)
        : []
      const devices = isByOrder
        ? await ask(`SELECT DISTINCT tmp_id AS id ${buying} AND client = 0`, bought)
        : []
      const boundTo = devices.length
        ? await ask(
            `SELECT any(client_id) AS id FROM identities FINAL WHERE ${ofCompany} AND tmp_id IN {devices: Array(String)}
             GROUP BY tmp_id HAVING uniqExact(client_id) = 1`,
            { devices },
          )
        : []
      const clients = unique([...clientIds, ...buyers, ...boundTo])
      const bound = clients.length
        ? await ask(
            `SELECT tmp_id AS id FROM identities FINAL WHERE ${ofCompany} AND tmp_id IN
               (SELECT tmp_id FROM identities WHERE ${ofCompany} AND client_id IN {clients: Array(String)})
             GROUP BY tmp_id HAVING countIf(client_id NOT IN {clients: Array(String)}) = 0`,
            { clients },
          )
        : []
      const anonymous = unique([...devices, ...bound])
      requireRoomFor(clients, tmpIds, anonymous)
      return named(companyId, clients, tmpIds, anonymous, emails)
    },

    /** The person whose identifiers have these hashes. */
    async resolveDigests(
      companyId: string,
      salt: string,
      digests: readonly string[],
      signal: AbortSignal,
    ): Promise<Person> {
      const find = (kind: Kind, column: string) =>
        identifiers(
          companyId,
          `SELECT ${column} AS id FROM (
             SELECT ${column} FROM events WHERE ${ofCompany} AND ${column} != '' GROUP BY ${column}
             UNION DISTINCT SELECT ${column} FROM identities WHERE ${ofCompany} AND ${column} != '' GROUP BY ${column})
           WHERE ${digestSql(kind, column)} IN {digests: Array(String)}`,
          { salt, digests },
          signal,
        )
      return named(
        companyId,
        await find('client', 'client_id'),
        await find('device', 'tmp_id'),
        await find('anonymous', 'tmp_id'),
      )
    },

    async count(person: Person, signal?: AbortSignal): Promise<PersonCounts> {
      const [found] = await columnar.query<PersonCounts>({
        sql: `SELECT count() AS events, countIf(name IN ('purchase', 'purchase_references')) AS purchases,
                if(events = 0, 0, greatest(1, uniqExactIf(client, client != 0))) AS persons,
                uniqExact(device) AS devices,
                if(events = 0, 0, toUnixTimestamp64Milli(min(time))) AS earliest,
                if(events = 0, 0, toUnixTimestamp64Milli(max(time))) AS latest
              FROM events WHERE ${conditions.events}`,
        params: paramsOf(person),
        settings,
        ...(signal && { signal }),
      })
      return found ?? { events: 0, purchases: 0, persons: 0, devices: 0, earliest: 0, latest: 0 }
    },

    /** Rows of a table whose texts name the person, some thousand at a time; nothing when there are no more. */
    async findTexts(
      table: TextTable,
      person: Person,
      signal: AbortSignal,
    ): Promise<RowCondition | undefined> {
      const { companyId } = person
      const rows = await columnar.query<{ seq: string }>({
        sql: `SELECT DISTINCT toString(seq) AS seq FROM ${table} WHERE ${ofCompany}
                AND arrayExists(id -> ${texts[table]} = id OR length(id) >= ${longIdentifier} AND position(${texts[table]}, id) > 0,
                  {ids: Array(String)}) LIMIT ${maxIdentifiers}`,
        params: { company: companyId, ids: identifiersOf(person) },
        settings,
        signal,
      })
      return rows.length === 0
        ? undefined
        : {
            sql: `${ofCompany} AND seq IN {seqs: Array(UInt64)}`,
            params: { company: companyId, seqs: rows.map(({ seq }) => BigInt(seq)) },
          }
    },

    /** Label keys that name the person; nothing where none does. */
    async findLabelKeys(person: Person, signal: AbortSignal): Promise<RowCondition | undefined> {
      const rows = await columnar.query<{ hash: string }>({
        sql: `SELECT DISTINCT toString(sipHash64(key)) AS hash FROM label_keys WHERE ${ofCompany}
                AND arrayExists(id -> key = id OR length(id) >= ${longIdentifier} AND position(key, id) > 0,
                  {ids: Array(String)}) LIMIT ${maxIdentifiers}`,
        params: { company: person.companyId, ids: identifiersOf(person) },
        settings,
        signal,
      })
      if (rows.length === 0) return undefined
      return {
        sql: `${ofCompany} AND sipHash64(key) IN {keys: Array(UInt64)}`,
        params: { company: person.companyId, keys: rows.map(({ hash }) => BigInt(hash)) },
      }
    },

    /** Rows of one of `exportedTables` as NDJSON, while they are read. */
    stream: (table: string, person: Person, signal: AbortSignal): Promise<Readable> =>
      columnar.stream({
        sql: exported[table] ?? '',
        params: paramsOf(person),
        format: 'JSONEachRow',
        settings: { ...unboundedResult, max_execution_time: 600 },
        signal,
      }),
  }
}
