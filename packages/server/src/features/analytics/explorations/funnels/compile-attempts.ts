import { events as eventsSource } from '../../catalogue/events.ts'
import type { Dimension } from '../../catalogue/member.ts'
import { timeCondition } from '../../query/compile/compile-conditions.ts'
import type { Buckets } from '../../query/compile/compile-groupings.ts'
import { rowsOf } from '../../query/compile/compile-rows.ts'
import { sessionGap } from '../../query/compile/compile-sessions.ts'
import { nested, select } from '../../query/compile/parameters.ts'
import type { StatementContext } from '../../query/compile/rows.ts'
import { type DimensionFilter, type FilterTree, leavesOf } from '../../query/query.ts'
import { unionOf } from '../../query/time/interval.ts'
import { namesOfAny } from '../selection.ts'
import type { Funnel } from './parse-funnel.ts'

export interface AttemptsContext extends StatementContext {
  readonly funnel: Funnel
  readonly buckets: Buckets
}

/**
 * An event is one number here, so that sorting a person's events is sorting numbers: 48 bits of milliseconds, 4 of the
 * first step that it meets, counted from 0, and 12 with one bit for each step that it meets.
 */
const stepBits = 12
const timeShift = 16
const atOf = (event: string): string => `toInt64(bitShiftRight(${event}, ${timeShift}))`
const meets = (event: string, step: number): string => `bitTest(${event}, ${step - 1})`
const meetsAny = (event: string): string => `bitAnd(${event}, ${2 ** stepBits - 1}) != 0`

/** The time of a step that was not reached. */
const never = 'toInt64(-1)'

/**
 * The attempt of each person, or session, that counts: one row each, with a trend one for each bucket, for each of
 * several ranges. Its columns are `range`, the index of the range where there are several, `g0` of a trend, `value` of
 * a breakdown, `level`, the steps reached, and `times`, when each of them was, in milliseconds.
 */
export function attemptsSql(context: AttemptsContext): string {
  const { order, trend } = context.funnel
  const candidates = order === 'any' ? anyOrderSql(context) : sequencesSql(context)
  return trend ? bestOfBucketsSql(candidates, context) : bestSql(candidates, context)
}

/** The steps of a funnel by their numbers, from 1. */
export function stepNumbers({ steps }: Funnel): number[] {
  return steps.map((_, i) => i + 1)
}

/** Whether rows say to which of several ranges they belong. */
export function isCompared({ ranges }: Funnel): boolean {
  return ranges.some(({ label }) => label !== undefined)
}

function rangeColumns(funnel: Funnel): string[] {
  return isCompared(funnel) ? ['range'] : []
}

/** Columns that tell the rows of persons, or sessions, apart. */
function actorColumns({ per, trend }: Funnel): string[] {
  if (!trend) return []
  return per === 'session' ? ['person', 'session'] : ['person']
}

function shownColumns({ breakdown }: Funnel): string[] {
  return breakdown ? ['shown'] : []
}

/** Whether a filter leaves whole persons, so that it may stand in front of their sessions. */
function isOfPerson(filter: FilterTree<DimensionFilter>): boolean {
  return leavesOf([filter]).every(
    ({ dimension }) => dimension.filterOnly || dimension.columns.includes('person_text'),
  )
}

/** Filters that every event of the funnel passes, on its name too where all steps tell names. */
function commonFilters({ steps, filters, per }: Funnel): readonly FilterTree<DimensionFilter>[] {
  if (per === 'session') return filters.filter(isOfPerson)
  return [...filters, ...namesOfAny(steps)]
}

/**
 * The events of each person, or session, that are of a step, in order, as `events`, and the values of a breakdown as
 * `shown`. Events after a range count within the window of an attempt that begins in it.
 */
