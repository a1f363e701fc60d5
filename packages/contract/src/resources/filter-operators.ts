import type { DatasourceField } from './datasource-field.ts'

/** How values of a primitive are compared; lists by their elements, maps not at all. */
export type FilterFamily = 'text' | 'number' | 'boolean' | 'instant' | 'texts' | 'numbers' | 'map'

export const familyOf: Readonly<Record<DatasourceField['primitive'], FilterFamily>> = {
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
} as const satisfies Readonly<Record<FilterFamily, readonly string[]>>

export type FilterOperator = (typeof operatorsOf)[FilterFamily][number]

/** Families whose values have an order. */
const ordered = new Set<FilterFamily>(['number', 'instant'])

/** Whether rows can be sorted by the field: where it says nothing, by what has an order. */
export function isSortable({
  primitive,
  sortable,
}: Pick<DatasourceField, 'primitive'> & { readonly sortable?: boolean | undefined }): boolean {
  return sortable ?? ordered.has(familyOf[primitive])
}
