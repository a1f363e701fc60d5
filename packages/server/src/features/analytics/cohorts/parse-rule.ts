import type { CohortRule, SeenWithin } from '@millrace/contract/resources/cohort.ts'
import type { DateRange } from '@millrace/contract/resources/query.ts'
import { cohort } from '../catalogue/catalogue.ts'
import { membersOfSelection, parseEventFilters, parseSelection } from '../explorations/selection.ts'
import { readDates } from '../query/parse/parse-time.ts'
import type { CohortCondition } from '../query/query.ts'
import { createQueryFaults, faultsBy, type QueryFaults } from '../query/query-faults.ts'
import { type Now, readMoment, readRange } from '../query/time/dates.ts'
import { always, intersectionOf, type TimeSet, unionOf } from '../query/time/interval.ts'

/** What a rule says; exactly one of them. */
const kinds = ['event', 'firstSeen', 'lastSeen', 'label', 'and', 'or', 'not'] as const
type Kind = (typeof kinds)[number]

/** Which kinds the other fields may stand beside. */
const companions: Readonly<Record<'atLeast' | 'atMost' | 'dateRange', readonly Kind[]>> = {
  atLeast: ['event'],
  atMost: ['event'],
  dateRange: ['event', 'label'],
}

/** Text of a rule, as JSON: it is sent to the engine with each query that names the cohort. */
const maxRuleText = 100_000

/**
 * Resolves the names of a rule whose shape is checked, and reads its dates (docs/statistics.md, Cohorts).
 * @param path where the rule stands, for messages
 * @throws {DomainError} `unknownMember`, `invalidQuery` or `tooComplex`, naming every fault
 */
export function parseCohortRule(rule: CohortRule, now: Now, path = 'rule'): CohortCondition {
  const faults = createQueryFaults()
  if (JSON.stringify(rule).length > maxRuleText) {
    faults.add('tooComplex', path, `A rule may have ${maxRuleText} characters as JSON`)
    faults.throwAny()
  }
  const condition = readRule(rule, path, { instant: now.instant, zone: now.zone }, faults)
  faults.throwAny()
  // A fault is thrown wherever no condition is returned.
  return condition ?? { kind: 'or', of: [] }
}

function readRule(
  rule: CohortRule,
  path: string,
  now: Now,
  faults: QueryFaults,
): CohortCondition | undefined {
  const kind = kindOf(rule, path, faults)
  switch (kind) {
    case undefined:
      return undefined
    case 'and':
    case 'or': {
      const of = (rule[kind] ?? []).map((each, i) => readRule(each, `${path}.${kind}.${i}`, now, faults))
      return { kind, of: of.flatMap((each) => each ?? []) }
    }
    case 'not': {
      const of = rule.not && readRule(rule.not, `${path}.not`, now, faults)
      return of && { kind, of }
    }
    case 'event':
      return readEvent(rule, path, now, faults)
    case 'label':
      return readLabel(rule, path, now, faults)
    case 'firstSeen':
    case 'lastSeen': {
      const times = readSeen(rule[kind] ?? {}, `${path}.${kind}`, now, faults)
      return { kind: 'seen', end: kind === 'firstSeen' ? 'first' : 'last', times }
    }
    default:
      throw new Error(`no such rule: ${kind satisfies never}`)
  }
}

function kindOf(rule: CohortRule, path: string, faults: QueryFaults): Kind | undefined {
  const given = kinds.filter((kind) => rule[kind] !== undefined)
  const [kind] = given
  if (kind === undefined || given.length > 1) {
    const found = kind === undefined ? 'none of them' : given.join(' and ')
    faults.invalid(
      path,
      `a rule has one of ${kinds.join(', ')}, and this one has ${found}` +
        (given.length > 1 ? ': join them by and, or by or' : ''),
    )
    return undefined
  }
  for (const [name, beside] of Object.entries(companions)) {
    const value = rule[name as keyof typeof companions]
    if (value === undefined || value === null || beside.includes(kind)) continue
    faults.invalid(`${path}.${name}`, `stands beside ${beside.join(' or ')} only, not beside ${kind}`)
  }
  return kind
}

function readTimes(
  range: DateRange | null | undefined,
  path: string,
  now: Now,
  faults: QueryFaults,
): TimeSet {
  if (range === undefined || range === null) return always
  const interval = readDates(path, faults, () => readRange(range, now))
  return interval ? unionOf([interval]) : []
}

function readSeen(
  { dateRange, before, after }: SeenWithin,
  path: string,
  now: Now,
  faults: QueryFaults,
): TimeSet {
  let times = readTimes(dateRange, `${path}.dateRange`, now, faults)
  const cut = (
    name: string,
    text: string | undefined,
    side: (day: { from: number; to: number }) => TimeSet,
  ) => {
    if (text === undefined) return
    const moment = readDates(`${path}.${name}`, faults, () => readMoment(text, now))
    if (moment) times = intersectionOf(times, side(moment))
  }
  cut('before', before, ({ from }) => [{ from: -Infinity, to: from }])
  cut('after', after, ({ to }) => [{ from: to, to: Infinity }])
  return times
}

function readEvent(rule: CohortRule, path: string, now: Now, faults: QueryFaults): CohortCondition {
  const { event = {}, atLeast = 1, atMost } = rule
  if (atMost !== undefined && atMost < atLeast) {
    faults.invalid(`${path}.atMost`, `is ${atMost}, less than atLeast, which is ${atLeast}`)
  }
  if (atLeast === 0 && atMost === undefined) {
    faults.invalid(`${path}.atLeast`, 'is 0, which holds for everybody: give atMost too')
  }
  for (const { id, path: at } of membersOfSelection(event, `${path}.event`)) {
    if (id !== cohort.id) continue
    faults.invalid(at, 'a cohort cannot refer to another cohort: repeat its rule here', id)
    return { kind: 'or', of: [] }
  }
  const filters = parseSelection(event, `${path}.event`, now, faults)
  const times = readTimes(rule.dateRange, `${path}.dateRange`, now, faults)
  // Those who never did it have no event to be found by.
  if (atLeast === 0 && atMost !== undefined) {
    return { kind: 'not', of: { kind: 'events', filters, times, atLeast: atMost + 1 } }
  }
  return { kind: 'events', filters, times, atLeast, ...(atMost === undefined ? {} : { atMost }) }
}

function readLabel(rule: CohortRule, path: string, now: Now, faults: QueryFaults): CohortCondition {
  const { key = '', operator = 'equals', values = [] } = rule.label ?? {}
  const filter = { member: `events.label.${key}`, operator, values }
  const placed = faultsBy(faults, (name, at, ...rest) =>
    faults.add(name, at.replace('.filters.0', ''), ...rest),
  )
  const filters = parseEventFilters([filter], `${path}.label.filters`, now, placed)
  const times = readTimes(rule.dateRange, `${path}.dateRange`, now, faults)
  return { kind: 'events', filters, times, atLeast: 1 }
}