function eventsSql({ funnel, ...context }: AttemptsContext): string {
  const { parameters } = context
  const { breakdown, per, ranges, window } = funnel
  const times = unionOf(ranges.map(({ interval: { from, to } }) => ({ from, to: to + window })))
  // The rows lie in the hull; ranges far apart are distinguished here.
  const apart = times.length > 1 ? timeCondition('time', times, 'time', parameters) : undefined
  const rows = rowsOf({
    ...context,
    source: eventsSource,
    filters: commonFilters(funnel),
    times,
    conditions: apart === undefined ? [] : [apart],
  })
  rows.need(['time', 'person'])
  const further = per === 'session' ? funnel.filters : []
  // One identifier of an event has to pass all filters on items.
  const ofItems = further.filter((filter) => leavesOf([filter]).some(({ dimension }) => dimension.perItem))
  const ofEvents = further.filter((filter) => !ofItems.includes(filter))
  const steps = funnel.steps.map((step, i) => `if(${rows.condition([...ofItems, ...step])}, ${2 ** i}, 0)`)
  const sum = steps.join(' + ')
  const met = ofEvents.length > 0 ? `if(${rows.condition(ofEvents)}, ${sum}, 0)` : sum
  const value = breakdown ? [`${valueSql(breakdown, rows.dimension(breakdown))} AS value`] : []
  const read = select(
    ['person', 'toUInt64(toUnixTimestamp64Milli(time)) AS at', `toUInt16(${met}) AS met`, ...value],
    rows.relation(),
  )
  const first = 'bitCount(bitAnd(bitNot(met), met - 1))'
  const event = `bitShiftLeft(at, ${timeShift}) + bitShiftLeft(toUInt64(${first}), ${stepBits}) + met`
  const keyed = select(
    [
      'person',
      `${per === 'session' ? `if(met = 0, bitShiftLeft(at, ${timeShift}), ${event})` : event} AS event`,
      ...(breakdown ? ['value'] : []),
    ],
    nested(read),
    per === 'session' ? [] : ['met != 0'],
  )
  const grouped = select(
    ['person', `arraySort(groupArray(${breakdown ? '(event, value)' : 'event'})) AS sorted`],
    nested(keyed),
    [],
    '\nGROUP BY person',
  )
  // Of events that are equal in time and steps the least value stands for all: a strict sequence may begin with any.
  const leastOfEqual = 'arrayFill((v, e, before) -> e != before, values, events, arrayShiftRight(events, 1))'
  const ofPeople = breakdown
    ? select(
        [
          'person',
          'arrayMap(e -> e.1, sorted) AS events',
          'arrayMap(e -> e.2, sorted) AS values',
          `${leastOfEqual} AS shown`,
        ],
        nested(grouped),
      )
    : select(['person', 'sorted AS events'], nested(grouped))
  const ofActors = per === 'session' ? sessionsSql(funnel, ofPeople) : ofPeople
  return select(['*'], nested(ofActors), [
    funnel.order === 'any' ? 'notEmpty(events)' : `arrayExists(e -> ${meets('e', 1)}, events)`,
  ])
}

function valueSql({ type }: Dimension, sql: string): string {
  return `CAST(${sql}, '${type === 'boolean' ? 'Nullable(Bool)' : 'Nullable(String)'}')`
}

/** The events of each session that are of a step. All events of a person, of a step or not, make its sessions. */
function sessionsSql(funnel: Funnel, ofPeople: string): string {
  const gap = (e: string, previous: string) => `${atOf(e)} - ${atOf(previous)} > ${sessionGap}`
  const split = (array: string) =>
    `arraySplit((x, e, p) -> ${gap('e', 'p')}, ${array}, events, arrayShiftRight(events, 1, events[1]))`
  const shown = shownColumns(funnel)
  const joined = select(
    ['person', 'session', 'run', ...shown.map((name) => `${name}_run`)],
    `${nested(ofPeople)}\nARRAY JOIN ${[
      `${split('events')} AS run`,
      ...shown.map((name) => `${split(name)} AS ${name}_run`),
      `arrayEnumerate(${split('events')}) AS session`,
    ].join(', ')}`,
  )
  return select(
    [
      'person',
      'session',
      `arrayFilter(e -> ${meetsAny('e')}, run) AS events`,
      ...shown.map((name) => `arrayFilter((x, e) -> ${meetsAny('e')}, ${name}_run, run) AS ${name}`),
    ],
    nested(joined),
  )
}

/**
 * For each event, as `attempts`, the times of the sequence that begins with it: each step is the first event after the
 * one before that meets it, in a strict funnel the very next one. Made from the last step back, so that each is one
 * pass over the events. Its level is in `levels`; 0 for what begins no attempt in the range.
 */
function sequencesSql(context: AttemptsContext): string {
  const { funnel } = context
  const numbers = stepNumbers(funnel)
  const last = numbers.length
  const kept = [...actorColumns(funnel), ...shownColumns(funnel)]
  const unreached = (step: number) =>
    `tuple(${numbers
      .slice(step - 1)
      .map(() => never)
      .join(', ')})`
  let sql = select(
    [
      ...kept,
      'events',
      `arrayMap(e -> tuple(if(${meets('e', last)}, ${atOf('e')}, ${never})), events) AS chains${last}`,
    ],
    nested(eventsSql(context)),
  )
  for (let step = last - 1; step >= 1; step--) {
    const following =
      funnel.order === 'strict' ? `chains${step + 1}` : `arrayReverseFill(c -> c.1 >= 0, chains${step + 1})`
    const times = numbers.slice(step).map((_, i) => `n.${i + 1}`)
    const chain = `if(${meets('e', step)}, tuple(${[atOf('e'), ...times].join(', ')}), ${unreached(step)})`
    const shifted = `arrayShiftLeft(${following}, 1, ${unreached(step + 1)})`
    sql = select(
      [...kept, 'events', `arrayMap((e, n) -> ${chain}, events, ${shifted}) AS chains${step}`],
      nested(sql),
    )
  }
  const reached = numbers
    .slice(1)
    .map((step) => ` + (c.${step} >= 0 AND c.${step} - c.1 <= ${windowOf(context)})`)
  const { relation, inRange } = inRangesOf(sql, context)
  return select(
    [
      ...rangeColumns(funnel),
      ...kept,
      `arrayMap(c -> [${numbers.map((step) => `c.${step}`).join(', ')}], chains1) AS attempts`,
      `arrayMap(c -> if(c.1 >= 0 AND ${inRange('c.1')}, 1${reached.join('')}, 0), chains1) AS levels`,
    ],
    relation,
  )
}

