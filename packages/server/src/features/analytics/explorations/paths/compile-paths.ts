import { sources } from '../../catalogue/catalogue.ts'
import type { CompiledQuery, CompileSettings, ResultColumn } from '../../query/compile/compile.ts'
import { timeCondition } from '../../query/compile/compile-conditions.ts'
import { rowsOf } from '../../query/compile/compile-rows.ts'
import { sessionGap } from '../../query/compile/compile-sessions.ts'
import { shownNameOf } from '../../query/compile/event-name.ts'
import { createParameters, nested, select } from '../../query/compile/parameters.ts'
import type { StatementContext } from '../../query/compile/rows.ts'
import { day } from '../../query/time/zone.ts'
import { eventName, eventPath } from '../selection.ts'
import type { ParsedPaths } from './parse-paths.ts'

/** How long after the range the events of its sessions are read: no session goes on for a day without a pause. */
const tail = day

const columns: readonly ResultColumn[] = [
  { key: 'depth', form: 'number' },
  { key: 'kind', form: 'text' },
  { key: 'from', form: 'text' },
  { key: 'to', form: 'text' },
  { key: 'sessions', form: 'number' },
  { key: 'people', form: 'number' },
]

interface Context extends StatementContext {
  readonly paths: ParsedPaths
}

/**
 * One statement. From inside: the events of each person in order, their sessions, the steps of each session, its
 * edges, and the edges of each depth by their number. The empty text is no step: it stands for the start or the end of
 * a session.
 */
export function compilePaths(
  paths: ParsedPaths,
  companyId: string,
  { eventAliases, visibleWorkflows }: Pick<CompileSettings, 'eventAliases' | 'visibleWorkflows'>,
): CompiledQuery {
  const parameters = createParameters()
  const context = { paths, companyId, eventAliases, visibleWorkflows, parameters }
  const limit = paths.depth * (paths.edges + 1)
  const ranked = select(
    [
      'depth',
      'source',
      'target',
      'persons',
      `row_number() OVER (PARTITION BY depth ORDER BY length(persons) DESC, source, target) > ${paths.edges} AS is_rest`,
    ],
    nested(edgesSql(context)),
  )
  const sql = select(
    [
      'depth',
      "multiIf(is_rest, 'rest', shown_source = '', 'start', shown_target = '', 'end', 'step') AS kind",
      "nullIf(if(is_rest, '', source) AS shown_source, '')",
      "nullIf(if(is_rest, '', target) AS shown_target, '')",
      'sum(length(persons)) AS sessions',
      'uniqExactArray(persons)',
    ],
    nested(ranked),
    [],
    '\nGROUP BY depth, is_rest, shown_source, shown_target' +
      `\nORDER BY depth, is_rest, sessions DESC, shown_source, shown_target\nLIMIT ${limit + 1}`,
  )
  return Object.freeze({
    ...parameters.statement(sql),
    columns,
    rangeLabels: [],
    limit,
  })
}

/** One row for each edge of each depth, with the person of each session that has it. */
function edgesSql(context: Context): string {
  const { anchor, depth } = context.paths
  const [source, target] = anchor.at === 'to' ? ['depth + 1', 'depth'] : ['depth', 'depth + 1']
  return select(
    ['depth', `places[${source}] AS source`, `places[${target}] AS target`, 'groupArray(person) AS persons'],
    `${nested(placesSql(context))}\nARRAY JOIN range(1, least(${depth + 1}, length(places))) AS depth`,
    [],
    '\nGROUP BY depth, source, target',
  )
}

/** One row for each session that counts: its `places` from the anchor on, with the empty one at its ends. */
function placesSql(context: Context): string {
  const { anchor, by } = context.paths
  const steps = nested(stepsSql(context))
  if (anchor.at === 'start') {
    return select(['person', "arrayConcat([''], steps, ['']) AS places"], steps, ['notEmpty(steps)'])
  }
  const step = by === 'event' ? shownNameOf(anchor.step, context.eventAliases) : anchor.step
  const at = `indexOf(steps, ${context.parameters.bind('String', step)})`
  const visited =
    anchor.at === 'from' ? 'arraySlice(steps, anchor)' : 'arrayReverse(arraySlice(steps, 1, anchor))'
  return select(['person', `${at} AS anchor`, `arrayConcat(${visited}, ['']) AS places`], steps, [
    'anchor > 0',
  ])
}

/** One row for each session that starts in the range: its `steps` in order. */
function stepsSql(context: Context): string {
  const { range, isCollapsed } = context.paths
  const steps = "arrayMap(event -> event.2, arrayFilter(event -> event.2 != '', session))"
  const gaps = 'arrayDifference(arrayMap(event -> event.1, events))'
  const inRange = timeCondition('session[1].1', [range], 'milliseconds', context.parameters)
  return select(
    ['person', `${isCollapsed ? `arrayCompact(${steps})` : steps} AS steps`],
    `${nested(personsSql(context))}\nARRAY JOIN arraySplit((event, gap) -> gap > ${sessionGap}, events, ${gaps}) AS session`,
    inRange === undefined ? [] : [inRange],
  )
}

/** One row for each person: `events` as (time, step) in order, equal times by the bytes of the step. */
function personsSql({ paths, ...context }: Context): string {
  const { by, filters, range } = paths
  const times = range.from < range.to ? [{ from: range.from - sessionGap, to: range.to + tail }] : []
  const rows = rowsOf({ ...context, source: sources.events, filters, times })
  rows.need(['time', 'person'])
  const step = by === 'event' ? rows.dimension(eventName) : `ifNull(${rows.dimension(eventPath)}, '')`
  return select(
    ['person', `arraySort(groupArray((toUnixTimestamp64Milli(time), ${step}))) AS events`],
    rows.relation(),
    [],
    '\nGROUP BY person',
  )
}
