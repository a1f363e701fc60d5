import { type CohortRule, labelOperators } from '@millrace/contract/resources/cohort.ts'
import type { BinaryFilter } from '@millrace/contract/resources/query.ts'
import fc from 'fast-check'
import { sampleItems, sampleLabels, sampleNames, samplePeople } from './statistics-samples.ts'

const from = <T>(values: readonly T[]) => fc.constantFrom(...values)
const dates = [
  '2026-03-26',
  '2026-03-28',
  '2026-03-29',
  '2026-03-30',
  '2026-10-23',
  '2026-10-25',
  '2026-10-26',
]
const instants = ['2026-03-28T12:00:00Z', '2026-03-29T01:30:00+01:00', '2026-10-25T02:30:00+02:00']
const ordered = (values: readonly string[]) =>
  fc.tuple(from(values), from(values)).map((pair) => {
    const [first = '', last = ''] = pair.sort((a, b) => Date.parse(a) - Date.parse(b))
    return first === last ? [first.slice(0, 10)] : [first, last]
  })
const range = fc.oneof(ordered(dates), ordered(instants))

const filter: fc.Arbitrary<BinaryFilter> = fc.oneof(
  fc.record({
    member: fc.constant('events.label.store'),
    operator: from(['equals', 'notEquals', 'contains', 'notContains'] as const),
    values: fc.array(from(sampleLabels.store), { minLength: 1, maxLength: 2 }),
  }),
  fc.record({
    member: fc.constant('events.deviceType'),
    operator: from(['equals', 'notEquals'] as const),
    values: fc.array(from(['desktop', 'mobile', 'server']), { minLength: 1, maxLength: 2 }),
  }),
  fc.record({
    member: fc.constant('events.item'),
    operator: from(['equals', 'startsWith'] as const),
    values: fc.array(from(sampleItems), { minLength: 1, maxLength: 2 }),
  }),
  fc.record({
    member: fc.constant('events.person'),
    operator: from(['equals', 'notEquals', 'contains'] as const),
    values: fc.array(from(['client-3', 'client-1', 'device-2-0', 'device-7-1', 'client']), {
      minLength: 1,
      maxLength: 2,
    }),
  }),
)

const event: fc.Arbitrary<CohortRule> = fc
  .record(
    {
      event: fc.record(
        {
          events: fc.uniqueArray(from(sampleNames), { minLength: 1, maxLength: 3 }),
          filters: fc.array(filter, { maxLength: 2 }),
        },
        { requiredKeys: [] },
      ),
      atLeast: fc.integer({ min: 0, max: 12 }),
      more: fc.integer({ min: 0, max: 10 }),
      dateRange: range,
    },
    { requiredKeys: ['event'] },
  )
  .map(({ more, ...rule }): CohortRule => {
    const needed = rule.atLeast === 0 && more === undefined ? 2 : more
    return needed === undefined ? rule : { ...rule, atMost: (rule.atLeast ?? 1) + needed }
  })

const seen = fc
  .record(
    { dateRange: range, before: from([...dates, ...instants]), after: from([...dates, ...instants]) },
    { requiredKeys: [] },
  )
  .filter((within) => Object.keys(within).length > 0)

const label: fc.Arbitrary<CohortRule> = fc
  .record(
    {
      label: fc.record({
        key: from(['store', 'size', 'none']),
        operator: from(labelOperators),
        values: fc.array(from([...sampleLabels.store, '9', '10', 'XL', '-3.5']), {
          minLength: 1,
          maxLength: 3,
        }),
      }),
      dateRange: range,
    },
    { requiredKeys: ['label'] },
  )
  .filter(
    ({ label: { operator, values } }) => !/^[gl]t/.test(operator) || values.every((each) => each !== 'inf'),
  )

const leaf: fc.Arbitrary<CohortRule> = fc.oneof(
  event,
  event,
  label,
  seen.map((firstSeen) => ({ firstSeen })),
  seen.map((lastSeen) => ({ lastSeen })),
)

/** Rules of every kind over the samples, some levels deep. */
export const sampleRules: fc.Arbitrary<CohortRule> = fc.letrec<{ rule: CohortRule }>((tie) => ({
  rule: fc.oneof(
    { maxDepth: 4, depthSize: 'small' },
    leaf,
    fc.array(tie('rule'), { minLength: 1, maxLength: 3 }).map((and) => ({ and })),
    fc.array(tie('rule'), { minLength: 1, maxLength: 3 }).map((or) => ({ or })),
    tie('rule').map((not) => ({ not })),
  ),
})).rule

/** Lists of clients and devices, some of which nobody has. */
export const sampleLists = fc.uniqueArray(
  fc.oneof(
    fc.nat(samplePeople).map((n) => `client-${n}`),
    fc.nat(samplePeople).map((n) => `device-${n}-${n % 2}`),
    from(['nobody', "O'Brien", '\\N', 'é "x"\n']),
  ),
  { maxLength: 12 },
)
