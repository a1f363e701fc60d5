import {
  Binding,
  definitionLimits,
  type Expression,
  nodeSchemas,
  type WorkflowNodeOf,
} from '@millrace/contract/resources/workflow-definition.ts'
import { faultOfShape, faultsOfShape } from '../../../../platform/http/validation.ts'
import { isObject } from '../../../../platform/plain-object.ts'
import { hintOf } from '../../../../platform/text/nearest.ts'
import { type CompiledBinding, compileBinding, needsOf } from '../../compile/compile-binding.ts'
import { failed, NoValue, previewOf } from '../../compile/values.ts'
import { bindingForms, explainBinding, joined } from '../binding-shape.ts'
import type { PlacedBinding } from '../bindings.ts'
import type { Scope } from '../scope.ts'
import { functionNamed, transformFunctions } from '../transform-functions/catalogue.ts'
import { evaluateExpression, faultOfConstants } from '../transform-functions/evaluate-expression.ts'
import {
  type Spend,
  type TransformFunction,
  WrongArgument,
} from '../transform-functions/transform-function.ts'
import type { DataNodeKind, ShapeFault } from './node-kind.ts'
import { faultOfType, fits } from './type-fit.ts'

type Argument = Binding | Expression

/**
 * Arguments of functions are bindings or functions again, which a schema without recursion leaves open.
 * @returns at most `max` faults
 */
function faultsOfExpression(expression: Record<string, unknown>, max: number): ShapeFault[] {
  const { expressionDepth, expressionFunctions } = definitionLimits
  const faults: ShapeFault[] = []
  let functions = 0
  const add = (...found: readonly ShapeFault[]) => faults.push(...found.slice(0, max - faults.length))
  const read = (value: Record<string, unknown>, path: string, depth: number): void => {
    if (faults.length >= max || ++functions > expressionFunctions + 1) return
    const isTooMany = functions > expressionFunctions
    if (isTooMany || depth > expressionDepth) {
      const what = isTooMany
        ? `has more than ${expressionFunctions} functions`
        : `nests more than ${expressionDepth} functions in each other`
      add({ path, message: `${what}; use several transform nodes` })
      return
    }
    for (const fault of faultsOfShape(nodeSchemas.transform.properties.expression, value, max))
      add({ path: joined(path, fault.path), message: fault.message })
    if (!Array.isArray(value.arguments)) return
    for (const [place, argument] of (value.arguments as unknown[]).entries()) {
      const at = `${path}.arguments.${place}`
      if (isObject(argument) && 'function' in argument) read(argument, at, depth + 1)
      else add(...faultsOfArgumentShape(argument, at))
    }
  }
  read(expression, 'expression', 1)
  return faults
}

function faultsOfArgumentShape(argument: unknown, at: string): ShapeFault[] {
  if (!isObject(argument)) return [{ path: at, message: `${bindingForms(argument)}, or another function` }]
  const shape = faultOfShape(Binding, argument)
  if (!shape) return []
  const { path, message } = explainBinding(argument, shape)
  return [{ path: joined(at, path), message }]
}

function placedBindings(expression: Expression, path = 'expression'): PlacedBinding[] {
  return expression.arguments.flatMap((argument, place) => {
    const at = `${path}.arguments.${place}`
    return 'function' in argument ? placedBindings(argument, at) : [{ path: at, binding: argument }]
  })
}

const countFunctions = (expression: Expression): number =>
  expression.arguments.reduce(
    (count, argument) => count + ('function' in argument ? countFunctions(argument) : 0),
    1,
  )

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

function* faultsOfCall(
  expression: Expression,
  path: string,
  scope: Scope,
  spend: Spend,
): Generator<ShapeFault> {
  const name = expression.function
  const of = functionNamed(name)
  if (!of) {
    const message = `"${name}" is no function${hintOf(name, transformFunctions.keys())}`
    yield { path: `${path}.function`, message }
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
    if ('function' in argument) yield* faultsOfCall(argument, at, scope, spend)
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

/** Computes a value of values further up. */
export const transform: DataNodeKind<WorkflowNodeOf<'transform'>> = {
  bindingsOf: ({ expression }) => placedBindings(expression),
  detailsOf: ({ expression }) => countFunctions(expression),
  gives: 'value',
  typeOf: ({ expression }) => functionNamed(expression.function)?.result ?? 'any',
  isPersonal: (_, __, byBindings) => byBindings,
  isForeign: (_, __, byBindings) => byBindings(),

  faultsOfShape({ expression }, faults, max) {
    if (!isObject(expression)) return [...faults]
    const others = faults.filter(({ path }) => !path.startsWith('expression.'))
    return [...others, ...faultsOfExpression(expression, max - others.length)]
  },

  check(scope) {
    const spend = allowanceOfPatterns()
    return function* ({ expression }, at) {
      for (const { path, message } of faultsOfCall(expression, 'expression', scope, spend))
        yield at('expression', path, `${path} ${message}`)
    }
  },

  compile({ expression }, { numbers }) {
    const compiled = new Map<Binding, CompiledBinding>(
      placedBindings(expression).map(({ binding }) => [binding, compileBinding(binding, numbers)]),
    )
    const bindings = [...compiled.values()]
    return {
      needs: needsOf(bindings),
      inputOf: (run) => bindings.map(({ read }) => previewOf(read(run))),
      compute: (run) =>
        run.computing(() =>
          evaluateExpression(
            expression,
            (binding) => {
              const value = compiled.get(binding)?.read(run)
              if (value === failed) throw new NoValue('a value that it computes with could not be had')
              return value
            },
            run.assertTime,
          ),
        ),
    }
  },
}
