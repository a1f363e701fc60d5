import { events } from '../../catalogue/events.ts'
import type { Dimension } from '../../catalogue/member.ts'
import { firstEventColumns, lastEventColumns, sessionColumns } from '../../catalogue/sessions.ts'
import { type DimensionFilter, type FilterTree, leavesOf } from '../query.ts'
import { hullOf, type Interval } from '../time/interval.ts'
import { day, hour, minute } from '../time/zone.ts'
import { personInCohort } from './compile-cohorts.ts'
import { conditionOn, timeCondition, treeSql } from './compile-conditions.ts'
import { devicesOfPeople } from './compile-people.ts'
import { rowsOf } from './compile-rows.ts'
import { concealedSql } from './compile-workflows.ts'
import { nested, select } from './parameters.ts'
import type { Rows, RowsOptions } from './rows.ts'

/** A run of one person's events ends with a gap longer than this. */
export const sessionGap = 30 * minute

const milliseconds = 'toUnixTimestamp64Milli(time)'

/** Earlier than every time by more than the gap. */
const beforeAll = -(2 ** 53)

/** Decides which of one person's events of one millisecond comes first, in whichever order they arrived. */
const identity = 'bitShiftLeft(cityHash64(datasource, event_uuid, event_text), 1)'

const identityColumns = ['datasource', 'event_uuid', 'event_text'] as const

/** How an event that a run names by its time is found among several of that millisecond. */
interface Sought {
  /** The column of the run that holds the time, in milliseconds. */
  readonly at: 'start' | 'exit'
  /** The aggregate that takes a column of the event. */
  readonly take: (column: string) => string
  /** Columns of events that it names. */
  readonly columns: readonly string[]
}

const firstEvent: Sought = {
  at: 'start',
  take: (column) => `argMin(${column}, ${identity})`,
  columns: identityColumns,
}

const lastWithAddress: Sought = {
  at: 'exit',
  // Without any address it is the first event of the run.
  take: (column) => `argMax(${column}, if(url != '', (1, ${identity}), (0, bitNot(${identity}))))`,
  columns: [...identityColumns, 'url'],
}

/** Columns of a run beside `person` and `start`. */
const runColumns = ['person_text', 'finish', 'event_count', 'ordinal', 'exit'] as const

/** Whether a filter asks about the person alone: it takes whole persons, so it can stand before the runs are made. */
function isOfPerson(filter: FilterTree<DimensionFilter>): boolean {
  return leavesOf([filter]).every(({ dimension }) =>
    dimension.columns.every((name) => name === 'person' || name === 'person_text'),
  )
}

