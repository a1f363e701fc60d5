import {
  type ConditionRule,
  type ConditionType,
  conditionOperators,
  type WorkflowNodeOf,
} from '@millrace/contract/resources/workflow-definition.ts'
import { searchSteps } from '../../../../platform/text/search-steps.ts'
import {
  type CompiledBinding,
  compileBinding,
  type DataNumbers,
  needsOf,
} from '../../compile/compile-binding.ts'
import type { RunView } from '../../compile/executable.ts'
import {
  failed,
  isAbsent,
  previewOf,
  readBoolean,
  readList,
  readMoment,
  readNumber,
  readText,
} from '../../compile/values.ts'
import type { PlacedBinding } from '../bindings.ts'
import type { Scope } from '../scope.ts'
import { checkOutputIds } from './checks.ts'
import type { LogicNodeKind, ShapeFault } from './node-kind.ts'
import { faultOfType, faultOfTypes } from './type-fit.ts'

/** Windows of hours before or after now. */
const isRelative = ({ operator }: ConditionRule): boolean => operator === 'inNext' || operator === 'inLast'

/** The type that the right side of a rule is read as. */
function rightType(rule: ConditionRule) {
  if (isRelative(rule)) return 'number'
  return rule.type === 'list' ? 'text' : rule.type
}

function* faultsOfRule(rule: ConditionRule, scope: Scope): Generator<ShapeFault> {
  const { type, operator, value, to } = rule
  const operators: readonly string[] = conditionOperators[type]
  if (!operators.includes(operator)) {
    const message = `${operator} does not fit the type ${type}, which has ${operators.join(', ')}`
    yield { path: 'operator', message }
    return
  }
  const reason = `because the rule compares as ${type}`
  const left = faultOfType(value, type, scope)
  if (left) yield { path: 'value', message: `${left}, ${reason}` }
  if (operator === 'empty' || operator === 'notEmpty') {
    if (to) yield { path: 'to', message: `${operator} compares with nothing; leave out to` }
    return
  }
  if (!to) {
    yield { path: 'to', message: `is required by ${operator}: what the value is compared with` }
    return
  }
  const hasOne = type === 'boolean' || isRelative(rule)
  if (hasOne && to.length > 1) yield { path: 'to', message: `must hold one value for ${operator}` }
  for (const [place, binding] of to.entries()) {
    const right = (hasOne ? faultOfType : faultOfTypes)(binding, rightType(rule), scope)
    if (right) yield { path: `to.${place}`, message: `${right}, ${reason}` }
  }
}

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

const comparisons = { text: texts, number: numbers, boolean: booleans, date: moments }

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
  if (type === 'list') return compileListTest(operator, value, to) ?? never
  if (type === 'date' && (operator === 'inNext' || operator === 'inLast'))
    return compileWindow(value, to, operator === 'inNext')
  const comparison = comparisons[type] as Comparison<unknown>
  return compileComparison(comparison, operator, value, to, type === 'date') ?? never
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

function bindingsOfRule({ value, to = [] }: ConditionRule, path: string): PlacedBinding[] {
  const others = to.map((binding, place) => ({ path: `${path}.to.${place}`, binding }))
  return [{ path: `${path}.value`, binding: value }, ...others]
}

/** Takes the output of the first case whose rules match. */
export const conditions: LogicNodeKind<WorkflowNodeOf<'conditions'>> = {
  bindingsOf: ({ cases }) =>
    cases.flatMap(({ rules }, place) =>
      rules.flatMap((rule, number) => bindingsOfRule(rule, `cases.${place}.rules.${number}`)),
    ),
  detailsOf: ({ cases }) => cases.reduce((sum, { rules }) => sum + rules.length, 0),
  outputsOf: ({ cases }) => [...cases, { id: 'default' }],
  hasDefault: true,
  scoreOf: (_, output, byBindings) => (output !== 'default' && byBindings ? 1 : 0),

  check: (scope) =>
    function* ({ cases }, at) {
      yield* checkOutputIds('cases', cases, at)
      for (const [place, { id, rules }] of cases.entries()) {
        const path = `cases.${place}`
        if (id === 'default') {
          const message = `${path}.id "default" is the output without a match; name it otherwise`
          yield at('edges', `${path}.id`, message)
        }
        for (const [number, rule] of rules.entries()) {
          for (const fault of faultsOfRule(rule, scope)) {
            const field = `${path}.rules.${number}.${fault.path}`
            yield at('operator', field, `${field} ${fault.message}`)
          }
        }
      }
    },

  compile({ cases }, { numbers: data }) {
    const compiled = cases.map(
      ({ match, rules }): CompiledCase => ({
        isAny: match === 'or',
        rules: rules.map((rule) => compileRule(rule, data)),
      }),
    )
    const bindings = compiled.flatMap(({ rules }) => rules.flatMap((rule) => rule.bindings))
    return {
      needs: needsOf(bindings),
      inputOf: (run) =>
        bindings.flatMap(({ fixed, need, read }) => {
          if (fixed) return []
          return [need !== undefined && run.isUsed(need) ? previewOf(read(run)) : null]
        }),
      choose: (run) => run.computing(() => chooseFrom(compiled, 0, 0, run)),
    }
  },
}
