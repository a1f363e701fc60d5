import type { ConditionRule } from '@millrace/contract/resources/workflow-definition.ts'
import { expect, test } from 'vitest'
import { failed } from '../../src/features/personalisation/compile/values.ts'
import { conditions } from '../../src/features/personalisation/definition/nodes/conditions.ts'
import { runnerTime } from '../support/runner.ts'

/** Two hours ahead of UTC. */
const clock = { localOf: (at: number) => at + 7_200_000, instantOf: (local: number) => local - 7_200_000 }

/** Whether a rule matches a value of node `v`, compared with constants. */
function matches(rule: Pick<ConditionRule, 'type' | 'operator'>, value: unknown, ...to: unknown[]): boolean {
  const full = {
    ...rule,
    value: { node: 'v' },
    ...(to.length > 0 && { to: to.map((each) => ({ value: each })) }),
  } as ConditionRule
  const node = { type: 'conditions', cases: [{ id: 'yes', match: 'and', rules: [full] }] } as const
  const { choose } = conditions.compile(node as never, { numbers: new Map([['v', 0]]) } as never)
  const run = {
    valueOf: () => value,
    use: () => undefined,
    computing: (work: () => unknown) => work(),
    assertTime() {},
    request: { now: runnerTime, clock },
  }
  return choose(run as never) === 0
}

test.each([
  ['text', 'equals', 'a', ['a'], true],
  ['text', 'equals', 'a', ['A'], false],
  ['text', 'equals', 'a', ['b', 'a'], true],
  ['text', 'equals', 'a', [['b', 'a']], true],
  ['text', 'equals', 12, ['12'], true],
  ['text', 'equals', undefined, ['a'], false],
  ['text', 'equals', ['a', 'b'], ['a'], true],
  ['text', 'notEquals', 'a', ['b', 'a'], false],
  ['text', 'notEquals', 'a', ['b', 'c'], true],
  ['text', 'notEquals', undefined, ['a'], true],
  ['text', 'contains', 'Lyon', ['YO'], true],
  ['text', 'contains', 'Lyon', ['x'], false],
  ['text', 'notContains', 'Lyon', ['x'], true],
  ['text', 'notContains', 'Lyon', ['ly'], false],
  ['text', 'empty', '', [], true],
  ['text', 'empty', undefined, [], true],
  ['text', 'empty', 'a', [], false],
  ['text', 'notEmpty', 0, [], true],
  ['text', 'notEmpty', null, [], false],
  ['number', 'equals', '1.0', [1], true],
  ['number', 'gt', 2, [1], true],
  ['number', 'gt', 1, [1], false],
  ['number', 'gte', 1, ['1'], true],
  ['number', 'lt', '0x10', [20], false],
  ['number', 'lt', '', [20], false],
  ['number', 'lte', 20, [20], true],
  ['number', 'notEquals', 'abc', [1], true],
  ['boolean', 'equals', 'true', [true], true],
  ['boolean', 'equals', false, ['false'], true],
  ['boolean', 'equals', 'maybe', [true], false],
  ['list', 'contains', ['a', 'b'], ['b'], true],
  ['list', 'contains', 'a', ['a'], true],
  ['list', 'contains', [1, 2], ['2'], true],
  ['list', 'contains', ['a'], [['x', 'a']], true],
  ['list', 'contains', undefined, ['a'], false],
  ['list', 'notContains', ['a'], ['b'], true],
  ['list', 'notContains', ['a'], ['b', 'a'], false],
  ['list', 'empty', [], [], true],
  ['list', 'notEmpty', ['a'], [], true],
  ['date', 'equals', '2026-01-15', ['2026-01-15T10:00:00Z'], true],
  // The company's day begins at 22:00 UTC.
  ['date', 'equals', '2026-01-14T22:00:00Z', ['2026-01-15'], true],
  ['date', 'equals', '2026-01-15T22:00:00Z', ['2026-01-15'], false],
  ['date', 'equals', '2026-01-15T12:00', ['2026-01-15T10:00:00Z'], true],
  ['date', 'before', '2026-01-14', ['2026-01-15'], true],
  ['date', 'before', '2026-01-15T10:00Z', ['2026-01-15'], false],
  ['date', 'after', '2026-01-15T10:00Z', ['2026-01-15'], false],
  ['date', 'after', '2026-01-16', ['2026-01-15T10:00Z'], true],
  ['date', 'before', 'soon', ['2026-01-15'], false],
  ['date', 'before', '2026-02-30', ['2027-01-15'], false],
  ['date', 'before', '2026-00-10', ['2027-01-15'], false],
  ['date', 'before', '0001-01-01', ['1900-01-01'], true],
  ['date', 'inNext', '2026-01-15T13:30:00Z', [1], true],
  ['date', 'inNext', '2026-01-15T13:31:00Z', [1], false],
  ['date', 'inNext', '2026-01-15T12:29:00Z', [1], false],
  ['date', 'inLast', '2026-01-15T11:30:00Z', [1], true],
  ['date', 'inLast', '2026-01-15T11:29:00Z', [1], false],
  ['date', 'inLast', '2026-01-15T12:31:00Z', [1], false],
  ['date', 'inNext', '2026-01-15', [1], true],
  ['date', 'empty', undefined, [], true],
  ['text', 'gt', 'a', ['b'], false],
] as const)('%s %s: %j to %j is %s', (type, operator, value, to, expected) => {
  expect(matches({ type, operator } as never, value, ...to)).toBe(expected)
})

test.each(['equals', 'notEquals', 'contains', 'notContains', 'empty', 'notEmpty'] as const)(
  '%s never matches what failed',
  (operator) => {
    expect(matches({ type: 'text', operator }, failed, 'a')).toBe(false)
  },
)

test('W21: looking for a long text in another is announced by how long it can take', () => {
  const announced: number[] = []
  const rule = {
    value: { node: 'v' },
    type: 'text',
    operator: 'contains',
    to: [{ value: 'b'.repeat(3_000) }],
  } as const
  const node = { type: 'conditions', cases: [{ id: 'yes', match: 'and', rules: [rule] }] } as const
  conditions.compile(node as never, { numbers: new Map([['v', 0]]) } as never).choose({
    valueOf: () => 'a'.repeat(60_000),
    use: () => undefined,
    computing: (work: () => unknown) => work(),
    assertTime: (steps: number) => announced.push(steps),
  } as never)
  expect(announced).toHaveLength(1)
  expect(announced[0]).toBeGreaterThan(6_000_000)
})
