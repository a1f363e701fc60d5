import { type BinaryFilter, memberOf } from '../../data/filters.ts'
import type { Meta } from '../../data/format.ts'
import { titleOf } from '../../data/result.ts'
import { type Operator, takesValues } from './query-state.ts'

/** What operators are called, for one value and for several. */
export type OperatorWords = Readonly<Record<Operator, readonly [one: string, many: string]>>

export interface Sentence {
  readonly member: string
  readonly verb: string
  readonly values: readonly string[]
  /** Values beyond those that are shown. */
  readonly more: number
}

const shownValues = 3

/** A filter as people say it: `Event` `is one of` `page_view, purchase`. */
export function sentenceOf(
  filter: BinaryFilter,
  meta: Meta,
  words: OperatorWords,
  shown = shownValues,
): Sentence {
  const values = takesValues(filter.operator) ? (filter.values ?? []) : []
  const [one, many] = words[filter.operator]
  return {
    member: titleOf(meta, memberOf(filter)),
    verb: values.length > 1 ? many : one,
    values: values.slice(0, shown),
    more: Math.max(0, values.length - shown),
  }
}

const number = /^[+-]?(?:\d{1,18}(?:\.\d{0,10})?|\.\d{1,10})$/

/** What a value of this member must look like. */
export type ValueKind = 'text' | 'number' | 'date' | 'fixed'

export function valueKindOf(meta: Meta, member: string): ValueKind {
  if (meta.measures[member]) return 'number'
  const known = meta.dimensions[member]
  if (known?.type === 'time') return 'date'
  if (known?.type === 'number') return 'number'
  return known?.type === 'boolean' || known?.values ? 'fixed' : 'text'
}

/** Values of a member that has few. */
export function fixedValuesOf(meta: Meta, member: string): readonly string[] {
  const known = meta.dimensions[member]
  return known?.values ?? (known?.type === 'boolean' ? ['true', 'false'] : [])
}

/** Whether the service would take the text as a value. */
export const isValue = (kind: ValueKind, text: string): boolean =>
  text !== '' && (kind !== 'number' || number.test(text))

/** How many values an operator takes. */
export const maxValuesOf = (operator: Operator): number => {
  switch (operator) {
    case 'set':
    case 'notSet':
      return 0
    case 'inDateRange':
    case 'notInDateRange':
      return 2
    case 'beforeDate':
    case 'beforeOrOnDate':
    case 'afterDate':
    case 'afterOrOnDate':
    case 'gt':
    case 'gte':
    case 'lt':
    case 'lte':
      return 1
    default:
      return 1_000
  }
}
