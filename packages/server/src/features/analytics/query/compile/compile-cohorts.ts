import { events } from '../../catalogue/events.ts'
import { identityColumns } from '../../catalogue/identity-columns.ts'
import type { CohortCondition } from '../query.ts'
import { complementOf, hullOf, type TimeSet } from '../time/interval.ts'
import { timeCondition } from './compile-conditions.ts'
import { bindingsSql } from './compile-stored.ts'
import { nested, select } from './parameters.ts'
import type { Rows, RowsOptions, StatementContext } from './rows.ts'

export interface CohortContext extends StatementContext {
  /** Given, since rows themselves are filtered by cohorts. */
  readonly rowsOf: (options: RowsOptions) => Rows
  /** The only persons who matter: what is stored of others is not read. */
  readonly only?: {
    /** A relation of their numbers, with those of all devices that are bound to them. */
    readonly numbers: string
    /** Conditions on an event's own columns that all events of these persons pass. */
    readonly events: readonly string[]
  }
}

/** The condition that the person of a number belongs to a cohort. */
export function personInCohort(person: string, cohort: CohortCondition, context: CohortContext): string {
  const { people, others } = peopleOf(cohort, context)
  return `${person} ${others ? 'NOT IN' : 'IN'} ${listed(people)}`
}

/**
 * The condition that a stored event is of a person of a cohort. It needs the event's own columns alone, so that it
 * comes before bindings are joined.
 */
export function eventInCohort(cohort: CohortCondition, context: CohortContext): string {
  const { people, others } = peopleOf(cohort, context)
  const condition = `if(client != 0, client IN ${listed(people)}, device IN ${listed(devicesOf(people, context))})`
  return others ? `NOT ${condition}` : condition
}

function listed(scalar: string): string {
  return `(SELECT arrayJoin(${scalar}))`
}

/**
 * The numbers of a cohort's persons, or of all `others`: where a person of whom nothing is known belongs to the cohort,
 * those are fewer. The scalar is computed once for the statement, however many of its parts use it.
 */
function peopleOf(cohort: CohortCondition, context: CohortContext): { people: string; others: boolean } {
  const { companyId, parameters, only } = context
  const parts: string[] = []
  const { sql, ofUnknown } = conditionSql(cohort, context, parts)
  if (parts.length === 0) parts.push(`${partColumns(-1, 'toInt64(0)', 'toUInt64(0)', 'toUInt64(0)')} WHERE 0`)
  const ofCompany = `company = ${parameters.bind('String', companyId)}`
  const bindings = bindingsSql(new Set(['bound'] as const), [
    ofCompany,
    ...(only ? [`device IN ${only.numbers}`] : []),
  ])
  const person = `${identityColumns.person?.sql} AS person`
  const people = select(
    [person],
    `${nested(parts.join('\nUNION ALL\n'))} AS part\n` +
      `LEFT ANY JOIN ${nested(bindings)} AS identity ON part.device = identity.of_device`,
    [],
    `\nGROUP BY person\nHAVING ${ofUnknown ? `NOT (${sql})` : sql}`,
  )
  const scalar = parameters.define(select(['groupArray(person)'], nested(people)))
  return { people: scalar, others: ofUnknown }
}

/** Devices whose events without a `clientId` are of these persons: those bound to them, and their own if unbound. */
function devicesOf(people: string, { companyId, parameters }: CohortContext): string {
  const ofCompany = `company = ${parameters.bind('String', companyId)}`
  const bindings = nested(bindingsSql(new Set(['bound'] as const), [ofCompany]))
  const bound = select(['of_device AS device'], bindings, [`bound IN ${listed(people)}`])
  const known = nested(select(['device'], 'identities', [ofCompany]))
  const own = select(['person AS device'], nested(`SELECT arrayJoin(${people}) AS person`), [
    `person NOT IN ${known}`,
  ])
  return parameters.define(select(['groupArray(device)'], nested(`${bound}\nUNION ALL\n${own}`)))
}

interface ConditionSql {
  /** Over the parts of one person. */
  readonly sql: string
  /** Whether it holds for a person who is in no part. */
  readonly ofUnknown: boolean
}

