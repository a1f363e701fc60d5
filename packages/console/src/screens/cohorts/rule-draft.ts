import type { OperationData } from '@millrace/sdk'
import type { Meta } from '../../data/format.ts'
import {
  type Left,
  partText,
  readSelection,
  type Selection,
  selectionBody,
} from '../../exploration/selection.ts'

export type CohortRule = NonNullable<OperationData<'readCohort'>['rule']>
export type LabelOperator = NonNullable<CohortRule['label']>['operator']

export const labelOperators = [
  'equals',
  'contains',
  'startsWith',
  'endsWith',
  'gt',
  'gte',
  'lt',
  'lte',
] as const satisfies readonly LabelOperator[]

/** Bounds of a rule (docs/statistics.md, Cohorts). */
export const ruleLimits = { depth: 5, conditions: 30 } as const

/** Within the days of a text as `last 30 days`, or of two days of which one may be open; null is ever. */
export type RuleRange = string | readonly [from: string | null, to: string | null] | null

interface Negatable {
  /** The persons who do not meet it. */
  readonly isNot: boolean
}

export interface GroupDraft extends Negatable {
  readonly kind: 'group'
  readonly join: 'and' | 'or'
  readonly of: readonly Draft[]
}

export interface EventDraft extends Negatable {
  readonly kind: 'event'
  readonly selection: Selection
  readonly atLeast: number | undefined
  readonly atMost: number | undefined
  readonly range: RuleRange
}

export interface SeenDraft extends Negatable {
  readonly kind: 'seen'
  readonly which: 'firstSeen' | 'lastSeen'
  readonly how: 'within' | 'before' | 'after'
  /** Of `within`. */
  readonly range: RuleRange
  /** Of `before` and `after`: a day, or a text as `30 days ago`. */
  readonly point: string
}

export interface LabelDraft extends Negatable {
  readonly kind: 'label'
  readonly key: string
  readonly operator: LabelOperator
  readonly values: readonly string[]
  readonly range: RuleRange
}

/** A rule as it is edited: a part may be unfinished. */
export type Draft = GroupDraft | EventDraft | SeenDraft | LabelDraft

export const emptyEvent: EventDraft = {
  kind: 'event',
  isNot: false,
  selection: {},
  atLeast: 1,
  atMost: undefined,
  range: 'last 30 days',
}
export const emptySeen: SeenDraft = {
  kind: 'seen',
  isNot: false,
  which: 'lastSeen',
  how: 'within',
  range: 'last 30 days',
  point: '30 days ago',
}
export const emptyLabel: LabelDraft = {
  kind: 'label',
  isNot: false,
  key: '',
  operator: 'equals',
  values: [],
  range: null,
}
export const groupOf = (of: readonly Draft[], join: GroupDraft['join'] = 'and'): GroupDraft => ({
  kind: 'group',
  isNot: false,
  join,
  of,
})

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const isText = (value: unknown, max = 4_000): value is string =>
  typeof value === 'string' && value !== '' && value.length <= max

const countOf = (value: unknown): number | undefined =>
  typeof value === 'number' && Number.isInteger(value) && value >= 0 ? value : undefined

function readRange(value: unknown): RuleRange {
  if (isText(value, 100)) return value
  if (!Array.isArray(value) || value.length === 0) return null
  const [from, to = from] = value
  const bound = (each: unknown) => (isText(each, 100) ? each : null)
  return bound(from) === null && bound(to) === null ? null : [bound(from), bound(to)]
}

/** What a rule or an address says, as it is edited. What is no rule is left out and named. */
export function draftOf(rule: unknown, meta: Meta, left: Left): GroupDraft {
  const draft = readDraft(rule, meta, left, 0)
  if (draft === undefined) return groupOf([])
  return draft.kind === 'group' ? draft : groupOf([draft])
}

