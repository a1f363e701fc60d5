import type { Binding, Expression } from '@millrace/contract/resources/workflow-definition.ts'
import { DateTime } from 'luxon'
import { nearestName } from '../../../../platform/text/nearest.ts'
import { transformFunctions } from './catalogue.ts'
import {
  type AssertTime,
  bounded,
  type Spend,
  TransformFault,
  type TransformFunction,
  type TransformParameter,
  transformLimits,
  WrongArgument,
} from './transform-function.ts'

type Reference = Extract<Binding, { node: string }>

/** What a binding to a node gives: a scalar, a list, a Date, or undefined or null where it is absent. */
export type LookUp = (reference: Reference) => unknown

const dateRange = 8.64e15

/** Milliseconds since 1970 of a date in any of its forms: a Date, milliseconds, or a text of ISO 8601. */
export function instantOf(value: unknown): number | undefined {
  const instant =
    value instanceof Date
      ? value.getTime()
      : typeof value === 'string' && value.length <= 40
        ? DateTime.fromISO(value, { zone: 'utc' }).toMillis()
        : value
  return typeof instant === 'number' && Math.abs(instant) <= dateRange ? instant : undefined
}

function textOf(value: unknown): string | undefined {
  if (value instanceof Date) return Number.isNaN(value.getTime()) ? undefined : value.toISOString()
  return ['string', 'number', 'boolean'].includes(typeof value) ? bounded(String(value)) : undefined
}

/** A value as a type takes it, undefined where it is none, and what would be right. */
const types: Record<
  TransformParameter['type'],
  readonly [read: (value: unknown) => unknown, advice: string]
> = {
  any: [
    (value) => (typeof value !== 'object' || value instanceof Date ? textOrSame(value) : listOf(value)),
    'a text, a number, true, false or a list',
  ],
  text: [textOf, 'a text'],
  number: [
    (value) => (typeof value === 'number' && Number.isFinite(value) ? value : undefined),
    'a number; parse-number reads one from a text',
  ],
  boolean: [(value) => (typeof value === 'boolean' ? value : undefined), 'true or false'],
  date: [instantOf, 'a date; parse-date reads one from a text'],
  list: [listOf, `a list of at most ${transformLimits.items} items`],
}

function textOrSame(value: unknown): unknown {
  return typeof value === 'string' || value instanceof Date ? textOf(value) : value
}

function listOf(value: unknown): unknown {
  return Array.isArray(value) && value.length <= transformLimits.items ? value : undefined
}

/** A value as a parameter takes it; throws WrongArgument for one of another type. */
function converted(value: unknown, { name, type, words }: Omit<TransformParameter, 'constant'>): unknown {
  if (value === undefined || value === null) return undefined
  const [read, advice] = types[type]
  const result = read(value)
  if (result === undefined) throw new WrongArgument(`${name} must be ${advice}`)
  if (words && !words.includes(String(result)))
    throw new WrongArgument(`${name} must be one of ${words.join(', ')}`)
  return result
}

/** The result as nodes pass it on: a date as ISO 8601 in UTC, undefined where it is absent. */
function passedOn(value: unknown, of: TransformFunction): unknown {
  if (value === undefined || value === null) return undefined
  if (typeof value === 'string') return bounded(value)
  if (typeof value !== 'number') return value
  if (of.result === 'date') {
    if (!(Math.abs(value) <= dateRange)) throw new WrongArgument('the result is out of the range of dates')
    return new Date(value).toISOString()
  }
  if (!Number.isFinite(value)) throw new WrongArgument('the result is too large for a number')
  return value
}

/** The arguments of a call as its function takes them, or undefined where the result is absent. */
function argumentsOf(of: TransformFunction, given: readonly unknown[]): unknown[] | undefined {
  const { parameters, rest } = of
  const values = parameters.map((parameter, place) => converted(given[place], parameter))
  // A constant is absent only where nothing validated the definition.
  const isMissing = ({ optional, constant }: TransformParameter, place: number) =>
    values[place] === undefined && !optional && (constant || !of.takesAbsent)
  if (parameters.some(isMissing)) return undefined
  if (rest === undefined) return values
  const further = given
    .slice(parameters.length)
    .map((value, place) =>
      converted(value, { name: `argument ${parameters.length + place + 1}`, type: rest }),
    )
  return [...values, ...(of.takesAbsent ? further : further.filter((value) => value !== undefined))]
}

/** Of a call, whatever its function does with what it is given. */
const stepsOfCall = 1_000
const stepsOfCharacter = 5
const stepsOfItem = 10

function stepsOf(given: readonly unknown[]): number {
  let steps = stepsOfCall
  for (const value of given) {
    if (typeof value === 'string') steps += stepsOfCharacter * value.length
    else if (Array.isArray(value)) steps += stepsOfItem * value.length
  }
  return steps
}

/**
 * The value of an expression: a scalar, a list, a date as ISO 8601 in UTC, or undefined where it is absent. It depends
 * on nothing but its arguments.
 * @throws {TransformFault} naming the function that cannot give its value
 */
export function evaluateExpression(
  expression: Expression,
  lookUp: LookUp,
  assertTime: AssertTime = () => {},
): unknown {
  const name = expression.function
  const of = transformFunctions.get(name)
  if (!of) {
    const nearest = nearestName(name, transformFunctions.keys())
    throw new TransformFault(name, `is not known${nearest ? `; did you mean "${nearest}"?` : ''}`)
  }
  const given = expression.arguments.map((argument) => {
    if ('function' in argument) return evaluateExpression(argument, lookUp, assertTime)
    return 'value' in argument ? argument.value : lookUp(argument)
  })
  assertTime(stepsOf(given))
  try {
    const values = argumentsOf(of, given)
    return values && passedOn(of.evaluate(values, assertTime), of)
  } catch (error) {
    if (error instanceof WrongArgument) throw new TransformFault(name, error.message)
    throw error
  }
}

/**
 * What is wrong with the constants of a call, before it runs: a pattern, locale or zone that is none.
 * @param spend bounds what the patterns of a definition cost together
 * @returns the end of a sentence, or nothing
 */
export function faultOfConstants(
  of: TransformFunction,
  expression: Expression,
  spend: Spend,
): string | undefined {
  try {
    const constants = of.parameters.map((parameter, place) => {
      const argument = expression.arguments[place]
      const value = argument && 'value' in argument ? converted(argument.value, parameter) : undefined
      if (parameter.constant && !parameter.optional && value === undefined)
        throw new WrongArgument(`${parameter.name} must be given as a value`)
      return value
    })
    of.check?.(constants, spend)
    return undefined
  } catch (error) {
    if (error instanceof WrongArgument) return error.message
    throw error
  }
}