/** Writes the condition on a person, and adds the parts that it reads: what events tell about clients and devices. */
function conditionSql(condition: CohortCondition, context: CohortContext, parts: string[]): ConditionSql {
  switch (condition.kind) {
    case 'and':
    case 'or': {
      const all = condition.of.map((each) => conditionSql(each, context, parts))
      const isAnd = condition.kind === 'and'
      return {
        sql: all.map(({ sql }) => `(${sql})`).join(isAnd ? ' AND ' : ' OR '),
        ofUnknown: isAnd ? all.every((each) => each.ofUnknown) : all.some((each) => each.ofUnknown),
      }
    }
    case 'not': {
      const { sql, ofUnknown } = conditionSql(condition.of, context, parts)
      return { sql: `NOT (${sql})`, ofUnknown: !ofUnknown }
    }
    case 'list': {
      const part = parts.length
      const { companyId, parameters, only } = context
      const list = select(['person'], 'cohort_persons', [
        `company = ${parameters.bind('String', companyId)}`,
        `cohort = ${parameters.bind('String', condition.cohortId)}`,
        `list = ${parameters.bind('String', condition.listId)}`,
        ...(only ? [`person IN ${only.numbers}`] : []),
      ])
      // An identifier is a client's, or a device's, which stands for the person to whom it is bound.
      const both = 'arrayJoin([(person, toUInt64(0)), (toUInt64(0), person)]) AS of_person'
      parts.push(
        `${partColumns(part, 'toInt64(1)', 'of_person.1', 'of_person.2')} FROM ${nested(`SELECT ${both} FROM ${nested(list)}`)}`,
      )
      return { sql: `countIf(part = ${part}) > 0`, ofUnknown: false }
    }
    case 'events': {
      const part = parts.length
      const { filters, times, atLeast, atMost } = condition
      parts.push(eventsPart(part, 'count()', filters, times, context))
      const bind = (value: number) => context.parameters.bind('Int64', value)
      const count = `sumIf(n, part = ${part})`
      const upTo = atMost === undefined ? '' : ` AND ${count} <= ${bind(atMost)}`
      return { sql: `${count} >= ${bind(atLeast)}${upTo}`, ofUnknown: false }
    }
    case 'seen':
      return seenSql(condition.end, condition.times, context, parts)
    default:
      throw new Error(`no such condition: ${condition satisfies never}`)
  }
}

/**
 * The first or the last event lies within the times. Where these reach to the far end of history, the complement is
 * asked for instead: then only the events up to its end, or from its begin on, are read.
 */
function seenSql(
  end: 'first' | 'last',
  times: TimeSet,
  context: CohortContext,
  parts: string[],
): ConditionSql {
  const hull = hullOf(times)
  const isOpen = hull !== undefined && !Number.isFinite(end === 'first' ? hull.to : hull.from)
  if (isOpen) {
    const { sql } = seenSql(end, complementOf(times), context, parts)
    return { sql: `NOT (${sql})`, ofUnknown: true }
  }
  if (!hull) return { sql: '0', ofUnknown: false }
  const part = parts.length
  const read = end === 'first' ? { from: -Infinity, to: hull.to } : { from: hull.from, to: Infinity }
  const extreme = end === 'first' ? 'min' : 'max'
  parts.push(eventsPart(part, `toUnixTimestamp64Milli(${extreme}(time))`, [], [read], context))
  const seen = timeCondition(`${extreme}If(n, part = ${part})`, times, 'milliseconds', context.parameters)
  return { sql: `countIf(part = ${part}) > 0 AND ${seen}`, ofUnknown: false }
}

/** The columns of a part: which it is, a number, and the client (0 without) or else the device that it is about. */
function partColumns(part: number, n: string, client: string, device: string): string {
  return `SELECT ${client} AS client, ${device} AS device, ${part} AS part, ${n} AS n`
}

function eventsPart(
  part: number,
  aggregate: string,
  filters: RowsOptions['filters'],
  times: TimeSet,
  { companyId, eventAliases, visibleWorkflows, parameters, rowsOf, only }: CohortContext,
): string {
  const conditions = only?.events ?? []
  const of = { companyId, eventAliases, visibleWorkflows, parameters }
  const rows = rowsOf({ source: events, filters, times, conditions, ...of })
  rows.need(['client', 'device', 'time'])
  // The relation lies in the hull; separate intervals are distinguished here.
  const inside = times.length > 1 ? timeCondition('time', times, 'time', parameters) : undefined
  return select(
    ['client', 'device', `${part} AS part`, `toInt64(${aggregate}) AS n`],
    rows.relation(),
    inside === undefined ? [] : [inside],
    '\nGROUP BY client, device',
  )
}
