import { type Columnar, ColumnarError } from '../../../platform/stores/columnar.ts'
import { boundTime } from '../query/compile/compile-conditions.ts'
import { type EventAliases, eventNameSql } from '../query/compile/event-name.ts'
import { createParameters, type Statement, select } from '../query/compile/parameters.ts'
import type { PersonEvent, PersonName } from './person.ts'
import { type ResolvePersons, settingsOfPersons } from './person-bindings-store.ts'

/** Events of one person that are given at most. */
export const maxPersonEvents = 1_000

/** A person, and the instant (epoch milliseconds) from which on events are wanted. */
export interface AskedHistory {
  readonly name: PersonName
  readonly since: number
}

interface EventRow {
  /** Place of the owner, from 1 on. */
  readonly place: number
  /** Whether the owner is the event's client. */
  readonly named: number
  readonly datasource: string
  readonly shown: string
  /** Epoch milliseconds. */
  readonly instant: number
  readonly url: string
  readonly ids: readonly string[]
  readonly value: number | null
  readonly labels: Readonly<Record<string, string>>
}

/** ClickHouse's errors for an answer that is too large: of memory, of rows or bytes. */
const tooLarge = new Set([241, 396])

export type PersonEventsStore = ReturnType<typeof createPersonEventsStore>

export function createPersonEventsStore({
  columnar,
  resolvePersons,
}: {
  readonly columnar: Pick<Columnar, 'query'>
  readonly resolvePersons: ResolvePersons
}) {
  type Histories = readonly (readonly PersonEvent[])[]

  async function read(asked: AskedHistories, signal: AbortSignal): Promise<Histories> {
    const names = asked.asked.map(({ name }) => name)
    const { persons, owners, ofDevice } = await resolvePersons(asked.companyId, names, signal)
    const rows = await columnar.query<EventRow>({
      ...compileHistories(asked, owners),
      settings: settingsOfPersons,
      signal,
    })
    const histories = new Map<string, PersonEvent[]>(persons.map((person) => [person, []]))
    for (const { place, named, ...row } of rows) {
      const owner = owners[place - 1] ?? ''
      const history = histories.get(named ? owner : ofDevice(owner))
      if (history && history.length < asked.limit) history.push(eventOf(row))
    }
    return asked.asked.map(({ since }, place) =>
      (histories.get(persons[place] ?? '') ?? []).filter(({ time }) => time.getTime() >= since),
    )
  }

  /** Halves what is too large until the person is alone who has far more than others, of whom less is read. */
  async function readInParts(asked: AskedHistories, signal: AbortSignal): Promise<Histories> {
    try {
      return await read(asked, signal)
    } catch (error) {
      if (!(error instanceof ColumnarError && tooLarge.has(error.code)) || asked.limit < 10) throw error
      const half = asked.asked.length >> 1
      const parts =
        half === 0
          ? [{ ...asked, limit: asked.limit / 10 }]
          : [
              { ...asked, asked: asked.asked.slice(0, half) },
              { ...asked, asked: asked.asked.slice(half) },
            ]
      const found: Histories[] = []
      for (const part of parts) found.push(await readInParts(part, signal))
      return found.flat()
    }
  }

  return {
    /**
     * The newest events of each person in the order of the persons, at most a thousand each; of a person whose events
     * do not fit into an answer, the newest hundred or ten.
     */
    readEvents: (
      companyId: string,
      asked: readonly AskedHistory[],
      eventAliases: EventAliases,
      signal: AbortSignal,
    ): Promise<Histories> => readInParts({ companyId, asked, eventAliases, limit: maxPersonEvents }, signal),
  }
}

interface AskedHistories {
  readonly companyId: string
  readonly asked: readonly AskedHistory[]
  readonly eventAliases: EventAliases
  /** Events of each person. */
  readonly limit: number
}

function eventOf({
  datasource,
  shown,
  instant,
  value,
  ...row
}: Omit<EventRow, 'place' | 'named'>): PersonEvent {
  const { url, ids, labels } = row
  const event = { name: shown, time: new Date(instant), datasourceId: datasource, url, ids, labels }
  return value === null ? event : { ...event, value }
}

function compileHistories(
  { companyId, asked, eventAliases, limit }: AskedHistories,
  owners: readonly string[],
): Statement {
  const parameters = createParameters()
  const earliest = Math.min(...asked.map(({ since }) => since))
  // A scalar is computed once, where an expression would be for each row.
  const hashes = `arrayMap(text -> sipHash64(text), ${parameters.bind('Array(String)', owners)})`
  const numbers = parameters.define(`SELECT ${hashes}`)
  const shown = [
    `indexOf(${numbers}, owner) AS place`,
    'named',
    'datasource',
    `${eventNameSql('name', eventAliases, parameters)} AS shown`,
    'toUnixTimestamp64Milli(time) AS instant',
    'url',
    'ids',
    'value',
    'labels',
  ]
  const conditions = [
    `company = ${parameters.bind('String', companyId)}`,
    `owner IN (SELECT arrayJoin(${numbers}))`,
    `time >= ${boundTime(earliest, 'time', parameters)}`,
  ]
  return parameters.statement(
    select(
      shown,
      'person_events',
      conditions,
      // Of one millisecond the order is that of what the events say, as far as it can be.
      `\nORDER BY time DESC, name, url, seq\nLIMIT ${limit} BY owner, named`,
    ),
  )
}
