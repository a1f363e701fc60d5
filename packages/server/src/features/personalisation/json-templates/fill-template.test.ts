import fc from 'fast-check'
import { expect, test } from 'vitest'
import { fillTemplate } from './fill-template.ts'

const leaf = (variable: string) => ({ type: 'dependency', variable })

test('fills each variable by its mode', () => {
  const template = {
    definition: {
      kind: { type: 'static', value: 'card' },
      product: { title: leaf('title'), type: { type: 'static', value: 7 } },
      images: [leaf('images'), leaf('second')],
    },
    variables: [
      { name: 'title', type: 'scalar' as const },
      { name: 'images', type: 'array' as const },
      { name: 'second', type: 'fixed' as const, index: 1 },
    ],
  }
  const rows = ['a.png', 'b.png']
  const values = new Map<string, unknown>([
    ['title', 'Shoe'],
    ['images', rows],
    ['second', rows],
  ])
  expect(fillTemplate(template, values)).toEqual({
    kind: 'card',
    product: { title: 'Shoe', type: 7 },
    images: [['a.png', 'b.png'], 'b.png'],
  })
  expect(fillTemplate(template, new Map())).toEqual({
    kind: 'card',
    product: { title: null, type: 7 },
    images: [[], null],
  })
  expect(fillTemplate(template, new Map<string, unknown>([['images', 'one']]))).toMatchObject({
    images: [['one'], null],
  })
})

test('a name that objects inherit is a field like others, and a variable of such a name has only its own value', () => {
  const definition = JSON.parse(
    '{"__proto__": {"type": "static", "value": {"polluted": true}}, "constructor": {"type": "dependency", "variable": "toString"}}',
  )
  const filled = fillTemplate({ definition, variables: [{ name: 'toString', type: 'scalar' }] }, new Map())
  expect(JSON.stringify(filled)).toBe('{"__proto__":{"polluted":true},"constructor":null}')
  expect(({} as { polluted?: boolean }).polluted).toBeUndefined()
})

test('any JSON, written as leaves, comes back as it was', () => {
  const toLeaves = (value: unknown, depth = 0): unknown => {
    if (depth > 0 && (value === null || typeof value !== 'object')) return { type: 'static', value }
    if (Array.isArray(value)) return value.map((each) => toLeaves(each, depth + 1))
    return Object.fromEntries(
      Object.entries(value as object).map(([name, each]) => [name, toLeaves(each, depth + 1)]),
    )
  }
  fc.assert(
    fc.property(fc.dictionary(fc.string(), fc.jsonValue({ maxDepth: 4 })), (value) => {
      const plain = JSON.parse(JSON.stringify(value))
      expect(fillTemplate({ definition: toLeaves(plain), variables: [] }, new Map())).toEqual(plain)
    }),
  )
})
