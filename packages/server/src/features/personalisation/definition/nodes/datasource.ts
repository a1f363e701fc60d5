import type { DatasourceField } from '@millrace/contract/resources/datasource-field.ts'
import {
  type FilterFamily,
  familyOf,
  isSortable,
  operatorsOf,
} from '@millrace/contract/resources/filter-operators.ts'
import {
  type Binding,
  definitionLimits,
  type NodeFilter,
  type WorkflowNodeOf,
} from '@millrace/contract/resources/workflow-definition.ts'
import { seededRandom, seedOf, shuffled } from '../../../../platform/distributions/random.ts'
import { hintOf } from '../../../../platform/text/nearest.ts'
import { compileBinding, needsOf } from '../../compile/compile-binding.ts'
import type { DataRow, RowQuery, RunView } from '../../compile/executable.ts'
import { failed, isAbsent, NoValue } from '../../compile/values.ts'
import { isReference, rowsOf } from '../bindings.ts'
import type { KnownDatasource } from '../definition-resources.ts'
import type { Scope } from '../scope.ts'
import type { DataNodeKind } from './node-kind.ts'
import { faultOfType, faultOfTypes } from './type-fit.ts'
import type { ValueType } from './value-type.ts'

type DatasourceNode = WorkflowNodeOf<'datasource'>

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

const typeOfPrimitive = (primitive: DatasourceField['primitive']): ValueType =>
  primitive.endsWith('[]') ? 'list' : typeOfFamily[familyOf[primitive]]

const operatorNamed = (operator: string): string => (operator.startsWith('$') ? operator : `$${operator}`)

/** What a filter compares with; relative windows are hours from now. */
function typeOfOperand(family: FilterFamily, operator: string): ValueType {
  if (operator === '$empty') return 'boolean'
  return operator.includes('range') ? 'number' : typeOfFamily[family]
}

/** Datasources compare values of one type only: a number is no text to them. */
function faultOfOperand(binding: Binding, wanted: ValueType, several: boolean, scope: Scope) {
  const fault = (several ? faultOfTypes : faultOfType)(binding, wanted, scope)
  if (fault || wanted !== 'text' || !isReference(binding)) return fault
  const given = scope.typeOf(binding)
  const isText = ['text', 'any', ...(several ? ['list'] : [])].includes(given)
  return isText ? undefined : `must be a text, and it is a ${given}`
}

type Fields = NonNullable<KnownDatasource['fields']>
type Wrong = readonly [rule: 'operator' | 'binding', field: keyof NodeFilter, message: string]

function faultOfFilter(
  { field, operator, value }: NodeFilter,
  fields: Fields,
  scope: Scope,
): Wrong | undefined {
  const known = fields.get(field)
  if (!known)
    return [
      'binding',
      'field',
      `names "${field}", which the datasource does not have${hintOf(field, fields.keys())}`,
    ]
  const { primitive } = known
  const family = familyOf[primitive]
  const operators: readonly string[] = operatorsOf[family]
  const named = operatorNamed(operator)
  if (!operators.includes(named)) {
    const message = `${operator} does not fit field "${field}" (${primitive}), which has ${operators.join(', ')}`
    return ['operator', 'operator', message]
  }
  const wrong = faultOfOperand(value, typeOfOperand(family, named), takesSeveral.has(named), scope)
  return wrong ? ['operator', 'value', `${wrong}, because field "${field}" is ${primitive}`] : undefined
}

/** For how long a shuffled order stands. */
const shuffleMs = 10_000

const isPersonal = ({ ordering }: DatasourceNode, byBindings: boolean) => ordering === 'person' || byBindings

