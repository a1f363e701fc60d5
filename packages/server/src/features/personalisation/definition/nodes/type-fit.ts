import type { Binding, ConditionType } from '@millrace/contract/resources/workflow-definition.ts'
import { isReference } from '../bindings.ts'
import type { Scope } from '../scope.ts'
import { instantOf } from '../transform-functions/evaluate-expression.ts'
import type { ValueType } from './value-type.ts'

const nouns: Record<ConditionType, string> = {
  text: 'a text',
  number: 'a number',
  date: 'a date',
  boolean: 'true or false',
  list: 'a list',
}

/** Whether a value of one type can be read as another. A number, boolean or date is also a text; nothing else changes. */
export function fits(given: ValueType, wanted: ValueType): boolean {
  if (given === 'any' || wanted === 'any' || given === wanted) return true
  return wanted === 'text' && given !== 'list'
}

/** What is wrong with a binding that is read as a type; the end of a sentence, or nothing. */
export function faultOfType(binding: Binding, wanted: ValueType, scope: Scope): string | undefined {
  if (wanted === 'any') return undefined
  const given = scope.typeOf(binding)
  if (wanted === 'date' && !isReference(binding) && (given === 'text' || given === 'number'))
    return instantOf(binding.value) === undefined ? 'must be a date of ISO 8601, as 2026-01-31' : undefined
  if (given === 'any' || fits(given, wanted)) return undefined
  return `must be ${nouns[wanted]}, and it is ${nouns[given]}`
}

/** The same where several values may be given, each by itself or as one list. */
export function faultOfTypes(binding: Binding, wanted: ValueType, scope: Scope): string | undefined {
  if (isReference(binding))
    return scope.typeOf(binding) === 'list' ? undefined : faultOfType(binding, wanted, scope)
  for (const value of [binding.value].flat()) {
    const fault = faultOfType({ value }, wanted, scope)
    if (fault) return fault
  }
  return undefined
}
