import type { DimensionMeta, Meta } from '../data/format.ts'

export type Operator = DimensionMeta['operators'][number]

/** One condition on a dimension or a label of events. */
export interface Condition {
  readonly member: string
  readonly operator: Operator
  readonly values: readonly string[]
}

/** Events of some names, or of any, that pass filters. */
export interface Selection {
  readonly events?: readonly string[]
  readonly filters?: readonly Condition[]
}

/** What an address said and a screen cannot show, in the words of the address. */
export type Left = string[]

/** The beginning of a part of an address, as it is named where it is left out. */
export function partText(value: unknown): string {
  try {
    return JSON.stringify(value ?? null).slice(0, 80)
  } catch {
    // Nested more deeply than it can be written.
    return '…'
  }
}

const labelPrefix = 'events.label.'
export const cohortMember = 'persons.cohort'
const maxText = 4_000
const maxItems = 50

const isText = (value: unknown): value is string =>
  typeof value === 'string' && value !== '' && value.length <= maxText

/** What takes no values. */
export const isPresence = (operator: Operator): boolean => operator === 'set' || operator === 'notSet'

/** Whether a condition on events may name the member: times are said by the range, measures have no value there. */
export const isConditionMember = (meta: Meta, member: string): boolean => {
  const known = meta.dimensions[member]
  if (member.startsWith(labelPrefix)) return member.length > labelPrefix.length
  return (
    known !== undefined && known.type !== 'time' && (known.source === 'events' || member === cohortMember)
  )
}

/** Operators of a member; those of texts for a label that no event has had yet. */
export const operatorsFor = (meta: Meta | undefined, member: string): readonly Operator[] =>
  meta?.dimensions[member]?.operators.filter((each) => !each.toLowerCase().includes('date')) ?? [
    'equals',
    'notEquals',
    'contains',
    'set',
    'notSet',
  ]

export function readCondition(value: unknown, meta: Meta, left: Left): Condition | undefined {
  const { member, operator, values = [] } = (value ?? {}) as Partial<Record<keyof Condition, unknown>>
  const found = isText(member) ? member : undefined
  const known = found !== undefined && isConditionMember(meta, found)
  const chosen = known ? operatorsFor(meta, found).find((each) => each === operator) : undefined
  const texts = Array.isArray(values) ? values.filter((each) => typeof each === 'string').slice(0, 1_000) : []
  if (found !== undefined && chosen && (isPresence(chosen) || texts.length > 0))
    return { member: found, operator: chosen, values: isPresence(chosen) ? [] : texts }
  left.push(found ?? partText(value))
  return undefined
}

export function readConditions(value: unknown, meta: Meta, left: Left): readonly Condition[] {
  if (value === undefined) return []
  if (!Array.isArray(value)) {
    left.push(partText(value))
    return []
  }
  return value.slice(0, maxItems).flatMap((each) => readCondition(each, meta, left) ?? [])
}

export function readSelection(value: unknown, meta: Meta, left: Left): Selection {
  const { events, filters } = (value ?? {}) as Partial<Record<keyof Selection, unknown>>
  const names = Array.isArray(events)
    ? [...new Set(events.filter((each) => isText(each) && each.length <= 256))].slice(0, maxItems)
    : []
  return selectionOf(names as string[], readConditions(filters, meta, left))
}

/** Without what says nothing, so that equal selections are written alike. */
export const selectionOf = (events: readonly string[], filters: readonly Condition[]): Selection => ({
  ...(events.length > 0 && { events }),
  ...(filters.length > 0 && { filters }),
})

/** As a request takes it, which may change what it is given. */
export const selectionBody = ({ events, filters }: Selection) => ({
  ...(events && { events: [...events] }),
  ...(filters && { filters: conditionsBody(filters) }),
})

export const conditionsBody = (filters: readonly Condition[]) =>
  filters.map(({ member, operator, values }) => ({
    member,
    operator,
    ...(isPresence(operator) ? {} : { values: [...values] }),
  }))

/** Whether a rule of a cohort can hold a condition on the member: it names no other cohort. */
export const isRuleMember = (meta: Meta, member: string): boolean =>
  member !== cohortMember && isConditionMember(meta, member)

/** Whether a rule of a cohort can hold the conditions. */
export const fitsCohortRule = (filters: readonly Condition[]): boolean =>
  filters.every(({ member }) => member !== cohortMember)
