import {
  type Binding,
  definitionLimits,
  type Expression,
} from '@millrace/contract/resources/workflow-definition.ts'
import { hintOf } from '../../../../platform/text/nearest.ts'
import { functionNamed, transformFunctions } from '../transform-functions/catalogue.ts'
import { faultOfConstants } from '../transform-functions/evaluate-expression.ts'
import {
  type Spend,
  type TransformFunction,
  WrongArgument,
} from '../transform-functions/transform-function.ts'
import { type Faults, faultOfNode, type Scope } from './scope.ts'
import { faultOfType, fits } from './type-fit.ts'

type Argument = Binding | Expression
type Wrong = { readonly path: string; readonly message: string }

function faultOfCount(of: TransformFunction, count: number): string | undefined {
  const names = of.parameters.map(({ name, optional }) => (optional ? `${name}?` : name))
  const call = [...names, ...(of.rest === undefined ? [] : ['...'])].join(', ')
  const min = Math.max(
    of.rest === undefined ? 0 : 1,
    of.parameters.filter(({ optional }) => !optional).length,
  )
  if (count < min) return `has too few arguments: (${call})`
  return of.rest === undefined && count > of.parameters.length
    ? `has too many arguments: (${call})`
    : undefined
}

function faultOfArgument(
  argument: Argument,
  wanted: TransformFunction['result'],
  scope: Scope,
): string | undefined {
  if (!('function' in argument)) return faultOfType(argument, wanted, scope)
  const result = functionNamed(argument.function)?.result ?? 'any'
  return fits(result, wanted) ? undefined : `must be ${wanted}, and ${argument.function} gives ${result}`
}

function* faultsOf(expression: Expression, path: string, scope: Scope, spend: Spend): Generator<Wrong> {
  const name = expression.function
  const of = functionNamed(name)
  if (!of) {
    yield {
      path: `${path}.function`,
      message: `"${name}" is no function${hintOf(name, transformFunctions.keys())}`,
    }
    return
  }
  const wrongCount = faultOfCount(of, expression.arguments.length)
  if (wrongCount) {
    yield { path: `${path}.arguments`, message: `of ${name} ${wrongCount}` }
    return
  }
  let isWhole = true
  for (const [place, argument] of expression.arguments.entries()) {
    const parameter = of.parameters[place]
    const at = `${path}.arguments.${place}`
    if (parameter?.constant && !('value' in argument)) {
      isWhole = false
      yield { path: at, message: `(${parameter.name} of ${name}) must be given as a value` }
    }
    const wrong = faultOfArgument(argument, parameter?.type ?? of.rest ?? 'any', scope)
    if (wrong) {
      isWhole = false
      yield { path: at, message: `(${parameter?.name ?? 'argument'} of ${name}) ${wrong}` }
    }
    if ('function' in argument) yield* faultsOf(argument, at, scope, spend)
  }
  const wrongConstant = isWhole ? faultOfConstants(of, expression, spend) : undefined
  if (wrongConstant) yield { path, message: `(${name}) ${wrongConstant}` }
}

/** Bounds what is compiled for one definition, by those who validate it and by every process that runs it. */
function allowanceOfPatterns(): Spend {
  const max = definitionLimits.patternCost
  let spent = 0
  return (cost) => {
    spent += cost
    if (spent > max)
      throw new WrongArgument(
        `the patterns of a definition may compile to ${max} instructions together, and those up to here have ${spent}; give simpler ones, or smaller counts of repetitions`,
      )
  }
}

/** Functions exist, and take what they are given. */
export function* checkExpressions(scope: Scope): Faults {
  const spend = allowanceOfPatterns()
  for (const [id, node] of Object.entries(scope.definition.nodes)) {
    if (node.type !== 'transform') continue
    for (const { path, message } of faultsOf(node.expression, 'expression', scope, spend))
      yield faultOfNode('expression', id, node, path, `${path} ${message}`)
    yield undefined
  }
}
