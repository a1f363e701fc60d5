import type {
  ConditionRule,
  ConditionType,
  WorkflowNodeOf,
} from '@millrace/contract/resources/workflow-definition.ts'
import { searchSteps } from '../../../platform/text/search-steps.ts'
import { type CompiledBinding, compileBinding, type DataNumbers, needsOf } from './compile-binding.ts'
import type { RunView } from './executable.ts'
import { failed, isAbsent, readBoolean, readList, readMoment, readNumber, readText } from './values.ts'

type Operator = ConditionRule['operator']
type Test = (run: RunView) => boolean

/** How values of a type are read, and what an operator says of two of them. */
interface Comparison<T> {
  readonly read: (value: unknown, run: RunView) => T | undefined
  readonly compare: Partial<Record<Operator, (value: T, other: T) => boolean>>
}

const folded = (text: string): string => text.toLowerCase()

const texts: Comparison<string> = {
  read: readText,
  compare: {
    equals: (a, b) => a === b,
    contains: (a, b) => folded(a).includes(folded(b)),
  },
}

const numbers: Comparison<number> = {
  read: readNumber,
  compare: {
    equals: (a, b) => a === b,
    gt: (a, b) => a > b,
    gte: (a, b) => a >= b,
    lt: (a, b) => a < b,
    lte: (a, b) => a <= b,
  },
}

const booleans: Comparison<boolean> = { read: readBoolean, compare: { equals: (a, b) => a === b } }

const moments: Comparison<{ readonly from: number; readonly end: number }> = {
  read: (value, run) => readMoment(value, run.request.clock),
  compare: {
    // A day and an instant within it are equal.
    equals: (a, b) => a.from < b.end && b.from < a.end,
    before: (a, b) => a.end <= b.from,
    after: (a, b) => a.from >= b.end,
  },
}

/** Negations match where no alternative does, and where there is no value at all. */
const negated: Partial<Record<Operator, Operator>> = { notEquals: 'equals', notContains: 'contains' }

const hourMs = 3_600_000

function compileWindow(value: CompiledBinding, to: readonly CompiledBinding[], isNext: boolean): Test {
  return (run) => {
    const moment = readMoment(value.read(run), run.request.clock)
    if (moment === undefined) return false
    const { now } = run.request
    return to.some(({ read }) => {
      const hours = readNumber(read(run))
      if (hours === undefined) return false
      return isNext
        ? moment.end > now && moment.from <= now + hours * hourMs
        : moment.from <= now && moment.end > now - hours * hourMs
    })
  }
}

/** What a rule is compared with, read: several values of one binding are alternatives like several bindings. */
function readAlternatives<T>(
  to: readonly CompiledBinding[],
  read: Comparison<T>['read'],
  run: RunView,
): readonly T[] {
  const found: T[] = []
  for (const each of to) {
    const value = each.read(run)
    for (const one of Array.isArray(value) ? value : [value]) {
      const other = read(one, run)
      if (other !== undefined) found.push(other)
    }
  }
  return found
}

const stepsOf = (value: unknown, other: unknown): number =>
  typeof value === 'string' && typeof other === 'string'
    ? 500 + value.length + other.length + searchSteps(value, other)
    : 500

function compileComparison<T>(
  { read, compare }: Comparison<T>,
  operator: Operator,
  value: CompiledBinding,
  to: readonly CompiledBinding[],
  readsClock: boolean,
): Test | undefined {
  const positive = negated[operator]
  const says = compare[positive ?? operator]
  if (!says) return undefined
  const isFixed = !readsClock && to.every(({ fixed }) => fixed)
  const fixedOthers = isFixed ? readAlternatives(to, read, undefined as never) : undefined
  return (run) => {
    const given = read(value.read(run), run)
    if (given === undefined) return positive !== undefined
    const others = fixedOthers ?? readAlternatives(to, read, run)
    const matches = others.some((other) => {
      run.assertTime(stepsOf(given, other))
      return says(given, other)
    })
    return matches !== (positive !== undefined)
  }
}

