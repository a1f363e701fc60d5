import type { ConditionType } from '@millrace/contract/resources/workflow-definition.ts'

/** What is known of a value before it is there; `any` where nothing is. */
export type ValueType = ConditionType | 'any'

/** The type of a field of a record whose fields are fixed. */
export const typeOfFixed = (
  fields: Readonly<Record<string, ValueType>>,
  name: string | undefined,
): ValueType | undefined => (name !== undefined && Object.hasOwn(fields, name) ? fields[name] : undefined)

/** The type of a value that is written into the definition; a text may also be meant as a date. */
export function typeOfConstant(value: unknown): ValueType {
  if (Array.isArray(value)) return 'list'
  if (typeof value === 'number') return 'number'
  if (typeof value === 'boolean') return 'boolean'
  return typeof value === 'string' ? 'text' : 'any'
}
