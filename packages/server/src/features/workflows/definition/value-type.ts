import type { DatasourceField } from '@millrace/contract/resources/datasource-field.ts'
import {
  type ConditionType,
  contextFields,
  eventFields,
  type WorkflowNode,
} from '@millrace/contract/resources/workflow-definition.ts'
import type { Reference } from './bindings.ts'
import type { DefinitionResources } from './definition-resources.ts'
import { functionNamed } from './transform-functions/catalogue.ts'

/** What is known of a value before it is there; `any` where nothing is. */
export type ValueType = ConditionType | 'any'

const ofPrimitive: Record<DatasourceField['primitive'], ValueType> = {
  string: 'text',
  number: 'number',
  boolean: 'boolean',
  datetime: 'date',
  datetime_iso: 'date',
  'string[]': 'list',
  'number[]': 'list',
  'string{}': 'any',
  'number{}': 'any',
}

const ofParameter = { text: 'text', number: 'number', date: 'date', texts: 'list', numbers: 'list' } as const

const known = <T>(fields: Readonly<Record<string, T>>, name: string): T | undefined =>
  Object.hasOwn(fields, name) ? fields[name] : undefined

/** Whether a node gives rows, one record, or one value. */
export function shapeOf(node: WorkflowNode): 'rows' | 'record' | 'value' | undefined {
  switch (node.type) {
    case 'datasource':
    case 'events':
      return 'rows'
    case 'context':
      return 'record'
    case 'parameter':
    case 'transform':
      return 'value'
    default:
      return undefined
  }
}

/** Names of the fields of a node that has some; undefined where they are not known. */
export function fieldsOf(
  node: WorkflowNode,
  { datasources }: DefinitionResources,
): Iterable<string> | undefined {
  switch (node.type) {
    case 'datasource':
      return datasources.get(node.datasourceId)?.fields?.keys()
    case 'events':
      return Object.keys(eventFields)
    case 'context':
      return Object.keys(contextFields)
    default:
      return undefined
  }
}

/** The type of a field of a node, or of its one value; undefined where the node has no such field. */
export function typeOfField(
  node: WorkflowNode,
  field: string | undefined,
  { datasources }: DefinitionResources,
): ValueType | undefined {
  switch (node.type) {
    case 'parameter':
      return ofParameter[node.kind]
    case 'transform':
      return functionNamed(node.expression.function)?.result ?? 'any'
    case 'context':
      return known(contextFields, field ?? '')
    case 'events':
      return field?.startsWith('labels.') ? 'any' : known(eventFields, field ?? '')
    case 'datasource': {
      const fields = datasources.get(node.datasourceId)?.fields
      if (!fields) return 'any'
      const primitive = fields.get(field ?? '')?.primitive
      return primitive && ofPrimitive[primitive]
    }
    default:
      return undefined
  }
}

/** The type of what a reference gives: of all rows together it is a list. */
export function typeOfReference(
  node: WorkflowNode,
  { field, all }: Reference,
  resources: DefinitionResources,
): ValueType {
  return all ? 'list' : (typeOfField(node, field, resources) ?? 'any')
}

/** The type of a value that is written into the definition; a text may also be meant as a date. */
export function typeOfConstant(value: unknown): ValueType {
  if (Array.isArray(value)) return 'list'
  if (typeof value === 'number') return 'number'
  if (typeof value === 'boolean') return 'boolean'
  return typeof value === 'string' ? 'text' : 'any'
}
