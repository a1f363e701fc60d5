import { type Columnar, ColumnarError } from '../../../platform/stores/columnar.ts'
import { bindingsSql } from '../query/compile/compile-stored.ts'
import { type EventAliases, eventNameSql } from '../query/compile/event-name.ts'
import { createParameters, type Statement } from '../query/compile/parameters.ts'
import { nested, select } from '../query/compile/sql-text.ts'
import { compileAsked } from './compile-persons.ts'
import type { PersonEvent, PersonName } from './person.ts'
import { settingsOfPersons } from './statement-limits.ts'

/** Events of one person that are given at most. */
export const maxPersonEvents = 1_000

/** A person, and the instant (epoch milliseconds) from which on events are wanted. */
export interface AskedHistory {
  readonly name: PersonName
  readonly since: number
}

interface EventRow {
  /** Place of the person in what was asked, from 1 on. */
  readonly at: number
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

export interface PersonEventsStore {
  /**
   * The newest events of each person in the order of the persons, at most a thousand each; of a person whose events do
   * not fit into an answer, the newest hundred or ten.
   */
  readEvents(
    companyId: string,
    asked: readonly AskedHistory[],
    eventAliases: EventAliases,
    signal: AbortSignal,
  ): Promise<readonly (readonly PersonEvent[])[]>
}

export function createPersonEventsStore({
  columnar,
}: {
  readonly columnar: Pick<Columnar, 'query'>
}): PersonEventsStore {
  type Histories = readonly (readonly PersonEvent[])[]

  async function read(asked: AskedHistories, signal: AbortSignal): Promise<Histories> {
    const rows = await columnar.query<EventRow>({
      ...compileHistories(asked),
      settings: settingsOfPersons,
      signal,
    })
    const histories: PersonEvent[][] = asked.asked.map(() => [])
    for (const { at, ...row } of rows) histories[at - 1]?.push(eventOf(row))
    return histories
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
    readEvents: (companyId, asked, eventAliases, signal) =>
      readInParts({ companyId, asked, eventAliases, limit: maxPersonEvents }, signal),
  }
}

interface AskedHistories {
  readonly companyId: string
  readonly asked: readonly AskedHistory[]
  readonly eventAliases: EventAliases
  /** Events of each person. */
  readonly limit: number
}

function eventOf({ datasource, shown, instant, value, ...row }: Omit<EventRow, 'at'>): PersonEvent {
  const { url, ids, labels } = row
  const event = { name: shown, time: new Date(instant), datasourceId: datasource, url, ids, labels }
  return value === null ? event : { ...event, value }
}

function compileHistories({ companyId, asked, eventAliases, limit }: AskedHistories): Statement {
  const parameters = createParameters()
  const names = asked.map(({ name }) => name)
  const persons = compileAsked(names, companyId, parameters)
  const starts = parameters.bind(
    'Array(Int64)',
    asked.map(({ since }) => since),
  )
  const earliest = `fromUnixTimestamp64Milli(arrayMin(${starts}), 'UTC')`
  const columns = ['datasource', 'name', 'time', 'seq', 'url', 'ids', 'value', 'labels']
  const stored = select(['owner', 'named', ...columns], 'person_events', [
    persons.ofCompany,
    `owner IN ${persons.numbers}`,
    `time >= ${earliest}`,
  ])
  const bindings = bindingsSql(new Set(['bound'] as const), [
    persons.ofCompany,
    `device IN ${persons.numbers}`,
  ])
  const theirs = select(
    ['if(named OR bound = 0, owner, bound) AS of_person', ...columns],
    `${nested(stored)} AS stored\nLEFT ANY JOIN ${nested(bindings)} AS identity ON stored.owner = identity.of_device`,
  )
  const shown = [
    'at',
    'datasource',
    `${eventNameSql('name', eventAliases, parameters)} AS shown`,
    'toUnixTimestamp64Milli(time) AS instant',
    'url',
    'ids',
    'value',
    'labels',
  ]
  return parameters.statement(
    select(
      shown,
      `${nested(theirs)} AS theirs\nINNER JOIN ${persons.asked} AS asked ON theirs.of_person = asked.person`,
      [`toUnixTimestamp64Milli(time) >= ${starts}[at]`],
      // Of one millisecond the order is that of what the events say, as far as it can be.
      `\nORDER BY at, time DESC, name, url, seq\nLIMIT ${limit} BY at`,
    ),
  )
}
