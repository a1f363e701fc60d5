import {
  type FilterFamily,
  familyOf,
  isSortable,
  operatorsOf,
} from '@millrace/contract/resources/filter-operators.ts'
import {
  type Binding,
  type ConditionRule,
  conditionOperators,
  type NodeFilter,
  type WorkflowNodeOf,
} from '@millrace/contract/resources/workflow-definition.ts'
import { hintOf } from '../../../../platform/text/nearest.ts'
import { isReference } from '../bindings.ts'
import type { KnownDatasource } from '../definition-resources.ts'
import type { ValueType } from '../value-type.ts'
import { type Faults, faultOfNode, type Scope } from './scope.ts'
import { faultOfType, faultOfTypes, typeOfBinding } from './type-fit.ts'

type Wrong = { readonly field: string; readonly message: string; readonly rule?: 'operator' | 'binding' }

/** Windows of hours before or after now. */
const isRelative = ({ operator }: ConditionRule): boolean => operator === 'inNext' || operator === 'inLast'

/** The type that the right side of a rule is read as. */
function rightType(rule: ConditionRule) {
  if (isRelative(rule)) return 'number'
  return rule.type === 'list' ? 'text' : rule.type
}

function* faultsOfRule(rule: ConditionRule, scope: Scope): Generator<Wrong> {
  const { type, operator, value, to } = rule
  const operators: readonly string[] = conditionOperators[type]
  if (!operators.includes(operator)) {
    yield {
      field: 'operator',
      message: `${operator} does not fit the type ${type}, which has ${operators.join(', ')}`,
    }
    return
  }
  const left = faultOfType(value, type, scope)
  if (left) yield { field: 'value', message: `${left}, because the rule compares as ${type}` }
  if (operator === 'empty' || operator === 'notEmpty') {
    if (to) yield { field: 'to', message: `${operator} compares with nothing; leave out to` }
    return
  }
  if (!to) {
    yield { field: 'to', message: `is required by ${operator}: what the value is compared with` }
    return
  }
  const hasOne = type === 'boolean' || isRelative(rule)
  if (hasOne && to.length > 1) yield { field: 'to', message: `must hold one value for ${operator}` }
  for (const [place, binding] of to.entries()) {
    const right = (hasOne ? faultOfType : faultOfTypes)(binding, rightType(rule), scope)
    if (right) yield { field: `to.${place}`, message: `${right}, because the rule compares as ${type}` }
  }
}

function* checkConditions(scope: Scope, id: string, node: WorkflowNodeOf<'conditions'>): Faults {
  const seen = new Set<string>()
  for (const [place, { id: output, rules }] of node.cases.entries()) {
    const at = `cases.${place}`
    if (output === 'default')
      yield faultOfNode(
        'edges',
        id,
        node,
        `${at}.id`,
        `${at}.id "default" is the output without a match; name it otherwise`,
      )
    if (seen.has(output))
      yield faultOfNode(
        'edges',
        id,
        node,
        `${at}.id`,
        `${at}.id "${output}" is used twice; cases need ids of their own`,
      )
    seen.add(output)
    for (const [number, rule] of rules.entries()) {
      for (const { field, message } of faultsOfRule(rule, scope)) {
        const path = `${at}.rules.${number}.${field}`
        yield faultOfNode('operator', id, node, path, `${path} ${message}`)
      }
    }
  }
}

/** Operators that take any of several values. */
const takesSeveral: ReadonlySet<string> = new Set(['$eq', '$ne', '$neq', '$nne'])

const typeOfFamily = {
  text: 'text',
  texts: 'text',
  number: 'number',
  numbers: 'number',
  boolean: 'boolean',
  instant: 'date',
  map: 'any',
} as const satisfies Record<FilterFamily, ValueType>

/** What a filter compares with; relative windows are hours from now. */
function typeOfOperand(family: FilterFamily, operator: string): ValueType {
  if (operator === '$empty') return 'boolean'
  return operator.includes('range') ? 'number' : typeOfFamily[family]
}