/** Events have times that 48 bits hold, so that these bounds leave nothing out. */
const [earliest, latest] = [-1, 2 ** 48]

/** The relation once for each range, with its index as `range` where there are several, and how a time lies in it. */
function inRangesOf(
  sql: string,
  { funnel, parameters }: AttemptsContext,
): { readonly relation: string; readonly inRange: (time: string) => string } {
  const froms = funnel.ranges.map(({ interval }) => Math.max(interval.from, earliest))
  const tos = funnel.ranges.map(({ interval }) => Math.min(interval.to, latest))
  if (!isCompared(funnel)) {
    const [from, to] = [froms[0], tos[0]].map((bound) => parameters.bind('Int64', bound ?? earliest))
    return { relation: nested(sql), inRange: (time) => `${time} >= ${from} AND ${time} < ${to}` }
  }
  const [begins, ends] = [froms, tos].map((bounds) => parameters.bind('Array(Int64)', bounds))
  return {
    relation: `${nested(sql)}\nARRAY JOIN ${rangeIndexes(funnel)} AS range, ${begins} AS begins, ${ends} AS ends`,
    inRange: (time) => `${time} >= begins AND ${time} < ends`,
  }
}

/** The indexes of the ranges, as an array. */
export function rangeIndexes({ ranges }: Funnel): string {
  return `[${ranges.map((_, i) => i).join(', ')}]`
}

function windowOf({ funnel, parameters }: AttemptsContext): string {
  return parameters.bind('Int64', funnel.window)
}

/** For each event, as `attempts`, when the steps were done that were within the window from it, in order. */
function anyOrderSql(context: AttemptsContext): string {
  const { funnel } = context
  const numbers = stepNumbers(funnel)
  const kept = [...actorColumns(funnel), ...shownColumns(funnel)]
  const next = numbers.map(
    (step) =>
      `arrayReverseFill(t -> t >= 0, arrayMap(e -> if(${meets('e', step)}, ${atOf('e')}, ${never}), events)) AS next${step}`,
  )
  const nexts = select([...kept, 'events', ...next], nested(eventsSql(context)))
  const times = numbers.map((step) => `n${step}`)
  const done = `arraySort(arrayFilter(t -> t >= 0 AND t - ${atOf('e')} <= ${windowOf(context)}, [${times.join(', ')}]))`
  const chains = select(
    [
      ...kept,
      'events',
      `arrayMap((e, ${times.join(', ')}) -> ${done}, events, ${numbers.map((step) => `next${step}`).join(', ')}) AS attempts`,
    ],
    nested(nexts),
  )
  const { relation, inRange } = inRangesOf(chains, context)
  return select(
    [
      ...rangeColumns(funnel),
      ...kept,
      'attempts',
      `arrayMap((e, a) -> if(${inRange(atOf('e'))}, toUInt8(length(a)), 0), events, attempts) AS levels`,
    ],
    relation,
  )
}

/** Of each person, or session, the attempt that gets furthest, of equal ones the earliest. */
function bestSql(candidates: string, { funnel }: AttemptsContext): string {
  const place = 'indexOf(levels, level)'
  const columns = [...rangeColumns(funnel), 'arrayMax(levels) AS level', `attempts[${place}] AS times`]
  if (funnel.breakdown) columns.push(`shown[${place}] AS value`)
  return select(columns, nested(candidates), ['level > 0'])
}

/** The same for each bucket of time in which an attempt begins. */
function bestOfBucketsSql(candidates: string, { funnel, buckets, parameters }: AttemptsContext): string {
  const { breakdown, trend } = funnel
  if (!trend) throw new Error('a trend has buckets')
  const actor = [...rangeColumns(funnel), ...actorColumns(funnel)]
  const all = ['attempts AS attempt', 'levels AS reached', 'arrayEnumerate(levels) AS place']
  if (breakdown) all.push('shown AS value')
  const bucket = buckets.sql(trend, "fromUnixTimestamp64Milli(attempt[1], 'UTC')", parameters)
  const attempts = select(
    [...actor, `${bucket} AS g0`, 'attempt', 'reached', 'place', ...(breakdown ? ['value'] : [])],
    `${nested(candidates)}\nARRAY JOIN ${all.join(', ')}`,
    ['reached > 0'],
  )
  const best = `argMax(${breakdown ? 'tuple(attempt, value)' : 'tuple(attempt)'}, (reached, -toInt64(place)))`
  const ofBuckets = select(
    [...rangeColumns(funnel), 'g0', 'max(reached) AS level', `${best} AS best`],
    nested(attempts),
    [],
    `\nGROUP BY ${[...actor, 'g0'].join(', ')}`,
  )
  return select(
    [...rangeColumns(funnel), 'g0', 'level', 'best.1 AS times', ...(breakdown ? ['best.2 AS value'] : [])],
    nested(ofBuckets),
  )
}
