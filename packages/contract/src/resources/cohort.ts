import { type Static, Type } from 'typebox'
import { eventLimits } from '../events/limits.ts'
import { revisionFields } from '../revision.ts'
import { type EventSelection, eventSelection } from './exploration.ts'
import {
  bodyOf,
  dateTime,
  filled,
  flag,
  id,
  integer,
  longText,
  named,
  nameText,
  nullable,
  object,
  oneOf,
  optionals,
  text,
} from './formats.ts'
import { DateRange, type FilterOperator } from './query.ts'

/** Bounds of cohorts (docs/statistics.md, Cohorts). */
export const cohortLimits = {
  perCompany: 100,
  /** Rules inside rules: a rule that holds no other has depth 1. */
  depth: 5,
  /** Conditions of one rule, without `and`, `or` and `not`. */
  conditions: 30,
  values: 100,
  times: 1_000_000_000,
  persons: 100_000,
  /** Different cohorts that one query may name. */
  perQuery: 10,
  /** Conditions and filters of the cohorts that one query names, each cohort counted as often as it is named. */
  conditionsPerQuery: 3_000,
  /** Of a body with a list of persons. */
  bodyBytes: 8 * 1024 * 1024,
} as const

const point = (description: string, example: string) => Type.Optional(filled(description, 100, example))

const SeenWithin = named(
  'SeenWithin',
  {
    dateRange: Type.Optional(DateRange),
    before: point('A day or an instant: before its beginning', '30 days ago'),
    after: point('A day or an instant: after its end', '2026-01-31'),
  },
  {
    minProperties: 1,
    description: 'When: all that is given holds at once. Relative dates are read when a query runs',
  },
)
export type SeenWithin = Static<typeof SeenWithin>

/** Operators that say what a label is; that no event has such a value is said by `not` around the rule. */
export const labelOperators = [
  'equals',
  'contains',
  'startsWith',
  'endsWith',
  'gt',
  'gte',
  'lt',
  'lte',
] as const satisfies FilterOperator[]

/** What is nested is checked by the service, level by level, where it can say which part of a rule is wrong. */
function nested<T>(description: string) {
  return Type.Unsafe<T>({ type: 'object', additionalProperties: true, description })
}

const ruleFields = {
  ...optionals({
    event: object(
      eventSelection,
      'Did such an event, as often as `atLeast` and `atMost` say; `{}` is any event',
    ),
    atLeast: integer(
      0,
      cohortLimits.times,
      'Beside `event`: how often at least, 1 when absent; 0 includes those who never did it',
      2,
    ),
    atMost: integer(0, cohortLimits.times, 'Beside `event`: how often at most', 5),
    dateRange: nullable(DateRange, {
      description:
        'Beside `event` or `label`: when; at any time when absent. Relative ranges are read when a query runs',
      examples: ['last 30 days'],
    }),
    firstSeen: SeenWithin,
    lastSeen: SeenWithin,
    label: object(
      {
        key: Type.String({ minLength: 1, maxLength: eventLimits.labelKey, examples: ['country'] }),
        operator: oneOf(labelOperators, { description: 'As in filters of queries', examples: ['equals'] }),
        values: Type.Array(Type.String({ maxLength: 4_000 }), {
          minItems: 1,
          maxItems: cohortLimits.values,
          description: 'What is compared with, joined by or',
          examples: [['France']],
        }),
      },
      'Some event of the person has a label with such a value',
    ),
  }),
} as const

export interface CohortRule {
  event?: EventSelection
  atLeast?: number
  atMost?: number
  dateRange?: DateRange | null
  firstSeen?: SeenWithin
  lastSeen?: SeenWithin
  label?: { key: string; operator: (typeof labelOperators)[number]; values: string[] }
  and?: CohortRule[]
  or?: CohortRule[]
  not?: CohortRule
}

const rules = (description: string) =>
  Type.Optional(
    Type.Array(nested<CohortRule>('A rule as this one'), {
      minItems: 1,
      maxItems: cohortLimits.conditions,
      description,
    }),
  )

/** Exactly one of `event`, `firstSeen`, `lastSeen`, `label`, `and`, `or` and `not`; the service says which are too many. */
export const CohortRule = Type.Unsafe<CohortRule>(
  named(
    'CohortRule',
    {
      ...ruleFields,
      and: rules('All of these rules hold'),
      or: rules('One of these rules holds'),
      not: Type.Optional(
        nested<CohortRule>(
          'A rule as this one, which does not hold: everybody else whom the company has events of',
        ),
      ),
    },
    {
      minProperties: 1,
      description:
        'Who belongs to a cohort: one of `event`, `firstSeen`, `lastSeen`, `label`, or of `and`, `or` and `not` over ' +
        `further rules, ${cohortLimits.depth} levels deep with ${cohortLimits.conditions} conditions at most`,
    },
  ),
)

const name = nameText('Name of the cohort; no two of a company differ by case and spaces alone', 200, {
  examples: ['Buyers from France'],
})
const description = longText('What the cohort is for', 2_000)
const persons = Type.Array(Type.String({ minLength: 1, maxLength: eventLimits.clientId }), {
  maxItems: cohortLimits.persons,
  description:
    'Persons by their `clientId`, or by the `tmpId` of a device, which stands for the person to whom it is bound',
  examples: [['customer-17850', '0b5f6c1e-6f0f-4f53-9d55-0d2f9a2c8e11']],
})

export const Cohort = named(
  'Cohort',
  {
    id: id('Identifier of the cohort, as the filter `persons.cohort` takes it'),
    companyId: id('Company that owns it'),
    name: Type.String(),
    description: Type.String(),
    kind: oneOf(['rule', 'list'], 'Whether a rule or a list says who belongs to it'),
    rule: nullable(CohortRule, 'Null where it is a list'),
    listed: nullable(Type.Integer(), 'How many identifiers its list has; null where it has a rule'),
    ...revisionFields,
    ownerId: nullable(
      id('User who made it'),
      'User who made it and may change it; null once the user is gone',
    ),
    createdAt: dateTime('When it was made'),
    updatedAt: dateTime('When it was changed last'),
  },
  'A saved group of persons',
)
export type Cohort = Static<typeof Cohort>

const creation = {
  name,
  description: Type.Optional(description),
  rule: Type.Optional(nullable(CohortRule, 'Absent or null where `persons` is given')),
  persons: Type.Optional(persons),
}
const update = {
  name: Type.Optional(name),
  description: Type.Optional(description),
  rule: Type.Optional(nullable(CohortRule, 'Absent or null: it stays as it is')),
}

export const CohortCreation = bodyOf('CohortCreation', Cohort, creation)
export type CohortCreation = Static<typeof CohortCreation>

/** Partial: a field that is absent stays as it is. */
export const CohortUpdate = bodyOf('CohortUpdate', Cohort, update)
export type CohortUpdate = Static<typeof CohortUpdate>

export const CohortList = named('CohortList', { persons })

export const CohortSize = named('CohortSize', {
  people: Type.Integer({ description: 'Persons of the cohort whom the company has events of' }),
  identified: Type.Integer({ description: 'Those of them that are known by a `clientId`' }),
  readAt: dateTime('The instant at which relative dates were read'),
})
export type CohortSize = Static<typeof CohortSize>

export const CohortMember = named('CohortMember', {
  person: text('As `events.person` shows it', 'customer-17850'),
  isIdentified: flag('Whether the person is known by a `clientId`'),
  events: Type.Integer({ description: 'Events of the person' }),
  firstSeen: dateTime('Time of the first of them'),
  lastSeen: dateTime('Time of the last of them'),
})
export type CohortMember = Static<typeof CohortMember>
