import { events } from '../../members/events.ts'
import type { Dimension } from '../../members/member.ts'
import { firstEventColumns, sessionColumns } from '../../members/sessions.ts'
import { type DimensionFilter, type FilterTree, leavesOf } from '../query.ts'
import { hullOf, type Interval } from '../time/interval.ts'
import { day, hour, minute } from '../time/zone.ts'
import { personInCohort } from './compile-cohorts.ts'
import { conditionOn, timeCondition, treeSql } from './compile-conditions.ts'
import { devicesOfPeople } from './compile-people.ts'
import { type Rows, type RowsOptions, rowsOf } from './compile-rows.ts'
import { nested, select } from './sql-text.ts'

/** A run of one person's events ends with a gap longer than this. */
export const sessionGap = 30 * minute

const milliseconds = 'toUnixTimestamp64Milli(time)'

/** Earlier than every time by more than the gap. */
const beforeAll = -(2 ** 53)

/**
 * What an event is sorted by: its time, and among events of one millisecond a number that comes from the event itself,
 * so that the order in which they arrived does not matter.
 */
const orderKey = `bitShiftLeft(toUInt128(${milliseconds}), 64) + cityHash64(event_uuid, event_text)`

/** Whether a filter asks about the person alone: it takes whole persons, so it can stand before the runs are made. */
function isOfPerson(filter: FilterTree<DimensionFilter>): boolean {
  return leavesOf([filter]).every(({ dimension }) =>
    dimension.columns.every((name) => name === 'person' || name === 'person_text'),
  )
}

/** Sessions as rows of a source (docs/statistics.md, sessions): filters choose among them and cut no events out. */
export function sessionRowsOf(options: Omit<RowsOptions, 'source'>): Rows {
  const { filters, times, parameters } = options
  const needed = new Set<string>()
  const hull = hullOf(times)
  const ofPersons = filters.filter(isOfPerson)
  const late = filters
    .filter((filter) => !isOfPerson(filter))
    .map((filter) =>
      treeSql(filter, ({ dimension, operator, values, cohort }) => {
        if (!cohort) return conditionOn(dimensionSql(dimension), dimension, operator, values, parameters)
        needed.add('person')
        return personInCohort('person', cohort, { ...options, rowsOf })
      }),
    )

  function dimensionSql(dimension: Dimension): string {
    for (const name of dimension.columns) needed.add(name)
    return dimension.sql
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

  function relation(): string {
    const rows = eventsOfSessions()
    const firsts = Object.entries(firstEventColumns).filter(([name]) => needed.has(name))
    const exits = needed.has('exit_url')
    const byKey = firsts.length > 0 || exits
    const read = [...new Set([...firsts.map(([, name]) => name), ...(exits ? ['url'] : [])])]
    const withText = needed.has('person_text')
    rows.need(['time', 'person', ...(withText ? ['person_text'] : []), ...read])
    if (byKey) rows.need(['event_uuid', 'event_text'])
    const kept = ['person', ...(withText ? ['person_text'] : [])]

    const listed = [
      'person',
      ...(withText ? ['any(person_text) AS person_text'] : []),
      `groupArray(${byKey ? orderKey : milliseconds}) AS keys`,
      ...read.map((name) => `groupArray(${name}) AS all_${name}`),
    ]
    const ofPersons = select(listed, rows.relation(), [], '\nGROUP BY person')
    const sorted = [
      ...kept,
      byKey
        ? 'arrayMap(key -> toInt64(bitShiftRight(key, 64)), arraySort(keys)) AS times'
        : 'arraySort(keys) AS times',
      ...read.map((name) => `arraySort((value, key) -> key, all_${name}, keys) AS sorted_${name}`),
      `arrayMap((time, previous) -> time - previous > ${sessionGap}, times, arrayShiftRight(times, 1, ${beforeAll})) AS begins`,
      // The last event of a run stands before the first of the next.
      'arrayRotateLeft(begins, 1) AS ends',
    ]
    const atBegin = (list: string) => `arrayFilter((value, begin) -> begin, ${list}, begins)`
    const atEnd = (list: string) => `arrayFilter((value, end) -> end, ${list}, ends)`
    const places = 'arrayEnumerate(times)'
    const joined = [
      `${atBegin('times')} AS start`,
      ...(needed.has('duration') ? [`${atEnd('times')} AS finish`] : []),
      ...(needed.has('event_count')
        ? [
            `arrayMap((last, first) -> toUInt64(last - first + 1), ${atEnd(places)}, ${atBegin(places)}) AS event_count`,
          ]
        : []),
      ...(needed.has('is_new') ? [`arrayEnumerate(${atBegin('times')}) AS ordinal`] : []),
      ...firsts.map(([column, name]) => `${atBegin(`sorted_${name}`)} AS ${column}`),
      // An event without an address leaves the session where it was.
      ...(exits
        ? [`${atEnd("arrayFill((url, begin) -> url != '' OR begin, sorted_url, begins)")} AS exit_url`]
        : []),
    ]
    const shown = [...needed].sort().map((name) => {
      if (name === 'is_new') return `${isNewSql()} AS is_new`
      return name in sessionColumns ? `${sessionColumns[name]} AS ${name}` : name
    })
    const inHull = timeCondition('start', hull ? [hull] : [], 'milliseconds', parameters)
    const sessions = select(
      shown.length > 0 ? shown : ['1'],
      `${nested(select(sorted, nested(ofPersons)))}\nARRAY JOIN\n  ${joined.join(',\n  ')}`,
      inHull === undefined ? [] : [inHull],
    )
    return nested(late.length > 0 ? select(['*'], nested(sessions), late) : sessions)
  }

  return {
    dimension: dimensionSql,
    need(columns) {
      for (const name of columns) needed.add(name)
    },
    relation,
  }
}
