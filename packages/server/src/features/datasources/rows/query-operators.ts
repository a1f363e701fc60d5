import type { QueriableField, WorkerField } from '@millrace/contract/resources/datasource-version.ts'

type Primitive = WorkerField['primitive']

/** How values of a primitive are compared; lists by their elements, maps not at all. */
export type Family = 'text' | 'number' | 'boolean' | 'instant' | 'texts' | 'numbers' | 'map'

export const familyOf: Readonly<Record<Primitive, Family>> = {
  string: 'text',
  number: 'number',
  boolean: 'boolean',
  datetime: 'instant',
  datetime_iso: 'instant',
  'string[]': 'texts',
  'number[]': 'numbers',
  'string{}': 'map',
  'number{}': 'map',
}

const comparisons = ['$lt', '$lte', '$gt', '$gte'] as const
const ranges = ['$rangefuture', '$rangepast', '$nrangefuture', '$nrangepast'] as const

/** Operators by family (docs/datasources.md, Query). */
export const operatorsOf = {
  text: ['$eq', '$ne', '$contains', '$notcontains', '$startswith', '$endswith', '$empty'],
  number: ['$neq', '$nne', ...comparisons, '$empty'],
  boolean: ['$eq', '$ne', '$empty'],
  instant: [...comparisons, ...ranges, '$empty'],
  texts: ['$eq', '$ne', '$contains', '$notcontains', '$empty'],
  numbers: ['$neq', '$nne', '$empty'],
  map: ['$empty'],
} as const satisfies Readonly<Record<Family, readonly string[]>>

export type QueryOperator = (typeof operatorsOf)[Family][number]

/** Families whose values have an order. */
const ordered = new Set<Family>(['number', 'instant'])

export const isSortable = ({ primitive, sortable }: WorkerField): boolean => {
  const family = familyOf[primitive]
  return sortable ?? ordered.has(family)
}

/** What the fields of a version can be asked for. */
export function queriableFields(fields: readonly WorkerField[]): QueriableField[] {
  return fields.map((field) => ({
    name: field.name,
    type: field.type,
    primitive: field.primitive,
    unique: field.isKey === true,
    sortable: isSortable(field),
    allowedOperators: [...operatorsOf[familyOf[field.primitive]]],
  }))
}