/** Rows of a datasource. */
export const datasource: DataNodeKind<DatasourceNode> = {
  reference: {
    field: 'datasourceId',
    kind: 'datasources',
    noun: 'datasource',
    faultOf: (id, { datasources }) =>
      datasources.get(id)?.fields
        ? undefined
        : `datasource "${id}" has no live version yet; bring its fields live first`,
  },
  bindingsOf: ({ filters = [] }) =>
    filters.map(({ value }, place) => ({ path: `filters.${place}.value`, binding: value })),
  detailsOf: ({ filters = [] }) => filters.length,
  gives: 'rows',
  typeOf({ datasourceId }, field, { datasources }) {
    const fields = datasources.get(datasourceId)?.fields
    if (!fields) return 'any'
    const primitive = fields.get(field ?? '')?.primitive
    return primitive && typeOfPrimitive(primitive)
  },
  fieldsOf: ({ datasourceId }, { datasources }) => datasources.get(datasourceId)?.fields?.keys(),
  ownFieldsOf: ({ sort, filters = [] }) => [
    ...(sort ? [sort.field] : []),
    ...filters.map(({ field }) => field),
  ],
  isPersonal: (node, _, byBindings) => isPersonal(node, byBindings),
  scoreOf: (node, _, byBindings) => (isPersonal(node, byBindings) ? 1 : 0),

  check: (scope) =>
    function* ({ ordering, sort, datasourceId, filters = [] }, at) {
      if (ordering === 'sorted' && !sort)
        yield at('operator', 'sort', 'sort is required by the ordering sorted')
      if (sort && ordering !== 'sorted')
        yield at('operator', 'ordering', 'ordering must be sorted where sort is given')
      const fields = scope.resources.datasources.get(datasourceId)?.fields
      if (!fields) return
      for (const [place, filter] of filters.entries()) {
        const [rule, field, message] = faultOfFilter(filter, fields, scope) ?? []
        if (!rule) continue
        const path = `filters.${place}.${field}`
        yield at(rule, path, `${path} ${message}`)
      }
      if (!sort) return
      const sorted = fields.get(sort.field)
      const names = `sort.field names "${sort.field}"`
      if (!sorted) {
        const hint = hintOf(sort.field, fields.keys())
        yield at('binding', 'sort.field', `${names}, which the datasource does not have${hint}`)
      } else if (!isSortable(sorted)) {
        const advice = 'choose a number, a date, or make it sortable'
        yield at('operator', 'sort.field', `${names} (${sorted.primitive}), which is not sortable; ${advice}`)
      }
    },

  compile(node, { id, numbers }) {
    const { datasourceId, match = 'and' } = node
    const limit = rowsOf(node)
    const ordering = node.ordering ?? (node.sort ? 'sorted' : 'stored')
    const filters = (node.filters ?? []).map(({ field, operator, value }) => ({
      field,
      operator: operatorNamed(operator),
      binding: compileBinding(value, numbers),
    }))
    const isShuffled = ordering === 'shuffled' || ordering === 'person'

    function queryOf(run: RunView): RowQuery | undefined {
      const resolved: { field: string; operator: string; value: unknown }[] = []
      for (const { field, operator, binding } of filters) {
        const value = binding.read(run)
        if (value === failed) throw new NoValue(`the value of the filter on ${field} could not be had`)
        // A filter without a value matches nothing, rather than everything.
        if (!isAbsent(value) || operator === '$empty')
          resolved.push({ field, operator, value: value ?? true })
        else if (match === 'and') return undefined
      }
      if (filters.length > 0 && resolved.length === 0) return undefined
      return {
        companyId: run.environment.companyId,
        datasourceId,
        match,
        filters: resolved,
        sort: ordering === 'sorted' ? node.sort : undefined,
        limit: isShuffled ? definitionLimits.rows : limit,
      }
    }

    function order(rows: readonly DataRow[], { request }: RunView): readonly DataRow[] {
      if (!isShuffled) return rows
      const turn = ordering === 'person' ? request.unit : String(Math.floor(request.now / shuffleMs))
      return shuffled(rows, seededRandom(seedOf(`${id}:${turn}`))).slice(0, limit)
    }

    return {
      needs: needsOf(filters.map(({ binding }) => binding)),
      inputOf: (run) => queryOf(run) ?? null,
      compute(run) {
        const query = queryOf(run)
        if (query === undefined) return []
        const rows = run.environment.readRows(query)
        return rows instanceof Promise ? rows.then((read) => order(read, run)) : order(rows, run)
      },
    }
  },
}