function compileListTest(
  operator: Operator,
  value: CompiledBinding,
  to: readonly CompiledBinding[],
): Test | undefined {
  if (operator !== 'contains' && operator !== 'notContains') return undefined
  return (run) => {
    const entries = new Set(readList(value.read(run)))
    const contains = to.some(({ read }) =>
      readList(read(run)).some((entry) => {
        run.assertTime()
        return entries.has(entry)
      }),
    )
    return contains === (operator === 'contains')
  }
}

/** An operator that the type does not have, in a draft: nothing matches it. */
const never: Test = () => false

function compileTest(
  type: ConditionType,
  operator: Operator,
  value: CompiledBinding,
  to: readonly CompiledBinding[],
): Test {
  if (operator === 'empty') return (run) => isAbsent(value.read(run))
  if (operator === 'notEmpty') return (run) => !isAbsent(value.read(run))
  switch (type) {
    case 'text':
      return compileComparison(texts, operator, value, to, false) ?? never
    case 'number':
      return compileComparison(numbers, operator, value, to, false) ?? never
    case 'boolean':
      return compileComparison(booleans, operator, value, to, false) ?? never
    case 'date':
      if (operator === 'inNext' || operator === 'inLast')
        return compileWindow(value, to, operator === 'inNext')
      return compileComparison(moments, operator, value, to, true) ?? never
    case 'list':
      return compileListTest(operator, value, to) ?? never
  }
}

interface CompiledRule {
  readonly test: Test
  readonly bindings: readonly CompiledBinding[]
  readonly needs: readonly number[]
}

function compileRule(rule: ConditionRule, data: DataNumbers): CompiledRule {
  const value = compileBinding(rule.value, data)
  const to = (rule.to ?? []).map((binding) => compileBinding(binding, data))
  const test = compileTest(rule.type, rule.operator, value, to)
  const bindings = [value, ...to]
  // Whatever the operator, a rule on what failed does not match.
  const hasFailed: Test = (run) => bindings.some(({ read }) => read(run) === failed)
  return { test: (run) => !hasFailed(run) && test(run), bindings, needs: needsOf(bindings) }
}

interface CompiledCase {
  /** Whether one rule that matches is enough; otherwise all of them must. */
  readonly isAny: boolean
  readonly rules: readonly CompiledRule[]
}

/**
 * Asks cases and their rules in order from a rule on; `previous` ones of the same case did not decide it. What follows
 * the rule that decides is not used.
 * @returns number of the first case that matches, or of `default`: at once where the data is there
 */
function chooseFrom(
  cases: readonly CompiledCase[],
  number: number,
  previous: number,
  run: RunView,
): number | Promise<number> {
  let next = previous
  for (let place = number; place < cases.length; place++, next = 0) {
    const { isAny, rules } = cases[place] as CompiledCase
    let matches = !isAny
    for (; next < rules.length; next++) {
      const { needs, test } = rules[next] as CompiledRule
      const wait = run.use(needs)
      if (wait !== undefined) {
        const [waiting, rule] = [place, next]
        return wait.then(() => run.computing(() => chooseFrom(cases, waiting, rule, run)))
      }
      if (test(run) === isAny) {
        matches = isAny
        break
      }
    }
    if (matches) return place
  }
  return cases.length
}

export interface CompiledConditions {
  readonly outputs: readonly string[]
  readonly bindings: readonly CompiledBinding[]
  /** Number of the first case that matches, else that of `default`: at once where the data is there. */
  readonly choose: (run: RunView) => number | Promise<number>
}

export function compileConditions(
  { cases }: WorkflowNodeOf<'conditions'>,
  data: DataNumbers,
): CompiledConditions {
  const compiled = cases.map(
    ({ match, rules }): CompiledCase => ({
      isAny: match === 'or',
      rules: rules.map((rule) => compileRule(rule, data)),
    }),
  )
  return {
    outputs: [...cases.map(({ id }) => id), 'default'],
    bindings: compiled.flatMap(({ rules }) => rules.flatMap(({ bindings }) => bindings)),
    choose: (run) => run.computing(() => chooseFrom(compiled, 0, 0, run)),
  }
}
