import {
  bounded,
  constant,
  optional,
  type TransformFunction,
  takes,
  transformLimits,
  WrongArgument,
  withVariables,
} from './transform-function.ts'

const items = (value: unknown): readonly unknown[] => value as readonly unknown[]

const arrayGet: TransformFunction = {
  description: 'The item at a place from 0, or from the end where negative; absent where there is none',
  parameters: [takes.list, constant('index', 'number')],
  result: 'any',
  evaluate: ([given, index]) => items(given).at(Math.trunc(index as number)),
}

/** Distinct items, the most frequent first; equally frequent ones in the order in which they first come. */
function byFrequency(values: readonly unknown[]): unknown[] {
  const counts = new Map<unknown, number>()
  for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1)
  return [...counts].sort(([, a], [, b]) => b - a).map(([value]) => value)
}

function concat(values: readonly unknown[]): unknown {
  if (!values.some(Array.isArray)) {
    let text = ''
    for (const value of values) text = bounded(text + String(value))
    return text
  }
  const joined = values.flat()
  if (joined.length > transformLimits.items)
    throw new WrongArgument(`the list must have at most ${transformLimits.items} items`)
  return joined
}

/** Functions over lists (docs/workflows.md, Transform functions). */
export const listFunctions = {
  'array-get': arrayGet,
  'array-get-var': withVariables(arrayGet, ['index']),
  intersection: {
    description: 'Distinct items that both lists have, in the order of the first',
    parameters: [takes.list, { name: 'other', type: 'list' }],
    result: 'list',
    evaluate([given, other]) {
      const kept = new Set(items(other))
      return [...new Set(items(given))].filter((item) => kept.has(item))
    },
  },
  unique: {
    description: 'Distinct items in their order',
    parameters: [takes.list],
    result: 'list',
    evaluate: ([given]) => [...new Set(items(given))],
  },
  'unique-rank': {
    description: 'Distinct items, the most frequent first; the first `count` of them where it is given',
    parameters: [takes.list, optional(constant('count', 'number'))],
    result: 'list',
    evaluate: ([given, count]) =>
      byFrequency(items(given)).slice(
        0,
        count === undefined ? undefined : Math.max(0, Math.trunc(count as number)),
      ),
  },
  concat: {
    description: 'Texts and numbers joined to one text; with a list among them, one list of all items',
    parameters: [],
    rest: 'any',
    result: 'any',
    evaluate: concat,
  },
  lookup: {
    description:
      'The item of `values` at the place that the value has in `keys`, else `fallback`, else absent',
    parameters: [
      { name: 'value', type: 'any' },
      constant('keys', 'list'),
      constant('values', 'list'),
      optional({ name: 'fallback', type: 'any' }),
    ],
    takesAbsent: true,
    result: 'any',
    evaluate([value, keys, values, fallback]) {
      const place = items(keys).indexOf(value)
      return place < 0 ? fallback : items(values)[place]
    },
    check([, keys, values]) {
      if (items(keys).length !== items(values).length)
        throw new WrongArgument('keys and values must have the same number of items')
    },
  },
} as const satisfies Record<string, TransformFunction>