/** Datasources compare values of one type only: a number is no text to them. */
function faultOfOperand(binding: Binding, wanted: ValueType, several: boolean, scope: Scope) {
  const fault = (several ? faultOfTypes : faultOfType)(binding, wanted, scope)
  if (fault || wanted !== 'text' || !isReference(binding)) return fault
  const given = typeOfBinding(binding, scope)
  const isText = ['text', 'any', ...(several ? ['list'] : [])].includes(given)
  return isText ? undefined : `must be a text, and it is a ${given}`
}

function faultOfFilter(
  { field, operator, value }: NodeFilter,
  fields: Fields,
  scope: Scope,
): Wrong | undefined {
  const known = fields.get(field)
  if (!known)
    return {
      field: 'field',
      message: `names "${field}", which the datasource does not have${hintOf(field, fields.keys())}`,
      rule: 'binding',
    }
  const family = familyOf[known.primitive]
  const operators: readonly string[] = operatorsOf[family]
  const named = operator.startsWith('$') ? operator : `$${operator}`
  if (!operators.includes(named))
    return {
      field: 'operator',
      message: `${operator} does not fit field "${field}" (${known.primitive}), which has ${operators.join(', ')}`,
    }
  const wrong = faultOfOperand(value, typeOfOperand(family, named), takesSeveral.has(named), scope)
  return wrong
    ? { field: 'value', message: `${wrong}, because field "${field}" is ${known.primitive}` }
    : undefined
}

type Fields = NonNullable<KnownDatasource['fields']>

function* checkDatasource(scope: Scope, id: string, node: WorkflowNodeOf<'datasource'>): Faults {
  if (node.ordering === 'sorted' && !node.sort)
    yield faultOfNode('operator', id, node, 'sort', 'sort is required by the ordering sorted')
  if (node.sort && node.ordering !== 'sorted')
    yield faultOfNode('operator', id, node, 'ordering', 'ordering must be sorted where sort is given')
  const fields = scope.resources.datasources.get(node.datasourceId)?.fields
  if (!fields) return
  for (const [place, filter] of (node.filters ?? []).entries()) {
    const wrong = faultOfFilter(filter, fields, scope)
    if (!wrong) continue
    const path = `filters.${place}.${wrong.field}`
    yield faultOfNode(wrong.rule ?? 'operator', id, node, path, `${path} ${wrong.message}`)
  }
  const sorted = node.sort && fields.get(node.sort.field)
  if (node.sort && !sorted)
    yield faultOfNode(
      'binding',
      id,
      node,
      'sort.field',
      `sort.field names "${node.sort.field}", which the datasource does not have${hintOf(node.sort.field, fields.keys())}`,
    )
  if (node.sort && sorted && !isSortable(sorted))
    yield faultOfNode(
      'operator',
      id,
      node,
      'sort.field',
      `sort.field names "${node.sort.field}" (${sorted.primitive}), which is not sortable; choose a number, a date, or make it sortable`,
    )
}

/** Of the sum of shares. */
const shareError = 1e-9

function* checkSplit(id: string, node: WorkflowNodeOf<'split'>): Faults {
  const sum = node.groups.reduce((total, { share }) => total + share, 0)
  if (Math.abs(sum - 100) > shareError)
    yield faultOfNode(
      'shares',
      id,
      node,
      'groups',
      `the shares of its groups must sum to 100, and sum to ${Number(sum.toFixed(9))}`,
    )
  const seen = new Set<string>()
  for (const [place, group] of node.groups.entries()) {
    if (seen.has(group.id))
      yield faultOfNode(
        'edges',
        id,
        node,
        `groups.${place}.id`,
        `groups.${place}.id "${group.id}" is used twice; groups need ids of their own`,
      )
    seen.add(group.id)
  }
}

/** Operators fit what they compare, and shares make a whole. */
export function* checkComparisons(scope: Scope): Faults {
  for (const [id, node] of Object.entries(scope.definition.nodes)) {
    if (node.type === 'conditions') yield* checkConditions(scope, id, node)
    if (node.type === 'datasource') yield* checkDatasource(scope, id, node)
    if (node.type === 'split') yield* checkSplit(id, node)
    yield undefined
  }
}