/** Sessions as rows of a source (docs/statistics.md, sessions): filters choose among them and cut no events out. */
export function sessionRowsOf(options: Omit<RowsOptions, 'source'>): Rows {
  const { filters, times, visibleWorkflows, parameters } = options
  const needed = new Set<string>()
  const hull = hullOf(times)
  const ofPersons = filters.filter(isOfPerson)

  function dimensionSql(dimension: Dimension): string {
    for (const name of dimension.columns) needed.add(name)
    if (!dimension.shownBy || visibleWorkflows === 'all') return dimension.sql
    needed.add(dimension.shownBy)
    return concealedSql(dimension.shownBy, dimension.sql)
  }

  function eventsWithin(within: Interval | undefined, conditions: readonly string[] = []): Rows {
    const own = { ...options, source: events, filters: ofPersons, conditions }
    return rowsOf({ ...own, times: within ? [within] : [] })
  }

  function personsOf(rows: Rows, rest = ''): string {
    rows.need(['person'])
    return nested(select(['person'], rows.relation(), [], rest))
  }

  /**
   * The events that make the sessions of the hull. One gap before it is enough to know what begins a session. After it
   * sessions go on for as long as they do: a day is read of everyone, and what follows of those who had an event in
   * each of its hours. A run that outlasts the day has one in each; few but programs do.
   */
  function eventsOfSessions(): Rows {
    if (!hull) return eventsWithin(undefined)
    const from = hull.from - sessionGap
    if (!Number.isFinite(hull.to)) return eventsWithin({ from, to: hull.to })
    const dayAfter = { from: hull.to, to: hull.to + day }
    const rows = eventsWithin(dayAfter)
    rows.need(['time'])
    const start = parameters.bind('Int64', hull.to)
    const lasting = personsOf(
      rows,
      `\nGROUP BY person\nHAVING uniqExact(intDiv(${milliseconds} - ${start}, ${hour})) = ${day / hour}`,
    )
    const ofCompany = `company = ${parameters.bind('String', options.companyId)}`
    const onDay = timeCondition('time', [{ from: -Infinity, to: dayAfter.to }], 'time', parameters)
    const later = timeCondition('time', [{ from: dayAfter.to, to: Infinity }], 'time', parameters)
    const persons = `(SELECT arrayJoin(${parameters.define(`SELECT groupArray(person) FROM ${lasting}`)}))`
    const devices = devicesOfPeople(persons, [ofCompany, later ?? '1'], ofCompany)
    return eventsWithin({ from, to: Infinity }, [`(${onDay} OR device IN ${nested(devices)})`])
  }

  /** Whether it is the person's first: no event lies before those that were read. */
  function isNewSql(): string {
    if (!hull || !Number.isFinite(hull.from)) return 'toBool(ordinal = 1)'
    const earlier = eventsWithin({ from: -Infinity, to: hull.from - sessionGap })
    return `toBool(ordinal = 1 AND person NOT IN ${personsOf(earlier)})`
  }

  /** The runs, one row each, with `person`, `start` and what else is asked for. */
  function runsSql(columns: ReadonlySet<string>): string {
    const rows = eventsOfSessions()
    const withText = columns.has('person_text')
    const withExit = columns.has('exit')
    rows.need(['time', 'person', ...(withText ? ['person_text'] : []), ...(withExit ? ['url'] : [])])
    const person = ['person', ...(withText ? ['person_text'] : [])]
    // Numbers are grouped and sorted several times faster than texts, which are looked up afterwards. The last bit says
    // whether an event has an address.
    const key = withExit ? `${milliseconds} * 2 + (url != '')` : milliseconds
    const ofPersons = select(
      [
        'person',
        ...(withText ? ['any(person_text) AS person_text'] : []),
        `arraySort(groupArray(${key})) AS keys`,
      ],
      rows.relation(),
      [],
      '\nGROUP BY person',
    )
    const marked = [
      ...person,
      'keys',
      `${withExit ? 'arrayMap(key -> intDiv(key, 2), keys)' : 'keys'} AS times`,
      `arrayMap((time, previous) -> time - previous > ${sessionGap}, times, arrayShiftRight(times, 1, ${beforeAll})) AS begins`,
      // The last event of a run stands before the first of the next.
      'arrayRotateLeft(begins, 1) AS ends',
    ]
    const atBegin = (list: string) => `arrayFilter((value, begin) -> begin, ${list}, begins)`
    const atEnd = (list: string) => `arrayFilter((value, end) -> end, ${list}, ends)`
    const places = 'arrayEnumerate(times)'
    const lists: Readonly<Record<Exclude<(typeof runColumns)[number], 'person_text'>, string>> = {
      finish: atEnd('times'),
      event_count: `arrayMap((last, first) -> toUInt64(last - first + 1), ${atEnd(places)}, ${atBegin(places)})`,
      ordinal: `arrayEnumerate(${atBegin('times')})`,
      // An event without an address leaves the person where they were.
      exit: `arrayMap(key -> intDiv(key, 2), ${atEnd('arrayFill((key, begin) -> key % 2 = 1 OR begin, keys, begins)')})`,
    }
    const wanted = Object.entries(lists).filter(([name]) => columns.has(name))
    const joined = [`${atBegin('times')} AS start`, ...wanted.map(([name, list]) => `${list} AS ${name}`)]
    const inHull = timeCondition('start', hull ? [hull] : [], 'milliseconds', parameters)
    return select(
      [...person, 'start', ...wanted.map(([name]) => name)],
      `${nested(select(marked, nested(ofPersons)))}\nARRAY JOIN\n  ${joined.join(',\n  ')}`,
      inHull === undefined ? [] : [inHull],
    )
  }

  /**
   * The runs with columns of one of their events.
   * @param own columns of the runs beside `person` and `start`
   * @param columns names, and those of the event
   */
  function withEvent(
    runs: string,
    own: readonly string[],
    sought: Sought,
    events: Rows,
    columns: readonly (readonly [string, string])[],
  ): string {
    const read = [...new Set([...sought.columns, ...columns.map(([, name]) => name)])]
    events.need(['person', 'time', ...read])
    const found = select(['person AS of_person', `${milliseconds} AS of_time`, ...read], events.relation())
    const kept = own.map((name) => `any(run.${name}) AS run_${name}`)
    const taken = columns.map(([as, name]) => `${sought.take(`event.${name}`)} AS event_${as}`)
    const joined = select(
      ['of_person', 'of_start', ...kept, ...taken],
      `${nested(found)} AS event\n` +
        `INNER JOIN ${nested(runs)} AS run ON event.of_person = run.person AND event.of_time = run.${sought.at}`,
      [],
      '\nGROUP BY event.of_person AS of_person, run.start AS of_start',
    )
    return select(
      [
        'of_person AS person',
        'of_start AS start',
        ...own.map((name) => `run_${name} AS ${name}`),
        ...columns.map(([as]) => `event_${as} AS ${as}`),
      ],
      nested(joined),
    )
  }

  function relation(): string {
    const late = filters.filter((filter) => !isOfPerson(filter)).map(conditionSql)
    const firsts = Object.entries(firstEventColumns).filter(([name]) => needed.has(name))
    const exits = Object.entries(lastEventColumns).filter(([name]) => needed.has(name))
    const columns = new Set(needed)
    if (exits.length > 0) columns.add('exit')
    if (needed.has('duration')) columns.add('finish')
    if (needed.has('is_new')) columns.add('ordinal')
    const own = runColumns.filter((name) => columns.has(name))
    let sql = runsSql(columns)
    if (firsts.length > 0) sql = withEvent(sql, own, firstEvent, eventsWithin(hull), firsts)
    if (exits.length > 0) {
      const known = [...own, ...firsts.map(([as]) => as)]
      sql = withEvent(sql, known, lastWithAddress, eventsOfSessions(), exits)
    }
    const shown = [...needed].sort().map((name) => {
      if (name === 'is_new') return `${isNewSql()} AS is_new`
      return name in sessionColumns ? `${sessionColumns[name]} AS ${name}` : name
    })
    const sessions = select(shown.length > 0 ? shown : ['1'], nested(sql))
    return nested(late.length > 0 ? select(['*'], nested(sessions), late) : sessions)
  }

  function conditionSql(filter: FilterTree<DimensionFilter>): string {
    return treeSql(filter, ({ dimension, operator, values, cohort }) => {
      if (!cohort) return conditionOn(dimensionSql(dimension), dimension, operator, values, parameters)
      needed.add('person')
      return personInCohort('person', cohort, { ...options, rowsOf })
    })
  }

  return {
    dimension: dimensionSql,
    need(columns) {
      for (const name of columns) needed.add(name)
    },
    relation,
  }
}
