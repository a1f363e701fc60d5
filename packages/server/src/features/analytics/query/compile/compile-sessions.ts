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

/**
 * What an event is known and sorted by, a UInt128: its time, then among events of one millisecond a hash of its
 * identity, so that the order in which they arrived does not matter; the last bit says whether it has an address.
 * Numbers are grouped several times faster than texts, which are looked up afterwards.
 */
const eventKey =
  `bitShiftLeft(toUInt128(${milliseconds}), 64) + ` +
  "bitOr(bitShiftLeft(cityHash64(datasource, event_uuid, event_text), 1), url != '')"

const keyColumns = ['time', 'datasource', 'event_uuid', 'event_text', 'url']

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
    const devices = devicesOfPeople(lasting, [ofCompany, later ?? '1'], ofCompany)
    return eventsWithin({ from, to: Infinity }, [`(${onDay} OR device IN ${nested(devices)})`])
  }

  /** Whether it is the person's first: no event lies before those that were read. */
  function isNewSql(): string {
    if (!hull || !Number.isFinite(hull.from)) return 'toBool(ordinal = 1)'
    const earlier = eventsWithin({ from: -Infinity, to: hull.from - sessionGap })
    return `toBool(ordinal = 1 AND person NOT IN ${personsOf(earlier)})`
  }

  /** The runs, one row each, with `start`, `person` and what else is asked for. */
  function runsSql(columns: ReadonlySet<string>): string {
    const rows = eventsOfSessions()
    const withText = columns.has('person_text')
    const byKey = columns.has('entry_key') || columns.has('exit_key')
    rows.need(['time', 'person', ...(withText ? ['person_text'] : []), ...(byKey ? keyColumns : [])])
    const person = ['person', ...(withText ? ['person_text'] : [])]
    const ofPersons = select(
      [
        'person',
        ...(withText ? ['any(person_text) AS person_text'] : []),
        `arraySort(groupArray(${byKey ? eventKey : milliseconds})) AS keys`,
      ],
      rows.relation(),
      [],
      '\nGROUP BY person',
    )
    const marked = [
      ...person,
      'keys',
      `${byKey ? 'arrayMap(key -> toInt64(bitShiftRight(key, 64)), keys)' : 'keys'} AS times`,
      `arrayMap((time, previous) -> time - previous > ${sessionGap}, times, arrayShiftRight(times, 1, ${beforeAll})) AS begins`,
      // The last event of a run stands before the first of the next.
      'arrayRotateLeft(begins, 1) AS ends',
    ]
    const atBegin = (list: string) => `arrayFilter((value, begin) -> begin, ${list}, begins)`
    const atEnd = (list: string) => `arrayFilter((value, end) -> end, ${list}, ends)`
    const places = 'arrayEnumerate(times)'
    const lists: Readonly<Record<string, string>> = {
      finish: atEnd('times'),
      event_count: `arrayMap((last, first) -> toUInt64(last - first + 1), ${atEnd(places)}, ${atBegin(places)})`,
      ordinal: `arrayEnumerate(${atBegin('times')})`,
      entry_key: atBegin('keys'),
      // An event without an address leaves the person where they were.
      exit_key: atEnd('arrayFill((key, begin) -> toBool(bitAnd(key, 1)) OR begin, keys, begins)'),
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

  /** The runs with columns of the event that their `key` names. */
  function withEvent(
    runs: string,
    key: string,
    events: Rows,
    columns: readonly (readonly [string, string])[],
  ): string {
    events.need([...keyColumns, ...columns.map(([, name]) => name)])
    const named = columns.map(([as, name]) => `${name} AS ${as}`)
    const found = select([`${eventKey} AS of_key`, ...named], events.relation())
    return select(
      [`* EXCEPT (of_key, ${key})`],
      `${nested(found)} AS event\nINNER ANY JOIN ${nested(runs)} AS run ON event.of_key = run.${key}`,
    )
  }

  function relation(): string {
    const late = filters.filter((filter) => !isOfPerson(filter)).map(conditionSql)
    const firsts = Object.entries(firstEventColumns).filter(([name]) => needed.has(name))
    const exits = Object.entries(lastEventColumns).filter(([name]) => needed.has(name))
    const columns = new Set(needed)
    if (firsts.length > 0) columns.add('entry_key')
    if (exits.length > 0) columns.add('exit_key')
    if (needed.has('duration')) columns.add('finish')
    if (needed.has('is_new')) columns.add('ordinal')
    let sql = runsSql(columns)
    if (firsts.length > 0) sql = withEvent(sql, 'entry_key', eventsWithin(hull), firsts)
    if (exits.length > 0) sql = withEvent(sql, 'exit_key', eventsOfSessions(), exits)
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
