import { placeholderValues } from './placeholders.ts'
import type { DropRuleId } from './rules.ts'

/** An event's data and what the rules make of it, wherever they are applied: in the collector and in the tracker. */
export interface EventVector {
  readonly name: string
  readonly data: unknown
  /** The rule that drops the event, or what is kept of its data. */
  readonly outcome: DropRuleId | { readonly ids?: readonly string[]; readonly value?: string }
}

const ids = (value: unknown, outcome: EventVector['outcome'], name = 'product_page'): EventVector => ({
  name,
  data: { ids: value },
  outcome,
})
const value = (sent: unknown, outcome: EventVector['outcome']): EventVector => ({
  name: 'purchase',
  data: { value: sent },
  outcome,
})

/** Every rule of docs/interface.md, Events, that looks at `data`. */
export const eventVectors: readonly EventVector[] = [
  ...[null, [], '{}', 5, true].map((data) => ({ name: 'x', data, outcome: 'data-not-object' as const })),
  { name: 'x', data: {}, outcome: {} },
  { name: 'x', data: { ids: ['A'], color: 'red', nested: { ids: 5 } }, outcome: { ids: ['A'] } },

  ids('A', { ids: ['A'] }),
  ids('A;B,C', { ids: ['A', 'B', 'C'] }),
  ids('A|B', { ids: ['A', 'B'] }),
  ids(' A ; B ;;', { ids: ['A', 'B'] }),
  ids('A;0;B', { ids: ['A', 'B'] }),
  ids(' A ', { ids: [' A '] }),
  ids(['a;b'], { ids: ['a;b'] }),
  ids([' a '], { ids: [' a '] }),
  ids([null, '0', 'x', ''], { ids: ['x'] }),
  ids(['Undefined', 'NULL', '00', '0 '], { ids: ['Undefined', 'NULL', '00', '0 '] }),
  ids('Shirts, Ties; more', { ids: ['Shirts, Ties; more'] }, 'category_view'),
  ids('Dolce; Gabbana', { ids: ['Dolce; Gabbana'] }, 'brand_view'),
  ids('Shirts, Ties', { ids: ['Shirts', 'Ties'] }, 'category_views'),
  ...[[], '', ';,|', 'null', ['0', 'undefined', null]].map((each) => ids(each, 'ids-none-left')),
  ...placeholderValues.map((each) => ids(each, 'ids-none-left')),
  ...placeholderValues.map((each) => ids([each, 'A'], { ids: ['A'] })),
  ...[null, 5, true, {}, [5], ['a', {}], ['a', true], [['a']]].map((each) => ids(each, 'ids-wrong-type')),

  value(0, { value: '0.00' }),
  value('-1', { value: '-1.00' }),
  value(12.345, { value: '12.34' }),
  value(4.35, { value: '4.35' }),
  value(-1.239, { value: '-1.23' }),
  value(129.89999999999998, { value: '129.89' }),
  value('129.90', { value: '129.90' }),
  value(' 1e3 ', { value: '1000.00' }),
  value('9999999999999999.999', { value: '9999999999999999.99' }),
  ...[null, true, '', '0x10', '12 EUR', [5], {}].map((each) => value(each, 'purchase-value-not-number')),
  ...['12,5', '1;2', '1|2', '1,234.50'].map((each) => value(each, 'purchase-value-joined')),
  ...[1e21, '10000000000000000'].map((each) => value(each, 'purchase-value-out-of-range')),
  {
    name: 'purchase',
    data: { ids: 'A;B', value: '10', transId: 'T' },
    outcome: { ids: ['A', 'B'], value: '10.00' },
  },
]
