import {
  type ConditionRule,
  conditionOperators,
  filterOperators,
  type NodeFilter,
  type WorkflowNodeOf,
} from '@millrace/contract/resources/workflow-definition.ts'
import type { DefinitionResources, KnownField } from '../definition-resources.ts'
import { type Faults, faultOfNode, hintOf, type Scope } from './scope.ts'
import { faultOfType, faultOfTypes } from './type-fit.ts'

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

/** What of a primitive decides its operators; undefined for one that cannot be filtered. */
function familyOf(primitive: KnownField['primitive']): keyof typeof filterOperators | undefined {
  switch (primitive) {
    case 'string':
    case 'number':
    case 'boolean':
      return primitive
    case 'datetime':
    case 'datetime_iso':
      return 'datetime'
    case 'string[]':
    case 'number[]':
      return 'list'
    default:
      return undefined
  }
}

/** Operators that take any of several values. */
const takesSeveral = new Set(['$eq', '$ne'])

function typeOfFilter(primitive: KnownField['primitive'], operator: string) {
  if (operator === '$empty') return 'boolean'
  // Relative windows are hours from now.
  if (operator.includes('range')) return 'number'
  const types = {
    string: 'text',
    number: 'number',
    boolean: 'boolean',
    datetime: 'date',
    list: 'text',
  } as const
  const family = familyOf(primitive)
  return family ? types[family] : 'any'
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
  const family = familyOf(known.primitive)
  if (!family)
    return { field: 'field', message: `names "${field}" (${known.primitive}), which cannot be filtered` }
  const operators: readonly string[] = filterOperators[family]
  const named = operator.startsWith('$') ? operator : `$${operator}`
  if (!operators.includes(named))
    return {
      field: 'operator',
      message: `${operator} does not fit field "${field}" (${known.primitive}), which has ${operators.join(', ')}`,
    }
  const check = takesSeveral.has(named) ? faultOfTypes : faultOfType
  const wrong = check(value, typeOfFilter(known.primitive, named), scope)
  return wrong
    ? { field: 'value', message: `${wrong}, because field "${field}" is ${known.primitive}` }
    : undefined
}

type Fields = NonNullable<ReturnType<DefinitionResources['datasources']['get']>>['fields']

function* checkDatasource(scope: Scope, id: string, node: WorkflowNodeOf<'datasource'>): Faults {
  if (node.ordering === 'sorted' && !node.sort)
    yield faultOfNode('operator', id, node, 'sort', 'sort is required by the ordering sorted')
  const fields = scope.resources.datasources.get(node.datasourceId)?.fields
  if (!fields) return
  for (const [place, filter] of (node.filters ?? []).entries()) {
    const wrong = faultOfFilter(filter, fields, scope)
    if (!wrong) continue
    const path = `filters.${place}.${wrong.field}`
    yield faultOfNode(wrong.rule ?? 'operator', id, node, path, `${path} ${wrong.message}`)
  }
  if (node.sort && !fields.has(node.sort.field))
    yield faultOfNode(
      'binding',
      id,
      node,
      'sort.field',
      `sort.field names "${node.sort.field}", which the datasource does not have${hintOf(node.sort.field, fields.keys())}`,
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
  }
}