function readDraft(rule: unknown, meta: Meta, left: Left, depth: number): Draft | undefined {
  if (!isRecord(rule) || depth > 20) {
    left.push(partText(rule))
    return undefined
  }
  const range = readRange(rule.dateRange)
  if (isRecord(rule.not)) {
    const draft = readDraft(rule.not, meta, left, depth + 1)
    return draft && { ...draft, isNot: !draft.isNot }
  }
  const join = Array.isArray(rule.or) ? 'or' : 'and'
  const parts = rule[join]
  if (Array.isArray(parts))
    return groupOf(
      parts.slice(0, ruleLimits.conditions).flatMap((each) => readDraft(each, meta, left, depth + 1) ?? []),
      join,
    )
  if (isRecord(rule.event)) {
    const atMost = countOf(rule.atMost)
    return {
      kind: 'event',
      isNot: false,
      selection: readSelection(rule.event, meta, left),
      atLeast: countOf(rule.atLeast) ?? 1,
      atMost,
      range,
    }
  }
  for (const which of ['firstSeen', 'lastSeen'] as const)
    if (isRecord(rule[which])) return readSeen(which, rule[which])
  if (isRecord(rule.label) && isText(rule.label.key)) {
    const { key, operator, values } = rule.label
    return {
      kind: 'label',
      isNot: false,
      key,
      operator: labelOperators.find((each) => each === operator) ?? 'equals',
      values: Array.isArray(values) ? values.filter((each) => typeof each === 'string').slice(0, 100) : [],
      range,
    }
  }
  left.push(partText(rule))
  return undefined
}

/** Several of them hold at once: each is a condition of its own. */
function readSeen(which: SeenDraft['which'], within: Record<string, unknown>): Draft {
  const seen = { ...emptySeen, which }
  const range = readRange(within.dateRange)
  const parts: SeenDraft[] = [
    ...(range === null ? [] : [{ ...seen, how: 'within' as const, range }]),
    ...(['before', 'after'] as const).flatMap((how) => {
      const point = within[how]
      return isText(point, 100) ? [{ ...seen, how, point }] : []
    }),
  ]
  const [first] = parts
  return parts.length === 1 && first ? first : groupOf(parts)
}

/** The rule as the interface takes it; undefined while a part is unfinished. */
export function ruleOf(draft: Draft): CohortRule | undefined {
  const rule = plainRule(draft)
  return rule && draft.isNot ? { not: rule } : rule
}

function plainRule(draft: Draft): CohortRule | undefined {
  switch (draft.kind) {
    case 'group': {
      const rules = draft.of.map(ruleOf)
      if (rules.length === 0 || rules.includes(undefined)) return undefined
      const [first] = rules
      return rules.length === 1 ? first : ({ [draft.join]: rules } as CohortRule)
    }
    case 'event': {
      const { selection, atLeast, atMost, range } = draft
      if (atMost !== undefined && atMost < (atLeast ?? 0)) return undefined
      return {
        event: selectionBody(selection),
        ...(atLeast !== undefined && atLeast !== 1 && { atLeast }),
        ...(atMost !== undefined && { atMost }),
        ...(range !== null && { dateRange: bodyRange(range) }),
      }
    }
    case 'seen': {
      if (draft.how !== 'within')
        return draft.point === '' ? undefined : { [draft.which]: { [draft.how]: draft.point } }
      return draft.range === null ? undefined : { [draft.which]: { dateRange: bodyRange(draft.range) } }
    }
    case 'label': {
      const { key, operator, values, range } = draft
      if (key === '' || values.length === 0) return undefined
      return {
        label: { key, operator, values: [...values] },
        ...(range !== null && { dateRange: bodyRange(range) }),
      }
    }
  }
}

const bodyRange = (range: NonNullable<RuleRange>) => (typeof range === 'string' ? range : [...range])

/** Levels of a rule: one that holds no other has one. */
export const depthOf = ({ and, or, not }: CohortRule): number =>
  1 + Math.max(0, ...[...(and ?? []), ...(or ?? []), ...(not ? [not] : [])].map(depthOf))

export const conditionsOf = ({ and, or, not }: CohortRule): number => {
  const inner = [...(and ?? []), ...(or ?? []), ...(not ? [not] : [])]
  return inner.length === 0 ? 1 : inner.reduce((sum, each) => sum + conditionsOf(each), 0)
}
