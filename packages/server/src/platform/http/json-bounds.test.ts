import fc from 'fast-check'
import { expect, test } from 'vitest'
import { createJsonCounter } from './json-bounds.ts'

const boundless = Number.POSITIVE_INFINITY
const isNestedDeeperThan = (text: string, levels: number): boolean =>
  createJsonCounter({ levels, keys: boundless, values: boundless })(text) !== undefined

function depthOf(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0
  return 1 + Math.max(0, ...Object.values(value).map(depthOf))
}

test('agrees with the depth of what the text means, whatever its strings hold', () => {
  const text = fc.string({ unit: fc.constantFrom('"', '\\', '[', ']', '{', '}', 'a', ',', ':', '\n') })
  const { value } = fc.letrec((tie) => ({
    value: fc.oneof({ maxDepth: 6 }, text, fc.integer(), tie('list'), tie('object')),
    list: fc.array(tie('value'), { maxLength: 3 }),
    object: fc.dictionary(text, tie('value'), { maxKeys: 3 }),
  }))
  fc.assert(
    fc.property(value, fc.boolean(), (document, spaced) => {
      const depth = depthOf(document)
      const written = JSON.stringify(document, undefined, spaced ? 2 : 0)
      expect(isNestedDeeperThan(written, depth)).toBe(false)
      if (depth > 0) expect(isNestedDeeperThan(written, depth - 1)).toBe(true)
    }),
  )
})

test('ends with any text, and in time linear in its length', async () => {
  for (const part of ['[', '"', '"\\', '\\"', '"\\"', '\\\\"', '{"a":', ']']) {
    const text = part.repeat(1_000_000)
    const look = () => isNestedDeeperThan(text, 2_000_000)
    await expect(look).toCostAtMost(5, () => [...text])
  }
})

test('counts the keys of each object, and the values of all texts together', () => {
  const keys = createJsonCounter({ levels: 4, keys: 2, values: boundless })
  expect(keys('[{"a":1,"b":{"c":1,"d":":,"}},{"e":1}]')).toBeUndefined()
  expect(keys('[{"a":1,"b":[],"c":2}]')).toBe('keys')
  const values = createJsonCounter({ levels: 4, keys: boundless, values: 3 })
  expect(values('[1,2,"3,4"]')).toBeUndefined()
  expect(values('{"a":1,"b":2}')).toBeUndefined()
  expect(values('[1,2]')).toBe('values')
})
